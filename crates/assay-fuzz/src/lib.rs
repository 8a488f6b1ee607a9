//! What must hold for any input: one target for each parser, state file and way out of a report. A
//! target takes bytes, feeds them to the code under test and panics where a claim does not hold.
//!
//! The same targets are run by libFuzzer (`make fuzz`, see `fuzz/`), which looks for inputs that reach
//! new code, and by the test `replay`, which runs their seeds and a few mutations of each.
#![allow(clippy::unwrap_used)] // A claim that does not hold is a panic.

mod input;
mod records;
mod registry;
mod targets;

pub use input::mutations;
pub use registry::{TARGETS, Target, find};
