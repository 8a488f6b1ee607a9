//! The block device under a file system, read past the file system. It is never written.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use assay_engine::{AlignedBuffer, FileExt};

use super::pool::{Pool, Silence};
use super::survey::Readable;
use crate::sys;

/// Direct reads are of whole blocks of at most this size.
const BLOCK: u64 = 4096;

/// The device, opened before anything is written: a destroyed file system can no longer say on which device it lies.
pub(crate) struct Raw {
    file: Arc<File>,
    bytes: u64,
}

/// The device, read by threads that may be abandoned.
pub(crate) struct Read<'a> {
    raw: &'a Raw,
    pool: &'a Pool,
}

impl Raw {
    /// The device under the directory; `None` if it is no block device, or may not be read.
    pub(crate) fn under(directory: &Path) -> Option<Self> {
        let mut file = sys::device_under(directory)?;
        let bytes = file.seek(SeekFrom::End(0)).ok()?;
        Some(Self { file: Arc::new(file), bytes })
    }

    pub(crate) fn by<'a>(&'a self, pool: &'a Pool) -> Read<'a> {
        Read { raw: self, pool }
    }
}

impl Readable for Read<'_> {
    type StopReason = Silence;

    fn bytes(&self) -> u64 {
        self.raw.bytes
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> Result<io::Result<()>, Silence> {
        let (start, length) = (at / BLOCK * BLOCK, buffer.len() as u64);
        let end = (at + length).next_multiple_of(BLOCK).min(self.raw.bytes);
        self.pool.note_read(end - start);
        let (file, (sender, receiver)) = (Arc::clone(&self.raw.file), std::sync::mpsc::channel());
        let done = self.pool.run(move || {
            let mut whole = AlignedBuffer::new((end - start) as usize)?;
            file.read_exact_at(whole.as_mut_slice(), start)?;
            let _ = sender.send(whole);
            Ok(())
        })?;
        Ok(done.and_then(|()| {
            let whole = receiver.try_recv().map_err(io::Error::other)?;
            let from = (at - start) as usize;
            let read = whole.as_slice().get(from..from + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            buffer.copy_from_slice(read);
            Ok(())
        }))
    }
}
