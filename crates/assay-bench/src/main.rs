//! Comparisons with a known truth and with fio, and the targets they must meet.
//!
//! `make bench` runs all of them as root; a name, or a part of one, runs those that have it:
//! `make bench ONLY=accuracy`. It fails where a target is missed, ends
//! with tables for `docs/benchmarks.md`, and keeps the figures by version (`kept`).
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and fails by panicking

mod accuracy;
mod cards;
mod endure;
mod fio;
mod own_cost;
mod process;
mod report;
mod series;
mod splits;
mod verify;

use std::process::ExitCode;
use std::time::Duration;

use assay_lab::{Lab, Missing};
use report::Report;

/// Runs comparisons and adds the results to the report.
type Run = fn(&mut Report) -> Result<(), Missing>;

/// Name, for the filter, the seconds that it takes at most, and what runs. The seconds hold all pairs, the trials of the
/// peer and the device on an idle machine; on another one the series ends with them.
const COMPARISONS: [(&str, u64, Run); 26] = [
    ("program", 60, own_cost::start_up_and_size),
    ("null", 180, own_cost::null_engine),
    ("null-jobs", 240, own_cost::many_jobs),
    ("accuracy", 720, accuracy::all_cards),
    ("latency-qd1", 300, accuracy::one_at_a_time),
    ("latency-qd8", 300, accuracy::eight_at_a_time),
    ("latency-bus", 300, accuracy::a_full_bus),
    ("speed-loop-qd32", 240, own_cost::loop_deep),
    ("speed-loop-jobs2", 240, own_cost::loop_two_jobs),
    ("speed-loop-write", 240, own_cost::loop_writes),
    ("speed-loop-qd1", 240, own_cost::loop_single),
    ("speed-zram-qd32", 240, own_cost::zram_deep),
    ("speed-zram-qd1", 240, own_cost::zram_single),
    ("cpu-qd32", 360, own_cost::processor_time_deep),
    ("cpu-qd1", 360, own_cost::processor_time_single),
    ("memory", 240, own_cost::memory),
    ("overhead", 150, own_cost::sensors_and_live_view),
    ("open-loop", 720, accuracy::constant_service),
    ("sooner", 2400, splits::twelve_cards),
    ("splits", 720, splits::of_four_media),
    ("verify-memory", 120, verify::memory),
    ("verify-f3", 900, verify::f3),
    ("verify-fio", 600, verify::fio),
    ("verify-bus", 180, verify::buses),
    ("endure-log", 900, endure::full_log),
    ("endure-cycle", 5400, endure::whole_cycle),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|a| a == "--list") {
        for (name, seconds, _) in COMPARISONS {
            println!("{name:<18} at most {seconds} s");
        }
        return ExitCode::SUCCESS;
    }
    if let Some(option) = arguments.iter().find(|a| a.starts_with('-')) {
        println!(
            "usage: assay-bench [NAME…] | --list; there is no option {option}. Without a name all run, for up to three hours."
        );
        return ExitCode::from(2);
    }
    let filters = &arguments;
    let chosen: Vec<_> = COMPARISONS
        .into_iter()
        .filter(|(name, ..)| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str())))
        .collect();
    if chosen.is_empty() {
        println!("no comparison of that name; there are {}", COMPARISONS.map(|(name, ..)| name).join(", "));
        return ExitCode::from(2);
    }

    let mut report = Report::default();
    match Lab::enter() {
        Ok(_lab) => {
            for (name, seconds, run) in chosen {
                report.begin(name, Duration::from_secs(seconds));
                if let Err(missing) = run(&mut report) {
                    report.skip(&missing);
                }
            }
        }
        Err(missing) => chosen.iter().for_each(|(name, seconds, _)| {
            report.begin(name, Duration::from_secs(*seconds));
            report.skip(&missing);
        }),
    }
    report.finish()
}
