//! fio's JSON, as `fio --output-format=json+` prints it, for programs that read that: one job for each repeat of a load.
//! Names and units: fio(1), "JSON output" and "JSON+ output", and the outputs of fio 3.33.

use assay_core::arrivals::Process;
use assay_core::histogram::Histogram;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::text::clean;
use assay_core::workload::{Op, Sync, Workload, fio_rw};
use serde_json::{Map, Value, json};

/// Percentiles that fio prints by default.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// One document for each record, several of them in a list.
pub(crate) fn fio_json(records: &[Record]) -> String {
    let mut all: Vec<Value> = records.iter().map(document).collect();
    let whole = if all.len() == 1 { all.swap_remove(0) } else { Value::Array(all) };
    assay_core::text::json(&format!("{whole:#}\n"))
}

fn document(record: &Record) -> Value {
    let created = record.created.parse::<jiff::Timestamp>().ok();
    // Read again, those of several at the same time would be loads that ran alone.
    let alone = record.measurements.iter().filter(|m| m.workload.together.is_none());
    let jobs: Vec<Value> = alone.flat_map(|m| jobs(record, m)).collect();
    json!({
        // Readers look at the name of this field, and some at its beginning; it is not fio that measured.
        "fio version": concat!("assay-", env!("CARGO_PKG_VERSION")),
        "timestamp": created.map(jiff::Timestamp::as_second),
        "timestamp_ms": created.map(jiff::Timestamp::as_millisecond),
        "time": crate::facts::when(&record.created),
        "jobs": jobs,
        "disk_util": [],
    })
}

/// The repeats of a load as jobs; of one without repeats its figures as one.
fn jobs(record: &Record, m: &Measurement) -> Vec<Value> {
    let job = |number: usize, direction: Value, seconds: f64, error: i32| {
        let mut job = json!({
            "jobname": if number == 0 { clean(&m.workload.name) } else { format!("{}.{number}", clean(&m.workload.name)) },
            "groupid": number, "error": error, "eta": 0, "elapsed": seconds.ceil(),
            "job options": options(&m.workload, &clean(&m.engine), record),
        });
        for name in ["read", "write", "mixed"] {
            if name == direction_of(&m.workload) {
                job[name] = direction.clone();
            } else if name != "mixed" {
                job[name] = nothing();
            }
        }
        job
    };
    if m.repeats.is_empty() {
        let (Some(rate), Some(iops)) = (&m.bytes_per_second, &m.iops) else { return Vec::new() };
        let mut direction = nothing();
        rates(&mut direction, rate.point, iops.point);
        if let Some(mean) = &m.latency_ns.mean {
            direction["lat_ns"]["mean"] = json!(mean.point);
            direction["clat_ns"]["mean"] = json!(mean.point);
        }
        return vec![job(0, direction, 0.0, 0)];
    }
    let each = m.repeats.iter().enumerate().map(|(at, repeat)| {
        let failed = i32::from(repeat.outcome != assay_core::outcome::Outcome::Completed) * 5;
        job(at, of_repeat(repeat), repeat.elapsed_ns as f64 / 1e9, failed)
    });
    each.collect()
}

fn direction_of(w: &Workload) -> &'static str {
    match w.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Mixed => "mixed",
    }
}

fn options(w: &Workload, engine: &str, record: &Record) -> Value {
    let rw = fio_rw(w.op, w.pattern);
    let mut options = json!({
        "name": clean(&w.name), "rw": rw, "bs": w.block_bytes.to_string(), "iodepth": w.queue_depth.to_string(),
        "numjobs": w.jobs.to_string(), "size": w.span_bytes.to_string(), "direct": u8::from(w.direct).to_string(),
        "ioengine": engine, "runtime": (w.stop.duration_ns / 1_000_000_000).to_string(),
    });
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
    direction["bw_bytes"] = json!(bytes_per_second.round());
    // In KiB/s.
    direction["bw"] = json!((bytes_per_second / 1024.0).floor());
    direction["iops"] = json!(iops);
}

fn of_repeat(repeat: &Repeat) -> Value {
    let mut direction = nothing();
    rates(&mut direction, repeat.bytes_per_second, repeat.iops);
    direction["io_bytes"] = json!(repeat.bytes);
    direction["io_kbytes"] = json!(repeat.bytes / 1024);
    direction["total_ios"] = json!(repeat.operations);
    direction["runtime"] = json!(repeat.elapsed_ns / 1_000_000);
    let histogram = Histogram::from(&*repeat.histogram);
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
    samples(&mut direction, repeat);
    direction
}

/// What fio says of its samples: assay takes one a second, fio two.
fn samples(direction: &mut Value, repeat: &Repeat) {
    let seconds = |interval: u64| interval.max(1) as f64 / 1e9;
    let rates: Vec<f64> = repeat.samples.iter().map(|s| s.bytes as f64 / 1024.0 / seconds(s.interval_ns)).collect();
    let iops: Vec<f64> = repeat.samples.iter().map(|s| s.operations as f64 / seconds(s.interval_ns)).collect();
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
        direction[least] = json!(values.iter().copied().fold(f64::INFINITY, f64::min).floor());
        direction[most] = json!(values.iter().copied().fold(0.0, f64::max).ceil());
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
