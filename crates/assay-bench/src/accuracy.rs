//! Errors against a known truth, and agreement with fio on cards with latency.

use std::process::Command;
use std::time::{Duration, Instant};

use assay_core::estimate::Estimate;
use assay_core::histogram::Histogram;
use assay_core::record::{Measurement, Repeat};
use assay_lab::{Bus, LatencyCard, LimitedCard, Missing};
use assay_stats::geometric_of_looks;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::process::{AssayRun, Load, SuiteFile, binary, record};
use super::report::{Judgement, Target};
use crate::cards::{CARDS, Card, Truth};
use crate::fio::{self, FioOutput, Setting};
use crate::process::finish;
use crate::report::{BenchRow, CardRow, Report};
use crate::series::{self, Figure, Shown, measure, pairs};

/// Bytes of a card.
const CARD_BYTES: u64 = 256 << 20;
/// Largest ratio of process time to the budget of its run: 1 % is for the shell and the start of the process.
const LONGEST: f64 = 1.01;
/// Number of runs of three repeats for a card that fewer runs do not decide.
const LOOKS: u32 = 3;
/// Repeats of a run.
const REPEATS: usize = 3;

pub(crate) fn all_cards(report: &mut Report) -> Result<(), Missing> {
    let mut longest = (0.0, String::new());
    for card in &CARDS {
        let (mut values, mut looks) = (Vec::new(), 0);
        let (measurement, seen) = loop {
            // The budget does not include the device, the start and the end of the process.
            if !report.has_time_for(Duration::from_secs(u64::from(card.budget_seconds) + 2)) {
                break (None, geometric_of_looks(&values, LOOKS));
            }
            let (measurement, budgets) = measure_accuracy(card)?;
            if budgets > longest.0 {
                longest = (budgets, card.limit.title());
            }
            let truth = card.truth();
            values.extend(measurement.repeats.iter().map(|repeat| by_the_truth(truth, repeat)));
            looks += 1;
            let seen = geometric_of_looks(&values, LOOKS);
            if looks == LOOKS || Target::AroundOne(card.most).judge(seen.as_ref()) != Judgement::CannotTell {
                break (Some(measurement), seen);
            }
        };
        let (truth, come_to) = accuracy_words(card.truth(), seen.as_ref());
        report.add_card(CardRow {
            card: card.limit.title(),
            // As it ran: the plan may have had to scale it down.
            workload: measurement.map_or_else(|| "–".to_owned(), |measurement| measurement.workload.title()),
            truth,
            seen: come_to,
            row: BenchRow {
                what: String::new(),
                ours: String::new(),
                peer: String::new(),
                seen,
                values,
                unit: "",
                target: Target::AroundOne(card.most),
                planned: LOOKS as usize * REPEATS,
            },
        });
    }
    let what = "longest run on a card, whole process, by its budget";
    report.add(BenchRow::exact(what, longest.0, "", longest.1, Target::AtMost(LONGEST)));
    Ok(())
}

/// What the card came to, and the time it took by its budget.
fn measure_accuracy(card: &Card) -> Result<(Measurement, f64), Missing> {
    let medium = LimitedCard::new(CARD_BYTES, card.limit.limits())?;
    let Card { block_kib, depth, jobs, budget_seconds, .. } = card;
    let suite = SuiteFile::new(&format!(
        "name = \"card\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget_seconds}s\"\nmax_write = \"8GiB\"\n\
         repeats = {REPEATS}\nspan = \"32MiB\"\n[[workload]]\nname = \"w\"\nblock = \"{block_kib}KiB\"\n\
         queue_depth = {depth}\njobs = {jobs}\n{}",
        card.work.lines()
    ));
    let start = Instant::now();
    let finished = finish(&mut medium.command(binary(), &suite.arguments(medium.path())));
    let budgets = start.elapsed().as_secs_f64() / f64::from(*budget_seconds);
    Ok((record(&finished).measurements.remove(0), budgets))
}

/// The result of a repeat, divided by the true value.
fn by_the_truth(truth: Truth, repeat: &Repeat) -> f64 {
    match truth {
        Truth::Iops(truth) => repeat.iops / truth,
        Truth::Bytes(truth) => repeat.bytes_per_second / truth,
    }
}

/// The truth and the measured value, as text for people.
fn accuracy_words(truth: Truth, seen: Option<&Estimate>) -> (String, String) {
    let (truth, unit) = match truth {
        Truth::Iops(truth) => (truth, "IOPS"),
        Truth::Bytes(truth) => (truth / 1e6, "MB/s"),
    };
    // Four figures at least, so that an error of 0.1 % shows.
    let text = |value: f64| if value < 1000.0 { format!("{value:.2} {unit}") } else { format!("{value:.0} {unit}") };
    (text(truth), text(seen.map_or(f64::NAN, |seen| seen.point * truth)))
}

// Agreement with fio on cards with latency.
//
// Both read the card's block device itself, not a file of their own each. The question is whether they agree,
// not which is faster, so that fio runs in the one setting that does as assay does.

/// Bytes of a card.
const CARD: u64 = 512 << 20;
/// Seconds of each side of a pair.
const SECONDS: u32 = 3;
/// A microSD card in a slot of 23 MB/s.
const SDR25: Bus = Bus { read_ms: 1, write_ms: 3, bits_per_second: 184_000_000 };

pub(crate) fn one_at_a_time(report: &mut Report) -> Result<(), Missing> {
    compare_latency(report, ("sync", fio::PSYNC), 1, 4)
}

pub(crate) fn eight_at_a_time(report: &mut Report) -> Result<(), Missing> {
    compare_latency(report, ("uring", fio::RING), 8, 4)
}

pub(crate) fn a_full_bus(report: &mut Report) -> Result<(), Missing> {
    compare_latency(report, ("uring", fio::RING), 4, 64)
}

fn compare_latency(
    report: &mut Report,
    (engine, peer): (&'static str, Setting),
    depth: u32,
    block_kib: u32,
) -> Result<(), Missing> {
    fio::present()?;
    let card = LatencyCard::new(CARD, SDR25)?;
    let device = card.device().ok_or_else(|| Missing("the card has no device".to_owned()))?.path();
    let load = Load { block_kib, ..Load::random_4k(depth, SECONDS) };
    let ours = AssayRun::new(device, engine, load);
    let what = |name: &str| format!("card of 1 ms and 23 MB/s: {}: {name}", load.title());
    let micros = |ns: f64| format!("{:.0} µs", ns / 1e3);
    pairs(
        report,
        series::LOOKS,
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

// Open loops against the formula of a queue with Poisson arrivals and one constant service (M/D/1), fio beside.

const QUEUE_BYTES: u64 = 64 << 20;
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
    let card = LatencyCard::one_at_a_time(QUEUE_BYTES, SERVICE_MS)?;
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
