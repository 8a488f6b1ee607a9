//! Two groups against each other, by what they can be asked.

use assay_stats::rank::{self, Answer, Comparison, Doubt, Options, Refusal};
use assay_stats::variation::{ENOUGH_DAYS, ENOUGH_PAIRS, PRIOR_DEGREES, PRIOR_DEVIATION, specimens};
use assay_stats::{days, half_between, log_mean, student_t};

use super::question::{days as days_of, days_of_each, question, runs, units};
use super::report::{Days, Question, Runs, SeriesUse, Side};
use super::scatter::{
    days as scatter_of_days, differences, runs_of_a_day, squared_error, unshared_days, unshared_days_of_same,
};
use super::series::{against_series, one_unit_each};
use super::telling;
use crate::needed::Needed;
use crate::resolution::uniform;

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
    /// What runs of the reference differ by, where that decides.
    pub(super) series: SeriesUse,
    /// Whether it is undecided as each side was measured on days of its own, which takes from all of its units.
    pub(super) own_days: bool,
    /// What the ratio of the models may be, where two units of different ones were compared as units.
    pub(super) models: Option<(f64, f64)>,
    /// The number of values that would settle the answer, computed for any answer.
    pub(super) needed: Option<Needed>,
}

/// The library compares the first with the second. People compare the second with the first, which is their reference.
pub(super) fn inverted(c: &Comparison) -> Comparison {
    Comparison { ratio: 1.0 / c.ratio, low: c.high.map(|high| 1.0 / high), high: c.low.map(|low| 1.0 / low), ..*c }
}

pub(super) fn numbers(question: Question, c: &Comparison) -> Numbers {
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
        series: SeriesUse::NotAsked,
        own_days: false,
        models: None,
        needed: None,
    }
}

/// Two sides. With `as_runs` two single runs are compared as they were.
pub(super) fn pair(
    first: &Side,
    second: &Side,
    (as_runs, as_units): (bool, bool),
    options: &Options,
) -> Result<Numbers, Refusal> {
    let question = question(first, second, as_units);
    let welch = inverted(&rank::compare(&first.values, &second.values, options)?);
    // Copies of a value are not repeats, whatever the variance of days. One value without repeats has no interval of
    // its own.
    let bare = matches!(welch.answer, Answer::CannotTell(Doubt::NoSpread | Doubt::SingleValue));
    let one_each = first.runs.len() == 1 && second.runs.len() == 1;
    // The question is about these runs only, of any media.
    if as_runs && one_each {
        let found = Numbers { series: SeriesUse::SingleRuns, ..numbers(Question::Runs, &welch) };
        return Ok(as_printed(found, (first, second), options));
    }
    let mut series = SeriesUse::NotAsked;
    if as_runs && one_unit_each(first, second) {
        match against_series(first, second, welch.ratio, options) {
            Ok((c, series)) => {
                let found = Numbers { series: SeriesUse::Decides(series), ..numbers(Question::Runs, &c) };
                return Ok(as_printed(found, (first, second), options));
            }
            Err(why) => series = SeriesUse::Unusable { why },
        }
    }
    let found = match question {
        Question::Models => with_days((question, welch), unshared_days(first, second), options),
        Question::UnitAgainstOthers if units(first).len() == 1 => {
            let c = against_others(second, first, options);
            let c = Comparison { n: (c.n.1, c.n.0), ..inverted(&c) };
            with_days((question, c), unshared_days(first, second), options)
        }
        Question::UnitAgainstOthers => {
            let c = against_others(first, second, options);
            with_days((question, c), unshared_days(first, second), options)
        }
        Question::SameUnits => {
            let c = each_with_itself(first, second, welch.n, options);
            with_days((question, c), unshared_days_of_same(first, second), options)
        }
        Question::Specimens => {
            // Several units have their own spread. One unit has the prior of units, which includes days and repeats.
            let known = |side: &Side| if units(side).len() > 1 { squared_error(&side.values) } else { 0.0 };
            let single = [first, second].iter().filter(|side| units(side).len() == 1).count();
            let half = specimens(1.0 - options.alpha, single, known(first) + known(second)).unwrap_or(f64::INFINITY);
            numbers(question, &Comparison::of(welch.ratio.ln(), half, welch.n, options.delta))
        }
        Question::Runs | Question::Units if bare => numbers(question, &welch),
        Question::Runs | Question::Units => {
            let days = scatter_of_days(first, second);
            let weights = 1.0 / days_of(first) as f64 + 1.0 / days_of(second) as f64;
            let level = 1.0 - options.alpha;
            let pooled = || days.half(level, weights).map(|half| (half, days.assumed()));
            // All days of one unit have one variance; the days of two units may have different ones.
            let found = if question == Question::Units { two_units(first, second, level) } else { pooled() };
            let (half, assumed) = found.unwrap_or((f64::INFINITY, days.assumed()));
            let as_they_were = welch.low.zip(welch.high).filter(|_| one_each);
            // The interval of single runs is never narrower than their repeats allow.
            let half = as_they_were.map_or(half, |(low, high)| half.max((high / low).ln() / 2.0));
            // Nor is that of several runs, where few days are known, narrower than the runs of one day allow.
            let few = assumed > 0.0 || days.measured() < ENOUGH_DAYS;
            let of_runs = if few { runs_of_a_day(first, second, level) } else { None };
            let half = of_runs.map_or(half, |of_runs| half.max(of_runs));
            let runs = as_they_were.map(|(low, high)| Runs { low, high, differ: differ(welch.answer) });
            let across_days =
                Days { deviation: days.deviation(), measured: days.measured(), prior: (PRIOR_DEVIATION, assumed) };
            let wide = Comparison::of(welch.ratio.ln(), half, welch.n, options.delta);
            Numbers { days: Some(across_days), runs, ..numbers(question, &wide) }
        }
    };
    let found = as_printed(found, (first, second), options);
    let asks = question == Question::Units && of_two_models(first, second);
    let found = Numbers { models: if asks { of_models(found.ratio, options) } else { None }, ..found };
    let needed =
        if bare || found.own_days { None } else { telling::needed(question, (first, second), found.ratio, options) };
    Ok(Numbers { needed, series, ..found })
}

/// Two units, each over its days.
fn two_units(first: &Side, second: &Side, level: f64) -> Option<(f64, f64)> {
    let [first, second] = [first, second].map(|side| runs(side).flat_map(days::days).collect::<Vec<_>>());
    half_between(&first, &second, level)
}

/// Adds the effect that a day has on all units of a side, where the sides were measured on different days. `common` is
/// the number of day variances to add; the variance of a day is assumed.
fn with_days((question, c): (Question, Comparison), common: f64, options: &Options) -> Numbers {
    let Some((low, high)) = c.low.zip(c.high).filter(|_| common > 0.0) else { return numbers(question, &c) };
    let assumed = student_t(1.0 - options.alpha, PRIOR_DEGREES as u32).unwrap_or(f64::INFINITY) * PRIOR_DEVIATION;
    let half = ((high / low).ln() / 2.0).hypot(assumed * common.sqrt());
    let wide = Comparison::of(c.ratio.ln(), half, c.n, options.delta);
    let own_days = wide.answer == Answer::CannotTell(Doubt::Wide) && wide.answer != c.answer;
    Numbers { own_days, ..numbers(question, &wide) }
}

/// Degrees of freedom of a known error. With very many degrees the quantile takes minutes, and its value is the same.
const OF_PRINTED: u32 = 1_000;

/// Adds the rounding error of printed figures, which all values of a side have in common.
fn as_printed(found: Numbers, (first, second): (&Side, &Side), options: &Options) -> Numbers {
    let own = |side: &Side| uniform(side.runs.iter().map(|run| run.resolution).fold(0.0, f64::max));
    let common = own(first) + own(second);
    let Some((low, high)) = found.low.zip(found.high).filter(|_| common > 0.0) else { return found };
    let printed = student_t(1.0 - options.alpha, OF_PRINTED).unwrap_or(f64::INFINITY) * common.sqrt();
    let half = ((high / low).ln() / 2.0).hypot(printed);
    let wide = Comparison::of(found.ratio.ln(), half, found.n, options.delta);
    let Comparison { low, high, answer, significant, .. } = wide;
    Numbers { low, high, answer, significant, ..found }
}

/// Whether two units are of different models.
fn of_two_models(first: &Side, second: &Side) -> bool {
    let model = |side: &Side| side.runs.first().map(|run| run.unit.0.clone());
    model(first) != model(second)
}

/// The interval of the ratio of two models by one unit of each, with the assumed variance between units.
fn of_models(ratio: f64, options: &Options) -> Option<(f64, f64)> {
    let half = specimens(1.0 - options.alpha, 2, 0.0)?;
    Some((ratio * (-half).exp(), ratio * half.exp()))
}

fn differ(answer: Answer) -> Option<bool> {
    match answer {
        Answer::Different => Some(true),
        Answer::Same => Some(false),
        Answer::CannotTell(_) => None,
    }
}

/// Compares each unit with itself, where the same units are on both sides.
fn each_with_itself(first: &Side, second: &Side, n: (usize, usize), options: &Options) -> Comparison {
    let differences = differences(first, second);
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    // Means of several days vary by less than a day. Enough pairs show that variance themselves.
    let of_a_day = |side: &Side| days_of_each(side).iter().map(|days| 1.0 / *days as f64).sum::<f64>() / count;
    let weights = if differences.len() < ENOUGH_PAIRS { (of_a_day(first) + of_a_day(second)) / 2.0 } else { 1.0 };
    let paired = scatter_of_days(first, second).paired(&differences);
    let half = paired.half(1.0 - options.alpha, weights / count).unwrap_or(f64::INFINITY);
    Comparison::of(mean, half, n, options.delta)
}

/// One unit over several of its model: by how much those differ, a further one differs from their mean.
fn against_others(others: &Side, one: &Side, options: &Options) -> Comparison {
    let n = others.values.len();
    // Of one unit there are repeats, or the means of its runs.
    let difference = log_mean(&one.values) - log_mean(&others.values);
    let error = squared_error(&others.values) * (n as f64 + 1.0);
    let t = student_t(1.0 - options.alpha, u32::try_from(n - 1).unwrap_or(u32::MAX)).unwrap_or(f64::INFINITY);
    if error > 0.0 {
        return Comparison::of(difference, t * error.sqrt(), (n, 1), options.delta);
    }
    let answer = Answer::CannotTell(Doubt::NoSpread);
    Comparison { ratio: difference.exp(), low: None, high: None, n: (n, 1), answer, significant: false }
}
