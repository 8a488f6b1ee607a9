//! JSON and JSON+.
//!
//! Notes may stand before the document and after it, several documents in one file. fio prints `nan` where it divides by
//! nothing. Names may stand twice in an object: the last counts. Version 2 has microseconds and KiB where version 3 has
//! nanoseconds and bytes. Of several hosts (`client_stats`) the sum is named `All clients`.

use std::collections::BTreeMap;

use assay_core::finding::JobPart;
use assay_core::histogram::{BUCKETS, Histogram, bucket_of};
use assay_core::workload::Op;
use serde_json::Value;
use serde_json::value::RawValue;

use super::job::{Job, Side};
use super::load::synced_apart;
use crate::date;
use crate::number::{Printed, Told};
use crate::report::Latencies;
use crate::text::{Text, json_begins, json_body};

/// Longest job that is read, in bytes: one with all bins of three latencies and directions has half of it.
const LONGEST_JOB: usize = 4 << 20;
/// The name of the sum over all clients.
pub(super) const ALL_CLIENTS: &str = "All clients";
/// Longest options for all jobs in bytes: each job has a copy of them.
const LONGEST_OPTIONS: usize = 16 << 10;
/// Most jobs of a document.
const MOST_JOBS: usize = 2_000;

/// A document.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    pub(super) version: Option<String>,
    pub(super) created: Option<String>,
    pub(super) jobs: Vec<Job>,
    /// Whether it is cut off.
    pub(super) cut: bool,
    /// The first line behind it.
    pub(super) end: usize,
}

/// Whether a document begins: its first name is `fio version`.
pub(super) fn begins_json(text: &Text, at: usize) -> bool {
    json_begins(text, at, "\"fio version\"")
}

/// The document that begins at a line.
pub(super) fn read_json(text: &Text, at: usize) -> Document {
    // Another one begins where this one was never closed.
    let (body, end, cut) = json_body(text, at, |line| begins_json(text, line));
    let mut document = Document { end, cut, ..Document::default() };
    let plain = if ["nan", "inf"].iter().any(|odd| body.contains(odd)) { without_nan(&body) } else { body };
    let parse = || serde_json::from_str::<BTreeMap<String, &RawValue>>(&plain).ok();
    let Some(top) = parse() else {
        document.cut = true;
        return document;
    };
    let value = |name: &str| top.get(name).filter(|raw| raw.get().len() < 1_000_000).map(|raw| raw.get());
    document.version =
        value("fio version").and_then(|raw| serde_json::from_str::<String>(raw).ok()).map(|v| terse_version(&v));
    document.created = value("timestamp").and_then(|raw| raw.parse().ok()).and_then(date::of_unix);
    let printed_ms = value("timestamp_ms").and_then(|raw| raw.parse::<f64>().ok());
    let global = value("global options").filter(|raw| raw.len() <= LONGEST_OPTIONS);
    let global = global.map(job_options).unwrap_or_default();
    for list in ["jobs", "client_stats"] {
        let Some(raw) = top.get(list) else { continue };
        let Ok(jobs) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { continue };
        let short = jobs.iter().filter(|job| job.get().len() <= LONGEST_JOB).take(MOST_JOBS);
        let jobs = short.filter_map(|raw| json_job(serde_json::from_str(raw.get()).ok()?, &global));
        document.jobs.extend(jobs.map(|job| Job { printed_ms, ..job }));
    }
    if document.jobs.iter().any(|job| job.name == ALL_CLIENTS) {
        let clients = || document.jobs.iter().filter(|job| job.name != ALL_CLIENTS && !job.options.is_empty());
        let jobs_of = |job: &Job| job.options.get("numjobs").and_then(|jobs| jobs.parse::<u32>().ok()).unwrap_or(1);
        let all_jobs = clients().map(jobs_of).fold(0, u32::saturating_add);
        let mut alike = clients().map(|job| job.options.clone()).reduce(|mut alike, other| {
            alike.retain(|name, value| other.get(name) == Some(value));
            alike
        });
        document.jobs.retain(|job| job.name == ALL_CLIENTS);
        // The sum has no options of its own: those that all clients have alike are its, with the jobs of all.
        if let Some(alike) = &mut alike {
            alike.insert("numjobs".to_owned(), all_jobs.to_string());
            document.jobs.iter_mut().filter(|job| job.options.is_empty()).for_each(|job| job.options.clone_from(alike));
        }
    } else if document.jobs.len() > 1 && document.jobs.iter().any(|job| job.host.is_some()) {
        // The sum of all comes last.
        document.cut = true;
    }
    document
}

fn without_nan(body: &str) -> String {
    let mut plain = body.to_owned();
    for odd in ["-nan", "nan", "-inf", "inf"] {
        for colon in [": ", ":"] {
            plain = plain.replace(&format!("{colon}{odd}"), &format!("{colon}null"));
        }
    }
    plain
}

/// Options of an object; fio writes all values as strings.
fn job_options(raw: &str) -> BTreeMap<String, String> {
    let values: BTreeMap<String, Value> = serde_json::from_str(raw).unwrap_or_default();
    values.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
}

fn json_job(value: Value, global: &BTreeMap<String, String>) -> Option<Job> {
    let mut job = Job {
        name: value["jobname"].as_str()?.to_owned(),
        group: whole_job(&value["groupid"]),
        error: whole_job(&value["error"]),
        host: value["hostname"].as_str().filter(|host| !host.is_empty()).map(str::to_owned),
        ..Job::default()
    };
    let own = value["job options"].as_object();
    // A section without options of its own has those of all; a sum over clients has none.
    if own.is_some() || job.name != ALL_CLIENTS {
        job.options.clone_from(global);
    }
    if let Some(own) = own {
        let own = own.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        job.options.extend(own);
    }
    for (name, op) in [("read", Op::Read), ("write", Op::Write), ("mixed", Op::Mixed)] {
        let mut side = json_side(&value[name], op);
        if op == Op::Write && synced_apart(&job.options) {
            // Latencies of the sync behind each write are told elsewhere, and not with it.
            (side.latency, side.histogram) = (Latencies::default(), None);
        }
        if side.moved() {
            job.sides.push(side);
        }
    }
    Some(job)
}

fn whole_job(value: &Value) -> u32 {
    value.as_u64().and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
}

fn json_side(value: &Value, op: Op) -> Side {
    let number = |name: &str| value[name].as_f64().filter(|number| number.is_finite() && *number >= 0.0);
    let mut side = Side::new(op);
    side.runtime_ms = number("runtime").unwrap_or(0.0);
    side.operations = value["total_ios"].as_u64();
    side.iops = number("iops");
    let kib = number("bw").map(|rate| rate * 1024.0);
    let stated = number("io_bytes").unwrap_or(0.0);
    // Up to 2.x `io_bytes` was in KiB: what agrees with rate and time is meant.
    let by_rate = kib.unwrap_or(0.0) * side.runtime_ms / 1e3;
    let as_kib = value["io_kbytes"].is_null() && (stated * 1024.0 - by_rate).abs() < (stated - by_rate).abs();
    side.bytes = if as_kib { stated * 1024.0 } else { stated };
    // Before 3.2 there was no rate in bytes, and KiB/s are cut to whole ones.
    let by_time = Some(side.bytes * 1e3 / side.runtime_ms).filter(|rate| rate.is_finite());
    let finer = |rate: f64| by_time.filter(|finer| (*finer - rate).abs() <= 1024.0).unwrap_or(rate);
    side.bytes_per_second = number("bw_bytes").or(kib.map(finer));
    side.told = Told {
        rate: side.bytes_per_second.map(|value| Printed { value, step: if value == 0.0 { 0.0 } else { 1024.0 } }),
        iops: side.iops.map(Printed::exact),
        bytes: Some(Printed { value: side.bytes, step: if as_kib { 1024.0 } else { 0.0 } }),
        operations: side.operations.map(|operations| Printed::exact(operations as f64)),
        seconds: Some(Printed { value: side.runtime_ms, step: 1.0 }.times(1e-3)),
    };
    let (stats, clat, unit) = match value["lat_ns"].is_object() || value["clat_ns"].is_object() {
        true => (&value["lat_ns"], &value["clat_ns"], 1.0),
        false => (&value["lat"], &value["clat"], 1e3),
    };
    // With gtod_reduce all latencies are zero: they were not measured.
    let time = |value: &Value| value.as_f64().filter(|time| *time > 0.0).map(|time| time * unit);
    let shares = if stats["percentile"].is_object() { &stats["percentile"] } else { &clat["percentile"] };
    let share = |share: f64| {
        let mut all = shares.as_object().into_iter().flatten();
        all.find(|(name, _)| name.parse::<f64>().is_ok_and(|name| (name - share).abs() < 1e-4))
            .and_then(|(_, v)| time(v))
    };
    // Without a total, as with `disable_lat`, it is the sum of its two parts.
    let parts = || {
        let submission = [&value["slat_ns"], &value["slat"]].into_iter().find(|part| part.is_object());
        let submission = submission.and_then(|part| time(&part["mean"])).unwrap_or(0.0);
        time(&clat["mean"]).map(|completion| completion + submission)
    };
    side.latency = Latencies {
        mean: time(&stats["mean"]).or_else(parts),
        p50: share(50.0),
        p90: share(90.0),
        p99: share(99.0),
        p99_9: share(99.9),
        max: time(&stats["max"]),
    };
    side.histogram = json_histogram(if stats["bins"].is_object() { stats } else { clat }, unit);
    side
}

/// Latencies by their bins. The key of a bin is its middle (fio's `plat_idx_to_val`); it covers two buckets here, and
/// half of it lies below the key.
fn json_histogram(stats: &Value, unit: f64) -> Option<Histogram> {
    let bins = stats["bins"].as_object().filter(|bins| !bins.is_empty())?;
    let mut counts = vec![0u64; BUCKETS];
    let mut total = 0u64;
    for (middle, count) in bins {
        let (Ok(middle), Some(count)) = (middle.parse::<u64>(), count.as_u64()) else { continue };
        // No run counts more; sums of any number of bins then fit.
        let count = count.min(1 << 40);
        let middle = middle.saturating_mul(unit as u64);
        for (value, part) in [(middle.saturating_sub(1), count / 2), (middle, count - count / 2)] {
            if let Some(slot) = counts.get_mut(bucket_of(value)) {
                *slot = slot.saturating_add(part);
            }
        }
        total = total.saturating_add(count);
    }
    let time = |name: &str| stats[name].as_f64().filter(|time| *time >= 0.0).map_or(0.0, |time| time * unit);
    let sum = (time("mean") * total as f64) as u128;
    let (min, max) = (time("min") as u64, time("max") as u64);
    (total > 0).then(|| Histogram::from_parts(counts, sum, min, max.max(min)))
}

// Terse output, versions 3 to 5.
//
// Version 3 has 41 fields for each of reads and writes; version 4 has trims after them; version 5 has six more at the
// end of each, of samples. KiB/s and microseconds.

/// Fields before those of reads: version, fio's version, job, group, error.
const BEFORE: usize = 5;
/// Percentiles of each direction.
const PERCENTILES: usize = 20;

/// Whether a line is a result in terse form: `3;fio-3.33;job;0;0;…`.
pub(super) fn begins_terse(line: &str) -> bool {
    let mut fields = line.trim_start().splitn(3, ';');
    let (Some("3" | "4" | "5"), Some(version), Some(_)) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    version.starts_with("fio-") || version.starts_with("fio ")
}

/// The version of fio and the job in a line.
pub(super) fn read_terse(line: &str) -> Option<(String, Job)> {
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
                let part = if op == Op::Read { JobPart::ReadsAndWrites } else { JobPart::Writes };
                job.missing = job.missing.or(Some(part));
                // The last of them may itself be cut in the middle of a number.
                behind.split_last().map_or(behind, |(_, whole)| whole)
            }
        };
        job.sides.extend(terse_side(op, side).filter(Side::moved));
    }
    // Behind reads, writes and trims: processor and memory, depths, latencies in µs and ms.
    let before = BEFORE + width * if fields.first() == Some(&"3") { 2 } else { 3 } + 5 + 7 + 10 + 12;
    job.disks = fields.get(before..).unwrap_or_default().join(";");
    Some((terse_version(fields.get(1)?), job))
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

fn terse_side(op: Op, fields: &[&str]) -> Option<Side> {
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
    // Whole KiB/s of a slow medium are too coarse: size and time are given, too.
    let by_time = side.bytes * 1e3 / side.runtime_ms;
    side.bytes_per_second = side.bytes_per_second.map(|rate| close_terse(rate, by_time, 1024.0));
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
pub(super) fn close_terse(printed: f64, precise: f64, step: f64) -> f64 {
    if precise.is_finite() && (precise - printed).abs() <= step { precise } else { printed }
}

/// `fio-3.33` as a version.
fn terse_version(text: &str) -> String {
    text.trim().trim_start_matches("fio").trim_start_matches(['-', ' ']).to_owned()
}
