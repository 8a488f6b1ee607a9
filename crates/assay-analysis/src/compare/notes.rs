//! What has to be known with a comparison, from its records.

use std::collections::BTreeSet;

use assay_core::finding::Severity;
use assay_core::outcome::Outcome;
use assay_core::record::Record;

use super::group::Group;
use super::report::{Basis, LoadComparison, Note, Pair};
use crate::deciding::deciding_quantity;
use crate::identity::{identity, names_model, short_name, suite};
use crate::reading::{Mark, lacking, manner, measurement};

/// Everything that has to be known with these groups; `usual` where no figure was asked for.
pub(super) fn notes(groups: &[Group<'_>], loads: &[LoadComparison], usual: bool) -> Vec<Note> {
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
    let runs = |at: &usize| {
        let mut sides = loads.iter().flat_map(|l| &l.sides).filter(|side| side.group == *at);
        // Where other days or other runs are in the interval, there is nothing to be warned of.
        let others = |pair: &Pair| pair.days.is_some() || pair.series.decides().is_some();
        let days = |pair: &&Pair| (pair.first == *at || pair.second == *at) && others(pair);
        sides.any(|side| side.basis == Basis::Repeats && side.values.len() > 1)
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
fn differ(groups: &[Group<'_>], of: impl Fn(&Record) -> Option<String>) -> Option<Vec<String>> {
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
fn tool(record: &Record) -> String {
    let tool = &record.tool;
    let engine = if tool.engine == tool.name { "" } else { &tool.engine };
    let parts = [tool.name.as_str(), &tool.version, engine];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The properties of the compared loads that the sources of a group's figures do not state.
fn not_stated(at: usize, groups: &[Group<'_>], loads: &[LoadComparison]) -> Vec<&'static str> {
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
fn manners(groups: &[Group<'_>], loads: &[LoadComparison], notes: &mut Vec<Note>) {
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

fn same_units(groups: &[Group<'_>], notes: &mut Vec<Note>) {
    for (at, group) in groups.iter().enumerate() {
        let of = |g: &Group<'_>| g.records.iter().map(|r| identity(r)).collect::<Vec<_>>();
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
fn doubts(record: &Record, loads: &[LoadComparison]) -> Option<Note> {
    let runs = loads.iter().flat_map(|l| &l.sides).flat_map(|s| &s.runs).filter(|run| run.record == record.id);
    let mark =
        runs.flat_map(|run| &run.marks).copied().filter(|m| *m >= Mark::Suspect && *m != Mark::Published).max()?;
    // The end of a run is reported separately.
    if matches!(mark, Mark::Failed | Mark::Unfinished) {
        return None;
    }
    let weight = if mark == Mark::Suspect { Severity::Suspect } else { Severity::Invalid };
    let mut causes: Vec<String> = match (mark, &record.verification) {
        (Mark::Fake, Some(verification)) => vec![verification.sentence.clone()],
        _ => record.all_warnings().filter(|w| w.severity == weight).map(|w| w.cause.clone()).collect(),
    };
    if causes.is_empty() {
        causes.clone_from(&record.validity.reasons);
    }
    let mut seen = BTreeSet::new();
    causes.retain(|cause| seen.insert(cause.clone()));
    Some(Note::Doubtful { record: record.id.clone(), mark, causes })
}
