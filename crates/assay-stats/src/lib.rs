//! Pure mathematics: from repeated values to estimates. No I/O, no clock, no randomness.

mod interval;

pub use interval::{LEVEL, geometric, student_t};
