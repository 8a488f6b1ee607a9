//! Whether a figure was held by the bus of its medium.

use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record};
use assay_stats::rank::Ceiling;

/// Whether the bus was reached, so that the medium is at least this fast: the run saw it, or the record knows what the
/// bus lets through, and half of the repeats or more are near it.
#[must_use]
pub fn held_by_bus(record: &Record, measurement: &Measurement) -> bool {
    measurement.bus_limited || reach(record).is_some_and(|ceiling| ceiling.holds_unit(&rates(measurement)))
}

/// What the bus of a record lets through.
pub(crate) fn reach(record: &Record) -> Option<Ceiling> {
    Ceiling::new(record.medium.reachable()?)
}

/// Bytes per second of the repeats of a measurement: what a ceiling is compared with.
pub(crate) fn rates(measurement: &Measurement) -> Vec<f64> {
    if measurement.repeats.is_empty() {
        return measurement.bytes_per_second.iter().map(|e| e.point).collect();
    }
    let done = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0);
    done.map(|r| r.bytes_per_second).collect()
}
