//! What a condition of a query asks of a record: of the rows of the store in SQL, and of a record at hand. Both stand
//! here, so that they mean the same; `tests/it/matching.rs` compares them.

use std::borrow::Cow;

use assay_core::record::Record;

use crate::document::name;
use crate::error::StoreError;
use crate::query::{Condition, Pattern, Property, conditions};

/// Conditions on records that are at hand: the `key=value` of a query, which mean of them what they mean of records of a
/// store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms<'q>(Vec<Condition<'q>>);

impl<'q> Terms<'q> {
    /// Reads them as a query of a store is read.
    ///
    /// # Errors
    /// [`StoreError::BadQuery`].
    pub fn parse(text: &'q str) -> Result<Self, StoreError> {
        conditions(text.trim()).map(Self)
    }

    /// Whether a record keeps all of them.
    #[must_use]
    pub fn hold(&self, record: &Record) -> bool {
        self.0.iter().all(|condition| holds(condition, record))
    }
}

/// What the store knows of a record beside its labels, in a column of its own.
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

    /// What stands there of a record.
    fn of(self, record: &Record) -> Option<Cow<'_, str>> {
        match self {
            Self::Product => record.medium.model.as_deref().map(Cow::from),
            Self::Title => Some(record.medium.title().into()),
            Self::Unit => record.medium.unit.as_deref().map(Cow::from),
            Self::Slot => record.host.slot.as_deref().map(Cow::from),
            Self::Suite => Some(record.suite.name.as_str().into()),
            Self::Kind => name(&record.medium.kind).ok().map(Cow::from),
        }
    }
}

impl<'q> Property<'q> {
    /// The label of the user that says it, and the columns that do.
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

/// A condition in SQL, and the texts that stand in it for `?`, in their order.
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
            // A serial number of blanks or zeros is none: it would make one unit of many.
            let known = if *column == Column::Unit { " AND trim(unit, ' 0') <> ''" } else { "" };
            any.push(format!("({} {compared}{known})", column.name()));
            values.push(value.clone());
        }
    }
    format!("({})", any.join(" OR "))
}

/// Whether a record at hand keeps a condition.
fn holds(condition: &Condition<'_>, record: &Record) -> bool {
    let (label, columns) = condition.property.said_by();
    let label = label.and_then(|key| record.labels.get(key)).map(String::as_str);
    let columns = columns.iter().filter_map(|column| {
        let text = column.of(record)?;
        (*column != Column::Unit || !text.trim_matches([' ', '0']).is_empty()).then_some(text)
    });
    let said: Vec<Cow<'_, str>> = label.map(Cow::from).into_iter().chain(columns).collect();
    condition.values.iter().any(|pattern| said.iter().any(|text| pattern.fits(text)))
}

impl Pattern<'_> {
    /// The comparison in SQL, and what stands in it for `?`: the value itself, or a pattern of `LIKE`, in which `%` and
    /// `_` are wildcards, and which is told by `\` that they are none here. Both know ASCII letters in any case.
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

    /// The same of a text at hand.
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
                // Each where it comes first: what is left for those behind it is the most there can be.
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
