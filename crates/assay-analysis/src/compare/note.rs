//! What else could make a difference, and what a statement does not cover.

use std::collections::BTreeSet;
use std::fmt;

use assay_core::finding::Severity;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use serde::Serialize;

use super::group::Group;
use super::report::{Basis, LoadComparison};
use crate::reading::{Mark, identity, short_name};

/// Something that has to be known with a comparison. Text is as records give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// Groups were measured on different hosts.
    Hosts {
        /// Of each group, in order.
        of: Vec<String>,
    },
    /// Groups sat in different slots.
    Slots {
        /// Of each group, in order.
        of: Vec<String>,
    },
    /// Groups were measured by different suites, or versions of one.
    Suites {
        /// Of each group, in order.
        of: Vec<String>,
    },
    /// Groups were measured by different programs, versions or engines.
    Tools {
        /// Of each group, in order.
        of: Vec<String>,
    },
    /// The same unit is in two groups.
    SameUnit {
        /// Which.
        unit: String,
    },
    /// Records of a group do not say which unit they are of, and count as one.
    UnknownUnits {
        /// Index of the group.
        group: usize,
        /// Records that do not say it.
        records: usize,
    },
    /// A group holds units of several models.
    SeveralModels {
        /// Index of the group.
        group: usize,
        /// How many.
        models: usize,
    },
    /// Groups rest on one run each.
    OneRun {
        /// Their indices.
        groups: Vec<usize>,
    },
    /// A run did not end as planned.
    Unfinished {
        /// Id of the record.
        record: String,
        /// How it ended.
        how: String,
    },
    /// Figures of a record are doubtful, invalid or of a medium that is not genuine.
    Doubtful {
        /// Id of the record.
        record: String,
        /// How much it weighs.
        mark: Mark,
        /// Why.
        causes: Vec<String>,
    },
    /// Some figures are published ones, of which the circumstances are known in part only.
    Published {
        /// Indices of groups that hold some.
        groups: Vec<usize>,
    },
}

fn letters(groups: &[usize]) -> String {
    let names: Vec<String> = groups.iter().map(|at| letter(*at).to_string()).collect();
    names.join(", ")
}

/// `A` for the first group.
pub(super) fn letter(at: usize) -> char {
    u8::try_from(at).ok().and_then(|at| b'A'.checked_add(at)).map_or('?', char::from)
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Groups with the same share a part: `A, C node1; B node2`.
        let each = |of: &[String]| {
            let mut parts: Vec<(Vec<usize>, &str)> = Vec::new();
            for (at, text) in of.iter().enumerate() {
                match parts.iter_mut().find(|(_, known)| known == text) {
                    Some((groups, _)) => groups.push(at),
                    None => parts.push((vec![at], text)),
                }
            }
            let all: Vec<String> = parts.iter().map(|(groups, text)| format!("{} {text}", letters(groups))).collect();
            all.join("; ")
        };
        match self {
            Self::Hosts { of } => {
                write!(f, "different hosts: {}", each(of))
            }
            Self::Slots { of } => {
                write!(f, "different slots: {}", each(of))
            }
            Self::Suites { of } => {
                write!(f, "different suites, of which the same loads are compared: {}", each(of))
            }
            Self::Tools { of } => {
                write!(f, "different programs or engines: {}", each(of))
            }
            Self::SameUnit { unit } => {
                write!(f, "{unit} is in two groups: its runs are compared there")
            }
            Self::UnknownUnits { group, records } => {
                write!(f, "{records} records of {} name no unit and count as one; label them unit=…", letter(*group))
            }
            Self::SeveralModels { group, models } => {
                write!(f, "{} holds {models} models; --by model tells them apart", letter(*group))
            }
            Self::OneRun { groups } => {
                write!(f, "{}: one run each; another run, or another unit, may differ by more", letters(groups))
            }
            Self::Unfinished { record, how } => write!(f, "run {record} {how}"),
            Self::Doubtful { record, mark, causes } => {
                let word = match mark {
                    Mark::Invalid => "is invalid and can win no comparison",
                    Mark::Fake => "is of a medium that is not genuine and can win no comparison",
                    _ => "is doubtful",
                };
                write!(f, "{record} {word}: {}", causes.join("; "))
            }
            Self::Published { groups } => {
                write!(f, "{}: published figures, one value a unit and load", letters(groups))
            }
        }
    }
}

/// Everything that has to be known with these groups.
pub(super) fn notes(groups: &[Group<'_>], loads: &[LoadComparison]) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(
        differ(groups, |r| r.host.hostname.clone().or_else(|| r.host.board.clone())).map(|of| Note::Hosts { of }),
    );
    notes.extend(differ(groups, |r| identity(r).slot).map(|of| Note::Slots { of }));
    notes.extend(
        differ(groups, |r| Some(format!("{} {}", r.suite.name, r.suite.version))).map(|of| Note::Suites { of }),
    );
    let tool = |r: &Record| Some(format!("{} {} {}", r.tool.name, r.tool.version, r.tool.engine).replace("  ", " "));
    notes.extend(differ(groups, tool).map(|of| Note::Tools { of }));
    same_units(groups, &mut notes);
    for (group, g) in groups.iter().enumerate() {
        let models: BTreeSet<String> = g.records.iter().map(|r| identity(r).model).collect();
        if models.len() > 1 {
            notes.push(Note::SeveralModels { group, models: models.len() });
        }
        let records = g.records.iter().filter(|r| identity(r).unit.is_empty()).count();
        if records > 1 {
            notes.push(Note::UnknownUnits { group, records });
        }
    }
    let runs = |at: &usize| {
        let mut sides = loads.iter().flat_map(|l| &l.sides).filter(|side| side.group == *at);
        sides.any(|side| side.basis == Basis::Repeats && side.values.len() > 1)
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

/// Whether groups differ in a property: what each has of it. Nothing is said where some do not know it.
fn differ(groups: &[Group<'_>], of: impl Fn(&Record) -> Option<String>) -> Option<Vec<String>> {
    let sets: Vec<BTreeSet<String>> = groups.iter().map(|g| g.records.iter().filter_map(|r| of(r)).collect()).collect();
    let known: Vec<&BTreeSet<String>> = sets.iter().filter(|set| !set.is_empty()).collect();
    let all_equal = known.windows(2).all(|pair| pair[0] == pair[1]);
    let words = |set: &BTreeSet<String>| {
        if set.is_empty() { "unknown".to_owned() } else { set.iter().cloned().collect::<Vec<_>>().join(", ") }
    };
    (!all_equal).then(|| sets.iter().map(words).collect())
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
    // How a run ended is told by itself.
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
