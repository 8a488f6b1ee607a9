//! What the bus allows, and how much of it was used.

use assay_core::medium::{Bus, Medium};
use assay_core::record::{Measurement, Record};
use assay_core::units::rate;

/// Share of the bus that a measurement used, 0 to 1 and sometimes above.
pub(crate) fn share(record: &Record, measurement: &Measurement) -> Option<f64> {
    Some(measurement.bytes_per_second.as_ref()?.point / record.medium.reachable()?)
}

/// `SDR25, 23.2 MB/s reachable of 25.0 MB/s, according to debugfs ios`.
pub(crate) fn sentence(bus: &Bus) -> String {
    let mut text = if bus.mode.is_empty() { bus.kind.clone() } else { bus.mode.clone() };
    if let Some(driver) = &bus.driver {
        text.push_str(&format!(" by {driver}"));
    }
    match (bus.reachable_bytes_per_second, bus.ceiling_bytes_per_second) {
        (Some(r), Some(c)) => text.push_str(&format!(", {} reachable of {}", rate(r), rate(c))),
        (Some(r), None) => text.push_str(&format!(", {} reachable", rate(r))),
        (None, Some(c)) => text.push_str(&format!(", at most {}", rate(c))),
        (None, None) => text.push_str(", ceiling unknown"),
    }
    if !bus.source.is_empty() {
        text.push_str(&format!(", according to {}", bus.source));
    }
    text
}

/// The bus's name in a sentence: `its SDR25 bus`.
pub(crate) fn name(medium: &Medium) -> String {
    match &medium.bus {
        Some(bus) if !bus.mode.trim().is_empty() => format!("its {} bus", bus.mode),
        _ => "its bus".to_owned(),
    }
}
