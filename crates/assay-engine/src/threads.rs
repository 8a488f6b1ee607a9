//! The threads of a repeat: begun together, waited for, sampled, and stopped where one fails or nothing completes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use assay_core::workload::{Pattern, Workload};

use super::address::JobPlace;
use super::clock::Timeout;
use super::counters::{LiveSample, Sampler};
use super::engines::{Null, SyncEngine};
use super::open::Schedule;
use super::work;
use super::work::{JobReport, JobSpec};
use crate::address::Places;
use crate::batching::Votes;
use crate::buffer::Pool;
use crate::clock::{Clock, Control, sleep_until};
use crate::closed::drive;
use crate::contract::{Engine, EngineKind};
use crate::counters::{Live, Turns};
use crate::open;
use crate::sys::{ASYNCHRONOUS, QUEUE, Queue, pin, prioritise};
use crate::target::Target;

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
        (common, flow): (bool, Option<&work::FlowGate>),
        (number, sender): (usize, &mpsc::Sender<Answer>),
    ) -> Result<Self, RepeatTrouble> {
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
        let votes = Votes::of_jobs(threads.count);
        for thread in 0..count {
            let job = thread / per_job;
            let turn = (per_job > 1 && sequential)
                .then(|| [&turns, &of_writes].map(|all| Arc::clone(&all[job as usize % all.len()])));
            let shared = sequential && workload.refined.shared;
            let place = JobPlace {
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
                return Err(RepeatTrouble::Setup(words));
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
    flow: Option<work::FlowGate>,
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

// What a repeat is to do, and why it may not come to its end.

/// What to run.
#[derive(Debug, Clone)]
pub struct RepeatSpec {
    /// The workload, complete.
    pub workload: Workload,
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
    /// For how many completions at once io_uring is to wait, where an earlier repeat chose that.
    pub wait_for: Option<u32>,
    /// When all threads are to begin, by [`monotonic`](crate::monotonic), in nanoseconds; none to begin as soon as they can.
    pub begin_at_ns: Option<u64>,
}

/// Why a repeat did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepeatTrouble {
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

// Workloads under way: waited for, sampled, and ended where one fails or nothing completes.

/// A stopped repeat waits no longer than this for a medium that answers nothing.
const AFTER_STOP: Duration = Duration::from_secs(10);

/// Called with every sample and the number of its workload; may end the repeat, which then drains what is in flight
/// and counts.
pub type OnSampleOf<'a> = dyn FnMut(usize, &LiveSample) -> ControlFlow<()> + 'a;

/// What the threads of a workload came to.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) done: Vec<JobReport>,
    /// When each was done, in nanoseconds from the start.
    pub(crate) done_at: Vec<u64>,
    pub(crate) trouble: Option<RepeatTrouble>,
}

/// A workload under way.
pub(crate) struct Member<'a> {
    threads: &'a Threads,
    hang_after: Duration,
    pub(crate) sampler: Sampler<'a>,
    pub(crate) all: Gathered,
    /// Operations that were completed when it was last looked.
    completed: u64,
    silence: Timeout,
    /// It is not waited for any more.
    over: bool,
}

impl<'a> Member<'a> {
    pub(crate) fn new(threads: &'a Threads, spec: &RepeatSpec, clock: Clock, control: &'a Control) -> Self {
        Self {
            threads,
            hang_after: spec.hang_after,
            sampler: Sampler::new(&threads.lives, clock, spec.sample_every, control),
            all: Gathered::default(),
            completed: 0,
            silence: Timeout::new(spec.hang_after),
            over: false,
        }
    }

    /// Whether all of its threads came back.
    pub(crate) fn is_back(&self) -> bool {
        self.all.done.len() == self.threads.count
    }

    /// Takes what one of its threads answers.
    fn take(&mut self, answer: Result<JobReport, String>, at_ns: u64) {
        match answer {
            Ok(report) => {
                self.all.done_at.push(at_ns);
                if let Some(failure) = report.failure {
                    let (write, offset, errno) = (failure.write, failure.offset, failure.errno);
                    self.fail(RepeatTrouble::Io { write, offset, errno });
                }
                self.all.done.push(report);
                self.over |= self.is_back();
            }
            Err(message) => {
                self.all.trouble = Some(RepeatTrouble::Setup(message));
                self.over = true;
            }
        }
    }

    /// Notes what went wrong; what came before says more.
    fn fail(&mut self, trouble: RepeatTrouble) {
        self.all.trouble.get_or_insert(trouble);
        self.threads.end();
    }

    /// Gives up where nothing completes for too long.
    fn watch(&mut self, stopped: bool) {
        let operations = self.sampler.operations();
        if operations != self.completed {
            self.completed = operations;
            self.silence.restart();
        } else if self.silence.expired() {
            self.fail(RepeatTrouble::Hung { after: self.hang_after });
            self.over = true;
        } else if stopped && self.silence.waited() > AFTER_STOP {
            self.over = true;
        }
    }
}

/// Waits for all of them, with a sample now and then; for no longer where nothing completes. When the threads of one
/// have done what they had to, the others end too: its load would be missing beside them.
pub(crate) fn gather(
    members: &mut [Member<'_>],
    answers: &mpsc::Receiver<Answer>,
    clock: Clock,
    control: &Control,
    on_sample: &mut OnSampleOf<'_>,
) {
    while members.iter().any(|member| !member.over) {
        match answers.recv_timeout(TICK) {
            Ok((number, answer)) => members[number].take(answer, clock.now()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                for member in members.iter_mut().filter(|member| !member.over) {
                    member.fail(RepeatTrouble::Setup("a worker thread ended early".to_owned()));
                }
                break;
            }
        }
        let mut ends = control.stopped();
        for (number, member) in members.iter_mut().enumerate().filter(|(_, member)| !member.over) {
            ends |= member.sampler.tick(&mut |sample| on_sample(number, sample)).is_break();
            member.watch(control.stopped());
        }
        if ends || members.iter().any(|member| member.over || member.all.trouble.is_some()) {
            members.iter().for_each(|member| member.threads.end());
        }
    }
}

// All threads of a repeat begin together, however many there are.

/// Where threads wait until all are ready. Unlike a barrier it need not know beforehand how many
/// there will be, so that it opens too where the system makes no more.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: usize,
    open: bool,
}

impl Gate {
    /// Says that the thread is ready, and waits until the gate is open.
    pub(crate) fn wait(&self) {
        let mut state = self.lock();
        state.ready += 1;
        self.changed.notify_all();
        while !state.open {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `threads` threads are ready.
    pub(crate) fn wait_for(&self, threads: usize) {
        let mut state = self.lock();
        while state.ready < threads {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `threads` threads are ready, and lets them go.
    pub(crate) fn open(&self, threads: usize) {
        self.wait_for(threads);
        let mut state = self.lock();
        state.open = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_thread_goes_before_all_are_ready() {
        let (gate, gone) = (Arc::new(Gate::default()), Arc::new(AtomicUsize::new(0)));
        let start = || {
            let (gate, gone) = (Arc::clone(&gate), Arc::clone(&gone));
            std::thread::spawn(move || {
                gate.wait();
                gone.fetch_add(1, Ordering::SeqCst);
            })
        };
        let threads: Vec<_> = (0..3).map(|_| start()).collect();
        while gate.lock().ready < 3 {
            std::thread::yield_now();
        }
        assert_eq!(gone.load(Ordering::SeqCst), 0);
        gate.open(3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(gone.load(Ordering::SeqCst), 3);
        // Who comes late finds it open.
        start().join().unwrap();
    }
}
