//! How a host executed a load, where the same load can be executed in several ways. The figures are still compared, and
//! a note reports the difference.

use assay_core::record::{Measurement, Record};

/// The manner as text: the number of completions awaited at once, the processors that threads were pinned to, and
/// whether completions were polled. `None` where the source of a figure does not say.
pub(crate) fn manner(record: &Record, measurement: &Measurement) -> Option<String> {
    if record.is_printed() {
        return None;
    }
    let waits = match measurement.batching.as_ref().map(|batching| batching.wait_for) {
        None | Some(0 | 1) => "waits for one completion at a time".to_owned(),
        Some(several) => format!("waits for {several} completions at once"),
    };
    let parts: Vec<String> = std::iter::once(waits).chain(measurement.workload.manner()).collect();
    Some(parts.join(", "))
}

#[cfg(test)]
mod tests {
    use assay_core::cpus::Cpus;
    use assay_core::record::Batching;

    use super::*;

    #[test]
    fn a_manner_is_told_of_what_assay_ran_and_of_nothing_else() {
        let published = crate::published("sandisk-extreme-a2").unwrap().remove(0);
        assert_eq!(manner(&published, &published.measurements[0]), None);
        let own = Record { source: None, ..published };
        let mut measurement = own.measurements[0].clone();
        assert_eq!(manner(&own, &measurement).unwrap(), "waits for one completion at a time");
        let batching = |wait_for| Batching { wait_for, tried: 8, iops_ratio: 1.1, p50_ratio: None, p99_ratio: None };
        measurement.batching = Some(batching(1).into());
        assert_eq!(manner(&own, &measurement).unwrap(), "waits for one completion at a time", "tried and left");
        measurement.batching = Some(batching(8).into());
        measurement.workload.cpus = Cpus::parse("0-3").unwrap();
        measurement.workload.poll = true;
        let words = "waits for 8 completions at once, one processor a thread of 0-3, completions polled";
        assert_eq!(manner(&own, &measurement).unwrap(), words);
    }
}
