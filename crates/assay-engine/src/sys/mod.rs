//! What the systems do in ways of their own: a directory for each system, with the same modules and names in all of them,
//! and one for what any Unix has.

#[cfg_attr(not(windows), path = "linux/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;
#[cfg(not(windows))]
mod unix;

pub use system::files::{AsOpen, FileExt, forget};
pub(crate) use system::files::{
    CACHED, Channel, DIRECT, DirectRequirement, IO_ERROR, direct_requirement, map, open, page_bytes, private, sync,
    unmap,
};
pub use system::host::{PINS, PRIORITIES, is_root, monotonic, processors};
pub(crate) use system::host::{pin, prioritise};
pub(crate) use system::processes::{Meter, ended, interrupt, kill_all, nameless_file};
pub use system::processes::{RUNS_TOOLS, Signal, end_with_this_process, lead_a_group};
pub(crate) use system::queue::{Queue, probe, probe_poll};
pub use system::{ASYNCHRONOUS, CALLS, QUEUE};
