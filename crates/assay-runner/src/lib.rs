//! From a suite and a medium to a record: plan, test area, runs, proof and validity.
//!
//! [`PreparedRun::prepare`] checks a request, and [`PreparedRun::execute`] runs it. It tells an [`Observer`] what happens
//! and hands it the record after every repeat, so that a crash loses at most the repeat under way.

mod access;
mod adaptive;
mod area;
mod budget;
mod choose;
mod crosscheck;
mod emit;
mod error;
mod evidence;
mod judge;
mod pace;
mod prepare;
mod proof;
mod recompute;
mod refusal;
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
#[cfg(not(windows))]
#[path = "system/unix.rs"]
mod unix;
mod watch;

pub use adaptive::{MOST_REPEATS, longest_time};
pub use assay_device::random;
pub use assay_programs::SourceTree;
pub use budget::longest_repeat;
pub use choose::{EngineChoice, OwnEngine, Peer};
pub use emit::Observer;
pub use error::RunError;
pub use prepare::PreparedRun;
pub use recompute::recomputed;
pub use request::{RawMode, Resumption, RunRequest};
pub use scratch::{Leftovers, Removal, left_behind, remove_abandoned, remove_left};
pub use timeout::HANG_AFTER;
pub use together::{Ability, AbleLoad, CommonLoad, CommonLoads, Rendezvous, RepeatStep, SET_UP, Start, Word};
