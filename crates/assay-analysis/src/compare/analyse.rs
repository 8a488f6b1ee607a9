//! The comparison of groups, load by load.

use std::collections::BTreeSet;

use assay_core::record::Record;

use super::gather::gather;
use super::group::{CompareError, Group, Request, check};
use super::judge::judge;
use super::models::Models;
use super::note::letter;
use super::notes::notes;
use super::numbers::{options, pairs};
use super::pair::Numbers;
use super::report::{Comparison, GroupInfo, LoadComparison, Side, Why};
use crate::Excluded;
use crate::area::{full_areas, small_area};
use crate::connected::{self, Seen};
use crate::deciding_load::deciding_load;
use crate::deciding_quantity::deciding_quantity;
use crate::host_days::HostDays;
use crate::identity::identity;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Mark, loads};

/// Compares groups of records under every load that at least two of them have. The first group is the reference.
///
/// # Errors
/// [`CompareError`]: fewer than two groups, more than [`super::MOST_GROUPS`], a record in two of them, a primary
/// load that is not there, a margin or level out of range.
pub fn compare<'a>(groups: &[Group<'a>], request: &Request) -> Result<Comparison, CompareError> {
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
        let of = |(at, group): (usize, &Group<'a>)| group.records.iter().map(move |r| (at, *r)).collect::<Vec<_>>();
        let records: Vec<_> = groups.iter().enumerate().flat_map(of).collect();
        decides = Some(deciding_load(&records, request.primary.as_deref(), Some(&there))?);
    }
    let models = Models::of(groups, request);
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
fn with_full_areas<'a>(groups: &[Group<'a>]) -> (Vec<Group<'a>>, Vec<Excluded>) {
    let (_, left_out) = full_areas(groups.iter().flat_map(|group| group.records.iter().copied()).collect());
    let kept = |record: &&Record| left_out.is_empty() || small_area(record).is_none();
    let of = |group: &Group<'a>| Group {
        name: group.name.clone(),
        records: group.records.iter().copied().filter(|record| kept(record)).collect(),
    };
    (groups.iter().map(of).collect(), left_out)
}

/// One load, as the one that decides; `None` where fewer than two groups have it.
pub(crate) fn under(groups: &[Group<'_>], load: Load, request: &Request) -> Option<LoadComparison> {
    let groups = with_full_areas(groups).0;
    let found = gathered(&groups, load, request, &mut Vec::new())?;
    found.judged(Models::of(&groups, request).as_ref(), request, true).ok()
}

/// What groups did under a load.
struct Gathered {
    load: Load,
    quantity: Quantity,
    sides: Vec<Side>,
}

fn gathered(groups: &[Group<'_>], load: Load, request: &Request, excluded: &mut Vec<Excluded>) -> Option<Gathered> {
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
    (sides.len() > 1).then_some(Gathered { load, quantity, sides })
}

impl Gathered {
    fn judged(
        mut self,
        models: Option<&Models<'_>>,
        request: &Request,
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
        let apart = apart(&sides);
        let refused = |a: usize, b: usize| {
            let unknown = |at: usize| sides[at].runs.iter().filter(|run| run.nameless).count() > 1;
            if apart.contains(&(a, b)) && !request.runs {
                return Some(Why::OtherComputer);
            }
            (unknown(a) || unknown(b)).then_some(Why::UnknownMedia)
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
fn apart(sides: &[Side]) -> BTreeSet<(usize, usize)> {
    let runs = sides.iter().enumerate().flat_map(|(group, side)| side.runs.iter().map(move |run| (group, run)));
    let all: Vec<Seen<'_, usize>> = runs
        .map(|(group, run)| Seen { group, unit: (&run.unit.0, &run.unit.1), computer: run.computer.as_deref() })
        .collect();
    connected::apart(&all)
}

fn info(at: usize, group: &Group<'_>) -> GroupInfo {
    let of: BTreeSet<(String, String)> = group.records.iter().map(|r| identity(r)).map(|i| (i.model, i.unit)).collect();
    let models: BTreeSet<String> = of.iter().map(|(model, _)| model.clone()).collect();
    GroupInfo {
        letter: letter(at),
        query: group.name.clone(),
        models: models.into_iter().collect(),
        units: of.into_iter().collect(),
        records: group.records.iter().map(|r| r.id.clone()).collect(),
    }
}
