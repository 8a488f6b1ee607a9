//! Two groups of values, or more, against each other: same, different, or cannot tell.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::super::interval::log_squares;
use super::entry::{Entrant, Invalid, Options, Precedence, RankRefusal, check_options};
use super::ranking::rank;
use super::variances::pair_degrees;

/// What the values say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairAnswer {
    /// The interval of the ratio lies within the equivalence margin. A difference within it may be
    /// real ([`PairComparison::significant`]) but does not matter.
    Same,
    /// The interval excludes equality, and reaches beyond the margin.
    Different,
    /// Neither.
    CannotTell(PairDoubt),
}

/// Why the values do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairDoubt {
    /// A group has one value: there is no interval.
    SingleValue,
    /// No group has any spread: these are copies of a value, not repeats.
    NoSpread,
    /// The interval reaches from equality to beyond the margin: more values would tell.
    Wide,
}

/// One group against another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairComparison {
    /// Geometric mean of the first over that of the second.
    pub ratio: f64,
    /// Lower end of its interval; `None` where there is none.
    pub low: Option<f64>,
    /// Upper end of its interval; `None` where there is none.
    pub high: Option<f64>,
    /// Values in the first and in the second group.
    pub n: (usize, usize),
    /// The answer.
    pub answer: PairAnswer,
    /// Whether the interval excludes equality.
    pub significant: bool,
}

impl PairComparison {
    fn doubt(ratio: f64, n: (usize, usize), doubt: PairDoubt) -> Self {
        Self { ratio, low: None, high: None, n, answer: PairAnswer::CannotTell(doubt), significant: false }
    }

    /// From a difference of logarithms, half the width of its interval, the number of values and the equivalence margin,
    /// all on logarithms.
    #[must_use]
    pub fn from_difference(difference: f64, half: f64, n: (usize, usize), delta: f64) -> Self {
        let (low, high) = (difference - half, difference + half);
        Self::between(difference, (low, high), low > 0.0 || high < 0.0, n, delta)
    }

    /// From a difference of logarithms, the ends of its interval, and whether the difference is significant.
    #[must_use]
    pub fn between(difference: f64, (low, high): (f64, f64), significant: bool, n: (usize, usize), delta: f64) -> Self {
        let answer = if low >= -delta && high <= delta {
            PairAnswer::Same
        } else if significant {
            PairAnswer::Different
        } else {
            PairAnswer::CannotTell(PairDoubt::Wide)
        };
        Self { ratio: difference.exp(), low: Some(low.exp()), high: Some(high.exp()), n, answer, significant }
    }
}

/// Mean and variance of logarithms, and the number of values.
#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    variance: f64,
    n: usize,
}

impl Moments {
    fn of_group(name: &str, values: &[f64]) -> Result<Self, Invalid> {
        Invalid::check(name, values)?;
        if values.is_empty() {
            return Err(Invalid { what: format!("value 1 of {name}"), value: f64::NAN });
        }
        let n = values.len();
        let count = n as f64;
        // Sorted, so that the last digit does not depend on the order of the values.
        let mut logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        logs.sort_by(f64::total_cmp);
        let mean = logs.iter().sum::<f64>() / count;
        let squares = log_squares(&logs);
        Ok(Self { mean, variance: if squares > 0.0 { squares / (count - 1.0) } else { 0.0 }, n })
    }
}

/// Compares two groups by Welch's test on logarithms (Welch 1947), with cautious degrees of freedom,
/// at level `1 - alpha` and with the equivalence margin `delta` of the options; the rest is not used.
///
/// The values need to be of one kind: repeats of two units tell about the units, units of two
/// models about the models.
///
/// # Errors
/// An empty group (reported as its first value), a value that is not positive and finite, or options out of range.
pub fn compare(first: &[f64], second: &[f64], options: &Options) -> Result<PairComparison, RankRefusal> {
    check_options(options)?;
    let moments = |name, values| Moments::of_group(name, values).map_err(RankRefusal::Invalid);
    Ok(welch(moments("the first group", first)?, moments("the second group", second)?, options))
}

fn welch(a: Moments, b: Moments, options: &Options) -> PairComparison {
    let n = (a.n, b.n);
    let difference = a.mean - b.mean;
    if a.n < 2 || b.n < 2 {
        return PairComparison::doubt(difference.exp(), n, PairDoubt::SingleValue);
    }
    let (x, y) = (a.variance / a.n as f64, b.variance / b.n as f64);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    match StudentsT::new(0.0, 1.0, pair_degrees((x, count(a.n)), (y, count(b.n)))) {
        Ok(t) if x + y > 0.0 => {
            let half = t.inverse_cdf(1.0 - options.alpha / 2.0) * (x + y).sqrt();
            PairComparison::from_difference(difference, half, n, options.delta)
        }
        _ => PairComparison::doubt(difference.exp(), n, PairDoubt::NoSpread),
    }
}

/// Compares all pairs of groups, as `(first, second, comparison)`. More than two groups share
/// their variances in part, and their intervals hold together, as in [`rank`].
///
/// # Errors
/// An empty group, a value that is not positive and finite, or options out of range.
pub fn compare_all(groups: &[&[f64]], options: &Options) -> Result<Vec<(usize, usize, PairComparison)>, RankRefusal> {
    check_options(options)?;
    let mut moments = Vec::with_capacity(groups.len());
    for (at, values) in groups.iter().enumerate() {
        moments.push(Moments::of_group(&format!("group {}", at + 1), values).map_err(RankRefusal::Invalid)?);
    }
    let options = Options { borrow: false, ..*options };
    if let [a, b] = moments[..] {
        return Ok(vec![(0, 1, welch(a, b, &options))]);
    }
    let name = |at: usize| format!("{at:08}");
    let entrants: Vec<Entrant> = moments
        .iter()
        .enumerate()
        .map(|(at, m)| Entrant {
            name: name(at),
            mean: m.mean,
            variance: m.variance,
            units: u32::try_from(m.n).unwrap_or(u32::MAX),
            class: Precedence::Sound,
            censored: false,
            flattered: false,
        })
        .collect();
    let ranking = match rank(&entrants, &options) {
        Ok(ranking) => Some(ranking),
        Err(refusal @ (RankRefusal::Options(_) | RankRefusal::Invalid(_) | RankRefusal::Duplicate(_))) => {
            return Err(refusal);
        }
        Err(_) => None,
    };
    let mut comparisons = Vec::with_capacity(groups.len() * groups.len() / 2);
    for first in 0..groups.len() {
        for second in first + 1..groups.len() {
            let (a, b) = (moments[first], moments[second]);
            let difference = a.mean - b.mean;
            let of_pair = ranking.as_ref().and_then(|r| r.between(&name(first), &name(second)));
            let comparison = match of_pair {
                Some((ends, differ)) => PairComparison::between(difference, ends, differ, (a.n, b.n), options.delta),
                // Too few degrees of freedom to share: the two stand alone.
                None => welch(a, b, &options),
            };
            comparisons.push((first, second, comparison));
        }
    }
    Ok(comparisons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Generator;

    #[test]
    fn by_hand() {
        // Logarithms 0, 1, 2 against 0.5, 1.5: difference 0, variances 1 and 1/2; squared error
        // 1/3 + 1/4 = 7/12; degrees (7/12)^2 / (1/18 + 1/16) = 49/17 = 2.882.
        let e = std::f64::consts::E;
        let c = compare(&[1.0, e, e * e], &[e.sqrt(), e.powf(1.5)], &Options::default()).unwrap();
        assert!((c.ratio - 1.0).abs() < 1e-12);
        // t(2.882) at 97.5 %.
        let t = c.high.unwrap().ln() / (7.0f64 / 12.0).sqrt();
        assert!((t - 3.2572).abs() < 1e-3, "{t}");
        assert_eq!((c.answer, c.n), (PairAnswer::CannotTell(PairDoubt::Wide), (3, 2)));
    }

    #[test]
    fn every_answer() {
        let answer = |a: &[f64], b: &[f64]| compare(a, b, &Options::default()).unwrap();
        assert_eq!(answer(&[100.0, 101.0, 99.0], &[50.0, 51.0, 50.5]).answer, PairAnswer::Different);
        let same = answer(&[100.0, 100.1, 99.9], &[101.0, 101.1, 100.9]);
        assert_eq!((same.answer, same.significant), (PairAnswer::Same, true), "1 % is real but does not matter");
        let single = answer(&[100.0], &[50.0, 51.0]);
        assert_eq!((single.answer, single.low), (PairAnswer::CannotTell(PairDoubt::SingleValue), None));
        assert_eq!(answer(&[0.1; 3], &[0.1; 3]).answer, PairAnswer::CannotTell(PairDoubt::NoSpread));
        for bad in [&[][..], &[0.0, 1.0], &[f64::NAN], &[-1.0, 1.0], &[f64::INFINITY, 1.0]] {
            assert!(compare(&[1.0, 2.0], bad, &Options::default()).is_err());
        }
        for alpha in [0.0, 1.0, f64::NAN] {
            let options = Options { alpha, ..Options::default() };
            assert_eq!(compare(&[1.0, 2.0], &[1.0, 3.0], &options), Err(RankRefusal::Options("alpha")));
            assert!(compare_all(&[&[1.0, 2.0], &[1.0, 3.0]], &options).is_err());
        }
        let error = compare(&[1.0, 2.0], &[1.0, -3.0], &Options::default()).unwrap_err();
        assert_eq!(error.to_string(), "value 2 of the second group: -3 is not a positive finite number");
    }

    #[test]
    fn several_groups_share() {
        let groups: [&[f64]; 4] = [&[100.0, 101.0], &[99.5, 100.5], &[50.0, 50.5], &[80.0]];
        let all = compare_all(&groups, &Options { draws: 999, ..Options::default() }).unwrap();
        let answer = |a, b| all.iter().find(|c| (c.0, c.1) == (a, b)).map(|c| c.2.answer).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!(answer(0, 2), PairAnswer::Different);
        assert_eq!(answer(0, 1), PairAnswer::CannotTell(PairDoubt::Wide));
        assert_eq!(answer(2, 3), PairAnswer::CannotTell(PairDoubt::SingleValue));
        assert!((all[1].2.ratio - (100.0f64 * 101.0 / 50.0 / 50.5).sqrt()).abs() < 1e-12);
    }

    /// Share of pairs of equal groups that are called different, where the deviation of the second is `times` that of
    /// the first.
    fn false_alarms(n: (usize, usize), times: f64, sets: usize) -> f64 {
        let mut random = Generator::new(7);
        let mut group =
            |n: usize, times: f64| (0..n).map(|_| (0.02 * times * random.normal()).exp()).collect::<Vec<_>>();
        let different = (0..sets).filter(|_| {
            let (a, b) = (group(n.0, 1.0), group(n.1, times));
            compare(&a, &b, &Options { delta: 0.0, ..Options::default() }).unwrap().answer == PairAnswer::Different
        });
        different.count() as f64 / sets as f64
    }

    #[test]
    fn equal_groups_are_not_called_different() {
        // 4000 sets: one standard error is 0.0034 at 5 %, and 2 of them tell 5 from 6 of 100.
        for n in [(2, 2), (3, 3), (5, 5), (2, 3), (2, 5), (3, 5), (3, 12), (2, 12), (5, 8), (10, 10)] {
            let share = false_alarms(n, 1.0, 4000);
            assert!(share <= 0.05 + 2.0 * 0.0034, "{n:?}: {share}");
        }
    }

    #[test]
    fn three_against_three_keep_the_error_where_one_is_erratic_and_find_nine_tenths() {
        // 20 000 sets: one standard error is 0.0017 at 6 %.
        for times in [1.0, 2.0, 4.0, 8.0, 20.0] {
            let share = false_alarms((3, 3), times, 20_000);
            assert!(share <= 0.065, "{times}: {share}");
        }
        // Student's test finds this in 76.6 of 100.
        let (mut random, mut found) = (Generator::new(9), 0);
        for _ in 0..20_000 {
            let mut group = |shift: f64| (0..3).map(|_| (shift + 0.102 * random.normal()).exp()).collect::<Vec<_>>();
            let (a, b) = (group(0.3), group(0.0));
            found += usize::from(compare(&a, &b, &Options::default()).unwrap().answer == PairAnswer::Different);
        }
        let share = f64::from(u32::try_from(found).unwrap()) / 20_000.0;
        assert!(share >= 0.9 * 0.766, "{share}");
    }
}
