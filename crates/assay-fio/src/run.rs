//! One repeat by fio: the program on this host, the job file, and the process.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use assay_core::histogram::{BUCKETS, Histogram, bucket_of};
use assay_core::record::OriginalRun;
use assay_core::text::label;
use assay_core::workload::{Op, Pattern, Workload, fio_rw};
use assay_engine::{
    Availability, Control, EngineKind, OnSample, RUNS_TOOLS, RepeatReport, RepeatSpec, RepeatTrouble, SYNC, Signal,
    Target, WindowRate, end_with_this_process, is_root, lead_a_group, memory, probe, read_back, sync_within, watch,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::export::{host_options, priority_options};

/// Beside where to print.
const OPTIONS: [&str; 2] = ["--output-format=json+", "--eta=never"];
/// A longer result is not kept as text.
const LONGEST_KEPT: usize = 16 << 10;
/// For starting threads, allocating buffers and writing the JSON.
const OVERHEAD: Duration = Duration::from_secs(15);
/// Runs one repeat by fio on the open target of `spec`. The report is like that of assay's own
/// loop with these differences: samples hold the bytes that fio handed to the block layer and no
/// latencies, and a hang is noticed once fio is late by `hang_after`.
pub fn run_repeat(
    fio: Option<&Fio>,
    spec: &RepeatSpec,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> RepeatReport {
    let (Some(fio), Some(target)) = (fio, &spec.target) else {
        return empty(Some(RepeatTrouble::Setup("fio or what it is to work on is missing".to_owned())));
    };
    match go(fio, spec, target, control, on_sample) {
        Ok(report) => report,
        Err(error) => empty(Some(RepeatTrouble::Setup(format!("fio: {error}")))),
    }
}

fn go(
    fio: &Fio,
    spec: &RepeatSpec,
    target: &Arc<Target>,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> io::Result<RepeatReport> {
    // The open file itself: no path to quote, and nothing else can be in its place.
    let path = path_of(target.file());
    let may_lock = is_root();
    let plan = Plan { workload: &spec.workload, path: &path, fio, may_lock };
    let jobs = plan.jobs();
    let mut answer = memory("fio-json")?;
    let mut words = memory("fio-words")?;
    let input = plan.text();
    let mut child = start(&input, &path_of(&answer), &words)?;

    let stop = &spec.workload.stop;
    let planned = Duration::from_nanos(stop.ramp_ns.saturating_add(stop.duration_ns));
    let watched = watch(&mut child, spec, planned + OVERHEAD + spec.hang_after, control, on_sample);
    let mut trouble = watched.trouble;

    let text = read_back(&mut words)?;
    let printed = read_back(&mut answer)?;
    let read = document(&printed);
    let synced = spec.workload.sync.each();
    let of = |job| read.as_ref().map(|d| totals(d, job, synced)).unwrap_or_default();
    let (ramp, measured) = (of(RAMP), of(MEASURE));
    if trouble.is_none() {
        let errno = if measured.errno == 0 { ramp.errno } else { measured.errno };
        trouble = match io_error(&text) {
            Some((write, offset)) => Some(RepeatTrouble::Io { write, offset, errno }),
            None if control.stopped() => None,
            None if errno != 0 || !watched.success || read.is_none() => {
                Some(RepeatTrouble::Peer(format!("{}: {}", fio.version, complaint(&text))))
            }
            None => None,
        };
    }
    let (read_bytes, written_bytes) = (
        ramp.read_bytes.saturating_add(measured.read_bytes),
        ramp.written_bytes.saturating_add(measured.written_bytes),
    );
    let mut sync_ns = None;
    if spec.workload.writes()
        && !matches!(trouble, Some(RepeatTrouble::Hung { .. } | RepeatTrouble::Setup(_) | RepeatTrouble::Peer(_)))
    {
        match sync_within(Some(target), spec.hang_after * SYNC, control) {
            Ok(took_ns) => sync_ns = took_ns,
            Err(problem) => trouble = trouble.or(Some(problem)),
        }
    }
    let Totals { operations, iops, bytes_per_second, runtime_ns, histogram, .. } = measured;
    // No more can be in flight than were let in; latencies that say so contradict the rate.
    let depth = (jobs * u64::from(if synced { 1 } else { spec.workload.queue_depth })) as f64;
    let in_flight = if runtime_ns > 0 { (histogram.sum_ns() as f64 / runtime_ns as f64).min(depth) } else { 0.0 };
    let bytes = measured.read_bytes.saturating_add(measured.written_bytes);
    let window = WindowRate { bytes_per_second, bytes, window_ns: runtime_ns as f64 };
    let all_bytes = read_bytes.saturating_add(written_bytes);
    Ok(RepeatReport {
        window_ns: runtime_ns,
        operations,
        bytes,
        iops,
        bytes_per_second,
        histogram,
        in_flight,
        read_bytes,
        written_bytes,
        durable_bytes_per_second: sync_ns.and_then(|ns| window.durable(written_bytes, all_bytes, ns)),
        samples: watched.samples,
        first_done_ns: watched.elapsed_ns,
        last_done_ns: watched.elapsed_ns,
        original: Some(provenance(fio, input, printed)),
        trouble,
        ..RepeatReport::default()
    })
}

/// How fio was called and what it printed.
fn provenance(fio: &Fio, input: String, printed: String) -> OriginalRun {
    let hash = Sha256::digest(printed.as_bytes());
    OriginalRun {
        tool: "fio".to_owned(),
        version: fio.version.trim_start_matches("fio-").to_owned(),
        command: format!("fio {} -", OPTIONS.join(" ")),
        input: Some(input),
        text_sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        // The histogram has all of it, and bins make it long.
        text: (printed.len() <= LONGEST_KEPT).then_some(printed),
    }
}

fn start(jobs: &str, output: &str, words: &File) -> io::Result<Child> {
    let mut command = Command::new("fio");
    command
        .args(OPTIONS)
        .args([&format!("--output={output}"), "-"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::from(words.try_clone()?));
    // Ctrl-C comes to this process alone, which then tells fio.
    lead_a_group(&mut command);
    // With `thread` in its job file fio is one process, and this thread waits for it.
    end_with_this_process(&mut command, Signal::KILL);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Where fio does not read, it says why on standard error.
        let _ = stdin.write_all(jobs.as_bytes());
    }
    Ok(child)
}

fn empty(trouble: Option<RepeatTrouble>) -> RepeatReport {
    RepeatReport { trouble, ..RepeatReport::default() }
}

// The program fio on this host.

/// fio as it was found: what it calls itself, and which of its engines serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fio {
    /// Its version, like `fio-3.33`.
    pub version: String,
    /// Its engine for queues deeper than one.
    pub(crate) asynchronous: &'static str,
}

impl Fio {
    /// Looks for fio.
    ///
    /// # Errors
    /// Why it cannot be used, in one line.
    pub fn find() -> Result<Self, String> {
        if !RUNS_TOOLS {
            return Err("fio is run in place of an engine on Linux alone".to_owned());
        }
        let output =
            Command::new("fio").arg("--version").stdin(Stdio::null()).output().map_err(|error| match error.kind() {
                ErrorKind::NotFound => "fio is not installed (its package is called fio)".to_owned(),
                _ => format!("fio could not be started: {error}"),
            })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version: String = text.trim().chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
        // Version 3 brought nanoseconds to the JSON.
        let major = version.strip_prefix("fio-").and_then(|v| v.split(['.', '-']).next()).and_then(|v| v.parse().ok());
        match major {
            Some(3u32..) => {
                let uring = matches!(probe(EngineKind::Uring), Availability::Yes(_));
                Ok(Self { version, asynchronous: if uring { "io_uring" } else { "libaio" } })
            }
            Some(_) => Err(format!("{version} is too old; version 3 or later is needed")),
            None => Err("fio does not tell its version".to_owned()),
        }
    }
}

// The job file for one repeat.

/// Name of the section that warms up.
pub(crate) const RAMP: &str = "ramp";
/// Name of the section that counts.
pub(crate) const MEASURE: &str = "measure";

/// One workload as fio gets it.
///
/// The warm-up is a job of its own and not `ramp_time`: fio forgets what was moved in a ramp, and
/// the proof and the write budget need every byte. A sequential warm-up runs in the second half
/// of the region, so that the measured part does not read what the medium has just cached.
pub(crate) struct Plan<'a> {
    pub(crate) workload: &'a Workload,
    /// Path under which fio opens the target.
    pub(crate) path: &'a str,
    pub(crate) fio: &'a Fio,
    /// Whether memory may be locked for fixed buffers without a limit.
    pub(crate) may_lock: bool,
}

impl Plan<'_> {
    /// Threads: synced writes are one in flight each, deeper queues of them are made by threads.
    pub(crate) fn jobs(&self) -> u64 {
        let w = self.workload;
        if w.sync.each() { w.depth().max(1) } else { u64::from(w.jobs.max(1)) }
    }

    fn engine(&self) -> (&'static str, u32) {
        let w = self.workload;
        let queues = w.queue_depth > 1 || !w.priorities.shares.is_empty();
        if !queues || w.sync.each() { ("psync", 1) } else { (self.fio.asynchronous, w.queue_depth) }
    }

    /// The sizes of operations.
    fn sizes(&self) -> String {
        let w = self.workload;
        match w.blocks.is_empty() {
            true => format!("bs={}\n", w.block_bytes),
            false => format!("bssplit={}\n", w.blocks.to_fio()),
        }
    }

    /// The job file.
    pub(crate) fn text(&self) -> String {
        let w = self.workload;
        let (engine, depth) = self.engine();
        let rw = fio_rw(w.op, w.pattern);
        let mut text = format!(
            "[global]\nfilename={}\nunlink=0\nallow_file_create=0\nfallocate=none\nthread\nexitall_on_error\n\
             rw={rw}\n{}ioengine={engine}\niodepth={depth}\nnumjobs={}\ndirect={}\n\
             randrepeat=0\nnorandommap\nlat_percentiles=1\nclat_percentiles=0\n",
            self.path,
            self.sizes(),
            self.jobs(),
            u8::from(w.direct),
        );
        if w.writes() {
            text.push_str("refill_buffers\n");
            match w.sync {
                assay_core::workload::Sync::End => {}
                assay_core::workload::Sync::Fsync => text.push_str("fsync=1\n"),
                assay_core::workload::Sync::Fdatasync => text.push_str("fdatasync=1\n"),
            }
        }
        if let (Op::Mixed, Some(percent)) = (w.op, w.read_percent) {
            let _ = writeln!(text, "rwmixread={percent}");
        }
        if !w.distribution.is_uniform() {
            let _ = writeln!(text, "random_distribution={}", w.distribution.to_fio());
        }
        text.push_str(&host_options(&w.cpus, false));
        text.push_str(&priority_options(w));
        if engine == "io_uring" {
            text.push_str("registerfiles\n");
            if self.may_lock {
                text.push_str("fixedbufs\n");
            }
        }
        let ramp = Duration::from_nanos(w.stop.ramp_ns);
        let length = Duration::from_nanos(w.stop.duration_ns);
        let share = ramp.as_secs_f64() / (ramp + length).as_secs_f64().max(1e-9);
        let quota = |share: f64| w.stop.max_bytes.map(|bytes| (bytes as f64 * share) as u64);
        if !ramp.is_zero() {
            let _ = writeln!(text, "[{RAMP}]");
            self.region(&mut text, true);
            self.stop(&mut text, ramp, quota(share));
        }
        let _ = writeln!(text, "[{MEASURE}]\nstonewall");
        self.region(&mut text, false);
        self.stop(&mut text, length, quota(1.0 - share));
        text
    }

    /// Which part of the target: all of it for random blocks, a part for each job's stream.
    fn region(&self, text: &mut String, second_half: bool) {
        let w = self.workload;
        let block = w.largest_block().max(1);
        if w.pattern == Pattern::Random {
            let _ = writeln!(text, "size={}", w.span_bytes);
            return;
        }
        let blocks = (w.span_bytes / block / self.jobs()).max(1);
        let skipped = if second_half && blocks > 1 { blocks / 2 } else { 0 };
        if self.jobs() > 1 {
            let _ = writeln!(text, "offset_increment={}", blocks * block);
        }
        let _ = writeln!(text, "offset={}\nsize={}", skipped * block, (blocks - skipped) * block);
    }

    fn stop(&self, text: &mut String, length: Duration, quota: Option<u64>) {
        let _ = writeln!(text, "runtime={}ms", length.as_millis().max(1));
        match quota {
            // With time_based fio would write on.
            Some(bytes) => {
                let block = self.workload.largest_block().max(1);
                let _ = writeln!(text, "io_size={}", (bytes / block / self.jobs()).max(1) * block);
            }
            None => text.push_str("time_based\n"),
        }
    }
}

// The path by which fio reaches a file of this process, on each system.

/// A path by which fio reaches a file that is open here.
#[cfg(not(windows))]
pub(crate) fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(file))
}

/// Nothing names an open file; fio is refused before.
#[cfg(windows)]
pub(crate) fn path_of(_file: &File) -> String {
    String::new()
}

// fio's JSON (`--output-format=json+`) and its words on standard error.

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
    use assay_core::workload::{Stop, Sync};
    use proptest::prelude::*;

    use super::*;

    fn workload() -> Workload {
        Workload {
            queue_depth: 8,
            jobs: 4,
            span_bytes: 64 << 20,
            stop: Stop { ramp_ns: 500_000_000, duration_ns: 1_500_000_000, max_bytes: Some(80 << 20) },
            ..Workload::new("w", Op::Write, Pattern::Sequential, 1 << 20)
        }
    }

    fn text(workload: &Workload) -> String {
        let fio = Fio { version: "fio-3.33".into(), asynchronous: "io_uring" };
        Plan { workload, path: "/proc/1/fd/3", fio: &fio, may_lock: true }.text()
    }

    #[test]
    fn jobs_of_a_stream_have_regions_and_their_share_of_the_bytes() {
        let text = text(&workload());
        let (ramp, measure) = text.split_once("[measure]").unwrap();
        assert!(
            ramp.contains("offset_increment=16777216\noffset=8388608\nsize=8388608\nruntime=500ms\nio_size=5242880")
        );
        assert!(
            measure.contains("offset_increment=16777216\noffset=0\nsize=16777216\nruntime=1500ms\nio_size=15728640")
        );
        assert!(!text.contains("time_based") && text.contains("refill_buffers") && text.contains("fixedbufs"));
    }

    #[test]
    fn synced_writes_are_one_in_flight_and_a_depth_is_made_by_jobs() {
        let w = Workload {
            sync: Sync::Fsync,
            pattern: Pattern::Random,
            stop: Stop { ramp_ns: 0, duration_ns: 1_000_000_000, max_bytes: None },
            ..workload()
        };
        let text = text(&w);
        assert!(text.contains("ioengine=psync\niodepth=1\nnumjobs=32\n") && text.contains("fsync=1\n"), "{text}");
        assert!(!text.contains("[ramp]") && text.contains("time_based"));
    }

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
