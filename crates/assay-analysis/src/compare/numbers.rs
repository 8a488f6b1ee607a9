//! The ratios of all pairs of groups with their intervals.

use assay_core::estimate::Estimate;
use assay_stats::rank::{self, Comparison, Options, Refusal, Sense};
use assay_stats::{LEVEL, geometric, student_t};

use super::group::{CompareError, Request};
use super::pair::{Numbers, inverted, numbers, pair};
use super::question::question;
use super::report::{Method, Question, Side};
use super::telling::of_models;

/// Numbers with the indices of the sides they are about.
pub(super) type Indexed = (usize, usize, Numbers);

/// Options of the mathematics.
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
/// too small: of equal cards up to 7.7 of 100 pairs are then called different at 95 % (simulated: 3 to 10 repeats,
/// noise 0.3 % to 20 %, intervals of 1 % to 10 %). With this share of the chance of error it is at most 4.9.
const UNTIL_NARROW: f64 = 1.5;

/// Options for values that ended when their interval was narrow.
pub(super) fn widen(options: Options) -> Options {
    Options { alpha: options.alpha / UNTIL_NARROW, ..options }
}

/// All pairs of sides, by their indices, and how their intervals were made.
/// With `as_runs` two single runs are compared as they were.
pub(super) fn pairs(sides: &[Side], as_runs: bool, options: &Options) -> Result<(Method, Vec<Indexed>), CompareError> {
    let refused = |refusal: Refusal| CompareError::Options(refusal.to_string());
    let places: Vec<(usize, usize)> =
        (0..sides.len()).flat_map(|a| (a + 1..sides.len()).map(move |b| (a, b))).collect();
    let models = places.iter().all(|(a, b)| question(&sides[*a], &sides[*b]) == Question::Models);
    let single = as_runs && sides.iter().all(|side| side.runs.len() == 1);
    if (models || single) && sides.len() > 2 {
        let values: Vec<&[f64]> = sides.iter().map(|side| side.values.as_slice()).collect();
        let all = rank::compare_all(&values, options).map_err(refused)?;
        let of_all: Vec<&Side> = sides.iter().collect();
        let told = |(a, b, c): (usize, usize, Comparison)| {
            let found = numbers(question(&sides[a], &sides[b]), &inverted(&c));
            let wanted = models && is_told(sides.len(), a);
            let needed = if wanted { of_models(&of_all, (c.ratio.ln(), options.delta), options.alpha) } else { None };
            (a, b, Numbers { needed, ..found })
        };
        return Ok((Method::Simultaneous, all.into_iter().map(told).collect()));
    }
    // Repeats, runs and units differ by different variances, which are not to be shared.
    let options = Options { alpha: options.alpha / places.len() as f64, ..*options };
    let method = if places.len() == 1 { Method::Welch } else { Method::WelchBonferroni };
    let all = places.into_iter().map(|(a, b)| {
        let found = pair(&sides[a], &sides[b], as_runs, &options)?;
        let needed = found.needed.filter(|_| is_told(sides.len(), a));
        Ok((a, b, Numbers { needed, ..found }))
    });
    Ok((method, all.collect::<Result<_, Refusal>>().map_err(refused)?))
}

/// So many groups are all told of against each other; of more, each against the first.
const FEW: usize = 5;

/// Whether it is told what would tell the pairs of a side: each number takes some milliseconds.
fn is_told(sides: usize, first: usize) -> bool {
    sides <= FEW || first == 0
}

/// Geometric mean of values with its interval at `level`.
pub(super) fn estimate(values: &[f64], level: f64, of: &str) -> Option<Estimate> {
    let mut estimate = geometric(values)?;
    estimate.method = format!("geometric mean of {of}, t interval on logarithms");
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
