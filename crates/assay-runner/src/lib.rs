//! From a suite and a medium to a record: plan, test area, runs, proof and validity.
//!
//! [`PreparedRun::prepare`] checks a request, and [`PreparedRun::execute`] runs it. It tells an [`Observer`] what happens
//! and hands it the record after every repeat, so that a crash loses at most the repeat under way.

mod area;
mod budget;
mod choose;
mod crosscheck;
mod emit;
mod error;
mod evidence;
mod judge;
mod look;
mod pace;
mod prepare;
mod request;
#[cfg(test)]
mod samples;
mod scratch;
mod sensors;
mod session;
mod summary;
#[cfg_attr(not(windows), path = "system/linux.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod timeout;
mod together;

pub use area::is_unmounted;
pub use assay_device::random;
pub use assay_programs::SourceTree;
pub use budget::{MOST_REPEATS, longest_repeat, longest_time};
pub use choose::{EngineChoice, OwnEngine, Peer};
pub use emit::Observer;
pub use error::RunError;
pub use judge::recomputed;
pub use prepare::PreparedRun;
pub use request::{RawMode, Resumption, RunRequest};
pub use scratch::{Leftovers, Removal, left_behind, remove_abandoned, remove_left};
pub use timeout::HANG_AFTER;
pub use together::{Ability, AbleLoad, CommonLoad, CommonLoads, Rendezvous, RepeatStep, SET_UP, Start, Word};
