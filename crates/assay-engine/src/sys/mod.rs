//! What the systems do in ways of their own: a directory for each system, with the same modules and names in all of them,
//! and one for what any Unix has.

#[cfg_attr(not(windows), path = "linux/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;
#[cfg(not(windows))]
mod unix;

pub use system::child::{Signal, end_with_this_process};
pub use system::clock::monotonic;
pub use system::files::{AsOpen, FileExt, forget};
pub(crate) use system::files::{
    CACHED, Channel, DIRECT, DirectRequirement, IO_ERROR, direct_requirement, open, private, sync,
};
pub(crate) use system::memory::{map, page_bytes, unmap};
pub(crate) use system::meter::Meter;
pub use system::priority::PRIORITIES;
pub(crate) use system::priority::prioritise;
pub(crate) use system::processors::pin;
pub use system::processors::{PINS, processors};
pub use system::programs::{RUNS_TOOLS, lead_a_group};
pub(crate) use system::programs::{ended, interrupt, kill_all, nameless_file};
pub(crate) use system::queue::{Queue, probe, probe_poll};
pub use system::user::is_root;
pub use system::{ASYNCHRONOUS, CALLS, QUEUE};
