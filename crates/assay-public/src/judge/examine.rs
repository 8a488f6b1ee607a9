//! What a record says against itself: its figures ([`figures`]), its times, and what buses and media can do.

use assay_core::finding::Finding;
use assay_core::medium::MediumKind;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::text::clean;
use assay_core::workload::{Op, Pattern};
use jiff::Timestamp;

use super::figures;
use crate::states::{Code, Reason};

/// What a record says against itself. An honest record says nothing, however odd its medium: a figure that it marks as
/// doubtful is no contradiction, as rankings leave it out anyway.
#[must_use]
pub fn examine(record: &Record) -> Vec<Reason> {
    let mut reasons = figures::check(record);
    reasons.extend(times(record));
    reasons.extend(limits(record));
    reasons
}

// Times against each other. Clocks of small boards may be wrong by years, and jump forward when they are set: only what no
// such jump explains is a contradiction.

/// What a clock is adjusted by while a run lasts, in seconds.
const ADJUSTED: f64 = 5.0;
/// The share by which the sum of all repeats may exceed the time of the run.
const SHARE: f64 = 0.01;

fn times(record: &Record) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let repeats: Vec<&Repeat> = record.measurements.iter().flat_map(|m| &m.repeats).collect();
    let alone = record.cluster.is_none() && record.measurements.iter().all(|m| m.workload.together.is_none());
    if let (Some(settings), true) = (record.settings(), alone) {
        let measured: f64 = repeats.iter().map(|repeat| repeat.elapsed_ns as f64 / 1e9).sum();
        let whole = settings.elapsed_ns as f64 / 1e9;
        if measured > whole * (1.0 + SHARE) + 1.0 {
            reasons.push(Reason::new(
                Code::Dates,
                format!("the repeats last {measured:.0} s together, and the run lasted {whole:.0} s"),
            ));
        }
    }
    let seconds = |text: &str| text.parse::<Timestamp>().ok().map(|time| time.as_microsecond() as f64 / 1e6);
    let began = seconds(&record.created);
    let first = repeats.iter().filter_map(|repeat| seconds(&repeat.started)).min_by(f64::total_cmp);
    if let (Some(began), Some(first)) = (began, first)
        && first < began - ADJUSTED
    {
        reasons.push(Reason::new(Code::Dates, "a repeat began before the run"));
    }
    let mut started: Vec<(f64, f64)> =
        repeats.iter().filter_map(|repeat| Some((seconds(&repeat.started)?, repeat.elapsed_ns as f64 / 1e9))).collect();
    started.sort_by(|a, b| a.0.total_cmp(&b.0));
    let overlap = |pair: &[(f64, f64)]| pair[0].0 + pair[0].1 > pair[1].0 + ADJUSTED.min(pair[0].1);
    if alone && started.windows(2).any(overlap) {
        reasons.push(Reason::new(Code::Dates, "two repeats of one run went on at the same time"));
    }
    reasons
}

// Figures against what buses and media can do.

/// Bytes that count between two readings of a clock that is not that of the bus.
const CEILING_TOLERANCE: f64 = 1.05;

/// What no medium of a kind does: more bytes per second, and a shorter median of random reads in nanoseconds.
struct Bound {
    kind: MediumKind,
    bytes_per_second: f64,
    read_ns: f64,
}

/// Interfaces: UHS-III carries 624 MB/s (SD 6.0), HS400 400 MB/s (JESD84-B51), SATA 3 600 MB/s, USB4 5 GB/s, PCIe 5.0 x4 16
/// GB/s. Reads: NAND takes 25 µs and more, a bridge of USB adds a frame of 125 µs divided by eight at best, a disk needs
/// to turn unless it reads ahead.
const BOUNDS: [Bound; 7] = [
    Bound { kind: MediumKind::Sd, bytes_per_second: 624e6, read_ns: 20_000.0 },
    Bound { kind: MediumKind::Emmc, bytes_per_second: 400e6, read_ns: 15_000.0 },
    Bound { kind: MediumKind::UsbStick, bytes_per_second: 2.5e9, read_ns: 15_000.0 },
    Bound { kind: MediumKind::UsbDisk, bytes_per_second: 5e9, read_ns: 10_000.0 },
    Bound { kind: MediumKind::SataSsd, bytes_per_second: 600e6, read_ns: 10_000.0 },
    Bound { kind: MediumKind::SataHdd, bytes_per_second: 600e6, read_ns: 20_000.0 },
    Bound { kind: MediumKind::Nvme, bytes_per_second: 16e9, read_ns: 4_000.0 },
];

fn limits(record: &Record) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let (Some(capacity), false) = (record.medium.capacity_bytes, record.medium.kind.is_virtual()) {
        let span = record.settings().map_or(0, |settings| settings.span_bytes);
        let reached = record.measurements.iter().map(|m| m.workload.offset_bytes.saturating_add(m.workload.span_bytes));
        if reached.chain([span]).any(|bytes| bytes > capacity) {
            reasons.push(Reason::new(Code::Capacity, "more was tested than the medium holds"));
        }
    }
    for measurement in record.measurements.iter().filter(|m| came_from_medium(m)) {
        let name = clean(&measurement.workload.name);
        let found = above_ceiling(record, measurement).or_else(|| impossible(record, measurement));
        reasons.extend(found.map(|(code, what)| Reason::new(code, format!("{name}: {what}"))));
    }
    reasons
}

/// Whether it claims to be of the medium: what came out of a cache, as it says itself, may be as fast as memory.
fn came_from_medium(measurement: &Measurement) -> bool {
    let says = |finding: &Finding| {
        matches!(
            finding,
            Finding::ServedFromCache { .. }
                | Finding::NoProof { .. }
                | Finding::LoopFromCache { .. }
                | Finding::CachedIo { .. }
                | Finding::CacheNotDropped { .. }
        )
    };
    measurement.workload.direct && !measurement.warnings.iter().any(|warning| says(&warning.finding))
}

fn above_ceiling(record: &Record, measurement: &Measurement) -> Option<(Code, String)> {
    let bus = record.medium.bus.as_ref()?;
    let ceiling = bus.ceiling_bytes_per_second.filter(|_| !record.medium.is_remote())?;
    let fastest = measurement.repeats.iter().map(|repeat| repeat.bytes_per_second).max_by(f64::total_cmp)?;
    (fastest > ceiling * CEILING_TOLERANCE)
        .then(|| (Code::AboveCeiling, format!("{:.0} MB/s over a bus of {:.0} MB/s", fastest / 1e6, ceiling / 1e6)))
}

fn impossible(record: &Record, measurement: &Measurement) -> Option<(Code, String)> {
    let bound = BOUNDS.iter().find(|bound| bound.kind == record.medium.kind)?;
    let what = record.medium.kind.title();
    let fastest = measurement.repeats.iter().map(|repeat| repeat.bytes_per_second).max_by(f64::total_cmp)?;
    if fastest > bound.bytes_per_second {
        return Some((Code::Impossible, format!("no {what} moves {:.0} MB/s", fastest / 1e6)));
    }
    let random_reads = measurement.workload.op == Op::Read && measurement.workload.pattern == Pattern::Random;
    let median = measurement.latency_ns.p50.as_ref().map(|p50| p50.point).filter(|_| random_reads)?;
    (median < bound.read_ns)
        .then(|| (Code::Impossible, format!("no {what} answers random reads within {:.1} µs", median / 1e3)))
}

#[cfg(test)]
mod tests {
    use assay_core::draft::Draft;
    use assay_core::estimate::Estimate;
    use assay_core::medium::Medium;
    use assay_core::outcome::Outcome;
    use assay_core::record::{SuiteRef, Tool};
    use assay_core::workload::Workload;

    use super::*;

    /// Whether this median latency is impossible for a card, at a rate that any card has.
    fn is_impossible(op: Op, pattern: Pattern, median_ns: f64) -> bool {
        let medium = Medium { kind: MediumKind::Sd, ..Medium::unknown("/media/card") };
        let (tool, suite) = (Tool::assay("0.1.0", "uring", "asked for"), SuiteRef::new("quick", 7));
        let record = Draft::begin("0000000001", "2026-05-29T00:00:00Z", tool, suite, medium).close(Outcome::Completed);
        let mut measurement = Measurement::empty(Workload::new("load", op, pattern, 4096), "uring");
        measurement.repeats.push(Repeat::empty("2026-05-29T00:00:01Z", Outcome::Completed));
        measurement.latency_ns.p50 = Some(Box::new(Estimate::bare(median_ns, 1, "histogram")));
        impossible(&record, &measurement).is_some()
    }

    #[test]
    fn only_random_reads_can_be_answered_too_soon_for_a_medium() {
        assert!(is_impossible(Op::Read, Pattern::Random, 19_000.0));
        assert!(!is_impossible(Op::Read, Pattern::Random, 21_000.0));
        assert!(!is_impossible(Op::Read, Pattern::Sequential, 19_000.0), "data read ahead");
        assert!(!is_impossible(Op::Write, Pattern::Random, 19_000.0), "a cache of the medium took it");
    }
}
