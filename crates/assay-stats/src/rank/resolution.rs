//! What a campaign will be able to distinguish, before it starts.
//!
//! The studentized range: Tukey (1953), "The problem of multiple comparisons". Its distribution is
//! integrated directly; both integrands are analytic and fall off at both ends, where the
//! trapezoidal rule converges geometrically (Trefethen and Weideman 2014).

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use super::entry::Entrant;
use super::shared::SharedErrors;
use super::variances::{Spread, moderated, pooled};
use crate::power::{deviations, phi};
use crate::variation::between_units;

/// Step and reach of the integral over the largest normal value, in deviations.
const NORMAL: (f64, f64) = (0.2, 8.0);
/// Largest number of means; more need a finer step.
const MOST_MEANS: u32 = 1000;
/// Largest quantile looked for: one degree of freedom at 95 % and 40 means is at 60.
const LARGEST: f64 = 1e6;

/// Probability that the range of `means` standard normal values over an independent deviation with
/// `degrees` of freedom is at most `q`. `None` below two means or one degree of freedom.
#[must_use]
pub(crate) fn studentized_range_cdf(q: f64, means: u32, degrees: u32) -> Option<f64> {
    if !(2..=MOST_MEANS).contains(&means) || degrees == 0 || q.is_nan() {
        return None;
    }
    if q <= 0.0 {
        return Some(0.0);
    }
    let nodes = normal_nodes();
    let each = deviations(f64::from(degrees)).map(|(seen, share)| share * range_cdf(q * seen, means, &nodes));
    Some(each.sum::<f64>().clamp(0.0, 1.0))
}

/// Quantile of the studentized range: `probability` of at most this. `None` as for
/// [`studentized_range_cdf`], or for a probability outside 0 to 1.
#[must_use]
pub fn studentized_range(probability: f64, means: u32, degrees: u32) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, 4.0);
    while studentized_range_cdf(high, means, degrees)? < probability {
        low = high;
        high *= 2.0;
        if high > LARGEST {
            return None;
        }
    }
    while high - low > 1e-7 * high {
        let middle = low.midpoint(high);
        if studentized_range_cdf(middle, means, degrees)? < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low.midpoint(high))
}

/// Places of the largest value with their weight and the share of values below.
fn normal_nodes() -> Vec<(f64, f64, f64)> {
    let (step, reach) = NORMAL;
    let n = (reach / step) as i32;
    let scale = step / (2.0 * std::f64::consts::PI).sqrt();
    (-n..=n)
        .map(|i| {
            let z = f64::from(i) * step;
            (z, scale * (-z * z / 2.0).exp(), phi(z))
        })
        .collect()
}

/// Probability that the range of `means` standard normal values is at most `width`.
fn range_cdf(width: f64, means: u32, nodes: &[(f64, f64, f64)]) -> f64 {
    let others = means.cast_signed() - 1;
    let sum: f64 = nodes.iter().map(|(z, weight, below)| weight * (below - phi(z - width)).powi(others)).sum();
    (f64::from(means) * sum).min(1.0)
}

/// A campaign: how many models, with how many units each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CampaignSize {
    /// Models, at least two.
    pub models: u32,
    /// Units of each model, at least two.
    pub units: u32,
    /// Deviation of the logarithm between units of a model; 0.10 is a variation of 10 %.
    pub deviation: f64,
    /// Chance of any false order, between 0 and 1.
    pub alpha: f64,
}

/// The smallest ratio of two models that the campaign can declare: a measured ratio below it will
/// be a tie. It is Tukey's honest significant difference, with the variance shared by all models;
/// [`super::rank`] shares it in part and needs a little more. `None` for fewer than two models or
/// units, or a deviation or chance out of range.
#[must_use]
pub fn smallest_ratio(plan: &CampaignSize) -> Option<f64> {
    if plan.units < 2 || !(plan.deviation > 0.0 && plan.deviation.is_finite()) {
        return None;
    }
    let degrees = plan.models.checked_mul(plan.units - 1)?;
    let q = studentized_range(1.0 - plan.alpha, plan.models, degrees)?;
    Some((q * plan.deviation / f64::from(plan.units).sqrt()).exp())
}

// How well the units of a model tell its mean: the interval beside its figure, in every answer.

/// What the units of a model say of its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Variance of the logarithm between units: the model's own, drawn towards that of all models.
    pub variance: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
    /// Units.
    pub units: u32,
    /// Squared error that all units have in common, as that of the digits in which they were printed.
    pub common: f64,
}

impl Precision {
    /// Squared error of the mean of the logarithms.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.variance / f64::from(self.units) + self.common
    }

    /// Half the width of the interval of that mean at `level`; `None` for a level outside 0 to 1.
    #[must_use]
    pub fn half(&self, level: f64) -> Option<f64> {
        let t = StudentsT::new(0.0, 1.0, self.degrees).ok().filter(|_| (0.0..1.0).contains(&level))?;
        Some(t.inverse_cdf((1.0 + level) / 2.0) * self.error().sqrt())
    }
}

/// The precision of the mean of each entrant, in their order. With `borrow`, models of one unit take the variance of
/// the others. `None` where no units show how units vary, or where all are equal to the last digit of exact figures.
///
/// The moderated variance has the degrees of the prior added to the model's own (Smyth 2004, section 4), and never more
/// than all models have together. Tests of two models are more cautious ([`super::variances::cautious`]): there the
/// smallest variance is the pooled one, with which this interval would hold the mean in 98 of 100 cases instead of 95.
pub fn precisions<'a>(
    entrants: impl IntoIterator<Item = &'a Entrant>,
    (prior, borrow): (f64, bool),
    shared: &SharedErrors,
) -> Vec<Option<Precision>> {
    let entrants: Vec<&Entrant> = entrants.into_iter().collect();
    // The sum does not depend on who leads.
    let mut by_name = entrants.clone();
    by_name.sort_by(|a, b| a.name.cmp(&b.name));
    let pool = pooled(&by_name.iter().map(|e| e.spread()).collect::<Vec<Spread>>());
    let of = |entrant: &&Entrant| {
        let own = entrant.spread();
        let free = f64::from(own.degrees);
        let drawn = |pool, all| (moderated(own, pool, prior), (prior + free).min(f64::from(all)));
        let (variance, degrees) = match pool {
            // With one degree of freedom, the interval of two units is twelve times as wide as their difference. It is
            // therefore combined with the prior for units, and is never narrower than that of a model that varies less.
            Some((pool, all)) if own.shared && exceeds(own, (pool, all)) => match entrant.units {
                2 => wider(between_units(2, Some(own.variance)), drawn(pool, all)),
                _ => (own.variance, free),
            },
            Some((pool, all)) => drawn(pool, all),
            // Models at the ceiling do not inform each other.
            None => (own.variance, free),
        };
        let common = shared.own(&entrant.name);
        let known = (entrant.units > 1 || borrow) && variance + common > 0.0 && degrees >= 1.0;
        known.then_some(Precision { variance, degrees, units: entrant.units, common })
    };
    entrants.iter().map(of).collect()
}

/// Of two variances with their degrees of freedom, the one whose interval of 95 % is wider.
fn wider(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let half = |(variance, degrees)| Precision { variance, degrees, units: 1, common: 0.0 }.half(0.95);
    if half(a) >= half(b) { a } else { b }
}

/// Chance with which the variance of a model exceeds that of the others where all vary alike, from which on it is taken for
/// the model's own.
const CLEARLY: f64 = 0.9;

/// Whether a model varies clearly more than the others of the pool: drawn to that, its interval of 95 % held the mean in 71 to
/// 79 of 100 models of two units that vary eight times as much, and in 83 to 87 of three.
fn exceeds(own: Spread, (pool, all): (f64, u32)) -> bool {
    let (free, rest) = (f64::from(own.degrees), f64::from(all) - f64::from(own.degrees));
    let others = pool * f64::from(all) - own.variance * free;
    if own.degrees == 0 || rest < 1.0 || others <= 0.0 {
        return false;
    }
    let quantile = FisherSnedecor::new(free, rest).map(|f| f.inverse_cdf(CLEARLY)).unwrap_or(f64::INFINITY);
    own.variance > quantile * others / rest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::entry::Precedence;
    use super::super::variances::PRIOR_DEGREES;
    use super::*;
    use crate::random::Lehmer;

    #[test]
    fn quantiles_match_the_tables() {
        // Any table of the upper 5 % points of the studentized range.
        for (means, degrees, q) in [
            (3, 6, 4.339),
            (4, 8, 4.529),
            (5, 10, 4.654),
            (8, 16, 4.896),
            (3, 3, 5.910),
            (2, 1, 17.97),
            (10, 120, 4.560),
        ] {
            let found = studentized_range(0.95, means, degrees).unwrap();
            assert!((found / q - 1.0).abs() < 2e-4, "{means} {degrees}: {found}");
        }
        // Two means: the range over the deviation is sqrt 2 times |t|.
        let q = studentized_range(0.95, 2, 4).unwrap();
        let t = crate::interval::student_t(0.95, 4).unwrap();
        assert!((q - t * 2f64.sqrt()).abs() < 1e-4, "{q}");
        assert_eq!(studentized_range(0.95, 1, 4), None);
        assert_eq!(studentized_range(0.95, 3, 0), None);
        assert_eq!(studentized_range(1.0, 3, 3), None);
    }

    #[test]
    fn percent_that_can_be_declared() {
        // Exact Tukey intervals for a variation of 5, 10, 15 % between units, to the percent point.
        let table = [
            (5, 2, [22.0, 49.0, 83.0]),
            (5, 3, [14.0, 31.0, 50.0]),
            (5, 4, [12.0, 24.0, 39.0]),
            (5, 6, [9.0, 18.0, 29.0]),
            (5, 10, [7.0, 14.0, 21.0]),
            (3, 3, [13.0, 28.0, 46.0]),
            (8, 3, [15.0, 33.0, 53.0]),
        ];
        for (models, units, expected) in table {
            for (deviation, percent) in [0.05, 0.10, 0.15].into_iter().zip(expected) {
                let ratio = smallest_ratio(&CampaignSize { models, units, deviation, alpha: 0.05 }).unwrap();
                assert!(((ratio - 1.0) * 100.0 - percent).abs() <= 1.0, "{models} {units} {deviation}: {ratio}");
            }
        }
        assert_eq!(smallest_ratio(&CampaignSize { models: 5, units: 1, deviation: 0.1, alpha: 0.05 }), None);
        assert_eq!(smallest_ratio(&CampaignSize { models: 1, units: 5, deviation: 0.1, alpha: 0.05 }), None);
    }

    fn entrant(name: &str, values: &[f64]) -> Entrant {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let units = u32::try_from(values.len()).unwrap();
        Entrant {
            name: name.to_owned(),
            mean,
            variance,
            units,
            class: Precedence::Sound,
            censored: false,
            flattered: false,
        }
    }

    #[test]
    fn a_model_alone_has_the_interval_of_student() {
        let one = entrant("a", &[-0.1, 0.0, 0.1]);
        let single = entrant("b", &[0.3]);
        let [a, b] = precisions([&one, &single], (PRIOR_DEGREES, false), &SharedErrors::default())[..] else {
            panic!()
        };
        let a = a.unwrap();
        // t(2) at 97.5 % is 4.3027.
        assert!((a.half(0.95).unwrap() - 4.3027 * (0.01f64 / 3.0).sqrt()).abs() < 1e-5, "{a:?}");
        assert_eq!((a.degrees, b), (2.0, None));
        assert_eq!(precisions([&single], (PRIOR_DEGREES, true), &SharedErrors::default()), [None]);
        assert_eq!(
            precisions([&one, &single], (PRIOR_DEGREES, true), &SharedErrors::default())[1]
                .map(|p| (p.degrees, p.units)),
            Some((2.0, 1))
        );
        assert_eq!(precisions([&entrant("a", &[0.2, 0.2])], (PRIOR_DEGREES, false), &SharedErrors::default()), [None]);
        assert_eq!(a.half(1.0), None);
    }

    /// Three units that are all printed as 23 are off by up to half a step together.
    #[test]
    fn the_step_of_printed_figures_is_an_error_that_units_do_not_average_out() {
        let step: f64 = 1.0 / 23.0;
        let mut shared = SharedErrors::default();
        shared.add_own(&BTreeMap::from([("a", step.powi(2) / 12.0), ("b", 0.0)]));
        let of = |entrant: &Entrant| precisions([entrant], (PRIOR_DEGREES, false), &shared)[0];
        let alike = of(&entrant("a", &[0.0, 0.0, 0.0])).unwrap();
        // t(2) at 97.5 % is 4.3027.
        assert!((alike.half(0.95).unwrap() - 4.3027 * step / 12f64.sqrt()).abs() < 1e-5, "{alike:?}");
        let unlike = of(&entrant("a", &[-0.1, 0.0, 0.1])).unwrap();
        assert!((unlike.error() - (0.01 / 3.0 + step.powi(2) / 12.0)).abs() < 1e-12, "{unlike:?}");
        assert_eq!(of(&entrant("b", &[0.0, 0.0, 0.0])), None);
    }

    #[test]
    fn the_interval_of_two_units_grows_with_their_difference() {
        let others = ["a", "b"].map(|name| entrant(name, &[-0.26, 0.0, 0.26]));
        let mut before = 0.0;
        for step in 1..=100 {
            let difference = 0.01 * f64::from(step);
            let two = entrant("c", &[-difference, difference]);
            let models = [&others[0], &others[1], &two];
            let half = precisions(models, (PRIOR_DEGREES, false), &SharedErrors::default())[2]
                .and_then(|p| p.half(0.95))
                .unwrap();
            assert!(half >= before, "{difference}: {half} after {before}");
            before = half;
        }
    }

    #[test]
    fn who_is_held_by_the_bus_says_nothing_of_others() {
        let free = entrant("a", &[-0.1, 0.0, 0.1]);
        let held = Entrant { censored: true, ..entrant("b", &[0.0, 0.001, 0.002]) };
        let of = precisions([&held, &free], (PRIOR_DEGREES, false), &SharedErrors::default());
        assert!((of[1].unwrap().variance - 0.01).abs() < 1e-12);
        assert!(
            (precisions([&held], (PRIOR_DEGREES, false), &SharedErrors::default())[0].unwrap().variance - 1e-6).abs()
                < 1e-12
        );
    }

    /// Three models of three or six units that vary alike.
    #[test]
    fn it_holds_the_mean_in_95_of_100() {
        for units in [3, 6] {
            let mut random = Lehmer::new(11);
            let held = (0..6000).filter(|_| {
                let models = ["a", "b", "c"]
                    .map(|name| entrant(name, &(0..units).map(|_| 0.1 * random.normal()).collect::<Vec<_>>()));
                let half = precisions(&models, (PRIOR_DEGREES, false), &SharedErrors::default())[0]
                    .and_then(|p| p.half(0.95))
                    .unwrap();
                models[0].mean.abs() <= half
            });
            // One standard error is 0.0028.
            let share = held.count() as f64 / 6000.0;
            assert!((0.94..0.96).contains(&share), "{units}: {share}");
        }
    }
}
