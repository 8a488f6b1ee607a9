//! What any Unix has.

pub(super) mod clock;
pub(super) mod files;
pub(super) mod programs;
pub(super) mod user;

use crate::contract::EngineKind;

/// The engine of this system that keeps several operations in flight by itself; where there is none, what takes its name is not to be had.
pub const ASYNCHRONOUS: EngineKind = EngineKind::Uring;
/// What that engine is made of, or would be, for people.
pub const QUEUE: &str = "io_uring";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "pread/pwrite";
