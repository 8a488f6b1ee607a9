//! Agreement with fio on cards with latency.
//!
//! Both read the card's block device itself, not a file of their own each.

use assay_lab::{Bus, LatencyCard, Missing};

use crate::assay::{Load, Run};
use crate::fio::{self, Engine, Said};
use crate::pairs::Pairs;
use crate::report::{Report, Row, Target};

/// Bytes of a card.
const CARD: u64 = 512 << 20;
/// Seconds of each side of a pair.
const SECONDS: u32 = 3;
/// A microSD card in a slot of 23 MB/s.
const SDR25: Bus = Bus { read_ms: 1, write_ms: 3, bits_per_second: 184_000_000 };

pub(crate) fn one_at_a_time(report: &mut Report) -> Result<(), Missing> {
    compare(report, "card of 1 ms and 23 MB/s: random read 4 KiB QD1", ("sync", Engine::Psync), 1, 4)
}

pub(crate) fn eight_at_a_time(report: &mut Report) -> Result<(), Missing> {
    compare(report, "card of 1 ms and 23 MB/s: random read 4 KiB QD8", ("uring", Engine::Uring), 8, 4)
}

pub(crate) fn a_full_bus(report: &mut Report) -> Result<(), Missing> {
    compare(report, "card of 1 ms and 23 MB/s: random read 64 KiB QD4", ("uring", Engine::Uring), 4, 64)
}

fn compare(
    report: &mut Report,
    what: &str,
    (engine, peer): (&'static str, Engine),
    depth: u32,
    block_kib: u32,
) -> Result<(), Missing> {
    fio::present()?;
    let card = LatencyCard::new(CARD, SDR25)?;
    let device = card.device().ok_or_else(|| Missing("the card has no device".to_owned()))?.path();
    let load = Load { depth, block_kib, seconds: SECONDS, span_mib: 256 };
    let ours = Run::new(device, engine, load);
    let pairs = Pairs::measure(
        || {
            let (measurement, _) = ours.finish();
            let latency = &measurement.latency_ns;
            let point = |estimate: &Option<Box<assay_core::estimate::Estimate>>| {
                estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point)
            };
            let repeat = &measurement.repeats[0];
            Said {
                iops: repeat.iops,
                operations: repeat.operations as f64,
                p50_ns: point(&latency.p50),
                p99_ns: point(&latency.p99),
            }
        },
        || fio::run(&mut fio::command(device, peer, load, true)).0,
    );
    let figures = [
        ("IOPS", pairs.medians(|said| said.iops), 1.0, "", 0.02),
        ("p50", pairs.medians(|said| said.p50_ns), 1e3, " µs", 0.03),
        ("p99", pairs.medians(|said| said.p99_ns), 1e3, " µs", 0.05),
    ];
    for (name, medians, by, unit, share) in figures {
        report.add(Row {
            what: format!("{what}: {name}"),
            ours: format!("{:.0}{unit}", medians.ours / by),
            peer: format!("{:.0}{unit}", medians.peer / by),
            seen: medians.ratio,
            unit: "",
            target: Target::AroundOne(share),
        });
    }
    Ok(())
}
