//! Pure mathematics: from repeated values to estimates, and from series to what happened in them.
//! No I/O, no clock, no randomness but from a seed.

pub mod days;
pub mod decide;
mod ess;
mod interval;
mod logs;
mod order;
mod over_days;
pub mod plan;
pub mod power;
pub mod random;
pub mod rank;
mod shape;
pub mod soak;
pub mod steady;
#[cfg(test)]
mod testing;
mod two_units;
pub mod variation;

pub use ess::{Correlation, correlation};
pub use interval::{LEVEL, change, geometric, geometric_like, geometric_of_looks, geometric_until_known, student_t};
pub use logs::{log_mean, log_squares};
pub use order::{Middle, middle};
pub use over_days::OverDays;
pub use shape::{TwoSpeeds, drift, drift_along, two_speeds, uneven};
pub use two_units::half_between;
