//! For how many completions the loop of a job waits at once.
//!
//! To wait for the next completion costs a system call, and often a wake-up. Where operations complete faster than
//! that, the host is the limit and not the medium, and to wait for several at once leaves more of the host to the
//! operations. Whether it does is tried in the second half of the warm-up, in turns with waiting for one, and kept for
//! the window. Those that completed first then wait to be seen: latencies hold that, and the trial says how much.
//!
//! An operation is in flight until it is seen, as ever: by that count the queue stays full. The kernel has fewer to
//! work on, by up to one fewer than are waited for, which is why those are a part of the queue only ([`most`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_core::histogram::Histogram;

use crate::counters::{Live, Snapshot, Totals};

/// No more than the queue depth by this is waited for.
const PART: u32 = 4;
/// An upper bound of what a wait with a wake-up costs, small processors included. Where an operation takes longer than
/// this, the medium is the limit and nothing is tried.
const WAIT_NS: u64 = 20_000;
/// Shorter stretches than this tell nothing.
const SHORTEST_NS: u64 = 5_000_000;
/// Whether a stretch of the trial waits for several: each pair of neighbours has both, in alternating order.
const SEVERAL: [bool; 16] =
    [false, true, true, false, false, true, true, false, false, true, true, false, false, true, true, false];
/// Stretches in the second half of the warm-up; in the last of them the choice is used already.
const STRETCHES: u64 = SEVERAL.len() as u64 + 1;
/// Waiting for several is chosen where it is faster by this much over all pairs of neighbours, ...
const LEAST_GAIN: f64 = 1.01;
/// ... and where the mean of the pairs' ratios, on logarithms, is above its standard error. That is no proof: waiting for
/// several in vain costs latency, which the trial tells, and waiting for one in vain costs rate. Pairs scatter by 20 to
/// 50 % on a virtual machine, whether their stretches last 2 or 27 ms, and a test at 5 % found a gain of 15 % there in one
/// run of three.
const LEAST_T: f64 = 1.0;

/// How many completions a job of this queue depth may wait for.
pub(crate) fn most(depth: u32) -> u32 {
    (depth / PART).max(1)
}

/// What was waited for, and what trying it out showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Batching {
    /// Completions that were waited for at once.
    pub wait_for: u32,
    /// None where it was plain, or chosen before.
    pub trial: Option<Trial>,
}

/// Waiting for one completion and for several, in turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What was waited for in turns with one.
    pub several: u32,
    /// What waiting for one gave.
    pub by_one: Stretch,
    /// What waiting for several gave.
    pub by_several: Stretch,
}

/// What completed in some time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stretch {
    /// Operations.
    pub operations: u64,
    /// Time in nanoseconds.
    pub elapsed_ns: u64,
    /// Their latencies.
    pub histogram: Histogram,
}

impl Stretch {
    fn rate(&self) -> f64 {
        self.operations as f64 / self.elapsed_ns.max(1) as f64
    }

    fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.elapsed_ns += other.elapsed_ns;
        self.histogram.merge(&other.histogram);
    }
}

impl Batching {
    /// That of all jobs of a workload: what all of them waited for, or one, and their trials together.
    pub(crate) fn of_all(jobs: impl Iterator<Item = Self>) -> Option<Self> {
        let mut wait_for: Option<u32> = None;
        let mut trial: Option<Trial> = None;
        for job in jobs {
            wait_for = Some(wait_for.map_or(job.wait_for, |all| all.min(job.wait_for)));
            match (&mut trial, job.trial) {
                (Some(all), Some(one)) => {
                    all.by_one.add(&one.by_one);
                    all.by_several.add(&one.by_several);
                }
                (all, one) => *all = all.take().or(one),
            }
        }
        Some(Self { wait_for: wait_for?, trial })
    }
}

/// What the jobs of a workload found to be faster, so that all wait alike.
#[derive(Debug, Clone)]
pub(crate) struct Votes {
    jobs: usize,
    for_several: Arc<AtomicUsize>,
}

impl Votes {
    pub(crate) fn of_jobs(jobs: usize) -> Self {
        Self { jobs, for_several: Arc::default() }
    }

    fn all_for_several(&self) -> bool {
        self.for_several.load(Ordering::Relaxed) == self.jobs
    }
}

/// Chooses during the warm-up.
pub(crate) struct Chooser {
    /// For how many completions the loop is to wait now.
    pub(crate) wait_for: usize,
    depth: u32,
    several: u32,
    half_ns: u64,
    phase: Phase,
    votes: Votes,
}

enum Phase {
    Settled(Option<Trial>),
    /// Counts the waits of the first half.
    Watching {
        waits: u64,
    },
    Trying(Box<Trying>),
}

struct Trying {
    begun: Begun,
    latencies: Snapshot,
    rates: [f64; SEVERAL.len()],
    by_one: Stretch,
    by_several: Stretch,
}

/// Where a stretch began.
#[derive(Clone, Copy, Default)]
struct Begun {
    number: u64,
    at_ns: u64,
    operations: u64,
}

impl Chooser {
    /// Waits for `known` completions, where that was chosen before; otherwise chooses in a warm-up of `ramp_ns`.
    pub(crate) fn new(depth: u32, ramp_ns: u64, known: Option<u32>, votes: Votes) -> Self {
        let several = most(depth);
        let half_ns = ramp_ns / 2;
        let wait_for = known.map_or(1, |known| known.clamp(1, several));
        let tries = known.is_none() && several > 1 && half_ns / STRETCHES >= SHORTEST_NS;
        let phase = if tries { Phase::Watching { waits: 0 } } else { Phase::Settled(None) };
        Self { wait_for: wait_for as usize, depth, several, half_ns, phase, votes }
    }

    /// Takes note of a wait that ended `elapsed_ns` after the start, with all operations so far.
    #[inline]
    pub(crate) fn waited(&mut self, elapsed_ns: u64, totals: &Totals, live: &Live) {
        match &mut self.phase {
            Phase::Settled(_) => {}
            Phase::Watching { waits } => {
                *waits += 1;
                if elapsed_ns >= self.half_ns {
                    let host_is_limit = elapsed_ns / totals.operations.max(1) < WAIT_NS;
                    // The whole queue comes at once where the kernel completes operations while they are submitted.
                    let all_at_once = totals.operations / *waits >= u64::from(self.depth) * 3 / 4;
                    self.phase = if host_is_limit && !all_at_once { self.trying() } else { Phase::Settled(None) };
                }
            }
            Phase::Trying(trying) => {
                let number = (elapsed_ns - self.half_ns) / (self.half_ns / STRETCHES);
                if number == trying.begun.number {
                    return;
                }
                trying.end_stretch(elapsed_ns, totals, live);
                let wait_for = match SEVERAL.get(number as usize) {
                    Some(several) => {
                        trying.begin_stretch(Begun { number, at_ns: elapsed_ns, operations: totals.operations }, live);
                        if *several { self.several } else { 1 }
                    }
                    None => {
                        let faster = trying.several_is_faster();
                        if faster {
                            self.votes.for_several.fetch_add(1, Ordering::Relaxed);
                        }
                        let chosen = if faster { self.several } else { 1 };
                        let trial = trying.trial(self.several);
                        self.phase = Phase::Settled(Some(trial));
                        chosen
                    }
                };
                self.wait_for = wait_for as usize;
            }
        }
    }

    fn trying(&self) -> Phase {
        Phase::Trying(Box::new(Trying {
            // The time up to the first stretch belongs to none.
            begun: Begun { number: u64::MAX, ..Begun::default() },
            latencies: Snapshot::new(),
            rates: [0.0; SEVERAL.len()],
            by_one: Stretch::default(),
            by_several: Stretch::default(),
        }))
    }

    /// The window opens: from now on all jobs wait alike, for one where they do not agree or where a trial was cut short.
    pub(crate) fn opens(&mut self) {
        match &self.phase {
            Phase::Settled(None) => {}
            Phase::Settled(Some(_)) if self.votes.all_for_several() => {}
            Phase::Settled(Some(_)) => self.wait_for = 1,
            Phase::Watching { .. } | Phase::Trying(_) => (self.wait_for, self.phase) = (1, Phase::Settled(None)),
        }
    }

    /// What was chosen.
    pub(crate) fn chosen(mut self) -> Batching {
        self.opens();
        let trial = match self.phase {
            Phase::Settled(trial) => trial,
            Phase::Watching { .. } | Phase::Trying(_) => None,
        };
        Batching { wait_for: self.wait_for as u32, trial }
    }
}

impl Trying {
    fn begin_stretch(&mut self, begun: Begun, live: &Live) {
        self.begun = begun;
        live.snapshot(&mut self.latencies);
    }

    fn end_stretch(&mut self, elapsed_ns: u64, totals: &Totals, live: &Live) {
        let Some(several) = SEVERAL.get(self.begun.number as usize) else { return };
        let mut now = Snapshot::new();
        live.snapshot(&mut now);
        let stretch = Stretch {
            operations: totals.operations - self.begun.operations,
            elapsed_ns: elapsed_ns - self.begun.at_ns,
            histogram: now.since(&self.latencies),
        };
        self.rates[self.begun.number as usize] = stretch.rate();
        if *several { self.by_several.add(&stretch) } else { self.by_one.add(&stretch) }
    }

    fn several_is_faster(&self) -> bool {
        let ratio = |(rates, several): (&[f64], &[bool])| {
            let (by_several, by_one) = if several[0] { (rates[0], rates[1]) } else { (rates[1], rates[0]) };
            // A stretch that a stall left out decides nothing.
            (by_several > 0.0 && by_one > 0.0).then(|| (by_several / by_one).ln())
        };
        let pairs: Option<Vec<f64>> = self.rates.chunks(2).zip(SEVERAL.chunks(2)).map(ratio).collect();
        let Some(pairs) = pairs else { return false };
        let n = pairs.len() as f64;
        let mean = pairs.iter().sum::<f64>() / n;
        let variance = pairs.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (n - 1.0);
        mean > LEAST_GAIN.ln() && mean > LEAST_T * (variance / n).sqrt()
    }

    fn trial(&mut self, several: u32) -> Trial {
        Trial { several, by_one: std::mem::take(&mut self.by_one), by_several: std::mem::take(&mut self.by_several) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAMP_NS: u64 = 500_000_000;

    /// The choice of a job at QD32 where operations take `ns[0]` each when waited for one by one, and `ns[1]` when waited for
    /// by several; `at_once` are seen in each wait for one.
    fn choice(ns: [f64; 2], at_once: u64, known: Option<u32>) -> Batching {
        let mut chooser = Chooser::new(32, RAMP_NS, known, Votes::of_jobs(1));
        let live = Live::new();
        let mut totals = Totals::default();
        let (mut now, mut sum_ns) = (0.0f64, 0);
        while now < RAMP_NS as f64 {
            let seen = at_once.max(chooser.wait_for as u64);
            let each = ns[usize::from(chooser.wait_for > 1)];
            now += each * seen as f64;
            for _ in 0..seen {
                live.latency((each * 32.0) as u64);
                sum_ns += (each * 32.0) as u64;
            }
            totals.operations += seen;
            live.publish(totals, sum_ns);
            chooser.waited(now as u64, &totals, &live);
        }
        chooser.chosen()
    }

    #[test]
    fn a_host_that_is_the_limit_waits_for_several() {
        let chosen = choice([4000.0, 3600.0], 1, None);
        assert_eq!(chosen.wait_for, 8);
        let trial = chosen.trial.unwrap();
        let gain = trial.by_several.rate() / trial.by_one.rate();
        assert!((gain - 4.0 / 3.6).abs() < 0.01, "{gain}");
        let p50 = |stretch: &Stretch| stretch.histogram.quantile(0.5).unwrap();
        assert!((p50(&trial.by_one) / 128_000.0 - 1.0).abs() < 0.01, "{}", p50(&trial.by_one));
        assert!((p50(&trial.by_several) / 115_200.0 - 1.0).abs() < 0.01, "{}", p50(&trial.by_several));
        assert_eq!(trial.by_several.histogram.total(), trial.by_several.operations);
    }

    #[test]
    fn where_it_gains_nothing_one_is_waited_for_and_the_trial_is_told() {
        let chosen = choice([4000.0, 3990.0], 1, None);
        assert_eq!((chosen.wait_for, chosen.trial.is_some()), (1, true));
        assert_eq!(choice([3600.0, 4000.0], 1, None).wait_for, 1);
    }

    #[test]
    fn nothing_is_tried_where_the_medium_is_the_limit_or_several_come_anyway_or_it_is_known() {
        let medium = choice([25_000.0, 10_000.0], 1, None);
        assert_eq!(medium, Batching { wait_for: 1, trial: None });
        let at_once = choice([400.0, 100.0], 32, None);
        assert_eq!(at_once, Batching { wait_for: 1, trial: None });
        assert_eq!(choice([4000.0, 3600.0], 1, Some(1)), Batching { wait_for: 1, trial: None });
        assert_eq!(choice([4000.0, 4000.0], 1, Some(8)), Batching { wait_for: 8, trial: None });
        assert_eq!(choice([4000.0, 4000.0], 1, Some(400)).wait_for, 8, "no more than the depth allows");
        let shallow = Chooser::new(7, RAMP_NS, None, Votes::of_jobs(1)).chosen();
        assert_eq!(shallow, Batching { wait_for: 1, trial: None });
        let short = Chooser::new(32, 80_000_000, None, Votes::of_jobs(1)).chosen();
        assert_eq!(short, Batching { wait_for: 1, trial: None });
    }

    #[test]
    fn a_quarter_of_the_queue_is_waited_for_at_most() {
        let depths = [(1, 1), (4, 1), (7, 1), (8, 2), (16, 4), (32, 8), (100, 25)];
        for (depth, waited) in depths {
            assert_eq!(most(depth), waited, "{depth}");
        }
    }

    #[test]
    fn jobs_tell_one_choice() {
        let stretch = |operations| Stretch { operations, elapsed_ns: 1000, histogram: Histogram::default() };
        let job = |wait_for, several| Batching {
            wait_for,
            trial: Some(Trial { several: 4, by_one: stretch(10), by_several: stretch(several) }),
        };
        let all = Batching::of_all([job(4, 12), job(1, 9), job(4, 13)].into_iter()).unwrap();
        let trial = all.trial.unwrap();
        assert_eq!((all.wait_for, trial.by_one.operations, trial.by_several.operations), (1, 30, 34));
        assert_eq!(trial.by_one.elapsed_ns, 3000);
        assert_eq!(Batching::of_all(std::iter::empty()), None);
    }

    /// A warm-up at the speed of several operations; its first `noise` stretches lie off by chance, with a stall of
    /// `stall_ns` from a moment on.
    fn warm(chooser: &mut Chooser, ratio: f64, noise: &[f64], stall: Option<(u64, u64)>) {
        let live = Live::new();
        let mut totals = Totals::default();
        let (mut now, mut operations) = (0.0f64, 0);
        let mut stall = stall;
        while now < RAMP_NS as f64 {
            let number = ((now - 250e6).max(0.0) / (250e6 / STRETCHES as f64)) as usize;
            let each = 4000.0 * noise.get(number).unwrap_or(&1.0) / if chooser.wait_for > 1 { ratio } else { 1.0 };
            now += each * chooser.wait_for as f64;
            if let Some((_, length)) = stall.filter(|(at, _)| now >= *at as f64) {
                now += length as f64;
                stall = None;
            }
            operations += chooser.wait_for as u64;
            totals.operations = operations;
            live.publish(totals, 0);
            if now < RAMP_NS as f64 {
                chooser.waited(now as u64, &totals, &live);
            }
        }
    }

    #[test]
    fn a_gain_within_the_noise_of_the_stretches_is_none() {
        let mut chooser = Chooser::new(32, RAMP_NS, None, Votes::of_jobs(1));
        // Half of the pairs and 1.2 % over all, but by the noise of single stretches.
        let noise = [1.0, 0.85, 1.05, 1.0, 1.0, 1.02, 0.99, 1.0, 1.0, 0.92, 1.1, 1.0, 1.0, 1.03, 0.97, 1.0];
        warm(&mut chooser, 1.0, &noise, None);
        chooser.opens();
        assert_eq!(chooser.chosen().wait_for, 1);
        let mut chooser = Chooser::new(32, RAMP_NS, None, Votes::of_jobs(1));
        warm(&mut chooser, 1.05, &[1.0, 0.99, 1.0, 1.01, 1.0, 1.01, 0.99, 1.0], None);
        chooser.opens();
        assert_eq!(chooser.chosen().wait_for, 8);
    }

    /// A stall from within the trial to beyond the warm-up leaves no trial; one that skips stretches decides nothing.
    #[test]
    fn a_trial_that_was_cut_short_is_not_kept() {
        for (at, length) in [(290_000_000, 400_000_000), (300_000_000, 60_000_000)] {
            let mut chooser = Chooser::new(32, RAMP_NS, None, Votes::of_jobs(1));
            warm(&mut chooser, 1.2, &[], Some((at, length)));
            chooser.opens();
            assert_eq!(chooser.wait_for, 1, "{at} {length}");
            assert_eq!(chooser.chosen().wait_for, 1);
        }
    }

    #[test]
    fn jobs_wait_for_several_only_where_all_of_them_gain_by_it() {
        let votes = Votes::of_jobs(2);
        let mut jobs = [1.2, 1.2].map(|ratio| (Chooser::new(32, RAMP_NS, None, votes.clone()), ratio));
        jobs.iter_mut().for_each(|(chooser, ratio)| warm(chooser, *ratio, &[], None));
        jobs.iter_mut().for_each(|(chooser, _)| chooser.opens());
        assert_eq!(jobs.map(|(chooser, _)| chooser.wait_for), [8, 8]);
        let votes = Votes::of_jobs(2);
        let mut jobs = [1.2, 0.9].map(|ratio| (Chooser::new(32, RAMP_NS, None, votes.clone()), ratio));
        jobs.iter_mut().for_each(|(chooser, ratio)| warm(chooser, *ratio, &[], None));
        jobs.iter_mut().for_each(|(chooser, _)| chooser.opens());
        assert_eq!(jobs.map(|(chooser, _)| chooser.chosen().wait_for), [1, 1]);
    }
}
