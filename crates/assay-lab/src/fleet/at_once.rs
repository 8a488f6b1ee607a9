//! Records as the nodes of a cluster run would leave them.

use assay_core::cluster::{ClockFit, ClusterPart, CommonStart};
use assay_core::record::Record;

/// Time from the start of a repeat to the start of the next, in nanoseconds.
const BETWEEN_NS: i64 = 30_000_000_000;
/// Largest delay of the start of a node, in nanoseconds.
const LATE_NS: i64 = 400_000;
/// Bound of the clock error, in nanoseconds.
const BOUND_NS: u64 = 150_000;

/// Makes each record that of one node (`node1` and so on) in the run `run`. Repeats have a common start if all nodes
/// measure at the same time and there is more than one.
#[must_use]
pub fn at_once(records: Vec<Record>, run: &str, mode: &str, at_a_time: u32) -> Vec<Record> {
    let nodes = u32::try_from(records.len()).unwrap_or(u32::MAX);
    let together = at_a_time >= nodes && nodes > 1;
    let clock = ClockFit {
        offset_ns: 0,
        bound_ns: BOUND_NS,
        round_trip_ns: 2 * BOUND_NS,
        exchanges: 32,
        drift_ppm: Some(0.0),
        drift_bound_ppm: Some(1.0),
    };
    let part = |at: usize, mut record: Record| {
        let node = format!("node{}", at + 1);
        let labels = [("fleet", run.to_owned()), ("node", node.clone())];
        record.labels.extend(labels.map(|(key, value)| (key.to_owned(), value)));
        record.host.hostname = Some(node.clone());
        record.cluster = Some(Box::new(ClusterPart {
            run: run.to_owned(),
            node,
            attempt: 1,
            nodes,
            mode: mode.to_owned(),
            at_a_time,
            clock: Some(clock.clone()),
            lost: None,
            settled: None,
        }));
        let repeats = record.measurements.iter_mut().flat_map(|m| &mut m.repeats);
        for (number, repeat) in repeats.enumerate().filter(|_| together) {
            let planned_ns = BETWEEN_NS * (1 + i64::try_from(number).unwrap_or(0));
            let late = LATE_NS * i64::try_from(at % 20).unwrap_or(0) / 19;
            let start = CommonStart { planned_ns, began_ns: planned_ns + late, bound_ns: Some(BOUND_NS), nodes };
            repeat.common_start = Some(Box::new(start));
        }
        record
    };
    records.into_iter().enumerate().map(|(at, record)| part(at, record)).collect()
}

/// Multiplies the speed of a record by `factor`, either under the loads that write or under those that read.
pub fn slowed(record: &mut Record, factor: f64, writes: bool) {
    for measurement in record.measurements.iter_mut().filter(|m| m.workload.writes() == writes) {
        for repeat in &mut measurement.repeats {
            repeat.iops *= factor;
            repeat.bytes_per_second *= factor;
            repeat.durable_bytes_per_second = repeat.durable_bytes_per_second.map(|rate| rate * factor);
        }
        let estimates =
            [&mut measurement.iops, &mut measurement.bytes_per_second, &mut measurement.durable_bytes_per_second];
        for estimate in estimates.into_iter().flatten() {
            estimate.point *= factor;
            estimate.low = estimate.low.map(|end| end * factor);
            estimate.high = estimate.high.map(|end| end * factor);
        }
    }
}
