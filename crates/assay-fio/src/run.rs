//! One repeat by fio: the program on this host, the job file, and the process.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use assay_core::record::OriginalRun;
use assay_core::workload::{Op, Pattern, Workload, fio_rw};
use assay_engine::{
    Availability, Control, EngineKind, OnSample, RUNS_TOOLS, RepeatReport, RepeatSpec, SYNC, Signal, Target, Trouble,
    WindowRate, end_with_this_process, is_root, lead_a_group, memory, probe, read_back, sync_within, watch,
};
use sha2::{Digest, Sha256};

use crate::export::{host_options, priority_options};
use crate::output::{Totals, complaint, document, io_error, totals};

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
        return empty(Some(Trouble::Setup("fio or what it is to work on is missing".to_owned())));
    };
    match go(fio, spec, target, control, on_sample) {
        Ok(report) => report,
        Err(error) => empty(Some(Trouble::Setup(format!("fio: {error}")))),
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
            Some((write, offset)) => Some(Trouble::Io { write, offset, errno }),
            None if control.stopped() => None,
            None if errno != 0 || !watched.success || read.is_none() => {
                Some(Trouble::Peer(format!("{}: {}", fio.version, complaint(&text))))
            }
            None => None,
        };
    }
    let (read_bytes, written_bytes) = (
        ramp.read_bytes.saturating_add(measured.read_bytes),
        ramp.written_bytes.saturating_add(measured.written_bytes),
    );
    let mut sync_ns = None;
    if spec.workload.writes() && !matches!(trouble, Some(Trouble::Hung { .. } | Trouble::Setup(_) | Trouble::Peer(_))) {
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

fn empty(trouble: Option<Trouble>) -> RepeatReport {
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

#[cfg(test)]
mod tests {
    use assay_core::workload::{Stop, Sync};

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
}
