//! Models in order, as far as their units allow.
//!
//! All pairs are tested at once by the largest t, with moderated variances, calibrated by a
//! parametric bootstrap and stepped down. At two to six units this keeps the family-wise error at
//! 4 to 5 of 100 where repeats taken for units make a false winner in more than half the cases.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::bootstrap::{Arm, Decision, TestedPair, decide};
use super::degrees::{cautious_degrees, pair_degrees};
use super::dnf::Class;
use super::entry::{Entrant, Options, Refusal, Sense, check};
use super::layers::{Medal, Order};
use super::moderate::{Spread, cautious, pooled};
use super::precision::{Precision, precisions};
use super::shared::Shared;
use super::verdict::{Better, Pair};
use crate::power::Test;
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
pub fn tests(models: u32, units: u32, alpha: f64) -> Vec<Test> {
    let pairs = f64::from(models * (models - 1) / 2).max(1.0);
    let mut tests = vec![Test::groups(units, models, alpha / pairs)];
    if models > 2 && units > 2 {
        tests.push(Test::groups(units, 2, alpha / several(models as usize)));
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
    pub class: Class,
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
pub struct Ranking {
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

impl Ranking {
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
/// Every [`Refusal`] names what is missing.
pub fn rank(entrants: &[Entrant], options: &Options) -> Result<Ranking, Refusal> {
    rank_sharing(entrants, &Shared::default(), options)
}

/// The same of models whose units have errors in common.
///
/// # Errors
/// As [`rank`].
pub fn rank_sharing(entrants: &[Entrant], shared: &Shared, options: &Options) -> Result<Ranking, Refusal> {
    check(entrants, options)?;
    let takes_part = |e: &&Entrant| e.units > 1 || (options.borrow && e.units == 1);
    let mut specimens: Vec<String> = entrants.iter().filter(|e| e.units == 1).map(|e| e.name.clone()).collect();
    specimens.sort();
    if options.borrow {
        specimens.clear();
    }
    let mut models: Vec<&Entrant> = entrants.iter().filter(takes_part).collect();
    if entrants.len() > 1 && entrants.iter().all(|e| e.units <= 1) {
        return Err(Refusal::OnlySpecimens);
    }
    if models.len() < 2 {
        return Err(Refusal::TooFewModels);
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
        let (pool, _) = pool.filter(|(_, f)| *f >= LEAST_DEGREES).ok_or(Refusal::TooFewUnits { degrees })?;
        if pool <= 0.0 {
            return Err(Refusal::NoSpread);
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
    Ok(Ranking {
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
fn all_pairs(models: &[&Entrant], shared: &Shared) -> Vec<Pair> {
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
    (arms, place, shared): (&[Arm], &[usize], &Shared),
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
            Class::Sound => true,
            Class::Failing => *medal != Medal::Gold,
            Class::Corrupt => false,
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
