//! One execution of a workload: threads, sampler, stop and hang.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use assay_core::histogram::Histogram;
use assay_core::workload::{Pattern, Workload};

use crate::address::{Addresses, Place};
use crate::buffer::Pool;
use crate::clock::Clock;
use crate::contract::EngineKind;
use crate::control::Control;
use crate::counters::{Live, Totals};
use crate::gate::Gate;
use crate::job::{JobReport, JobSpec, drive};
use crate::null::Null;
use crate::patience::Patience;
use crate::sync::SyncEngine;
use crate::target::Target;

/// How often the sampler looks for hangs and stops.
const TICK: Duration = Duration::from_millis(50);
/// Whoever asks for the end waits no longer for a medium that answers nothing.
const AFTER_STOP: Duration = Duration::from_secs(10);
/// The final sync may have a whole cache to write: this many times the time of a hang.
const SYNC: u32 = 4;

/// What to run.
#[derive(Debug, Clone)]
pub struct RepeatSpec {
    /// The workload, complete.
    pub workload: Workload,
    /// By which engine.
    pub engine: EngineKind,
    /// On what; none for the null engine.
    pub target: Option<Arc<Target>>,
    /// Seed of data and offsets.
    pub seed: u64,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Planned repeats.
    pub repeats: u32,
    /// Without a completion for this long, the medium hangs.
    pub hang_after: Duration,
    /// Length of a sample.
    pub sample_every: Duration,
}

impl RepeatSpec {
    /// Threads that will run: one a job, or one an operation in flight where the engine cannot
    /// queue.
    #[must_use]
    pub fn threads(&self) -> u32 {
        match self.engine {
            EngineKind::Sync => self.workload.jobs * self.workload.queue_depth,
            EngineKind::Null | EngineKind::Uring | EngineKind::Fio => self.workload.jobs,
        }
    }
}

/// One interval, as the live view and the record see it.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSample {
    /// End of the interval since the start of the repeat in nanoseconds.
    pub t_ns: u64,
    /// Its length in nanoseconds, without time for which the process was stopped.
    pub interval_ns: u64,
    /// Operations completed in it.
    pub operations: u64,
    /// Bytes moved in it.
    pub bytes: u64,
    /// Median latency in nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the latency in nanoseconds.
    pub p99_ns: Option<f64>,
}

/// Why a repeat did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The medium reported an error.
    Io {
        /// Whether it was a write.
        write: bool,
        /// Offset in bytes.
        offset: u64,
        /// System error number; 0 for fewer bytes than asked.
        errno: i32,
    },
    /// Nothing completed for this long.
    Hung {
        /// How long.
        after: Duration,
    },
    /// The engine could not be set up: the host lacks threads, memory or a program.
    Setup(String),
    /// Another instrument failed, in its own words, which need not say whose fault it is.
    Peer(String),
    /// The final sync failed.
    Sync {
        /// System error number.
        errno: i32,
    },
}

/// What a repeat found.
#[derive(Debug, Clone)]
pub struct RepeatReport {
    /// Measured window in nanoseconds, mean over the threads.
    pub window_ns: u64,
    /// Operations in the window.
    pub operations: u64,
    /// Bytes in the window.
    pub bytes: u64,
    /// Operations per second: the sum of each thread's operations by its own window.
    pub iops: f64,
    /// Bytes per second, acknowledged.
    pub bytes_per_second: f64,
    /// Latencies in the window.
    pub histogram: Histogram,
    /// Mean operations in flight: the integral over the windows of all threads by the mean window. A thread that
    /// was watched for longer weighs more, as it does in `histogram`, so that Little's law holds between the two
    /// whatever the windows are: `histogram.sum_ns() / window_ns` is this number.
    pub in_flight: f64,
    /// Bytes read from start to drained.
    pub read_bytes: u64,
    /// Bytes written from start to drained.
    pub written_bytes: u64,
    /// The bytes written in the window by the window and its part of the final sync, which all bytes written share
    /// alike; of mixed work, the writes alone. Never above the rate at which they were acknowledged.
    pub durable_bytes_per_second: Option<f64>,
    /// Samples from the start of the repeat.
    pub samples: Vec<LiveSample>,
    /// When the first thread was done, from the start, in nanoseconds.
    pub first_done_ns: u64,
    /// When the last thread was done, from the start, in nanoseconds.
    pub last_done_ns: u64,
    /// The repeat was too short for a window: everything was counted.
    pub whole: bool,
    /// What went wrong.
    pub trouble: Option<Trouble>,
}

/// Called with every sample; may end the repeat, which then drains what is in flight and counts.
type OnSample<'a> = dyn FnMut(&LiveSample) -> ControlFlow<()> + 'a;

/// Runs one repeat. `on_sample` is called from this thread, between the sampler's sleeps.
pub fn run_repeat(spec: &RepeatSpec, control: &Control, on_sample: &mut OnSample<'_>) -> RepeatReport {
    let threads = spec.threads().max(1);
    let depth = spec.workload.depth().div_ceil(u64::from(threads)) as u32;
    let quota = spec
        .workload
        .stop
        .max_bytes
        .map_or(u64::MAX, |bytes| (bytes / spec.workload.block_bytes.max(1) / u64::from(threads)).max(1));
    let gate = Arc::new(Gate::default());
    let (sender, reports) = mpsc::channel();
    // Threads that make up the queue of one job share its sequential stream.
    let per_job = (threads / spec.workload.jobs.max(1)).max(1);
    let turns: Vec<Arc<AtomicU64>> = (0..spec.workload.jobs.max(1)).map(|_| Arc::default()).collect();
    let lives: Vec<Arc<Live>> = (0..threads).map(|_| Arc::new(Live::new())).collect();
    // A failure of one thread ends the others too, but not the run.
    let stop = Arc::new(AtomicBool::new(control.stopped()));

    for thread in 0..threads {
        let job = thread / per_job;
        let turn = (per_job > 1 && spec.workload.pattern == Pattern::Sequential)
            .then(|| Arc::clone(&turns[job as usize % turns.len()]));
        let place = Place {
            job: if spec.workload.pattern == Pattern::Sequential { job } else { thread },
            jobs: spec.workload.jobs,
            repeat: spec.repeat,
            repeats: spec.repeats,
            seed: spec.seed,
        };
        let work = ThreadWork {
            spec: spec.clone(),
            addresses: Addresses::new(&spec.workload, place, turn),
            thread,
            depth,
            quota,
            live: Arc::clone(&lives[thread as usize]),
            stop: Arc::clone(&stop),
            gate: Arc::clone(&gate),
        };
        let sender = sender.clone();
        // Not joined: a thread inside a hung system call never returns; it owns all it uses.
        let begun = std::thread::Builder::new().spawn(move || {
            let _ = sender.send(work.run());
        });
        if let Err(error) = begun {
            // Those that wait are let go, and find that they are to stop.
            stop.store(true, Ordering::Relaxed);
            gate.open(thread as usize);
            let words = format!("thread {} of {threads} could not be made: {error}", thread + 1);
            return collect(spec, &[], &[], Totals::default(), Vec::new(), None, Some(Trouble::Setup(words)));
        }
    }
    drop(sender);
    gate.open(threads as usize);
    let clock = Clock::start();

    let mut sampler = Sampler::new(&lives, clock, spec.sample_every, control);
    let mut done: Vec<JobReport> = Vec::with_capacity(threads as usize);
    let mut done_at: Vec<u64> = Vec::with_capacity(threads as usize);
    let mut trouble = None;
    let mut progress = 0;
    let mut silence = Patience::new(spec.hang_after);
    while done.len() < threads as usize {
        match reports.recv_timeout(TICK) {
            Ok(Ok(report)) => {
                done_at.push(clock.now());
                if let (Some(failure), None) = (report.failure, &trouble) {
                    trouble = Some(Trouble::Io { write: failure.write, offset: failure.offset, errno: failure.errno });
                    stop.store(true, Ordering::Relaxed);
                }
                done.push(report);
            }
            Ok(Err(message)) => {
                stop.store(true, Ordering::Relaxed);
                trouble = Some(Trouble::Setup(message));
                break;
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                trouble.get_or_insert(Trouble::Setup("a worker thread ended early".to_owned()));
                break;
            }
        }
        if control.stopped() {
            stop.store(true, Ordering::Relaxed);
        }
        if sampler.tick(on_sample).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
        let operations = sampler.operations();
        if operations != progress {
            progress = operations;
            silence.renew();
            continue;
        }
        if silence.spent() {
            // An error that came before says more.
            trouble.get_or_insert(Trouble::Hung { after: spec.hang_after });
            stop.store(true, Ordering::Relaxed);
            break;
        }
        if control.stopped() && silence.waited() > AFTER_STOP {
            break;
        }
    }
    let drained_ns = clock.now();
    sampler.finish(on_sample);

    let totals = sampler.totals();
    let mut sync = None;
    let all_back = done.len() == threads as usize;
    if spec.workload.writes() && all_back && trouble.is_none() && !control.stopped() {
        let begun_ns = clock.now();
        match sync_within(spec.target.as_ref(), spec.hang_after * SYNC, control) {
            Ok(true) => sync = Some(clock.now() - begun_ns),
            Ok(false) => {}
            Err(problem) => trouble = Some(problem),
        }
    }
    if !all_back {
        // Somebody did not come back: what the counters saw of all is what there is.
        done = vec![from_counters(&lives, drained_ns)];
    }
    collect(spec, &done, &done_at, totals, sampler.samples, sync, trouble)
}

/// Everything one thread owns.
struct ThreadWork {
    spec: RepeatSpec,
    addresses: Addresses,
    thread: u32,
    depth: u32,
    quota: u64,
    live: Arc<Live>,
    stop: Arc<AtomicBool>,
    gate: Arc<Gate>,
}

impl ThreadWork {
    /// Sets the engine up, waits for the others, drives it.
    fn run(self) -> Result<JobReport, String> {
        let Self { spec, addresses, thread, depth, quota, live, stop, gate } = self;
        let block = spec.workload.block_bytes;
        let pool = usize::try_from(block).map_err(std::io::Error::other).and_then(|b| Pool::new(depth as usize, b));
        let mut pool = match pool {
            Ok(pool) => pool,
            Err(error) => {
                gate.wait();
                return Err(format!("no memory for {depth} buffers of {block} bytes: {error}"));
            }
        };
        if spec.workload.writes() && spec.engine != EngineKind::Null {
            pool.fill(spec.seed ^ (u64::from(thread) << 40) ^ u64::from(spec.repeat));
        }
        let drive_it = |engine: &mut dyn FnMut(Addresses, &JobSpec<'_>) -> JobReport| {
            gate.wait();
            let job = JobSpec {
                workload: &spec.workload,
                depth,
                quota,
                job: thread,
                seed: spec.seed ^ (u64::from(spec.repeat) << 48),
                clock: Clock::start(),
                live: &live,
                stop: &stop,
            };
            engine(addresses, &job)
        };
        match (spec.engine, spec.target.as_deref()) {
            (EngineKind::Null, _) => {
                let mut engine = Null::new(pool, depth, block);
                Ok(drive_it(&mut |addresses, job| drive(&mut engine, addresses, job)))
            }
            (EngineKind::Sync, Some(target)) => {
                let mut engine = SyncEngine::new(pool, target, spec.workload.sync);
                Ok(drive_it(&mut |addresses, job| drive(&mut engine, addresses, job)))
            }
            #[cfg(target_pointer_width = "64")]
            (EngineKind::Uring, Some(target)) => match crate::uring::Uring::new(pool, target, depth, block) {
                Ok(mut engine) => Ok(drive_it(&mut |addresses, job| drive(&mut engine, addresses, job))),
                Err(error) => {
                    gate.wait();
                    Err(format!("io_uring could not be set up: {error}"))
                }
            },
            _ => {
                gate.wait();
                Err(format!("engine {} has nothing to work on", spec.engine))
            }
        }
    }
}

/// Reads the counters at intervals.
struct Sampler<'a> {
    lives: &'a [Arc<Live>],
    clock: Clock,
    control: &'a Control,
    every_ns: u64,
    last_ns: u64,
    suspended: Duration,
    last: Totals,
    last_latency: Histogram,
    samples: Vec<LiveSample>,
}

impl<'a> Sampler<'a> {
    fn new(lives: &'a [Arc<Live>], clock: Clock, every: Duration, control: &'a Control) -> Self {
        Self {
            lives,
            clock,
            control,
            every_ns: u64::try_from(every.as_nanos()).unwrap_or(u64::MAX).max(1),
            last_ns: 0,
            suspended: control.suspended(),
            last: Totals::default(),
            last_latency: Histogram::default(),
            samples: Vec::new(),
        }
    }

    fn totals(&self) -> Totals {
        self.lives.iter().map(|live| live.totals()).fold(Totals::default(), |sum, t| Totals {
            operations: sum.operations + t.operations,
            bytes: sum.bytes + t.bytes,
            read_bytes: sum.read_bytes + t.read_bytes,
            written_bytes: sum.written_bytes + t.written_bytes,
        })
    }

    fn operations(&self) -> u64 {
        self.lives.iter().map(|live| live.totals().operations).sum()
    }

    fn tick(&mut self, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        if self.clock.now() - self.last_ns >= self.every_ns {
            return self.take(on_sample);
        }
        ControlFlow::Continue(())
    }

    /// The rest of the last interval, unless it is too short to say anything.
    fn finish(&mut self, on_sample: &mut OnSample<'_>) {
        if self.samples.is_empty() || self.clock.now() - self.last_ns >= self.every_ns / 4 {
            // It is over anyway.
            let _ = self.take(on_sample);
        }
    }

    fn take(&mut self, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        let suspended = self.control.suspended();
        let now = self.clock.now();
        // The medium had nothing to do while the process was stopped.
        let idle_ns = u64::try_from((suspended - self.suspended).as_nanos()).unwrap_or(u64::MAX);
        let totals = self.totals();
        let mut latency = Histogram::default();
        for live in self.lives {
            latency.merge(&live.histogram());
        }
        let fresh = latency.since(&self.last_latency);
        let sample = LiveSample {
            t_ns: now,
            interval_ns: (now - self.last_ns).saturating_sub(idle_ns).max(1),
            operations: totals.operations - self.last.operations,
            bytes: totals.bytes - self.last.bytes,
            p50_ns: fresh.quantile(0.5),
            p99_ns: fresh.quantile(0.99),
        };
        let answer = on_sample(&sample);
        self.samples.push(sample);
        (self.last_ns, self.suspended, self.last, self.last_latency) = (now, suspended, totals, latency);
        answer
    }
}

/// Syncs in a thread of its own, so that a medium that never answers does not take this one.
/// False where the end was asked for meanwhile.
fn sync_within(target: Option<&Arc<Target>>, limit: Duration, control: &Control) -> Result<bool, Trouble> {
    let Some(target) = target else { return Ok(true) };
    let (sender, answer) = mpsc::channel();
    let target = Arc::clone(target);
    std::thread::Builder::new()
        .spawn(move || {
            let _ = sender.send(target.sync());
        })
        .map_err(|error| Trouble::Setup(format!("no thread for the sync could be made: {error}")))?;
    let mut patience = Patience::new(limit);
    loop {
        match answer.recv_timeout(TICK) {
            Ok(Ok(())) => return Ok(true),
            Ok(Err(error)) => return Err(Trouble::Sync { errno: error.raw_os_error().unwrap_or(5) }),
            Err(_) if control.stopped() => return Ok(false),
            Err(_) if patience.spent() => return Err(Trouble::Hung { after: limit }),
            Err(_) => {}
        }
    }
}

fn from_counters(lives: &[Arc<Live>], elapsed_ns: u64) -> JobReport {
    let mut histogram = Histogram::default();
    let (mut operations, mut bytes) = (0, 0);
    for live in lives {
        histogram.merge(&live.histogram());
        let totals = live.totals();
        operations += totals.operations;
        bytes += totals.bytes;
    }
    JobReport {
        window_ns: elapsed_ns,
        operations,
        bytes,
        in_flight_ns: histogram.sum_ns(),
        histogram,
        whole: true,
        failure: None,
    }
}

/// What was acknowledged in the measured window.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Bytes per second, reads and writes.
    pub bytes_per_second: f64,
    /// Bytes.
    pub bytes: u64,
    /// Length in nanoseconds, mean over the threads.
    pub window_ns: f64,
}

impl Window {
    /// The rate at which its writes became durable: the final sync took `sync_ns` for `written_bytes` of `all_bytes`
    /// since the start of the repeat, warm-up included, of which the window has its part by the bytes. `None` where
    /// nothing was written in it.
    #[must_use]
    pub fn durable(&self, written_bytes: u64, all_bytes: u64, sync_ns: u64) -> Option<f64> {
        let writes = written_bytes as f64 / all_bytes as f64;
        let part = (self.bytes as f64 / all_bytes as f64).min(1.0);
        let rate = self.bytes_per_second * writes * self.window_ns / (self.window_ns + sync_ns as f64 * part);
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }
}

fn collect(
    spec: &RepeatSpec,
    done: &[JobReport],
    done_at: &[u64],
    totals: Totals,
    samples: Vec<LiveSample>,
    sync_ns: Option<u64>,
    trouble: Option<Trouble>,
) -> RepeatReport {
    let mut histogram = Histogram::default();
    let (mut operations, mut bytes, mut iops) = (0, 0, 0.0);
    let (mut windows, mut in_flight_ns) = (0u128, 0u128);
    for job in done {
        histogram.merge(&job.histogram);
        operations += job.operations;
        bytes += job.bytes;
        windows += u128::from(job.window_ns);
        if job.window_ns > 0 {
            iops += job.operations as f64 / (job.window_ns as f64 / 1e9);
            in_flight_ns += job.in_flight_ns;
        }
    }
    let window_ns = windows as f64 / done.len().max(1) as f64;
    let bytes_per_second = iops * spec.workload.block_bytes as f64;
    let all_bytes = totals.read_bytes + totals.written_bytes;
    let window = Window { bytes_per_second, bytes, window_ns };
    RepeatReport {
        window_ns: window_ns as u64,
        operations,
        bytes,
        iops,
        bytes_per_second,
        histogram,
        in_flight: if windows > 0 { in_flight_ns as f64 / window_ns } else { 0.0 },
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        durable_bytes_per_second: sync_ns.and_then(|ns| window.durable(totals.written_bytes, all_bytes, ns)),
        samples,
        first_done_ns: done_at.first().copied().unwrap_or(0),
        last_done_ns: done_at.last().copied().unwrap_or(0),
        whole: done.iter().any(|job| job.whole),
        trouble,
    }
}

#[cfg(test)]
mod tests {
    use assay_core::workload::{Op, Stop, Sync};

    use super::*;

    /// A thread that completes an operation every `latency_ns` for `window_ns`, one in flight.
    fn job(window_ns: u64, latency_ns: u64) -> JobReport {
        let operations = window_ns / latency_ns;
        let live = Live::new();
        (0..operations).for_each(|_| live.latency(latency_ns));
        live.publish(Totals { operations, ..Totals::default() }, operations * latency_ns);
        JobReport {
            window_ns,
            operations,
            bytes: operations * 4096,
            histogram: live.histogram(),
            in_flight_ns: u128::from(window_ns),
            whole: false,
            failure: None,
        }
    }

    /// On a busy host the windows of the threads differ: each edge waits for the end of a pause. Latencies of the
    /// one whose window is longer are more, and so is its part of what was in flight.
    #[test]
    fn littles_law_holds_where_windows_differ() {
        let workload = Workload {
            name: "w".into(),
            op: Op::Read,
            read_percent: None,
            pattern: Pattern::Random,
            block_bytes: 4096,
            queue_depth: 2,
            jobs: 1,
            span_bytes: 1 << 20,
            direct: true,
            sync: Sync::End,
            stop: Stop { ramp_ns: 0, duration_ns: 100_000_000, max_bytes: None },
        };
        let spec = RepeatSpec {
            workload,
            engine: EngineKind::Sync,
            target: None,
            seed: 0,
            repeat: 0,
            repeats: 1,
            hang_after: Duration::from_secs(1),
            sample_every: Duration::from_secs(1),
        };
        let jobs = [job(100_000_000, 1_000_000), job(300_000_000, 20_000_000)];
        let report = collect(&spec, &jobs, &[1, 2], Totals::default(), Vec::new(), None, None);
        assert_eq!((report.window_ns, report.operations), (200_000_000, 115));
        assert!((report.in_flight - 2.0).abs() < 1e-9, "{}", report.in_flight);
        assert!((report.iops - 1050.0).abs() < 1e-9, "each thread by its own window: {}", report.iops);
        let law = report.histogram.sum_ns() as f64 / report.window_ns as f64 / report.in_flight;
        assert!((law - 1.0).abs() < 1e-9, "{law}");
    }
}
