//! The sensors that the kernel shows.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Instant;
use std::{io, thread};

use assay_device::Sensors;

use super::message::{EVERY, SensorMessage};

/// A thread that reads them; it ends when this is dropped. It is not waited for: it may be inside
/// a driver that waits for a drive.
#[derive(Debug)]
pub(crate) struct Machine {
    _alive: Sender<()>,
}

impl Machine {
    /// Begins to read; the first of the series is `first`.
    ///
    /// # Errors
    /// Where the system makes no thread for it.
    pub(crate) fn start(mut sensors: Sensors, first: usize, tell: Sender<SensorMessage>) -> io::Result<Self> {
        let (alive, stopped) = channel();
        thread::Builder::new().spawn(move || {
            loop {
                let at = Instant::now();
                for (index, reading) in sensors.read().iter().enumerate() {
                    if let Some(value) = reading.value
                        && tell.send(SensorMessage::Value { series: first + index, at, value }).is_err()
                    {
                        return;
                    }
                }
                if stopped.recv_timeout(EVERY.saturating_sub(at.elapsed())) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        })?;
        Ok(Self { _alive: alive })
    }
}
