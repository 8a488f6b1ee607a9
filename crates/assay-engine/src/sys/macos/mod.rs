//! macOS. It compiles, and was never run.

pub(super) mod child;
pub(super) mod files;
pub(super) mod memory;
pub(super) mod meter;
pub(super) mod priority;
pub(super) mod processors;
pub(super) mod programs;
#[path = "../unix/no_uring.rs"]
mod uring;

pub use super::unix::{ASYNCHRONOUS, CALLS, QUEUE};
pub(super) use super::unix::{clock, user};

/// The engine that keeps several operations in flight by itself.
pub(super) mod queue {
    pub(crate) use super::uring::{Uring as Queue, probe, probe_poll};
}
