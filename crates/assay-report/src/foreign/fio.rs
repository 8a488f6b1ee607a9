//! fio's JSON, as `fio --output-format=json+` prints it, for programs that read that.
//! Names and units: fio(1), "JSON output" and "JSON+ output", and the outputs of fio 3.33.
//!
//! One document has one job for each repeat of a load: programs that read jobs see how repeats differ. Of a directory each file
//! has one job, a load of one record, with its repeats together: fio-plot takes one load from a file and adds up its jobs.

use std::collections::BTreeSet;

use assay_core::arrivals::Process;
use assay_core::histogram::Histogram;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::text::clean;
use assay_core::workload::{Op, Sync, Workload, fio_rw};
use serde_json::{Map, Value, json};

/// Percentiles that fio prints by default.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Upper ends of fio's latency buckets, in each of its units; the milliseconds continue with 2000 and above.
const CLASSES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The error that fio gives a job that failed.
const EIO: i32 = 5;

/// All records in one document. With several records, the name of each job begins with the title of its record.
pub(crate) fn fio_json(records: &[Record]) -> String {
    let jobs = records.iter().flat_map(|record| {
        let title =
            if records.len() == 1 { String::new() } else { format!("{} ({}): ", clean(&record.title()), record.id) };
        alone(record).flat_map(move |m| repeats(record, m, &title)).collect::<Vec<_>>()
    });
    let mut jobs: Vec<Value> = jobs.collect();
    // Each is a run of its own: fio adds up the jobs of a group.
    for (group, job) in jobs.iter_mut().enumerate() {
        job["groupid"] = json!(group);
    }
    document(records.iter().max_by_key(|record| &record.created), jobs)
}

/// A file for each load of each record, by name, with its text.
pub(crate) fn fio_files(records: &[Record]) -> Vec<(String, String)> {
    let mut taken = BTreeSet::new();
    let mut files = Vec::new();
    for record in records {
        for m in alone(record) {
            let Some(job) = together(record, m) else { continue };
            let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
            let stem = format!("{}-{}", record.id, m.workload.name).chars().map(safe).collect::<String>();
            let free = |at: u32| if at == 1 { format!("{stem}.json") } else { format!("{stem}-{at}.json") };
            let Some(name) = (1..).map(free).find(|name| taken.insert(name.clone())) else { continue };
            files.push((name, document(Some(record), vec![job])));
        }
    }
    files
}

/// Read again, loads that ran at the same time would be loads that ran alone.
fn alone(record: &Record) -> impl Iterator<Item = &Measurement> {
    record.measurements.iter().filter(|m| m.workload.together.is_none())
}

fn document(newest: Option<&Record>, jobs: Vec<Value>) -> String {
    let created = newest.and_then(|record| record.created.parse::<jiff::Timestamp>().ok());
    let whole = json!({
        // Readers look at the name of this field, and some at its beginning; it is not fio that measured.
        "fio version": concat!("assay-", env!("CARGO_PKG_VERSION")),
        "timestamp": created.map(jiff::Timestamp::as_second),
        "timestamp_ms": created.map(jiff::Timestamp::as_millisecond),
        "time": newest.map(|record| crate::facts::when(&record.created)),
        "global options": {},
        "jobs": jobs,
        "disk_util": [],
    });
    assay_core::text::json(&format!("{whole:#}\n"))
}

/// The repeats of a load as jobs; of one without repeats its figures as one.
fn repeats(record: &Record, m: &Measurement, title: &str) -> Vec<Value> {
    let name = format!("{title}{}", clean(&m.workload.name));
    if m.repeats.is_empty() {
        return of_figures(m).map(|direction| job(record, m, &name, direction)).into_iter().collect();
    }
    let each = m.repeats.iter().enumerate().map(|(at, repeat)| {
        let name = if at == 0 { name.clone() } else { format!("{name}.{at}") };
        job(record, m, &name, of_repeats(&[repeat]))
    });
    each.collect()
}

/// A load as one job, from its completed repeats; without any, from those that ended early.
fn together(record: &Record, m: &Measurement) -> Option<Value> {
    let done: Vec<&Repeat> = m.repeats.iter().filter(|repeat| repeat.outcome == Outcome::Completed).collect();
    let all: Vec<&Repeat> = if done.is_empty() { m.repeats.iter().collect() } else { done };
    let direction = if all.is_empty() { of_figures(m)? } else { of_repeats(&all) };
    Some(job(record, m, &clean(&m.workload.name), direction))
}

/// What a job moved in one direction.
struct Direction {
    figures: Value,
    latencies: Histogram,
    seconds: f64,
    failed: bool,
}

fn job(record: &Record, m: &Measurement, name: &str, direction: Direction) -> Value {
    let [ns, us, ms] = classes(&direction.latencies);
    let mut job = json!({
        "jobname": name, "groupid": 0, "error": if direction.failed { EIO } else { 0 }, "eta": 0,
        "elapsed": direction.seconds.ceil() as u64, "job options": options(&m.workload, &m.engine, record),
        "trim": nothing(),
        // assay does not record the time of processors.
        "usr_cpu": 0.0, "sys_cpu": 0.0,
        "latency_ns": ns, "latency_us": us, "latency_ms": ms,
    });
    for name in ["read", "write"] {
        job[name] = nothing();
    }
    job[direction_of(&m.workload)] = direction.figures;
    job
}

/// What percentage of latencies is in each of fio's classes of nanoseconds, microseconds and milliseconds.
fn classes(histogram: &Histogram) -> [Value; 3] {
    const UNITS: [u64; 3] = [1, 1_000, 1_000_000];
    let percent = |count: u64| 100.0 * count as f64 / histogram.total().max(1) as f64;
    // The ends of all classes, one after another; what lies above the last one has a name of its own.
    let ends: Vec<(usize, u64, u64)> = (0..3)
        .flat_map(|unit| {
            let last = if unit == 2 { Some(2000) } else { None };
            CLASSES.iter().copied().chain(last).map(move |end| (unit, end, end * UNITS[unit]))
        })
        .collect();
    let mut counts = vec![0u64; ends.len() + 1];
    for (low, high, count) in histogram.buckets() {
        let middle = low + (high - low) / 2;
        let of = &mut counts[ends.partition_point(|(_, _, end)| *end <= middle)];
        // Counts of a record from elsewhere may be anything.
        *of = of.saturating_add(count);
    }
    let mut all = [Map::new(), Map::new(), Map::new()];
    for ((unit, end, _), count) in ends.iter().zip(&counts) {
        all[*unit].insert(end.to_string(), json!(percent(*count)));
    }
    all[2].insert(">=2000".to_owned(), json!(percent(counts[ends.len()])));
    all.map(Value::Object)
}

/// Of a load without repeats.
fn of_figures(m: &Measurement) -> Option<Direction> {
    let (rate, iops) = (m.bytes_per_second.as_ref()?, m.iops.as_ref()?);
    let mut figures = nothing();
    rates(&mut figures, rate.point, iops.point);
    if let Some(mean) = &m.latency_ns.mean {
        figures["lat_ns"]["mean"] = json!(mean.point);
        figures["clat_ns"]["mean"] = json!(mean.point);
    }
    Some(Direction { figures, latencies: Histogram::default(), seconds: 0.0, failed: false })
}

fn direction_of(w: &Workload) -> &'static str {
    match w.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Mixed => "mixed",
    }
}

/// Engines, and those of fio that make the same system calls.
const ENGINES: [(&str, &str); 4] = [("uring", "io_uring"), ("sync", "psync"), ("iocp", "windowsaio"), ("null", "null")];

fn options(w: &Workload, engine: &str, record: &Record) -> Value {
    let rw = fio_rw(w.op, w.pattern);
    let mut options = json!({
        "name": clean(&w.name), "rw": rw, "bs": w.block_bytes.to_string(), "iodepth": w.queue_depth.to_string(),
        "numjobs": w.jobs.to_string(), "size": w.span_bytes.to_string(), "direct": u8::from(w.direct).to_string(),
        "runtime": (w.stop.duration_ns / 1_000_000_000).to_string(),
    });
    // What has no engine of fio, as imported figures, has none here.
    if let Some((_, engine)) = ENGINES.iter().find(|(name, _)| *name == engine) {
        options["ioengine"] = json!(engine);
    }
    if w.op == Op::Mixed {
        options["unified_rw_reporting"] = json!("mixed");
    }
    match w.sync {
        Sync::End => options["end_fsync"] = json!("1"),
        Sync::Fdatasync => options["fdatasync"] = json!("1"),
        Sync::Fsync => options["fsync"] = json!("1"),
    }
    if let Some(percent) = w.read_percent {
        options["rwmixread"] = json!(percent.to_string());
    }
    if let Some(arrivals) = w.arrivals {
        // Of each job and direction, in whole operations.
        let each = |share: f64| (arrivals.iops * share / f64::from(w.jobs.max(1))).round().max(1.0);
        let reads = f64::from(w.read_percent.unwrap_or(50)) / 100.0;
        options["rate_iops"] = json!(match w.op {
            Op::Mixed => format!("{},{}", each(reads), each(1.0 - reads)),
            Op::Read | Op::Write => each(1.0).to_string(),
        });
        options["rate_process"] = json!(if arrivals.process == Process::Poisson { "poisson" } else { "linear" });
    }
    if !w.distribution.is_uniform() {
        options["random_distribution"] = json!(w.distribution.to_fio());
    }
    if !w.blocks.is_empty() {
        options["bssplit"] = json!(w.blocks.to_fio());
    }
    if let Some(think) = w.think {
        options["thinktime"] = json!((think.pause_ns / 1000).to_string());
        options["thinktime_blocks"] = json!(think.after_operations.to_string());
    }
    if !w.cpus.is_empty() {
        options["cpus_allowed"] = json!(w.cpus.to_string());
        options["cpus_allowed_policy"] = json!("split");
    }
    if w.poll {
        options["hipri"] = json!("1");
    }
    for (option, value) in w.priorities.to_fio(&w.sizes_of(Op::Read), &w.sizes_of(Op::Write)) {
        options[option] = json!(value);
    }
    if let Some(device) = &record.medium.device {
        options["filename"] = json!(clean(device));
    }
    options
}

/// A direction in which nothing was moved.
fn nothing() -> Value {
    let latency = json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 });
    json!({
        "io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0,
        "short_ios": 0, "drop_ios": 0, "slat_ns": latency, "clat_ns": latency, "lat_ns": latency,
        "bw_min": 0, "bw_max": 0, "bw_agg": 0.0, "bw_mean": 0.0, "bw_dev": 0.0, "bw_samples": 0,
        "iops_min": 0, "iops_max": 0, "iops_mean": 0.0, "iops_stddev": 0.0, "iops_samples": 0,
    })
}

fn rates(direction: &mut Value, bytes_per_second: f64, iops: f64) {
    direction["bw_bytes"] = json!(bytes_per_second.round() as u64);
    // In KiB/s.
    direction["bw"] = json!((bytes_per_second / 1024.0).floor() as u64);
    direction["iops"] = json!(iops);
}

/// Repeats as one run: all that they moved, at the mean of their rates by time.
fn of_repeats(repeats: &[&Repeat]) -> Direction {
    let elapsed: u64 = repeats.iter().map(|repeat| repeat.elapsed_ns).sum();
    let mean = |of: fn(&Repeat) -> f64| match repeats {
        [one] => of(one),
        all => all.iter().map(|r| of(r) * r.elapsed_ns as f64).sum::<f64>() / elapsed.max(1) as f64,
    };
    let sum = |of: fn(&Repeat) -> u64| repeats.iter().map(|repeat| of(repeat)).sum::<u64>();
    let mut direction = nothing();
    rates(&mut direction, mean(|repeat| repeat.bytes_per_second), mean(|repeat| repeat.iops));
    direction["io_bytes"] = json!(sum(|repeat| repeat.bytes));
    direction["io_kbytes"] = json!(sum(|repeat| repeat.bytes) / 1024);
    direction["total_ios"] = json!(sum(|repeat| repeat.operations));
    direction["runtime"] = json!(elapsed / 1_000_000);
    let mut histogram = Histogram::default();
    repeats.iter().for_each(|repeat| histogram.merge(&Histogram::from(&*repeat.histogram)));
    let mut latency = json!({
        "min": histogram.min().unwrap_or(0), "max": histogram.max().unwrap_or(0),
        "mean": histogram.mean().unwrap_or(0.0), "stddev": deviation(&histogram), "N": histogram.total(),
    });
    direction["lat_ns"] = latency.clone();
    let quantile = |percent: f64| histogram.quantile(percent / 100.0).map(f64::round);
    let percentiles: Map<String, Value> =
        PERCENTILES.iter().filter_map(|p| Some((format!("{p:.6}"), json!(quantile(*p)?)))).collect();
    let bins: Map<String, Value> =
        histogram.buckets().map(|(low, high, count)| ((low + (high - low) / 2).to_string(), json!(count))).collect();
    latency["percentile"] = Value::Object(percentiles);
    latency["bins"] = Value::Object(bins);
    direction["clat_ns"] = latency;
    samples(&mut direction, repeats);
    let failed = repeats.iter().any(|repeat| repeat.outcome != Outcome::Completed);
    Direction { figures: direction, latencies: histogram, seconds: elapsed as f64 / 1e9, failed }
}

/// What fio says of its samples: assay takes one a second, fio two.
fn samples(direction: &mut Value, repeats: &[&Repeat]) {
    let seconds = |interval: u64| interval.max(1) as f64 / 1e9;
    let all = || repeats.iter().flat_map(|repeat| &repeat.samples);
    let rates: Vec<f64> = all().map(|s| s.bytes as f64 / 1024.0 / seconds(s.interval_ns)).collect();
    let iops: Vec<f64> = all().map(|s| s.operations as f64 / seconds(s.interval_ns)).collect();
    for (values, [least, most, mean, spread, count]) in [
        (rates, ["bw_min", "bw_max", "bw_mean", "bw_dev", "bw_samples"]),
        (iops, ["iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"]),
    ] {
        if values.is_empty() {
            continue;
        }
        let n = values.len() as f64;
        let average = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - average).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        direction[least] = json!(values.iter().copied().fold(f64::INFINITY, f64::min).floor() as u64);
        direction[most] = json!(values.iter().copied().fold(0.0, f64::max).ceil() as u64);
        direction[mean] = json!(average);
        direction[spread] = json!(variance.sqrt());
        direction[count] = json!(values.len());
    }
}

/// Standard deviation of the latencies, by the middles of their buckets.
fn deviation(histogram: &Histogram) -> f64 {
    let (Some(mean), total) = (histogram.mean(), histogram.total()) else { return 0.0 };
    let squares = histogram.buckets().map(|(low, high, count)| {
        let middle = low as f64 + (high - low) as f64 / 2.0;
        count as f64 * (middle - mean).powi(2)
    });
    (squares.sum::<f64>() / (total.max(2) - 1) as f64).sqrt()
}
