//! The hot loop: a closed load from its first operation to the last. As soon as one is done the next begins, so that as
//! many as asked for are in flight. [`Window`] says what of it is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_core::workload::Think;

use super::work::{JobReport, JobSpec};
use crate::address::Places;
use crate::batching::{Batching, Chooser};
use crate::clock::Clock;
use crate::contract::{Completion, Engine};
use crate::counters::{Live, Snapshot, Totals};
use crate::work::{Begun, Work};

/// Runs a job on its engine until duration, quota, a failure or `stop` ends it. Everything that the window needs is
/// allocated before it.
pub(crate) fn drive<E: Engine>(engine: &mut E, places: impl Into<Places>, spec: &JobSpec<'_>) -> JobReport {
    let JobSpec { workload, depth, clock, live, .. } = *spec;
    let mut work: Work<'_, u64> = Work::new(places, spec);
    let mut pauses = Pauses::new(workload.think);
    let mut batches = Chooser::new(depth, workload.stop.ramp_ns, spec.wait_for, spec.votes.clone());
    let mut window = Window::new(spec, &pauses);
    let mut now = window.start();
    loop {
        // Refill.
        let before = now;
        let issuing = !window.is_closed() && work.failure.is_none();
        let mut done_at_once: Option<Completion> = None;
        while issuing && work.issued < pauses.next_at && !work.exhausted() {
            let ahead = spec.flow.as_ref().is_some_and(|flow| work.has_room() && !flow.admits());
            if ahead {
                break;
            }
            match work.begin(engine, || now) {
                Begun::InFlight => {}
                Begun::Not => break,
                Begun::Done(completion) => {
                    done_at_once = Some(completion);
                    break;
                }
            }
        }
        let in_flight = work.in_flight();
        if in_flight == 0 {
            if issuing && !work.exhausted() && pauses.take(work.issued, spec.stop) {
                window.burst_ended();
                now = clock.now();
                continue;
            }
            // Ahead of the others: they end all when they end.
            if let (Some(flow), true, false) = (&spec.flow, issuing, work.over()) {
                flow.wait(spec.stop);
                now = clock.now();
                continue;
            }
            break;
        }

        // Wait, and take all that is done. One look at the clock for the whole batch.
        let mut seen = 0u64;
        let mut finish = |completion: Completion| {
            if seen == 0 {
                seen = clock.now();
            }
            if let Some(flight) = work.land(completion) {
                let latency = seen - flight.times;
                live.latency(latency);
                work.count(&flight, latency);
            }
        };
        match done_at_once {
            Some(completion) => finish(completion),
            None => {
                if let Err(error) = engine.reap(batches.wait_for, &mut finish) {
                    work.lost(&error);
                    break;
                }
            }
        }
        if seen == 0 {
            continue;
        }
        live.publish(work.totals, work.sum_ns);
        now = window.after(Pause { began: before, ended: seen, in_flight }, &work, &mut batches);
    }
    live.publish(work.totals, work.sum_ns);
    window.report(now, &work, batches.chosen())
}

// The measured part of a closed loop: when it opens and closes, and what was counted in between.
//
// The window opens with the first completion after the warm-up and closes with the first completion after its end.
// Operations of the opening batch are not counted, those of the closing batch are: the window is a whole number of
// intervals between completions, so a device that completes in lumps (or twice a second) is not over- or undercounted at
// the edges, and a stall that is under way at the end is waited for and counted (Wald's identity: the expected time of N
// intervals is N times the mean interval, also when N is a stopping time).
//
// Where completions come in lumps of many batches (a throttle that hands out a tenth of a second at a time, a medium that
// pauses to collect garbage), both edges are put where a pause ends, so that the window holds whole lumps. What counts as a
// pause is learnt during the warm-up, and neither edge waits for one longer than [`LONGEST_WAIT_NS`].
//
// Where others share the medium or its link and are measured over the same time, a stall between the warm-up and the window
// is counted: the window opens where the stall began. Opened at its end, the window of a job that got nothing would lie after
// those of the others and show the medium to itself. A stall is longer than an edge waits, and than twice what was seen in
// the warm-up.

/// How long an edge of the window may wait for the end of a pause, in nanoseconds.
const LONGEST_WAIT_NS: u64 = 250_000_000;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Warming,
    Open,
    Closed,
}

/// What had been counted at an edge of the window.
struct Edge {
    at: u64,
    totals: Totals,
    in_flight_ns: u128,
    latencies: Snapshot,
}

impl Edge {
    fn new() -> Self {
        Self { at: 0, totals: Totals::default(), in_flight_ns: 0, latencies: Snapshot::new() }
    }

    fn set(&mut self, at: u64, totals: Totals, in_flight_ns: u128, live: &Live) {
        (self.at, self.totals, self.in_flight_ns) = (at, totals, in_flight_ns);
        live.snapshot(&mut self.latencies);
    }
}

/// A time in which nothing completed, up to the completions that ended it.
#[derive(Clone, Copy)]
pub(crate) struct Pause {
    /// When the last completions before were seen.
    pub(crate) began: u64,
    /// When those after it were.
    pub(crate) ended: u64,
    /// Operations in flight all the time.
    pub(crate) in_flight: usize,
}

/// The window of a job. Times are those of the clock.
pub(crate) struct Window<'a> {
    state: State,
    clock: Clock,
    live: &'a Live,
    start: u64,
    ramp_ns: u64,
    duration_ns: u64,
    /// Others are measured over the same time.
    common: bool,
    /// Operations come in bursts: the window holds whole bursts with the pause before each.
    bursts: bool,
    after_burst: bool,
    longest_pause: u64,
    longest_wait: u64,
    in_flight_ns: u128,
    base: Edge,
    end: Edge,
}

impl<'a> Window<'a> {
    /// The warm-up begins when everything is allocated.
    pub(crate) fn new(spec: &JobSpec<'a>, pauses: &Pauses) -> Self {
        let (base, end) = (Edge::new(), Edge::new());
        Self {
            state: State::Warming,
            clock: spec.clock,
            live: spec.live,
            start: spec.clock.now(),
            ramp_ns: spec.workload.stop.ramp_ns,
            duration_ns: spec.workload.stop.duration_ns,
            common: spec.common,
            bursts: pauses.some(),
            after_burst: false,
            longest_pause: 0,
            longest_wait: LONGEST_WAIT_NS + 2 * pauses.pause_ns(),
            in_flight_ns: 0,
            base,
            end,
        }
    }

    /// When the warm-up began.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Whether it is closed, so that nothing more is begun.
    #[inline(always)]
    pub(crate) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// A burst is over, and the pause after it.
    pub(crate) fn burst_ended(&mut self) {
        self.after_burst = true;
    }

    /// Opens or closes the window after `pause` where it is time to. When the next operations begin, which is later
    /// where that took a while.
    #[inline(always)]
    pub(crate) fn after(&mut self, pause: Pause, work: &Work<'_, u64>, batches: &mut Chooser) -> u64 {
        let (now, length) = (pause.ended, pause.ended - pause.began);
        self.in_flight_ns += pause.in_flight as u128 * u128::from(length);
        let pause_ended = if self.bursts { self.after_burst } else { length * 2 >= self.longest_pause };
        self.after_burst = false;
        match self.state {
            State::Warming if work.over() => self.state = State::Closed,
            State::Warming if now - self.start < self.ramp_ns => {
                self.longest_pause = self.longest_pause.max(length);
                batches.waited(now - self.start, &work.totals, self.live);
            }
            State::Warming if self.common && length >= self.longest_wait && length > 2 * self.longest_pause => {
                self.open_before(pause, work);
                batches.opens();
            }
            State::Warming if pause_ended || now - self.start >= self.ramp_ns + self.longest_wait => {
                self.open(now, work.totals, self.in_flight_ns);
                batches.opens();
                return self.clock.now();
            }
            State::Open if self.is_due(now, pause_ended) || work.over() => {
                self.state = State::Closed;
                self.end.set(now, work.totals, self.in_flight_ns, self.live);
            }
            _ => {}
        }
        now
    }

    #[inline(always)]
    fn is_due(&self, now: u64, pause_ended: bool) -> bool {
        let open_ns = now - self.base.at;
        open_ns >= self.duration_ns && (pause_ended || open_ns >= self.duration_ns + self.longest_wait)
    }

    #[cold]
    fn open(&mut self, at: u64, totals: Totals, in_flight_ns: u128) {
        self.state = State::Open;
        self.base.set(at, totals, in_flight_ns, self.live);
        self.live.reset_extremes();
    }

    /// Opens it where a stall began: what ended the stall is counted.
    #[cold]
    fn open_before(&mut self, stall: Pause, work: &Work<'_, u64>) {
        let stalled_ns = stall.in_flight as u128 * u128::from(stall.ended - stall.began);
        self.open(stall.began, work.totals, self.in_flight_ns - stalled_ns);
        for flight in work.landed(stall.in_flight - work.in_flight()) {
            let latency = stall.ended - flight.times;
            self.base.totals.operations -= 1;
            self.base.totals.bytes -= u64::from(flight.bytes);
            self.base.latencies.take_back(latency);
            self.live.extremes(latency);
        }
    }

    /// What was counted in it; all that was done until `now` where it never closed.
    pub(crate) fn report(self, now: u64, work: &Work<'_, u64>, batching: Batching) -> JobReport {
        let whole = !self.is_closed() || self.end.totals.operations <= self.base.totals.operations;
        let report = JobReport {
            window_ns: now.saturating_sub(self.start),
            operations: work.totals.operations,
            bytes: work.totals.bytes,
            histogram: self.live.histogram(),
            in_flight_ns: self.in_flight_ns,
            service: None,
            unserved: 0,
            late_ns: 0,
            batching: Some(batching),
            whole: true,
            failure: work.failure,
        };
        if whole || self.end.at <= self.base.at {
            return report;
        }
        JobReport {
            window_ns: self.end.at - self.base.at,
            operations: self.end.totals.operations - self.base.totals.operations,
            bytes: self.end.totals.bytes - self.base.totals.bytes,
            histogram: self.end.latencies.since(&self.base.latencies),
            in_flight_ns: self.end.in_flight_ns - self.base.in_flight_ns,
            whole: false,
            ..report
        }
    }
}

// Think time: pauses of a job between its operations.

/// No single sleep is longer, so that a stop is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// When a job pauses, by the operations that it has begun.
pub(crate) struct Pauses {
    /// Number of operations begun before the next pause.
    pub(crate) next_at: u64,
    every: u64,
    pause: Duration,
}

impl Pauses {
    /// Where there is no think time, the next pause never comes.
    pub(crate) fn new(think: Option<Think>) -> Self {
        match think {
            None => Self { next_at: u64::MAX, every: 0, pause: Duration::ZERO },
            Some(think) => {
                let every = u64::from(think.after_operations.max(1));
                Self { next_at: every, every, pause: Duration::from_nanos(think.pause_ns) }
            }
        }
    }

    /// Whether there is any.
    pub(crate) fn some(&self) -> bool {
        self.every > 0
    }

    /// Length of a pause.
    pub(crate) fn pause_ns(&self) -> u64 {
        u64::try_from(self.pause.as_nanos()).unwrap_or(u64::MAX / 4)
    }

    /// Waits, if it is time for that; for no longer where `stop` says so. False where it was not.
    pub(crate) fn take(&mut self, begun: u64, stop: &AtomicBool) -> bool {
        if begun < self.next_at {
            return false;
        }
        self.next_at = begun.saturating_add(self.every);
        let mut left = self.pause;
        while !left.is_zero() && !stop.load(Ordering::Relaxed) {
            let sleep = left.min(LONGEST_SLEEP);
            std::thread::sleep(sleep);
            left -= sleep;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use assay_core::workload::{Op, Pattern, Stop, Workload};

    use super::super::address::JobPlace;
    use super::*;
    use crate::batching::Votes;
    use crate::clock::Clock;
    use crate::contract::{Io, Submit};
    use crate::counters::Live;

    const MS: u64 = 1_000_000;
    const BLOCK: u64 = 4096;
    const RAMP: u64 = 40 * MS;
    const DURATION: u64 = 600 * MS;
    /// Longer than an edge of the window waits.
    const STALL: Duration = Duration::from_millis(500);

    /// A medium that serves the operation with number `stalls_at` in [`STALL`], and others in 5 ms; or, in `lumps`, the first in
    /// 60 ms and others in 2 ms.
    struct Stalling {
        waiting: Vec<u32>,
        served: u64,
        stalls_at: u64,
        lumps: bool,
    }

    impl Engine for Stalling {
        fn buffer(&mut self, _slot: u32) -> &mut [u8] {
            &mut []
        }

        fn submit(&mut self, io: Io) -> Submit {
            self.waiting.push(io.slot);
            Submit::Queued
        }

        fn reap(&mut self, _min: usize, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
            std::thread::sleep(match (self.served, self.lumps) {
                (at, _) if at == self.stalls_at => STALL,
                (0, true) => Duration::from_millis(60),
                (_, true) => Duration::from_millis(2),
                (_, false) => Duration::from_millis(5),
            });
            self.served += 1;
            done(Completion { slot: self.waiting.remove(0), result: BLOCK as i32 });
            Ok(())
        }

        fn reap_within(&mut self, _wait_ns: u64, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
            self.reap(1, done)
        }
    }

    fn run(common: bool, stalls_at: u64) -> JobReport {
        run_on(Stalling { waiting: Vec::new(), served: 0, stalls_at, lumps: false }, common, RAMP)
    }

    fn run_on(mut engine: Stalling, common: bool, ramp_ns: u64) -> JobReport {
        let workload = Workload {
            span_bytes: 1 << 30,
            stop: Stop { ramp_ns, duration_ns: DURATION, max_bytes: None },
            ..Workload::new("w", Op::Read, Pattern::Random, BLOCK)
        };
        let (live, stop) = (Live::new(), AtomicBool::new(false));
        let addresses = Places::new(&workload, JobPlace { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 1 }, None);
        let spec = JobSpec {
            workload: &workload,
            depth: 4,
            quota: u64::MAX,
            byte_quota: u64::MAX,
            job: 0,
            seed: 1,
            clock: Clock::start(),
            live: &live,
            stop: &stop,
            wait_for: Some(1),
            votes: Votes::of_jobs(1),
            flow: None,
            common,
        };
        drive(&mut engine, addresses, &spec)
    }

    fn in_flight(report: &JobReport) -> f64 {
        report.in_flight_ns as f64 / report.window_ns as f64
    }

    /// Operations of the window, those of its histogram, and the mean number in flight agree; and the slowest was counted
    /// where the stall was.
    fn agrees(report: &JobReport, stalled: bool) {
        assert!(!report.whole && report.window_ns >= DURATION, "{report:?}");
        assert_eq!((report.histogram.total(), report.bytes), (report.operations, report.operations * BLOCK));
        // Where the stall were not counted this would be below one; on a busy machine operations come back late.
        assert!((in_flight(report) - 4.0).abs() < 1.0, "{}", in_flight(report));
        let slowest = report.histogram.max().unwrap_or(0);
        assert_eq!(slowest >= STALL.as_nanos() as u64, stalled, "{slowest}");
    }

    /// A stall as the warm-up ends counts where others are measured over the same time, from its begin, be it the very first
    /// operation or a later one.
    #[test]
    fn a_stall_at_the_end_of_the_warm_up_counts_where_others_are_measured_at_once() {
        for stalls_at in [0, 3] {
            let report = run(true, stalls_at);
            agrees(&report, true);
            let stall = STALL.as_nanos() as u64;
            let most = (report.window_ns.max(stall) - stall) / (5 * MS) + 3;
            assert!(report.operations <= most && report.window_ns > stall, "{}", report.operations);
        }
    }

    /// The end of the warm-up waits for the end of a pause where pauses were seen: a stall meanwhile counts, too.
    #[test]
    fn a_stall_counts_where_the_window_waits_for_the_end_of_a_pause() {
        let engine = Stalling { waiting: Vec::new(), served: 0, stalls_at: 12, lumps: true };
        let report = run_on(engine, true, 70 * MS);
        agrees(&report, true);
        assert!(report.operations <= DURATION / (2 * MS), "{}", report.operations);
    }

    /// Alone, what a medium does before it is ready is not measured: waking up, for instance. Operations that waited for it
    /// are, and the window is as long as asked for after it.
    #[test]
    fn alone_a_stall_before_the_window_is_the_mediums_start() {
        let begun = std::time::Instant::now();
        agrees(&run(false, 0), true);
        assert!(begun.elapsed() >= STALL + Duration::from_nanos(DURATION));
        agrees(&run(true, u64::MAX), false);
    }

    #[test]
    fn a_pause_comes_after_so_many_operations_and_ends_with_a_stop() {
        let stop = AtomicBool::new(false);
        let mut pauses = Pauses::new(Some(Think { pause_ns: 60_000_000, after_operations: 3 }));
        let begun = Instant::now();
        assert!(!pauses.take(2, &stop) && pauses.take(3, &stop) && !pauses.take(5, &stop));
        assert!(begun.elapsed() >= Duration::from_millis(60));
        stop.store(true, Ordering::Relaxed);
        let mut long = Pauses::new(Some(Think { pause_ns: 600_000_000_000, after_operations: 3 }));
        let begun = Instant::now();
        assert!(long.take(3, &stop) && begun.elapsed() < Duration::from_secs(300));
        assert!(!Pauses::new(None).take(u64::MAX - 1, &stop));
    }
}
