//! The threads of a repeat: begun, waited for, and stopped where one fails or nothing completes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use assay_core::workload::Pattern;

use crate::address::Places;
use crate::batching::Votes;
use crate::buffer::Pool;
use crate::clock::{Clock, sleep_until};
use crate::closed::drive;
use crate::contract::{Engine, EngineKind};
use crate::control::Control;
use crate::counters::{Live, Turns};
use crate::flow;
use crate::gate::Gate;
use crate::job::{JobReport, JobSpec};
use crate::null::Null;
use crate::open;
use crate::place::Place;
use crate::schedule::Schedule;
use crate::spec::{RepeatSpec, Trouble};
use crate::sync::SyncEngine;
use crate::sys::{ASYNCHRONOUS, QUEUE, Queue, pin, prioritise};

/// How often it is looked for hangs and stops.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// The threads of one repeat.
pub(crate) struct Threads {
    pub(crate) count: usize,
    /// Their counters.
    pub(crate) lives: Vec<Arc<Live>>,
    /// When the first of them began to submit, by the monotonic clock; the largest number before that.
    began_ns: Arc<AtomicU64>,
    gate: Arc<Gate>,
    stop: Arc<AtomicBool>,
}

/// What a thread of a workload found, or why it could not begin; with the number of the workload.
pub(crate) type Answer = (usize, Result<JobReport, String>);

impl Threads {
    /// Begins those of workload `number`, beside other workloads where that is `common`; they wait for [`Self::go`], and
    /// answer to `sender`.
    ///
    /// # Errors
    /// Where the system makes no thread; those that were made end.
    pub(crate) fn begin(
        engine: EngineKind,
        spec: &RepeatSpec,
        control: &Control,
        (common, flow): (bool, Option<&flow::Gate>),
        (number, sender): (usize, &mpsc::Sender<Answer>),
    ) -> Result<Self, Trouble> {
        let workload = &spec.workload;
        // One a job, or one an operation in flight where the engine cannot queue.
        let count = match engine {
            EngineKind::Sync => (workload.jobs * workload.queue_depth).max(1),
            EngineKind::Null | EngineKind::Uring | EngineKind::Iocp => workload.jobs.max(1),
        };
        let depth = workload.depth().div_ceil(u64::from(count)) as u32;
        let share = |bytes: u64| (bytes / workload.block_bytes.max(1) / u64::from(count)).max(1);
        let quota = workload.stop.max_bytes.map_or(u64::MAX, share);
        // With several sizes the bytes of a number of operations are not known beforehand.
        let of_thread = |bytes: u64| (bytes / u64::from(count)).saturating_sub(workload.largest_block());
        let byte_quota = workload.stop.max_bytes.filter(|_| workload.has_sizes()).map_or(u64::MAX, of_thread);
        // Threads that make up the queue of one job share its sequential stream.
        let per_job = (count / workload.jobs.max(1)).max(1);
        let counters = || -> Vec<Turns> { (0..workload.jobs.max(1)).map(|_| Arc::default()).collect() };
        let (turns, of_writes, taken) = (counters(), counters(), counters());
        let threads = Self {
            count: count as usize,
            lives: (0..count).map(|_| Arc::new(Live::new())).collect(),
            began_ns: Arc::new(AtomicU64::new(u64::MAX)),
            gate: Arc::new(Gate::default()),
            // A failure of one thread ends the others too, but not the run.
            stop: Arc::new(AtomicBool::new(control.stopped())),
        };
        let sequential = workload.pattern == Pattern::Sequential;
        let votes = Votes::of(threads.count);
        for thread in 0..count {
            let job = thread / per_job;
            let turn = (per_job > 1 && sequential)
                .then(|| [&turns, &of_writes].map(|all| Arc::clone(&all[job as usize % all.len()])));
            let shared = sequential && workload.refined.shared;
            let place = Place {
                job: if shared {
                    0
                } else if sequential {
                    job
                } else {
                    thread
                },
                jobs: if shared { 1 } else { workload.jobs },
                repeat: spec.repeat,
                repeats: spec.repeats,
                seed: spec.seed,
            };
            let schedule = workload.arrivals.map(|arrivals| {
                let taken = Arc::clone(&taken[job as usize % taken.len()]);
                let seed = spec.seed ^ (u64::from(job) << 32 | u64::from(spec.repeat));
                Schedule::new(arrivals, workload.jobs, seed, taken)
            });
            let work = ThreadWork {
                engine,
                spec: spec.clone(),
                places: Places::new(workload, place, turn),
                schedule,
                thread,
                depth,
                quota,
                byte_quota,
                live: Arc::clone(&threads.lives[thread as usize]),
                stop: Arc::clone(&threads.stop),
                began_ns: Arc::clone(&threads.began_ns),
                gate: Arc::clone(&threads.gate),
                votes: votes.clone(),
                turn: (thread % per_job, per_job),
                flow: flow.cloned(),
                common,
            };
            let sender = sender.clone();
            // Not joined: a thread inside a hung system call never returns; it owns all it uses.
            let begun = std::thread::Builder::new().spawn(move || {
                let _ = sender.send((number, work.run()));
            });
            if let Err(error) = begun {
                // Those that wait are let go, and find that they are to stop.
                threads.stop.store(true, Ordering::Relaxed);
                threads.gate.open(thread as usize);
                let words = format!("thread {} of {count} could not be made: {error}", thread + 1);
                return Err(Trouble::Setup(words));
            }
        }
        Ok(threads)
    }

    /// Waits until all of them are ready to begin.
    pub(crate) fn wait_until_ready(&self) {
        self.gate.wait_for(self.count);
    }

    /// Lets them begin when all of them are ready.
    pub(crate) fn go(&self) {
        self.gate.open(self.count);
    }

    /// When the first of them began to submit, by the monotonic clock in nanoseconds; `None` before.
    pub(crate) fn began_ns(&self) -> Option<u64> {
        Some(self.began_ns.load(Ordering::Relaxed)).filter(|began| *began < u64::MAX)
    }

    /// Asks them to end.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// One operation after another, or each when it is due.
fn drive_as<E: Engine>(engine: &mut E, places: Places, schedule: Option<Schedule>, job: &JobSpec<'_>) -> JobReport {
    match schedule {
        Some(schedule) => open::drive(engine, &job.clock, places, schedule, job),
        None => drive(engine, places, job),
    }
}

/// Everything one thread owns.
struct ThreadWork {
    engine: EngineKind,
    spec: RepeatSpec,
    places: Places,
    /// When operations are due, in an open loop.
    schedule: Option<Schedule>,
    thread: u32,
    depth: u32,
    quota: u64,
    byte_quota: u64,
    live: Arc<Live>,
    stop: Arc<AtomicBool>,
    began_ns: Arc<AtomicU64>,
    gate: Arc<Gate>,
    votes: Votes,
    /// Number of the thread among those that make up the queue of its job, and how many they are.
    turn: (u32, u32),
    flow: Option<flow::Gate>,
    /// Other workloads begin at the same moment.
    common: bool,
}

impl ThreadWork {
    /// Sets the engine up, waits for the others, drives it.
    fn run(self) -> Result<JobReport, String> {
        let Self { engine: kind, spec, places, schedule, thread, depth, quota, byte_quota, live, stop, .. } = self;
        let Self { began_ns, gate, votes, common, turn: (turn, turns), flow, .. } = self;
        // Before memory is taken: it is that of the processor which touches it first.
        if let Some(Err(message)) = spec.workload.cpus.of_thread(thread).map(pin) {
            gate.wait();
            return Err(message);
        }
        let priority = spec.workload.priorities.job.filter(|_| kind != EngineKind::Null);
        if let Some(Err(message)) = priority.map(prioritise) {
            gate.wait();
            return Err(format!("the operations of a thread could not be given their priority: {message}"));
        }
        let block = spec.workload.largest_block();
        let pool = usize::try_from(block).map_err(std::io::Error::other).and_then(|b| Pool::new(depth as usize, b));
        let mut pool = match pool {
            Ok(pool) => pool,
            Err(error) => {
                gate.wait();
                return Err(format!("no memory for {depth} buffers of {block} bytes: {error}"));
            }
        };
        if spec.workload.writes() && kind != EngineKind::Null {
            pool.fill(spec.seed ^ (u64::from(thread) << 40) ^ u64::from(spec.repeat));
        }
        let driven = |engine: &mut dyn FnMut(Places, Option<Schedule>, &JobSpec<'_>) -> JobReport| {
            gate.wait();
            if let Some(at_ns) = spec.begin_at_ns {
                sleep_until(at_ns);
            }
            let clock = Clock::start();
            began_ns.fetch_min(clock.started_ns(), Ordering::Relaxed);
            let job = JobSpec {
                workload: &spec.workload,
                depth,
                quota,
                byte_quota,
                job: thread,
                seed: spec.seed ^ (u64::from(spec.repeat) << 48),
                clock,
                live: &live,
                stop: &stop,
                // A completion port hands over what is there, and cannot be asked to wait for several.
                wait_for: if kind == EngineKind::Iocp { Some(1) } else { spec.wait_for },
                votes: votes.clone(),
                flow: flow.clone(),
                common: common || spec.begin_at_ns.is_some(),
            };
            engine(places, schedule, &job)
        };
        match (kind, spec.target.as_deref()) {
            (EngineKind::Null, _) => {
                let mut engine = Null::new(pool, depth);
                Ok(driven(&mut |places, schedule, job| drive_as(&mut engine, places, schedule, job)))
            }
            (EngineKind::Sync, Some(target)) => match SyncEngine::new(pool, target, &spec.workload, turn, turns) {
                Ok(mut engine) => Ok(driven(&mut |places, schedule, job| drive_as(&mut engine, places, schedule, job))),
                Err(error) => {
                    gate.wait();
                    Err(format!("the file could not be opened once more for a thread: {error}"))
                }
            },
            (kind, Some(target)) if kind == ASYNCHRONOUS => match Queue::new(pool, target, depth, &spec.workload) {
                Ok(mut engine) => Ok(driven(&mut |places, schedule, job| drive_as(&mut engine, places, schedule, job))),
                Err(error) => {
                    gate.wait();
                    Err(format!("{QUEUE} could not be set up: {error}"))
                }
            },
            _ => {
                gate.wait();
                Err(format!("engine {kind} has nothing to work on"))
            }
        }
    }
}
