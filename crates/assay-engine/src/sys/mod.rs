//! What the systems do in ways of their own: a file for each system, with the same names in all of them, and one for what
//! any Unix has; the engine that keeps several operations in flight by itself has a file for each of its kinds.

// 32-bit ARM kernels shipped rings too broken to use, and the crate has the kernel's types for these processors alone.
#[cfg_attr(
    all(
        not(windows),
        not(all(
            target_pointer_width = "64",
            any(
                target_arch = "aarch64",
                target_arch = "loongarch64",
                target_arch = "powerpc64",
                target_arch = "riscv64",
                target_arch = "x86_64"
            )
        ))
    ),
    path = "no_uring.rs"
)]
#[cfg_attr(
    all(
        not(windows),
        target_pointer_width = "64",
        any(
            target_arch = "aarch64",
            target_arch = "loongarch64",
            target_arch = "powerpc64",
            target_arch = "riscv64",
            target_arch = "x86_64"
        )
    ),
    path = "uring.rs"
)]
#[cfg_attr(windows, path = "iocp.rs")]
mod queue;
#[cfg_attr(not(windows), path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;
#[cfg(not(windows))]
mod unix;

#[cfg(windows)]
pub(crate) use queue::Iocp as Queue;
#[cfg(not(windows))]
pub(crate) use queue::Uring as Queue;
pub(crate) use queue::{probe, probe_poll};
pub use system::{
    ASYNCHRONOUS, AsOpen, CALLS, FileExt, PINS, PRIORITIES, QUEUE, RUNS_TOOLS, Signal, end_with_this_process, forget,
    is_root, lead_a_group, monotonic, processors,
};
pub(crate) use system::{
    CACHED, Channel, DIRECT, DirectRequirement, IO_ERROR, Meter, direct_requirement, ended, interrupt, kill_all, map,
    nameless_file, open, page_bytes, pin, prioritise, private, sync, unmap,
};
