//! Linux.

mod child;
mod files;
mod memory;
mod meter;
mod processors;
mod programs;
#[cfg(test)]
mod programs_tests;
// 32-bit ARM kernels shipped rings too broken to use, and the crate has the kernel's types for these processors alone.
#[cfg_attr(
    not(all(
        target_pointer_width = "64",
        any(
            target_arch = "aarch64",
            target_arch = "loongarch64",
            target_arch = "powerpc64",
            target_arch = "riscv64",
            target_arch = "x86_64"
        )
    )),
    path = "../unix/no_uring.rs"
)]
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

/// The engine that keeps several operations in flight by itself.
pub(crate) const ASYNCHRONOUS: EngineKind = EngineKind::Uring;
/// What the engine is made of that keeps several operations in flight by itself, for people.
pub const QUEUE: &str = "io_uring";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "pread/pwrite";
