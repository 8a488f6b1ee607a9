//! The facts about each medium other than its figures.

use assay_core::record::Record;
use assay_core::text::clean;
use assay_core::units::figures;

use super::media::{Model, Of, rows};
use super::scope::computers;
use super::table::name;
use crate::document::{Cell, Column, Row, Table, left, right};
use crate::facts;
use crate::sensors::warmest;
use crate::verdict::checked;

/// Facts of the units of an article.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OfUnit {
    /// Highest temperature of the medium in °C.
    pub(super) celsius: Option<f64>,
    /// Price as it was labelled; prices where records differ.
    pub(super) price: String,
    /// The verdict of the last check.
    pub(super) check: String,
    pub(super) health: String,
    /// The computers it was measured with.
    pub(super) computers: String,
    /// All other labels.
    pub(super) labels: String,
}

/// Labels that stand in rows or columns of their own.
const TOLD: [&str; 3] = ["model", "unit", "price"];
/// What the figures of health are not about: who made the medium.
const ORIGIN: [&str; 4] = ["firmware", "manfid", "manufactured", "oemid"];

impl OfUnit {
    pub(super) fn of(records: &[&Record]) -> Self {
        let labels = records.iter().flat_map(|record| &record.labels);
        let own = labels.filter(|(key, _)| !TOLD.contains(&key.as_str()));
        let last = |text: &dyn Fn(&Record) -> String| {
            let mut newest: Vec<&&Record> = records.iter().collect();
            newest.sort_by(|a, b| (&b.created, &b.id).cmp(&(&a.created, &a.id)));
            newest.into_iter().map(|record| text(record)).find(|text| !text.is_empty()).unwrap_or_default()
        };
        let check = |record: &Record| record.verification.as_ref().map(|v| checked(v).to_owned()).unwrap_or_default();
        Self {
            celsius: records.iter().filter_map(|record| warmest(record)).reduce(f64::max),
            price: once(records.iter().filter_map(|record| record.labels.get("price")).map(|price| clean(price))),
            check: last(&check),
            health: last(&health),
            computers: computers(records.iter().copied()).join(", "),
            labels: once(own.map(|(key, value)| format!("{}={}", clean(key), clean(value)))),
        }
    }
}

fn once(all: impl Iterator<Item = String>) -> String {
    let mut known: Vec<String> = Vec::new();
    all.for_each(|one| {
        if !one.is_empty() && !known.contains(&one) {
            known.push(one);
        }
    });
    known.join(", ")
}

fn health(record: &Record) -> String {
    let figures = record.medium.health.iter().filter(|(key, _)| !ORIGIN.contains(&key.as_str()));
    figures
        .map(|(key, value)| format!("{} {}", clean(key).replace('_', " "), clean(value)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A column that is there where a unit has something in it.
type Known = (fn() -> Column, fn(&OfUnit) -> String);
const COLUMNS: [Known; 6] = [
    (|| right("temperature, at most"), |of| of.celsius.map(|t| format!("{} °C", figures(t))).unwrap_or_default()),
    (|| right("price"), |of| of.price.clone()),
    (|| left("last check"), |of| of.check.clone()),
    (|| left("health"), |of| of.health.clone()),
    (|| left("computer"), |of| of.computers.clone()),
    (|| left("labels"), |of| of.labels.clone()),
];
/// The one that says nothing where all units have the same.
const COMPUTER: usize = 4;

/// The table of facts; `None` where no facts are known.
pub(super) fn table(media: &[Model<'_>]) -> Option<Table> {
    let of: Vec<(Cell, OfUnit)> = rows(media)
        .into_iter()
        .filter_map(|of| Some((of, of.unit()?)))
        .map(|(of, unit)| (name(Of::One(of.model(), unit)), OfUnit::of(&unit.records)))
        .collect();
    let differs = of.iter().any(|(_, facts)| facts.computers != of[0].1.computers);
    let has =
        |at: &usize| of.iter().any(|(_, facts)| !COLUMNS[*at].1(facts).is_empty()) && (*at != COMPUTER || differs);
    let shown: Vec<usize> = (0..COLUMNS.len()).filter(has).collect();
    if shown.is_empty() {
        return None;
    }
    let columns = std::iter::once(left("medium")).chain(shown.iter().map(|at| COLUMNS[*at].0())).collect();
    let row = |(name, facts): (Cell, OfUnit)| {
        let cells = shown.iter().map(|at| Cell::from(COLUMNS[*at].1(&facts)));
        Row::Cells(std::iter::once(name).chain(cells).collect())
    };
    Some(Table { caption: String::new(), columns, rows: of.into_iter().map(row).collect() })
}

/// How it was measured: what all records have in common, and where they differ each of it once.
pub(super) fn conditions(records: &[Record]) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for record in records {
        let told = facts::about(record).into_iter().filter(|fact| CONDITIONS.contains(&fact.name.as_str()));
        let source = record.source.as_ref().map(|source| clean(&format!("{}: {}", source.format, source.file)));
        for (name, value) in told.map(facts::Fact::titled).chain(source.map(|source| ("Source".to_owned(), source))) {
            // The day of each is no condition that it has in common with others.
            let day = format!("{}, ", facts::when(&record.created));
            let value = value.strip_prefix(&day).unwrap_or(&value).to_owned();
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => all.push((name, vec![value])),
            }
        }
    }
    let mut lines: Vec<(String, String)> = all.into_iter().map(|(name, values)| (name, listed(&values))).collect();
    lines.retain(|(_, words)| words != UNKNOWN);
    lines.extend(days(records).map(|days| ("When".to_owned(), days)));
    lines
}

/// The dates of the first and the last record.
fn days(records: &[Record]) -> Option<String> {
    let created = records.iter().map(|record| record.created.as_str()).filter(|created| !created.is_empty());
    let (first, last) = (facts::when(created.clone().min()?), facts::when(created.max()?));
    Some(if first == last { first } else { format!("{first} to {last}") })
}

/// Facts about the conditions of the measurement.
const CONDITIONS: [&str; 5] = ["bus", "host", "machine", "run", "manner"];
/// The value for an unknown bus or host.
const UNKNOWN: &str = "unknown";
/// Number of values of a fact that are listed.
const LISTED: usize = 6;

fn listed(values: &[String]) -> String {
    let more = values.len().saturating_sub(LISTED);
    let shown = values[..values.len() - more].join("; ");
    if more > 0 { format!("{shown}; and {more} more") } else { shown }
}
