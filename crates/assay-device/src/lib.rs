//! What is under a path: mount, block devices, medium, bus and its ceiling; the counters that prove a measurement;
//! sensors; and the guards before a raw device is written.
//!
//! Everything is read below a [`Sysroot`], so that a copy of another machine's kernel tree gives that machine's
//! results. Windows has no such trees; there the system is queried (`system`).

mod block;
mod counters;
mod error;
mod files;
pub mod guard;
pub mod health;
mod host;
mod klog;
mod look;
mod medium;
mod mounts;
pub mod owned;
mod sensors;
mod storage;
mod system;

pub use block::reader_of;
pub use counters::{Counters, ProofMeter};
pub use error::DeviceError;
pub use files::Sysroot;
pub use guard::{SurveyedMedium, survey};
pub use host::{Firmware, HostLoad, HostState, LoadState, ThrottleState, available_memory, host};
pub use klog::KernelLog;
pub use look::{Seen, TargetInfo, What, look, look_by_dev};
pub use mounts::{mounted_at, swaps_on};
pub use sensors::{Reading, Sensors};
pub use storage::{Storage, StorageBelow};
pub use system::{descriptors, host_name, random};
