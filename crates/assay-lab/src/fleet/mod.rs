//! Simulated fleets of media. The truth and the design (which unit is measured at which place and time) are chosen, and
//! the records are those that such a measurement would leave. They test the code that judges records: that code cannot
//! know the truth, and the test does.

mod records;
mod truth;

pub use records::{Fleet, at_once, slowed};
pub use truth::{Ceiling, Design, Load, Model, Part, Repeats, Spread, TrueRun, Truth, Units};
