//! macOS. It compiles, and was never run.

mod child;
mod files;
mod memory;
mod meter;
mod processors;
mod programs;
#[path = "../unix/no_uring.rs"]
mod uring;

pub use child::end_with_this_process;
pub use files::forget;
pub(crate) use files::{CACHED, DIRECT, Told, open, sync, told};
pub(crate) use memory::{map, page_bytes, unmap};
pub(crate) use meter::Meter;
pub(crate) use processors::pin;
pub use processors::processors;
pub(crate) use programs::nameless_file;
pub use rustix::process::Signal;
pub(crate) use uring::{Uring as Queue, probe, probe_poll};

pub use super::unix::{AsOpen, FileExt, is_root, lead_a_group, monotonic};
pub(crate) use super::unix::{Channel, IO_ERROR, ended, interrupt, kill_all, private};
use crate::contract::EngineKind;

/// No engine keeps several operations in flight by itself; what takes its name is not to be had.
pub(crate) const ASYNCHRONOUS: EngineKind = EngineKind::Uring;
/// What the engine would be made of that keeps several operations in flight by itself, for people.
pub const QUEUE: &str = "io_uring";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "pread/pwrite";
