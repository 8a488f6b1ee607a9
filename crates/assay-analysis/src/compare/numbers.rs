//! The ratios of all pairs of groups with their intervals.

use assay_core::estimate::Estimate;
use assay_stats::rank::{self, Answer, Comparison, Doubt, Options, Refusal, Sense};
use assay_stats::variation::{Days as Spread, PRIOR_DEGREES, PRIOR_DEVIATION, specimens};
use assay_stats::{LEVEL, geometric, student_t};

use super::group::{CompareError, Request};
use super::question::{log_mean, question, units};
use super::report::{Days, Method, Question, Runs, Side};

/// The ratio of the second group over the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) question: Question,
    pub(super) ratio: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) n: (usize, usize),
    pub(super) answer: Answer,
    pub(super) significant: bool,
    pub(super) days: Option<Days>,
    pub(super) runs: Option<Runs>,
}

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
        let all = all.into_iter().map(|(a, b, c)| (a, b, numbers(question(&sides[a], &sides[b]), &inverted(&c))));
        return Ok((Method::Simultaneous, all.collect()));
    }
    // Repeats, runs and units differ by different variances, which are not to be shared.
    let options = Options { alpha: options.alpha / places.len() as f64, ..*options };
    let method = if places.len() == 1 { Method::Welch } else { Method::WelchBonferroni };
    let all = places.into_iter().map(|(a, b)| Ok((a, b, pair(&sides[a], &sides[b], as_runs, &options)?)));
    Ok((method, all.collect::<Result<_, Refusal>>().map_err(refused)?))
}

/// Two sides, by what they can be asked.
fn pair(first: &Side, second: &Side, as_runs: bool, options: &Options) -> Result<Numbers, Refusal> {
    let question = question(first, second);
    let welch = inverted(&rank::compare(&first.values, &second.values, options)?);
    let level = 1.0 - options.alpha;
    // Copies of a value are no repeats, whatever days do; one value without repeats has no interval of its own.
    let bare = matches!(welch.answer, Answer::CannotTell(Doubt::NoSpread | Doubt::SingleValue));
    let days = Spread::of(super::question::runs(first).chain(super::question::runs(second)));
    let one_each = first.runs.len() == 1 && second.runs.len() == 1;
    match question {
        _ if as_runs && one_each => Ok(numbers(question, &welch)),
        Question::Models => Ok(numbers(question, &welch)),
        Question::UnitAgainstOthers => Ok(numbers(question, &against_others(first, second, welch, options))),
        Question::SameUnits => {
            let differences: Vec<f64> =
                units(first).into_iter().map(|unit| log_mean(second, unit) - log_mean(first, unit)).collect();
            let n = differences.len() as f64;
            let mean = differences.iter().sum::<f64>() / n;
            // Means of several runs vary by less than a run.
            let runs = |side: &Side| n / side.runs.len() as f64;
            let weights = if differences.len() < 4 { (runs(first) + runs(second)) / 2.0 } else { 1.0 };
            let days = days.paired(&differences);
            let half = days.half(level, weights / n).unwrap_or(f64::INFINITY);
            Ok(numbers(question, &Comparison { n: welch.n, ..Comparison::of(mean, half, welch.n, options.delta) }))
        }
        Question::Specimens => {
            // Of several units, their own spread; of one, the prior of units, which holds days and repeats.
            let known = |side: &Side| if units(side).len() > 1 { squared_error(&side.values) } else { 0.0 };
            let single = [first, second].iter().filter(|side| units(side).len() == 1).count();
            let half = specimens(level, single, known(first) + known(second)).unwrap_or(f64::INFINITY);
            Ok(numbers(question, &Comparison::of(welch.ratio.ln(), half, welch.n, options.delta)))
        }
        Question::Runs | Question::Units if bare => Ok(numbers(question, &welch)),
        Question::Runs | Question::Units => {
            let weights = 1.0 / first.runs.len() as f64 + 1.0 / second.runs.len() as f64;
            let runs = welch.low.zip(welch.high).filter(|_| one_each).map(|(low, high)| Runs {
                low,
                high,
                differ: match welch.answer {
                    Answer::Different => Some(true),
                    Answer::Same => Some(false),
                    Answer::CannotTell(_) => None,
                },
            });
            let own = welch.low.zip(welch.high).map_or(0.0, |(low, high)| (high / low).ln() / 2.0);
            let half =
                days.half(level, weights).map_or(f64::INFINITY, |half| half.max(if one_each { own } else { 0.0 }));
            let wide = Comparison::of(welch.ratio.ln(), half, welch.n, options.delta);
            Ok(Numbers { days: Some(told(&days)), runs, ..numbers(question, &wide) })
        }
    }
}

/// One unit against several of its model: by how much those differ, a further one differs from their mean.
fn against_others(first: &Side, second: &Side, welch: Comparison, options: &Options) -> Comparison {
    let others = if units(first).len() > 1 { first } else { second };
    let logs: Vec<f64> = others.values.iter().map(|v| v.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = squared_error(&others.values) * n;
    let one = if units(first).len() > 1 { second } else { first };
    let Some(unit) = units(one).into_iter().next() else { return welch };
    let mut difference = log_mean(one, unit) - mean;
    if units(first).len() == 1 {
        difference = -difference;
    }
    let n_of = |side: &Side| units(side).len();
    let n_both = (n_of(first), n_of(second));
    match student_t(1.0 - options.alpha, u32::try_from(logs.len() - 1).unwrap_or(u32::MAX)) {
        Some(t) if variance > 0.0 => {
            Comparison::of(difference, t * (variance * (1.0 + 1.0 / n)).sqrt(), n_both, options.delta)
        }
        _ => Comparison { ratio: difference.exp(), n: n_both, ..welch },
    }
}

/// Squared error of the mean of logarithms.
fn squared_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v.ln()).sum::<f64>() / n;
    values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0) / n
}

fn told(days: &Spread) -> Days {
    Days { deviation: days.deviation(), measured: days.measured(), prior: (PRIOR_DEVIATION, PRIOR_DEGREES) }
}

fn numbers(question: Question, c: &Comparison) -> Numbers {
    Numbers {
        question,
        ratio: c.ratio,
        low: c.low,
        high: c.high,
        n: c.n,
        answer: c.answer,
        significant: c.significant,
        days: None,
        runs: None,
    }
}

/// The library compares the first with the second; people read what comes second against their reference.
fn inverted(c: &Comparison) -> Comparison {
    Comparison { ratio: 1.0 / c.ratio, low: c.high.map(|high| 1.0 / high), high: c.low.map(|low| 1.0 / low), ..*c }
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
