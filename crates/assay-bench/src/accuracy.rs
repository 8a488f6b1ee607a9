//! Errors against a known truth, and agreement with fio on cards with latency.

use std::time::{Duration, Instant};

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Repeat};
use assay_lab::{Bus, LatencyCard, LimitedCard, Missing};
use assay_stats::geometric_of_looks;

use super::process::{AssayRun, Load, SuiteFile, binary, record};
use super::report::{Judgement, Target};
use crate::cards::{CARDS, Card, Truth};
use crate::fio::{self, FioOutput, Setting};
use crate::process::finish;
use crate::report::{BenchRow, CardRow, Report};
use crate::series::{self, Figure, pairs};

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
