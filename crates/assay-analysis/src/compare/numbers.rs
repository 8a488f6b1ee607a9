//! The ratios of all pairs of groups with their intervals.

use assay_core::estimate::Estimate;
use assay_stats::rank::{self, Comparison, Options, Refusal, Sense};
use assay_stats::{LEVEL, geometric, geometric_until_known, student_t};

use super::group::{CompareError, Request};
use super::models::GroupsUnderLoad;
use super::pair::{Numbers, inverted, numbers, pair};
use super::question::question;
use super::report::{Basis, Method, Question, Side};
use super::telling::of_models;

/// Numbers of a pair, with the indices of its sides.
pub(super) type Indexed = (usize, usize, Numbers);

/// Options of the statistics.
pub(super) fn options(request: &Request, more_is_better: bool) -> Result<Options, CompareError> {
    if !(request.margin >= 0.0 && request.margin.is_finite()) {
        return Err(CompareError::Options("the margin has to be zero or more".to_owned()));
    }
    if !(request.level > 0.0 && request.level < 1.0) {
        return Err(CompareError::Options("the level has to be between 0 and 1".to_owned()));
    }
    let sense = if more_is_better { Sense::HigherIsBetter } else { Sense::LowerIsBetter };
    Ok(Options { alpha: 1.0 - request.level, delta: request.margin.ln_1p(), sense, ..Options::default() })
}

/// Repeats that end when their interval is narrow end sooner where they happen to agree, so their spread is judged
/// too small: of equal cards 7.6 of 100 pairs were then called different at 95 % (simulated: 3 to 10 repeats that vary by as
/// much as the interval that ends them is wide, 1 %). With this share of the chance of error it was 4.1, and 4.5 at most
/// over 1 to 5 % (`equal_cards_are_not_called_different_in_more_than_5_of_100`; one standard error is 0.5).
const UNTIL_NARROW: f64 = 1.75;

/// Options for values that ended when their interval was narrow.
fn widen(options: Options) -> Options {
    Options { alpha: options.alpha / UNTIL_NARROW, ..options }
}

/// The numbers of all pairs of sides, the method of their intervals, and whether some intervals were widened. Pairs of
/// models take their numbers from the ranking. With `as_runs` two single runs are compared as they were.
pub(super) fn pairs(
    sides: &[Side],
    decided: Option<&GroupsUnderLoad<'_>>,
    (as_runs, as_units): (bool, bool),
    options: &Options,
) -> Result<(Method, Vec<Indexed>, bool), CompareError> {
    let refused = |refusal: Refusal| CompareError::Options(refusal.to_string());
    let places: Vec<(usize, usize)> =
        (0..sides.len()).flat_map(|a| (a + 1..sides.len()).map(move |b| (a, b))).collect();
    let models = places.iter().all(|(a, b)| question(&sides[*a], &sides[*b], as_units) == Question::Models);
    let single = as_runs && sides.iter().all(|side| side.runs.len() == 1);
    let several: Vec<&Side> = sides.iter().filter(|side| side.basis == Basis::Units).collect();
    let together = |(a, b): (usize, usize), c: &Comparison, alpha: f64| {
        let asked = if single { Question::Runs } else { question(&sides[a], &sides[b], as_units) };
        let found = numbers(asked, c);
        let wanted = found.question == Question::Models && asks_what_would_tell(sides.len(), a);
        let needed = if wanted {
            of_models(&several, (&sides[a], &sides[b]), (c.ratio.ln(), options.delta), alpha)
        } else {
            None
        };
        (a, b, Numbers { needed, ..found })
    };
    let narrow = |at: usize| sides[at].until_narrow();
    if decided.is_none() && (models || single) && sides.len() > 2 {
        let widened = (0..sides.len()).any(narrow);
        let options = if widened { widen(*options) } else { *options };
        let values: Vec<&[f64]> = sides.iter().map(|side| side.values.as_slice()).collect();
        let all = rank::compare_all(&values, &options).map_err(refused)?.into_iter();
        let all = all.map(|(a, b, c)| together((a, b), &inverted(&c), options.alpha));
        return Ok((Method::Simultaneous, all.collect(), widened));
    }
    let between = |(a, b): (usize, usize)| {
        let (difference, ends, differ) = decided?.between(&sides[a], &sides[b])?;
        let n = (sides[a].values.len(), sides[b].values.len());
        let found = Comparison::between(difference, ends, differ, n, options.delta);
        Some(together((a, b), &found, options.alpha))
    };
    let known: Vec<Option<Indexed>> = places.iter().map(|place| between(*place)).collect();
    let all_known = known.iter().all(Option::is_some);
    let method = match decided.map(GroupsUnderLoad::models) {
        Some(models) if all_known && models > 2 => Method::Simultaneous,
        _ if places.len() == 1 => Method::Welch,
        _ => Method::WelchBonferroni,
    };
    let mut widened = false;
    // Repeats, runs and units have different variances, which must not be pooled.
    let alone = Options { alpha: options.alpha / places.len() as f64, ..*options };
    let all = places.into_iter().zip(known).map(|((a, b), known)| {
        if let Some(known) = known {
            return Ok(known);
        }
        let narrow = narrow(a) || narrow(b);
        widened |= narrow;
        let options = if narrow { widen(alone) } else { alone };
        let found = pair(&sides[a], &sides[b], (as_runs, as_units), &options)?;
        let needed = found.needed.filter(|_| asks_what_would_tell(sides.len(), a));
        Ok((a, b, Numbers { needed, ..found }))
    });
    let all = all.collect::<Result<_, Refusal>>().map_err(refused)?;
    Ok((method, all, widened))
}

/// Up to this many groups, the values needed are computed for all pairs; with more groups, only for pairs with the
/// first.
const FEW: usize = 5;

/// Whether the number of values needed is computed for the pairs of a side: each computation takes some milliseconds.
fn asks_what_would_tell(sides: usize, first: usize) -> bool {
    sides <= FEW || first == 0
}

/// A name for the values of a basis.
fn of_values(basis: Basis) -> &'static str {
    match basis {
        Basis::Repeats => "repeats of one run",
        Basis::Runs => "runs of one unit on one day",
        Basis::Days => "days of one unit",
        Basis::Units => "units",
    }
}

/// Geometric mean of values with its interval at `level`. For repeats the interval holds if they are independent, which
/// a few repeats cannot show. With `until_narrow` the values ended when their interval was narrow.
pub(super) fn estimate(values: &[f64], level: f64, basis: Basis, until_narrow: bool) -> Option<Estimate> {
    let mut estimate = if until_narrow { geometric_until_known(values)? } else { geometric(values)? };
    let condition = match (basis, until_narrow) {
        (Basis::Repeats, true) => ", wider for being looked at after each repeat",
        (Basis::Repeats, false) => ", repeats taken as independent",
        (Basis::Runs | Basis::Days | Basis::Units, _) => "",
    };
    let of = of_values(basis);
    estimate.method = format!("geometric mean of {of}, t interval on logarithms{condition}");
    if let (Some(high), Some(degrees)) = (estimate.high, estimate.n.checked_sub(1)) {
        let stretch = student_t(level, degrees)? / student_t(LEVEL, degrees)?;
        let half = (high / estimate.point).ln() * stretch;
        estimate.low = Some(estimate.point * (-half).exp());
        estimate.high = Some(estimate.point * half.exp());
        estimate.level = Some(level);
    } else {
        estimate.method = format!("one of {of}");
    }
    Some(estimate)
}
