//! Linux.

pub(super) mod files;
pub(super) mod host;
pub(super) mod processes;
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
    path = "../no_uring.rs"
)]
mod uring;

pub use super::unix::{ASYNCHRONOUS, CALLS, QUEUE};

/// The engine that keeps several operations in flight by itself.
pub(super) mod queue {
    pub(crate) use super::uring::{Uring as Queue, probe, probe_poll};
}
