//! How well the units of a model tell its mean: the interval beside its figure, in every answer.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use super::entry::Entrant;
use super::shared::Shared;
use super::variances::{Spread, moderated, pooled};
use crate::variation::between_units;

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
    shared: &Shared,
) -> Vec<Option<Precision>> {
    let entrants: Vec<&Entrant> = entrants.into_iter().collect();
    // The sum does not depend on who leads.
    let mut by_name = entrants.clone();
    by_name.sort_by(|a, b| a.name.cmp(&b.name));
    let pool = pooled(&by_name.iter().map(|e| e.spread()).collect::<Vec<Spread>>());
    let of = |entrant: &&Entrant| {
        let own = entrant.spread();
        let free = f64::from(own.degrees);
        let (variance, degrees) = match pool {
            // With one degree of freedom, the interval of two units is twelve times as wide as their difference. It is
            // therefore combined with the prior for units.
            Some((pool, all)) if own.shared && exceeds(own, (pool, all)) => match entrant.units {
                2 => between_units(2, Some(own.variance)),
                _ => (own.variance, free),
            },
            Some((pool, all)) => (moderated(own, pool, prior), (prior + free).min(f64::from(all))),
            // Models at the ceiling do not inform each other.
            None => (own.variance, free),
        };
        let common = shared.own(&entrant.name);
        let known = (entrant.units > 1 || borrow) && variance + common > 0.0 && degrees >= 1.0;
        known.then_some(Precision { variance, degrees, units: entrant.units, common })
    };
    entrants.iter().map(of).collect()
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

    use super::super::entry::Class;
    use super::super::variances::PRIOR_DEGREES;
    use super::*;
    use crate::testing::Lehmer;

    fn entrant(name: &str, values: &[f64]) -> Entrant {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let units = u32::try_from(values.len()).unwrap();
        Entrant { name: name.to_owned(), mean, variance, units, class: Class::Sound, censored: false, flattered: false }
    }

    #[test]
    fn a_model_alone_has_the_interval_of_student() {
        let one = entrant("a", &[-0.1, 0.0, 0.1]);
        let single = entrant("b", &[0.3]);
        let [a, b] = precisions([&one, &single], (PRIOR_DEGREES, false), &Shared::default())[..] else { panic!() };
        let a = a.unwrap();
        // t(2) at 97.5 % is 4.3027.
        assert!((a.half(0.95).unwrap() - 4.3027 * (0.01f64 / 3.0).sqrt()).abs() < 1e-5, "{a:?}");
        assert_eq!((a.degrees, b), (2.0, None));
        assert_eq!(precisions([&single], (PRIOR_DEGREES, true), &Shared::default()), [None]);
        assert_eq!(
            precisions([&one, &single], (PRIOR_DEGREES, true), &Shared::default())[1].map(|p| (p.degrees, p.units)),
            Some((2.0, 1))
        );
        assert_eq!(precisions([&entrant("a", &[0.2, 0.2])], (PRIOR_DEGREES, false), &Shared::default()), [None]);
        assert_eq!(a.half(1.0), None);
    }

    /// Three units that are all printed as 23 are off by up to half a step together.
    #[test]
    fn the_step_of_printed_figures_is_an_error_that_units_do_not_average_out() {
        let step: f64 = 1.0 / 23.0;
        let mut shared = Shared::default();
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
    fn who_is_held_by_the_bus_says_nothing_of_others() {
        let free = entrant("a", &[-0.1, 0.0, 0.1]);
        let held = Entrant { censored: true, ..entrant("b", &[0.0, 0.001, 0.002]) };
        let of = precisions([&held, &free], (PRIOR_DEGREES, false), &Shared::default());
        assert!((of[1].unwrap().variance - 0.01).abs() < 1e-12);
        assert!(
            (precisions([&held], (PRIOR_DEGREES, false), &Shared::default())[0].unwrap().variance - 1e-6).abs() < 1e-12
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
                let half = precisions(&models, (PRIOR_DEGREES, false), &Shared::default())[0]
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
