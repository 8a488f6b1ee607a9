//! A device with a time limit for each operation.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use assay_engine::answer_within;

use super::contract::{Device, Fault};

enum DeviceRequest {
    Read(u64, usize),
    Write(u64, Vec<u8>),
    Sync,
    Present,
}

enum Answer {
    Read(Result<Vec<u8>, Fault>),
    Done(Result<(), Fault>),
    Present(bool),
}

/// Performs the I/O of a device in a thread of its own. If the thread gives no answer within the limit, every later
/// operation returns [`Fault::Hung`] at once. A thread that waits in the kernel cannot be ended, and neither could a
/// caller that waits for it.
#[derive(Debug)]
pub struct TimedDevice {
    ask: Sender<DeviceRequest>,
    answers: Receiver<Answer>,
    limit: Duration,
    bytes: u64,
    block_bytes: u32,
    hung: bool,
}

impl TimedDevice {
    /// Waits for `device` up to `limit` at each operation.
    ///
    /// # Errors
    /// Where the system has no thread for it.
    pub fn new<D: Device + Send + 'static>(mut device: D, limit: Duration) -> std::io::Result<Self> {
        let (bytes, block_bytes) = (device.bytes(), device.block_bytes());
        let (ask, asked) = channel();
        let (tell, answers) = channel();
        std::thread::Builder::new().name("probe".to_owned()).spawn(move || {
            for ask in asked {
                let answer = match ask {
                    DeviceRequest::Read(offset, length) => {
                        let mut buffer = vec![0; length];
                        Answer::Read(device.read_at(offset, &mut buffer).map(|()| buffer))
                    }
                    DeviceRequest::Write(offset, data) => Answer::Done(device.write_at(offset, &data)),
                    DeviceRequest::Sync => Answer::Done(device.sync()),
                    DeviceRequest::Present => Answer::Present(device.present() && device.bytes() == bytes),
                };
                if tell.send(answer).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { ask, answers, limit, bytes, block_bytes, hung: false })
    }

    fn answer(&mut self, ask: DeviceRequest) -> Option<Answer> {
        if self.hung || self.ask.send(ask).is_err() {
            return None;
        }
        // Time in which this process was stopped does not count as silence of the device.
        let answer = answer_within(&self.answers, self.limit);
        self.hung = answer.is_none();
        answer
    }
}

impl Device for TimedDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        match self.answer(DeviceRequest::Read(offset, buffer.len())) {
            Some(Answer::Read(Ok(data))) => {
                buffer.copy_from_slice(&data);
                Ok(())
            }
            Some(Answer::Read(Err(fault))) => Err(fault),
            _ => Err(Fault::Hung),
        }
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        match self.answer(DeviceRequest::Write(offset, data.to_vec())) {
            Some(Answer::Done(done)) => done,
            _ => Err(Fault::Hung),
        }
    }

    fn sync(&mut self) -> Result<(), Fault> {
        match self.answer(DeviceRequest::Sync) {
            Some(Answer::Done(done)) => done,
            _ => Err(Fault::Hung),
        }
    }

    fn present(&mut self) -> bool {
        matches!(self.answer(DeviceRequest::Present), Some(Answer::Present(true)))
    }
}
