//! What two sides can be asked, by how much their values scatter (from day to day, from unit to unit, about their mean),
//! how many units or runs would distinguish them, and how runs of one unit differ without any change.

use std::collections::BTreeSet;

use assay_stats::days::{self, Day, GroupDays, RunOfDay, days};
use assay_stats::power::{LogDeviation, TTest};
use assay_stats::rank::{self, Options, PairComparison, Spread};
use assay_stats::variation::{PRIOR_DEVIATION, PRIOR_UNIT_DEGREES, PRIOR_UNIT_DEVIATION, RunVariance};
use assay_stats::{log_mean, log_squares, student_t};

use super::report::{GroupFigure, NoSeries, PairQuestion, Series};
use crate::deciding::{Needed, Values};

/// How runs of the same units differ, on both sides.
pub(super) fn variance_of_days(first: &GroupFigure, second: &GroupFigure) -> RunVariance {
    RunVariance::of(runs(first).chain(runs(second)))
}

/// Half of the interval, at `level`, of the difference of logarithms of two sides, from the variance of single runs
/// within a day on both sides. With `k` runs on each of `d` days, the mean of a side has `∑ 1/k / d²` of the variance
/// of a run, if days have no effect. `None` where no day has two runs, or where those are equal.
///
/// The assumed variance of days is much smaller than the effect of a disturbed host on the runs of an hour. Real runs
/// of one medium that differ by factors of 1.2 to 4 were split into two groups, and with that variance alone 6 to 12 of
/// 100 loads were distinguished.
pub(super) fn runs_of_a_day(first: &GroupFigure, second: &GroupFigure, level: f64) -> Option<f64> {
    let all: [Vec<Day<'_>>; 2] = [first, second].map(|side| runs(side).flat_map(days::days).collect());
    let of_day = |day: &Day<'_>| day.runs.iter().map(|run| log_mean(run.values)).collect::<Vec<f64>>();
    let (mut squares, mut degrees, mut weights) = (0.0, 0, 0.0);
    for days in &all {
        for day in days {
            squares += log_squares(&of_day(day));
            degrees += day.runs.len() - 1;
            weights += 1.0 / day.runs.len() as f64 / (days.len() as f64).powi(2);
        }
    }
    let t = u32::try_from(degrees).ok().filter(|degrees| *degrees > 0).and_then(|degrees| student_t(level, degrees))?;
    Some(t * (squares / degrees as f64 * weights).sqrt()).filter(|half| *half > 0.0)
}

/// How the same units differ between the sides.
pub(super) fn differences(first: &GroupFigure, second: &GroupFigure) -> Vec<f64> {
    units(first).into_iter().map(|unit| log_mean_of_unit(second, unit) - log_mean_of_unit(first, unit)).collect()
}

/// Squared error of the mean of logarithms.
pub(super) fn squared_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    log_squares(&values.iter().map(|v| v.ln()).collect::<Vec<f64>>()) / (n - 1.0) / n
}

/// Half the width of the interval, at `level`, of the log ratio of two sides. It comes from the spread within the sides that
/// are one unit; 0 if each of these has a single value.
pub(super) fn of_single_units((first, second): (&GroupFigure, &GroupFigure), level: f64) -> f64 {
    let of = |side: &GroupFigure| {
        let n = side.values.len();
        if units(side).len() != 1 || n < 2 {
            return 0.0;
        }
        let t = u32::try_from(n - 1).ok().and_then(|degrees| student_t(level, degrees)).unwrap_or(f64::INFINITY);
        t * squared_error(&side.values).sqrt()
    };
    of(first).hypot(of(second))
}

/// What days took from all units of a side and not of the other, in variances of a day; 0 where the sides were measured on
/// the same days, or each unit on days of its own.
pub(super) fn unshared_days(first: &GroupFigure, second: &GroupFigure) -> f64 {
    GroupDays::from_groups(&[days_by_unit(first), days_by_unit(second)]).between(0, 1)
}

/// The same of the same units on both sides, each compared with itself.
pub(super) fn unshared_days_of_same(first: &GroupFigure, second: &GroupFigure) -> f64 {
    GroupDays::paired(&days_by_unit(first), &days_by_unit(second))
}

fn days_by_unit(side: &GroupFigure) -> Vec<Vec<Option<&str>>> {
    let of_unit = |unit: &(String, String)| {
        let runs = side.runs.iter().filter(|run| run.unit == *unit);
        let mut days: Vec<Option<&str>> = runs.map(|run| run.day.as_deref()).collect();
        days.sort_unstable();
        days.dedup();
        days
    };
    units(side).into_iter().map(of_unit).collect()
}

// What two groups can be asked.

/// A unit: its model and its name.
type Unit = (String, String);

/// The subject of the answer about two sides; with `as_units` two units are compared as units, regardless of their
/// models.
pub(super) fn question_of_sides(first: &GroupFigure, second: &GroupFigure, as_units: bool) -> PairQuestion {
    let (a, b) = (units(first), units(second));
    let models: BTreeSet<&str> = a.union(&b).map(|(model, _)| model.as_str()).collect();
    match (a.len(), b.len()) {
        (1, 1) if a == b => PairQuestion::Runs,
        (1, 1) if models.len() == 1 => PairQuestion::Units,
        // A unit with a single value has no interval of its own, but the assumed variance of units gives one.
        (1, 1) if as_units && first.values.len() > 1 && second.values.len() > 1 => PairQuestion::Units,
        (1, _) | (_, 1) if models.len() == 1 => PairQuestion::UnitAgainstOthers,
        (1, _) | (_, 1) => PairQuestion::Specimens,
        _ if a == b => PairQuestion::SameUnits,
        _ => PairQuestion::Models,
    }
}

/// The units of a side.
pub(super) fn units(side: &GroupFigure) -> BTreeSet<&Unit> {
    side.runs.iter().map(|run| &run.unit).collect()
}

/// The runs of each unit of a side.
pub(super) fn runs(side: &GroupFigure) -> impl Iterator<Item = Vec<RunOfDay<'_>>> {
    let of_unit = |unit: &Unit| side.runs.iter().filter(|run| run.unit == *unit).map(dated).collect();
    units(side).into_iter().map(of_unit)
}

fn dated(run: &super::report::SideRun) -> RunOfDay<'_> {
    RunOfDay { values: &run.points, day: run.day.as_deref() }
}

/// The mean of logarithms of a unit over its days on a side.
pub(super) fn log_mean_of_unit(side: &GroupFigure, unit: &Unit) -> f64 {
    days::log_mean_over_days(side.runs.iter().filter(|run| run.unit == *unit).map(dated)).unwrap_or(f64::NAN)
}

/// The number of days of each unit of a side.
pub(super) fn days_of_each(side: &GroupFigure) -> Vec<usize> {
    runs(side).map(|runs| days::days(runs).len()).collect()
}

/// Days of all units of a side.
pub(super) fn days_of_side(side: &GroupFigure) -> usize {
    days_of_each(side).into_iter().sum()
}

// How many units or runs would tell what a pair of groups cannot.

/// The number of values that would settle the answer, from the two sides.
pub(super) fn needed(
    question: PairQuestion,
    (first, second): (&GroupFigure, &GroupFigure),
    ratio: f64,
    options: &Options,
) -> Option<Needed> {
    let alpha = options.alpha;
    let difference = (ratio.ln(), options.delta);
    match question {
        PairQuestion::Models => needed_of_models(&[first, second], (first, second), difference, alpha),
        PairQuestion::Specimens => {
            let assumed = LogDeviation { value: PRIOR_UNIT_DEVIATION, degrees: PRIOR_UNIT_DEGREES };
            Needed::from_difference(Values::Units, difference, assumed, 1, |n| rank::tests(2, n, alpha))
        }
        PairQuestion::SameUnits => {
            let differences = differences(first, second);
            let paired = variance_of_days(first, second).paired(&differences);
            let seen = LogDeviation { value: paired.deviation(), degrees: paired.degrees() };
            let test = |n: u32| TTest { error: 1.0 / f64::from(n), degrees: f64::from(n) - 1.0, alpha, prior: None };
            Needed::from_difference(Values::Pairs, difference, seen, differences.len(), |n| vec![test(n)])
        }
        PairQuestion::UnitAgainstOthers => {
            let others = if units(first).len() > 1 { first } else { second };
            let n = others.values.len() as f64;
            let seen = LogDeviation { value: (squared_error(&others.values) * n).sqrt(), degrees: n - 1.0 };
            let test =
                |n: u32| TTest { error: 1.0 + 1.0 / f64::from(n), degrees: f64::from(n) - 1.0, alpha, prior: None };
            Needed::from_difference(Values::Others, difference, seen, others.values.len(), |n| vec![test(n)])
        }
        PairQuestion::Runs | PairQuestion::Units => {
            let days = variance_of_days(first, second);
            let seen = LogDeviation { value: days.deviation(), degrees: days.degrees() };
            let test = |n: u32| {
                let assumed = LogDeviation { value: PRIOR_DEVIATION, degrees: RunVariance::assumed_beside(n) };
                let prior = Some(assumed).filter(|assumed| assumed.degrees > 0.0 && seen.value <= assumed.value);
                TTest { error: 2.0 / f64::from(n), degrees: 2.0 * f64::from(n - 1), alpha, prior }
            };
            Needed::from_difference(
                Values::Runs,
                difference,
                seen,
                days_of_side(first).min(days_of_side(second)),
                |n| vec![test(n)],
            )
        }
    }
}

/// Of two models among some `sides` that are compared together, by the deviation that a ranking of them tests with.
pub(super) fn needed_of_models(
    sides: &[&GroupFigure],
    (first, second): (&GroupFigure, &GroupFigure),
    difference: (f64, f64),
    alpha: f64,
) -> Option<Needed> {
    let several = sides.iter().filter(|side| side.values.len() > 1);
    let spreads: Vec<Spread> = several
        .map(|side| {
            let n = side.values.len();
            let degrees = u32::try_from(n - 1).unwrap_or(u32::MAX);
            Spread { variance: squared_error(&side.values) * n as f64, degrees, shared: true }
        })
        .collect();
    let (variance, degrees) = rank::pooled(&spreads)?;
    let seen = LogDeviation { value: variance.sqrt(), degrees: f64::from(degrees) };
    let there_are = first.values.len().min(second.values.len());
    Needed::of_models(u32::try_from(sides.len()).unwrap_or(u32::MAX), difference, seen, there_are, alpha)
}

// Runs against a series of runs: by how much runs of one unit at one host differ without any change.
//
// The repeats of two single runs say nothing about what one more run of the same build would do: where runs differ by 3 to 5 %
// and repeats by 1 %, 5 to 14 of 100 unchanged builds fail a limit. Three runs of one side show it.

/// Fewest runs of a side whose spread decides, and fewest days if the other side has a day of its own.
const FEWEST: usize = 3;

/// Whether each side has runs of one unit only.
pub(super) fn one_unit_each(first: &GroupFigure, second: &GroupFigure) -> bool {
    units(first).len() == 1 && units(second).len() == 1
}

/// Compares two sides by the runs of one of them, of one unit at one host: by Student's interval of a further run. If
/// both sides have a series, the wider interval of the two decides. It is never narrower than the spread of the
/// runs of each side allows: a side may differ more than the other. Which side is the first changes nothing.
///
/// Welch's interval is too narrow for that: it told 7.1 of 100 pairs of equal builds apart, of three runs that vary by
/// 0.3 % and two that vary by 5 % (simulated).
///
/// The interval holds for runs that are independent of each other and normal on a logarithmic scale. It does not hold
/// where a host gets slower by the hour, or from time to time.
///
/// # Errors
/// Why the runs do not decide.
pub(super) fn against_series(
    first: &GroupFigure,
    second: &GroupFigure,
    ratio: f64,
    options: &Options,
) -> Result<(PairComparison, Series), NoSeries> {
    let all = || first.runs.iter().chain(&second.runs);
    let hosts: BTreeSet<(Option<&str>, Option<&str>)> =
        all().map(|run| (run.host.as_deref(), run.computer.as_deref())).collect();
    if first.runs.len().max(second.runs.len()) < FEWEST {
        return Err(NoSeries::Few);
    }
    if all().any(|run| run.day.is_none()) {
        return Err(NoSeries::Undated);
    }
    if hosts.len() > 1 || all().any(|run| run.host.is_none()) {
        return Err(NoSeries::Hosts);
    }
    let level = 1.0 - options.alpha;
    let (half, series) = match (further_run(first, second, level), further_run(second, first, level)) {
        (Err(NoSeries::Equal), _) | (_, Err(NoSeries::Equal)) => return Err(NoSeries::Equal),
        (Ok(one), Ok(other)) => {
            if other.0 > one.0 {
                other
            } else {
                one
            }
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => one,
        (Err(why), Err(_)) => return Err(why),
    };
    let n = (first.runs.len(), second.runs.len());
    let half = if n.0 > 1 && n.1 > 1 { half.max(of_single_units((first, second), level)) } else { half };
    Ok((PairComparison::from_difference(ratio.ln(), half, n, options.delta), series))
}

/// Half of the interval, at `level`, of a side against the runs of `base`, which needs three dated ones. If all runs are
/// of one day, the spread between the runs of that day decides. If `base` has three days or more, the spread of single
/// runs between days decides, with the number of days minus one as degrees of freedom, because runs of a day are alike.
/// The repeats of a single run of the other side set the smallest width.
fn further_run(base: &GroupFigure, side: &GroupFigure, level: f64) -> Result<(f64, Series), NoSeries> {
    if base.runs.len() < FEWEST {
        return Err(NoSeries::Few);
    }
    let (group, runs, repeats) = (base.group, base.runs.len(), of_repeats(side, level));
    let (base, other) = (days_of(base), days_of(side));
    let (variance, degrees, weights) = match &base[..] {
        [day] if other.iter().all(|other| other.name == day.name) => {
            let n = day.runs.len();
            (within(&base).unwrap_or(0.0), n - 1, 1.0 / n as f64 + 1.0 / side.runs.len() as f64)
        }
        days if days.len() >= FEWEST => {
            (of_another_day(days), days.len() - 1, 1.0 / days.len() as f64 + 1.0 / other.len() as f64)
        }
        _ => return Err(NoSeries::Days),
    };
    if variance <= 0.0 {
        return Err(NoSeries::Equal);
    }
    let t = |degrees: usize| u32::try_from(degrees).ok().and_then(|degrees| student_t(level, degrees));
    let half = t(degrees).unwrap_or(f64::INFINITY) * (variance * weights).sqrt();
    let half = half.max(repeats.unwrap_or(f64::INFINITY));
    Ok((half, Series { group, deviation: variance.sqrt(), runs, days: base.len() }))
}

fn days_of(side: &GroupFigure) -> Vec<Day<'_>> {
    days(runs(side).flatten())
}

/// Variance of single runs of one day, pooled over days; `None` where no day has two runs.
fn within(days: &[Day<'_>]) -> Option<f64> {
    let of_day = |day: &Day<'_>| log_squares(&day.runs.iter().map(|run| log_mean(run.values)).collect::<Vec<f64>>());
    let degrees = days.iter().map(|day| day.runs.len() - 1).sum::<usize>();
    (degrees > 0).then(|| days.iter().map(of_day).sum::<f64>() / degrees as f64)
}

/// Variance of a single run on a day of its own: that between the means of days, and what a mean of several runs hides of the
/// variance within a day.
fn of_another_day(days: &[Day<'_>]) -> f64 {
    let means: Vec<f64> = days.iter().map(Day::log_mean).collect();
    let between = log_squares(&means) / (means.len() - 1) as f64;
    let averaged = 1.0 - days.iter().map(|day| 1.0 / day.runs.len() as f64).sum::<f64>() / days.len() as f64;
    between + within(days).unwrap_or(0.0) * averaged
}

/// Half of the interval of the mean of a single run by its own repeats, which no series makes narrower; 0 of several runs, or of
/// one value.
fn of_repeats(side: &GroupFigure, level: f64) -> Option<f64> {
    let [run] = &side.runs[..] else { return Some(0.0) };
    let n = run.points.len();
    if n < 2 {
        return Some(0.0);
    }
    let logs: Vec<f64> = run.points.iter().map(|point| point.ln()).collect();
    let error = (log_squares(&logs) / (n - 1) as f64 / n as f64).sqrt();
    Some(student_t(level, u32::try_from(n - 1).ok()?)? * error)
}

#[cfg(test)]
mod tests {
    use assay_core::observation::Observation;
    use assay_stats::random::Generator;

    use super::super::day_scenes::card;
    use super::super::report::{NoSeries, Pair, SeriesUse};
    use super::super::request::RecordGroup;
    use super::super::{CompareRequest, GateLimit, LimitAnswer, LimitDoubt, compare, gate};

    fn run(id: usize, day: usize, values: &[f64]) -> Observation {
        let mut record = card(&format!("run{id}"), "1", values);
        record.created = format!("2026-01-{day:02}T{:02}:00:00Z", id % 24);
        record
    }

    /// The last record against all before it.
    fn pair(records: &[Observation]) -> (Pair, LimitAnswer) {
        let (base, last) = (&records[..records.len() - 1], &records[records.len() - 1..]);
        let group = |name: &str, records: &[Observation]| (name.to_owned(), records.to_vec());
        let all = [group("base", base), group("new", last)];
        let groups: Vec<RecordGroup<'_>> = all
            .iter()
            .map(|(name, records)| RecordGroup { name: name.clone(), records: records.iter().collect() })
            .collect();
        let request = CompareRequest { runs: true, ..CompareRequest::default() };
        let shown = compare(&groups, &request).unwrap();
        let limit = GateLimit::parse("slower than 5%").unwrap();
        let gate = gate(&groups, &request, &shown, &[limit], false).unwrap();
        let answer = gate.cases().next().unwrap().answer.clone();
        (shown.loads[0].pairs[0], answer)
    }

    /// Draws runs for each day. Days deviate by `between`, runs of a day by `within`, repeats by 1 %. The last run is the build
    /// under test.
    fn series(dice: &mut Generator, days: &[usize], own_day: bool, (between, within): (f64, f64)) -> Vec<Observation> {
        let mut all = Vec::new();
        let mut of_day = |dice: &mut Generator, day: usize, runs: usize, effect: f64, shift: f64| {
            for _ in 0..runs {
                let mean = 1000.0 * (effect + within * dice.normal() + shift).exp();
                let values: Vec<f64> = (0..3).map(|_| mean * (0.01 * dice.normal()).exp()).collect();
                all.push(run(all.len(), day, &values));
            }
        };
        let mut effect = 0.0;
        for (day, runs) in days.iter().enumerate() {
            effect = between * dice.normal();
            of_day(dice, day + 1, *runs, effect, 0.0);
        }
        // The build is as much slower as the limit allows.
        let (day, effect) = if own_day { (days.len() + 1, between * dice.normal()) } else { (days.len(), effect) };
        of_day(dice, day, 1, effect, 0.95f64.ln());
        all
    }

    #[test]
    fn a_build_at_the_limit_fails_seldom_however_much_runs_differ() {
        let scenes: [(&[usize], bool, (f64, f64)); 5] = [
            (&[3], false, (0.03, 0.05)),
            (&[10], false, (0.03, 0.03)),
            (&[1, 1, 1, 1], true, (0.03, 0.02)),
            (&[5, 5, 5], true, (0.03, 0.03)),
            (&[4, 1, 1], true, (0.03, 0.05)),
        ];
        for (days, own_day, spread) in scenes {
            let mut dice = Generator::new(7);
            let trials = 2000;
            let failed = (0..trials)
                .filter(|_| pair(&series(&mut dice, days, own_day, spread)).1 == LimitAnswer::Failed)
                .count();
            eprintln!("{days:?} {spread:?}: {failed} of {trials} failed");
            // 2.5 of 100; four standard errors.
            assert!(failed <= trials * 39 / 1000, "{days:?}: {failed} of {trials}");
        }
    }

    #[test]
    fn a_clear_loss_fails_and_the_series_is_told() {
        let mut records: Vec<Observation> = [0.99, 1.0, 1.01, 1.0, 0.995]
            .iter()
            .enumerate()
            .map(|(at, mean)| run(at, 1, &[mean * 999.0, mean * 1000.0, mean * 1001.0]))
            .collect();
        records.push(run(9, 1, &[899.0, 900.0, 901.0]));
        let (found, answer) = pair(&records);
        assert_eq!(answer, LimitAnswer::Failed);
        let series = found.series.decides().unwrap();
        assert_eq!((series.runs, series.days), (5, 1));
        assert!((0.005..0.01).contains(&series.deviation), "{series:?}");
        // Of another day this series says nothing, and two runs are none.
        records[5].created = "2026-01-02T00:00:00Z".to_owned();
        let unusable = |records: &[Observation]| match pair(records).0.series {
            SeriesUse::Unusable { why } => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(unusable(&records), NoSeries::Days);
        assert_eq!(unusable(&records[3..]), NoSeries::Few);
        records[5].created = "unknown".to_owned();
        assert_eq!(unusable(&records), NoSeries::Undated);
        assert_eq!(pair(&records[4..]).0.series, SeriesUse::SingleRuns);
    }

    #[test]
    fn a_series_of_another_host_or_of_copies_says_nothing() {
        let state = |records: &[Observation]| pair(records).0.series;
        let hosts = SeriesUse::Unusable { why: NoSeries::Hosts };
        let mut records: Vec<Observation> =
            (0..4).map(|at| run(at, 1, &[1000.0 + at as f64, 1001.0, 1002.0])).collect();
        assert!(state(&records).decides().is_some());
        records[3].host.cpu = Some("another processor".to_owned());
        records[3].host.board = Some("another board".to_owned());
        assert_eq!(state(&records), hosts, "a name is no computer");
        records[3] = run(3, 1, &[1003.0, 1001.0, 1002.0]);
        records[3].host.hostname = Some("node2".to_owned());
        assert_eq!(state(&records), hosts);
        records.iter_mut().for_each(|record| record.host.hostname = None);
        assert_eq!(state(&records), hosts, "unnamed hosts may be several");
        let copies: Vec<Observation> = (0..4).map(|at| run(at, 1, &[1000.0, 1001.0, 1002.0])).collect();
        assert_eq!(state(&copies), SeriesUse::Unusable { why: NoSeries::Equal });
    }

    /// The runs of one day in two groups, compared as runs.
    fn between(base: &[f64], new: &[f64], limit: &str) -> (Pair, LimitAnswer) {
        let of = |from: usize, means: &[f64]| -> Vec<Observation> {
            let repeats = |mean: &f64| [mean * 0.9999, *mean, mean * 1.0001];
            means.iter().enumerate().map(|(at, mean)| run(from + at, 1, &repeats(mean))).collect()
        };
        let (base, new) = (of(0, base), of(base.len(), new));
        let group = |name: &str, all| RecordGroup { name: name.to_owned(), records: Iterator::collect::<Vec<_>>(all) };
        let groups = [group("base", base.iter()), group("new", new.iter())];
        let request = CompareRequest { runs: true, ..CompareRequest::default() };
        let shown = compare(&groups, &request).unwrap();
        let gate = gate(&groups, &request, &shown, &[GateLimit::parse(limit).unwrap()], false).unwrap();
        (shown.loads[0].pairs[0], gate.cases().next().unwrap().answer.clone())
    }

    #[test]
    fn the_new_runs_are_known_no_better_than_they_agree() {
        let (base, new) = ([1419.0, 1420.0, 1421.0], [1420.0, 1520.0]);
        let (pair, answer) = between(&base, &new, "faster than 2%");
        assert!(pair.low.unwrap() < 1.0 && pair.high.unwrap() > 1520.0 / 1420.0, "{pair:?}");
        assert_eq!(answer, LimitAnswer::CannotTell(LimitDoubt::Straddles));
        // Runs that agree on both sides still tell.
        assert_eq!(between(&base, &[1519.0, 1520.0, 1521.0], "faster than 2%").1, LimitAnswer::Failed);
    }

    #[test]
    fn either_group_as_reference_has_the_same_answer() {
        let steady = [1419.0, 1420.0, 1421.0, 1420.5];
        for other in [&[1420.0, 1520.0][..], &[1519.0, 1520.0, 1522.0], &[1500.0], &[1300.0, 1420.0, 1500.0]] {
            let there = between(&steady, other, "slower than 5%").0;
            let back = between(other, &steady, "slower than 5%").0;
            assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9, "{there:?} {back:?}");
            let ends = |pair: &Pair| pair.low.zip(pair.high).unwrap();
            let ((low, high), (low_back, high_back)) = (ends(&there), ends(&back));
            assert!((low * high_back - 1.0).abs() < 1e-9 && (high * low_back - 1.0).abs() < 1e-9, "{there:?} {back:?}");
        }
    }

    /// Runs of one build in two groups, whose spread may differ. Each pair is asked in one order only, as the other has
    /// the same answer.
    #[test]
    fn runs_of_equal_builds_are_told_apart_in_at_most_5_of_100() {
        for (base, new) in [(3, 2), (5, 5)] {
            for (spread, other) in [(0.03, 0.03), (0.003, 0.05)] {
                let mut dice = Generator::new(11);
                let trials = 2000;
                let mut apart = 0;
                for _ in 0..trials {
                    let mut of = |count: usize, spread: f64| -> Vec<f64> {
                        (0..count).map(|_| 1000.0 * (spread * dice.normal()).exp()).collect()
                    };
                    let (base, new) = (of(base, spread), of(new, other));
                    apart += usize::from(between(&base, &new, "slower than 5%").0.significant);
                }
                eprintln!("{base} and {new} runs, {spread} and {other}: {apart} of {trials} told apart");
                // 5 of 100; four standard errors.
                assert!(apart <= trials * 7 / 100, "{base} and {new}, {spread} and {other}: {apart} of {trials}");
            }
        }
    }
}
