//! How many repeats on each unit are worth their time.

use super::fault::{Fault, positive};

/// Repeats of workloads that read: two are the least that show how much repeats differ.
pub const READS: u32 = 2;
/// Repeats of workloads that write; they differ more.
pub const WRITES: u32 = 3;
/// Units of each model.
pub const UNITS: u32 = 3;
/// With fewer units nothing is said about a model.
pub const LEAST_UNITS: u32 = 2;

/// The number of repeats per unit that makes the mean of a model known best in a given time:
/// sqrt(cost of a unit / cost of a repeat) * deviation of repeats / deviation of units, at least 1
/// (Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time", with one level). Costs
/// are in the same unit, deviations are those of logarithms.
///
/// # Errors
/// Costs or deviation of units that are not positive, a deviation of repeats that is negative.
pub fn best_repeats(
    unit_cost: f64,
    repeat_cost: f64,
    repeat_deviation: f64,
    unit_deviation: f64,
) -> Result<u32, Fault> {
    let costs = positive("the cost of a unit", unit_cost)? / positive("the cost of a repeat", repeat_cost)?;
    let units = positive("the deviation of units", unit_deviation)?;
    if !(repeat_deviation.is_finite() && repeat_deviation >= 0.0) {
        return Err(Fault::NotPositive { what: "the deviation of repeats", value: repeat_deviation });
    }
    Ok((costs.sqrt() * repeat_deviation / units).round().clamp(1.0, f64::from(u32::MAX)) as u32)
}
