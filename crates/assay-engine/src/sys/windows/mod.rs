//! Windows, from Windows 10 on.

pub(super) mod files;
pub(super) mod host;
mod iocp;
pub(super) mod processes;

use crate::contract::EngineKind;

/// The engine that keeps several operations in flight by itself.
pub(super) mod queue {
    pub(crate) use super::iocp::{Iocp as Queue, probe, probe_poll};
}

/// The engine of this system that keeps several operations in flight by itself.
pub const ASYNCHRONOUS: EngineKind = EngineKind::Iocp;
/// What the engine is made of that keeps several operations in flight by itself, for people.
pub const QUEUE: &str = "an I/O completion port";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "ReadFile/WriteFile";
