//! What a campaign will be able to tell apart, before it starts.
//!
//! The studentized range: Tukey (1953), "The problem of multiple comparisons". Its distribution is
//! integrated directly; both integrands are analytic and fall off at both ends, where the
//! trapezoidal rule converges geometrically (Trefethen and Weideman 2014).

use crate::power::{deviations, phi};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
