//! Comparisons with a known truth and with fio, and the targets they must meet.
//!
//! `make bench` runs all of them as root; a name, or a part of one, runs those that have it:
//! `make bench ONLY=accuracy`. It fails where a target is missed, ends
//! with tables for `docs/benchmarks.md`, and keeps the figures by version (`kept`).
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and fails by panicking

mod accuracy;
mod assay;
mod cards;
mod cpu;
mod fio;
mod footprint;
mod judge;
mod kept;
mod latency;
mod open;
mod overhead;
mod process;
mod program;
mod report;
mod series;
mod sooner;
mod speed;
mod verify;
mod zram;

use std::process::ExitCode;

use assay_lab::{Lab, Missing};

use report::Report;

/// Runs comparisons and tells the report what was seen.
type Run = fn(&mut Report) -> Result<(), Missing>;

/// Name, for the filter, and what runs.
const COMPARISONS: [(&str, Run); 23] = [
    ("program", program::start_up_and_size),
    ("null", program::null_engine),
    ("null-jobs", program::many_jobs),
    ("accuracy", accuracy::all_cards),
    ("latency-qd1", latency::one_at_a_time),
    ("latency-qd8", latency::eight_at_a_time),
    ("latency-bus", latency::a_full_bus),
    ("speed-loop-qd32", speed::loop_deep),
    ("speed-loop-jobs2", speed::loop_two_jobs),
    ("speed-loop-write", speed::loop_writes),
    ("speed-loop-qd1", speed::loop_single),
    ("speed-zram-qd32", speed::zram_deep),
    ("speed-zram-qd1", speed::zram_single),
    ("cpu-qd32", cpu::deep),
    ("cpu-qd1", cpu::single),
    ("memory", footprint::memory),
    ("overhead", overhead::sensors_and_live_view),
    ("open-loop", open::constant_service),
    ("sooner", sooner::twelve_cards),
    ("verify-memory", verify::memory),
    ("verify-f3", verify::f3),
    ("verify-fio", verify::fio),
    ("verify-bus", verify::buses),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|a| a == "--list") {
        for (name, _) in COMPARISONS {
            println!("{name}");
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let chosen: Vec<_> = COMPARISONS
        .into_iter()
        .filter(|(name, _)| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str())))
        .collect();
    if chosen.is_empty() {
        println!("no comparison of that name; there are {}", COMPARISONS.map(|(name, _)| name).join(", "));
        return ExitCode::from(2);
    }

    let mut report = Report::default();
    match Lab::enter() {
        Ok(_lab) => {
            for (name, run) in chosen {
                report.begin(name);
                if let Err(missing) = run(&mut report) {
                    report.skip(&missing);
                }
            }
        }
        Err(missing) => chosen.iter().for_each(|(name, _)| {
            report.begin(name);
            report.skip(&missing);
        }),
    }
    report.finish()
}
