//! Two groups against each other, by what they can be asked: their ratio with its interval, and the verdict.

use std::collections::BTreeSet;

use assay_core::estimate::Estimate;
use assay_stats::rank::{self, Options, PairAnswer, PairComparison, PairDoubt, RankRefusal, Sense};
use assay_stats::variation::{ENOUGH_DAYS, ENOUGH_PAIRS, PRIOR_DEGREES, PRIOR_DEVIATION, specimens};
use assay_stats::{LEVEL, days, geometric, geometric_until_known, half_between, log_mean, student_t};

use super::report::{
    Days, GroupBasis, GroupFigure, Method, Pair, PairQuestion, PairVerdict, RunPair, SeriesUse, WhyUnknown,
};
use super::request::{CompareError, CompareRequest, RecordGroup};
use super::scatter::{
    self, against_series, days_of_each, days_of_side, differences, needed_of_models, one_unit_each, question_of_sides,
    runs, runs_of_a_day, squared_error, units, unshared_days, unshared_days_of_same, variance_of_days,
};
use crate::deciding::Needed;
use crate::identity::{identity, names_model};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::rank::{DecidedLoad, RankOptions, Setting};
use crate::reading::{Mark, uniform};

/// The ratio of the second group over the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) question: PairQuestion,
    pub(super) ratio: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) n: (usize, usize),
    pub(super) answer: PairAnswer,
    pub(super) significant: bool,
    pub(super) days: Option<Days>,
    pub(super) runs: Option<RunPair>,
    /// What runs of a side differ by, where that decides.
    pub(super) series: SeriesUse,
    /// Whether it is undecided as each side was measured on days of its own, which takes from all of its units.
    pub(super) own_days: bool,
    /// What the ratio of the models may be, where two units of different ones were compared as units.
    pub(super) models: Option<(f64, f64)>,
    /// The number of values that would settle the answer, computed for any answer.
    pub(super) needed: Option<Needed>,
}

/// The library compares the first with the second. People compare the second with the first, which is their reference.
pub(super) fn inverted(c: &PairComparison) -> PairComparison {
    PairComparison { ratio: 1.0 / c.ratio, low: c.high.map(|high| 1.0 / high), high: c.low.map(|low| 1.0 / low), ..*c }
}

pub(super) fn numbers(question: PairQuestion, c: &PairComparison) -> Numbers {
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
    first: &GroupFigure,
    second: &GroupFigure,
    (as_runs, as_units): (bool, bool),
    options: &Options,
) -> Result<Numbers, RankRefusal> {
    let question = question_of_sides(first, second, as_units);
    let welch = inverted(&rank::compare(&first.values, &second.values, options)?);
    // Copies of a value are not repeats, whatever the variance of days. One value without repeats has no interval of
    // its own.
    let bare = matches!(welch.answer, PairAnswer::CannotTell(PairDoubt::NoSpread | PairDoubt::SingleValue));
    let one_each = first.runs.len() == 1 && second.runs.len() == 1;
    // The question is about these runs only, of any media.
    if as_runs && one_each {
        let found = Numbers { series: SeriesUse::SingleRuns, ..numbers(PairQuestion::Runs, &welch) };
        return Ok(as_printed(found, (first, second), options));
    }
    let mut series = SeriesUse::NotAsked;
    if as_runs && one_unit_each(first, second) {
        match against_series(first, second, welch.ratio, options) {
            Ok((c, series)) => {
                let found = Numbers { series: SeriesUse::Decides(series), ..numbers(PairQuestion::Runs, &c) };
                return Ok(as_printed(found, (first, second), options));
            }
            Err(why) => series = SeriesUse::Unusable { why },
        }
    }
    let found = match question {
        PairQuestion::Models => with_days((question, welch), unshared_days(first, second), options),
        PairQuestion::UnitAgainstOthers if units(first).len() == 1 => {
            let c = against_others(second, first, options);
            let c = PairComparison { n: (c.n.1, c.n.0), ..inverted(&c) };
            with_days((question, c), unshared_days(first, second), options)
        }
        PairQuestion::UnitAgainstOthers => {
            let c = against_others(first, second, options);
            with_days((question, c), unshared_days(first, second), options)
        }
        PairQuestion::SameUnits => {
            let c = each_with_itself(first, second, welch.n, options);
            with_days((question, c), unshared_days_of_same(first, second), options)
        }
        PairQuestion::Specimens => {
            // Several units have their own spread. One unit has the prior of units, which includes days and repeats.
            let known = |side: &GroupFigure| if units(side).len() > 1 { squared_error(&side.values) } else { 0.0 };
            let single = [first, second].iter().filter(|side| units(side).len() == 1).count();
            let half = specimens(1.0 - options.alpha, single, known(first) + known(second)).unwrap_or(f64::INFINITY);
            // The prior is no bound: a unit whose own values differ by more is known no better than they allow.
            let half = half.max(scatter::of_single_units((first, second), 1.0 - options.alpha));
            numbers(question, &PairComparison::from_difference(welch.ratio.ln(), half, welch.n, options.delta))
        }
        PairQuestion::Runs | PairQuestion::Units if bare => numbers(question, &welch),
        PairQuestion::Runs | PairQuestion::Units => {
            let days = variance_of_days(first, second);
            let weights = 1.0 / days_of_side(first) as f64 + 1.0 / days_of_side(second) as f64;
            let level = 1.0 - options.alpha;
            let pooled = || days.half(level, weights).map(|half| (half, days.assumed()));
            // All days of one unit have one variance; the days of two units may have different ones.
            let found = if question == PairQuestion::Units { two_units(first, second, level) } else { pooled() };
            let (half, assumed) = found.unwrap_or((f64::INFINITY, days.assumed()));
            let as_they_were = welch.low.zip(welch.high).filter(|_| one_each);
            // The interval of single runs is never narrower than their repeats allow.
            let half = as_they_were.map_or(half, |(low, high)| half.max((high / low).ln() / 2.0));
            // Nor is that of several runs, where few days are known, narrower than the runs of one day allow.
            let few = assumed > 0.0 || days.measured() < ENOUGH_DAYS;
            let of_runs = if few { runs_of_a_day(first, second, level) } else { None };
            let half = of_runs.map_or(half, |of_runs| half.max(of_runs));
            let runs = as_they_were.map(|(low, high)| RunPair { low, high, differ: differ(welch.answer) });
            let across_days =
                Days { deviation: days.deviation(), measured: days.measured(), prior: (PRIOR_DEVIATION, assumed) };
            let wide = PairComparison::from_difference(welch.ratio.ln(), half, welch.n, options.delta);
            Numbers { days: Some(across_days), runs, ..numbers(question, &wide) }
        }
    };
    let found = as_printed(found, (first, second), options);
    let asks = question == PairQuestion::Units && are_two_models(first, second);
    let found = Numbers { models: if asks { models_apart(found.ratio, options) } else { None }, ..found };
    let needed =
        if bare || found.own_days { None } else { scatter::needed(question, (first, second), found.ratio, options) };
    Ok(Numbers { needed, series, ..found })
}

/// Two units, each over its days.
fn two_units(first: &GroupFigure, second: &GroupFigure, level: f64) -> Option<(f64, f64)> {
    let [first, second] = [first, second].map(|side| runs(side).flat_map(days::days).collect::<Vec<_>>());
    half_between(&first, &second, level)
}

/// Adds the effect that a day has on all units of a side, where the sides were measured on different days. `common` is
/// the number of day variances to add; the variance of a day is assumed.
fn with_days((question, c): (PairQuestion, PairComparison), common: f64, options: &Options) -> Numbers {
    let Some((low, high)) = c.low.zip(c.high).filter(|_| common > 0.0) else { return numbers(question, &c) };
    let assumed = student_t(1.0 - options.alpha, PRIOR_DEGREES as u32).unwrap_or(f64::INFINITY) * PRIOR_DEVIATION;
    let half = ((high / low).ln() / 2.0).hypot(assumed * common.sqrt());
    let wide = PairComparison::from_difference(c.ratio.ln(), half, c.n, options.delta);
    let own_days = wide.answer == PairAnswer::CannotTell(PairDoubt::Wide) && wide.answer != c.answer;
    Numbers { own_days, ..numbers(question, &wide) }
}

/// Degrees of freedom of a known error. With very many degrees the quantile takes minutes, and its value is the same.
const OF_PRINTED: u32 = 1_000;

/// Adds the rounding error of printed figures, which all values of a side have in common.
fn as_printed(found: Numbers, (first, second): (&GroupFigure, &GroupFigure), options: &Options) -> Numbers {
    let own = |side: &GroupFigure| uniform(side.runs.iter().map(|run| run.resolution).fold(0.0, f64::max));
    let common = own(first) + own(second);
    let Some((low, high)) = found.low.zip(found.high).filter(|_| common > 0.0) else { return found };
    let printed = student_t(1.0 - options.alpha, OF_PRINTED).unwrap_or(f64::INFINITY) * common.sqrt();
    let half = ((high / low).ln() / 2.0).hypot(printed);
    let wide = PairComparison::from_difference(found.ratio.ln(), half, found.n, options.delta);
    let PairComparison { low, high, answer, significant, .. } = wide;
    Numbers { low, high, answer, significant, ..found }
}

/// Whether two units are of different models.
fn are_two_models(first: &GroupFigure, second: &GroupFigure) -> bool {
    let model = |side: &GroupFigure| side.runs.first().map(|run| run.unit.0.clone());
    model(first) != model(second)
}

/// The interval of the ratio of two models by one unit of each, with the assumed variance between units.
fn models_apart(ratio: f64, options: &Options) -> Option<(f64, f64)> {
    let half = specimens(1.0 - options.alpha, 2, 0.0)?;
    Some((ratio * (-half).exp(), ratio * half.exp()))
}

fn differ(answer: PairAnswer) -> Option<bool> {
    match answer {
        PairAnswer::Different => Some(true),
        PairAnswer::Same => Some(false),
        PairAnswer::CannotTell(_) => None,
    }
}

/// Compares each unit with itself, where the same units are on both sides.
fn each_with_itself(first: &GroupFigure, second: &GroupFigure, n: (usize, usize), options: &Options) -> PairComparison {
    let differences = differences(first, second);
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    // Means of several days vary by less than a day. Enough pairs show that variance themselves.
    let of_a_day = |side: &GroupFigure| days_of_each(side).iter().map(|days| 1.0 / *days as f64).sum::<f64>() / count;
    let weights = if differences.len() < ENOUGH_PAIRS { (of_a_day(first) + of_a_day(second)) / 2.0 } else { 1.0 };
    let paired = variance_of_days(first, second).paired(&differences);
    let half = paired.half(1.0 - options.alpha, weights / count).unwrap_or(f64::INFINITY);
    PairComparison::from_difference(mean, half, n, options.delta)
}

/// One unit over several of its model: by how much those differ, a further one differs from their mean.
fn against_others(others: &GroupFigure, one: &GroupFigure, options: &Options) -> PairComparison {
    let n = others.values.len();
    // Of one unit there are repeats, or the means of its runs.
    let difference = log_mean(&one.values) - log_mean(&others.values);
    let error = squared_error(&others.values) * (n as f64 + 1.0);
    let t = student_t(1.0 - options.alpha, u32::try_from(n - 1).unwrap_or(u32::MAX)).unwrap_or(f64::INFINITY);
    if error > 0.0 {
        return PairComparison::from_difference(difference, t * error.sqrt(), (n, 1), options.delta);
    }
    let answer = PairAnswer::CannotTell(PairDoubt::NoSpread);
    PairComparison { ratio: difference.exp(), low: None, high: None, n: (n, 1), answer, significant: false }
}

// The ratios of all pairs of groups with their intervals.

/// Numbers of a pair, with the indices of its sides.
pub(super) type Indexed = (usize, usize, Numbers);

/// Options of the statistics.
pub(super) fn options(request: &CompareRequest, more_is_better: bool) -> Result<Options, CompareError> {
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
    sides: &[GroupFigure],
    decided: Option<&GroupsUnderLoad<'_>>,
    (as_runs, as_units): (bool, bool),
    options: &Options,
) -> Result<(Method, Vec<Indexed>, bool), CompareError> {
    let refused = |refusal: RankRefusal| CompareError::Options(refusal.to_string());
    let places: Vec<(usize, usize)> =
        (0..sides.len()).flat_map(|a| (a + 1..sides.len()).map(move |b| (a, b))).collect();
    let models =
        places.iter().all(|(a, b)| question_of_sides(&sides[*a], &sides[*b], as_units) == PairQuestion::Models);
    let single = as_runs && sides.iter().all(|side| side.runs.len() == 1);
    let several: Vec<&GroupFigure> = sides.iter().filter(|side| side.basis == GroupBasis::Units).collect();
    let together = |(a, b): (usize, usize), c: &PairComparison, alpha: f64| {
        let asked = if single { PairQuestion::Runs } else { question_of_sides(&sides[a], &sides[b], as_units) };
        let found = numbers(asked, c);
        let wanted = found.question == PairQuestion::Models && asks_what_would_tell(sides.len(), a);
        let needed = if wanted {
            needed_of_models(&several, (&sides[a], &sides[b]), (c.ratio.ln(), options.delta), alpha)
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
        let found = PairComparison::between(difference, ends, differ, n, options.delta);
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
    let all = all.collect::<Result<_, RankRefusal>>().map_err(refused)?;
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
fn of_values(basis: GroupBasis) -> &'static str {
    match basis {
        GroupBasis::Repeats => "repeats of one run",
        GroupBasis::Runs => "runs of one unit on one day",
        GroupBasis::Days => "days of one unit",
        GroupBasis::Units => "units",
    }
}

/// Geometric mean of values with its interval at `level`. For repeats the interval holds if they are independent, which
/// a few repeats cannot show. With `until_narrow` the values ended when their interval was narrow.
pub(super) fn estimate(values: &[f64], level: f64, basis: GroupBasis, until_narrow: bool) -> Option<Estimate> {
    let mut estimate = if until_narrow { geometric_until_known(values)? } else { geometric(values)? };
    let condition = match (basis, until_narrow) {
        (GroupBasis::Repeats, true) => ", wider for being looked at after each repeat",
        (GroupBasis::Repeats, false) => ", repeats assumed independent",
        (GroupBasis::Runs | GroupBasis::Days | GroupBasis::Units, _) => "",
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

// Groups that are models. Their figures, and which of two is better, come from the ranking.

/// Groups that each hold one model of their own.
pub(super) struct Models<'a> {
    setting: Setting<'a>,
    /// By group.
    names: Vec<String>,
}

impl<'a> Models<'a> {
    /// `None` where a group holds no model or several, or two hold the same one, or runs are asked about.
    pub(super) fn from_groups(groups: &[RecordGroup<'a>], request: &CompareRequest) -> Option<Self> {
        let name = |group: &RecordGroup<'a>| {
            let mut models = group.records.iter().filter(|r| names_model(r)).map(|r| identity(r).model);
            let first = models.next()?;
            let all_named = group.records.iter().all(|r| names_model(r));
            (all_named && models.all(|model| model == first)).then_some(first)
        };
        let names: Vec<String> = groups.iter().map(name).collect::<Option<_>>()?;
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() < names.len() || request.runs {
            return None;
        }
        let records: Vec<_> = groups.iter().flat_map(|group| group.records.iter().copied()).collect();
        let ask = RankOptions { alpha: 1.0 - request.level, delta: request.margin, ..RankOptions::default() };
        Some(Self { setting: Setting::new(&records, &ask), names })
    }

    /// The ranking under a load; `None` without a figure that counts.
    pub(super) fn decided(&self, load: &Load, quantity: Quantity, primary: bool) -> Option<GroupsUnderLoad<'_>> {
        DecidedLoad::from_setting(&self.setting, load, quantity, !primary)
            .map(|decided| GroupsUnderLoad { decided, names: &self.names })
    }
}

/// The ranking of groups under a load.
pub(super) struct GroupsUnderLoad<'a> {
    decided: DecidedLoad,
    names: &'a [String],
}

impl GroupsUnderLoad<'_> {
    fn name(&self, side: &GroupFigure) -> &str {
        &self.names[side.group]
    }

    /// Gives a side the figures of the ranking: without the effects of slots and rounds.
    pub(super) fn adjust(&self, side: &mut GroupFigure, level: f64) {
        if side.excluded() {
            return;
        }
        let name = self.name(side).to_owned();
        if self.adjusted() {
            side.adjust(|unit| self.decided.levels.factor(&name, unit), level);
        }
        if let Some(estimate) = self.decided.estimate(&name, level) {
            side.estimate = Some(estimate);
        }
    }

    pub(super) fn adjusted(&self) -> bool {
        self.decided.levels.adjusted()
    }

    pub(super) fn at_ceiling(&self, side: &GroupFigure) -> bool {
        self.decided.levels.at_ceiling(self.name(side))
    }

    /// Models that were tested together.
    pub(super) fn models(&self) -> usize {
        self.decided.models()
    }

    /// The logarithm of the second side over the first, the ends of its interval, and whether the difference is
    /// significant; `None` where the ranking does not compare the two.
    pub(super) fn between(&self, first: &GroupFigure, second: &GroupFigure) -> Option<(f64, (f64, f64), bool)> {
        if first.excluded() || second.excluded() {
            return None;
        }
        let (ends, differ) = self.decided.between(self.name(second), self.name(first))?;
        Some((log_mean(&second.values) - log_mean(&first.values), ends, differ))
    }
}

// Derives the verdict from a ratio and its interval.

/// The verdict by the values alone.
fn measured(numbers: &Numbers, second_leads: bool) -> PairVerdict {
    let measured = match numbers.answer {
        PairAnswer::Same => PairVerdict::Same,
        PairAnswer::Different if second_leads => PairVerdict::Better,
        PairAnswer::Different => PairVerdict::Worse,
        PairAnswer::CannotTell(PairDoubt::SingleValue) => PairVerdict::CannotTell(WhyUnknown::SingleValue),
        PairAnswer::CannotTell(PairDoubt::NoSpread) => PairVerdict::CannotTell(WhyUnknown::NoSpread),
        PairAnswer::CannotTell(PairDoubt::Wide) if numbers.runs.is_some_and(|runs| runs.differ.is_some()) => {
            PairVerdict::CannotTell(WhyUnknown::Days)
        }
        PairAnswer::CannotTell(PairDoubt::Wide) if numbers.own_days => PairVerdict::CannotTell(WhyUnknown::OwnDays),
        PairAnswer::CannotTell(PairDoubt::Wide) => PairVerdict::CannotTell(WhyUnknown::Wide),
    };
    // Where only one unit was measured, the variance between units is assumed. That is enough to tell models apart, but
    // not to call them equal.
    match measured {
        PairVerdict::Same | PairVerdict::CannotTell(WhyUnknown::Wide)
            if numbers.question == PairQuestion::Specimens =>
        {
            PairVerdict::CannotTell(WhyUnknown::OneUnit)
        }
        other => other,
    }
}

/// The rules of honest comparison. A figure at the ceiling of its bus is a lower bound of the medium: it can show that
/// the medium is better, but not that it is worse or equal. An invalid figure is compared with nothing, and a medium
/// that is not genuine wins nothing. `refused` is the reason why the records of the groups allow no answer: the
/// computers are of different kinds and no common unit connects them, or the media are unknown.
pub(super) fn judge(
    first: &GroupFigure,
    second: &GroupFigure,
    numbers: Numbers,
    (bus, refused): ([bool; 2], Option<WhyUnknown>),
    more_is_better: bool,
) -> Pair {
    let second_leads = (numbers.ratio > 1.0) == more_is_better;
    let bus = (bus[0], bus[1]);
    let measured = measured(&numbers, second_leads);
    let winner = match measured {
        PairVerdict::Better => Some(second),
        PairVerdict::Worse => Some(first),
        _ => None,
    };
    let hidden = match measured {
        PairVerdict::Same => bus.0 || bus.1,
        PairVerdict::Better => bus.0,
        PairVerdict::Worse => bus.1,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => false,
    };
    // The best of several runs against a mean: the best is above the mean of its medium by an unknown amount.
    let best = (first.has(Mark::BestOf), second.has(Mark::BestOf));
    let flattered = match measured {
        PairVerdict::Same => best.0 != best.1,
        PairVerdict::Better => best.1 && !best.0,
        PairVerdict::Worse => best.0 && !best.1,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => false,
    };
    let either = |mark| first.has(mark) || second.has(mark);
    let verdict = if either(Mark::Invalid) {
        PairVerdict::CannotTell(WhyUnknown::Invalid)
    } else if either(Mark::Failed) || either(Mark::Unfinished) {
        PairVerdict::CannotTell(WhyUnknown::Incomplete)
    } else if bus == (true, true) {
        PairVerdict::BusTie
    } else if winner.is_some_and(|side| side.has(Mark::Fake)) {
        PairVerdict::CannotTell(WhyUnknown::Fake)
    } else if let Some(why) = refused {
        PairVerdict::CannotTell(why)
    } else if hidden {
        PairVerdict::CannotTell(WhyUnknown::BusHides)
    } else if flattered {
        PairVerdict::CannotTell(WhyUnknown::BestOf)
    } else {
        measured
    };
    Pair {
        first: first.group,
        second: second.group,
        question: numbers.question,
        ratio: numbers.ratio,
        low: numbers.low,
        high: numbers.high,
        days: numbers.days,
        runs: numbers.runs,
        series: numbers.series,
        models: numbers.models,
        n: numbers.n,
        verdict,
        significant: numbers.significant,
        at_least: match verdict {
            PairVerdict::Better => bus.1,
            PairVerdict::Worse => bus.0,
            _ => false,
        },
        needed: numbers.needed.filter(|_| {
            matches!(verdict, PairVerdict::CannotTell(WhyUnknown::Wide | WhyUnknown::Days | WhyUnknown::OneUnit))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::SideRun;
    use super::*;

    fn printed_in(step: f64) -> GroupFigure {
        let run = SideRun {
            record: String::new(),
            unit: (String::new(), String::new()),
            day: None,
            resolution: step,
            host: None,
            computer: None,
            nameless: false,
            points: vec![1.0],
            until_narrow: false,
            marks: Vec::new(),
        };
        let runs = vec![SideRun { resolution: 0.0, ..run.clone() }, run];
        GroupFigure {
            group: 0,
            basis: GroupBasis::Repeats,
            estimate: None,
            values: Vec::new(),
            runs,
            marks: Vec::new(),
        }
    }

    /// Steps of 6 and 8 % have a standard deviation of 0.1 by the root of 12 together; t of 1,000 degrees is 1.9623.
    #[test]
    fn the_digits_of_figures_widen_the_interval_of_their_ratio() {
        let options = Options::default();
        let found =
            numbers(PairQuestion::Units, &PairComparison::from_difference(2f64.ln(), 0.05, (3, 3), options.delta));
        let wide = as_printed(found, (&printed_in(0.06), &printed_in(0.08)), &options);
        let half = 0.05f64.hypot(1.9623 * 0.1 / 12f64.sqrt());
        let (low, high) = wide.low.zip(wide.high).unwrap();
        assert!((low.ln() - (2f64.ln() - half)).abs() < 1e-5, "{low}");
        assert!((high.ln() - (2f64.ln() + half)).abs() < 1e-5, "{high}");
        let exact = as_printed(found, (&printed_in(0.0), &printed_in(0.0)), &options);
        assert_eq!((exact.low, exact.high), (found.low, found.high));
    }
}
