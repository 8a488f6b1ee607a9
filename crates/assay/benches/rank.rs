//! `assay rank` on a large campaign: 40 models of 10 units under 20 loads, 25 repeats of each, which
//! is 200 000 repeats in 400 records. Fails where the ranking takes more than 2 s, or the program
//! more than 300 MB, of which reading the store is shown separately.
//!
//! `cargo bench --locked -p assay --bench rank`
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

mod common;

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use assay_analysis::rank::{RankOptions, rank};
use assay_core::draft::Draft;
use assay_core::histogram::Histogram;
use assay_core::medium::{Medium, MediumKind};
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat, SuiteRef, Tool};
use assay_core::workload::{Op, Pattern, Stop, Workload};
use assay_store::{Owner, RunState, SqliteStore, Store};
use common::{Dice, SECOND, lasted, only_built, program};

const MODELS: usize = 40;
const UNITS: usize = 10;
const REPEATS: usize = 25;
/// The ranking itself, in seconds.
const MOST_SECONDS: f64 = 2.0;
/// The program with everything it does, in bytes.
const MOST_BYTES: f64 = 300e6;
/// The page of the ranking in a browser, in seconds.
const MOST_OPENING: f64 = 1.0;

fn main() -> ExitCode {
    if only_built() {
        return ExitCode::SUCCESS;
    }
    let dir = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let repeats = fill(dir.path());
    println!("{repeats} repeats in {} records written in {:.1} s", MODELS * UNITS, begun.elapsed().as_secs_f64());

    let begun = Instant::now();
    let store = SqliteStore::open_existing(dir.path()).unwrap().unwrap();
    let ids = store.resolve("all").unwrap();
    let records: Vec<Observation> = ids.iter().map(|id| Observation::from(&store.load(id).unwrap().record)).collect();
    let reading = begun.elapsed().as_secs_f64();
    let size = std::fs::metadata(dir.path().join("assay.sqlite")).unwrap().len();
    println!("reading the store of {:.0} MB: {reading:.2} s", size as f64 / 1e6);

    let all: Vec<&Observation> = records.iter().collect();
    // The quickest of three: what else the machine does only adds.
    let mut ranking = f64::MAX;
    let mut report = None;
    for _ in 0..3 {
        let begun = Instant::now();
        report = Some(rank(&all, &RankOptions::default()).unwrap());
        ranking = ranking.min(begun.elapsed().as_secs_f64());
    }
    let report = report.unwrap();
    println!("ranking {} loads: {ranking:.2} s (at most {MOST_SECONDS} s)", 1 + report.exploratory.len());
    assert!(report.primary.refusal.is_none() && report.primary.models.len() == MODELS);

    let (seconds, processor, bytes) = program(dir.path(), &["rank"]);
    println!(
        "the program: {seconds:.2} s, {processor:.2} s of a processor, {:.0} MB at its peak (at most {:.0} MB)",
        bytes / 1e6,
        MOST_BYTES / 1e6
    );
    let opened = page(dir.path());
    match opened {
        Some(seconds) => println!("the page of it in Chromium: {seconds:.2} s (at most {MOST_OPENING} s)"),
        None => println!("SKIP: the page of it in Chromium: needs chromium"),
    }
    let met = ranking <= MOST_SECONDS && bytes <= MOST_BYTES && opened.is_none_or(|s| s <= MOST_OPENING);
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Seconds that Chromium takes to load and lay out the page of the ranking beyond what it takes for
/// an empty one; medians of five.
fn page(data: &std::path::Path) -> Option<f64> {
    let (page, empty) = (data.join("rank.html"), data.join("empty.html"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["rank", "-o"]).arg(&page).env("ASSAY_DATA", data).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    std::fs::write(&empty, "<!doctype html><title>empty</title>").unwrap();
    let open = |path: &std::path::Path| {
        let begun = Instant::now();
        let mut command = Command::new("chromium");
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"]);
        command.arg(format!("--screenshot={}", data.join("page.png").display()));
        command.arg(format!("file://{}", path.display())).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().ok().filter(std::process::ExitStatus::success).map(|_| begun.elapsed().as_secs_f64())
    };
    let mut extra: Vec<f64> = (0..5).map(|_| Some(open(&page)? - open(&empty)?)).collect::<Option<_>>()?;
    extra.sort_by(f64::total_cmp);
    Some(extra[2].max(0.0))
}

fn fill(data: &std::path::Path) -> usize {
    let mut store = SqliteStore::open(data).unwrap();
    // Saved as under way, so without a sync each.
    let owner = Owner::current();
    let mut dice = Dice(1);
    let mut repeats = 0;
    for model in 0..MODELS {
        for unit in 0..UNITS {
            let record = record(model, unit, &mut dice);
            repeats += record.measurements.iter().map(|m| m.repeats.len()).sum::<usize>();
            store.save(&record, RunState::Running { owner: &owner, scratch: None }).unwrap();
        }
    }
    repeats
}

fn workloads() -> Vec<Workload> {
    let mut all = Vec::new();
    for (op, pattern) in [
        (Op::Read, Pattern::Random),
        (Op::Write, Pattern::Random),
        (Op::Read, Pattern::Sequential),
        (Op::Write, Pattern::Sequential),
    ] {
        for block in [4u64, 16, 64, 256, 1024] {
            all.push(Workload {
                queue_depth: 8,
                span_bytes: 1 << 30,
                stop: Stop { ramp_ns: 0, duration_ns: 2 * SECOND, max_bytes: None },
                ..Workload::new(&format!("{op:?}-{pattern:?}-{block}"), op, pattern, block << 10)
            });
        }
    }
    all
}

fn record(model: usize, unit: usize, dice: &mut Dice) -> Record {
    let name = format!("Model {model:02}");
    let own = 0.1 * dice.throw();
    let measurements = workloads().into_iter().map(|workload| {
        let mut measurement = Measurement::empty(workload, "uring");
        for _ in 0..REPEATS {
            let iops = 1e6 / (measurement.workload.block_bytes as f64).sqrt()
                * (1.0 + model as f64 / 60.0)
                * (1.0 + own + 0.03 * dice.throw());
            let repeat = repeat(&measurement.workload, iops);
            measurement.repeats.push(repeat);
        }
        measurement
    });
    let measurements = measurements.collect();
    let medium = Medium { kind: MediumKind::Sd, model: Some(name.clone()), ..Medium::unknown("/mnt") };
    let labels = [("model", name), ("unit", unit.to_string()), ("slot", (unit % 7).to_string())];
    let id = format!("m{model:02}u{unit:02}xxxx");
    let tool = Tool::assay("0.1.0", "uring", "");
    let mut draft = Draft::begin(&id, "2026-11-21T06:31:04Z", tool, SuiteRef::new("bench", 1), medium)
        .labelled(labels.map(|(key, value)| (key.to_owned(), value)).into());
    draft.fill().measurements = measurements;
    draft.close(Outcome::Completed)
}

fn repeat(workload: &Workload, iops: f64) -> Repeat {
    let mut histogram = Histogram::default();
    (1..=4).for_each(|n| histogram.add((n as f64 * 1e9 / iops) as u64));
    Repeat { in_flight: 8.0, ..lasted(2, workload.block_bytes, iops, &histogram) }
}
