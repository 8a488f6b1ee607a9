//! The difference between two units over days, where the variance of days may differ between the units.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::days::Day;
use crate::logs::log_squares;
use crate::rank::pair_degrees;
use crate::variation::RunVariance;

/// The number of days from which a unit shows the variance of its own days.
const OWN_DAYS: usize = 3;

/// Half the width of the interval, at `level`, of the difference of the logarithms of two units, and the degrees of
/// freedom of the assumed deviation of days in it. `None` for a level outside 0 to 1, and for a unit without days.
///
/// The variance of days of one unit may differ from that of the other. With a unit in a warm room and one in a cold
/// room, measured on one day and on five, a pooled variance told 69 of 100 equal pairs apart (simulated). So with at
/// least three days of each unit, this is Welch's test over days. If one unit has fewer, it gets the prior of
/// [`RunVariance`], or the variance of the other's days if that is larger. If both have fewer, all days share one
/// variance, with the prior. Copies of a figure show no variance, and are judged with the prior too.
#[must_use]
pub fn half_between(first: &[Day<'_>], second: &[Day<'_>], level: f64) -> Option<(f64, f64)> {
    let weights = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
    let both = RunVariance::of_days([first.to_vec(), second.to_vec()]);
    if !weights.is_finite() {
        return None;
    }
    let pooled = || both.half(level, weights).map(|half| (half, both.assumed()));
    let (enough, other) = (own(first), own(second));
    let (error, degrees, assumed) = match (enough, other) {
        (Some(x), Some(y)) => {
            let count = |days: &[Day<'_>]| u32::try_from(days.len()).unwrap_or(u32::MAX);
            let (x, y) = ((x / first.len() as f64, count(first)), (y / second.len() as f64, count(second)));
            (x.0 + y.0, pair_degrees(x, y), 0.0)
        }
        (None, None) => return pooled(),
        _ => {
            let [x, y] = [first, second].map(|days| RunVariance::of_days([days.to_vec()]));
            let [known, unknown] = if enough.is_some() { [x, y] } else { [y, x] };
            if known.deviation() > unknown.deviation() {
                (known.deviation().powi(2) * weights, known.degrees(), known.assumed())
            } else {
                let of = |unit: &RunVariance, days: &[Day<'_>]| unit.deviation().powi(2) / days.len() as f64;
                let (of_x, of_y) = (of(&x, first), of(&y, second));
                let degrees = (of_x + of_y).powi(2) / (of_x.powi(2) / x.degrees() + of_y.powi(2) / y.degrees());
                (of_x + of_y, degrees, x.assumed().max(y.assumed()))
            }
        }
    };
    let t = StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| (0.0..1.0).contains(&level))?;
    Some((t.inverse_cdf((1.0 + level) / 2.0) * error.sqrt(), assumed))
}

/// The variance between the days of a unit, from its own days. `None` where it has too few days, a day without a name,
/// or equal figures.
fn own(days: &[Day<'_>]) -> Option<f64> {
    if days.len() < OWN_DAYS || days.iter().any(|day| day.name.is_none()) {
        return None;
    }
    let n = days.len() as f64;
    let squares = log_squares(&days.iter().map(Day::log_mean).collect::<Vec<f64>>());
    Some(squares / (n - 1.0)).filter(|variance| *variance > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::days::{Run, days};
    use crate::testing::Lehmer;

    const NAMES: [&str; 6] = ["1", "2", "3", "4", "5", "6"];

    /// The share of 4,000 pairs of equal units that are told apart, where days vary by deviations `a` and `b`.
    fn told_apart((n, m): (usize, usize), (a, b): (f64, f64)) -> f64 {
        let mut random = Lehmer::new(23);
        let wrong = (0..4000).filter(|_| {
            let mut unit = |n: usize, deviation: f64| -> Vec<[f64; 1]> {
                (0..n).map(|_| [(deviation * random.normal()).exp()]).collect()
            };
            let (x, y) = (unit(n, a), unit(m, b));
            let [x, y] =
                [&x, &y].map(|runs| days(runs.iter().zip(NAMES).map(|(values, day)| Run { values, day: Some(day) })));
            let mean = |days: &[Day<'_>]| days.iter().map(Day::log_mean).sum::<f64>() / days.len() as f64;
            (mean(&x) - mean(&y)).abs() > half_between(&x, &y, 0.95).unwrap().0
        });
        wrong.count() as f64 / 4000.0
    }

    #[test]
    fn units_whose_days_differ_unlike_are_not_told_apart_more_often() {
        // One standard error is 0.0034.
        for (n, deviations) in [
            ((3, 3), (0.06, 0.005)),
            ((6, 3), (0.005, 0.06)),
            ((1, 5), (0.05, 0.005)),
            ((2, 6), (0.05, 0.005)),
            ((1, 4), (0.3, 0.3)),
            ((2, 4), (0.4, 0.4)),
            ((2, 2), (0.3, 0.3)),
            ((2, 3), (0.2, 0.2)),
        ] {
            let share = told_apart(n, deviations);
            assert!(share <= 0.065 + 0.0034, "{n:?} {deviations:?}: {share}");
        }
        for n in [(1, 1), (3, 1), (3, 3), (6, 6), (3, 6)] {
            let share = told_apart(n, (0.03, 0.03));
            assert!(share <= 0.065, "{n:?}: {share}");
        }
    }

    #[test]
    fn days_that_nobody_knows_and_copies_are_judged_with_what_is_assumed() {
        let values = [[1.0], [1.1], [1.2], [1.0]];
        let of = |name: fn(usize) -> Option<&'static str>, values: &[[f64; 1]]| {
            let unit = || days(values.iter().enumerate().map(|(at, values)| Run { values, day: name(at) }));
            half_between(&unit(), &unit(), 0.95).map(|(_, assumed)| assumed > 0.0)
        };
        assert_eq!(of(|at| Some(NAMES[at]), &values), Some(false));
        assert_eq!(of(|_| None, &values), Some(true));
        assert_eq!(of(|at| Some(NAMES[at]), &[[1.0]; 4]), Some(true));
        assert_eq!(half_between(&[], &days([Run::undated(&[1.0])]), 0.95), None);
    }
}
