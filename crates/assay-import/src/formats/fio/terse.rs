//! Terse output, versions 3 to 5.
//!
//! Version 3 has 41 fields for each of reads and writes; version 4 has trims after them; version 5 has six more at the
//! end of each, of samples. KiB/s and microseconds.

use assay_core::workload::Op;

use super::job::{Job, Side};
use crate::number::{Printed, Told};
use crate::report::Latencies;

/// Fields before those of reads: version, fio's version, job, group, error.
const BEFORE: usize = 5;
/// Percentiles of each direction.
const PERCENTILES: usize = 20;

/// Whether a line is a result in terse form: `3;fio-3.33;job;0;0;…`.
pub(super) fn begins(line: &str) -> bool {
    let mut fields = line.trim_start().splitn(3, ';');
    let (Some("3" | "4" | "5"), Some(version), Some(_)) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    version.starts_with("fio-") || version.starts_with("fio ")
}

/// The version of fio and the job in a line.
pub(super) fn read(line: &str) -> Option<(String, Job)> {
    let fields: Vec<&str> = line.trim().split(';').collect();
    let width = match *fields.first()? {
        "3" | "4" => 41,
        _ => 47,
    };
    if !is_straight(&fields, width) {
        return None;
    }
    let mut job = Job {
        name: (*fields.get(2)?).to_owned(),
        group: fields.get(3)?.parse().ok()?,
        error: fields.get(4)?.parse().ok()?,
        ..Job::default()
    };
    for (op, from) in [(Op::Read, BEFORE), (Op::Write, BEFORE + width)] {
        let behind = fields.get(from..).unwrap_or_default();
        let side = match behind.get(..width) {
            Some(side) => side,
            None => {
                let what = if op == Op::Read { "the fields of reads and writes" } else { "the fields of writes" };
                job.missing = job.missing.or(Some(what));
                // The last of them may itself be cut in the middle of a number.
                behind.split_last().map_or(behind, |(_, whole)| whole)
            }
        };
        job.sides.extend(side_of(op, side).filter(Side::moved));
    }
    // Behind reads, writes and trims: processor and memory, depths, latencies in µs and ms.
    let before = BEFORE + width * if fields.first() == Some(&"3") { 2 } else { 3 } + 5 + 7 + 10 + 12;
    job.disks = fields.get(before..).unwrap_or_default().join(";");
    Some((version(fields.get(1)?), job))
}

/// Whether fields stand where they belong: those of percentiles hold `%=`, and those of processor times behind all
/// directions end with `%`. Where a mail has wrapped a line and lost a piece of it, they do not.
fn is_straight(fields: &[&str], width: usize) -> bool {
    let directions = if fields.first() == Some(&"3") { 2 } else { 3 };
    // Trims have no percentiles in all versions.
    let percentiles = (0..2).flat_map(|side| (0..PERCENTILES).map(move |at| BEFORE + side * width + 12 + at));
    let processor = BEFORE + directions * width;
    let numbers = (0..2).flat_map(|side| (0..4).map(move |at| BEFORE + side * width + at));
    // The last of a line that is cut off may be anything.
    let whole = fields.get(..fields.len().saturating_sub(1)).unwrap_or_default();
    percentiles.filter_map(|at| whole.get(at)).all(|field| field.contains("%="))
        && (processor..processor + 2).filter_map(|at| whole.get(at)).all(|field| field.ends_with('%'))
        && numbers.filter_map(|at| whole.get(at)).all(|field| field.parse::<f64>().is_ok())
}

fn side_of(op: Op, fields: &[&str]) -> Option<Side> {
    let number = |at: usize| -> Option<f64> { fields.get(at)?.parse().ok() };
    let mut side = Side::new(op);
    side.bytes = number(0)? * 1024.0;
    side.bytes_per_second = number(1).map(|rate| rate * 1024.0);
    side.iops = number(2);
    side.runtime_ms = number(3)?;
    let whole = |at: usize, unit: f64| number(at).map(|value| Printed { value, step: 1.0 }.times(unit));
    side.told = Told {
        rate: whole(1, 1024.0),
        iops: whole(2, 1.0),
        bytes: whole(0, 1024.0),
        operations: None,
        seconds: whole(3, 1e-3),
    };
    // Whole KiB/s of a slow medium are too coarse: size and time are told too.
    let by_time = side.bytes * 1e3 / side.runtime_ms;
    side.bytes_per_second = side.bytes_per_second.map(|rate| close(rate, by_time, 1024.0));
    let percentile = |share: f64| {
        let percentiles = fields.iter().skip(12).take(PERCENTILES).filter_map(|field| field.split_once("%="));
        let mut percentiles =
            percentiles.filter(|(name, _)| name.parse::<f64>().is_ok_and(|name| (name - share).abs() < 1e-4));
        percentiles
            .next()
            .and_then(|(_, value)| value.parse::<f64>().ok())
            .filter(|value| *value > 0.0)
            .map(|us| us * 1e3)
    };
    let lat =
        |at: usize| if fields.len() > at + 1 { number(at).filter(|us| *us > 0.0).map(|us| us * 1e3) } else { None };
    side.latency = Latencies {
        mean: lat(34),
        p50: percentile(50.0),
        p90: percentile(90.0),
        p99: percentile(99.0),
        p99_9: percentile(99.9),
        max: lat(33),
    };
    Some(side)
}

/// `precise` where it is within `step` of the figure that is printed.
pub(super) fn close(printed: f64, precise: f64, step: f64) -> f64 {
    if precise.is_finite() && (precise - printed).abs() <= step { precise } else { printed }
}

/// `fio-3.33` as a version.
pub(super) fn version(text: &str) -> String {
    text.trim().trim_start_matches("fio").trim_start_matches(['-', ' ']).to_owned()
}
