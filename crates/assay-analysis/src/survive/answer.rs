//! Curves of groups of units, and whether two groups last equally long.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::estimate::Estimate;
use assay_stats::survival::{
    Curve, Incidence, Lifetime, Member, Separation, WEIBULL_FROM, log_rank, most_failing, permuted, separation,
    units_without_failure, weibull,
};
use serde::Serialize;

use super::unit::{Axis, Grouping, Happening, LastSeen, Lives, Milestone, Silent, Unit};

/// Most groups that are compared: with more pairs, Holm's correction leaves small groups no chance to differ.
pub const MOST_COMPARED: usize = 8;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct SurviveOptions {
    /// The event.
    pub milestone: Milestone,
    /// Along what.
    pub axis: Axis,
    /// What makes a group.
    pub by: Grouping,
    /// Where the curves are read; where none is named, at round values.
    pub at: Vec<f64>,
    /// Level of the intervals, and 1 less the chance that a difference is found where there is none.
    pub level: f64,
    /// The chance with which a difference should be found.
    pub chance: f64,
    /// Seed of the draws of assignments.
    pub seed: u64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survival {
    /// The event.
    pub milestone: Milestone,
    /// In what lives are measured: cycles of the whole medium, or bytes written.
    pub axis: Axis,
    /// What makes a group.
    pub by: Grouping,
    /// Level of the intervals.
    pub level: f64,
    /// The chance with which a difference should be found.
    pub chance: f64,
    /// Whether units were compared with those of their site alone.
    pub by_site: bool,
    /// Units that count at the latest time at which the event can have happened, as it was not watched for until then.
    pub late: u32,
    /// Units that name no site, where others do: sites are then left aside.
    pub without_site: u32,
    /// The loads that wore the units of a group, where there are several.
    pub loads: Vec<String>,
    /// The groups, by name.
    pub groups: Vec<SurviveGroup>,
    /// Two groups each; empty of one group, and of more than are compared.
    pub pairs: Vec<Pair>,
    /// Whether there are more groups than are compared with each other.
    pub too_many: bool,
    /// Units that say nothing here.
    pub left_out: Vec<LeftOut>,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SurviveGroup {
    /// Its name.
    pub name: String,
    /// Units.
    pub units: u32,
    /// Units that reached the event, or died before it.
    pub failed: u32,
    /// Units that were last seen without it.
    pub censored: Vec<CensoredUnits>,
    /// The time by which half of such units fail.
    pub median: Life,
    /// The curve at stated times.
    pub shares: Vec<ShareAt>,
    /// What happened, where several things did.
    pub causes: Vec<CauseShare>,
    /// Weibull's distribution; null below 20 failures, and where none fits.
    pub weibull: Option<WeibullFit>,
    /// The whole curve.
    pub course: Course,
}

/// A time of a life with the bounds that these units set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Life {
    /// The estimate; null where too few failed.
    pub point: Option<f64>,
    /// It is at least this.
    pub low: f64,
    /// It is at most this; null where these units set no bound.
    pub high: Option<f64>,
    /// Level of the interval.
    pub level: f64,
    /// Units.
    pub n: u32,
    /// How it was computed.
    pub method: String,
}

/// A share at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareAt {
    /// The time.
    pub at: f64,
    /// The share; null where no unit was seen for so long.
    pub share: Option<Estimate>,
    /// Units that were seen until then.
    pub watched: u32,
    /// Where no unit failed until then: at most this share of such units does, one-sided, by the units watched so far.
    pub failing_at_most: Option<f64>,
}

/// Units that were last seen in the same way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CensoredUnits {
    /// How.
    pub seen: LastSeen,
    /// Units.
    pub units: u32,
}

/// How often one thing happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseShare {
    /// What.
    pub happened: Happening,
    /// Units.
    pub units: u32,
    /// Cumulative incidence at the stated times.
    pub shares: Vec<ShareAt>,
}

/// Weibull's distribution.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WeibullFit {
    /// Above 1, units fail the more often the older they are.
    pub shape: Estimate,
    /// The time by which half failed.
    pub median: Estimate,
    /// The time by which a tenth failed.
    pub tenth: Estimate,
}

/// A curve: its start, and one point for each time at which a unit failed or was last seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Course {
    /// The points, in order.
    pub points: Vec<Point>,
    /// How it was computed.
    pub method: String,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// The time.
    pub at: f64,
    /// Units seen until here.
    pub at_risk: u32,
    /// Units that failed here.
    pub failed: u32,
    /// Units last seen here.
    pub censored: u32,
    /// The share that lasts longer.
    pub share: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The first.
    pub first: usize,
    /// The second.
    pub second: usize,
    /// The chance of such a difference between equal groups, for the number of pairs (Holm 1979).
    pub p: f64,
    /// The smallest that any outcome of these units could have.
    pub least_p: f64,
    /// Assignments of units to groups that it rests on.
    pub assignments: u32,
    /// Whether these are all that there are.
    pub all_assignments: bool,
    /// Failures of the second group for each of the first at equal age: what the plan assumes, and no finding. Null where no failure
    /// compares the two.
    pub assumed_ratio: Option<f64>,
    /// The answer.
    pub verdict: Verdict,
    /// What would separate them; empty where they are.
    pub needed: Vec<Needed>,
}

/// Whether two groups last equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first lasts longer.
    FirstLonger,
    /// The second does.
    SecondLonger,
    /// Both are possible.
    CannotTell,
}

/// Units that would separate two groups that differ as these seem to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needed {
    /// How long each is watched; null for until it fails.
    pub until: Option<f64>,
    /// Share of the better group that fails until then.
    pub failing: f64,
    /// Units of each; null where it takes more than 200.
    pub found: Option<Separation>,
}

/// A unit that says nothing here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Its model; null where it is not known.
    pub model: Option<String>,
    /// Why; null where it does not say which group it belongs to.
    pub reason: Option<Silent>,
}

/// A unit in its group.
struct Placed<'l> {
    group: usize,
    life: Lifetime,
    unit: &'l Unit,
}

/// The curves of the groups, and their comparison; `None` where no unit says anything.
#[must_use]
pub fn survive(lives: &Lives, options: &SurviveOptions) -> Option<Survival> {
    let (mut placed, mut left_out, mut causes, mut late) = (Vec::new(), Vec::new(), Vec::<Happening>::new(), 0);
    let names: BTreeSet<String> = lives.units.iter().filter_map(|unit| unit.group(&options.by)).collect();
    let names: Vec<String> = names.into_iter().collect();
    for unit in &lives.units {
        let group = unit.group(&options.by).and_then(|group| names.iter().position(|name| *name == group));
        let Some(group) = group else {
            left_out.push(LeftOut { model: unit.model.clone(), reason: None });
            continue;
        };
        match unit.seen(options.milestone, options.axis) {
            Ok(seen) => {
                late += u32::from(seen.late);
                let number = |cause: Happening| match causes.iter().position(|known| *known == cause) {
                    Some(at) => at,
                    None => {
                        causes.push(cause);
                        causes.len() - 1
                    }
                };
                placed.push(Placed {
                    group,
                    life: Lifetime { time: seen.time, cause: seen.happened.map(number) },
                    unit,
                });
            }
            Err(reason) => left_out.push(LeftOut { model: unit.model.clone(), reason: Some(reason) }),
        }
    }
    let longest = placed.iter().map(|placed| placed.life.time).fold(0.0, f64::max);
    let at = if options.at.is_empty() { round_times(longest, options.axis) } else { options.at.clone() };
    let mut groups = Vec::new();
    // Where every unit of a group is left out, there is no such group.
    let mut numbers = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        let own: Vec<&Placed> = placed.iter().filter(|placed| placed.group == number).collect();
        if let Some(group) = group(name, &own, &causes, &at, options.level) {
            groups.push(group);
            numbers.push(number);
        }
    }
    let by_site = strata(&placed, &options.by).is_some();
    let siteless = placed.iter().filter(|placed| !placed.unit.labels.contains_key("site")).count();
    let without_site = if siteless == placed.len() { 0 } else { siteless as u32 };
    let loads = pooled_loads(&placed, &options.by);
    let too_many = numbers.len() > MOST_COMPARED;
    let pairs = if too_many { Vec::new() } else { pairs(&placed, &numbers, options) };
    let SurviveOptions { milestone, axis, level, chance, .. } = *options;
    let by = options.by.clone();
    (!groups.is_empty()).then_some(Survival {
        milestone,
        axis,
        by,
        level,
        chance,
        by_site,
        late,
        without_site,
        loads,
        groups,
        pairs,
        too_many,
        left_out,
    })
}

/// Up to three round times of equal distance, up to the longest; a cycle at least.
fn round_times(longest: f64, axis: Axis) -> Vec<f64> {
    let least = if axis == Axis::Cycles { 1.0 } else { 0.0 };
    if longest <= least {
        return Vec::new();
    }
    let third = longest / 3.0;
    let decade = 10f64.powf(third.log10().floor());
    let step = [5.0, 2.0, 1.0].iter().map(|factor| factor * decade).find(|step| *step <= third).unwrap_or(decade);
    let step = step.max(least);
    (1..=3).map(|times| f64::from(times) * step).filter(|time| *time <= longest).collect()
}

fn group(name: String, own: &[&Placed], causes: &[Happening], at: &[f64], level: f64) -> Option<SurviveGroup> {
    let lives: Vec<Lifetime> = own.iter().map(|placed| placed.life).collect();
    let curve = Curve::new(&lives)?;
    let mut last_seen: BTreeMap<LastSeen, u32> = BTreeMap::new();
    for placed in own.iter().filter(|placed| placed.life.cause.is_none()) {
        *last_seen.entry(placed.unit.last_seen()).or_default() += 1;
    }
    let censored = last_seen.into_iter().map(|(seen, units)| CensoredUnits { seen, units }).collect();
    let seen = |at: f64| lives.iter().filter(|life| life.time >= at).count() as u32;
    let share = |at: &f64| {
        let none = curve.survival(*at) == 1.0 && *at <= curve.known_to();
        let watched = seen(*at);
        let failing_at_most = none.then(|| most_failing(watched, level));
        ShareAt { at: *at, share: curve.at(*at, level), watched, failing_at_most }
    };
    let of_cause = |(number, happened): (usize, &Happening)| {
        let incidence = Incidence::new(&lives, number)?;
        let units = lives.iter().filter(|life| life.cause == Some(number)).count() as u32;
        let share = |at: &f64| {
            let watched = seen(*at);
            ShareAt { at: *at, share: incidence.at(*at, level), watched, failing_at_most: None }
        };
        (units > 0).then(|| CauseShare { happened: happened.clone(), units, shares: at.iter().map(share).collect() })
    };
    let mut of_causes: Vec<CauseShare> = causes.iter().enumerate().filter_map(of_cause).collect();
    of_causes.sort_by(|a, b| a.happened.cmp(&b.happened));
    let point = |step: &assay_stats::survival::Step| {
        let (low, high) = curve.interval(step.time, level);
        let (at, share) = (step.time, step.survival);
        Point { at, at_risk: step.at_risk, failed: step.failed, censored: step.censored, share, low, high }
    };
    let (low, high) = curve.interval(0.0, level);
    let start = Point { at: 0.0, at_risk: curve.n(), failed: 0, censored: 0, share: 1.0, low, high };
    let start = Some(start).filter(|_| curve.steps().first().is_some_and(|step| step.time > 0.0));
    let points = start.into_iter().chain(curve.steps().iter().map(point)).collect();
    let median = curve.quantile(0.5, level);
    let method = format!("{}; the median where it meets one half", curve.method());
    let fit = weibull(&lives).map(|fit| WeibullFit {
        shape: fit.shape(level),
        median: fit.quantile(0.5, level),
        tenth: fit.quantile(0.1, level),
    });
    Some(SurviveGroup {
        name,
        units: curve.n(),
        failed: curve.failed(),
        censored,
        median: Life { point: median.point, low: median.low, high: median.high, level, n: curve.n(), method },
        shares: at.iter().map(share).collect(),
        causes: of_causes,
        weibull: fit,
        course: Course { points, method: curve.method().to_owned() },
    })
}

/// The loads of units, where a group has several.
fn pooled_loads(placed: &[Placed<'_>], by: &Grouping) -> Vec<String> {
    if *by == Grouping::Label("load".to_owned()) {
        return Vec::new();
    }
    let loads = |group: Option<usize>| -> BTreeSet<&String> {
        let own = placed.iter().filter(|placed| group.is_none_or(|group| placed.group == group));
        own.filter_map(|placed| placed.unit.labels.get("load")).collect()
    };
    let several = placed.iter().any(|placed| loads(Some(placed.group)).len() > 1);
    if several { loads(None).into_iter().cloned().collect() } else { Vec::new() }
}

/// Sites as strata, where units are not grouped by them and several of them are named by all units.
fn strata<'p>(placed: &'p [Placed<'_>], by: &Grouping) -> Option<Vec<&'p str>> {
    if *by == Grouping::Label("site".to_owned()) {
        return None;
    }
    let sites: Option<Vec<&str>> =
        placed.iter().map(|placed| placed.unit.labels.get("site").map(String::as_str)).collect();
    sites.filter(|sites| sites.iter().collect::<BTreeSet<_>>().len() > 1)
}

/// All pairs of groups; `numbers` are those of the groups that are shown.
fn pairs(placed: &[Placed<'_>], numbers: &[usize], options: &SurviveOptions) -> Vec<Pair> {
    let sites = strata(placed, &options.by);
    let known: BTreeSet<&str> = sites.iter().flatten().copied().collect();
    let site =
        |at: usize| sites.as_ref().and_then(|sites| known.iter().position(|name| *name == sites[at])).unwrap_or(0);
    let count = numbers.len() * numbers.len().saturating_sub(1) / 2;
    let mut pairs = Vec::new();
    for (first, second) in (0..numbers.len()).flat_map(|a| (a + 1..numbers.len()).map(move |b| (a, b))) {
        let member = |(at, placed): (usize, &Placed)| {
            let second = placed.group == numbers[second];
            (second || placed.group == numbers[first]).then(|| Member { life: placed.life, second, stratum: site(at) })
        };
        let members: Vec<Member> = placed.iter().enumerate().filter_map(member).collect();
        let test = log_rank(&members);
        let found = permuted(&members, options.seed);
        let verdict = if test.observed < test.expected { Verdict::SecondLonger } else { Verdict::FirstLonger };
        let pair = Pair {
            first,
            second,
            p: found.p,
            least_p: found.least_p,
            assignments: found.assignments,
            all_assignments: found.all,
            assumed_ratio: test.assumed_ratio(),
            verdict,
            needed: Vec::new(),
        };
        pairs.push((pair, members));
    }
    let smallest: Vec<f64> = pairs.iter().map(|(pair, _)| pair.least_p).collect();
    let found: Vec<f64> = pairs.iter().map(|(pair, _)| pair.p).collect();
    for ((pair, _), (p, least)) in pairs.iter_mut().zip(adjusted(&found).into_iter().zip(adjusted(&smallest))) {
        (pair.p, pair.least_p) = (p, least);
    }
    let alpha = error_chance(options.level);
    for (pair, members) in &mut pairs {
        if pair.p > alpha {
            pair.verdict = Verdict::CannotTell;
            pair.needed = needed(pair.assumed_ratio, members, alpha / count as f64, options.chance);
        }
    }
    pairs.into_iter().map(|(pair, _)| pair).collect()
}

/// Holm's step-down: the smallest counts for all pairs, the next for one less. It grows with each, so that it makes the least of
/// all outcomes of the least of each pair.
fn adjusted(found: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|a, b| found[*a].total_cmp(&found[*b]));
    let mut all = vec![1.0; found.len()];
    let mut least = 0.0f64;
    for (rank, at) in order.into_iter().enumerate() {
        least = least.max((found[at] * (found.len() - rank) as f64).min(1.0));
        all[at] = least;
    }
    all
}

/// What would separate two groups that differ as these seem to: watched as long as now, and until all fail.
fn needed(ratio: Option<f64>, members: &[Member], alpha: f64, chance: f64) -> Vec<Needed> {
    let Some(ratio) = ratio else { return Vec::new() };
    // The group that lasts longer is the reference, and the other fails the more often.
    let better = ratio < 1.0;
    let ratio = if better { 1.0 / ratio } else { ratio };
    let lives: Vec<Lifetime> =
        members.iter().filter(|member| member.second == better).map(|member| member.life).collect();
    let longest = members.iter().map(|member| member.life.time).fold(0.0, f64::max);
    let Some(curve) = Curve::new(&lives) else { return Vec::new() };
    let until = longest.min(curve.known_to());
    let failing = 1.0 - curve.survival(until);
    let of =
        |until: Option<f64>, failing: f64| Needed { until, failing, found: separation(ratio, failing, alpha, chance) };
    let mut all = Vec::new();
    if failing > 0.0 && failing < 1.0 {
        all.push(of(Some(until), failing));
    }
    all.push(of(None, 1.0));
    all
}

/// The chance of an error at a level, as it is written: 1 − 0.95 is a little more than 0.05.
fn error_chance(level: f64) -> f64 {
    ((1.0 - level) * 1e9).round() / 1e9
}

impl Survival {
    /// Whether no order of the failures of these units makes the groups of a pair differ.
    #[must_use]
    pub fn can_never_differ(&self, pair: &Pair) -> bool {
        pair.least_p > error_chance(self.level)
    }

    /// How many units without a failure would bound the share that fails to 10 %, one-sided.
    #[must_use]
    pub fn units_for_a_tenth(&self) -> u32 {
        units_without_failure(0.1, self.level)
    }

    /// Failures from which on a distribution is fitted.
    #[must_use]
    pub fn weibull_from() -> u32 {
        WEIBULL_FROM
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survive::read_lives;

    fn options() -> SurviveOptions {
        SurviveOptions {
            milestone: Milestone::Death,
            axis: Axis::Cycles,
            by: Grouping::Model,
            at: Vec::new(),
            level: 0.95,
            chance: 0.8,
            seed: 0,
        }
    }

    fn answer(rows: &str, options: &SurviveOptions) -> Survival {
        let text = format!("unit,model,site,cycles,first_error,end,cause\n{rows}");
        survive(&read_lives([("u.csv", text.as_str())]).unwrap(), options).unwrap()
    }

    fn models(a: &[u64], b: &[u64]) -> String {
        let row = |model: &'static str| {
            move |(unit, cycles): (usize, &u64)| format!("{unit},{model},,{cycles},,died,errors\n")
        };
        a.iter().enumerate().map(row("A")).chain(b.iter().enumerate().map(row("B"))).collect()
    }

    #[test]
    fn four_against_four_can_be_told_apart_and_three_cannot() {
        let four = answer(&models(&[900, 950, 980, 990], &[100, 120, 150, 200]), &options());
        assert_eq!(four.pairs[0].verdict, Verdict::FirstLonger);
        assert!(four.pairs[0].needed.is_empty() && (four.pairs[0].p - 2.0 / 70.0).abs() < 1e-12);
        let three = answer(&models(&[100, 120, 150], &[900, 950, 980]), &options());
        let pair = &three.pairs[0];
        assert_eq!(pair.verdict, Verdict::CannotTell);
        assert!(pair.least_p > 0.05, "{pair:?}");
        let [all] = &pair.needed[..] else { panic!("{pair:?}") };
        assert!(all.until.is_none() && all.found.unwrap().units >= 4);
    }

    #[test]
    fn a_dead_reader_is_no_dead_card() {
        let rows = "1,A,,500,,died,errors\n2,A,,500,,censored,reader\n3,A,,700,,running,\n";
        let found = answer(rows, &options());
        let group = &found.groups[0];
        assert_eq!((group.units, group.failed), (3, 1));
        assert_eq!(
            group.censored,
            [
                CensoredUnits { seen: LastSeen::Running, units: 1 },
                CensoredUnits { seen: LastSeen::Censored { reason: "reader".to_owned() }, units: 1 },
            ]
        );
        // The first died in cycle 501, when the second was no longer watched: one of two.
        assert_eq!(group.course.points.last().unwrap().share, 0.5);
        let beyond = SurviveOptions { at: vec![600.0, 800.0], ..options() };
        let shares = &answer(rows, &beyond).groups[0].shares;
        assert_eq!((shares[0].share.as_ref().unwrap().point, shares[1].share.clone()), (0.5, None));
    }

    #[test]
    fn no_failure_bounds_and_does_not_promise() {
        let found = answer("1,A,,1000,,running,\n2,A,,1000,,running,\n3,A,,1200,,running,\n", &options());
        let group = &found.groups[0];
        assert_eq!((group.median.point, group.median.high), (None, None));
        let share = &group.shares[0];
        assert_eq!(share.watched, 3);
        assert!((share.failing_at_most.unwrap() - 0.632).abs() < 1e-3);
        assert_eq!(found.units_for_a_tenth(), 29);
        assert!(group.weibull.is_none());
    }

    #[test]
    fn causes_compete_and_what_is_not_watched_is_left_out() {
        let rows = "1,A,,900,300,died,errors\n2,A,,400,,died,vanished\n3,A,,700,,running,\n";
        let found = answer(rows, &SurviveOptions { milestone: Milestone::FirstError, at: vec![600.0], ..options() });
        let causes: Vec<(&Happening, u32)> = found.groups[0].causes.iter().map(|c| (&c.happened, c.units)).collect();
        let died = Happening::DiedBefore { cause: "vanished".to_owned() };
        assert_eq!(causes, [(&Happening::Reached, 1), (&died, 1)]);
        let sum: f64 = found.groups[0].causes.iter().map(|c| c.shares[0].share.as_ref().unwrap().point).sum();
        assert!((sum + found.groups[0].shares[0].share.as_ref().unwrap().point - 1.0).abs() < 1e-12);
        let lives = read_lives([("u.csv", "unit,model,cycles,end\n1,A,5,running\n2,,5,running\n")]).unwrap();
        assert_eq!(survive(&lives, &SurviveOptions { milestone: Milestone::Half, ..options() }), None);
        let all = survive(&lives, &options()).unwrap();
        assert_eq!(all.left_out, [LeftOut { model: None, reason: None }]);
    }

    #[test]
    fn sites_are_compared_within_themselves() {
        let rows = "1,A,n,900,,died,e\n2,A,s,90,,died,e\n3,B,n,800,,died,e\n4,B,s,80,,died,e\n";
        let found = answer(rows, &options());
        assert!(found.by_site);
        assert_eq!(found.pairs[0].assignments, 4);
        let by_site = answer(rows, &SurviveOptions { by: Grouping::Label("site".to_owned()), ..options() });
        assert!(!by_site.by_site && by_site.groups.len() == 2);
    }

    #[test]
    fn stated_times_are_round() {
        assert_eq!(round_times(3400.0, Axis::Cycles), [1000.0, 2000.0, 3000.0]);
        assert_eq!(round_times(7.0, Axis::Cycles), [2.0, 4.0, 6.0]);
        assert!(round_times(0.0, Axis::Cycles).is_empty());
        assert_eq!(round_times(2.0, Axis::Cycles), [1.0, 2.0]);
    }
}
