//! Intervals of models in a race.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::race::{Contender, Rules, pooled, squares};
use crate::logs::log_mean;

/// The interval, at `level`, of what each model does; `None` for a model without units or at its ceiling.
///
/// How units vary is taken from the units alone where they are enough: the prior that makes a race short promises too much
/// where units vary by more. Who leads, leads by luck in part, and who trails, trails by it: the interval is laid around the
/// mean drawn to that of all models by the share of the spread between them that chance explains (Efron and Morris 1975),
/// and reaches to the mean itself at least. That share is an estimate, too, of few models: its error is that of Morris (1983),
/// "Parametric empirical Bayes inference", JASA 78.
#[must_use]
pub fn intervals(contenders: &[Contender], rules: &Rules, level: f64) -> Vec<Option<(f64, f64)>> {
    let (sum, measured) = squares(contenders);
    let (variance, degrees) =
        if measured >= rules.prior_degrees { (sum / measured, measured) } else { pooled(contenders, rules) };
    let free: Vec<&Contender> = contenders.iter().filter(|c| !c.censored && !c.unit_means.is_empty()).collect();
    let count = free.len() as f64;
    let means: Vec<f64> = free.iter().map(|c| log_mean(&c.unit_means)).collect();
    let centre = means.iter().sum::<f64>() / count.max(1.0);
    let error = |c: &Contender| variance / c.unit_means.len() as f64;
    let chance = free.iter().map(|c| error(c)).sum::<f64>() / count.max(1.0);
    let spread = means.iter().map(|m| (m - centre).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let between = (spread - chance).max(0.0);
    let t = StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| (0.0..1.0).contains(&level));
    let t = t.map(|t| t.inverse_cdf((1.0 + level) / 2.0));
    let of = |c: &Contender| {
        if c.censored || c.unit_means.is_empty() {
            return None;
        }
        let (mean, error) = (log_mean(&c.unit_means), error(c));
        let luck = if free.len() > 1 && error + between > 0.0 { error / (error + between) } else { 0.0 };
        let drawn = luck * (mean - centre);
        let of_luck = 2.0 / (count - 3.0).max(1.0) * drawn * drawn;
        let (middle, half) = (mean - drawn, t? * (error + of_luck).sqrt());
        Some(((middle - half).min(mean).exp(), (middle + half).max(mean).exp()))
    };
    contenders.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::race::Outcome;
    use super::*;

    fn model(logs: &[f64]) -> Contender {
        let unit_means = logs.iter().map(|y| y.exp()).collect();
        Contender { name: String::new(), unit_means, outcome: Outcome::Finished, censored: false, dropped: false }
    }

    /// Means 0, 1 and 2; each model varies by 0.02 with one degree of freedom.
    #[test]
    fn the_leader_is_drawn_to_the_others_by_what_chance_explains() {
        let pair = |mean: f64| model(&[mean - 0.1, mean + 0.1]);
        let rules = Rules { prior_degrees: 3.0, ..Rules::default() };
        let all = intervals(&[pair(0.0), pair(1.0), pair(2.0)], &rules, 0.95);
        // t(3) at 97.5 % is 3.1824; the error 0.02 / 2; chance explains 0.01 of 1 between the models, which is known with
        // the squared error 2 · (0.01 · 1)².
        let (half, luck) = (3.1824 * 0.1, 0.01);
        let (low, high) = all[2].unwrap();
        let wider = 3.1824 * (0.01f64 + 2.0 * 1e-4).sqrt();
        assert!((low.ln() - (2.0 - luck - wider)).abs() < 1e-4 && (high.ln() - (2.0 - luck + wider)).abs() < 1e-4);
        let (low, high) = all[1].unwrap();
        assert!((low.ln() - (1.0 - half)).abs() < 1e-4 && (high.ln() - (1.0 + half)).abs() < 1e-4);
    }

    #[test]
    fn few_units_take_the_prior_and_models_at_the_ceiling_have_no_interval() {
        let held = Contender { censored: true, ..model(&[0.0, 0.1]) };
        let all = intervals(&[model(&[0.0, 0.0]), held, model(&[])], &Rules::default(), 0.95);
        // Four degrees of 10 % and one of 0: 0.008. t(5) at 97.5 % is 2.5706.
        let (low, high) = all[0].unwrap();
        assert!((high.ln() - 2.5706 * (0.008f64 / 2.0).sqrt()).abs() < 1e-4 && (low * high - 1.0).abs() < 1e-9);
        assert_eq!(all[1..], [None, None]);
        assert_eq!(intervals(&[model(&[0.0, 0.0])], &Rules::default(), 1.0), [None]);
    }
}
