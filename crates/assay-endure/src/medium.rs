//! What wear needs from a medium; real ones and models implement it.

use serde::{Deserialize, Serialize};

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The medium, or something on the way to it, answered with an error.
    Errs,
    /// It is no longer there.
    Gone,
    /// It refuses writes.
    ReadOnly,
    /// No answer within the time limit.
    Hung,
}

/// What a medium does that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// It is no longer there.
    Gone,
    /// It does not answer.
    Hung,
    /// Every place answers with an error.
    OnlyErrors,
    /// No place holds what was written, and none says why.
    LostAll,
    /// It refuses every write, and reads.
    RefusesWrites,
    /// It accepts writes and keeps what it held before.
    DropsWrites,
    /// It holds what another test wrote.
    Exchanged,
    /// It holds later cycles than the log has: the log is an older copy.
    LogBehind,
}

/// A write that failed. It need not be the one that was handed over last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Its byte offset.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Why.
    pub fault: Fault,
}

/// Latencies of operations in nanoseconds; all zero where they were not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latencies {
    /// Median.
    pub p50_ns: u64,
    /// Exceeded by one of a hundred.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

/// A medium of sectors. Offsets and lengths are multiples of [`Medium::block_bytes`].
pub trait Medium {
    /// Its size in bytes.
    fn bytes(&self) -> u64;

    /// Smallest unit of reading and writing in bytes, at most 4096.
    fn block_bytes(&self) -> u32 {
        512
    }

    /// Fills `buffer` from `offset`, from the medium and not from a cache of the host.
    ///
    /// # Errors
    /// A [`Fault`]; the content of the buffer is then undefined.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault>;

    /// Writes `data` at `offset`, or hands it over to be written.
    ///
    /// # Errors
    /// The write that failed. If it is an earlier one, `data` was not taken.
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused>;

    /// Returns when all that was handed over is written and has left every cache that obeys a flush.
    ///
    /// # Errors
    /// One write that failed; asked again, it tells the next.
    fn sync(&mut self) -> Result<(), Refused>;

    /// What will be read next, so that it can be fetched beforehand.
    fn ahead(&mut self, _offset: u64, _bytes: usize) {}

    /// Latencies since this was last asked.
    fn latencies(&mut self) -> Latencies {
        Latencies::default()
    }
}

impl<M: Medium + ?Sized> Medium for Box<M> {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }
    fn block_bytes(&self) -> u32 {
        (**self).block_bytes()
    }
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        (**self).read(offset, buffer)
    }
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        (**self).write(offset, data)
    }
    fn sync(&mut self) -> Result<(), Refused> {
        (**self).sync()
    }
    fn ahead(&mut self, offset: u64, bytes: usize) {
        (**self).ahead(offset, bytes);
    }
    fn latencies(&mut self) -> Latencies {
        (**self).latencies()
    }
}
