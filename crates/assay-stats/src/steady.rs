//! When a repeat has lasted long enough: start-up transient, batch means, half width, drift.
//!
//! A repeat is watched in bins of about a second. From time to time the rule looks at all bins
//! after the warm-up: it drops a prefix that was clearly faster than the rest (a cache that filled
//! up; a slow prefix is the medium's own doing and stays), cuts the rest into batches, and asks
//! whether the mean is known well enough and does not drift. The interval within one repeat is a
//! gate only: under optional stopping it covers too little to be published.
//!
//! MSER-5: White, Cobb and Spratt (2000), "A comparison of five steady-state truncation
//! heuristics for simulation". Batch means: Law, "Simulation Modeling and Analysis", chapter 9.
//! The constants come from simulated media (stalls, cache cliffs, heat, slow decay).

use assay_core::soak::SteadyStatus;

use crate::interval::{LEVEL, student_t};

/// Batches that the kept part is cut into.
const BATCHES: usize = 10;
/// Fewer batches than this say nothing about their spread.
const LEAST_BATCHES: usize = 3;
/// Looks in a row that must be good: a lucky one does not end a repeat.
const CONFIRM: u32 = 2;
/// The fitted change over the kept part, relative to its mean, may be this.
const DRIFT: f64 = 0.05;
/// Least operations in the kept part: the error of a Poisson count of 500 is 4.5 %.
const LEAST_OPERATIONS: u64 = 500;
/// A prefix up to this share of the bins may be dropped; one that long is not over yet.
const LARGEST_PREFIX: f64 = 0.5;
/// A prefix is dropped only where it was faster than the rest by this factor.
const FAST: f64 = 1.10;
/// Correlation of neighbouring batches is corrected up to this.
const LARGEST_LAG1: f64 = 0.8;
/// Least operations in a bin; slow media get longer bins.
const OPERATIONS_PER_BIN: f64 = 25.0;

/// How long a repeat lasts, and how well it must be known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyLimits {
    /// Seconds at the start that are ignored.
    pub ramp: f64,
    /// Seconds from the start until the first look.
    pub least: f64,
    /// Seconds from the start until it ends in any case.
    pub cap: f64,
    /// Seconds between looks.
    pub step: f64,
    /// Relative half width of the interval that is good enough.
    pub half_width: f64,
}

impl SteadyLimits {
    /// Repeats that only read.
    pub const READ: Self = Self { ramp: 5.0, least: 20.0, cap: 60.0, step: 5.0, half_width: 0.03 };
    /// Repeats that write: outlasts caches of 20 to 120 s.
    pub const WRITE: Self = Self { ramp: 30.0, least: 180.0, cap: 300.0, step: 5.0, half_width: 0.10 };

    /// The same limits with all times in proportion to a cap of at most `seconds`.
    #[must_use]
    pub fn within(self, seconds: f64) -> Self {
        let factor = (seconds / self.cap).clamp(0.0, 1.0);
        Self {
            ramp: self.ramp * factor,
            least: self.least * factor,
            cap: self.cap * factor,
            step: self.step * factor,
            ..self
        }
    }
}

/// One interval of a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bin {
    /// Its length in seconds.
    pub seconds: f64,
    /// Operations completed in it.
    pub operations: u64,
    /// Bytes moved in it.
    pub bytes: u64,
}

impl Bin {
    fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.operations as f64 / self.seconds } else { 0.0 }
    }

    fn sum(bins: &[Self]) -> Self {
        bins.iter().fold(Self::default(), |sum, bin| Self {
            seconds: sum.seconds + bin.seconds,
            operations: sum.operations + bin.operations,
            bytes: sum.bytes + bin.bytes,
        })
    }
}

/// What a look at a repeat finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// Operations per second over the kept part: all operations by all time.
    pub operations_per_second: f64,
    /// Bytes per second over the kept part.
    pub bytes_per_second: f64,
    /// Relative half width of the interval, at 95 %.
    pub half_width: f64,
    /// Fitted change over the kept part, relative to its mean.
    pub drift: f64,
    /// Correlation of neighbouring batch means.
    pub lag1: f64,
    /// Seconds after the warm-up that were dropped.
    pub dropped: f64,
    /// Seconds of the kept part.
    pub kept: f64,
    /// Operations of the kept part.
    pub operations: u64,
    /// The fast prefix reaches as far as a prefix may: it is not over yet.
    pub transient: bool,
}

impl Steadiness {
    fn good(&self, limits: &SteadyLimits) -> bool {
        !self.transient
            && self.half_width <= limits.half_width
            && self.drift <= DRIFT
            && self.operations >= LEAST_OPERATIONS
    }
}

/// How a repeat ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyEnd {
    /// The final status.
    pub status: SteadyStatus,
    /// The result of the last look; `None` where the repeat was too short.
    pub seen: Option<Steadiness>,
}

impl SteadyEnd {
    const TOO_SHORT: Self = Self { status: SteadyStatus::TooShort, seen: None };

    fn with_status(status: SteadyStatus, seen: Steadiness) -> Self {
        Self { status, seen: Some(seen) }
    }
}

/// The rule over one repeat.
#[derive(Debug, Clone)]
pub struct StopRule {
    limits: SteadyLimits,
    elapsed: f64,
    next_look: f64,
    bins: Vec<Bin>,
    confirmed: u32,
}

impl StopRule {
    /// A rule that has seen nothing yet.
    #[must_use]
    pub fn new(limits: SteadyLimits) -> Self {
        Self { limits, elapsed: 0.0, next_look: limits.least, bins: Vec::new(), confirmed: 0 }
    }

    /// Takes the next bin, of about a second; `None` where the repeat continues.
    pub fn push(&mut self, bin: Bin) -> Option<SteadyEnd> {
        // A bin that began within the warm-up belongs to it.
        let counts = self.elapsed + 1e-9 >= self.limits.ramp;
        self.elapsed += bin.seconds.max(0.0);
        if counts {
            self.bins.push(bin);
        }
        if self.elapsed + 1e-9 < self.next_look.min(self.limits.cap) {
            return None;
        }
        while self.next_look <= self.elapsed + 1e-9 {
            self.next_look += self.limits.step.max(1e-3);
        }
        let over = self.elapsed + 1e-9 >= self.limits.cap;
        match look(&self.bins) {
            Some(seen) => {
                self.confirmed = if seen.good(&self.limits) { self.confirmed + 1 } else { 0 };
                if self.confirmed >= CONFIRM {
                    Some(SteadyEnd::with_status(SteadyStatus::Steady, seen))
                } else {
                    over.then(|| SteadyEnd::with_status(SteadyStatus::Unsteady, seen))
                }
            }
            None => over.then_some(SteadyEnd::TOO_SHORT),
        }
    }

    /// What can be said where something else ended the repeat.
    #[must_use]
    pub fn finish(&self) -> SteadyEnd {
        match look(&self.bins) {
            Some(seen) if self.confirmed >= CONFIRM => SteadyEnd::with_status(SteadyStatus::Steady, seen),
            // One good look before, and one now.
            Some(seen) if self.confirmed + 1 >= CONFIRM && seen.good(&self.limits) => {
                SteadyEnd::with_status(SteadyStatus::Steady, seen)
            }
            Some(seen) if self.elapsed + 1e-9 >= self.limits.least => {
                SteadyEnd::with_status(SteadyStatus::Unsteady, seen)
            }
            _ => SteadyEnd::TOO_SHORT,
        }
    }
}

/// Judges the bins after the warm-up; `None` where they are too few.
#[must_use]
pub fn look(bins: &[Bin]) -> Option<Steadiness> {
    let all = Bin::sum(bins);
    if all.operations == 0 || all.seconds <= 0.0 {
        return None;
    }
    let merged = merge(bins, all.operations as f64 / bins.len() as f64);
    let group = match merged.len() {
        100.. => 5,
        40.. => 2,
        _ => 1,
    };
    let grouped: Vec<Bin> = newest(&merged, group).collect();
    let rates: Vec<f64> = grouped.iter().map(Bin::rate).collect();
    let prefix = truncation(&rates, LARGEST_PREFIX).map_or(0, |t| t.prefix);
    let fast = prefix > 0 && mean(&rates[..prefix]) > FAST * mean(&rates[prefix..]);
    let prefix = if fast { prefix } else { 0 };
    let kept = &grouped[prefix..];
    let count = BATCHES.min(kept.len() / 2);
    if count < LEAST_BATCHES {
        return None;
    }
    let batches: Vec<f64> = newest(kept, kept.len() / count).map(|b| b.rate()).collect();
    let total = Bin::sum(kept);
    let (centre, n) = (total.rate(), batches.len() as f64);
    let lag1 = lag1(&batches);
    let corrected = lag1.clamp(0.0, LARGEST_LAG1);
    let deviation = standard_deviation(&batches);
    let t = student_t(LEVEL, u32::try_from(batches.len() - 1).ok()?)?;
    Some(Steadiness {
        operations_per_second: centre,
        bytes_per_second: total.bytes as f64 / total.seconds,
        half_width: t * deviation / n.sqrt() * ((1.0 + corrected) / (1.0 - corrected)).sqrt() / centre,
        drift: slope(&batches).abs() * (n - 1.0) / centre,
        lag1,
        dropped: if fast { (all.seconds - total.seconds).max(0.0) } else { 0.0 },
        kept: total.seconds,
        operations: total.operations,
        transient: fast && prefix as f64 >= LARGEST_PREFIX * rates.len() as f64,
    })
}

/// Joins bins of a slow medium until each can be expected to hold enough operations.
fn merge(bins: &[Bin], operations_per_bin: f64) -> Vec<Bin> {
    if operations_per_bin >= OPERATIONS_PER_BIN {
        return bins.to_vec();
    }
    let size = (OPERATIONS_PER_BIN / operations_per_bin).ceil().min(bins.len() as f64) as usize;
    newest(bins, size).collect()
}

/// Sums of consecutive bins, `size` each; the oldest that do not fill one are left out.
fn newest(bins: &[Bin], size: usize) -> impl Iterator<Item = Bin> {
    let size = size.max(1);
    bins[bins.len() % size..].chunks(size).map(Bin::sum)
}

/// Where a start-up transient ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// Values to drop.
    pub prefix: usize,
    /// The statistic there: the squared error of the mean of the rest.
    pub statistic: f64,
}

/// MSER: the prefix whose removal makes the error of the mean of the rest smallest; at most
/// `largest` of all values.
#[must_use]
pub(crate) fn truncation(values: &[f64], largest: f64) -> Option<Truncation> {
    let n = values.len();
    let last = ((n as f64 * largest.clamp(0.0, 1.0)) as usize).min(n.checked_sub(1)?);
    (0..=last)
        .map(|prefix| {
            let rest = &values[prefix..];
            let centre = mean(rest);
            let squares: f64 = rest.iter().map(|v| (v - centre).powi(2)).sum();
            Truncation { prefix, statistic: squares / (rest.len() as f64).powi(2) }
        })
        .min_by(|a, b| a.statistic.total_cmp(&b.statistic))
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn standard_deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// Pearson's correlation of each value with the next; 0 where there is no variation.
fn lag1(values: &[f64]) -> f64 {
    let (Some((_, later)), Some((_, earlier))) = (values.split_first(), values.split_last()) else { return 0.0 };
    let (a, b) = (mean(earlier), mean(later));
    let mut sums = (0.0, 0.0, 0.0);
    for (x, y) in earlier.iter().zip(later) {
        sums.0 += (x - a) * (y - b);
        sums.1 += (x - a).powi(2);
        sums.2 += (y - b).powi(2);
    }
    let scale = (sums.1 * sums.2).sqrt();
    if scale > 0.0 { sums.0 / scale } else { 0.0 }
}

/// Slope of the least squares line per value.
fn slope(values: &[f64]) -> f64 {
    let (middle, centre) = ((values.len() as f64 - 1.0) / 2.0, mean(values));
    let (mut above, mut below) = (0.0, 0.0);
    for (i, v) in values.iter().enumerate() {
        let x = i as f64 - middle;
        above += x * (v - centre);
        below += x * x;
    }
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Lehmer;

    fn bins(rates: impl IntoIterator<Item = f64>) -> Vec<Bin> {
        rates.into_iter().map(bin).collect()
    }

    /// A second at a rate: scaled so that whole operations carry the digits.
    fn bin(rate: f64) -> Bin {
        let operations = (rate * 1e12).round() as u64;
        Bin { seconds: 1.0, operations, bytes: operations * 512 }
    }

    fn vector_a() -> Vec<f64> {
        let mut u = Lehmer::new(12345);
        (0..240).map(|t| (if t < 40 { 3.0 } else { 1.0 }) * (0.9 + 0.2 * u.next())).collect()
    }

    fn close(value: f64, expected: f64, last_digit: f64) {
        assert!((value - expected).abs() <= last_digit, "{value} is not {expected}");
    }

    #[test]
    fn the_generator_is_the_one_of_the_vectors() {
        let mut u = Lehmer::new(12345);
        for expected in [0.277_490_120_0, 0.725_584_676_4, 0.697_912_643_5] {
            close(u.next(), expected, 1e-10);
        }
    }

    #[test]
    fn a_fast_start_of_forty_seconds_is_cut_to_the_digit() {
        let x = vector_a();
        close(mean(&x), 1.334_785_75, 1e-8);
        let fives: Vec<f64> = x.chunks(5).map(mean).collect();
        let cut = truncation(&fives, 0.5).unwrap();
        assert_eq!(cut.prefix, 8);
        close(cut.statistic, 1.085_101_353e-5, 1e-14);
        let rest = &x[40..];
        close(mean(rest), 1.001_403_01, 1e-8);
        let batches: Vec<f64> = rest.chunks(20).map(mean).collect();
        close(standard_deviation(&batches), 0.009_717_12, 1e-8);

        let seen = look(&bins(x)).unwrap();
        close(seen.dropped, 40.0, 1e-9);
        close(seen.operations_per_second / 1e12, 1.001_403_01, 1e-8);
        close(seen.lag1, -0.408_790, 1e-6);
        close(seen.half_width, 0.006_941, 1e-6);
        assert!(!seen.transient);
    }

    #[test]
    fn a_slow_start_is_the_mediums_own_doing_and_stays() {
        let mut x = vector_a();
        x[..40].iter_mut().for_each(|v| *v /= 9.0);
        let seen = look(&bins(x.clone())).unwrap();
        assert_eq!(seen.dropped, 0.0);
        close(seen.operations_per_second / 1e12, mean(&x), 1e-8);
    }

    /// What a look found of a repeat that was steady.
    fn steady(ended: SteadyEnd) -> Steadiness {
        assert_eq!(ended.status, SteadyStatus::Steady, "{ended:?}");
        ended.seen.unwrap()
    }

    fn run(limits: SteadyLimits, mut rate: impl FnMut(u32) -> f64) -> (u32, SteadyEnd) {
        let mut rule = StopRule::new(limits);
        for second in 0.. {
            let r = rate(second);
            if let Some(ended) = rule.push(Bin { seconds: 1.0, operations: r as u64, bytes: r as u64 * 4096 }) {
                return (second + 1, ended);
            }
        }
        unreachable!()
    }

    #[test]
    fn a_steady_reader_ends_after_two_looks() {
        let mut u = Lehmer::new(1);
        let (seconds, ended) = run(SteadyLimits::READ, |_| 2000.0 * (0.98 + 0.04 * u.next()));
        assert_eq!(seconds, 25);
        let seen = steady(ended);
        close(seen.operations_per_second, 2000.0, 20.0);
        assert!(seen.half_width < 0.03 && seen.kept == 20.0 && seen.dropped == 0.0, "{seen:?}");
    }

    #[test]
    fn a_noisy_reader_and_one_that_drifts_run_to_the_cap_and_keep_their_value() {
        let mut u = Lehmer::new(2);
        let noisy = run(SteadyLimits::READ, |_| if u.next() < 0.3 { 100.0 } else { 3000.0 });
        let drifting = run(SteadyLimits::READ, |t| 3000.0 - 20.0 * f64::from(t));
        for (seconds, ended) in [noisy, drifting] {
            assert_eq!(seconds, 60);
            assert_eq!(ended.status, SteadyStatus::Unsteady, "{ended:?}");
        }
    }

    #[test]
    fn a_writer_is_not_stopped_on_its_cache() {
        // 100 s at three times the sustained rate: the value is that of the rest.
        let mut u = Lehmer::new(3);
        let (seconds, ended) =
            run(SteadyLimits::WRITE, |t| (if t < 100 { 3000.0 } else { 1000.0 }) * (0.95 + 0.1 * u.next()));
        let seen = steady(ended);
        assert!((180..=300).contains(&seconds), "{seconds}");
        close(seen.operations_per_second, 1000.0, 15.0);
        assert!((65.0..=80.0).contains(&seen.dropped), "100 s less the warm-up of 30: {}", seen.dropped);
    }

    #[test]
    fn a_medium_of_five_operations_a_second_gets_longer_bins() {
        let (seconds, ended) = run(SteadyLimits::WRITE, |_| 5.0);
        let seen = steady(ended);
        assert!((180..=190).contains(&seconds), "{seconds}");
        close(seen.operations_per_second, 5.0, 1e-9);
        assert!(seen.operations >= LEAST_OPERATIONS);
        // As a reader it cannot have done 500 operations when its time is over.
        let (seconds, ended) = run(SteadyLimits::READ, |_| 5.0);
        assert_eq!((seconds, ended.status), (60, SteadyStatus::Unsteady));
    }

    #[test]
    fn what_ends_early_is_told_from_what_is_unsteady() {
        let mut rule = StopRule::new(SteadyLimits::READ);
        assert_eq!(rule.finish(), SteadyEnd::TOO_SHORT);
        for _ in 0..12 {
            assert_eq!(rule.push(Bin { seconds: 1.0, operations: 900, bytes: 0 }), None);
        }
        assert_eq!(rule.finish(), SteadyEnd::TOO_SHORT, "before the first look");
        for _ in 0..9 {
            let _ = rule.push(Bin { seconds: 1.0, operations: 900, bytes: 0 });
        }
        assert_eq!(rule.finish().status, SteadyStatus::Steady, "one good look, and one at the end");
        let mut stalled = StopRule::new(SteadyLimits::READ.within(6.0));
        let verdict = (0..7).map(|_| stalled.push(Bin { seconds: 1.0, operations: 0, bytes: 0 })).last();
        assert_eq!(verdict, Some(Some(SteadyEnd::TOO_SHORT)), "nothing completed at all");
    }

    #[test]
    fn limits_shrink_in_proportion_and_never_grow() {
        let third = SteadyLimits::READ.within(20.0);
        close(third.least, 20.0 / 3.0, 1e-9);
        close(third.ramp + third.step, 10.0 / 3.0, 1e-9);
        assert_eq!(third.half_width, SteadyLimits::READ.half_width);
        assert_eq!(SteadyLimits::WRITE.within(9999.0), SteadyLimits::WRITE);
    }

    proptest! {
        #[test]
        fn relative_figures_do_not_depend_on_the_unit(seed in 1u64..1_000_000, factor in 2u64..50, n in 12usize..300) {
            let mut u = Lehmer::new(seed);
            let base: Vec<Bin> = (0..n).map(|_| {
                let operations = 1000 + (1000.0 * u.next()) as u64;
                Bin { seconds: 1.0, operations, bytes: operations * 4096 }
            }).collect();
            let scaled: Vec<Bin> = base.iter().map(|b| Bin { operations: b.operations * factor, bytes: b.bytes * factor, ..*b }).collect();
            let (a, b) = (look(&base).unwrap(), look(&scaled).unwrap());
            prop_assert!((b.operations_per_second / a.operations_per_second / factor as f64 - 1.0).abs() < 1e-9);
            prop_assert!((a.half_width - b.half_width).abs() < 1e-9 && (a.drift - b.drift).abs() < 1e-9);
            prop_assert!((a.lag1 - b.lag1).abs() < 1e-6 && a.dropped == b.dropped);
            prop_assert!(a.half_width >= 0.0 && a.drift >= 0.0 && a.kept > 0.0);
        }

        #[test]
        fn the_rule_always_ends_at_its_cap_and_never_before_its_first_look(
            counts in prop::collection::vec(0u64..5000, 400), cap in 5.0f64..300.0, writes: bool,
        ) {
            let limits = if writes { SteadyLimits::WRITE } else { SteadyLimits::READ }.within(cap);
            let mut rule = StopRule::new(limits);
            let mut elapsed = 0.0;
            for operations in counts {
                elapsed += 1.0;
                if rule.push(Bin { seconds: 1.0, operations, bytes: operations }).is_some() {
                    break;
                }
            }
            prop_assert!(elapsed + 1e-6 >= limits.least && elapsed <= limits.cap + 1.0, "{} {:?}", elapsed, limits);
        }
    }
}
