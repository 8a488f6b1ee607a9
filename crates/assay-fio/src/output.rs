//! fio's JSON (`--output-format=json+`) and its words on standard error.

use assay_core::histogram::{BUCKETS, Histogram, bucket_of};
use assay_core::text::label;
use serde_json::Value;

/// What one job, or a group of them, did in one direction or both.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    /// Operations completed.
    pub operations: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Operations per second, summed over the jobs.
    pub iops: f64,
    /// Bytes per second, summed over the jobs.
    pub bytes_per_second: f64,
    /// Longest of the jobs, in nanoseconds.
    pub runtime_ns: u64,
    /// Latencies of all operations.
    pub histogram: Histogram,
    /// First error number that a job reports.
    pub errno: i32,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            operations: 0,
            read_bytes: 0,
            written_bytes: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            runtime_ns: 0,
            histogram: Histogram::default(),
            errno: 0,
        }
    }
}

/// The document in fio's output: notes may precede it, and fio prints `nan` where it divides by
/// nothing.
#[must_use]
pub fn document(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    let body = &text[start..];
    // What follows the document is of no interest.
    let parse = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok();
    parse(body)
        .or_else(|| parse(&body.replace(": -nan", ": null").replace(": nan", ": null").replace(": inf", ": null")))
}

/// Sums the jobs of this name. `synced`: the sync after a write is part of the operation.
#[must_use]
pub fn totals(document: &Value, job: &str, synced: bool) -> Totals {
    let mut sum = Totals::default();
    let jobs = document["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    for entry in jobs.iter().filter(|j| j["jobname"] == job) {
        if sum.errno == 0 {
            sum.errno = entry["error"].as_i64().and_then(|e| i32::try_from(e).ok()).unwrap_or(0);
        }
        for direction in ["read", "write"] {
            let side = &entry[direction];
            let bytes = side["io_bytes"].as_u64().unwrap_or(0);
            if direction == "read" {
                sum.read_bytes = u64::saturating_add(sum.read_bytes, bytes);
            } else {
                sum.written_bytes = u64::saturating_add(sum.written_bytes, bytes);
            }
            sum.operations = sum.operations.saturating_add(side["total_ios"].as_u64().unwrap_or(0));
            sum.iops = added(sum.iops, &side["iops"]);
            sum.bytes_per_second = added(sum.bytes_per_second, &side["bw_bytes"]);
            sum.runtime_ns = sum.runtime_ns.max(side["runtime"].as_u64().unwrap_or(0).saturating_mul(1_000_000));
            let latency = latency(side);
            if direction == "write" && synced {
                let write = latency.mean().unwrap_or(0.0);
                sum.histogram.merge(&shifted(&entry["sync"]["lat_ns"], write));
            } else {
                sum.histogram.merge(&latency);
            }
        }
    }
    sum
}

/// What is beyond all numbers counts nothing, like fio's `inf`: a record with it could not be read.
fn added(sum: f64, more: &Value) -> f64 {
    Some(sum + more.as_f64().unwrap_or(0.0)).filter(|sum| sum.is_finite()).unwrap_or(0.0)
}

/// Latency from submission to completion; where fio is too old for that in buckets, from the
/// kernel's acceptance on.
fn latency(side: &Value) -> Histogram {
    let whole = &side["lat_ns"];
    if whole["bins"].is_object() { shifted(whole, 0.0) } else { shifted(&side["clat_ns"], 0.0) }
}

/// The latencies of fio's bins, each `add_ns` longer. fio times a write and the sync after it
/// apart; their sum is given as the sync's latencies moved by the mean of the writes.
fn shifted(stats: &Value, add_ns: f64) -> Histogram {
    let add = if add_ns.is_finite() && add_ns > 0.0 { add_ns as u64 } else { 0 };
    let mut counts = vec![0u64; BUCKETS];
    let mut total = 0u64;
    let bins = stats["bins"].as_object();
    for (middle, count) in bins.into_iter().flatten() {
        let (Ok(middle), Some(count)) = (middle.parse::<u64>(), count.as_u64()) else { continue };
        // No run counts more; sums of any number of bins and jobs then fit.
        let count = count.min(1 << 40);
        // The key is the middle of fio's bin, which covers two of ours: half of it lies below.
        let middle = middle.saturating_add(add);
        let below = count / 2;
        for (value, part) in [(middle.saturating_sub(1), below), (middle, count - below)] {
            let slot = &mut counts[bucket_of(value)];
            *slot = u64::saturating_add(*slot, part);
        }
        total = total.saturating_add(count);
    }
    if total == 0 {
        return Histogram::default();
    }
    let mean = stats["mean"].as_f64().unwrap_or(0.0).max(0.0) + add as f64;
    Histogram::from_parts(
        counts,
        (mean * total as f64) as u128,
        stats["min"].as_u64().unwrap_or(0).saturating_add(add),
        stats["max"].as_u64().unwrap_or(0).saturating_add(add),
    )
}

/// An I/O error in fio's words: whether it was a write, and where.
/// `fio: io_u error on file x: Input/output error: read offset=4096, buflen=4096`
#[must_use]
pub fn io_error(words: &str) -> Option<(bool, u64)> {
    let line = words.lines().find(|line| line.contains("io_u error"))?;
    let (before, after) = line.rsplit_once(" offset=")?;
    let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    Some((before.ends_with("write"), after[..digits].parse().ok()?))
}

/// The most telling line that fio wrote, without its name in front.
#[must_use]
pub fn complaint(words: &str) -> String {
    let message = |line: &str| label(line.trim().strip_prefix("fio: ").unwrap_or(line), 300);
    words.lines().find_map(message).unwrap_or_else(|| "no reason given".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn jobs_of_a_name_are_summed_and_notes_are_skipped() {
        let text = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
{ "jobs": [
  {"jobname": "ramp", "error": 0, "read": {"io_bytes": 999}},
  {"jobname": "m", "error": 0, "read": {"io_bytes": 8192, "bw_bytes": 4096, "iops": 1.0, "runtime": 2000,
     "total_ios": 2, "lat_ns": {"min": 900, "max": 1100, "mean": 1000.0, "bins": {"1004": 2}}},
   "write": {"io_bytes": 0, "iops": -nan}},
  {"jobname": "m", "error": 5, "read": {"io_bytes": 4096, "bw_bytes": 2048, "iops": 0.5, "runtime": 1900, "total_ios": 1,
     "clat_ns": {"min": 5000, "max": 5000, "mean": 5000.0, "bins": {"5024": 1}}}}
]} trailing"#;
        let sum = totals(&document(text).unwrap(), "m", false);
        assert_eq!((sum.operations, sum.read_bytes, sum.runtime_ns, sum.errno), (3, 12288, 2_000_000_000, 5));
        assert!((sum.iops - 1.5).abs() < 1e-9 && (sum.bytes_per_second - 6144.0).abs() < 1e-9);
        assert_eq!((sum.histogram.total(), sum.histogram.sum_ns()), (3, 7000));
        assert_eq!((sum.histogram.min(), sum.histogram.max()), (Some(900), Some(5000)));
    }

    #[test]
    fn a_synced_write_takes_as_long_as_both() {
        let text = r#"{"jobs": [{"jobname": "m", "write": {"total_ios": 4, "lat_ns": {"mean": 1000, "min": 1, "max": 1,
            "bins": {"1004": 4}}}, "sync": {"lat_ns": {"mean": 9000, "min": 9000, "max": 9000, "bins": {"9024": 4}}}}]}"#;
        let sum = totals(&document(text).unwrap(), "m", true);
        assert_eq!((sum.histogram.total(), sum.histogram.mean()), (4, Some(10_000.0)));
    }

    #[test]
    fn fios_words_are_understood() {
        let words =
            "fio: io_u error on file /mnt/x: Input/output error: write offset=1048576, buflen=4096\nfio: pid=1\n";
        assert_eq!(io_error(words), Some((true, 1_048_576)));
        assert_eq!(io_error("fio: nothing"), None);
        assert_eq!(complaint("\nfio: file creation disallowed\nx"), "file creation disallowed");
        for nothing in ["", "\n \n", "\0\0\0"] {
            assert_eq!(complaint(nothing), "no reason given", "{nothing:?}");
        }
    }

    /// JSON has no infinity: the record could not be read again.
    #[test]
    fn rates_beyond_all_numbers_count_nothing() {
        let side = r#"{"iops": 1e308, "bw_bytes": 1e308}"#;
        let text = format!(r#"{{"jobs": [{{"jobname": "m", "read": {side}, "write": {side}}}]}}"#);
        let sum = totals(&document(&text).unwrap(), "m", false);
        assert_eq!((sum.iops, sum.bytes_per_second), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic(text in "\\PC{0,200}", bins in prop::collection::vec((0u64..=u64::MAX, 0u64..=u64::MAX), 0..5)) {
            let _ = document(&text).map(|d| totals(&d, "m", true));
            let _ = (io_error(&text), complaint(&text));
            let bins: Vec<String> = bins.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
            let text = format!("{{\"jobs\": [{{\"jobname\": \"m\", \"read\": {{\"lat_ns\": {{\"bins\": {{{}}}}}}}}}]}}", bins.join(","));
            let _ = document(&text).map(|d| totals(&d, "m", false).histogram.quantile(0.5));
        }
    }
}
