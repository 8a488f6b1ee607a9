//! Simulated fleets of media. The truth and the design (which unit is measured at which place and time) are chosen, and
//! the records are those that such a measurement would leave. They test the code that judges records: that code cannot
//! know the truth, and the test does.

mod at_once;
mod design;
mod effects;
mod load;
mod records;
mod truth;

pub use at_once::{at_once, slowed};
pub use design::{Design, Repeats, Run};
pub use load::Load;
pub use records::Fleet;
pub use truth::{Ceiling, Model, Part, Spread, Truth, Units};
