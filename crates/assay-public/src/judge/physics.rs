//! Figures against what buses and media can do.

use assay_core::finding::Finding;
use assay_core::medium::MediumKind;
use assay_core::record::{Measurement, Record};
use assay_core::text::clean;
use assay_core::workload::{Op, Pattern};

use crate::states::{Code, Reason};

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

pub(super) fn check(record: &Record) -> Vec<Reason> {
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
