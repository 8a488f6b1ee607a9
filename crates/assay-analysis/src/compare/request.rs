//! What is asked of a comparison: its groups, its options, and the limits that a script sets.

use assay_core::observation::Observation;
use assay_core::text::quoted;
use assay_core::units::parse_share;
use serde::Serialize;

use super::report::Note;
use crate::identity::{Identity, identity, names_model, short_name};
use crate::quantity::Quantity;

/// Groups are named by the letters of the alphabet. For more groups, use a ranking.
pub(crate) const MOST_GROUPS: usize = 26;

/// Records that are compared as one.
#[derive(Debug, Clone)]
pub struct RecordGroup<'a> {
    /// As the user named it, or what its records have in common.
    pub name: String,
    /// Its records.
    pub records: Vec<&'a Observation>,
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
pub struct CompareRequest {
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

impl Default for CompareRequest {
    /// A margin of 3 % at 95 %.
    fn default() -> Self {
        Self { quantity: None, primary: None, margin: 0.03, level: assay_stats::LEVEL, runs: false, units: false }
    }
}

/// Why no comparison was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// No record is in a group.
    #[error("no group to compare")]
    NoGroup,
    /// There is only one group.
    #[error("one group is not enough: {name} ({}) needs a second one to be compared with; name it", assay_core::units::counted(*.records, "record"))]
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
pub fn split(named: &[Vec<Observation>], by: By) -> Vec<RecordGroup<'_>> {
    let mut groups: Vec<(Identity, RecordGroup<'_>)> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    // A check belongs to what was measured of its medium, and is nothing to compare by itself.
    let (checks, measured): (Vec<&Observation>, Vec<&Observation>) =
        named.iter().flatten().partition(|record| is_bare_check(record));
    let begins = measured.is_empty();
    for (record, begins) in
        measured.iter().map(|record| (*record, true)).chain(checks.iter().map(|check| (*check, begins)))
    {
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
        if !begins {
            continue;
        }
        let name = match by {
            By::Record => record.id.clone(),
            By::Unit => short_name(&of),
            By::Model => of.model.clone(),
        };
        groups.push((of, RecordGroup { name, records: vec![record] }));
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Whether a record is of a check for genuineness alone, and has no figures.
pub(super) fn is_bare_check(record: &Observation) -> bool {
    record.verification.is_some() && record.measurements.is_empty()
}

/// A note on the records that [`split`] puts in no group, if there are any.
#[must_use]
pub fn nameless(named: &[Vec<Observation>], by: By) -> Option<Note> {
    let mut records: Vec<String> =
        named.iter().flatten().filter(|record| !names_model(record)).map(|record| record.id.clone()).collect();
    records.sort();
    records.dedup();
    (by == By::Model && !records.is_empty()).then_some(Note::NoModel { records })
}

/// Refuses groups that cannot be compared, regardless of their figures.
pub(super) fn check(groups: &[RecordGroup<'_>]) -> Result<(), CompareError> {
    match groups {
        [] => return Err(CompareError::NoGroup),
        [one] => return Err(CompareError::OneGroup { name: one.name.clone(), records: one.records.len() }),
        _ => {}
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

// Limits that a script sets to a comparison: `slower than 5%`, `p99 higher than 10% for random read 4 KiB`.

/// How far a group may be from the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateLimit {
    /// As it was written.
    pub text: String,
    /// The figure; `None` is the one that is compared.
    pub quantity: Option<Quantity>,
    /// Which way it may not go.
    pub way: LimitSense,
    /// How far: 0.05 is 5 % of the reference.
    pub share: f64,
    /// The load it is about, as its title, a part of it or a workload's name; `None` is every load.
    pub load: Option<String>,
}

/// Which way a figure goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitSense {
    /// Worse: a lower rate, or a higher latency.
    Slower,
    /// Better: a higher rate, or a lower latency.
    Faster,
    /// A lower figure.
    Lower,
    /// A higher figure.
    Higher,
}

impl LimitSense {
    const ALL: [(&'static str, Self); 4] =
        [("slower", Self::Slower), ("faster", Self::Faster), ("lower", Self::Lower), ("higher", Self::Higher)];

    /// Whether the figure becomes more, where more of it is better or is not.
    pub(super) fn rises(self, more_is_better: bool) -> bool {
        match self {
            Self::Slower => !more_is_better,
            Self::Faster => more_is_better,
            Self::Lower => false,
            Self::Higher => true,
        }
    }
}

/// Why a limit cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The text does not have the form of a limit.
    #[error(
        "{} is not a limit; write `slower than 5%`, `p99 higher than 10%` or `rate lower than 5% for write 1 MiB`",
        quoted(.0)
    )]
    Form(String),
    /// No figure has this name.
    #[error("{0}")]
    Figure(String),
    /// It does not say of what.
    #[error("{} of what? name the figure: `rate lower than 5%`, `p99 higher than 10%`", quoted(.0))]
    NoFigure(String),
    /// No share, or one that no figure can reach.
    #[error("{0}: write a share like 5%, below 100% for what becomes less, at most 10000%")]
    Share(String),
}

/// Most that a figure may be allowed to rise: a hundredfold.
const MOST: f64 = 100.0;

impl GateLimit {
    /// Parses a limit: `[FIGURE] slower|faster|lower|higher than SHARE [for LOAD]`.
    ///
    /// # Errors
    /// [`LimitError`], one line that names the problem and the right form.
    pub fn parse(text: &str) -> Result<Self, LimitError> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let form = || LimitError::Form(text.clone());
        let (limit, load) = match text.split_once(" for ") {
            Some((limit, load)) => (limit, Some(load.to_owned())),
            None if text.ends_with(" for") => return Err(form()),
            None => (text.as_str(), None),
        };
        let mut words = limit.split_whitespace().peekable();
        let way_of = |word: &str| LimitSense::ALL.iter().find(|(name, _)| *name == word).map(|(_, way)| *way);
        let first = words.next().ok_or_else(form)?;
        let (quantity, way) = match way_of(first) {
            Some(way) => (None, way),
            None => {
                let way = words.next().and_then(way_of).ok_or_else(form)?;
                (Some(Quantity::parse(first).map_err(LimitError::Figure)?), way)
            }
        };
        if words.next() != Some("than") || words.peek().is_none() {
            return Err(form());
        }
        if quantity.is_none() && matches!(way, LimitSense::Lower | LimitSense::Higher) {
            return Err(LimitError::NoFigure(first.to_owned()));
        }
        let written = words.collect::<Vec<_>>().join(" ");
        let share = parse_share(&written).map_err(|_| LimitError::Share(quoted(&written)))?;
        let more_is_better = quantity.is_none_or(Quantity::more_is_better);
        if share > MOST || (share >= 1.0 && !way.rises(more_is_better)) {
            return Err(LimitError::Share(quoted(&written)));
        }
        Ok(Self { quantity, way, share, load, text })
    }

    /// The ratio to the reference that a figure may reach, and whether it may not be above.
    pub(super) fn edge(&self, more_is_better: bool) -> (f64, bool) {
        let rises = self.way.rises(more_is_better);
        (if rises { 1.0 + self.share } else { 1.0 - self.share }, rises)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of a check has no figures: of another unit it would be a group that nothing is known of.
    #[test]
    fn a_check_is_no_group_beside_what_was_measured() {
        let check = |id: &str, unit: &str| {
            let mut record = super::super::day_scenes::fake(super::super::day_scenes::card(id, unit, &[]));
            record.measurements.clear();
            record
        };
        let card = |id: &str, unit: &str| super::super::day_scenes::card(id, unit, &[1000.0]);
        let named = [vec![check("c1", "1"), card("a", "1"), check("c9", "9"), card("b", "2")]];
        for (by, names) in [(By::Unit, 2), (By::Record, 2), (By::Model, 1)] {
            let groups = split(&named, by);
            assert_eq!(groups.len(), names, "{by:?}: {groups:?}");
        }
        let of_unit: Vec<&str> = split(&named, By::Unit)[0].records.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(of_unit, ["a", "c1"]);
        let checks = [vec![check("c1", "1"), check("c9", "9")]];
        assert_eq!(split(&checks, By::Unit).len(), 2, "there is nothing else");
    }

    #[test]
    fn limits_are_read_as_people_write_them() {
        let limit = GateLimit::parse("slower than 5%").unwrap();
        assert_eq!((limit.quantity, limit.way, limit.share, limit.load), (None, LimitSense::Slower, 0.05, None));
        let limit = GateLimit::parse("  p99  higher than 10 % for random read 4 KiB ").unwrap();
        assert_eq!((limit.quantity, limit.way, limit.share), (Some(Quantity::P99Ns), LimitSense::Higher, 0.1));
        assert_eq!(limit.load.as_deref(), Some("random read 4 KiB"));
        assert_eq!(limit.text, "p99 higher than 10 % for random read 4 KiB");
        assert_eq!(GateLimit::parse("iops slower than 0.03").unwrap().share, 0.03);
        assert_eq!(GateLimit::parse("p50 slower than 150%").unwrap().share, 1.5, "a latency may more than double");
    }

    #[test]
    fn what_is_no_limit_is_refused_with_what_would_be() {
        for (text, words) in [
            ("", "is not a limit"),
            ("slower", "is not a limit"),
            ("slower than", "is not a limit"),
            ("slower by 5%", "is not a limit"),
            ("slower than 5% for ", "is not a limit"),
            ("speed slower than 5%", "no figure is named `speed`; there are iops, rate"),
            ("lower than 5%", "name the figure"),
            ("slower than 5", "`5`: write a share"),
            ("slower than -5%", "`-5%`: write a share"),
            ("rate lower than 100%", "below 100%"),
            ("slower than 100%", "below 100%"),
            ("p50 higher than 10001%", "at most 10000%"),
        ] {
            let error = GateLimit::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
