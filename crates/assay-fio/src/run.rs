//! One repeat by fio.

use std::fs::File;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use assay_core::record::OriginalRun;
use assay_engine::{
    Control, OnSample, RepeatReport, RepeatSpec, SYNC, Signal, Target, Trouble, Window, end_with_this_process, is_root,
    lead_a_group, memory, read_back, sync_within, watch,
};
use sha2::{Digest, Sha256};

use crate::fio::Fio;
use crate::output::{Totals, complaint, document, io_error, totals};
use crate::plan::{MEASURE, Plan, RAMP};
use crate::system::path_of;

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
    let window = Window { bytes_per_second, bytes, window_ns: runtime_ns as f64 };
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
