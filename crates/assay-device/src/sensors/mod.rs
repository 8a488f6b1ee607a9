//! Temperatures, clocks and power: found once, read through files that stay open.

mod clocks;
mod drives;
mod hwmon;
mod probe;
mod rapl;
mod set;
mod zones;

pub use set::{Reading, Sensors};
