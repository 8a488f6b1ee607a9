//! What the program costs: its start, its size, its memory, its processor time per operation, and that of sensors and live view.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_lab::{FilledDevice, Missing};

use super::cards::Zram;
use super::process::{AssayRun, Load, Op, binary};
use super::report::Target;
use crate::fio::{self, FioOutput, Setting};
use crate::process::{Finished, finish_watched, tasks, tree};
use crate::report::{BenchRow, Report};
use crate::series::{Figure, LOOKS, Shown, measure, pairs};

/// Numbers of starts of the program after which the series is examined: each start takes a millisecond or two.
const STARTS: &[usize] = &[31, 62, 124];

/// More than most hosts have processors.
const MANY_JOBS: u32 = 64;

/// `assay --version`, whole process, and the size of the binary.
pub(crate) fn start_up_and_size(report: &mut Report) -> Result<(), Missing> {
    let start = |_| {
        let start = Instant::now();
        let output = Command::new(binary()).arg("--version").output().unwrap();
        assert!(output.status.success());
        start.elapsed().as_secs_f64() * 1e3
    };
    let what = "`assay --version`, whole process";
    measure(report, STARTS, start, &[Figure::alone(what, " ms", |ms| format!("{ms:.1} ms"), Target::AtMost(10.0))]);
    let megabytes = std::fs::metadata(binary()).unwrap().len() as f64 / 1e6;
    report.add(BenchRow::exact("release binary", megabytes, " MB", format!("{megabytes:.1} MB"), Target::AtMost(12.0)));
    Ok(())
}

/// Cost of the instrument: both null engines, random 4 KiB reads, 32 in flight.
pub(crate) fn null_engine(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(32, 1);
    let ours = AssayRun::new(device.path(), "null", load);
    let words = |ns: f64| format!("{ns:.1} ns");
    pairs(
        report,
        LOOKS,
        || 1e9 / ours.finish().0.repeats[0].iops,
        || 1e9 / fio::run(&mut fio::command(device.path(), fio::NULL, load, true)).0.iops,
        &[Figure {
            what: "null engine, histogram and samples on: time per operation".to_owned(),
            seen: Box::new(|pair: &(f64, f64)| pair.0),
            unit: " ns",
            target: Target::AtMost(10.0),
            ours: Shown::new(|pair: &(f64, f64)| pair.0, words),
            peer: Some(Shown::new(|pair: &(f64, f64)| pair.1, words)),
        }],
    );
    Ok(())
}

/// What the counters of many jobs and the sampler that reads them cost: the null engine with a job for each processor
/// beside one job, and with 64 jobs beside one for each processor, by the processor time of an operation. Operations a second
/// would not tell: 64 threads on few processors do not begin together.
pub(crate) fn many_jobs(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let processors = u32::try_from(std::thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1);
    let run = |jobs| AssayRun::new(device.path(), "null", Load { jobs, ..Load::random_4k(32, 1) });
    let cost = |run: &AssayRun| {
        let (measurement, finished) = run.finish();
        let operations = measurement.repeats[0].issued_bytes as f64 / measurement.workload.block_bytes as f64;
        (finished.user_seconds + finished.system_seconds) * 1e9 / operations
    };
    let (one, each, many) = (run(1), run(processors), run(MANY_JOBS));
    for (jobs, ours, beside, theirs) in [(processors, &each, 1, &one), (MANY_JOBS, &many, processors, &each)] {
        if jobs == beside {
            continue;
        }
        let what =
            format!("null engine on {processors} processors, {jobs} jobs by {beside}: processor time per operation");
        let figure = Figure::ratio(what, |ns: &f64| *ns, |ns| format!("{ns:.1} ns"), Target::AtMost(1.1));
        pairs(report, LOOKS, || cost(ours), || cost(theirs), &[figure]);
    }
    Ok(())
}

// Memory.
//
// Both instruments do their work in a process apart from the one that was started, so the figure
// is the sum over the processes of each one's own peak (`VmHWM`). Pages that processes share are
// counted in each, for both instruments alike.

/// A peak is kept by the kernel: looking this often misses only what grows at the very end.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const FOOTPRINT_SECONDS: u32 = 2;

pub(crate) fn memory(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(32, FOOTPRINT_SECONDS);
    let ours = AssayRun::new(device.path(), "uring", load);
    let what = |name: &str| format!("peak memory, {}, bare loop device: {name}", load.title());
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    pairs(
        report,
        LOOKS,
        || {
            let mut watch = None;
            ours.finish_watched(|process| watch = Some(Watch::start(process)));
            watch.map_or(Peaks::default(), Watch::end)
        },
        || {
            let mut watch = None;
            let mut command = fio::command(device.path(), fio::RING, load, true);
            fio::run_watched(&mut command, |process| watch = Some(Watch::start(process)));
            watch.map_or(Peaks::default(), Watch::end)
        },
        &[
            Figure::ratio(what("sum over its processes"), |peaks: &Peaks| peaks.sum, megabytes, Target::AtMost(0.5)),
            Figure::ratio(what("largest process"), |peaks: &Peaks| peaks.largest, megabytes, Target::AtMost(0.5)),
        ],
    );
    Ok(())
}

/// Peaks of one run in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Peaks {
    pub(crate) sum: f64,
    pub(crate) largest: f64,
}

/// Samples a process and its descendants until `over` is set.
#[derive(Debug)]
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    looking: JoinHandle<Peaks>,
}

impl Watch {
    pub(crate) fn start(process: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let looking = std::thread::spawn(move || {
            let mut peaks: HashMap<u32, u64> = HashMap::new();
            while !stop.load(Ordering::Relaxed) {
                for process in tree(process) {
                    if let Some(bytes) = peak(process) {
                        let known = peaks.entry(process).or_default();
                        *known = bytes.max(*known);
                    }
                }
                std::thread::sleep(LOOK_EVERY);
            }
            Peaks {
                sum: peaks.values().sum::<u64>() as f64,
                largest: peaks.values().copied().max().unwrap_or_default() as f64,
            }
        });
        Self { over, looking }
    }

    pub(crate) fn end(self) -> Peaks {
        self.over.store(true, Ordering::Relaxed);
        self.looking.join().unwrap()
    }
}

/// `VmHWM` in bytes; the kernel shows KiB.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

// What sensors, sampler and live view take of the processor.
//
// There is no switch to leave the sensors out, so that the processor time of every thread is
// read while a repeat is under way: the one that takes most of it measures, all others together
// are the cost. The run has a terminal of its own (`script`), so that the live view paints.

/// Calibration and warm-up are over by then.
const BEFORE: Duration = Duration::from_secs(3);
/// Sensors are read and figures painted once a second.
const DURING: Duration = Duration::from_secs(10);
const OVERHEAD_SECONDS: u32 = 14;
/// Numbers of runs after which the series is examined.
const RUNS: &[usize] = &[3, 6];
/// A thread that measures on a fast device takes at least this share of a processor; the rest of
/// the time it waits for the kernel's workers, or for others on a busy machine.
const MEASURES: f64 = 0.05;

pub(crate) fn sensors_and_live_view(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let run = AssayRun::new(device.path(), "uring", Load::random_4k(32, OVERHEAD_SECONDS));
    let directory = tempfile::tempdir().map_err(|e| Missing(format!("temporary directory: {e}")))?;
    let painted = directory.path().join("painted");
    let first = other_processes(&run, &painted)?;
    let share = |turn| if turn == 0 { first } else { other_processes(&run, &painted).unwrap_or(f64::NAN) };
    let what = "sensors, samples and live view: share of one processor";
    let words = |percent: f64| format!("{percent:.2} %");
    measure(report, RUNS, share, &[Figure::alone(what, " %", words, Target::AtMost(1.0))]);
    Ok(())
}

/// Share of a processor in percent that all threads but the one that measures take in one run.
fn other_processes(run: &AssayRun, painted: &Path) -> Result<f64, Missing> {
    let mut shares = Vec::new();
    finish_watched(&mut on_a_terminal(&run.command(), painted)?, |process| {
        std::thread::sleep(BEFORE);
        let (first, start) = (times(process), Instant::now());
        std::thread::sleep(DURING);
        let wall = start.elapsed().as_nanos() as f64;
        // A thread that is new since then took all its time since then.
        let took = |(thread, time): (u32, u64)| time.saturating_sub(first.get(&thread).copied().unwrap_or(0));
        shares.extend(times(process).into_iter().map(took).map(|time| time as f64 / wall));
    });
    shares.sort_by(f64::total_cmp);
    let measuring = shares.pop().unwrap_or_default();
    if measuring < MEASURES {
        return Err(Missing(format!("needs to see a thread at work; the busiest took {:.0} %", measuring * 100.0)));
    }
    // A view that repaints moves the cursor (ECMA-48, control sequences begin with ESC [).
    if !std::fs::read(painted).is_ok_and(|bytes| bytes.windows(2).filter(|two| two == b"\x1b[").count() >= 10) {
        return Err(Missing("needs a terminal on which the live view paints".to_owned()));
    }
    Ok(shares.iter().sum::<f64>() * 100.0)
}

/// The same command with standard error on a terminal of its own. What it draws there goes to a file.
fn on_a_terminal(command: &Command, painted: &Path) -> Result<Command, Missing> {
    if Command::new("script").arg("--version").output().is_err() {
        return Err(Missing("needs script".to_owned()));
    }
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))).collect();
    let mut script = Command::new("script");
    script.env("TERM", "xterm-256color").args(["--quiet", "--flush", "--return", "--command"]);
    script.arg(format!("{} > /dev/null", words.join(" "))).arg(painted);
    Ok(script)
}

/// Time on a processor in nanoseconds of every thread of assay below `process`: the first field
/// of `schedstat` (kernel documentation, scheduler/sched-stats).
fn times(process: u32) -> HashMap<u32, u64> {
    let ours = |process: &u32| {
        std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.starts_with("assay"))
    };
    let threads = tree(process).into_iter().filter(ours).flat_map(tasks);
    threads
        .filter_map(|task| {
            let time = std::fs::read_to_string(task.join("schedstat")).ok()?;
            let thread = task.file_name()?.to_string_lossy().parse().ok()?;
            Some((thread, time.split_whitespace().next()?.parse().ok()?))
        })
        .collect()
}

// Operations per second, and processor time of each, on devices so fast that the instrument shows.

/// Size of the devices; all of it is read.
pub(crate) const DEVICE_BYTES: u64 = 256 << 20;
/// Seconds of each side of a pair: short ones in turn, as the speed of a shared machine drifts.
const SPEED_SECONDS: u32 = 2;
/// This many times fio's operations per second.
const FASTER: Target = Target::AtLeast(1.05);
/// Where both wait for the same work of the kernel, and make their data.
const AS_FAST: Target = Target::AtLeast(1.0);

const DEEP: Load = Load::random_4k(32, SPEED_SECONDS);
const LOOP: &str = "bare loop device in memory";
const ZRAM: &str = "zram, filled";

pub(crate) fn loop_deep(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), LOOP, DEEP, FASTER)
}

pub(crate) fn loop_two_jobs(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), LOOP, Load { jobs: 2, ..DEEP }, FASTER)
}

/// fio writes the same data repeatedly unless its buffers are refilled; assay writes different data to each block.
pub(crate) fn loop_writes(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), LOOP, Load { op: Op::Write, ..DEEP }, AS_FAST)
}

pub(crate) fn loop_single(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    single(report, device.path(), LOOP)
}

pub(crate) fn zram_deep(report: &mut Report) -> Result<(), Missing> {
    let device = Zram::filled(DEVICE_BYTES)?;
    deep(report, device.path(), ZRAM, DEEP, FASTER)
}

pub(crate) fn zram_single(report: &mut Report) -> Result<(), Missing> {
    let device = Zram::filled(DEVICE_BYTES)?;
    single(report, device.path(), ZRAM)
}

fn deep(report: &mut Report, device: &Path, medium: &str, load: Load, target: Target) -> Result<(), Missing> {
    compare_speed(report, device, ("uring", fio::DEEP), load, target, &format!("io_uring, {medium}"))
}

fn single(report: &mut Report, device: &Path, medium: &str) -> Result<(), Missing> {
    let load = Load::random_4k(1, SPEED_SECONDS);
    compare_speed(report, device, ("sync", fio::SINGLE), load, FASTER, &format!("one call at a time, {medium}"))
}

fn compare_speed(
    report: &mut Report,
    device: &Path,
    (engine, settings): (&'static str, &[Setting]),
    load: Load,
    target: Target,
    how: &str,
) -> Result<(), Missing> {
    fio::present()?;
    let setting = fio::best(report, settings, device, load, "IOPS", |(said, _)| said.iops);
    let ours = AssayRun::new(device, engine, load);
    pairs(
        report,
        LOOKS,
        || ours.finish().0.repeats[0].iops,
        || fio::run(&mut fio::command(device, setting, load, true)).0.iops,
        &[Figure::ratio(format!("{}, {how}: IOPS", load.title()), |iops| *iops, |iops| format!("{iops:.0}"), target)],
    );
    Ok(())
}

// Processor time in user space per operation.
//
// It is that of the whole process with its children (`wait4`), nothing subtracted: start-up, the
// calibration and the reports of both are in it. Both run equally long and count every operation
// from the first on. The kernel splits processor time into user and system by the ticks of its
// clock, 250 a second on many, so that single runs scatter.

/// Long enough that start-up is little.
const CPU_SECONDS: u32 = 4;

pub(crate) fn processor_time_deep(report: &mut Report) -> Result<(), Missing> {
    compare_processor_time(report, ("uring", fio::DEEP), 32, "io_uring", Target::AtMost(0.25))
}

pub(crate) fn processor_time_single(report: &mut Report) -> Result<(), Missing> {
    compare_processor_time(report, ("sync", fio::SINGLE), 1, "one call at a time", Target::AtMost(0.5))
}

fn compare_processor_time(
    report: &mut Report,
    (engine, settings): (&'static str, &[Setting]),
    depth: u32,
    how: &str,
    target: Target,
) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(depth, CPU_SECONDS);
    let cost = |(said, finished): &(FioOutput, Finished)| finished.user_seconds * 1e9 / said.operations;
    // The least time is the best.
    let unit = "operations per ns of user CPU";
    let setting = fio::best(report, settings, device.path(), load, unit, |run| 1.0 / cost(run));
    let ours = AssayRun::new(device.path(), engine, load);
    pairs(
        report,
        LOOKS,
        || {
            let (measurement, finished) = ours.finish();
            // Bytes from the first to the last, warm-up included, unlike the operations of the window.
            let operations = measurement.repeats[0].issued_bytes as f64 / measurement.workload.block_bytes as f64;
            finished.user_seconds * 1e9 / operations
        },
        || cost(&fio::run(&mut fio::command(device.path(), setting, load, false))),
        &[Figure::ratio(
            format!("{}, {how}, bare loop device: user CPU per operation", load.title()),
            |ns| *ns,
            |ns| format!("{ns:.0} ns"),
            target,
        )],
    );
    Ok(())
}
