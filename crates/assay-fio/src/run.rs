//! One repeat by fio.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;
use assay_engine::{
    Control, LiveSample, RepeatReport, RepeatSpec, SYNC, Target, Timeout, Trouble, Window, end_with_this_process,
    sync_within,
};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, Signal};

use crate::fio::Fio;
use crate::output::{Totals, complaint, document, io_error, totals};
use crate::plan::{MEASURE, Plan, RAMP};
use crate::traffic::{OnSample, Traffic};

/// How often the process is looked at.
const TICK: Duration = Duration::from_millis(20);
/// For starting threads, allocating buffers and writing the JSON.
const OVERHEAD: Duration = Duration::from_secs(15);
/// After an interrupt fio drains and prints; then it is killed.
const GRACE: Duration = Duration::from_secs(10);
/// A killed process that the kernel does not let go is left behind.
const LETTING_GO: Duration = Duration::from_secs(2);

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
    let own = std::process::id();
    // The open file itself: no path to quote, and nothing else can be in its place.
    let path = format!("/proc/{own}/fd/{}", target.file().as_raw_fd());
    let may_lock = rustix::process::geteuid().is_root();
    let plan = Plan { workload: &spec.workload, path: &path, fio, may_lock };
    let jobs = plan.jobs();
    let mut answer = memory("fio-json")?;
    let mut words = memory("fio-words")?;
    let mut child = start(&plan.text(), &format!("/proc/{own}/fd/{}", answer.as_raw_fd()), &words)?;

    let stop = &spec.workload.stop;
    let planned = Duration::from_nanos(stop.ramp_ns.saturating_add(stop.duration_ns));
    let watched = watch(&mut child, spec, planned, control, on_sample);
    let mut trouble = watched.trouble;

    let text = read_back(&mut words)?;
    let read = document(&read_back(&mut answer)?);
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
        trouble,
        ..RepeatReport::default()
    })
}

/// A file that is nowhere: whatever kills this process, nothing is left.
fn memory(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}

fn read_back(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn start(jobs: &str, output: &str, words: &File) -> io::Result<Child> {
    let mut command = Command::new("fio");
    command
        .args(["--output-format=json+", "--eta=never", &format!("--output={output}"), "-"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::from(words.try_clone()?))
        // Ctrl-C comes to this process alone, which then tells fio.
        .process_group(0);
    // With `thread` in its job file fio is one process, and this thread waits for it.
    end_with_this_process(&mut command, Signal::KILL);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Where fio does not read, it says why on standard error.
        let _ = stdin.write_all(jobs.as_bytes());
    }
    Ok(child)
}

struct Watched {
    samples: Vec<LiveSample>,
    elapsed_ns: u64,
    success: bool,
    trouble: Option<Trouble>,
}

/// Waits for fio, interrupts it where the end is asked for, kills it where it does not come.
fn watch(
    child: &mut Child,
    spec: &RepeatSpec,
    planned: Duration,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> Watched {
    let start = Instant::now();
    let mut timeout = Timeout::new(planned + OVERHEAD + spec.hang_after);
    let (mut interrupted, mut enough) = (false, false);
    let mut traffic = Traffic::new(child.id(), spec.workload.block_bytes, spec.sample_every);
    let mut trouble = None;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) => {}
            Err(error) => {
                trouble = Some(Trouble::Setup(format!("fio: {error}")));
                break None;
            }
        }
        if (control.stopped() || enough) && !interrupted {
            interrupted = true;
            timeout = Timeout::new(GRACE);
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, Signal::INT);
            }
        }
        if timeout.expired() {
            if !interrupted {
                trouble = Some(Trouble::Hung { after: spec.hang_after });
            }
            kill(child);
            break None;
        }
        enough |= traffic.tick(on_sample).is_break();
        std::thread::sleep(TICK);
    };
    Watched {
        samples: traffic.finish(),
        elapsed_ns: nanoseconds(start.elapsed()),
        // An interrupted fio ends with 128.
        success: status.is_some_and(|s| interrupted || s.success()),
        trouble,
    }
}

fn kill(child: &mut Child) {
    let _ = child.kill();
    let limit = Instant::now() + LETTING_GO;
    while Instant::now() < limit && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(TICK);
    }
}

fn empty(trouble: Option<Trouble>) -> RepeatReport {
    RepeatReport { trouble, ..RepeatReport::default() }
}
