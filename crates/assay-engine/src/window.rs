//! The measured part of a closed loop: when it opens and closes, and what was counted in between.
//!
//! The window opens with the first completion after the warm-up and closes with the first completion after its end.
//! Operations of the opening batch are not counted, those of the closing batch are: the window is a whole number of
//! intervals between completions, so a device that completes in lumps (or twice a second) is not over- or undercounted at
//! the edges, and a stall that is under way at the end is waited for and counted (Wald's identity: the expected time of N
//! intervals is N times the mean interval, also when N is a stopping time).
//!
//! Where completions come in lumps of many batches (a throttle that hands out a tenth of a second at a time, a medium that
//! pauses to collect garbage), both edges are put where a pause ends, so that the window holds whole lumps. What counts as a
//! pause is learnt during the warm-up, and neither edge waits for one longer than [`LONGEST_WAIT_NS`].
//!
//! Where others share the medium or its link and are measured over the same time, a stall between the warm-up and the window
//! is counted: the window opens where the stall began. Opened at its end, the window of a job that got nothing would lie after
//! those of the others and show the medium to itself. A stall is longer than an edge waits, and than twice what was seen in
//! the warm-up.

use crate::batching::{Batching, Chooser};
use crate::clock::Clock;
use crate::counters::{Live, Snapshot, Totals};
use crate::job::{JobReport, JobSpec};
use crate::pauses::Pauses;
use crate::work::Work;

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
