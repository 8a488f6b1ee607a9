//! The comparison of groups, load by load: what the values of each group are, and the pairs.

use std::collections::BTreeSet;

use assay_core::finding::{Severity, Warning};
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_stats::days::{RunOfDay as DatedRun, days, log_mean_over_days};
use assay_stats::log_mean;

use super::pair::{Models, Numbers, estimate, judge, options, pairs};
use super::report::{
    Comparison, DoubtCause, GroupBasis, GroupFigure, GroupInfo, LoadComparison, Note, Pair, PairVerdict, SideRun,
    WhyUnknown, letter,
};
use super::request::{By, CompareError, CompareRequest, RecordGroup, check, is_bare_check, split};
use super::scatter::units;
use crate::admission::{full_areas, small_area};
use crate::deciding::{deciding_load, deciding_quantity};
use crate::exclusion::excluded_whole;
use crate::identity::{HostDays, Seen, computer, identity, names_model, not_connected, short_name, suite};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Mark, lacking, loads, manner, measurement, resolution};
use crate::several_media::several_media;
use crate::{Excluded, Reason, excluded};

/// Compares groups of records under every load that at least two of them have. The first group is the reference.
///
/// # Errors
/// [`CompareError`]: fewer than two groups, more than [`super::MOST_GROUPS`], a record in two of them, a primary
/// load that is not there, a margin or level out of range.
pub fn compare<'a>(groups: &[RecordGroup<'a>], request: &CompareRequest) -> Result<Comparison, CompareError> {
    check(groups)?;
    options(request, true)?;
    let named = groups;
    let (groups, mut excluded) = with_full_areas(named);
    let groups = groups.as_slice();
    let mut found = Vec::new();
    for load in loads(groups.iter().flat_map(|g| g.records.iter().copied())) {
        found.extend(gathered(groups, load, request, &mut excluded));
    }
    let there: Vec<Load> = found.iter().map(|l| l.load.clone()).collect();
    let mut decides = None;
    if request.primary.is_some() || !there.is_empty() {
        let of =
            |(at, group): (usize, &RecordGroup<'a>)| group.records.iter().map(move |r| (at, *r)).collect::<Vec<_>>();
        let records: Vec<_> = groups.iter().enumerate().flat_map(of).collect();
        decides = Some(deciding_load(&records, request.primary.as_deref(), Some(&there))?);
    }
    let models = Models::from_groups(groups, request);
    let judged = |load: Gathered| {
        let primary = decides.as_ref() == Some(&load.load);
        load.judged(models.as_ref(), request, primary)
    };
    let compared = found.into_iter().map(judged).collect::<Result<Vec<LoadComparison>, CompareError>>()?;
    let notes = notes(groups, &compared, request.quantity.is_none());
    let infos = named.iter().enumerate().map(|(at, group)| info(at, group)).collect();
    Ok(Comparison { level: request.level, margin: request.margin, groups: infos, loads: compared, excluded, notes })
}

/// The groups without records of a small test area, where other records have a full one.
fn with_full_areas<'a>(groups: &[RecordGroup<'a>]) -> (Vec<RecordGroup<'a>>, Vec<Excluded>) {
    let (_, left_out) = full_areas(groups.iter().flat_map(|group| group.records.iter().copied()).collect());
    let kept = |record: &&Observation| left_out.is_empty() || small_area(record).is_none();
    let of = |group: &RecordGroup<'a>| RecordGroup {
        name: group.name.clone(),
        records: group.records.iter().copied().filter(|record| kept(record)).collect(),
    };
    (groups.iter().map(of).collect(), left_out)
}

/// One load, as the one that decides; `None` where fewer than two groups have it.
pub(crate) fn under(groups: &[RecordGroup<'_>], load: Load, request: &CompareRequest) -> Option<LoadComparison> {
    let groups = with_full_areas(groups).0;
    let found = gathered(&groups, load, request, &mut Vec::new())?;
    found.judged(Models::from_groups(&groups, request).as_ref(), request, true).ok()
}

/// What groups did under a load.
struct Gathered {
    load: Load,
    quantity: Quantity,
    sides: Vec<GroupFigure>,
}

fn gathered(
    groups: &[RecordGroup<'_>],
    load: Load,
    request: &CompareRequest,
    excluded: &mut Vec<Excluded>,
) -> Option<Gathered> {
    let of_all = groups.iter().flat_map(|group| group.records.iter().copied());
    let quantity = request.quantity.unwrap_or_else(|| deciding_quantity(of_all, &load).quantity);
    // An evening that is divided among groups is one all the same.
    let days = HostDays::of(groups.iter().flat_map(|group| group.records.iter().copied()));
    let mut sides = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        let (side, left_out) = gather(at, group, &days, &load, quantity, request.level);
        sides.extend(side);
        excluded.extend(left_out);
    }
    pair_shared(&mut sides, groups, (&load, request.level), excluded);
    (sides.len() > 1).then_some(Gathered { load, quantity, sides })
}

/// Fewest units that two groups share so that these are compared, each with itself.
const SHARED: usize = 2;

/// Of two groups that share several units and not all of them, leaves out the runs of the other units: a node that is
/// absent from the second run is no change of the others.
fn pair_shared(
    sides: &mut [GroupFigure],
    groups: &[RecordGroup<'_>],
    (load, level): (&Load, f64),
    excluded: &mut Vec<Excluded>,
) {
    let [first, second] = sides else { return };
    let (a, b) = (units(first), units(second));
    let shared: BTreeSet<(String, String)> =
        a.intersection(&b).filter(|unit| !unit.1.is_empty()).map(|unit| (*unit).clone()).collect();
    if shared.len() < SHARED || a == b {
        return;
    }
    for at in sides {
        let (kept, alone): (Vec<SideRun>, Vec<SideRun>) =
            at.runs.iter().cloned().partition(|run| shared.contains(&run.unit));
        let records = alone.iter().filter_map(|run| groups[at.group].records.iter().find(|r| r.id == run.record));
        excluded.extend(records.map(|record| Excluded::new(record, Some(load), Reason::OneGroup)));
        if let Some(paired) = side(at.group, kept, level) {
            *at = paired;
        }
    }
}

impl Gathered {
    fn judged(
        mut self,
        models: Option<&Models<'_>>,
        request: &CompareRequest,
        primary: bool,
    ) -> Result<LoadComparison, CompareError> {
        let more_is_better = self.quantity.more_is_better();
        let options = options(request, more_is_better)?;
        let decided = models.and_then(|models| models.decided(&self.load, self.quantity, primary));
        if let Some(decided) = &decided {
            self.sides.iter_mut().for_each(|side| decided.adjust(side, request.level));
        }
        let (method, numbers, widened) = pairs(&self.sides, decided.as_ref(), (request.runs, request.units), &options)?;
        let Self { load, quantity, sides } = self;
        let apart = sides_not_connected(&sides);
        let refused = |a: usize, b: usize| {
            let unknown = |at: usize| sides[at].runs.iter().filter(|run| run.nameless).count() > 1;
            if apart.contains(&(a, b)) && !request.runs {
                return Some(WhyUnknown::OtherComputer);
            }
            (unknown(a) || unknown(b)).then_some(WhyUnknown::UnknownMedia)
        };
        let judge = |(a, b, numbers): (usize, usize, Numbers)| {
            let bus = decided.as_ref().map_or([a, b].map(|at| sides[at].has(Mark::BusLimited)), |decided| {
                [a, b].map(|at| decided.at_ceiling(&sides[at]))
            });
            judge(&sides[a], &sides[b], numbers, (bus, refused(a, b)), more_is_better)
        };
        let pairs = numbers.into_iter().map(judge).collect();
        Ok(LoadComparison {
            title: load.title(),
            load,
            quantity,
            more_is_better,
            primary,
            method,
            widened,
            adjusted: decided.is_some_and(|decided| decided.adjusted()),
            sides,
            pairs,
        })
    }
}

/// Pairs of sides that were measured with computers that no unit connects.
fn sides_not_connected(sides: &[GroupFigure]) -> BTreeSet<(usize, usize)> {
    let runs = sides.iter().enumerate().flat_map(|(group, side)| side.runs.iter().map(move |run| (group, run)));
    let all: Vec<Seen<'_, usize>> = runs
        .map(|(group, run)| Seen { group, unit: (&run.unit.0, &run.unit.1), computer: run.computer.as_deref() })
        .collect();
    not_connected(&all)
}

fn info(at: usize, group: &RecordGroup<'_>) -> GroupInfo {
    // Only units with a compared figure count: neither checks nor records that are left out.
    let of = |counts: &dyn Fn(&Observation) -> bool| -> Vec<&Observation> {
        group.records.iter().copied().filter(|record| counts(record)).collect()
    };
    let steps = [
        of(&|record| !is_bare_check(record) && excluded_whole(record).is_none()),
        of(&|record| !is_bare_check(record)),
    ];
    let counted = steps.into_iter().find(|some| !some.is_empty()).unwrap_or_else(|| group.records.clone());
    let of: BTreeSet<(String, String)> = counted.iter().map(|r| identity(r)).map(|i| (i.model, i.unit)).collect();
    let models: BTreeSet<String> = of.iter().map(|(model, _)| model.clone()).collect();
    GroupInfo {
        letter: letter(at),
        query: group.name.clone(),
        models: models.into_iter().collect(),
        units: of.into_iter().collect(),
        records: group.records.iter().map(|r| r.id.clone()).collect(),
    }
}

// A group under a load: what its values are.

/// The group's figures, `None` where it has none, and the reasons for what is left out.
pub(super) fn gather(
    at: usize,
    group: &RecordGroup<'_>,
    days: &HostDays,
    load: &Load,
    quantity: Quantity,
    level: f64,
) -> (Option<GroupFigure>, Vec<Excluded>) {
    let mut excluded = Vec::new();
    let mut runs: Vec<(SideRun, Option<Excluded>)> = Vec::new();
    for record in &group.records {
        let leave_out = |reason| Excluded::new(record, Some(load), reason);
        let (run, reasons) = run(record, days, load, quantity);
        excluded.extend(reasons.into_iter().map(leave_out));
        runs.extend(run.map(|(run, unsound)| (run, unsound.map(leave_out))));
    }
    // Unsound runs are left out if there are sound ones; else they are shown with their marks.
    let sound = runs.iter().any(|(_, unsound)| unsound.is_none());
    let mut kept = Vec::with_capacity(runs.len());
    for (run, unsound) in runs {
        match unsound {
            Some(reason) if sound => excluded.push(reason),
            _ => kept.push(run),
        }
    }
    (side(at, kept, level), excluded)
}

fn side(group: usize, runs: Vec<SideRun>, level: f64) -> Option<GroupFigure> {
    let (basis, values) = values(&runs, |_| 1.0)?;
    let mut marks: Vec<Mark> = runs.iter().flat_map(|run| run.marks.iter().copied()).collect();
    marks.sort();
    marks.dedup();
    let mut side = GroupFigure { group, basis, estimate: None, values, runs, marks };
    side.estimate = estimate(&side.values, level, basis, side.until_narrow());
    Some(side)
}

impl GroupFigure {
    /// Its figures with those of each unit times a factor.
    pub(super) fn adjust(&mut self, factor: impl Fn(&str) -> f64, level: f64) {
        if let Some((basis, values)) = values(&self.runs, factor) {
            self.estimate = estimate(&values, level, basis, self.until_narrow());
            self.values = values;
        }
    }
}

/// The independent values in runs: the days of one unit, or the units where there are several. Repeats share the effect
/// of their run, runs of a day that of the day, and days of a unit that of the unit (Kalibera and Jones 2013, "Rigorous
/// benchmarking").
fn values(runs: &[SideRun], factor: impl Fn(&str) -> f64) -> Option<(GroupBasis, Vec<f64>)> {
    let mut units: Vec<&(String, String)> = Vec::new();
    for run in runs {
        if !units.contains(&&run.unit) {
            units.push(&run.unit);
        }
    }
    let scaled = |run: &SideRun| run.points.iter().map(|point| point * factor(&run.unit.1)).collect::<Vec<f64>>();
    let points: Vec<(&SideRun, Vec<f64>)> = runs.iter().map(|run| (run, scaled(run))).collect();
    let dated = |unit: &(String, String)| {
        let own = points.iter().filter(|(run, _)| run.unit == *unit);
        own.map(|(run, values)| DatedRun { values, day: run.day.as_deref() }).collect::<Vec<_>>()
    };
    Some(match (&points[..], &units[..]) {
        ([], _) => return None,
        ([(_, values)], _) => (GroupBasis::Repeats, values.clone()),
        (_, [unit]) => match &days(dated(unit))[..] {
            [_] => (GroupBasis::Runs, points.iter().map(|(_, values)| mean(values)).collect()),
            days => (GroupBasis::Days, days.iter().map(|day| day.log_mean().exp()).collect()),
        },
        _ => {
            (GroupBasis::Units, units.iter().filter_map(|unit| log_mean_over_days(dated(unit))).map(f64::exp).collect())
        }
    })
}

/// Geometric mean of positive values.
fn mean(values: &[f64]) -> f64 {
    log_mean(values).exp()
}

// One record under one load: its run, or why it has none.

/// The figures of a record under a load, the reason if they may win nothing, and the reasons for parts that are left
/// out.
pub(super) fn run(
    record: &Observation,
    days: &HostDays,
    load: &Load,
    quantity: Quantity,
) -> (Option<(SideRun, Option<Reason>)>, Vec<Reason>) {
    let (reading, reasons) = crate::examine(record, load, quantity);
    let Some(reading) = reading else {
        return (None, excluded_whole(record).map_or(reasons, |whole| vec![whole]));
    };
    let unsound = excluded(&reading);
    let of = identity(record);
    let nameless = of.unit.is_empty() && !names_model(record);
    let until_narrow = record.until_known();
    let resolution = resolution(record, reading.measurement);
    let (points, marks) = (reading.values, reading.marks);
    let (id, day, computer) = (record.id.clone(), days.name(record), computer(record));
    let host = record.host.hostname.clone();
    (
        Some((
            SideRun {
                record: id,
                unit: (of.model, of.unit),
                day,
                host,
                resolution,
                computer,
                nameless,
                points,
                until_narrow,
                marks,
            },
            unsound,
        )),
        reasons,
    )
}

// Which models the comparison distinguishes. No race and no purchase contradicts it.

/// The verdicts of `assay compare --by model` on pairs of models.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orders {
    /// The better one, then the other.
    better: BTreeSet<(String, String)>,
    /// Undecided pairs, each in both orders.
    open: BTreeSet<(String, String)>,
    /// Pairs that are undecided because no common unit connects their computers, each in both orders.
    apart: BTreeSet<(String, String)>,
}

impl Orders {
    /// Compares the models of these records under a load.
    pub(crate) fn of_models(records: &[Observation], load: &Load, quantity: Quantity) -> Self {
        let named = [records.to_vec()];
        let groups = split(&named, By::Model);
        let request = CompareRequest { quantity: Some(quantity), ..CompareRequest::default() };
        let Some(found) = under(&groups, load.clone(), &request) else { return Self::default() };
        let mut orders = Self::default();
        for pair in &found.pairs {
            let (first, second) = (groups[pair.first].name.clone(), groups[pair.second].name.clone());
            match pair.verdict {
                PairVerdict::Better => drop(orders.better.insert((second, first))),
                PairVerdict::Worse => drop(orders.better.insert((first, second))),
                PairVerdict::CannotTell(WhyUnknown::OtherComputer) => {
                    orders.apart.extend([(first.clone(), second.clone()), (second, first)]);
                }
                PairVerdict::CannotTell(_) => orders.open.extend([(first.clone(), second.clone()), (second, first)]),
                PairVerdict::Same | PairVerdict::BusTie => {}
            }
        }
        orders
    }

    /// Whether one of `others` is better than `model`.
    pub(crate) fn beaten<'a>(&self, model: &str, others: impl IntoIterator<Item = &'a str>) -> bool {
        others.into_iter().any(|other| self.better.contains(&(other.to_owned(), model.to_owned())))
    }

    /// Two of these models whose computers no common unit connects.
    pub(crate) fn apart(&self, models: &[&str]) -> Option<(String, String)> {
        let among = |(a, b): &&(String, String)| models.contains(&a.as_str()) && models.contains(&b.as_str());
        self.apart.iter().find(among).cloned()
    }

    /// The models of `others` that the comparison does not separate from `model`: it cannot tell which is better.
    pub(crate) fn not_separated<'a>(&self, model: &str, others: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let open = |other: &&str| self.open.contains(&(model.to_owned(), (*other).to_owned()));
        others.into_iter().filter(open).map(str::to_owned).collect()
    }
}

// What has to be known with a comparison, from its records.

/// Everything that has to be known with these groups; `usual` where no figure was asked for.
pub(super) fn notes(groups: &[RecordGroup<'_>], loads: &[LoadComparison], usual: bool) -> Vec<Note> {
    let mut notes = Vec::new();
    let of_all = || groups.iter().flat_map(|group| group.records.iter().copied());
    let lacks = |load: &&LoadComparison| usual && deciding_quantity(of_all(), &load.load).lacking > 0;
    let acknowledged: Vec<String> = loads.iter().filter(lacks).map(|load| load.title.clone()).collect();
    if !acknowledged.is_empty() {
        notes.push(Note::Acknowledged { loads: acknowledged });
    }
    notes.extend(
        differ(groups, |r| r.host.hostname.clone().or_else(|| r.host.board.clone())).map(|of| Note::Hosts { of }),
    );
    notes.extend(differ(groups, |r| identity(r).slot).map(|of| Note::Slots { of }));
    notes.extend(differ(groups, |r| Some(suite(r))).map(|of| Note::Suites { of }));
    notes.extend(differ(groups, |r| Some(tool(r))).map(|of| Note::Tools { of }));
    let of: Vec<Vec<&str>> = (0..groups.len()).map(|at| not_stated(at, groups, loads)).collect();
    if of.iter().any(|what| !what.is_empty()) {
        let of = of.into_iter().map(|what| what.join(", ")).collect();
        notes.push(Note::NotTold { of });
    }
    manners(groups, loads, &mut notes);
    same_units(groups, &mut notes);
    for (group, g) in groups.iter().enumerate() {
        let models: BTreeSet<String> = g.records.iter().map(|r| identity(r).model).collect();
        if models.len() > 1 {
            notes.push(Note::SeveralModels { group, models: models.len() });
        }
        // Those that name no model either count as one unit each.
        let records = g.records.iter().filter(|r| identity(r).unit.is_empty() && names_model(r)).count();
        if records > 1 {
            notes.push(Note::UnknownUnits { group, records });
        }
    }
    notes.extend(several_media(of_all()).into_iter().map(|of| Note::SeveralMedia {
        unit: of.name,
        least_bytes: of.least_bytes,
        most_bytes: of.most_bytes,
    }));
    let runs = |at: &usize| {
        let mut sides = loads.iter().flat_map(|l| &l.sides).filter(|side| side.group == *at);
        // Where other days or other runs are in the interval, there is nothing to be warned of.
        let others = |pair: &Pair| pair.days.is_some() || pair.series.decides().is_some();
        let days = |pair: &&Pair| (pair.first == *at || pair.second == *at) && others(pair);
        sides.any(|side| side.basis == GroupBasis::Repeats && side.values.len() > 1)
            && !loads.iter().flat_map(|l| &l.pairs).any(|pair| days(&pair))
    };
    let one_run: Vec<usize> = (0..groups.len()).filter(runs).collect();
    if !one_run.is_empty() {
        notes.push(Note::OneRun { groups: one_run });
    }
    let published = |at: &usize| groups[*at].records.iter().any(|r| r.id.starts_with(crate::PREFIX));
    let published: Vec<usize> = (0..groups.len()).filter(published).collect();
    if !published.is_empty() {
        notes.push(Note::Published { groups: published });
    }
    for record in groups.iter().flat_map(|g| &g.records) {
        if record.outcome != Outcome::Completed {
            notes.push(Note::Unfinished { record: record.id.clone(), how: record.outcome.sentence() });
        }
        notes.extend(doubts(record, loads));
    }
    notes
}

/// The values of a property in each group, where groups differ. `None` where the known values are equal.
fn differ(groups: &[RecordGroup<'_>], of: impl Fn(&Observation) -> Option<String>) -> Option<Vec<String>> {
    differing(groups.iter().map(|g| g.records.iter().filter_map(|r| of(r)).collect()).collect())
}

/// The values of a property in each group, where the groups that know it differ.
fn differing(sets: Vec<BTreeSet<String>>) -> Option<Vec<String>> {
    let known: Vec<&BTreeSet<String>> = sets.iter().filter(|set| !set.is_empty()).collect();
    let all_equal = known.windows(2).all(|pair| pair[0] == pair[1]);
    let words = |set: &BTreeSet<String>| {
        if set.is_empty() { "unknown".to_owned() } else { set.iter().cloned().collect::<Vec<_>>().join(", ") }
    };
    (!all_equal).then(|| sets.iter().map(words).collect())
}

/// Program, version and engine. A program that is its own engine is named once.
fn tool(record: &Observation) -> String {
    let tool = &record.tool;
    let engine = if tool.engine == tool.name { "" } else { &tool.engine };
    let parts = [tool.name.as_str(), &tool.version, engine];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The properties of the compared loads that the sources of a group's figures do not state.
fn not_stated(at: usize, groups: &[RecordGroup<'_>], loads: &[LoadComparison]) -> Vec<&'static str> {
    let mut what = BTreeSet::new();
    for load in loads {
        let runs = load.sides.iter().filter(|side| side.group == at).flat_map(|side| &side.runs);
        for run in runs {
            let record = groups[at].records.iter().find(|record| record.id == run.record);
            what.extend(record.into_iter().flat_map(|record| lacking(record, &load.load)));
        }
    }
    what.into_iter().collect()
}

/// Adds the loads that the groups executed in different ways. Loads with the same differences share one note.
fn manners(groups: &[RecordGroup<'_>], loads: &[LoadComparison], notes: &mut Vec<Note>) {
    for load in loads {
        let of_group = |at: usize| -> BTreeSet<String> {
            let runs = load.sides.iter().filter(|side| side.group == at).flat_map(|side| &side.runs);
            let records = runs.filter_map(|run| groups[at].records.iter().find(|record| record.id == run.record));
            records.filter_map(|record| manner(record, measurement(record, &load.load)?)).collect()
        };
        let Some(differ) = differing((0..groups.len()).map(of_group).collect()) else { continue };
        let title = load.load.title();
        let known = notes.iter_mut().find_map(|note| match note {
            Note::Manners { loads, of } if *of == differ => Some(loads),
            _ => None,
        });
        match known {
            Some(loads) => loads.push(title),
            None => notes.push(Note::Manners { loads: vec![title], of: differ }),
        }
    }
}

fn same_units(groups: &[RecordGroup<'_>], notes: &mut Vec<Note>) {
    for (at, group) in groups.iter().enumerate() {
        let of = |g: &RecordGroup<'_>| g.records.iter().map(|r| identity(r)).collect::<Vec<_>>();
        let before: Vec<_> = groups[..at].iter().flat_map(of).collect();
        for one in of(group).iter().filter(|one| !one.unit.is_empty()) {
            let both = before.iter().any(|b| (&b.model, &b.unit) == (&one.model, &one.unit));
            let note = Note::SameUnit { unit: short_name(one) };
            if both && !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
}

/// Why figures of a record that take part are marked.
fn doubts(record: &Observation, loads: &[LoadComparison]) -> Option<Note> {
    let runs = loads.iter().flat_map(|l| &l.sides).flat_map(|s| &s.runs).filter(|run| run.record == record.id);
    let mark =
        runs.flat_map(|run| &run.marks).copied().filter(|m| *m >= Mark::Suspect && *m != Mark::Published).max()?;
    // The end of a run is reported separately.
    if matches!(mark, Mark::Failed | Mark::Unfinished) {
        return None;
    }
    let weight = if mark == Mark::Suspect { Severity::Suspect } else { Severity::Invalid };
    let found = |warning: &Warning| DoubtCause::Finding { warning: Box::new(warning.clone()) };
    let all: Vec<DoubtCause> = match (mark, &record.verification) {
        (Mark::Fake, Some(verification)) => vec![DoubtCause::Check { verdict: verification.verdict }],
        _ => record.all_warnings().filter(|w| w.severity == weight).map(found).collect(),
    };
    let reasons = || record.validity.reasons.iter().map(found).collect();
    let mut causes: Vec<DoubtCause> = Vec::new();
    for cause in if all.is_empty() { reasons() } else { all } {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    Some(Note::Doubtful { record: record.id.clone(), mark, causes })
}
