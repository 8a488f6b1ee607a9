//! Units of one model that fall into two groups, such as two kinds of memory under one name, or two kinds of hosts.
//!
//! The test for odd units names at most a third of a model, and the farthest ones first: five of fourteen units at three
//! quarters of the speed are no odd units, and "none is odd" hides them. Two groups show by the gap between them, in
//! standard deviations within the groups: the largest gap over all splits of the sorted units, by the pooled deviation on
//! either side. For units of one kind that statistic depends on the shape of their distribution. Its limit is that of the
//! least favourable of six shapes (normal, Student's t with three and five degrees of freedom, exponential, uniform,
//! Laplace): 60,000 models each of 6 to 60 units were drawn, and [`limit`] lies above their percentiles at chances of
//! 1 to 0.04 %.

use super::fit::ModelFit;

/// Smaller ratios are never reported, even if significant: units of one model do differ.
pub(super) const LEAST_RATIO: f64 = 1.15;
/// The smallest number of units in a group: two units at one end of a skewed distribution are no second kind.
const LEAST_GROUP: usize = 3;

/// Two groups of the units of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoGroups {
    /// The model.
    pub model: String,
    /// Names of the units with the lower values, the lowest first.
    pub low: Vec<String>,
    /// Names of the units with the higher values.
    pub high: Vec<String>,
    /// Geometric mean of the lower values over that of the higher ones.
    pub ratio: f64,
}

/// The two groups that the units of a model form, if those of one kind would with a probability of at most `chance`.
pub(super) fn two_groups(model: &ModelFit, chance: f64) -> Option<TwoGroups> {
    let mut units: Vec<(&str, f64)> = model.units.iter().map(|unit| (unit.name.as_str(), unit.ln)).collect();
    units.sort_by(|a, b| a.1.total_cmp(&b.1));
    let n = units.len();
    let splits = LEAST_GROUP..=n.checked_sub(LEAST_GROUP)?;
    let gap = |at: usize| {
        let (low, high) = units.split_at(at);
        let deviation = ((squares(low) + squares(high)) / (n as f64 - 2.0)).sqrt();
        // Copies of two figures deviate by nothing.
        (high[0].1 - low[at - 1].1) / deviation.max(f64::MIN_POSITIVE)
    };
    let (at, widest) = splits.map(|at| (at, gap(at))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (low, high) = units.split_at(at);
    let ratio = (mean(low) - mean(high)).exp();
    let names = |of: &[(&str, f64)]| of.iter().map(|(name, _)| (*name).to_owned()).collect();
    (widest > limit(n as f64, chance) && ratio * LEAST_RATIO < 1.0).then(|| TwoGroups {
        model: model.name.clone(),
        low: names(low),
        high: names(high),
        ratio,
    })
}

/// The statistic that units of one kind exceed with a probability of at most `chance`, for any of the six shapes.
fn limit(n: f64, chance: f64) -> f64 {
    (2.0 + 35.0 / n) * (0.01 / chance).powf(0.16 + 0.9 / n)
}

fn mean(units: &[(&str, f64)]) -> f64 {
    units.iter().map(|unit| unit.1).sum::<f64>() / units.len() as f64
}

/// Sum of squared deviations from the mean.
fn squares(units: &[(&str, f64)]) -> f64 {
    let mean = mean(units);
    units.iter().map(|unit| (unit.1 - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::fit::UnitFit;
    use super::*;
    use crate::random::Lehmer;

    fn model(logarithms: impl IntoIterator<Item = f64>) -> ModelFit {
        let unit = |(at, ln): (usize, f64)| UnitFit { name: format!("{at}"), ln, repeats: 1 };
        ModelFit::new("a".to_owned(), logarithms.into_iter().enumerate().map(unit).collect())
    }

    /// Fourteen nodes of which five were at three quarters: the answer was that none is odd.
    #[test]
    fn five_of_fourteen_at_three_quarters_are_a_group() {
        let mut random = Lehmer::new(21);
        let mut found = 0;
        for _ in 0..500 {
            let value = |at: usize| if at % 3 == 1 { 0.75f64.ln() } else { 0.0 };
            let all = model((0..14).map(|at| value(at) + 0.03 * random.normal()));
            if let Some(groups) = two_groups(&all, 0.0125) {
                let mut low: Vec<usize> = groups.low.iter().map(|name| name.parse().unwrap()).collect();
                low.sort_unstable();
                assert!(low == [1, 4, 7, 10, 13] && groups.high.len() == 9, "{groups:?}");
                assert!((0.68..0.82).contains(&groups.ratio), "{groups:?}");
                found += 1;
            }
        }
        println!("{found} of 500");
        assert!(found >= 450, "{found}");
    }

    #[test]
    fn groups_of_two_and_small_differences_are_none() {
        let of = |values: &[f64]| two_groups(&model(values.iter().map(|value| value.ln())), 0.0125);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1.0, 2.0]), None);
        assert_eq!(of(&[50.0, 50.1, 99.9, 100.0, 100.1, 100.2, 99.8]), None, "two units");
        let groups = of(&[50.0, 50.1, 50.2, 99.9, 100.0, 100.1, 99.8]).unwrap();
        assert_eq!((groups.low.len(), groups.high.len()), (3, 4));
        assert_eq!(of(&[90.0, 90.01, 90.02, 99.99, 100.0, 100.01, 100.0]), None, "10 % is left alone, however sharp");
        // Copies of two figures are two groups.
        assert!(of(&[50.0, 50.0, 50.0, 100.0, 100.0, 100.0]).is_some());
        assert_eq!(of(&[100.0; 8]), None);
    }

    /// One error of 2,000 at 2.5 % is 0.0035.
    #[test]
    fn units_of_one_kind_are_two_groups_as_seldom_as_stated() {
        let mut random = Lehmer::new(22);
        for units in [6, 7, 8, 9, 12, 14, 20, 28, 60] {
            for shape in ["normal", "t3", "exponential", "uniform"] {
                let mut draw = || match shape {
                    "normal" => random.normal(),
                    "t3" => {
                        let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                        random.normal() / (squares / 3.0).sqrt()
                    }
                    "exponential" => -random.next().ln(),
                    _ => random.next(),
                };
                for chance in [0.025, 0.0025] {
                    let wrong = (0..2000).filter(|_| two_groups(&model((0..units).map(|_| draw())), chance).is_some());
                    let share = wrong.count() as f64 / 2000.0;
                    println!("{units} {shape} {chance}: {share}");
                    assert!(share <= chance + 0.0035, "{units} {shape} {chance}: {share}");
                }
            }
        }
    }
}
