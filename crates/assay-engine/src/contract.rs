//! What an engine is and what it answers.

use std::fmt;

use assay_core::workload::Direction;

/// Engines by the name that the command line, the record and the docs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Does nothing: measures the instrument itself.
    Null,
    /// `pread`/`pwrite`, one operation in flight for each thread.
    Sync,
    /// io_uring, on Linux.
    Uring,
    /// An I/O completion port for each job, on Windows.
    Iocp,
}

impl EngineKind {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Sync => "sync",
            Self::Uring => "uring",
            Self::Iocp => "iocp",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an engine is, as it found itself on this kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Keeps several operations in flight by itself.
    pub asynchronous: bool,
    /// Buffers are registered with the kernel.
    pub fixed_buffers: bool,
    /// The file is registered with the kernel.
    pub registered_files: bool,
    /// One thread alone submits, and the kernel knows it.
    pub single_issuer: bool,
    /// Completions are processed when the thread asks for them.
    pub deferred_task_work: bool,
    /// What had to be done without, and why.
    pub fallbacks: Vec<String>,
}

/// Whether an engine can be used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It can, like this.
    Yes(Capabilities),
    /// It cannot, and this is why.
    No(String),
}

/// One operation: the slot names buffer and bookkeeping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Io {
    pub(crate) slot: u32,
    pub(crate) direction: Direction,
    /// As the kernel takes it; 0 for that of the thread. Engines without such priorities are not asked for any.
    #[allow(dead_code)] // io_uring alone reads it, which not all systems have
    pub(crate) priority: u16,
    pub(crate) offset: u64,
    /// At most the size of a buffer.
    pub(crate) bytes: u32,
}

/// Answer to a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submit {
    /// Finished already, with this many bytes or a negative error number.
    Done(i32),
    /// Under way.
    Queued,
    /// No room; ask again after reaping.
    Full,
}

/// A finished operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    pub(crate) slot: u32,
    /// Bytes, or a negative error number.
    pub(crate) result: i32,
}

/// The contract between the hot loop and whatever does the I/O.
///
/// An engine owns the buffers of its slots and belongs to one thread.
pub(crate) trait Engine {
    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Hands over one operation.
    fn submit(&mut self, io: Io) -> Submit;

    /// Waits for one of the queued operations, for at most `wait_ns` nanoseconds; passes every finished one to `done`.
    fn reap_within(&mut self, wait_ns: u64, done: &mut impl FnMut(Completion)) -> std::io::Result<()>;

    /// Waits for at least `min` of the queued operations and passes every finished one to `done`.
    fn reap(&mut self, min: usize, done: &mut impl FnMut(Completion)) -> std::io::Result<()>;
}
