//! Clocks: that of a node by that of the coordinator, its own, and a start at a time of day.
//!
//! Wall clocks are never compared. Four time stamps are taken of a question and its answer (RFC 5905, section 8): sent and
//! received by the node's monotonic clock, received and sent by the coordinator's. The offset is off by half the round trip
//! at most, however unequal both ways are.

use std::time::Duration;

use assay_core::cluster::{ClockFit, ClusterPart};
use assay_engine::{Control, monotonic};
use assay_runner::{Rendezvous, RepeatStep, Start, Word};

/// Two clocks drift apart by this much at most: quartz oscillators of small computers keep within 100 parts per million each.
pub(crate) const MOST_DRIFT_PPM: f64 = 200.0;

/// One question and its answer, all in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Sent, by the node's clock.
    pub sent: i64,
    /// Received, by the coordinator's clock.
    pub received: i64,
    /// Answered, by the coordinator's clock.
    pub answered: i64,
    /// The answer received, by the node's clock.
    pub back: i64,
}

impl Exchange {
    /// Coordinator's clock minus the node's.
    #[must_use]
    pub fn offset_ns(&self) -> i64 {
        let there = i128::from(self.received) - i128::from(self.sent);
        let here = i128::from(self.answered) - i128::from(self.back);
        i64::try_from((there + here) / 2).unwrap_or(i64::MAX)
    }

    /// The time on the way, both ways.
    #[must_use]
    pub fn round_trip_ns(&self) -> u64 {
        let all = i128::from(self.back) - i128::from(self.sent);
        let there = i128::from(self.answered) - i128::from(self.received);
        u64::try_from(all - there).unwrap_or(0)
    }

    /// How far off the offset may be at `at`, by the node's clock.
    fn bound_ns(&self, at: i64) -> u64 {
        let age = i128::from(at) - i128::from(self.back);
        let drift = age.unsigned_abs() as f64 * MOST_DRIFT_PPM / 1e6;
        // Halves of nanoseconds were cut off.
        (self.round_trip_ns().div_ceil(2) + 1).saturating_add(drift.ceil() as u64)
    }
}

/// An offset with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// Coordinator's clock minus the node's, in nanoseconds.
    pub ns: i64,
    /// It is off by this much at most, in nanoseconds.
    pub bound_ns: u64,
}

/// All exchanges of a node that may still tell something.
#[derive(Debug, Clone, Default)]
pub struct Clocks {
    first: Vec<Exchange>,
    recent: Vec<Exchange>,
    /// At the first common start.
    fit: Option<ClockFit>,
}

impl Clocks {
    /// Takes note of an exchange of the first series.
    pub(crate) fn add_first(&mut self, exchange: Exchange) {
        self.first.push(exchange);
    }

    /// Begins a new series: of the last one the best is kept.
    pub(crate) fn begin_series(&mut self) {
        if let Some(best) = best(&self.recent) {
            self.recent = vec![best];
        }
    }

    /// Takes note of an exchange of a later series.
    pub fn add(&mut self, exchange: Exchange) {
        self.recent.push(exchange);
    }

    /// The offset at `at`, by the node's clock: that of the exchange which bounds it best.
    #[must_use]
    pub fn at(&self, at: i64) -> Option<Offset> {
        let all = self.first.iter().chain(&self.recent);
        let best = all.min_by_key(|exchange| exchange.bound_ns(at))?;
        let offset_by = |exchange: &Exchange| Offset { ns: exchange.offset_ns(), bound_ns: exchange.bound_ns(at) };
        // A clock that stopped (suspend) or was set meanwhile contradicts earlier exchanges: the newest counts.
        let newest = self.recent.last().or(self.first.last()).map_or_else(|| offset_by(best), offset_by);
        let best = offset_by(best);
        let apart = i128::from(best.ns) - i128::from(newest.ns);
        let contradicts = apart.unsigned_abs() > u128::from(best.bound_ns) + u128::from(newest.bound_ns);
        Some(if contradicts { newest } else { best })
    }

    /// Notes the offset of the first common start, at `at` by the node's clock.
    pub fn starts(&mut self, at: i64) {
        if self.fit.is_some() {
            return;
        }
        let Some(offset) = self.at(at) else { return };
        let all: Vec<Exchange> = self.first.iter().chain(&self.recent).copied().collect();
        self.fit = Some(ClockFit {
            offset_ns: offset.ns,
            bound_ns: offset.bound_ns,
            round_trip_ns: all.iter().map(Exchange::round_trip_ns).min().unwrap_or(0),
            exchanges: u32::try_from(all.len()).unwrap_or(u32::MAX),
            drift_ppm: None,
            drift_bound_ppm: None,
        });
    }

    /// What to tell of the clock at the end of the run: the drift is that from the first series to the last one.
    #[must_use]
    pub fn fit(&self) -> Option<ClockFit> {
        let mut fit = self.fit.clone()?;
        if let (Some(first), Some(last)) = (best(&self.first), best(&self.recent)) {
            let time = (i128::from(last.back) - i128::from(first.back)) as f64;
            if time > 0.0 {
                let moved = (i128::from(last.offset_ns()) - i128::from(first.offset_ns())) as f64;
                let bound = (first.round_trip_ns() as f64 + last.round_trip_ns() as f64) / 2.0 + 2.0;
                fit.drift_ppm = Some(moved / time * 1e6);
                fit.drift_bound_ppm = Some(bound / time * 1e6);
            }
        }
        Some(fit)
    }
}

fn best(exchanges: &[Exchange]) -> Option<Exchange> {
    exchanges.iter().min_by_key(|exchange| exchange.round_trip_ns()).copied()
}

// The clock of a node, which its coordinator knows to a bound.

/// The monotonic clock of a node, counted from an instant of its own; off by what a test says.
#[derive(Debug, Clone, Copy)]
pub struct NodeClock {
    origin: u64,
    ahead_ns: i64,
    drift_ppm: f64,
}

impl Default for NodeClock {
    fn default() -> Self {
        Self::off(0, 0.0)
    }
}

impl NodeClock {
    /// A clock that is `ahead_ns` ahead now, and runs faster by `drift_ppm` parts per million: for tests.
    #[must_use]
    pub fn off(ahead_ns: i64, drift_ppm: f64) -> Self {
        Self { origin: monotonic(), ahead_ns, drift_ppm }
    }

    /// The reading of the clock.
    pub(crate) fn now(&self) -> i64 {
        let true_ns = monotonic().saturating_sub(self.origin);
        let drifted = (true_ns as f64 * self.drift_ppm / 1e6) as i64;
        i64::try_from(true_ns).unwrap_or(i64::MAX) + self.ahead_ns + drifted
    }

    /// What [`monotonic`] reads when this one reads `at`.
    pub(crate) fn monotonic_at(&self, at: i64) -> u64 {
        let since = at - self.ahead_ns;
        let true_ns = since - (since as f64 * (self.drift_ppm / 1e6) / (1.0 + self.drift_ppm / 1e6)) as i64;
        self.origin.saturating_add_signed(true_ns)
    }
}

// A start at a time of day, without a coordinator.

/// How often it is looked for the end of the run while waiting.
const APPOINTMENT_TICK: Duration = Duration::from_millis(50);

/// The first repeat begins at one moment; the others follow as ever. How far the clocks of two hosts are apart is then for
/// those to know who set them.
#[derive(Debug)]
pub struct Appointment {
    /// By the monotonic clock, in nanoseconds.
    at_ns: Option<u64>,
}

impl Appointment {
    /// In so long from now.
    #[must_use]
    pub fn after(left: Duration) -> Self {
        Self { at_ns: Some(monotonic() + left.as_nanos() as u64) }
    }
}

impl Rendezvous for Appointment {
    fn ready(&mut self, _: RepeatStep, control: &Control) -> Word {
        let Some(at_ns) = self.at_ns.take() else { return Word::Alone };
        // The last of it is slept by who begins.
        while monotonic() + (2 * APPOINTMENT_TICK + assay_runner::SET_UP).as_nanos() as u64 <= at_ns
            && !control.stopped()
        {
            std::thread::sleep(APPOINTMENT_TICK);
        }
        if control.stopped() {
            return Word::Alone;
        }
        Word::Begin(Start { at_ns, planned_ns: 0, bound_ns: None, nodes: 1 })
    }

    fn part(&mut self, _whole: bool) -> Option<ClusterPart> {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An exchange at `at` by the true time, of a node whose clock is ahead by `-offset` and runs slower by `drift_ppm`.
    fn exchange(at: i64, (offset, drift_ppm): (i64, f64), ways: (i64, i64)) -> Exchange {
        let node = |t: i64| t - offset - (t as f64 * drift_ppm / 1e6) as i64;
        let (there, answered) = (at + ways.0, at + ways.0 + 5_000);
        Exchange { sent: node(at), received: there, answered, back: node(answered + ways.1) }
    }

    proptest! {
        /// Offsets up to 10 s, drifts up to 100 ppm, ways of any length either way.
        #[test]
        fn the_true_offset_lies_within_the_bound(
            offset in -10_000_000_000i64..10_000_000_000,
            drift in -100.0f64..100.0,
            ways in proptest::collection::vec((0i64..20_000_000, 0i64..20_000_000), 1..40),
            wait in 0i64..10_000_000_000,
        ) {
            let mut clocks = Clocks::default();
            let mut at = 1_000_000_000;
            for way in ways {
                clocks.add_first(exchange(at, (offset, drift), way));
                at += 50_000_000;
            }
            let true_time = at + wait;
            let node_time = true_time - offset - (true_time as f64 * drift / 1e6) as i64;
            let offset_by = clocks.at(node_time).unwrap();
            let error = (node_time + offset_by.ns - true_time).unsigned_abs();
            prop_assert!(error <= offset_by.bound_ns, "{error} {}", offset_by.bound_ns);
        }
    }

    #[test]
    fn drift_is_told_with_its_bound() {
        let mut clocks = Clocks::default();
        (0..32).for_each(|n| clocks.add_first(exchange(n * 1_000_000, (7_000_000, 40.0), (100_000, 300_000))));
        clocks.starts(1_000_000_000);
        clocks.begin_series();
        (0..8)
            .for_each(|n| clocks.add(exchange(100_000_000_000 + n * 1_000_000, (7_000_000, 40.0), (200_000, 90_000))));
        let fit = clocks.fit().unwrap();
        let (drift, bound) = (fit.drift_ppm.unwrap(), fit.drift_bound_ppm.unwrap());
        assert!((drift - 40.0).abs() <= bound && bound < 5.0, "{drift} {bound}");
        assert_eq!((fit.exchanges, fit.round_trip_ns), (32, 400_000 - 16));
        assert!(fit.bound_ns >= 200_000 && fit.bound_ns < 500_000, "{}", fit.bound_ns);
    }

    #[test]
    fn a_clock_that_stood_still_is_believed_as_it_is_now() {
        let mut clocks = Clocks::default();
        clocks.add_first(exchange(0, (0, 0.0), (10_000, 10_000)));
        // An hour of suspend.
        clocks.add(exchange(10_000_000_000, (3_600_000_000_000, 0.0), (100_000, 100_000)));
        let node_time = 10_001_000_000 - 3_600_000_000_000;
        assert_eq!(clocks.at(node_time).unwrap().ns, 3_600_000_000_000);
    }

    /// Arbitrary time stamps from a lying peer.
    #[test]
    fn no_time_stamp_is_too_absurd() {
        let all = [i64::MIN, -1, 0, 1, i64::MAX];
        for (sent, received) in all.iter().flat_map(|a| all.map(|b| (*a, b))) {
            for (answered, back) in all.iter().flat_map(|a| all.map(|b| (*a, b))) {
                let mut clocks = Clocks::default();
                clocks.add_first(Exchange { sent, received, answered, back });
                all.iter().for_each(|at| assert!(clocks.at(*at).is_some()));
                clocks.starts(0);
                clocks.add(Exchange { sent: 0, received, answered, back: i64::MAX });
                assert!(clocks.fit().is_some());
            }
        }
    }

    #[test]
    fn an_old_good_exchange_beats_a_fresh_bad_one_until_drift_has_eaten_it() {
        let mut clocks = Clocks::default();
        clocks.add_first(exchange(0, (0, 0.0), (10_000, 10_000)));
        clocks.add(exchange(1_000_000_000, (0, 0.0), (0, 1_000_000)));
        assert_eq!(clocks.at(1_100_000_000).unwrap().ns, 0);
        clocks.add(exchange(10_000_000_000, (0, 0.0), (0, 1_000_000)));
        assert_eq!(clocks.at(10_100_000_000).unwrap().ns, -500_000);
    }

    #[test]
    fn the_first_repeat_alone_has_an_appointment() {
        let (mut appointment, control) = (Appointment::after(Duration::from_millis(400)), Control::default());
        let before = monotonic();
        let step = RepeatStep { stage: 0, round: 0, workload: 0 };
        let Word::Begin(start) = appointment.ready(step, &control) else { panic!("no start") };
        assert!(start.at_ns >= before + 390_000_000 && monotonic() < start.at_ns, "{start:?}");
        assert_eq!((appointment.ready(step, &control), appointment.part(true)), (Word::Alone, None));
        control.stop();
        assert_eq!(Appointment::after(Duration::from_secs(3600)).ready(step, &control), Word::Alone);
    }
}
