//! Models in order, as far as their units allow.
//!
//! All pairs are tested at once by the largest t, with moderated variances, calibrated by a
//! parametric bootstrap and stepped down. At two to six units this keeps the family-wise error at
//! 4 to 5 of 100 where repeats taken for units make a false winner in more than half the cases.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::entry::{Entrant, Options, Precedence, RankRefusal, Sense, check};
use super::resolution::{Precision, precisions};
use super::shared::SharedErrors;
use super::variances::{Arm, Decision, Spread, TestedPair, cautious, cautious_degrees, decide, pair_degrees, pooled};
use crate::power::TTest;
use crate::variation::{between_units, specimens};

/// The fewest degrees of freedom over all models that allow a ranking.
const LEAST_DEGREES: u32 = 2;
/// With fewer degrees of freedom, a ranking is called weak.
const WEAK_DEGREES: u32 = 4;
/// Divisor of the error probability for the test of a pair by its own variance: an erratic model meets all others with
/// the same error. With five models of three units, where one varies four times as much, it keeps the probability of
/// any false order at 6.5 % (simulated).
fn several(models: usize) -> f64 {
    (1.0 + (models as f64 - 2.0) / 6.0).clamp(1.0, 2.0)
}

/// The tests of one pair in a ranking of `models` models with `units` units each: by the pooled deviation, and by the
/// deviation of the pair. The ranking uses the largest statistic of all pairs for the pooled test; Bonferroni's share
/// of the error probability is a little smaller than that of the largest statistic.
#[must_use]
pub fn tests(models: u32, units: u32, alpha: f64) -> Vec<TTest> {
    let pairs = f64::from(models * (models - 1) / 2).max(1.0);
    let mut tests = vec![TTest::groups(units, models, alpha / pairs)];
    if models > 2 && units > 2 {
        tests.push(TTest::groups(units, 2, alpha / several(models as usize)));
    }
    tests
}

/// A model in the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// Geometric mean over its units, in the values' unit.
    pub value: f64,
    /// Lower end of its own interval at level `1 - alpha` ([`Precision`]).
    pub low: Option<f64>,
    /// Upper end; none at the ceiling, where the value is a lower bound.
    pub high: Option<f64>,
    /// Units measured.
    pub units: u32,
    /// Whether units of it failed.
    pub class: Precedence,
    /// Whether it is held by the bus.
    pub censored: bool,
    /// One unit with a borrowed variance: no statement about the model.
    pub provisional: bool,
    /// First and last rank that it may have, from 1; jointly at `1 - alpha` over all models.
    pub ranks: (usize, usize),
    /// Its layer, from 0.
    pub layer: usize,
    /// Its medal: none for one unit or a corrupt model, and no gold where units failed.
    pub medal: Option<Medal>,
    /// Others share the layer: a tie.
    pub tied: bool,
}

/// The outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRanking {
    /// Best first: by failure class, then by mean. The place alone says nothing; layers do.
    pub models: Vec<Ranked>,
    /// All pairs.
    pub pairs: Vec<Pair>,
    /// Models of one unit, which were left out.
    pub specimens: Vec<String>,
    /// Degrees of freedom of the shared variance.
    pub degrees: u32,
    /// Deviation of the logarithms of units within a model, shared; `None` where nothing was tested.
    pub deviation: Option<f64>,
    /// Critical |t| of the simultaneous intervals; `None` where nothing was tested.
    pub critical: Option<f64>,
    /// Fewer than four degrees of freedom.
    pub weak: bool,
}

impl ModelRanking {
    /// The models of a layer, from 0.
    pub fn layer(&self, layer: usize) -> impl Iterator<Item = &Ranked> {
        self.models.iter().filter(move |m| m.layer == layer)
    }

    /// The pair of two models by name, either way round.
    #[must_use]
    pub fn pair(&self, a: &str, b: &str) -> Option<&Pair> {
        let name = |at: usize| self.models[at].name.as_str();
        self.pairs.iter().find(|p| [(a, b), (b, a)].contains(&(name(p.first), name(p.second))))
    }

    /// The ends of the interval of the logarithm of `a` over `b`, and whether the difference is significant; `None`
    /// where it was not tested.
    #[must_use]
    pub fn between(&self, a: &str, b: &str) -> Option<((f64, f64), bool)> {
        let pair = self.pair(a, b)?;
        let (low, high) = pair.ends?;
        let ends = if self.models[pair.first].name == a { (low, high) } else { (-high, -low) };
        Some((ends, pair.differ))
    }
}

/// Ranks models by their unit means. The result depends on the seed but not on the order of entry.
///
/// # Errors
/// Every [`RankRefusal`] names what is missing.
pub fn rank(entrants: &[Entrant], options: &Options) -> Result<ModelRanking, RankRefusal> {
    rank_sharing(entrants, &SharedErrors::default(), options)
}

/// The same of models whose units have errors in common.
///
/// # Errors
/// As [`rank`].
pub fn rank_sharing(
    entrants: &[Entrant],
    shared: &SharedErrors,
    options: &Options,
) -> Result<ModelRanking, RankRefusal> {
    check(entrants, options)?;
    let takes_part = |e: &&Entrant| e.units > 1 || (options.borrow && e.units == 1);
    let mut specimens: Vec<String> = entrants.iter().filter(|e| e.units == 1).map(|e| e.name.clone()).collect();
    specimens.sort();
    if options.borrow {
        specimens.clear();
    }
    let mut models: Vec<&Entrant> = entrants.iter().filter(takes_part).collect();
    if entrants.len() > 1 && entrants.iter().all(|e| e.units <= 1) {
        return Err(RankRefusal::OnlySpecimens);
    }
    if models.len() < 2 {
        return Err(RankRefusal::TooFewModels);
    }
    let score = |e: &Entrant| if options.sense == Sense::HigherIsBetter { e.mean } else { -e.mean };
    models
        .sort_by(|a, b| (a.class.cmp(&b.class)).then(score(b).total_cmp(&score(a))).then_with(|| a.name.cmp(&b.name)));
    // The bootstrap goes by name, so that its draws do not depend on who leads.
    let mut by_name: Vec<usize> = (0..models.len()).collect();
    by_name.sort_by(|&a, &b| models[a].name.cmp(&models[b].name));
    let spreads: Vec<Spread> = by_name.iter().map(|&at| models[at].spread()).collect();
    let pool = pooled(&spreads);
    let degrees = pool.map_or(0, |(_, degrees)| degrees);

    let mut pairs = all_pairs(&models, shared);
    // Speed does not order models of different failure classes, but their ratio is still reported.
    let untold = |pair: &Pair| {
        let (a, b) = (models[pair.first], models[pair.second]);
        a.censored && b.censored || shared.apart(&a.name, &b.name)
    };
    let tested: Vec<usize> = (0..pairs.len()).filter(|&at| !untold(&pairs[at])).collect();
    let mut own = vec![None; models.len()];
    let mut critical = None;
    if !tested.is_empty() {
        let (pool, _) = pool.filter(|(_, f)| *f >= LEAST_DEGREES).ok_or(RankRefusal::TooFewUnits { degrees })?;
        if pool <= 0.0 {
            return Err(RankRefusal::NoSpread);
        }
        let mut arms = Vec::with_capacity(models.len());
        let mut place = vec![0; models.len()];
        for (arm, (&at, spread)) in by_name.iter().zip(&spreads).enumerate() {
            let variance = cautious(*spread, pool, options.prior_degrees);
            arms.push(Arm { spread: *spread, variance, units: models[at].units });
            place[at] = arm;
        }
        own = precisions(models.iter().copied(), (options.prior_degrees, options.borrow), shared);
        critical = Some(test(&mut pairs, &tested, (&arms, &place, shared), &models, options));
    }
    let order = order(&pairs, models.len());
    Ok(ModelRanking {
        models: places(&models, &own, &order, options),
        pairs,
        specimens,
        degrees,
        deviation: critical.and(pool).map(|(pool, _)| pool.sqrt()),
        critical,
        weak: degrees < WEAK_DEGREES,
    })
}

/// All pairs with the verdicts known before any test. Pairs to be tested are unresolved.
fn all_pairs(models: &[&Entrant], shared: &SharedErrors) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(models.len() * models.len() / 2);
    for first in 0..models.len() {
        for second in first + 1..models.len() {
            let (a, b) = (models[first], models[second]);
            let verdict = if a.class != b.class {
                Better::FirstFailsLess
            } else if shared.apart(&a.name, &b.name) {
                Better::OtherComputer
            } else if a.censored && b.censored {
                Better::Ceiling
            } else {
                Better::Unresolved
            };
            let ratio = (a.mean - b.mean).exp();
            let (low, high, t, ends, differ) = (None, None, None, None, false);
            pairs.push(Pair { first, second, ratio, low, high, t, ends, differ, verdict });
        }
    }
    pairs
}

/// Tests the pairs that need it; the critical value of their simultaneous intervals.
fn test(
    pairs: &mut [Pair],
    tested: &[usize],
    (arms, place, shared): (&[Arm], &[usize], &SharedErrors),
    models: &[&Entrant],
    options: &Options,
) -> f64 {
    let sign = if options.sense == Sense::HigherIsBetter { 1.0 } else { -1.0 };
    let measure = |pair: &Pair| {
        let (a, b) = (arms[place[pair.first]], arms[place[pair.second]]);
        let common = shared.between(&models[pair.first].name, &models[pair.second].name);
        let error = (a.variance / f64::from(a.units) + b.variance / f64::from(b.units) + common).sqrt();
        (models[pair.first].mean - models[pair.second].mean, error, common)
    };
    let contests: Vec<TestedPair> = tested
        .iter()
        .map(|&at| {
            let (difference, error, _) = measure(&pairs[at]);
            TestedPair { a: place[pairs[at].first], b: place[pairs[at].second], t: difference.abs() / error }
        })
        .collect();
    let Decision { critical, rejected } =
        decide(arms, &contests, options.prior_degrees, (options.alpha, options.draws, options.seed));
    let several = several(models.len());
    // Two models without others are compared by their own test, with the variance of slots and rounds added: no other
    // models show how such units vary.
    let two = models.len() == 2;
    for (&at, rejected) in tested.iter().zip(rejected) {
        let pair = &mut pairs[at];
        let (difference, error, common) = measure(pair);
        let alone = alone(models[pair.first], models[pair.second], common, (options.alpha / several, two));
        let half = if two { alone } else { (critical * error).max(alone) };
        let differ = (two || rejected) && difference.abs() > alone;
        let (mut low, mut high) = (difference - half, difference + half);
        let crosses = low <= 0.0 && high >= 0.0;
        if differ && crosses {
            // Told apart by stepping down, after others of the pairs were: the sign is known, and no end beyond it.
            if difference > 0.0 { low = 0.0 } else { high = 0.0 }
        }
        (pair.ends, pair.differ) = (Some((low, high)), differ);
        let (first, second) = (models[pair.first].censored, models[pair.second].censored);
        // At the ceiling the true value is better than the measured one, so one end of the ratio is unbounded. A medium
        // that leads one at the ceiling has not been shown to be better.
        let open_above = if sign > 0.0 { first } else { second };
        let open_below = if sign > 0.0 { second } else { first };
        pair.t = Some(sign * difference / error);
        pair.low = (!open_below).then(|| low.exp());
        pair.high = (!open_above).then(|| high.exp());
        if pair.verdict == Better::FirstFailsLess {
            continue;
        }
        // The best of several runs is above the mean of its medium by an unknown amount.
        let flattered = (models[pair.first].flattered, models[pair.second].flattered);
        pair.verdict = if differ && !second && flattered == (true, false) {
            Better::BestOf
        } else if differ && !second {
            let nearest = low.abs().min(high.abs());
            if crosses || nearest < options.delta { Better::FirstPerhapsSlightly } else { Better::First }
        } else if !first && !second && flattered.0 == flattered.1 && low >= -options.delta && high <= options.delta {
            Better::Equivalent
        } else {
            Better::Unresolved
        };
    }
    critical
}

/// Half the width of the interval of two models by their own units only, by Welch's test as in [`super::compare`]. The
/// variance of other models applies to these two only if all vary alike, and one may be erratic. Two units show almost
/// nothing about their variance: a model that varies eight times as much as the others caused a false order in 14 to 20
/// of 100 rankings. So the prior for two units is used for the more erratic of the two models. A model of one unit has
/// the prior for units beside the variance it borrows. Where there are no other models, this is the test of the
/// comparison.
fn alone(a: &Entrant, b: &Entrant, common: f64, (alpha, two): (f64, bool)) -> f64 {
    if !two && (a.units, b.units) == (2, 2) {
        // The more erratic model uses the prior for two units, because its own variance has one degree of freedom.
        let (variance, degrees) = between_units(2, Some(a.variance.max(b.variance)));
        let Ok(t) = StudentsT::new(0.0, 1.0, degrees) else { return f64::INFINITY };
        let error = (variance + a.variance.min(b.variance)) / 2.0 + common;
        return t.inverse_cdf(1.0 - alpha / 2.0) * error.sqrt();
    }
    let known = |e: &Entrant| if e.units > 1 { e.variance / f64::from(e.units) } else { 0.0 };
    let (x, y) = (known(a), known(b));
    let single = [a, b].iter().filter(|e| e.units < 2).count();
    if single > 0 {
        return specimens(1.0 - alpha, single, x + y + common).unwrap_or(f64::INFINITY);
    }
    let degrees = if two { pair_degrees } else { cautious_degrees }((x, a.units), (y, b.units));
    let Ok(t) = StudentsT::new(0.0, 1.0, degrees) else { return 0.0 };
    t.inverse_cdf(1.0 - alpha / 2.0) * (x + y + common).sqrt()
}

fn order(pairs: &[Pair], n: usize) -> Order {
    let mut order = Order::new(n);
    for pair in pairs.iter().filter(|p| p.verdict.is_first()) {
        order.set(pair.first, pair.second);
    }
    order
}

fn places(models: &[&Entrant], own: &[Option<Precision>], order: &Order, options: &Options) -> Vec<Ranked> {
    let layers = order.layers();
    let ranked = models.iter().enumerate().map(|(at, e)| {
        let half = own[at].and_then(|own| own.half(1.0 - options.alpha));
        let lower_is_better = options.sense == Sense::LowerIsBetter;
        let medal = Medal::of_layer(layers[at]).filter(|medal| match e.class {
            Precedence::Sound => true,
            Precedence::Failing => *medal != Medal::Gold,
            Precedence::Corrupt => false,
        });
        Ranked {
            name: e.name.clone(),
            value: e.mean.exp(),
            low: half.filter(|_| !(e.censored && lower_is_better)).map(|half| (e.mean - half).exp()),
            high: half.filter(|_| !e.censored || lower_is_better).map(|half| (e.mean + half).exp()),
            units: e.units,
            class: e.class,
            censored: e.censored,
            provisional: e.units == 1,
            ranks: order.ranks(at),
            layer: layers[at],
            medal: medal.filter(|_| e.units > 1),
            tied: layers.iter().filter(|l| **l == layers[at]).count() > 1,
        }
    });
    ranked.collect()
}

// Ranks, layers and medals from the relation "better than" between pairs.
//
// Rank sets: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications to mobility across
// neighbourhoods and academic achievement across countries", Review of Economic Studies. Layers peel a partial order,
// so that models in one layer are not ordered, and the paradoxes of letter displays do not arise.

/// A place on the podium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Medal {
    /// In the first layer.
    Gold,
    /// In the second layer.
    Silver,
    /// In the third layer.
    Bronze,
}

impl Medal {
    /// The medal of a layer, counted from 0.
    #[must_use]
    pub(crate) fn of_layer(layer: usize) -> Option<Self> {
        [Self::Gold, Self::Silver, Self::Bronze].get(layer).copied()
    }
}

/// The relation "better than" among `n` models.
#[derive(Debug)]
pub(super) struct Order {
    n: usize,
    better: Vec<bool>,
}

impl Order {
    pub(super) fn new(n: usize) -> Self {
        Self { n, better: vec![false; n * n] }
    }

    pub(super) fn set(&mut self, better: usize, worse: usize) {
        self.better[better * self.n + worse] = true;
    }

    fn is_better(&self, a: usize, b: usize) -> bool {
        self.better[a * self.n + b]
    }

    /// First and last rank that `k` may have, counted from 1.
    pub(super) fn ranks(&self, k: usize) -> (usize, usize) {
        let above = (0..self.n).filter(|&j| self.is_better(j, k)).count();
        let below = (0..self.n).filter(|&j| self.is_better(k, j)).count();
        (1 + above, self.n - below)
    }

    /// The layer of each model, counted from 0: no remaining model is better than a member of the next layer.
    pub(super) fn layers(&self) -> Vec<usize> {
        let mut layers = vec![usize::MAX; self.n];
        let mut left = self.n;
        let mut layer = 0;
        while left > 0 {
            let open = |k: usize, layers: &[usize]| layers[k] == usize::MAX;
            let mut members: Vec<usize> = (0..self.n)
                .filter(|&k| open(k, &layers))
                .filter(|&k| !(0..self.n).any(|j| open(j, &layers) && self.is_better(j, k)))
                .collect();
            if members.is_empty() {
                // A cycle, which ordered means cannot produce. All remaining models share a layer.
                members = (0..self.n).filter(|&k| open(k, &layers)).collect();
            }
            for k in &members {
                layers[*k] = layer;
            }
            left -= members.len();
            layer += 1;
        }
        layers
    }
}

// The possible verdicts on two models.

/// The verdict on the first model of a [`Pair`] against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The first is better, with the error over all pairs kept.
    First,
    /// The first is better, perhaps by less than the equivalence margin, because the interval reaches into the margin.
    FirstPerhapsSlightly,
    /// The first is better as fewer units failed; speed does not make up for that.
    FirstFailsLess,
    /// They do not differ by more than the margin: the whole interval lies within it.
    Equivalent,
    /// Both are at the ceiling of the bus: the media cannot be compared.
    Ceiling,
    /// They were measured on computers of different kinds, and no unit was measured on both.
    OtherComputer,
    /// The leading model is the best of several runs, and the other is not: its lead is not proven.
    BestOf,
    /// Undecided: more units would decide.
    Unresolved,
}

impl Better {
    /// Whether the first is better, by speed or by failures.
    #[must_use]
    pub fn is_first(self) -> bool {
        matches!(self, Self::First | Self::FirstPerhapsSlightly | Self::FirstFailsLess)
    }
}

/// Two models. The first has the better failure class or, within a class, the better mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Place of the first in [`super::ModelRanking::models`].
    pub first: usize,
    /// Place of the second.
    pub second: usize,
    /// The first over the second, in the values' own unit: below 1 where lower is better.
    pub ratio: f64,
    /// Simultaneous lower end of the ratio; `None` where the bus hides it or the pair was not tested. For models that
    /// are told apart the interval excludes equality.
    pub low: Option<f64>,
    /// Simultaneous upper end of the ratio; `None` as for the lower end.
    pub high: Option<f64>,
    /// Difference of the means of logarithms over its standard error, positive where the first is better.
    /// `None` where the pair was not tested.
    pub t: Option<f64>,
    /// Ends of the interval of the difference of the logarithms, even where the bus hides them; `None` where the pair
    /// was not tested.
    pub ends: Option<(f64, f64)>,
    /// Whether equality of the measured values is rejected, regardless of bus and failures.
    pub differ: bool,
    /// The verdict.
    pub verdict: Better,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peeling_by_hand() {
        // 0 > 2, 0 > 3, 1 > 3, nothing else: 1 shares the first layer with 0, 3 the second with 2.
        let mut order = Order::new(4);
        for (a, b) in [(0, 2), (0, 3), (1, 3)] {
            order.set(a, b);
        }
        assert_eq!(order.layers(), [0, 0, 1, 1]);
        assert_eq!((0..4).map(|k| order.ranks(k)).collect::<Vec<_>>(), [(1, 2), (1, 3), (2, 4), (3, 4)]);
        let mut circle = Order::new(2);
        circle.set(0, 1);
        circle.set(1, 0);
        assert_eq!(circle.layers(), [0, 0], "ends");
        assert_eq!(Medal::of_layer(2), Some(Medal::Bronze));
        assert_eq!(Medal::of_layer(3), None);
    }
}
