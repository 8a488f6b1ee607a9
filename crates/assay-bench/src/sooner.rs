//! How much sooner a suite ends if it stops workloads whose figures are known well enough, and whether its results are
//! the same.

use std::time::Duration;

use assay_core::record::{Measurement, Record};
use assay_core::workload::Op;
use assay_lab::{LimitedCard, Limits, Missing};
use assay_stats::geometric;

use super::process::{SuiteFile, binary, record};
use super::report::Target;
use crate::process::finish;
use crate::report::{BenchRow, Report};

/// Bytes of a card.
const CARD_BYTES: u64 = 128 << 20;
/// Seconds of the plan that ends when its time is over: those of `quick`, as shorter repeats vary more.
const BUDGET_SECONDS: u32 = 90;
/// A figure of the one plan may differ from that of the other one by this share.
const SAME: f64 = 0.05;

/// Cards by their limits a second: megabytes read and written, operations read and written.
const CARDS: [[u64; 4]; 12] = [
    [12, 4, 500, 40],
    [18, 9, 900, 120],
    [20, 10, 1500, 500],
    [23, 10, 1600, 150],
    [23, 18, 2500, 700],
    [40, 15, 3000, 300],
    [45, 20, 4000, 1000],
    [45, 40, 2000, 60],
    [80, 30, 4000, 2000],
    [90, 60, 5000, 1200],
    [95, 90, 3500, 800],
    [200, 150, 8000, 4000],
];

/// What the suite says of when it ends.
const FIXED: &str = "";
const SOONER: &str = "enough = \"5%\"\n";

/// The workloads of `quick` on a smaller area, as a suite of this name and length; `more` are lines of its head.
pub(crate) fn quick_like(name: &str, budget_seconds: u32, more: &str) -> String {
    let workload = |name: &str, op: &str, pattern: &str, block: &str, depth: u32, more: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nop = \"{op}\"\npattern = \"{pattern}\"\nblock = \"{block}\"\n\
             queue_depth = {depth}\n{more}"
        )
    };
    let head = format!(
        "name = \"{name}\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget_seconds}s\"\nmax_write = \"1GiB\"\n\
         repeats = 3\n{more}span = \"32MiB\"\n"
    );
    let workloads = [
        workload("rs", "read", "sequential", "1MiB", 8, ""),
        workload("r1", "read", "random", "4KiB", 1, ""),
        workload("r32", "read", "random", "4KiB", 32, ""),
        workload("ws", "write", "sequential", "1MiB", 8, ""),
        workload("w1", "write", "random", "4KiB", 1, ""),
        workload("w32", "write", "random", "4KiB", 32, ""),
        workload("wf", "write", "random", "4KiB", 1, "sync = \"fsync\"\n"),
    ];
    head + &workloads.concat()
}

pub(crate) fn twelve_cards(report: &mut Report) -> Result<(), Missing> {
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    let mut worst = (0.0f64, "–".to_owned());
    for (number, card) in CARDS.iter().enumerate() {
        if !report.has_time_for(2 * Duration::from_secs(u64::from(BUDGET_SECONDS) + 2)) {
            report.note(format!("its time was over after {number} of {} cards", CARDS.len()));
            break;
        }
        // Which goes first alternates.
        let (fixed, sooner) = if number.is_multiple_of(2) {
            let fixed = measure(card, FIXED)?;
            (fixed, measure(card, SOONER)?)
        } else {
            let sooner = measure(card, SOONER)?;
            (measure(card, FIXED)?, sooner)
        };
        times.push(sooner.settings.elapsed_ns as f64 / fixed.settings.elapsed_ns as f64);
        bytes.push(sooner.settings.written_bytes as f64 / fixed.settings.written_bytes as f64);
        for (a, b) in sooner.measurements.iter().zip(&fixed.measurements) {
            // A slow card may have had to be asked for less, by the one plan more than by the other one.
            let (one, other) = (a.workload.title(), b.workload.title());
            if one != other {
                report.note(format!("card {}: {one} and {other} are not the same", number + 1));
                continue;
            }
            let figure = |m: &Measurement| m.bytes_per_second.as_ref().map_or(f64::NAN, |e| e.point);
            let off = (figure(a) / figure(b) - 1.0).abs();
            if !off.is_finite() || off > worst.0 {
                worst = (off, format!("card {}, {one}", number + 1));
            }
        }
    }
    let what = "largest difference of a figure to that of the fixed plan";
    report.add(BenchRow::exact(what, worst.0, "", worst.1, Target::AtMost(SAME)));
    for (what, shares) in
        [("time by that of the fixed plan", times), ("bytes written by those of the fixed plan", bytes)]
    {
        report.add(BenchRow {
            what: format!("a suite that ends where 5 % is known, on twelve cards: {what}"),
            ours: "–".to_owned(),
            peer: "–".to_owned(),
            seen: geometric(&shares),
            values: shares,
            unit: "",
            target: Target::AtMost(1.0),
            planned: CARDS.len(),
        });
    }
    Ok(())
}

fn measure(card: &[u64; 4], enough: &str) -> Result<Record, Missing> {
    let [read, write, read_iops, write_iops] = *card;
    let limits = Limits {
        read_bytes: Some(read * 1_000_000),
        write_bytes: Some(write * 1_000_000),
        read_iops: Some(read_iops),
        write_iops: Some(write_iops),
    };
    let medium = LimitedCard::new(CARD_BYTES, limits)?;
    let suite = SuiteFile::new(&quick_like("sooner", BUDGET_SECONDS, enough));
    let finished = finish(&mut medium.command(binary(), &suite.arguments(medium.path())));
    let record = record(&finished);
    assert!(record.measurements.iter().any(|m| m.workload.op == Op::Read), "{}", finished.stderr);
    Ok(record)
}
