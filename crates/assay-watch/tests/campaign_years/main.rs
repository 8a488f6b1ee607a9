//! Simulated years of nights with a known truth: false alarms of a medium and year, and how many changes are found in time.
//!
//! A few years of each row run with the other tests; `make campaign SEEDS=1000 ONLY=years` measures all rows and prints the
//! table of `docs/watch.md`. The years are drawn here, by rules that do not know the method.
#![allow(clippy::unwrap_used)]

mod bound;
mod intervals;
mod media;
mod rows;

use std::fmt::Write;
use std::path::Path;

use assay_stats::random::Generator;
use assay_watch::{Manner, Night, Watch, What};

use intervals::{rate, share};
use media::Year;
use rows::{CHANGES, LOADS, NIGHTS, Row, Truth};

/// What a row counts.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    years: u32,
    /// Nights in which an alarm is false, in years.
    exposed: f64,
    false_alarms: u32,
    of_steps: u32,
    found: u32,
    /// Years with exactly one message after the change.
    once: u32,
    days: i64,
    /// Of the rule "20 % below the mean of five nights, the new one with them".
    five_false: u32,
    five_found: u32,
}

fn measure(row: &Row, seeds: std::ops::Range<u64>) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let mut random = Generator::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ row.name().len() as u64);
        let change = (CHANGES.0 + random.below(CHANGES.1 - CHANGES.0)) as i64;
        let kernel = 100 + random.below(200) as i64;
        // A change begins after the kernel's, or before: both are years.
        let year = Year { row: *row, change, kernel };
        let nights = year.nights(&mut random);
        let within = row.truth.within();
        if let Ok(directory) = std::env::var("ASSAY_CAMPAIGN_EXPORT") {
            export(Path::new(&directory), row, seed, change, &nights);
        }
        let (mut watch, mut found, mut messages) = (Watch::default(), None, 0);
        for night in &nights {
            // The night goes on as it was: a second run of it has the same night, measured more exactly.
            let taken = watch.take(night, &mut || Some(night.clone()));
            for event in &taken.events {
                let What::Worse { figures } = &event.what else { continue };
                if row.truth == Truth::Nothing || event.day < change {
                    count.false_alarms += 1;
                    count.of_steps += u32::from(figures.iter().any(|one| one.manner == Manner::Step));
                } else {
                    found.get_or_insert(event.day - change);
                    messages += 1;
                }
            }
        }
        count.years += 1;
        count.once += u32::from(messages == 1);
        count.exposed += if row.truth == Truth::Nothing { 1.0 } else { change as f64 / NIGHTS as f64 };
        if let Some(days) = found.filter(|days| *days < within) {
            count.found += 1;
            count.days += days;
        }
        five_runs(&nights, change, row, within, &mut count);
    }
    count
}

/// Writes the nights of a year for other detectors (`otava_years.py` here): a column a figure, worse is more. The name has the row and
/// the night on which the change begins.
fn export(directory: &Path, row: &Row, seed: u64, change: i64, nights: &[Night]) {
    let mut text = String::from("day,r0,l0,r1,l1,r2,l2,r3,l3\n");
    for night in nights {
        let _ = write!(text, "{}", night.day);
        for figure in &night.figures {
            let _ = write!(text, ",{:.6}", figure.log.exp());
        }
        text.push('\n');
    }
    let change = if row.truth == Truth::Nothing { NIGHTS } else { change };
    let row_name = row.name().replace('/', " a ");
    let name = format!("{row_name}@{change}@{}@{seed}.csv", row.truth.within());
    std::fs::write(directory.join(name), text).unwrap();
}

/// The rule of another watcher: a warning where a night is 20 % below the mean of the last five, the new one with them.
fn five_runs(nights: &[Night], change: i64, row: &Row, within: i64, count: &mut Count) {
    let (mut false_alarms, mut found) = (0, false);
    for at in 0..2 * LOADS {
        let values: Vec<f64> = nights.iter().map(|night| night.figures[at].log.exp()).collect();
        let worse_is_less = at % 2 == 0;
        let mut warned = false;
        for (end, window) in (4..).zip(values.windows(5)) {
            let ratio = window[4] / (window.iter().sum::<f64>() / 5.0);
            let now = if worse_is_less { ratio <= 0.8 } else { ratio >= 1.3 };
            if now && !warned {
                let day = nights[end].day;
                if row.truth == Truth::Nothing || day < change {
                    false_alarms += 1;
                } else {
                    found |= day - change < within;
                }
            }
            warned = now;
        }
    }
    count.five_false += false_alarms;
    count.five_found += u32::from(found);
}

fn line(row: &Row, count: &Count) -> String {
    let alarms = f64::from(count.false_alarms) / count.exposed;
    let (low, high) = rate(count.false_alarms, count.exposed);
    let mut line = format!("| {} | {alarms:.3} ({low:.3}–{high:.3}) |", row.name());
    if row.truth == Truth::Nothing {
        let _ = write!(line, " – | – | – | {:.1} | – |", f64::from(count.five_false) / count.exposed);
    } else {
        let (low, high) = share(count.found, count.years);
        let found = 100.0 / f64::from(count.years);
        let days = count.days as f64 / f64::from(count.found.max(1)) + 1.0;
        let _ = write!(
            line,
            " {:.1} % ({:.1}–{:.1}) | {days:.0} | {:.0} % | {:.1} | {:.0} % |",
            f64::from(count.found) * found,
            low * 100.0,
            high * 100.0,
            f64::from(count.once) * found,
            f64::from(count.five_false) / count.exposed,
            f64::from(count.five_found) * found
        );
    }
    line
}

#[test]
fn false_alarms_are_rare_and_changes_are_found() {
    let seeds = std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(6u64);
    let only = std::env::var("ASSAY_CAMPAIGN_ROWS").unwrap_or_default();
    println!("{seeds} years of {} nights each\n", NIGHTS);
    println!(
        "| spread, autocorrelation | false alarms a medium and year | found in time | mean days | one message | five runs: false | found |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut wrong = Vec::new();
    for row in Row::rows().iter().filter(|row| row.name().contains(&only)) {
        let count = measure(row, 0..seeds);
        println!("{}", line(row, &count));
        // Where an aim is certainly missed.
        if !row.missed_aim && rate(count.false_alarms, count.exposed).0 > 0.1 {
            wrong.push(format!("{}: {} false alarms, {} of steps", row.name(), count.false_alarms, count.of_steps));
        }
        let is_change = row.truth != Truth::Nothing;
        if is_change && !row.missed_aim && share(count.found, count.years).1 < 0.9 {
            wrong.push(format!("{}: {} of {} found", row.name(), count.found, count.years));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
