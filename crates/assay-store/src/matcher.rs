//! Conditions of a query, applied to rows of the store in SQL and to records in memory. Both are here, so that they
//! mean the same; `tests/it/matching.rs` compares them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assay_core::medium::Medium;
use assay_core::observation::Observation;
use assay_core::record::Record;

use crate::document::name;
use crate::error::StoreError;
use crate::query::{Condition, Pattern, Property, conditions};

/// What conditions are about.
pub trait Described {
    /// Labels of the user.
    fn labels(&self) -> &BTreeMap<String, String>;
    /// What was measured.
    fn medium(&self) -> &Medium;
    /// Slot of the medium.
    fn slot(&self) -> Option<&str>;
    /// Name of the suite.
    fn suite(&self) -> &str;
}

impl Described for Record {
    fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    fn medium(&self) -> &Medium {
        &self.medium
    }

    fn slot(&self) -> Option<&str> {
        self.host.slot.as_deref()
    }

    fn suite(&self) -> &str {
        &self.suite.name
    }
}

impl Described for Observation {
    fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    fn medium(&self) -> &Medium {
        &self.medium
    }

    fn slot(&self) -> Option<&str> {
        self.host.slot.as_deref()
    }

    fn suite(&self) -> &str {
        &self.suite.name
    }
}

/// Conditions on records in memory: the `key=value` of a query, with the same meaning as for records of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms<'q>(Vec<Condition<'q>>);

impl<'q> Terms<'q> {
    /// Parses them like a query of a store.
    ///
    /// # Errors
    /// [`StoreError::BadQuery`].
    pub fn parse(text: &'q str) -> Result<Self, StoreError> {
        conditions(text.trim()).map(Self)
    }

    /// A key or value that no record has, if a record has a similar one.
    #[must_use]
    pub fn misspelt<'r, R: Described + 'r>(&self, records: impl Iterator<Item = &'r R> + Clone) -> Option<Misspelt> {
        let values = |condition: &Condition<'_>| {
            Ok(records.clone().flat_map(|record| said(condition, record)).map(Cow::into_owned).collect())
        };
        let keys = || Ok(records.clone().flat_map(|record| record.labels().keys().cloned()).collect());
        // Records in memory give no error.
        misspelt(&self.0, values, keys).unwrap_or_default()
    }

    /// The one model that they ask for by its whole name; None if they ask for several, or for none.
    #[must_use]
    pub fn only_model(&self) -> Option<&'q str> {
        let mut models = self.0.iter().filter(|condition| condition.property == Property::Model);
        match (models.next().map(|condition| condition.values.as_slice()), models.next()) {
            (Some([Pattern::Whole(model)]), None) => Some(model),
            _ => None,
        }
    }

    /// Whether a record meets all of them.
    #[must_use]
    pub fn hold(&self, record: &impl Described) -> bool {
        self.0.iter().all(|condition| holds(condition, record))
    }
}

/// A key or value of a query that no record has, and the most similar one of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no record has {asked}; the nearest is {nearest}")]
pub struct Misspelt {
    /// `key=value`, or `key=` for a misspelt key.
    pub asked: String,
    /// The most similar `key=value`, or `key=`.
    pub nearest: String,
}

/// Values with fewer letters are too short to distinguish a misspelling from another value.
const LEAST_LETTERS: usize = 4;
/// Similarity from which on a text counts as a misspelling of another: 1 minus the number of wrong, missing, added or
/// swapped letters divided by the length (Damerau-Levenshtein). One letter of four may be wrong, or two of ten.
const ALIKE: f64 = 0.75;

/// The first misspelt key or value of some conditions. `values` returns all texts of records for a condition, `keys`
/// all keys of their labels.
///
/// # Errors
/// Those of `values` and `keys`.
pub(crate) fn misspelt(
    conditions: &[Condition<'_>],
    values: impl Fn(&Condition<'_>) -> Result<BTreeSet<String>, StoreError>,
    keys: impl Fn() -> Result<BTreeSet<String>, StoreError>,
) -> Result<Option<Misspelt>, StoreError> {
    for condition in conditions {
        let known = values(condition)?;
        let key = condition.property.key();
        if known.is_empty() {
            let own = ["model", "unit", "slot", "suite", "kind"];
            if !own.contains(&key)
                && let Some(nearest) = nearest(key, &keys()?.into_iter().chain(own.map(str::to_owned)).collect())
            {
                return Ok(Some(Misspelt { asked: format!("{key}="), nearest: format!("{nearest}=") }));
            }
            continue;
        }
        for pattern in &condition.values {
            let Pattern::Whole(value) = pattern else { continue };
            if known.iter().any(|text| pattern.fits(text)) {
                continue;
            }
            if let Some(nearest) = nearest(value, &known) {
                return Ok(Some(Misspelt { asked: format!("{key}={value}"), nearest: format!("{key}={nearest}") }));
            }
        }
    }
    Ok(None)
}

/// The known text that is most similar to the given one. Different digits mean a different thing, as in `32GB` and
/// `64GB` or in two dates.
fn nearest<'v>(asked: &str, known: &'v BTreeSet<String>) -> Option<&'v str> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (letters, number) = (asked.to_ascii_lowercase(), digits(asked));
    if letters.chars().count() < LEAST_LETTERS {
        return None;
    }
    let near = known
        .iter()
        .filter(|known| digits(known) == number)
        .map(|known| (likeness(&letters, &known.to_ascii_lowercase()), known.as_str()));
    near.filter(|(alike, _)| *alike >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Similarity of two texts. With equally many words, the least similar pair counts: `PRO Plus` is not a misspelt `EVO
/// Plus`.
fn likeness(one: &str, other: &str) -> f64 {
    let (a, b): (Vec<&str>, Vec<&str>) = (one.split_whitespace().collect(), other.split_whitespace().collect());
    if a.len() != b.len() {
        return strsim::normalized_damerau_levenshtein(one, other);
    }
    a.iter().zip(&b).map(|(a, b)| strsim::normalized_damerau_levenshtein(a, b)).fold(1.0, f64::min)
}

/// A property of a record that has its own column in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Product,
    Title,
    Unit,
    Slot,
    Suite,
    Kind,
}

impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Title => "title",
            Self::Unit => "unit",
            Self::Slot => "slot",
            Self::Suite => "suite",
            Self::Kind => "kind",
        }
    }

    /// The value of the column for a record.
    fn value_in(self, record: &impl Described) -> Option<Cow<'_, str>> {
        let medium = record.medium();
        match self {
            Self::Product => medium.model.as_deref().map(Cow::from),
            Self::Title => Some(medium.title().into()),
            Self::Unit => medium.unit.as_deref().map(Cow::from),
            Self::Slot => record.slot().map(Cow::from),
            Self::Suite => Some(record.suite().into()),
            Self::Kind => name(&medium.kind).ok().map(Cow::from),
        }
    }
}

impl<'q> Property<'q> {
    fn key(self) -> &'q str {
        match self {
            Property::Model => "model",
            Property::Unit => "unit",
            Property::Slot => "slot",
            Property::Suite => "suite",
            Property::Kind => "kind",
            Property::Label(key) => key,
        }
    }

    /// The user's label with this property, and the columns with it.
    fn said_by(self) -> (Option<&'q str>, &'static [Column]) {
        match self {
            Property::Model => (Some("model"), &[Column::Product, Column::Title]),
            Property::Unit => (Some("unit"), &[Column::Unit]),
            Property::Slot => (Some("slot"), &[Column::Slot]),
            Property::Suite => (None, &[Column::Suite]),
            Property::Kind => (None, &[Column::Kind]),
            Property::Label(key) => (Some(key), &[]),
        }
    }
}

/// A condition in SQL. Its values for `?` are appended to `values`, in order.
pub(crate) fn sql(condition: &Condition<'_>, values: &mut Vec<String>) -> String {
    let (label, columns) = condition.property.said_by();
    let mut any = Vec::new();
    for pattern in &condition.values {
        let (compared, value) = pattern.sql();
        if let Some(key) = label {
            any.push(format!("number IN (SELECT record FROM label WHERE key = ? AND value {compared})"));
            values.extend([key.to_owned(), value.clone()]);
        }
        for column in columns {
            // A serial number of blanks or zeros does not count: it would make one unit of many.
            let known = if *column == Column::Unit { " AND trim(unit, ' 0') <> ''" } else { "" };
            any.push(format!("({} {compared}{known})", column.name()));
            values.push(value.clone());
        }
    }
    format!("({})", any.join(" OR "))
}

/// Whether a record in memory meets a condition.
fn holds(condition: &Condition<'_>, record: &impl Described) -> bool {
    said(condition, record).any(|text| condition.values.iter().any(|pattern| pattern.fits(&text)))
}

/// The values of a record that a condition applies to.
fn said<'r>(condition: &Condition<'_>, record: &'r impl Described) -> impl Iterator<Item = Cow<'r, str>> {
    let (label, columns) = condition.property.said_by();
    let label = label.and_then(|key| record.labels().get(key)).map(|text| Cow::from(text.as_str()));
    let columns = columns.iter().filter_map(|column| {
        let text = column.value_in(record)?;
        (*column != Column::Unit || !text.trim_matches([' ', '0']).is_empty()).then_some(text)
    });
    label.into_iter().chain(columns)
}

/// SQL for the values of stored records that a condition applies to, and the key of the label that has them too.
pub(crate) fn sql_of_values<'q>(condition: &Condition<'q>) -> (Vec<String>, Option<&'q str>) {
    let (label, columns) = condition.property.said_by();
    let columns =
        columns.iter().map(|column| format!("SELECT DISTINCT {0} FROM record WHERE {0} IS NOT NULL", column.name()));
    (columns.collect(), label)
}

impl Pattern<'_> {
    /// The comparison in SQL, and its value for `?`: the value itself, or a `LIKE` pattern. In a pattern `%` and `_`
    /// are wildcards, so `\` escapes them. Both ignore the case of ASCII letters.
    fn sql(&self) -> (&'static str, String) {
        match self {
            Self::Whole(value) => ("= ? COLLATE NOCASE", (*value).to_owned()),
            Self::Wild(pattern) => {
                let mut like = String::with_capacity(pattern.len());
                for c in pattern.chars() {
                    match c {
                        '*' => like.push('%'),
                        '%' | '_' | '\\' => like.extend(['\\', c]),
                        _ => like.push(c),
                    }
                }
                (r"LIKE ? ESCAPE '\'", like)
            }
        }
    }

    /// The same comparison for a text in memory.
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Whole(value) => text.eq_ignore_ascii_case(value),
            Self::Wild(pattern) => {
                let (pattern, text) = (pattern.to_ascii_lowercase(), text.to_ascii_lowercase());
                let parts: Vec<&str> = pattern.split('*').collect();
                let [first, between @ .., last] = parts.as_slice() else { return pattern == text };
                let Some(mut rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
                    return false;
                };
                // Each part is matched where it occurs first, which leaves the most text for the parts after it.
                between.iter().all(|part| {
                    let found = rest.find(part);
                    rest = found.map_or("", |at| &rest[at + part.len()..]);
                    found.is_some()
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_text_is_found_and_other_digits_are_another_thing() {
        let near = |asked: &str, known: &[&str]| {
            nearest(asked, &known.iter().map(|known| (*known).to_owned()).collect()).map(str::to_owned)
        };
        let cards = ["SanDisk Ultra A1", "Samsung EVO Plus 64GB", "quick"];
        assert_eq!(near("SanDsik ultra A1", &cards).as_deref(), Some("SanDisk Ultra A1"));
        assert_eq!(near("quikc", &cards).as_deref(), Some("quick"));
        for (asked, known) in [
            ("Kingston", "SanDisk"),
            ("SanDisk Ultra A2", "SanDisk Ultra A1"),
            ("SanDisk Extreme 32GB", "SanDisk Ultra 32GB"),
            ("Samsung PRO Plus", "Samsung EVO Plus"),
            ("Samsung EVO Plus 32GB", "Samsung EVO Plus 64GB"),
            ("2026-11-27", "2026-11-26"),
            ("u12", "u21"),
        ] {
            assert_eq!(near(asked, &[known]), None, "{asked} {known}");
        }
    }

    #[test]
    fn a_wildcard_of_sql_is_only_text() {
        assert_eq!(Pattern::Wild("50%_\\*").sql().1, r"50\%\_\\%");
        assert!(Pattern::Wild("5%*").fits("5%0") && !Pattern::Wild("5%*").fits("500"));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("**", "a", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "AxBxBxC", true),
            ("*b*b*", "ab", false),
            ("Ä*", "ä1", false),
            ("*ä", "xä", true),
        ] {
            assert_eq!(Pattern::Wild(pattern).fits(text), fits, "{pattern} {text}");
        }
    }
}
