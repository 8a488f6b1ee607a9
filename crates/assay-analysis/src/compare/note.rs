//! Other causes of a difference, and the limits of a statement.

use std::fmt;

use serde::Serialize;

use crate::reading::Mark;

/// A caveat of a comparison. Text is as records give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// Groups were measured on different hosts.
    Hosts {
        /// The hosts of each group, in order.
        of: Vec<String>,
    },
    /// Groups were in different slots.
    Slots {
        /// The slots of each group, in order.
        of: Vec<String>,
    },
    /// Groups were measured by different suites, or versions of one.
    Suites {
        /// The suites of each group, in order.
        of: Vec<String>,
    },
    /// Groups were measured by different programs, versions or engines.
    Tools {
        /// The programs of each group, in order.
        of: Vec<String>,
    },
    /// Writes are compared by the rate at which they were acknowledged, as some figures have no durable rate.
    Acknowledged {
        /// Titles of the loads.
        loads: Vec<String>,
    },
    /// Sources do not state every property of the loads that are compared.
    NotTold {
        /// The unstated properties of each group, in order; empty where all are stated.
        of: Vec<String>,
    },
    /// Hosts executed the same loads in different ways.
    Manners {
        /// Titles of the loads.
        loads: Vec<String>,
        /// The ways of each group, in order; empty where none is stated.
        of: Vec<String>,
    },
    /// The same unit is in two groups.
    SameUnit {
        /// The unit.
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
    /// Records that name no model are in no group of one.
    NoModel {
        /// Their ids.
        records: Vec<String>,
    },
    /// Groups consist of one run each. The comparison does not cover other runs, and the stated error holds for repeats
    /// that are independent of each other.
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
        /// Its severity.
        mark: Mark,
        /// Why.
        causes: Vec<String>,
    },
    /// Some figures are published ones, whose circumstances are only partly known.
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
                    None if text.is_empty() => {}
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
                write!(f, "different suites; only the loads they share are compared: {}", each(of))
            }
            Self::Tools { of } => {
                write!(f, "different programs or engines: {}", each(of))
            }
            Self::Acknowledged { loads } => {
                write!(f, "judged by the acknowledged rate, as some records have no durable rate: {}", loads.join("; "))
            }
            Self::NotTold { of } => {
                write!(f, "not recorded for the loads compared, and possibly different: {}", each(of))
            }
            Self::Manners { loads, of } => {
                write!(f, "run with different settings, which may change figures: {}: {}", loads.join("; "), each(of))
            }
            Self::SameUnit { unit } => {
                write!(f, "{unit} is in two groups: its runs are compared there")
            }
            Self::UnknownUnits { group, records } => {
                write!(f, "{records} records of {} name no unit and count as one; label them unit=…", letter(*group))
            }
            Self::SeveralModels { group, models } => {
                write!(f, "{} contains {models} models; --by model separates them", letter(*group))
            }
            Self::NoModel { records } => {
                let one = records.len() == 1;
                let (of, it) = if one { ("names no model and is", "it") } else { ("name no model and are", "them") };
                let all = records.join(", ");
                write!(f, "{all} {of} left out; assay label {it} with model=…")
            }
            Self::OneRun { groups } => {
                write!(
                    f,
                    "{}: one run each; another run or unit may differ by more than the interval, which also assumes that \
                     repeats are independent",
                    letters(groups)
                )
            }
            Self::Unfinished { record, how } => write!(f, "run {record} {how}"),
            Self::Doubtful { record, mark, causes } => {
                let word = match mark {
                    Mark::Invalid => "is invalid and cannot win a comparison",
                    Mark::Fake => "is from a medium that is not genuine and cannot win a comparison",
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
