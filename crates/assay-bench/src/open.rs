//! Open loops against the formula of a queue with Poisson arrivals and one constant service (M/D/1), fio beside.

use std::process::Command;

use assay_core::histogram::Histogram;
use assay_core::record::Measurement;
use assay_lab::{LatencyCard, Missing};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::process::{SuiteFile, binary, record};
use super::report::Target;
use crate::fio;
use crate::process::finish;
use crate::report::Report;
use crate::series::{Figure, Shown, measure};

const CARD_BYTES: u64 = 64 << 20;
/// Service of the card in milliseconds, without what the host adds.
const SERVICE_MS: u64 = 2;
/// Share of the card's rate that is offered, in percent, and the seconds of a run.
const LOADS: [(u32, u32); 3] = [(50, 15), (80, 30), (90, 60)];
/// Runs of each load.
const RUNS: &[usize] = &[3];
/// As near to the formula as this.
const NEAR: f64 = 0.05;
/// Arrivals from which the 99th percentile is taken where the formula is no closed one.
const DRAWS: usize = 4_000_000;

/// Mean and 99th percentile in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Seen {
    mean: f64,
    p99: f64,
}

pub(crate) fn constant_service(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let card = LatencyCard::one_at_a_time(CARD_BYTES, SERVICE_MS)?;
    let closed = |depth: u32| run(&card, depth, "", 6);
    // What a full queue does is the service; what one operation takes beyond it passes beside the service of others.
    let service = 1e9 / closed(32).iops.map_or(f64::NAN, |iops| iops.point);
    let alone = closed(1).latency_ns.mean.map_or(f64::NAN, |mean| mean.point);
    report.note(format!("service {:.1} µs, one operation alone {:.1} µs", service / 1e3, alone / 1e3));
    for (percent, seconds) in LOADS {
        let load = f64::from(percent) / 100.0;
        let rate = load * 1e9 / service;
        let wait = waits(load);
        let formula = Seen { mean: alone + wait.mean * service, p99: alone + wait.p99 * service };
        let next = |_| {
            let of = run(&card, 256, &format!("rate = \"{rate:.2} iops\"\n"), seconds);
            let point = |estimate: Option<Box<assay_core::estimate::Estimate>>| estimate.map_or(f64::NAN, |e| e.point);
            let ours = Seen { mean: point(of.latency_ns.mean), p99: point(of.latency_ns.p99) };
            (ours, by_fio(&card, rate, seconds))
        };
        let figure = |name: &str, of: fn(&Seen) -> f64| Figure {
            what: format!("{percent} % of a card of one constant service: {name} latency by the formula of M/D/1"),
            seen: Box::new(move |(ours, _): &(Seen, Seen)| of(ours) / of(&formula)),
            unit: "",
            target: Target::AroundOne(NEAR),
            ours: Shown::new(move |(ours, _): &(Seen, Seen)| of(ours), milliseconds),
            peer: Some(Shown::new(move |(_, theirs): &(Seen, Seen)| of(theirs), milliseconds)),
        };
        measure(report, RUNS, next, &[figure("mean", |seen| seen.mean), figure("p99", |seen| seen.p99)]);
    }
    Ok(())
}

fn milliseconds(ns: f64) -> String {
    format!("{:.2} ms", ns / 1e6)
}

/// Mean and 99th percentile of the wait before service, in services: the mean by Pollaczek and Khinchine, the percentile
/// of many arrivals by Lindley's recursion.
fn waits(load: f64) -> Seen {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(17);
    // In thousandths of a service, so that the histogram's steps are no error.
    let mut histogram = Histogram::default();
    let mut wait = 0.0f64;
    for _ in 0..DRAWS {
        histogram.add((wait * 1e6) as u64);
        let uniform = (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let between = -(1.0 - uniform).ln() / load;
        wait = (wait + 1.0 - between).max(0.0);
    }
    Seen { mean: load / (2.0 * (1.0 - load)), p99: histogram.quantile(0.99).unwrap_or(f64::NAN) / 1e6 }
}

fn run(card: &LatencyCard, depth: u32, rate: &str, seconds: u32) -> Measurement {
    let budget = seconds + 20;
    let suite = SuiteFile::new(&format!(
        "name = \"open\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget}s\"\nmax_write = \"256MiB\"\nrepeats = 1\n\
         span = \"16MiB\"\n[[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n\
         queue_depth = {depth}\nduration = \"{seconds}s\"\n{rate}"
    ));
    let finished = finish(Command::new(binary()).args(suite.arguments(card.path())).args(["--engine", "uring"]));
    record(&finished).measurements.remove(0)
}

/// fio counts from the submission, which is when an operation is due as long as there is room in its queue.
fn by_fio(card: &LatencyCard, rate: f64, seconds: u32) -> Seen {
    let file = card.path().join("fio");
    let mut command = Command::new("fio");
    command
        .args(["--name=r", "--rw=randread", "--bs=4k", "--size=16m", "--direct=1", "--norandommap", "--time_based"])
        .args([
            "--ioengine=libaio",
            "--iodepth=256",
            "--rate_process=poisson",
            "--output-format=json",
            "--randrepeat=0",
        ])
        .args([format!("--rate_iops={rate:.0}"), format!("--runtime={seconds}")])
        .arg(format!("--filename={}", file.display()));
    let document = fio::document(&finish(&mut command));
    let latencies = &document["jobs"][0]["read"]["clat_ns"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    Seen { mean: number(&latencies["mean"]), p99: number(&latencies["percentile"]["99.000000"]) }
}
