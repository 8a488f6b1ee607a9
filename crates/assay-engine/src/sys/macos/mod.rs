//! macOS. It compiles, and was never run.

pub(super) mod child;
pub(super) mod files;
pub(super) mod memory;
pub(super) mod meter;
pub(super) mod processors;
pub(super) mod programs;
#[path = "../unix/no_uring.rs"]
mod uring;

pub(super) use super::unix::{clock, user};
use crate::contract::EngineKind;

/// The engine that keeps several operations in flight by itself.
pub(super) mod queue {
    pub(crate) use super::uring::{Uring as Queue, probe, probe_poll};
}

/// No engine keeps several operations in flight by itself; what takes its name is not to be had.
pub(crate) const ASYNCHRONOUS: EngineKind = EngineKind::Uring;
/// What the engine would be made of that keeps several operations in flight by itself, for people.
pub const QUEUE: &str = "io_uring";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "pread/pwrite";
