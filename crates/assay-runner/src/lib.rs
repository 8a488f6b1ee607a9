//! From a suite and a medium to a record: plan, test area, runs, proof and validity.
//!
//! `run` is the only way in. It tells an observer what happens ([`Observer`]) and hands it the
//! record after every repeat, so that a crash loses at most the repeat under way.

mod area;
mod budget;
mod choose;
mod crosscheck;
mod emit;
mod error;
mod evidence;
mod journal;
mod judge;
#[cfg(test)]
mod judge_tests;
mod layout;
mod measure;
mod memory;
mod pace;
mod patience;
mod proof;
mod pursuit;
mod resume;
mod run;
#[cfg(test)]
mod samples;
mod scratch;
mod sensors;
mod soak;
mod summary;
mod sweep;
mod vitals;
mod watch;

pub use choose::EngineWish;
pub use emit::Observer;
pub use error::RunError;
pub use patience::HANG_AFTER;
pub use pursuit::{MOST_REPEATS, longest_time};
pub use resume::Resumption;
pub use run::{RawMode, Request, Run};
pub use scratch::{Leftovers, left_behind, remove_abandoned, remove_left};
