//! What the probe needs from a device; real devices, models and decorators implement it.

use std::fs::File;
use std::io;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use assay_core::outcome::RunFailure;
use assay_device::DeviceError;
use assay_device::guard::RawPermit;
use assay_device::owned::Caching;
use assay_engine::{AlignedBuffer, FileExt, answer_within};

use crate::sys;

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProbeFault {
    /// The medium answered with an error at this place (`EIO` and its like).
    #[error("input/output error")]
    Medium,
    /// The device is no longer there.
    #[error("the device is gone")]
    Gone,
    /// The system denies access.
    #[error("permission denied")]
    Denied,
    /// The device, or the kernel for it, refuses writes.
    #[error("read-only")]
    ReadOnly,
    /// Places that were read and written before now answer only with errors.
    #[error("nothing but errors")]
    AllErrors,
    /// Places that were written before now refuse writes.
    #[error("every write fails")]
    WriteErrors,
    /// Writes to places that were written before change nothing.
    #[error("writes no longer change anything")]
    DropsWrites,
    /// No answer within the time limit.
    #[error("no answer")]
    Hung,
    /// Nothing that the probe wrote is on it any more: another medium is in its place.
    #[error("another medium took its place, or it lost all that it held")]
    Exchanged,
}

impl ProbeFault {
    /// Classifies an error of the kernel: a missing device is distinguished from a medium with errors.
    #[must_use]
    pub fn from_io(error: &std::io::Error) -> Self {
        match error.raw_os_error().map(RunFailure::from_errno) {
            Some(RunFailure::Disappeared) => Self::Gone,
            Some(RunFailure::ReadOnly) => Self::ReadOnly,
            _ if error.kind() == std::io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Medium,
        }
    }
}

/// A device of blocks. Offsets and lengths are multiples of [`Device::block_bytes`] and stay
/// inside of [`Device::bytes`].
pub trait Device {
    /// Announced size in bytes.
    fn bytes(&self) -> u64;

    /// Smallest unit of reading and writing, in bytes.
    fn block_bytes(&self) -> u32 {
        512
    }

    /// Fills `buffer` from `offset`, from the device and not from a cache of the host.
    ///
    /// # Errors
    /// A [`ProbeFault`]; the buffer's content is then undefined.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault>;

    /// Writes `data` at `offset`.
    ///
    /// # Errors
    /// A [`ProbeFault`]; a part may have been written.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault>;

    /// Returns when all writes have left every cache that obeys a flush.
    ///
    /// # Errors
    /// A [`ProbeFault`].
    fn sync(&mut self) -> Result<(), ProbeFault>;

    /// Whether it is still the device that was opened; asked after an error.
    fn present(&mut self) -> bool {
        true
    }
}

impl<D: Device + ?Sized> Device for &mut D {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }
    fn block_bytes(&self) -> u32 {
        (**self).block_bytes()
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        (**self).read_at(offset, buffer)
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        (**self).write_at(offset, data)
    }
    fn sync(&mut self) -> Result<(), ProbeFault> {
        (**self).sync()
    }
    fn present(&mut self) -> bool {
        (**self).present()
    }
}

// A device with a time limit for each operation.

enum DeviceRequest {
    Read(u64, usize),
    Write(u64, Vec<u8>),
    Sync,
    Present,
}

enum Answer {
    Read(Result<Vec<u8>, ProbeFault>),
    Done(Result<(), ProbeFault>),
    Present(bool),
}

/// Performs the I/O of a device in a thread of its own. If the thread gives no answer within the limit, every later
/// operation returns [`ProbeFault::Hung`] at once. A thread that waits in the kernel cannot be ended, and neither could a
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

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        match self.answer(DeviceRequest::Read(offset, buffer.len())) {
            Some(Answer::Read(Ok(data))) => {
                buffer.copy_from_slice(&data);
                Ok(())
            }
            Some(Answer::Read(Err(fault))) => Err(fault),
            _ => Err(ProbeFault::Hung),
        }
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        match self.answer(DeviceRequest::Write(offset, data.to_vec())) {
            Some(Answer::Done(done)) => done,
            _ => Err(ProbeFault::Hung),
        }
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        match self.answer(DeviceRequest::Sync) {
            Some(Answer::Done(done)) => done,
            _ => Err(ProbeFault::Hung),
        }
    }

    fn present(&mut self) -> bool {
        matches!(self.answer(DeviceRequest::Present), Some(Answer::Present(true)))
    }
}

// Counts the bytes moved to and from a device where it happens, whether or not an operation succeeds.

/// A device whose bytes are counted.
pub(super) struct Counted<'d, D> {
    device: &'d mut D,
    pub(super) written_bytes: u64,
    pub(super) read_bytes: u64,
}

impl<'d, D: Device> Counted<'d, D> {
    pub(super) fn new(device: &'d mut D) -> Self {
        Self { device, written_bytes: 0, read_bytes: 0 }
    }
}

impl<D: Device> Device for Counted<'_, D> {
    fn bytes(&self) -> u64 {
        self.device.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.device.block_bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        self.read_bytes += buffer.len() as u64;
        self.device.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        self.written_bytes += data.len() as u64;
        self.device.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.device.sync()
    }

    fn present(&mut self) -> bool {
        self.device.present()
    }
}

// A real block device.

/// A block device, held exclusively, past the page cache.
#[derive(Debug)]
pub struct BlockDevice {
    permit: RawPermit,
    file: File,
    block_bytes: u32,
    buffer: AlignedBuffer,
}

impl BlockDevice {
    /// Opens the device that the guards allowed.
    ///
    /// # Errors
    /// Where the kernel refuses: in use, permission, gone.
    pub fn open(permit: &RawPermit) -> Result<Self, DeviceError> {
        let file = permit.held().reopen(Caching::Direct)?;
        Self::from_file(permit, file).map_err(|source| DeviceError::Unreadable {
            path: assay_core::text::harmless(&permit.path().display().to_string()),
            source,
        })
    }

    fn from_file(permit: &RawPermit, file: File) -> io::Result<Self> {
        let block_bytes = crate::sys::block_bytes(&file)?;
        Ok(Self { permit: permit.clone(), file, block_bytes, buffer: AlignedBuffer::new(TRANSFER)? })
    }
}

impl Device for BlockDevice {
    fn bytes(&self) -> u64 {
        self.permit.held().bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        read_at(&self.file, &mut self.buffer, offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        for (part, at) in data.chunks(TRANSFER).zip((offset..).step_by(TRANSFER)) {
            let aligned = &mut self.buffer.as_mut_slice()[..part.len()];
            aligned.copy_from_slice(part);
            self.file.write_all_at(aligned, at).map_err(|error| ProbeFault::from_io(&error))?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.file.sync_all().map_err(|error| ProbeFault::from_io(&error))
    }

    fn present(&mut self) -> bool {
        self.permit.held().present()
    }
}

// A block device opened for reading, to find whose stamps are on it.

/// A block device opened for reading past the page cache, even if it is in use.
#[derive(Debug)]
pub struct ReadDevice {
    file: File,
    bytes: u64,
    block_bytes: u32,
    buffer: AlignedBuffer,
}

impl ReadDevice {
    /// Opens it.
    ///
    /// # Errors
    /// Where it is no block device, or the kernel refuses.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = sys::open_to_read(path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        let block_bytes = sys::block_bytes(&file)?;
        Ok(Self { file, bytes, block_bytes, buffer: AlignedBuffer::new(TRANSFER)? })
    }
}

impl Device for ReadDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        read_at(&self.file, &mut self.buffer, offset, buffer)
    }

    fn write_at(&mut self, _offset: u64, _data: &[u8]) -> Result<(), ProbeFault> {
        Err(ProbeFault::ReadOnly)
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        Ok(())
    }
}

// Reads from a file past the page cache into memory of any alignment.

/// Bytes of one transfer, and of the aligned buffer for it.
pub(super) const TRANSFER: usize = 1 << 20;

/// Fills `buffer` from `offset`, through `aligned`, which direct I/O needs.
pub(super) fn read_at(
    file: &File,
    aligned: &mut AlignedBuffer,
    offset: u64,
    buffer: &mut [u8],
) -> Result<(), ProbeFault> {
    for (part, at) in buffer.chunks_mut(TRANSFER).zip((offset..).step_by(TRANSFER)) {
        let aligned = &mut aligned.as_mut_slice()[..part.len()];
        file.read_exact_at(aligned, at).map_err(|error| ProbeFault::from_io(&error))?;
        part.copy_from_slice(aligned);
    }
    Ok(())
}
