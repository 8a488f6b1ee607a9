//! Intervals over repeats of one measurement, order statistics, and means of logarithms.

use assay_core::estimate::Estimate;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Confidence level of every published interval.
pub const LEVEL: f64 = 0.95;

/// Degrees of freedom from which the normal quantile is used. It differs from Student's by less than 0.1 % up to a level of
/// 0.9999, and the search for Student's takes minutes at 10^9 degrees.
const NORMAL_FROM: u32 = 10_000;

/// Two-sided quantile of Student's t: `P(|T| <= t) = level` with `degrees` of freedom. `None` for no degree of freedom
/// or a level outside 0 to 1. From [`NORMAL_FROM`] degrees on, the quantile of the normal distribution.
#[must_use]
pub fn student_t(level: f64, degrees: u32) -> Option<f64> {
    if degrees == 0 || !(0.0..1.0).contains(&level) {
        return None;
    }
    if degrees >= NORMAL_FROM {
        return Some(Normal::standard().inverse_cdf((1.0 + level) / 2.0));
    }
    let t = StudentsT::new(0.0, 1.0, f64::from(degrees)).ok()?;
    Some(t.inverse_cdf((1.0 + level) / 2.0))
}

/// Geometric mean of positive values with a t interval on their logarithms.
///
/// Rates and latencies vary by ratios, so a 5 % unit is 5 % at every block size, and the mean of seconds per operation
/// is the inverse of the mean of operations per second (statistics: ratios on the log scale). Fewer than two values
/// have no interval. No values, or a value that is not positive and finite, give no estimate.
///
/// Values are assumed independent, which a few values cannot show. With three repeats of autocorrelation 0.8, the
/// standard error from the repeats is a third of the true error of their mean.
#[must_use]
pub fn geometric(values: &[f64]) -> Option<Estimate> {
    over_repeats(values, LEVEL, "geometric mean of repeats, t interval on logarithms, repeats assumed independent")
}

/// Level of a t interval that is computed after each repeat from the third on, up to nine times, until it is narrow
/// enough, so that the final interval holds with [`LEVEL`]. Stopping when repeats agree by chance makes an interval too
/// narrow. At 95 % it held in 91 % of cases at worst. At this level it held in 95 %, for spreads of repeats from 0.5 to
/// 15 % and a requested width of 5 % (`what_was_looked_at_after_each_repeat_holds`).
const LOOKED_AT: f64 = 0.975;

/// Like [`geometric`], for a series of repeats that ended when this interval was narrow enough.
#[must_use]
pub fn geometric_until_known(values: &[f64]) -> Option<Estimate> {
    over_repeats(values, LOOKED_AT, UNTIL_KNOWN)
}

/// Uses the method of `other`, another figure of the same measurement.
#[must_use]
pub fn geometric_like(values: &[f64], other: Option<&Estimate>) -> Option<Estimate> {
    let until_known = other.is_some_and(|estimate| estimate.method == UNTIL_KNOWN);
    if until_known { geometric_until_known(values) } else { geometric(values) }
}

/// [`geometric`] for a series with up to `looks` interim looks. Each look may end it.
///
/// The interval holds at [`LEVEL`] at least, whichever look ends the series: each look gets an equal share of the error
/// probability (Bonferroni).
#[must_use]
pub fn geometric_of_looks(values: &[f64], looks: u32) -> Option<Estimate> {
    let looks = looks.max(1);
    let each = 1.0 - (1.0 - LEVEL) / f64::from(looks);
    let method = format!("geometric mean of repeats, t interval on logarithms for one of {looks} looks (Bonferroni)");
    over_repeats(values, each, &method)
}

/// How much larger one estimate of a positive quantity is than another one, measured apart from it: the ratio, with the
/// widths of both put together on logarithms. `None` where one of them is not positive; no interval where one has none.
#[must_use]
pub fn change(now: &Estimate, before: &Estimate) -> Option<Estimate> {
    let log = |value: f64| (value > 0.0 && value.is_finite()).then(|| value.ln());
    let (now_log, before_log) = (log(now.point)?, log(before.point)?);
    let ratio = now_log - before_log;
    // For a lower ratio, the lower side of the current estimate and the upper side of the earlier one count.
    let reach = |end: Option<f64>, middle: f64| Some(log(end?)? - middle);
    let side = |a: Option<f64>, b: Option<f64>| Some(a?.hypot(b?));
    let down = side(reach(now.low, now_log), reach(before.high, before_log));
    let up = side(reach(now.high, now_log), reach(before.low, before_log));
    Some(Estimate {
        point: ratio.exp(),
        low: down.map(|half| (ratio - half).exp()),
        high: up.map(|half| (ratio + half).exp()),
        level: now.level.filter(|_| down.is_some() && up.is_some()),
        n: now.n.min(before.n),
        method: "ratio of two estimates, intervals put together on logarithms".to_owned(),
    })
}

/// Method of [`geometric_until_known`].
const UNTIL_KNOWN: &str =
    "geometric mean of repeats, t interval on logarithms, wider for being looked at after each repeat";

/// The geometric mean with the t interval of a level; both hold with [`LEVEL`].
fn over_repeats(values: &[f64], level: f64, method: &str) -> Option<Estimate> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let n = u32::try_from(values.len()).ok()?;
    let count = f64::from(n);
    let mean = log_mean(values);
    if n == 1 {
        return Some(Estimate::bare(values[0], 1, "single repeat"));
    }
    let variance = values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = student_t(level, n - 1)? * (variance / count).sqrt();
    Some(Estimate {
        point: mean.exp(),
        low: Some((mean - half).exp()),
        high: Some((mean + half).exp()),
        level: Some(LEVEL),
        n,
        method: method.to_owned(),
    })
}

// Order statistics of values: median and quartiles. No distribution is assumed, and a single outlier does not change
// them.

/// The median of values with its interval, and the quartiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// The median.
    pub median: f64,
    /// The ends of its interval; `None` of fewer values than an interval of this level takes: six at 95 %.
    pub interval: Option<(f64, f64)>,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
}

/// The median with an interval of at least this level, by order statistics: how many values lie below the median is
/// binomial (Conover 1999, "Practical Nonparametric Statistics", section 3.2). Quartiles are those of definition 7 of
/// Hyndman and Fan (1996). `None` without a value.
#[must_use]
pub fn middle(values: &[f64], level: f64) -> Option<Middle> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let at = |share: f64| {
        let place = share * (n - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(n - 1);
        let part = place - below as f64;
        // Of finite values never more than the larger one.
        sorted[below] * (1.0 - part) + sorted[above] * part
    };
    (n > 0).then(|| Middle {
        median: at(0.5),
        interval: outside(n, level).map(|k| (sorted[k], sorted[n - 1 - k])),
        quartiles: (at(0.25), at(0.75)),
    })
}

/// How many values on each side lie outside of the interval; `None` where even all of them are too few.
fn outside(n: usize, level: f64) -> Option<usize> {
    let below = Binomial::new(0.5, n as u64).ok()?;
    let beyond = (1.0 - level) / 2.0;
    let fits = |k: &usize| below.cdf(*k as u64) <= beyond;
    (0..n / 2).take_while(fits).last()
}

// Logarithms of positive values.

/// Logarithms that differ by less are equal: sums of them differ in the last digits with the unit of the figures.
const EQUAL: f64 = 1e-9;

/// The sum of the squared deviations of logarithms from their mean; 0 of such that are equal but for rounding, so that no verdict
/// depends on the last digit, or on the unit of the figures.
#[must_use]
pub fn log_squares(logs: &[f64]) -> f64 {
    let (low, high) =
        logs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ln| (low.min(*ln), high.max(*ln)));
    if high - low <= EQUAL || logs.is_empty() {
        return 0.0;
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|ln| (ln - mean).powi(2)).sum()
}

/// The mean of the logarithms of positive values; NaN for no values.
#[must_use]
pub fn log_mean(values: &[f64]) -> f64 {
    values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Share of 4,000 measurements whose interval holds the truth, where repeats end as soon as the interval is within
    /// 5 %, after three to nine of them.
    fn holds(spread: f64, interval: fn(&[f64]) -> Option<Estimate>) -> f64 {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(11);
        let normal = Normal::new(0.0, spread).unwrap();
        let measurement = |generator: &mut Xoshiro256PlusPlus| {
            let mut values: Vec<f64> = Vec::new();
            loop {
                values.push(normal.sample(generator).exp());
                if values.len() < 3 {
                    continue;
                }
                let estimate = interval(&values).unwrap();
                if values.len() == 9 || estimate.relative_half_width().unwrap() <= 0.05 {
                    return estimate.low.unwrap() <= 1.0 && estimate.high.unwrap() >= 1.0;
                }
            }
        };
        (0..4000).filter(|_| measurement(&mut generator)).count() as f64 / 4000.0
    }

    /// Three standard errors of 95 % over 4,000 are 1 %.
    #[test]
    fn many_degrees_of_freedom_are_the_normal_distribution_in_no_time() {
        assert!((student_t(0.95, u32::MAX).unwrap() - 1.959_964).abs() < 1e-6);
        for level in [0.5, 0.95, 0.99, 0.9999] {
            let (below, from) = (student_t(level, NORMAL_FROM - 1).unwrap(), student_t(level, NORMAL_FROM).unwrap());
            assert!((below / from - 1.0).abs() < 1e-3, "{level}: {below} and {from}");
        }
    }

    #[test]
    fn what_was_looked_at_after_each_repeat_holds() {
        for spread in [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.15] {
            let share = holds(spread, geometric_until_known);
            assert!(share >= 0.94, "{spread}: {share}");
        }
        let plain = holds(0.05, geometric);
        assert!(plain < 0.935, "the plain interval needs no correction: {plain}");
    }

    #[test]
    fn figures_of_one_measurement_have_one_kind_of_interval() {
        let values = [1.0, 1.1, 1.2];
        let (plain, wide) = (geometric(&values), geometric_until_known(&values));
        assert!(wide.as_ref().unwrap().high > plain.as_ref().unwrap().high);
        assert_eq!(geometric_like(&values, plain.as_ref()), plain);
        assert_eq!(geometric_like(&values, wide.as_ref()), wide);
        assert_eq!(geometric_like(&values, None), plain);
    }

    #[test]
    fn t_quantiles_match_the_tables() {
        // Student (1908), any table of two-sided 95 % points.
        for (degrees, expected) in [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)] {
            let t = student_t(0.95, degrees).unwrap();
            assert!((t - expected).abs() < 5e-4, "{degrees}: {t}");
        }
        assert_eq!(student_t(0.95, 0), None);
    }

    #[test]
    fn three_repeats_by_hand() {
        // ln 90, ln 100, ln 110: mean 4.602 (e^ = 99.67), sd 0.10039, half 4.3027 * sd / sqrt 3.
        let e = geometric(&[90.0, 100.0, 110.0]).unwrap();
        assert!((e.point - 99.666).abs() < 1e-3, "{}", e.point);
        assert!((e.low.unwrap() - 77.67).abs() < 0.05, "{:?}", e.low);
        assert!((e.high.unwrap() - 127.90).abs() < 0.1, "{:?}", e.high);
        assert_eq!((e.n, e.level), (3, Some(0.95)));
    }

    #[test]
    fn one_value_has_no_interval_and_bad_ones_no_estimate() {
        let e = geometric(&[7.0]).unwrap();
        assert_eq!((e.point, e.low, e.high), (7.0, None, None));
        for bad in [&[][..], &[0.0], &[1.0, f64::NAN], &[-1.0, 2.0], &[f64::INFINITY]] {
            assert_eq!(geometric(bad), None);
        }
    }

    /// A series of random values is examined four times, and ended where it seems to differ from 1. It is wrong in at
    /// most one of twenty cases; with the interval of a single look it would be wrong more often.
    #[test]
    fn looking_often_does_not_make_the_interval_promise_too_much() {
        let mut chance = crate::random::Lehmer::new(7);
        let (series, looks) = (4000, [7, 14, 21, 28]);
        let mut wrong = [0; 2];
        for _ in 0..series {
            let values: Vec<f64> = (0..28).map(|_| (0.1 * chance.normal()).exp()).collect();
            let off = |of: &dyn Fn(&[f64]) -> Option<Estimate>| {
                looks.iter().any(|n| of(&values[..*n]).is_some_and(|e| e.low > Some(1.0) || e.high < Some(1.0)))
            };
            wrong[0] += usize::from(off(&|v| geometric_of_looks(v, 4)));
            wrong[1] += usize::from(off(&geometric));
        }
        assert!(wrong[0] <= series / 20, "{wrong:?}");
        assert!(wrong[1] > series / 12, "{wrong:?}");
    }

    #[test]
    fn a_change_has_the_widths_of_both() {
        let of = |point: f64, low: f64, high: f64| Estimate {
            low: Some(low),
            high: Some(high),
            level: Some(LEVEL),
            ..Estimate::bare(point, 7, "")
        };
        let (e3, e4) = (0.03f64.exp(), 0.04f64.exp());
        let changed = change(&of(2.0, 2.0 / e3, 2.0 * e3), &of(1.0, 1.0 / e4, e4)).unwrap();
        let half = 0.05f64.exp();
        assert!((changed.point - 2.0).abs() < 1e-12, "{changed:?}");
        assert!((changed.low.unwrap() - 2.0 / half).abs() < 1e-9, "{changed:?}");
        assert!((changed.high.unwrap() - 2.0 * half).abs() < 1e-9, "{changed:?}");
        // Where one of them reaches further to one side, the ratio does to the side where that leads it: down with the lower end
        // of the current estimate and with the upper end of the earlier one.
        let up = |by: f64| by.exp();
        let changed = change(&of(2.0, 2.0 / up(0.03), 2.0 * up(0.05)), &of(1.0, 1.0 / up(0.12), up(0.04))).unwrap();
        assert!((changed.low.unwrap() - 2.0 / up(0.05)).abs() < 1e-9, "{changed:?}");
        assert!((changed.high.unwrap() - 2.0 * up(0.13)).abs() < 1e-9, "{changed:?}");
        let bare = change(&Estimate::bare(3.0, 1, ""), &of(1.0, 0.9, 1.1)).unwrap();
        assert_eq!((bare.low, bare.high, bare.level), (None, None, None));
        assert_eq!(change(&Estimate::bare(0.0, 1, ""), &bare), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_point_and_scales_with_the_unit(values in prop::collection::vec(1e-3f64..1e9, 2..8), factor in 1e-3f64..1e3) {
            let e = geometric(&values).unwrap();
            prop_assert!(e.low.unwrap() <= e.point && e.point <= e.high.unwrap());
            let scaled = geometric(&values.iter().map(|v| v * factor).collect::<Vec<_>>()).unwrap();
            prop_assert!((scaled.point / e.point / factor - 1.0).abs() < 1e-9);
        }

        #[test]
        fn the_inverse_of_the_mean_is_the_mean_of_the_inverses(values in prop::collection::vec(1e-3f64..1e6, 1..8)) {
            let e = geometric(&values).unwrap();
            let inverse = geometric(&values.iter().map(|v| 1.0 / v).collect::<Vec<_>>()).unwrap();
            prop_assert!((e.point * inverse.point - 1.0).abs() < 1e-9);
        }
    }

    fn of(n: usize) -> Option<Middle> {
        middle(&(1..=n).rev().map(|v| v as f64).collect::<Vec<_>>(), 0.95)
    }

    /// Ranks of Conover, table A3 with p = 1/2: 6 values take all, 28 the ninth and the twentieth.
    #[test]
    fn the_interval_is_that_of_the_tables() {
        assert_eq!(of(0), None);
        assert_eq!(of(5).unwrap().interval, None);
        assert_eq!(of(6).unwrap().interval, Some((1.0, 6.0)));
        assert_eq!(of(28).unwrap().interval, Some((9.0, 20.0)));
        assert_eq!(of(1000).unwrap().interval, Some((469.0, 532.0)));
    }

    #[test]
    fn median_and_quartiles_are_those_of_definition_7() {
        let five = of(5).unwrap();
        assert_eq!((five.median, five.quartiles), (3.0, (2.0, 4.0)));
        let four = of(4).unwrap();
        assert_eq!((four.median, four.quartiles), (2.5, (1.75, 3.25)));
        assert_eq!(of(1).unwrap().quartiles, (1.0, 1.0));
    }
}
