//! The tables for machines: a row for each figure, with what is found and what is known of the medium.

use assay_core::units::exact;

use super::cells::figure;
use super::columns::Plan;
use super::facts::OfUnit;
use super::media::{Model, Of, rows};
use super::scope::Scope;
use crate::document::{Data, number};

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
    "level",
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

/// Rows of models of several units have no unit, and of these alone it is told that they are the best.
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
