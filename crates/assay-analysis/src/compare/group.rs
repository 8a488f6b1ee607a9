//! The groups that are compared, and the options of a comparison.

use assay_core::record::Record;
use serde::Serialize;

use super::report::Note;
use crate::identity::{Identity, identity, names_model, short_name};
use crate::quantity::Quantity;

/// Groups are named by the letters of the alphabet. For more groups, use a ranking.
pub(crate) const MOST_GROUPS: usize = 26;

/// Records that are compared as one.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// As the user named it, or what its records have in common.
    pub name: String,
    /// Its records.
    pub records: Vec<&'a Record>,
}

/// The rule that splits records named together into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Each record is a group.
    Record,
    /// All records of a unit.
    Unit,
    /// All records of a model.
    Model,
}

/// How groups are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Which figure; `None` is the usual one of each load.
    pub quantity: Option<Quantity>,
    /// Words for the load that the answer is about; `None`: the one of [`crate::deciding_load`].
    pub primary: Option<String>,
    /// Ratios up to this do not matter: 0.03 is 3 %.
    pub margin: f64,
    /// Confidence level of intervals, between 0 and 1.
    pub level: f64,
    /// Whether the answer is about the two runs themselves, where there is one run in each group, and not about the
    /// media on any day.
    pub runs: bool,
    /// Whether two groups of one unit each are compared as units, whatever their models: a user who names two cards
    /// asks which of the two is better. Else the answer is about their models.
    pub units: bool,
}

impl Default for Request {
    /// A margin of 3 % at 95 %.
    fn default() -> Self {
        Self { quantity: None, primary: None, margin: 0.03, level: assay_stats::LEVEL, runs: false, units: false }
    }
}

/// Why no comparison was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// There is only one group.
    #[error("one group is not enough: {name} ({}) has to be compared with something; name another", assay_core::units::counted(*.records, "record"))]
    OneGroup {
        /// The group.
        name: String,
        /// Records in it.
        records: usize,
    },
    /// There are more groups than letters.
    #[error("{groups} groups are more than {MOST_GROUPS}; name fewer, or use assay rank")]
    TooManyGroups {
        /// How many.
        groups: usize,
    },
    /// A record stands on both sides.
    #[error("record {record} is in `{first}` and in `{second}`; name it once")]
    Overlap {
        /// Which.
        record: String,
        /// One group.
        first: String,
        /// The other.
        second: String,
    },
    /// No load that two groups have is the one asked for.
    #[error("{0}")]
    Primary(#[from] crate::LoadError),
    /// A margin or level out of range.
    #[error("{0}")]
    Options(String),
}

/// Groups from the records of several queries, in the order of their first records; a record that two queries
/// name counts once. One that names no model is in no group by model: see [`nameless`].
#[must_use]
pub fn split(named: &[Vec<Record>], by: By) -> Vec<Group<'_>> {
    let mut groups: Vec<(Identity, Group<'_>)> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for record in named.iter().flatten() {
        if known.contains(&record.id.as_str()) {
            continue;
        }
        known.push(&record.id);
        if by == By::Model && !names_model(record) {
            continue;
        }
        let of = identity(record);
        let same = |other: &Identity| match by {
            By::Record => false,
            By::Unit => (&other.model, &other.unit) == (&of.model, &of.unit),
            By::Model => other.model == of.model,
        };
        if let Some((_, group)) = groups.iter_mut().find(|(known, _)| same(known)) {
            group.records.push(record);
            continue;
        }
        let name = match by {
            By::Record => record.id.clone(),
            By::Unit => short_name(&of),
            By::Model => of.model.clone(),
        };
        groups.push((of, Group { name, records: vec![record] }));
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// A note on the records that [`split`] puts in no group, if there are any.
#[must_use]
pub fn nameless(named: &[Vec<Record>], by: By) -> Option<Note> {
    let mut records: Vec<String> =
        named.iter().flatten().filter(|record| !names_model(record)).map(|record| record.id.clone()).collect();
    records.sort();
    records.dedup();
    (by == By::Model && !records.is_empty()).then_some(Note::NoModel { records })
}

/// Refuses groups that cannot be compared, regardless of their figures.
pub(super) fn check(groups: &[Group<'_>]) -> Result<(), CompareError> {
    if let [] | [_] = groups {
        let (name, records) = groups.first().map_or((String::new(), 0), |g| (g.name.clone(), g.records.len()));
        return Err(CompareError::OneGroup { name, records });
    }
    if groups.len() > MOST_GROUPS {
        return Err(CompareError::TooManyGroups { groups: groups.len() });
    }
    for (at, second) in groups.iter().enumerate() {
        for first in &groups[..at] {
            if let Some(both) = second.records.iter().find(|r| first.records.iter().any(|other| other.id == r.id)) {
                return Err(CompareError::Overlap {
                    record: both.id.clone(),
                    first: first.name.clone(),
                    second: second.name.clone(),
                });
            }
        }
    }
    Ok(())
}
