//! The posterior of a rate on the log scale, and draws from it.

use statrs::distribution::{ContinuousCDF, Normal};

use super::super::interval::log_mean;
use super::bounds::{InputRefusal, all_positive, not_negative, positive};
use crate::random::Generator;

/// What a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The measured mean: that of the model, or that of the specimen where runs of one unit were taken.
    Mean,
    /// The next unit of the model: the card that will be bought.
    NextUnit,
}

/// A rate (or another positive quantity) with its uncertainty.
///
/// The logarithm of the mean has a Student t distribution around the measured value (flat prior on the mean; Gelman et
/// al., "Bayesian Data Analysis", 3rd ed., section 3.2). The next unit differs from the mean by a deviation of its own
/// with the same estimate of the variance, so that its draws follow the prediction distribution, t scaled by
/// sqrt(variance of the mean + of units).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    log_mean: f64,
    spread: Option<Spread>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    mean_variance: f64,
    unit_variance: Option<f64>,
    degrees: f64,
}

impl Posterior {
    /// A figure without an interval; decisions cannot tell what they would need one for.
    ///
    /// # Errors
    /// A value that is not positive and finite.
    pub fn point(value: f64) -> Result<Self, InputRefusal> {
        Ok(Self { log_mean: positive("the value", value)?.ln(), spread: None })
    }

    /// From the means of several units of one model. One unit is a point.
    ///
    /// # Errors
    /// No value, or one that is not positive and finite.
    pub fn of_units(means: &[f64]) -> Result<Self, InputRefusal> {
        let values = all_positive("units", means)?;
        let n = values.len() as f64;
        let log_mean = log_mean(values);
        let squares = values.iter().map(|v| (v.ln() - log_mean).powi(2)).sum::<f64>();
        let spread = (values.len() > 1).then(|| {
            let variance = squares / (n - 1.0);
            Spread { mean_variance: variance / n, unit_variance: Some(variance), degrees: n - 1.0 }
        });
        Ok(Self { log_mean, spread })
    }

    /// From an analysis of several models: mean of the logarithms, variance of that mean, variance
    /// between units (`None` where the rate is about one unit), degrees of freedom.
    ///
    /// # Errors
    /// A mean that is not finite, a variance below zero, no degree of freedom.
    pub fn moderated(
        log_mean: f64,
        mean_variance: f64,
        unit_variance: Option<f64>,
        degrees: f64,
    ) -> Result<Self, InputRefusal> {
        if !log_mean.is_finite() {
            return Err(InputRefusal::NotPositive { what: "the mean", value: log_mean.exp() });
        }
        let mean_variance = not_negative("the variance of the mean", mean_variance)?;
        let unit_variance = unit_variance.map(|v| not_negative("the variance between units", v)).transpose()?;
        let degrees = positive("the degrees of freedom", degrees)?;
        Ok(Self { log_mean, spread: Some(Spread { mean_variance, unit_variance, degrees }) })
    }

    /// The estimate itself, in the unit of the values.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.log_mean.exp()
    }

    /// The logarithm of the estimate.
    #[must_use]
    pub fn log_mean(&self) -> f64 {
        self.log_mean
    }

    /// Whether draws about this can be made.
    #[must_use]
    pub fn knows(&self, about: About) -> bool {
        self.spread.is_some_and(|s| about == About::Mean || s.unit_variance.is_some())
    }

    /// Variance of the logarithm of a single unit around the mean; `None` where it is not known.
    #[must_use]
    pub fn unit_variance(&self) -> Option<f64> {
        self.spread.and_then(|s| s.unit_variance)
    }

    /// Share of the units whose logarithm is above `limit`, were the mean known to be the estimate; `None` where it is
    /// not known how units differ, or they do not.
    #[must_use]
    pub fn units_above(&self, limit: f64) -> Option<f64> {
        let variance = self.unit_variance().filter(|v| *v > 0.0)?;
        Normal::new(0.0, variance.sqrt()).ok().map(|units| units.cdf(self.log_mean - limit))
    }

    /// Squared error of the logarithm of the mean, and its degrees of freedom; `None` for a point.
    #[must_use]
    pub fn error(&self) -> Option<(f64, f64)> {
        self.spread.map(|s| (s.mean_variance, s.degrees))
    }

    /// `count` logarithms of what the rate may be.
    ///
    /// # Errors
    /// [`InputRefusal::NoInterval`] for a point; [`InputRefusal::OneUnit`] for a next unit where runs of one
    /// unit are all there is.
    pub fn draws(&self, about: About, count: usize, seed: u64) -> Result<Vec<f64>, InputRefusal> {
        let mut generator = Generator::new(seed);
        let draw = self.sampler(about)?;
        Ok((0..count).map(|_| draw.next(&mut generator)).collect())
    }

    pub(crate) fn sampler(&self, about: About) -> Result<Sampler, InputRefusal> {
        let spread = self.spread.ok_or(InputRefusal::NoInterval { what: "the rate" })?;
        let variance = match about {
            About::Mean => spread.mean_variance,
            About::NextUnit => spread.mean_variance + spread.unit_variance.ok_or(InputRefusal::OneUnit)?,
        };
        Ok(Sampler { centre: self.log_mean, scale: variance.sqrt(), degrees: spread.degrees })
    }
}

/// `count` draws of the logarithms of several rates, which are independent: each in turn from one stream.
///
/// # Errors
/// As [`Posterior::draws`], for any of them.
pub fn draws_together<const N: usize>(
    rates: [&Posterior; N],
    about: About,
    count: usize,
    seed: u64,
) -> Result<Vec<[f64; N]>, InputRefusal> {
    let mut samplers = Vec::with_capacity(N);
    for rate in rates {
        samplers.push(rate.sampler(about)?);
    }
    let mut generator = Generator::new(seed);
    Ok((0..count).map(|_| std::array::from_fn(|rate| samplers[rate].next(&mut generator))).collect())
}

/// Draws of one logarithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampler {
    centre: f64,
    scale: f64,
    degrees: f64,
}

impl Sampler {
    pub(crate) fn next(&self, generator: &mut Generator) -> f64 {
        let z = generator.normal();
        self.centre + self.scale * z * (self.degrees / generator.chi_squared(self.degrees)).sqrt()
    }
}

// The expected loss from choosing one of several alternatives by cost and uncertain value.
//
// Expected loss: Chick and Inoue (2001), "New two-stage and sequential procedures for selecting the best simulated
// system".

/// Draws: the standard error of a probability of 0.5 is 0.005.
const DRAWS: usize = 10_000;

/// One that can be chosen. More is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// Its cost.
    pub cost: f64,
    /// Its value.
    pub value: Posterior,
}

/// The results of choosing one alternative, over all draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChoiceLoss {
    /// Probability of being on the front of cost and value.
    pub on_front: f64,
    /// Expected loss of value against the best, on the log scale: 0.01 is 1 %.
    pub value: f64,
    /// Expected loss of worth less cost against the best choice, in the unit of the cost.
    pub money: f64,
}

/// What choosing each of them loses; `None` of one without an interval, which takes no part. Values whose logarithms
/// differ by `equal` or less count as equal. `worth` is what a logarithm of 1 more is worth, in the unit of the cost.
///
/// One is off the front in a draw where another costs less and is not worse by more than `equal`, or costs the same and
/// is better by more than that.
#[must_use]
pub fn losses(
    alternatives: &[Alternative],
    about: About,
    equal: f64,
    worth: f64,
    seed: u64,
) -> Vec<Option<ChoiceLoss>> {
    let samplers = alternatives.iter().map(|a| a.value.sampler(about).ok());
    let known: Vec<(f64, Sampler)> =
        alternatives.iter().zip(samplers).filter_map(|(a, sampler)| Some((a.cost, sampler?))).collect();
    let mut tally = tally(&known, equal, worth, seed).into_iter();
    let share = |sum: f64| sum / DRAWS as f64;
    let loss = |seen: Tally| ChoiceLoss {
        on_front: share(seen.on_front as f64),
        value: share(seen.value),
        money: share(seen.money),
    };
    alternatives.iter().map(|a| if a.value.knows(about) { tally.next().map(loss) } else { None }).collect()
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    on_front: usize,
    value: f64,
    money: f64,
}

fn tally(known: &[(f64, Sampler)], equal: f64, worth: f64, seed: u64) -> Vec<Tally> {
    let mut generator = Generator::new(seed);
    let mut tally = vec![Tally::default(); known.len()];
    for _ in 0..DRAWS {
        let drawn: Vec<(f64, f64)> = known.iter().map(|(cost, s)| (*cost, s.next(&mut generator))).collect();
        let best = drawn.iter().map(|d| d.1).fold(f64::MIN, f64::max);
        let gain = drawn.iter().map(|d| worth * d.1 - d.0).fold(f64::MIN, f64::max);
        for (seen, mine) in tally.iter_mut().zip(&drawn) {
            let beaten = drawn.iter().any(|other| {
                (other.0 < mine.0 && other.1 >= mine.1 - equal) || (other.0 == mine.0 && other.1 > mine.1 + equal)
            });
            seen.on_front += usize::from(!beaten);
            seen.value += best - mine.1;
            seen.money += gain - (worth * mine.1 - mine.0);
        }
    }
    tally
}

// One number from several workloads, and whether the order by it depends on the weights. Stochastic
// multicriteria acceptability analysis (Lahdelma, Hokkanen and Salminen 1998): weights are drawn at random, and
// it is counted how often each medium gets each rank.

/// A winner has to be first with this share of the weights; else the result is weight-dependent.
pub const FIRST: f64 = 0.90;
/// Ends of the printed interval of ranks.
const RANKS: (f64, f64) = (0.05, 0.95);

/// How workloads make one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// Weighted geometric mean.
    Geometric,
    /// Weighted sum, as published scores do; needs figures in one unit.
    Sum,
}

/// Which weights are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights<'a> {
    /// Any, all equally likely (Dirichlet distribution with parameters 1).
    Any,
    /// Those given, each times or divided by up to 2 (even on the log scale).
    Around(&'a [f64]),
}

/// How often media get ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptability {
    /// `shares[medium][rank]`, rank 0 first; rows add up to 1.
    pub shares: Vec<Vec<f64>>,
    /// `before[a][b]`: share in which a comes before b.
    pub before: Vec<Vec<f64>>,
    /// Ranks, first is 1, between which 90 % lie.
    pub ranks: Vec<(usize, usize)>,
    /// The medium that is first with at least 90 % of the weights; `None`: weight-dependent.
    pub winner: Option<usize>,
}

/// Ranks `media[medium][workload]` under random weights. Figures with an interval are drawn too,
/// points stay. More is better.
///
/// # Errors
/// No medium or workload, lists of different lengths, weights that are not positive.
pub fn acceptability(
    media: &[Vec<Posterior>],
    combination: Combination,
    weights: Weights<'_>,
    seed: u64,
) -> Result<Acceptability, InputRefusal> {
    let workloads = media.first().map_or(0, Vec::len);
    if workloads == 0 {
        return Err(InputRefusal::TooFew { what: "media with workloads", least: 1, given: media.len() });
    }
    if let Some(other) = media.iter().find(|m| m.len() != workloads) {
        return Err(InputRefusal::Lengths { what: "workloads of media", expected: workloads, given: other.len() });
    }
    if let Weights::Around(given) = weights {
        if given.len() != workloads {
            return Err(InputRefusal::Lengths {
                what: "workloads and weights",
                expected: workloads,
                given: given.len(),
            });
        }
        for weight in given {
            positive("a weight", *weight)?;
        }
    }
    let figures: Vec<Vec<Figure>> = media.iter().map(|m| m.iter().map(Figure::new).collect()).collect();
    let mut generator = Generator::new(seed);
    let mut counts = vec![vec![0usize; media.len()]; media.len()];
    let mut before = vec![vec![0usize; media.len()]; media.len()];
    let mut order: Vec<usize> = (0..media.len()).collect();
    for _ in 0..DRAWS {
        let drawn = draw_weights(weights, workloads, &mut generator);
        let scores: Vec<f64> = figures.iter().map(|f| score(f, &drawn, combination, &mut generator)).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        for (rank, medium) in order.iter().enumerate() {
            counts[*medium][rank] += 1;
            order[rank + 1..].iter().for_each(|later| before[*medium][*later] += 1);
        }
    }
    let share = |rows: Vec<Vec<usize>>| -> Vec<Vec<f64>> {
        rows.into_iter().map(|row| row.into_iter().map(|c| c as f64 / DRAWS as f64).collect()).collect()
    };
    let shares = share(counts);
    let ranks = shares.iter().map(|row| (rank_at(row, RANKS.0), rank_at(row, RANKS.1))).collect();
    let winner = shares.iter().position(|row| row[0] >= FIRST);
    Ok(Acceptability { shares, before: share(before), ranks, winner })
}

/// A logarithm that is fixed or drawn.
enum Figure {
    Fixed(f64),
    Drawn(Sampler),
}

impl Figure {
    fn new(figure: &Posterior) -> Self {
        figure.sampler(About::Mean).map_or(Self::Fixed(figure.log_mean()), Self::Drawn)
    }
}

fn draw_weights(weights: Weights<'_>, workloads: usize, generator: &mut Generator) -> Vec<f64> {
    match weights {
        // Exponential values over their sum are Dirichlet(1, …, 1); the sum does not change ranks.
        Weights::Any => (0..workloads).map(|_| generator.exponential()).collect(),
        Weights::Around(given) => given.iter().map(|w| w * (2.0 * generator.uniform() - 1.0).exp2()).collect(),
    }
}

fn score(figures: &[Figure], weights: &[f64], combination: Combination, generator: &mut Generator) -> f64 {
    let terms = figures.iter().zip(weights).map(|(figure, weight)| {
        let log = match figure {
            Figure::Fixed(log) => *log,
            Figure::Drawn(sampler) => sampler.next(generator),
        };
        weight * if combination == Combination::Sum { log.exp() } else { log }
    });
    terms.sum()
}

/// The first rank, counted from 1, up to which at least `share` lies.
fn rank_at(row: &[f64], share: f64) -> usize {
    let mut sum = 0.0;
    row.iter()
        .position(|s| {
            sum += s;
            sum >= share - 1e-12
        })
        .map_or(row.len(), |rank| rank + 1)
}

// One number from several workloads.

/// Weighted geometric mean of the ratios of `values` to those of a reference medium; 1 is as fast
/// as it. The order of media does not depend on the reference, which the arithmetic mean of
/// ratios does not give (Fleming and Wallace 1986). Weights are used in proportion.
///
/// # Errors
/// Lists of different lengths, values that are not positive, negative weights or none above zero.
pub fn index(values: &[f64], reference: &[f64], weights: &[f64]) -> Result<f64, InputRefusal> {
    all_positive("workloads", values)?;
    all_positive("workloads of the reference", reference)?;
    for (what, given) in
        [("workloads and those of the reference", reference.len()), ("workloads and weights", weights.len())]
    {
        if given != values.len() {
            return Err(InputRefusal::Lengths { what, expected: values.len(), given });
        }
    }
    for weight in weights {
        not_negative("a weight", *weight)?;
    }
    let total = positive("the sum of the weights", weights.iter().sum())?;
    let logs = values.iter().zip(reference).zip(weights).map(|((v, r), w)| w / total * (v / r).ln());
    Ok(logs.sum::<f64>().exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_above(draws: &[f64], limit: f64) -> f64 {
        draws.iter().filter(|d| **d > limit).count() as f64 / draws.len() as f64
    }

    #[test]
    fn draws_have_the_tails_of_students_t() {
        // Upper 2.5 % point of t with 2 degrees of freedom: 4.303. Three standard errors of the
        // share of 40 000 draws: 0.0023.
        let p = Posterior::of_units(&[90.0, 100.0, 110.0]).unwrap();
        let sd = 0.100_390;
        let mean = share_above(&p.draws(About::Mean, 40_000, 1).unwrap(), p.log_mean() + 4.303 * sd / 3f64.sqrt());
        let next = share_above(
            &p.draws(About::NextUnit, 40_000, 2).unwrap(),
            p.log_mean() + 4.303 * sd * (1.0 + 1.0 / 3.0f64).sqrt(),
        );
        assert!((mean - 0.025).abs() < 0.0023, "{mean}");
        assert!((next - 0.025).abs() < 0.0023, "{next}");
        assert!((p.value() - 99.666).abs() < 1e-3);
    }

    #[test]
    fn a_point_refuses_and_runs_say_nothing_about_the_next_unit() {
        for p in [Posterior::point(5.0), Posterior::of_units(&[5.0])].map(Result::unwrap) {
            assert!((p.value() - 5.0).abs() < 1e-12 && !p.knows(About::Mean));
            assert!(matches!(p.draws(About::Mean, 1, 0), Err(InputRefusal::NoInterval { .. })));
        }
        let specimen = Posterior::moderated(5f64.ln(), 0.01, None, 1.0).unwrap();
        assert!(specimen.knows(About::Mean) && !specimen.knows(About::NextUnit));
        assert_eq!(specimen.draws(About::NextUnit, 1, 0), Err(InputRefusal::OneUnit));
    }

    #[test]
    fn several_are_drawn_in_turn() {
        let rate = |mean: f64| Posterior::moderated(mean, 0.01, Some(0.04), 1e6).unwrap();
        let (a, b) = (rate(1.0), rate(2.0));
        let both = draws_together([&a, &b], About::Mean, 10_000, 3).unwrap();
        let mean = |of: usize| both.iter().map(|draw| draw[of]).sum::<f64>() / 1e4;
        // Five standard errors of a mean of 10 000: 0.005.
        assert!((mean(0) - 1.0).abs() < 0.005 && (mean(1) - 2.0).abs() < 0.005, "{} {}", mean(0), mean(1));
        assert_eq!(
            draws_together([&a], About::NextUnit, 5, 9).unwrap().concat(),
            a.draws(About::NextUnit, 5, 9).unwrap()
        );
        assert!(draws_together([&a, &Posterior::point(1.0).unwrap()], About::Mean, 1, 1).is_err());
    }

    #[test]
    fn units_above_a_limit_are_those_of_the_normal_distribution() {
        // One deviation of 20 % above the limit: 0.8413.
        let rate = |units| Posterior::moderated(1.2, 0.01, units, 3.0).unwrap();
        assert!((rate(Some(0.04)).units_above(1.0).unwrap() - 0.8413).abs() < 1e-4);
        assert_eq!((rate(Some(0.0)).units_above(1.0), rate(None).units_above(1.0)), (None, None));
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(Posterior::point(f64::NAN).is_err() && Posterior::of_units(&[]).is_err());
        assert!(Posterior::of_units(&[1.0, 0.0]).is_err());
        assert!(Posterior::moderated(f64::NAN, 0.1, None, 2.0).is_err());
        assert!(Posterior::moderated(1.0, -0.1, None, 2.0).is_err());
        assert!(Posterior::moderated(1.0, 0.1, Some(f64::NAN), 2.0).is_err());
        assert!(Posterior::moderated(1.0, 0.1, None, 0.0).is_err());
    }

    #[test]
    fn the_seed_makes_the_draws() {
        let p = Posterior::moderated(1.0, 0.01, Some(0.02), 6.0).unwrap();
        assert_eq!(p.draws(About::NextUnit, 5, 9), p.draws(About::NextUnit, 5, 9));
        assert_ne!(p.draws(About::NextUnit, 5, 9), p.draws(About::NextUnit, 5, 10));
    }

    fn normal(cost: f64) -> Alternative {
        Alternative { cost, value: Posterior::moderated(0.0, 0.01, None, 1e6).unwrap() }
    }

    #[test]
    fn the_loss_of_two_equals_is_that_of_the_normal_distribution() {
        // E max(a, b) - E a for two normal values of deviation s: s / sqrt(pi). 10 000 draws: the
        // standard error is below 0.6 s / 100.
        for loss in losses(&[normal(20.0), normal(20.0)], About::Mean, 0.0, 1000.0, 5) {
            let loss = loss.unwrap();
            assert!((loss.value - 0.1 / std::f64::consts::PI.sqrt()).abs() < 0.0018, "{loss:?}");
            assert!((loss.money - 1000.0 * loss.value).abs() < 1e-6, "{loss:?}");
            // Of equal cost the better one alone is on the front.
            assert!((loss.on_front - 0.5).abs() < 0.015, "{loss:?}");
        }
    }

    #[test]
    fn one_without_an_interval_takes_no_part() {
        let point = Alternative { cost: 1.0, value: Posterior::point(9.0).unwrap() };
        let found = losses(&[point, normal(20.0)], About::Mean, 0.03, 0.0, 1);
        assert_eq!(found, [None, Some(ChoiceLoss { on_front: 1.0, value: 0.0, money: 0.0 })]);
        assert_eq!(losses(&[], About::Mean, 0.03, 0.0, 1), []);
    }
}
