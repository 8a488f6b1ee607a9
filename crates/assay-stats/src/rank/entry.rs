//! What enters a ranking and why it may not: repeats on units, figures, ceilings of the bus, failures.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use super::variances::{PRIOR_DEGREES, Spread};
use crate::shape::{two_speeds, uneven};

/// Fewer draws than this cannot place a critical value.
const LEAST_DRAWS: usize = 99;

/// A model that is to be ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Entrant {
    /// Its name; no two have the same.
    pub name: String,
    /// Mean over its units of the logarithm.
    pub mean: f64,
    /// Variance between its units of the logarithm; ignored for one unit.
    pub variance: f64,
    /// Units measured.
    pub units: u32,
    /// Whether units of it failed.
    pub class: Precedence,
    /// Whether it is limited by the bus: its values are lower bounds (see [`super::SlotCeiling`]).
    pub censored: bool,
    /// Whether its values are the best of several runs, which on average does less.
    pub flattered: bool,
}

impl Entrant {
    pub(super) fn spread(&self) -> Spread {
        Spread { variance: self.variance, degrees: self.units.saturating_sub(1), shared: !self.censored }
    }
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sense {
    /// Rates.
    #[default]
    HigherIsBetter,
    /// Latencies.
    LowerIsBetter,
}

/// How to rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Chance of any false order when all models are equal, between 0 and 1.
    pub alpha: f64,
    /// Differences of logarithms up to this do not matter: the equivalence margin.
    pub delta: f64,
    /// Degrees of freedom that the shared variance counts for, above 0; infinite is plain pooling.
    pub prior_degrees: f64,
    /// Draws of the bootstrap, at least 99.
    pub draws: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Whether models of one unit take part, with the variance of the others. They are provisional.
    pub borrow: bool,
    /// Which way is better.
    pub sense: Sense,
}

impl Default for Options {
    /// 95 %, a margin of 3 %, 19 999 draws, higher is better.
    fn default() -> Self {
        Self {
            alpha: 0.05,
            delta: 1.03f64.ln(),
            prior_degrees: PRIOR_DEGREES,
            draws: 19_999,
            seed: 0,
            borrow: false,
            sense: Sense::HigherIsBetter,
        }
    }
}

/// Why there is no ranking.
#[derive(Debug, Clone, PartialEq)]
pub enum RankRefusal {
    /// A mean or variance is no number.
    Invalid(Invalid),
    /// Two entrants have this name.
    Duplicate(String),
    /// A level, margin, prior or number of draws out of range.
    Options(&'static str),
    /// Every model has one unit: no statement about models is possible.
    OnlySpecimens,
    /// Fewer than two models are left to compare.
    TooFewModels,
    /// Fewer than two units beyond the first of each model.
    TooFewUnits {
        /// Degrees of freedom there are.
        degrees: u32,
    },
    /// The units of each model are equal to the last digit: these are not measurements of several units.
    NoSpread,
}

impl fmt::Display for RankRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Duplicate(name) => write!(f, "{name} is entered twice"),
            Self::Options(what) => write!(f, "{what} is out of range"),
            Self::OnlySpecimens => f.write_str("each model has one unit; measure two of each"),
            Self::TooFewModels => f.write_str("fewer than two models have two units"),
            Self::TooFewUnits { degrees } => {
                let missing = if *degrees == 0 { "two more units" } else { "one more unit" };
                write!(f, "too few units; measure {missing} of a model that has two or more")
            }
            Self::NoSpread => {
                f.write_str("the units of each model agree to the last digit, so they are not different units")
            }
        }
    }
}

impl std::error::Error for RankRefusal {}

/// Refuses models that cannot be ranked for any values.
pub(super) fn check(entrants: &[Entrant], options: &Options) -> Result<(), RankRefusal> {
    check_options(options)?;
    for (at, e) in entrants.iter().enumerate() {
        let bad =
            |what: &str, value| Err(RankRefusal::Invalid(Invalid { what: format!("{what} of {}", e.name), value }));
        if !e.mean.is_finite() {
            return bad("mean logarithm", e.mean);
        }
        if e.units > 1 && !(e.variance.is_finite() && e.variance >= 0.0) {
            return bad("variance", e.variance);
        }
        if entrants[..at].iter().any(|other| other.name == e.name) {
            return Err(RankRefusal::Duplicate(e.name.clone()));
        }
    }
    Ok(())
}

/// Refuses options out of range.
pub(super) fn check_options(options: &Options) -> Result<(), RankRefusal> {
    if !(options.alpha > 0.0 && options.alpha < 1.0) {
        return Err(RankRefusal::Options("alpha"));
    }
    if !(options.delta >= 0.0 && options.delta.is_finite()) {
        return Err(RankRefusal::Options("the equivalence margin"));
    }
    if options.prior_degrees.is_nan() || options.prior_degrees <= 0.0 {
        return Err(RankRefusal::Options("the weight of the shared variance"));
    }
    if options.draws < LEAST_DRAWS {
        return Err(RankRefusal::Options("the number of draws"));
    }
    Ok(())
}

// Values at the ceiling of the bus bound the medium from below and do not rank it.

/// Share below the ceiling from which a value counts as held by it. For serial transfer the medium's
/// own rate is `1 / (1 / seen - 1 / ceiling)`, whose relative error is that of the seen rate divided
/// by `1 - seen / ceiling`: twentyfold from here on.
const HELD: f64 = 0.05;
/// Least models whose best values must agree before a common limit is taken for the bus's.
const LEAST_MODELS: usize = 3;
/// Their best values agree within this share.
const AGREE: f64 = 0.03;
/// A variance below this share of the same model's at the smallest block is compressed.
const COMPRESSED: f64 = 0.25;

/// The largest rate that a slot lets through, in the values' unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlotCeiling(f64);

impl SlotCeiling {
    /// A ceiling; `None` where it is not positive and finite.
    #[must_use]
    pub fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate.is_finite()).then_some(Self(rate))
    }

    /// The rate.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.0
    }

    /// The smallest rate that counts as held by the ceiling: 5 % below it.
    #[must_use]
    pub fn threshold(self) -> f64 {
        self.0 * (1.0 - HELD)
    }

    /// Whether a value is held: it may be anything from here on.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        value >= self.threshold()
    }

    /// Whether a unit is: half of its repeats are, or more.
    #[must_use]
    pub fn holds_unit(self, repeats: &[f64]) -> bool {
        half(repeats.iter().map(|v| self.holds(*v)))
    }
}

fn half(held: impl Iterator<Item = bool>) -> bool {
    let (held, all) = held.fold((0usize, 0usize), |(held, all), h| (held + usize::from(h), all + 1));
    all > 0 && 2 * held >= all
}

/// The ceiling that the values themselves show: the largest of all, where the best values of at
/// least three models lie within 3 % of it. Each item is a model with the values of its repeats.
#[must_use]
pub fn measured_ceiling<V: AsRef<[f64]>>(models: &[V]) -> Option<SlotCeiling> {
    let finite = |v: &&f64| v.is_finite() && **v > 0.0;
    let best: Vec<f64> =
        models.iter().filter_map(|m| m.as_ref().iter().filter(finite).copied().reduce(f64::max)).collect();
    let top = best.iter().copied().reduce(f64::max)?;
    let near = best.iter().filter(|v| **v >= top * (1.0 - AGREE)).count();
    if near >= LEAST_MODELS { SlotCeiling::new(top) } else { None }
}

/// Whether the variance between the units of a model fell below a quarter of that at the smallest
/// block size: a second sign of a ceiling.
#[must_use]
pub fn compressed(variance: f64, at_smallest_block: f64) -> bool {
    variance < COMPRESSED * at_smallest_block
}

// Failures as data: classes that speed does not make up for, and how little few units say about
// the share that fails.

/// How the work on a unit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Done.
    Done,
    /// Done, but the rate never settled: the value counts.
    Unsteady,
    /// Not finished in time: the rate so far counts, so this is not a failure.
    Capped,
    /// No completion for too long.
    Hung,
    /// The device reported an error.
    IoError,
    /// The medium turned read-only.
    ReadOnly,
    /// The medium disappeared.
    Gone,
    /// The data read differs from the data written, or part of the capacity is missing.
    Corrupt,
    /// Power, bus or host failed, not the medium: to be run again.
    AbortedByHost,
}

/// What comes before speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Precedence {
    /// No unit failed.
    #[default]
    Sound,
    /// Some units failed: a slow medium is better than a burnt one.
    Failing,
    /// A unit lost or invented data: disqualified at any speed.
    Corrupt,
}

impl Precedence {
    /// The class of a model whose units ended so. Runs aborted by the host do not count;
    /// `None` where nothing else is left.
    #[must_use]
    pub fn from_endings(endings: &[Ending]) -> Option<Self> {
        endings
            .iter()
            .filter_map(|ending| match ending {
                Ending::Done | Ending::Unsteady | Ending::Capped => Some(Self::Sound),
                Ending::Hung | Ending::IoError | Ending::ReadOnly | Ending::Gone => Some(Self::Failing),
                Ending::Corrupt => Some(Self::Corrupt),
                Ending::AbortedByHost => None,
            })
            .max()
    }
}

/// The interval of a share of units, between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitShare {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two-sided interval of a share under Jeffreys's prior, Beta(1/2, 1/2), with the ends at 0 and 1
/// where no or all trials were events (Brown, Cai and DasGupta 2001, section 4.3).
/// `None` for no trial, more events than trials, or a level outside 0 to 1.
#[must_use]
pub fn jeffreys(events: u64, trials: u64, level: f64) -> Option<UnitShare> {
    let tail = (level > 0.0 && level < 1.0).then_some((1.0 - level) / 2.0)?;
    let others = trials.checked_sub(events).filter(|_| trials > 0)?;
    let (k, rest) = (events as f64, others as f64);
    let posterior = Beta::new(k + 0.5, rest + 0.5).ok()?;
    Some(UnitShare {
        low: if events == 0 { 0.0 } else { posterior.inverse_cdf(tail) },
        high: if others == 0 { 1.0 } else { posterior.inverse_cdf(1.0 - tail) },
    })
}

/// The value of one repeat, and the circumstances that it may depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct FitValue<'a> {
    /// The product.
    pub model: Cow<'a, str>,
    /// The piece of it; names need to differ within a model only.
    pub unit: Cow<'a, str>,
    /// Where the unit was.
    pub slot: Option<Cow<'a, str>>,
    /// The wave: observations made at the same time.
    pub wave: Option<u32>,
    /// The day and the host, by any name.
    pub day: Option<Cow<'a, str>>,
    /// Position within the session, in any unit.
    pub order: Option<f64>,
    /// Its weight. Each repeat of a session of `n` repeats has the weight `1/n`, so that sessions have equal weights.
    pub weight: f64,
    /// A positive rate or latency, in any unit that is the same for all observations.
    pub value: f64,
}

impl<'a> FitValue<'a> {
    /// A repeat of a known unit, without slot, wave, day and order.
    pub fn new(model: impl Into<Cow<'a, str>>, unit: impl Into<Cow<'a, str>>, value: f64) -> Self {
        Self {
            model: model.into(),
            unit: unit.into(),
            slot: None,
            wave: None,
            day: None,
            order: None,
            weight: 1.0,
            value,
        }
    }

    /// The natural logarithm of the value.
    ///
    /// # Errors
    /// A value that is not positive and finite, and an order that is not finite.
    pub fn ln(&self) -> Result<f64, Invalid> {
        let order = self.order.unwrap_or(0.0);
        if self.value > 0.0 && self.value.is_finite() && order.is_finite() {
            return Ok(self.value.ln());
        }
        let value = if order.is_finite() { self.value } else { order };
        Err(Invalid { what: format!("unit {} of {}", self.unit, self.model), value })
    }
}

/// A value that has no logarithm, or is no number.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// A description of the observation.
    pub what: String,
    /// Its value.
    pub value: f64,
}

impl Invalid {
    /// Refuses values that are not positive and finite, by their place in the list.
    pub(crate) fn check(name: &str, values: &[f64]) -> Result<(), Self> {
        match values.iter().position(|v| !(*v > 0.0 && v.is_finite())) {
            None => Ok(()),
            Some(at) => Err(Self { what: format!("value {} of {name}", at + 1), value: values[at] }),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is not a positive finite number", self.what, self.value)
    }
}

impl std::error::Error for Invalid {}

// One number from the repeats of one unit, and what it hides.
//
// The best of several repeats is not offered: it grows with the number of repeats, by 45 % at 30 % noise and five
// repeats (simulated).

/// Values that the trimmed mean needs; it drops one at either end.
const LEAST_TO_TRIM: usize = 5;

/// How to make one value of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AggregateRule {
    /// Mean of logarithms: the estimator of everything here.
    #[default]
    Geometric,
    /// Arithmetic mean.
    Mean,
    /// Middle value.
    Median,
    /// Arithmetic mean without the best and the worst of at least five, as many articles have it.
    Trimmed,
}

/// The values do not look like one speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedGroups {
    /// The slower over the faster: of two groups, or of the extremes of few values.
    pub ratio: f64,
}

/// One value and the spread of the values behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AggregateValue {
    /// The value, in the unit of the values.
    pub value: f64,
    /// The rule that was followed: [`AggregateRule::Trimmed`] falls back to the mean below five values.
    pub rule: AggregateRule,
    /// Number of values.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Deviation of the values, in their unit; `None` for one.
    pub deviation: Option<f64>,
    /// Two speeds, which no centre describes.
    pub groups: Option<SpeedGroups>,
}

/// Aggregates the repeats of one unit.
///
/// # Errors
/// No value at all (reported as value 1), or one that is not positive and finite.
pub fn aggregate(values: &[f64], rule: AggregateRule) -> Result<AggregateValue, Invalid> {
    Invalid::check("the repeats", values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
        return Err(Invalid { what: "value 1 of the repeats".to_owned(), value: f64::NAN });
    };
    let n = sorted.len();
    let rule = if rule == AggregateRule::Trimmed && n < LEAST_TO_TRIM { AggregateRule::Mean } else { rule };
    let average = mean(&sorted);
    let value = match rule {
        AggregateRule::Geometric => (sorted.iter().map(|v| v.ln()).sum::<f64>() / n as f64).exp(),
        AggregateRule::Mean => average,
        AggregateRule::Median => sorted[(n - 1) / 2].midpoint(sorted[n / 2]),
        AggregateRule::Trimmed => mean(&sorted[1..n - 1]),
    };
    let squares = sorted.iter().map(|v| (v - average).powi(2)).sum::<f64>();
    let few = uneven(values).map(|ratio| SpeedGroups { ratio: 1.0 / ratio });
    let groups = few.or_else(|| two_speeds(values).map(|two| SpeedGroups { ratio: two.ratio }));
    let deviation = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
    Ok(AggregateValue { value, rule, n, min, max, deviation, groups })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_and_thresholds() {
        let ceiling = SlotCeiling::new(23_000.0).unwrap();
        assert!((ceiling.threshold() - 21_850.0).abs() < 1e-9);
        assert!(ceiling.holds(21_851.0) && !ceiling.holds(21_849.0));
        assert!(ceiling.holds_unit(&[22_000.0, 20_000.0]), "half is enough");
        assert!(!ceiling.holds_unit(&[22_000.0, 20_000.0, 20_000.0]));
        assert!(!ceiling.holds_unit(&[]));
        assert!(SlotCeiling::new(0.0).is_none() && SlotCeiling::new(f64::NAN).is_none());
    }

    #[test]
    fn three_models_make_a_ceiling() {
        let ceiling = measured_ceiling(&[vec![22.7], vec![22.2, 22.9], vec![22.8, 5.0], vec![9.0]]).unwrap();
        assert_eq!(ceiling.rate(), 22.9);
        assert_eq!(measured_ceiling(&[vec![22.7], vec![22.9], vec![9.0]]), None);
        assert_eq!(measured_ceiling::<Vec<f64>>(&[]), None);
    }

    #[test]
    fn a_variance_is_compressed_below_a_quarter() {
        assert!(compressed(0.99, 4.0) && !compressed(1.01, 4.0));
        assert!(!compressed(0.0, 0.0), "without any spread at the smallest block nothing is known");
    }

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} against {b}");
    }

    #[test]
    fn classes_come_before_speed() {
        use Ending::*;
        assert_eq!(Precedence::from_endings(&[Done, Capped, Unsteady]), Some(Precedence::Sound));
        assert_eq!(Precedence::from_endings(&[Done, ReadOnly]), Some(Precedence::Failing));
        assert_eq!(Precedence::from_endings(&[Gone, Corrupt]), Some(Precedence::Corrupt));
        assert_eq!(Precedence::from_endings(&[Done, AbortedByHost]), Some(Precedence::Sound));
        assert_eq!(Precedence::from_endings(&[AbortedByHost]), None);
        assert!(Precedence::Sound < Precedence::Failing && Precedence::Failing < Precedence::Corrupt);
    }

    #[test]
    fn shares_of_few_units() {
        // Printed to two digits in tables of Jeffreys's interval.
        for (k, n, low, high) in [(0, 3, 0.0, 0.54), (1, 3, 0.04, 0.82), (1, 1, 0.15, 1.0)] {
            let share = jeffreys(k, n, 0.95).unwrap();
            near(share.low, low, 0.005);
            near(share.high, high, 0.005);
        }
        assert_eq!(jeffreys(0, 0, 0.95), None);
        assert_eq!(jeffreys(2, 1, 0.95), None);
        assert_eq!(jeffreys(0, 1, 1.0), None);
    }

    #[test]
    fn a_trimmed_mean_hides_two_speeds() {
        // fio random read of an SSD, five repeats: no repeat was near 22 000 IOPS.
        let values = [16_489.0, 24_764.0, 24_824.0, 24_854.0, 16_436.0];
        for (rule, expected) in [
            (AggregateRule::Mean, 21_473.4),
            (AggregateRule::Trimmed, 22_025.67),
            (AggregateRule::Geometric, 21_057.9),
            (AggregateRule::Median, 24_764.0),
        ] {
            let a = aggregate(&values, rule).unwrap();
            assert!((a.value - expected).abs() < 0.1, "{rule:?}: {}", a.value);
            assert!((a.groups.unwrap().ratio - 16_436.0 / 24_854.0).abs() < 1e-12);
        }
    }

    #[test]
    fn few_values_and_bad_ones() {
        let a = aggregate(&[2.0, 3.0], AggregateRule::Trimmed).unwrap();
        assert_eq!((a.value, a.rule), (2.5, AggregateRule::Mean));
        assert_eq!(aggregate(&[2.0], AggregateRule::Median).unwrap().deviation, None);
        for bad in [&[][..], &[1.0, 0.0], &[f64::NAN], &[1.0, -1.0], &[f64::INFINITY]] {
            assert!(aggregate(bad, AggregateRule::Mean).is_err());
        }
        assert_eq!(aggregate(&[1.0, 0.0], AggregateRule::Mean).unwrap_err().what, "value 2 of the repeats");
    }

    proptest! {
        #[test]
        fn five_values_lose_their_extremes(values in prop::collection::vec(1e-3f64..1e6, 5)) {
            let a = aggregate(&values, AggregateRule::Trimmed).unwrap();
            let by_hand = (values.iter().sum::<f64>() - a.max - a.min) / 3.0;
            prop_assert!((a.value / by_hand - 1.0).abs() < 1e-6);
            // A spreadsheet's TRIMMEAN(x, 0.2) rounds one value down to none and trims nothing.
            if a.max > 1.01 * a.min && (a.max + a.min) / 2.0 / a.value > 1.01 {
                prop_assert!((a.value / aggregate(&values, AggregateRule::Mean).unwrap().value - 1.0).abs() > 1e-4);
            }
        }
    }
}
