//! The tables for machines: one row for each figure, with the result and the facts about the medium.

use assay_core::units::exact;

use super::cells::figure;
use super::columns::Plan;
use super::facts::OfUnit;
use super::media::{Model, Of, rows};
use super::scope::Scope;
use crate::document::{Data, number};
use crate::figure::percent;

/// The column of the confidence level.
const LEVEL: &str = "level";
const COLUMNS: [&str; 19] = [
    "load",
    "host",
    "model",
    "unit",
    "units",
    "metric",
    "value",
    "low",
    "high",
    LEVEL,
    "n",
    "at_least",
    "first_place",
    "temperature_celsius",
    "price",
    "last_check",
    "health",
    "computers",
    "labels",
];

/// A row for a model of several units has no unit. For such a model, only this row carries the mark of the first place.
pub(super) fn data(scopes: &[Scope<'_>], media: &[Model<'_>], plans: &[Plan]) -> Data {
    let rows = rows(media);
    let of_column = plans.iter().flat_map(|plan| &plan.columns).flat_map(|column| {
        let scope = &scopes[column.scope];
        rows.iter().filter_map(move |of| {
            let found = figure(scope, &column.load, *of)?;
            let facts = of.unit().map(|unit| OfUnit::of(&unit.records)).unwrap_or_default();
            let e = &found.estimate;
            let mut cells = vec![column.load.title(), scope.host.clone(), of.model().title.clone()];
            cells.extend([of.unit().map(|unit| unit.title.clone()).unwrap_or_default(), units(*of)]);
            cells.push(scope.quantity(&column.load).name().to_owned());
            cells.extend([exact(e.point), number(e.low), number(e.high), number(e.level), e.n.to_string()]);
            cells.extend([found.at_least.to_string(), found.mark.to_owned(), number(facts.celsius)]);
            cells.extend([facts.price, facts.check, facts.health, facts.computers, facts.labels]);
            Some(cells)
        })
    });
    Data { columns: COLUMNS.to_vec(), rows: of_column.collect() }
}

fn units(of: Of<'_>) -> String {
    if of.unit().is_some() { 1 } else { of.model().units.len() }.to_string()
}

/// The levels of all intervals in a table: ` at 95 %`; empty without intervals.
pub(super) fn levels(data: &Data) -> String {
    let column = data.columns.iter().position(|name| *name == LEVEL);
    let mut all: Vec<f64> = data.rows.iter().filter_map(|row| row.get(column?)?.parse().ok()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let words: Vec<String> = all.into_iter().map(percent).collect();
    if words.is_empty() { String::new() } else { format!(" at {}", words.join(" or ")) }
}
