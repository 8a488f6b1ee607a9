//! Pure mathematics: from repeated values to estimates, and from series to what happened in them.
//! No I/O, no clock, no randomness but from a seed.

mod aged;
pub mod days;
pub mod decide;
mod interval;
pub mod plan;
pub mod power;
pub mod random;
pub mod rank;
mod shape;
pub mod soak;
pub mod steady;
pub mod survival;
pub mod variation;

pub use aged::{TwoReadings, speed_by_age};
pub use interval::{
    LEVEL, Middle, change, geometric, geometric_like, geometric_of_looks, geometric_until_known, log_mean, log_squares,
    middle, student_t,
};
pub use shape::{Correlation, TwoGroups, correlation, drift, drift_along, two_speeds, uneven};
pub use variation::{OverDays, half_between};
