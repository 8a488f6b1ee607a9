//! Windows, from Windows 10 on.

mod child;
mod clock;
mod files;
mod iocp;
#[cfg(test)]
mod iocp_tests;
mod memory;
mod meter;
mod processors;
mod programs;

pub use child::{Signal, end_with_this_process};
pub use clock::monotonic;
pub use files::{AsOpen, FileExt, forget};
pub(crate) use files::{CACHED, Channel, DIRECT, IO_ERROR, Told, open, private, sync, told};
pub(crate) use iocp::{Iocp as Queue, probe, probe_poll};
pub(crate) use memory::{map, page_bytes, unmap};
pub(crate) use meter::Meter;
pub(crate) use processors::pin;
pub use processors::processors;
pub(crate) use programs::{ended, interrupt, kill_all, nameless_file};
pub use programs::{is_root, lead_a_group};

use crate::contract::EngineKind;

/// The engine that keeps several operations in flight by itself.
pub(crate) const ASYNCHRONOUS: EngineKind = EngineKind::Iocp;
/// What the engine is made of that keeps several operations in flight by itself, for people.
pub const QUEUE: &str = "an I/O completion port";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "ReadFile/WriteFile";
