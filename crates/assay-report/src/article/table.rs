//! The tables of figures.

use assay_analysis::rank::{LoadRanking, ModelRow};
use assay_analysis::{Load, Quantity, Reading, admit, estimate, held_by_bus};
use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::{capitalised, clean};
use assay_core::units::{counted, exact, figures};

use super::media::{
    LoadColumn, Medium, Model, Scope, TablePlan, Unit, computers, load_block, load_kind, mark_of, medium_rows,
};
use crate::document::{Cell, Column, Data, Table, TableRow, left, number, right};
use crate::facts;
use crate::headline::{MB, interval, latency_unit, percent};
use crate::verdict::checked;

/// What all tables are made of.
pub(super) struct Figures<'a> {
    pub(super) scopes: &'a [Scope<'a>],
    pub(super) media: &'a [Model<'a>],
    /// Whether each figure is a single value, which is then stated once.
    pub(super) single: bool,
}

impl Figures<'_> {
    fn figure(&self, column: &LoadColumn, of: Medium<'_>) -> Option<Figure> {
        figure_of(&self.scopes[column.scope], &column.load, of)
    }

    /// What a column is shown in, by its first figure.
    fn shown(&self, column: &LoadColumn, figures: &[Option<Figure>]) -> Shown {
        let like = figures.iter().flatten().next().map_or(1.0, |figure| figure.estimate.point);
        Shown::for_load(&column.load, self.scopes[column.scope].quantity(&column.load), like)
    }

    /// `4 KiB, IOPS`.
    fn titled(&self, column: &LoadColumn, shown: Shown) -> String {
        let what = match self.scopes[column.scope].quantity(&column.load) {
            Quantity::Iops | Quantity::BytesPerSecond => shown.unit.to_owned(),
            // Its unit says it already.
            Quantity::DurableBytesPerSecond => shown.unit.to_owned(),
            other => format!("{} {}", other.title(), shown.unit),
        };
        format!("{}, {what}", column.title)
    }

    /// The table of a plan: a row for each medium that has a figure in it.
    pub(super) fn table(&self, plan: &TablePlan) -> Table {
        let all = medium_rows(self.media);
        let mut columns = vec![left("medium")];
        let mut cells: Vec<Vec<Cell>> = all.iter().map(|of| vec![medium_name(*of)]).collect();
        let mut filled = vec![false; all.len()];
        for column in &plan.columns {
            let figures: Vec<Option<Figure>> = all.iter().map(|of| self.figure(column, *of)).collect();
            let shown = self.shown(column, &figures);
            columns.push(right(self.titled(column, shown)));
            for (at, figure) in figures.iter().enumerate() {
                filled[at] |= figure.is_some();
                cells[at].push(figure_cell(figure.as_ref(), shown, !self.single));
            }
        }
        let rows = cells.into_iter().zip(filled).filter(|(_, filled)| *filled);
        Table { caption: plan.title.clone(), columns, rows: rows.map(|(cells, _)| TableRow::Cells(cells)).collect() }
    }

    /// All loads of one medium: rows are sizes of blocks, columns kinds of loads, as nothing stands beside it. `None`
    /// where there are several media, or where sizes do not vary.
    pub(super) fn turned(&self, plans: &[TablePlan]) -> Option<Table> {
        let [model] = self.media else { return None };
        let [unit] = model.units.as_slice() else { return None };
        let columns: Vec<&LoadColumn> = plans.iter().flat_map(|plan| &plan.columns).collect();
        let mut kinds: Vec<String> = Vec::new();
        let mut blocks: Vec<(u64, String)> = Vec::new();
        for column in &columns {
            let (kind, block) = (load_kind(&column.load), (column.load.block_bytes, load_block(&column.load)));
            kinds.extend(Some(kind).filter(|kind| !kinds.contains(kind)));
            blocks.extend(Some(block).filter(|block| !blocks.contains(block)));
        }
        if kinds.len() < 2 || blocks.len() < 2 || kinds.len() > 8 {
            return None;
        }
        blocks.sort();
        let cells = |(_, size): &(u64, String)| {
            let of = |kind: &String| {
                let found = columns.iter().find(|c| load_kind(&c.load) == *kind && load_block(&c.load) == *size);
                let Some(column) = found else { return Cell::default() };
                let figure = self.figure(column, Medium::One(model, unit));
                let shown = self.shown(column, std::slice::from_ref(&figure));
                let cell = figure_cell(figure.as_ref(), shown, !self.single);
                Cell { value: format!("{} {}", cell.value, shown.unit), ..cell }
            };
            TableRow::Cells(std::iter::once(Cell::from(size.as_str())).chain(kinds.iter().map(of)).collect())
        };
        let rows = blocks.iter().map(cells).collect();
        let titles = kinds.iter().map(|kind| right(capitalised(kind)));
        let columns = std::iter::once(left("block")).chain(titles).collect();
        Some(Table { caption: String::new(), columns, rows })
    }
}

/// The name of a row's medium. If the unit is unknown, the name has the node instead.
fn medium_name(of: Medium<'_>) -> Cell {
    match of {
        Medium::Whole(model) => Cell::with(&model.title, format!("({})", counted(model.units.len(), "unit"))),
        Medium::One(model, unit) if model.units.len() == 1 => {
            let title = match (unit.title.as_str(), unit.is_node) {
                ("", _) => String::new(),
                (title, true) => format!("(node {title})"),
                (title, false) => format!("(unit {title})"),
            };
            Cell::with(&model.title, title)
        }
        Medium::One(model, unit) if unit.is_node => Cell::with(format!("{} · {}", model.title, unit.title), ""),
        Medium::One(model, unit) => {
            let title = if unit.title.is_empty() { "without a name" } else { &unit.title };
            Cell::with(format!("{}, unit {title}", model.title), "")
        }
    }
}

// The figure of a medium under a load.

/// A figure with its mark in the ranking.
pub(super) struct Figure {
    pub(super) estimate: Estimate,
    /// The bus was reached: the medium is at least this fast.
    pub(super) at_least: bool,
    /// The mark of the first place: a word of [`super::media`]. Empty for other places, and for a single unit of a
    /// model with several units.
    pub(super) mark: &'static str,
}

/// The unit in which figures are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shown {
    pub(super) unit: &'static str,
    /// The divisor for this unit.
    pub(super) divisor: f64,
}

/// The block size for which people know the operations per second. For larger blocks they know the rate.
const USUAL_BLOCK: u64 = 4096;

impl Shown {
    /// The unit for a load. Operations of blocks of one size are shown as a rate.
    pub(super) fn for_load(load: &Load, quantity: Quantity, like: f64) -> Self {
        let (unit, divisor) = match quantity.unit() {
            Some(_) if quantity == Quantity::Iops && load.blocks.is_empty() && load.block_bytes > USUAL_BLOCK => {
                ("MB/s", MB / load.block_bytes as f64)
            }
            Some(own) => own,
            None => latency_unit(like),
        };
        Self { unit, divisor }
    }
}

/// The figure of a row; `None` where no figure counts.
fn figure_of(scope: &Scope<'_>, load: &Load, of: Medium<'_>) -> Option<Figure> {
    let ranking = scope.ranking(load);
    let row = ranking.and_then(|ranking| ranking.models.iter().find(|row| row.model == of.model().key));
    match of {
        Medium::Whole(_) => whole_model(ranking?, row?),
        Medium::One(model, unit) => one_unit(scope, load, (model, unit), row).map(|figure| match (ranking, row) {
            // A model of several units gets its mark in its own row.
            (Some(ranking), Some(row)) if model.units.len() == 1 => Figure { mark: mark_of(ranking, row), ..figure },
            _ => figure,
        }),
    }
}

fn whole_model(ranking: &LoadRanking, row: &ModelRow) -> Option<Figure> {
    Some(Figure { estimate: row.estimate.clone()?, at_least: row.at_ceiling, mark: mark_of(ranking, row) })
}

/// The figure of a unit: of one record as that has it, of several as the ranking joins them.
fn one_unit(
    scope: &Scope<'_>,
    load: &Load,
    (model, unit): (&Model<'_>, &Unit<'_>),
    row: Option<&ModelRow>,
) -> Option<Figure> {
    let quantity = scope.quantity(load);
    let own = unit.records.iter().copied().filter(|record| scope.holds(record));
    let readings: Vec<Reading<'_>> = own.filter_map(|record| admit(record, load, quantity).0).collect();
    let ranked = row.and_then(|row| row.units.iter().find(|known| known.unit == unit.key));
    debug_assert!(row.is_none_or(|row| row.model == model.key));
    let last = readings.last()?;
    let held = ranked.map_or_else(|| held_by_bus(last.record, last.measurement), |unit| unit.at_ceiling);
    let estimate = match (readings.as_slice(), ranked) {
        ([_, _, ..], Some(joined)) => Estimate::bare(joined.value, joined.runs, "geometric mean over records"),
        _ => estimate(last.measurement, quantity).cloned().or_else(|| mean(&last.values))?,
    };
    Some(Figure { estimate, at_least: held || last.measurement.instrument_limited, mark: "" })
}

/// Of a figure that the record does not hold as such, as some percentiles.
fn mean(values: &[f64]) -> Option<Estimate> {
    let n = u32::try_from(values.len()).ok().filter(|n| *n > 0)?;
    Some(Estimate::bare(values.iter().sum::<f64>() / f64::from(n), n, "mean of the repeats"))
}

/// The figure as a table cell. `n` is left out where it is stated once for all figures.
pub(super) fn figure_cell(figure: Option<&Figure>, shown: Shown, with_n: bool) -> Cell {
    let Some(Figure { estimate, at_least, mark }) = figure else { return Cell::default() };
    let bound = if *at_least { "≥ " } else { "" };
    let point = figures(estimate.point / shown.divisor);
    let ends = match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => Some(format!("({})", interval(low / shown.divisor, high / shown.divisor))),
        (Some(low), None) if !at_least => Some(format!("(≥ {})", figures(low / shown.divisor))),
        _ => None,
    };
    let n = with_n.then(|| format!("n={}", estimate.n));
    let small: Vec<String> = [ends, n].into_iter().flatten().collect();
    Cell { mark, ..Cell::with(format!("{bound}{point}"), small.join(" ")) }
}

// The facts about each medium other than its figures.

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
    pub(super) fn from_records(records: &[&Observation]) -> Self {
        let labels = records.iter().flat_map(|record| &record.labels);
        let own = labels.filter(|(key, _)| !TOLD.contains(&key.as_str()));
        let last = |text: &dyn Fn(&Observation) -> String| {
            let mut newest: Vec<&&Observation> = records.iter().collect();
            newest.sort_by(|a, b| (&b.created, &b.id).cmp(&(&a.created, &a.id)));
            newest.into_iter().map(|record| text(record)).find(|text| !text.is_empty()).unwrap_or_default()
        };
        let check =
            |record: &Observation| record.verification.as_ref().map(|v| checked(v).to_owned()).unwrap_or_default();
        Self {
            celsius: records.iter().filter_map(|record| record.medium_celsius).reduce(f64::max),
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

fn health(record: &Observation) -> String {
    if let Some(words) = crate::health::words(&record.medium) {
        return words;
    }
    let figures = record.medium.health.iter().filter(|(key, _)| !ORIGIN.contains(&key.as_str()));
    figures
        .map(|(key, value)| format!("{} {}", clean(key).replace('_', " "), clean(value)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A column that is there where a unit has something in it.
type Known = (fn() -> Column, fn(&OfUnit) -> String);
const FACT_COLUMNS: [Known; 6] = [
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
pub(super) fn facts_table(media: &[Model<'_>]) -> Option<Table> {
    let of: Vec<(Cell, OfUnit)> = medium_rows(media)
        .into_iter()
        .filter_map(|of| Some((of, of.unit()?)))
        .map(|(of, unit)| (medium_name(Medium::One(of.model(), unit)), OfUnit::from_records(&unit.records)))
        .collect();
    let differs = of.iter().any(|(_, facts)| facts.computers != of[0].1.computers);
    let has =
        |at: &usize| of.iter().any(|(_, facts)| !FACT_COLUMNS[*at].1(facts).is_empty()) && (*at != COMPUTER || differs);
    let shown: Vec<usize> = (0..FACT_COLUMNS.len()).filter(has).collect();
    if shown.is_empty() {
        return None;
    }
    let columns = std::iter::once(left("medium")).chain(shown.iter().map(|at| FACT_COLUMNS[*at].0())).collect();
    let row = |(name, facts): (Cell, OfUnit)| {
        let cells = shown.iter().map(|at| Cell::from(FACT_COLUMNS[*at].1(&facts)));
        TableRow::Cells(std::iter::once(name).chain(cells).collect())
    };
    Some(Table { caption: String::new(), columns, rows: of.into_iter().map(row).collect() })
}

/// How it was measured: what all records have in common, and where they differ each of it once.
pub(super) fn conditions_table(records: &[Record]) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for record in records {
        let told = facts::about(record).into_iter().filter(|fact| CONDITIONS.contains(&fact.name.as_str()));
        let source = record.origin.printed_in().map(|(format, name)| clean(&format!("{format}: {name}")));
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

// The tables for machines: one row for each figure, with the result and the facts about the medium.

/// The column of the confidence level.
const LEVEL: &str = "level";
const FIGURE_COLUMNS: [&str; 19] = [
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
pub(super) fn figure_data(scopes: &[Scope<'_>], media: &[Model<'_>], plans: &[TablePlan]) -> Data {
    let rows = medium_rows(media);
    let of_column = plans.iter().flat_map(|plan| &plan.columns).flat_map(|column| {
        let scope = &scopes[column.scope];
        rows.iter().filter_map(move |of| {
            let found = figure_of(scope, &column.load, *of)?;
            let facts = of.unit().map(|unit| OfUnit::from_records(&unit.records)).unwrap_or_default();
            let e = &found.estimate;
            let mut cells = vec![column.load.title(), scope.host.clone(), of.model().title.clone()];
            cells.extend([of.unit().map(|unit| unit.title.clone()).unwrap_or_default(), unit_count(*of)]);
            cells.push(scope.quantity(&column.load).name().to_owned());
            cells.extend([exact(e.point), number(e.low), number(e.high), number(e.level), e.n.to_string()]);
            cells.extend([found.at_least.to_string(), found.mark.to_owned(), number(facts.celsius)]);
            cells.extend([facts.price, facts.check, facts.health, facts.computers, facts.labels]);
            Some(cells)
        })
    });
    Data { columns: FIGURE_COLUMNS.to_vec(), rows: of_column.collect() }
}

fn unit_count(of: Medium<'_>) -> String {
    if of.unit().is_some() { 1 } else { of.model().units.len() }.to_string()
}

/// The levels of all intervals in a table: ` at 95 %`; empty without intervals.
pub(super) fn confidence_levels(data: &Data) -> String {
    let column = data.columns.iter().position(|name| *name == LEVEL);
    let mut all: Vec<f64> = data.rows.iter().filter_map(|row| row.get(column?)?.parse().ok()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let words: Vec<String> = all.into_iter().map(percent).collect();
    if words.is_empty() { String::new() } else { format!(" at {}", words.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use assay_core::observation::ObservedOrigin;
    use assay_core::origin::Source;

    use super::super::media::media;
    use super::*;

    #[test]
    fn a_node_names_the_row_where_no_unit_is_known() {
        let printed = assay_analysis::published("").unwrap().remove(0);
        let on = |node: &str| {
            let mut record = Observation { origin: ObservedOrigin::Imported(Source::default()), ..printed.clone() };
            record.medium.unit = None;
            record.labels = [("model", "CardX"), ("fleet", "night"), ("node", node)]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into();
            record
        };
        let names = |records: &[Observation]| {
            let media = media(records, None);
            medium_rows(&media).into_iter().map(|row| medium_name(row).value).collect::<Vec<_>>()
        };
        assert_eq!(names(&[on("node5"), on("node6")]), ["CardX", "CardX · node5", "CardX · node6"]);
    }
}
