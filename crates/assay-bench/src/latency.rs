//! Agreement with fio on cards with latency.
//!
//! Both read the card's block device itself, not a file of their own each. The question is whether they agree,
//! not which is faster, so that fio runs in the one setting that does as assay does.

use assay_lab::{Bus, LatencyCard, Missing};

use crate::assay::{Load, Run};
use crate::fio::{self, FioOutput, Setting};
use crate::judge::Target;
use crate::report::Report;
use crate::series::{Figure, LOOKS, pairs};

/// Bytes of a card.
const CARD: u64 = 512 << 20;
/// Seconds of each side of a pair.
const SECONDS: u32 = 3;
/// A microSD card in a slot of 23 MB/s.
const SDR25: Bus = Bus { read_ms: 1, write_ms: 3, bits_per_second: 184_000_000 };

pub(crate) fn one_at_a_time(report: &mut Report) -> Result<(), Missing> {
    compare(report, ("sync", fio::PSYNC), 1, 4)
}

pub(crate) fn eight_at_a_time(report: &mut Report) -> Result<(), Missing> {
    compare(report, ("uring", fio::RING), 8, 4)
}

pub(crate) fn a_full_bus(report: &mut Report) -> Result<(), Missing> {
    compare(report, ("uring", fio::RING), 4, 64)
}

fn compare(
    report: &mut Report,
    (engine, peer): (&'static str, Setting),
    depth: u32,
    block_kib: u32,
) -> Result<(), Missing> {
    fio::present()?;
    let card = LatencyCard::new(CARD, SDR25)?;
    let device = card.device().ok_or_else(|| Missing("the card has no device".to_owned()))?.path();
    let load = Load { block_kib, ..Load::random_4k(depth, SECONDS) };
    let ours = Run::new(device, engine, load);
    let what = |name: &str| format!("card of 1 ms and 23 MB/s: {}: {name}", load.title());
    let micros = |ns: f64| format!("{:.0} µs", ns / 1e3);
    pairs(
        report,
        LOOKS,
        || {
            let (measurement, _) = ours.finish();
            let latency = &measurement.latency_ns;
            let point = |estimate: &Option<Box<assay_core::estimate::Estimate>>| {
                estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point)
            };
            let repeat = &measurement.repeats[0];
            FioOutput {
                iops: repeat.iops,
                operations: repeat.operations as f64,
                p50_ns: point(&latency.p50),
                p99_ns: point(&latency.p99),
            }
        },
        || fio::run(&mut fio::command(device, peer, load, true)).0,
        &[
            Figure::ratio(
                what("IOPS"),
                |said: &FioOutput| said.iops,
                |iops| format!("{iops:.0}"),
                Target::AroundOne(0.02),
            ),
            Figure::ratio(what("p50"), |said: &FioOutput| said.p50_ns, micros, Target::AroundOne(0.03)),
            Figure::ratio(what("p99"), |said: &FioOutput| said.p99_ns, micros, Target::AroundOne(0.05)),
        ],
    );
    Ok(())
}
