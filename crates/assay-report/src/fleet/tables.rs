//! Tables of nodes and of loads.

use assay_analysis::fleet::{
    FleetReport, FleetRow, Inseparable, LoadRow, NodeFigure, NodesTogether, PlaceEffect, PlacesUnder, SlotRow,
};
use assay_analysis::rank::SlotWarning;
use assay_core::text::{clean, statement};
use assay_core::units::{figures, fixed};

use super::words::{beside, count, node_name, node_names};
use crate::caveats::cases;
use crate::change::change;
use crate::document::{Block, Cell, Column, Data, Table, TableRow, left, number, right};
use crate::headline::{MB, in_words, interval, shown, unit};

/// Ratios nearer to the median than this are a point in the map of a terminal.
const NEAR: f64 = 0.05;

/// Unit and divisor of a load's figures.
fn unit_of_load(load: &LoadRow) -> (&'static str, f64) {
    unit(load.quantity, load.median.point)
}

/// The load with the unit of its figures, for a heading.
fn node_heading(load: &LoadRow) -> String {
    format!("{}, {}", clean(&load.title), unit_of_load(load).0)
}

/// Marks a figure of a node whose test area is smaller than that of others.
const SMALL: &str = "~";

/// Whether a figure has that mark.
fn has_small_area(report: &FleetReport) -> bool {
    report.loads.iter().flat_map(|load| &load.figures).flatten().any(|figure| figure.small_area)
}

/// All nodes with their figures. An odd figure has a star.
pub(super) fn nodes(report: &FleetReport) -> Table {
    let first = NodeColumns::from_report(report);
    let throttled = report.nodes.iter().any(|row| row.throttled.is_some());
    let mut columns = first.titles();
    columns.extend(throttled.then(|| left("throttled")));
    columns.extend(report.loads.iter().map(|load| right(node_heading(load))));
    let row = |(at, row): (usize, &FleetRow)| {
        let mut cells = first.cells(row, statement(&row.outcome));
        if throttled {
            cells.push(if row.throttled.is_some() { "yes" } else { "" }.into());
        }
        cells
            .extend(report.loads.iter().map(|load| node_figure(load, load.figures[at].as_ref(), is_invalid(load, at))));
        TableRow::Cells(cells)
    };
    Table {
        caption: format!("Each node, its figures and their ratio to the median of all{}", star_if_odd(report)),
        columns,
        rows: report.nodes.iter().enumerate().map(row).collect(),
    }
}

/// The sign of an invalid figure in the map.
const INVALID: &str = "!";

/// Whether a node measured a load, and its figure is invalid.
fn is_invalid(load: &LoadRow, at: usize) -> bool {
    load.invalid.contains(&at)
}

fn node_figure(load: &LoadRow, figure: Option<&NodeFigure>, invalid: bool) -> Cell {
    let Some(figure) = figure else { return if invalid { "invalid".into() } else { Cell::default() } };
    let bound = if figure.at_least { ">= " } else { "" };
    let mark = match figure {
        NodeFigure { odd: true, .. } => "*",
        NodeFigure { small_area: true, .. } => SMALL,
        _ => "",
    };
    let value = figures(figure.estimate.point / unit_of_load(load).1);
    Cell::with(format!("{bound}{value}"), format!("{}{mark}", beside(figure.to_median)))
}

/// The ratios to the median, which replace a picture.
pub(super) fn node_map(report: &FleetReport) -> Table {
    let cell = |load: &LoadRow, at: usize| -> Cell {
        match &load.figures[at] {
            None if is_invalid(load, at) => INVALID.into(),
            None => "-".into(),
            Some(figure) if figure.small_area => format!("{}{SMALL}", fixed(figure.to_median, 2)).into(),
            Some(figure) if figure.odd => format!("{}*", fixed(figure.to_median, 2)).into(),
            Some(figure) if (figure.to_median - 1.0).abs() < NEAR => ". ".into(),
            Some(figure) => format!("{} ", fixed(figure.to_median, 2)).into(),
        }
    };
    let row = |at: usize| {
        let name = Cell::from(node_name(report, at));
        TableRow::Cells(std::iter::once(name).chain(report.loads.iter().map(|load| cell(load, at))).collect())
    };
    let title = |load: &LoadRow| right(format!("{} ", clean(&load.title)));
    let has_invalid = report.loads.iter().any(|load| !load.invalid.is_empty());
    Table {
        caption: format!(
            "Nodes by workload: the ratio to the median; . is within 5 %, * is odd, - is not measured{}{}",
            if has_invalid { ", ! is invalid" } else { "" },
            if has_small_area(report) { ", ~ is of a smaller test area" } else { "" }
        ),
        columns: std::iter::once(left("node")).chain(report.loads.iter().map(title)).collect(),
        rows: (0..report.nodes.len()).map(row).collect(),
    }
}

/// Each load over all nodes.
pub(super) fn loads(report: &FleetReport) -> Table {
    let row = |load: &LoadRow| -> TableRow {
        let (unit, divisor) = unit_of_load(load);
        let at = |at: usize| {
            let value = load.figures[at].as_ref().map_or(0.0, |figure| figure.estimate.point);
            Cell::with(figures(value / divisor), node_name(report, at))
        };
        let median = &load.median;
        let ends =
            median.low.zip(median.high).map(|(low, high)| format!("({})", interval(low / divisor, high / divisor)));
        [
            Cell::from(clean(&load.title)),
            Cell::with(
                format!("{} {unit}", figures(median.point / divisor)),
                ends.unwrap_or_else(|| format!("(n={})", median.n)),
            ),
            interval(load.quartiles.0 / divisor, load.quartiles.1 / divisor).into(),
            at(load.least),
            at(load.largest),
        ]
        .into()
    };
    Table {
        caption: String::new(),
        columns: vec![left("load"), right("median (95 %)"), right("quartiles"), right("least"), right("largest")],
        rows: report.loads.iter().map(row).collect(),
    }
}

/// What all moved at the same time; nothing where they did not.
pub(super) fn sums(report: &FleetReport) -> Option<Table> {
    let known = || report.loads.iter().filter_map(|load| Some((load, load.together.as_ref()?)));
    let first = known().next()?.1;
    // Where all loads have the same basis, it is stated once.
    let basis = |sum: &NodesTogether| (sum.nodes, sum.of, sum.repeats, sum.left_out);
    let alike = known().all(|(_, sum)| basis(sum) == basis(first));
    let nodes = |sum: &NodesTogether| match sum.of {
        of if of == sum.nodes => of.to_string(),
        of => format!("{} of {of}", sum.nodes),
    };
    let row = |(load, sum): (&LoadRow, &NodesTogether)| {
        let shares = || sum.shares.iter().enumerate().filter_map(|(at, share)| Some((at, (*share)?)));
        let share = |found: Option<(usize, f64)>| {
            let words =
                |(at, share): (usize, f64)| Cell::with(format!("{} %", fixed(share * 100.0, 1)), node_name(report, at));
            found.map(words).unwrap_or_default()
        };
        let basis = [Cell::from(nodes(sum)), sum.repeats.into(), sum.left_out.into()];
        let mut cells = vec![Cell::from(clean(&load.title))];
        cells.extend(basis.into_iter().filter(|_| !alike));
        cells.push(in_words(&sum.bytes_per_second, MB, "MB/s").into());
        cells.push(share(shares().min_by(|a, b| a.1.total_cmp(&b.1))));
        cells.push(share(shares().max_by(|a, b| a.1.total_cmp(&b.1))));
        TableRow::Cells(cells)
    };
    let mut columns = vec![left("load")];
    if !alike {
        columns.extend([right("nodes"), right("repeats"), right("left out")]);
    }
    columns.extend([right("sum"), right("least share"), right("largest share")]);
    let caption = if alike {
        let left_out = match first.left_out {
            0 => String::new(),
            n => format!(" ({n} that did not overlap or had fewer nodes left out)"),
        };
        format!("{} nodes at once, {} of each load{left_out}", nodes(first), count(first.repeats, "repeat"))
    } else {
        "Repeats of nodes that overlapped".to_owned()
    };
    Some(Table { caption, columns, rows: known().map(row).collect() })
}

/// Each node's share of the sums.
pub(super) fn shares(report: &FleetReport) -> Table {
    let known: Vec<(&LoadRow, &Vec<Option<f64>>)> =
        report.loads.iter().filter_map(|load| Some((load, &load.together.as_ref()?.shares))).collect();
    let row = |at: usize| {
        let of = |(_, shares): &(&LoadRow, &Vec<Option<f64>>)| {
            Cell::from(shares[at].map(|share| format!("{} %", fixed(share * 100.0, 1))).unwrap_or_default())
        };
        TableRow::Cells(std::iter::once(Cell::from(node_name(report, at))).chain(known.iter().map(of)).collect())
    };
    Table {
        caption: String::new(),
        columns: std::iter::once(left("node")).chain(known.iter().map(|(load, _)| right(clean(&load.title)))).collect(),
        rows: (0..report.nodes.len()).map(row).collect(),
    }
}

/// One row a node and load; one for a node without a figure.
pub(super) fn data(report: &FleetReport) -> Data {
    let columns = vec![
        "run",
        "node",
        "outcome",
        "record",
        "model",
        "unit",
        "slot",
        "hottest_celsius",
        "throttled",
        "load",
        "metric",
        "value",
        "low",
        "high",
        "level",
        "n",
        "ratio_to_median",
        "odd",
        "share_of_sum",
    ];
    let mut rows = Vec::new();
    for (at, row) in report.nodes.iter().enumerate() {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let head = vec![
            report.run.clone(),
            row.node.clone(),
            row.outcome.clone(),
            text(&row.record),
            text(&row.model),
            text(&row.unit),
            text(&row.slot),
            number(row.hottest_celsius),
            row.throttled.is_some().to_string(),
        ];
        let before = rows.len();
        for load in &report.loads {
            let Some(figure) = &load.figures[at] else { continue };
            let e: &assay_core::estimate::Estimate = &figure.estimate;
            let share = load.together.as_ref().and_then(|sum| sum.shares[at]);
            rows.push(
                head.iter()
                    .cloned()
                    .chain([
                        load.title.clone(),
                        load.quantity.name().to_owned(),
                        number(Some(e.point)),
                        number(e.low),
                        number(e.high),
                        number(e.level),
                        e.n.to_string(),
                        number(Some(figure.to_median)),
                        figure.odd.to_string(),
                        number(share),
                    ])
                    .collect(),
            );
        }
        if rows.len() == before {
            let empty = std::iter::repeat_n(String::new(), columns.len() - head.len());
            rows.push(head.into_iter().chain(empty).collect());
        }
    }
    Data { columns, rows }
}

/// An estimate as a cell: the figure, and its interval in small letters.
pub(super) fn estimate(e: &assay_core::estimate::Estimate, divisor: f64) -> Cell {
    let shown = shown(e, divisor);
    Cell::with(shown.value, shown.spread)
}

// The first columns of each table of nodes: who a node is, and how it ended.

/// The columns of facts about nodes that a report has: those with a known value for any node.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeColumns {
    slots: bool,
    heat: bool,
}

impl NodeColumns {
    pub(super) fn from_report(report: &FleetReport) -> Self {
        let some = |holds: fn(&FleetRow) -> bool| report.nodes.iter().any(holds);
        Self { slots: some(|row| row.slot.is_some()), heat: some(|row| row.hottest_celsius.is_some()) }
    }

    pub(super) fn titles(self) -> Vec<Column> {
        let mut columns = vec![left("node"), left("unit")];
        columns.extend(self.slots.then(|| left("slot")));
        columns.push(left("outcome"));
        columns.extend(self.heat.then(|| right("hottest")));
        columns
    }

    /// The values of a node in these columns. The outcome is given as the table shows it.
    pub(super) fn cells(self, row: &FleetRow, outcome: String) -> Vec<Cell> {
        let text = |value: &Option<String>| Cell::from(value.as_deref().map(clean).unwrap_or_default());
        let mark = if row.odd { "*" } else { "" };
        let mut cells = vec![Cell::from(format!("{}{mark}", clean(&row.node))), text(&row.unit)];
        cells.extend(self.slots.then(|| text(&row.slot)));
        cells.push(outcome.into());
        let heat = || row.hottest_celsius.map(|value| format!("{} °C", fixed(value, 0))).unwrap_or_default();
        cells.extend(self.heat.then(|| heat().into()));
        cells
    }
}

/// What the star in these columns says, for a caption.
pub(super) fn star_if_odd(report: &FleetReport) -> &'static str {
    if report.nodes.iter().any(|row| row.odd) { "; * is odd" } else { "" }
}

// Slots as text and a table.

/// All parts about slots.
pub(super) fn slot_blocks(report: &FleetReport) -> Vec<Block> {
    let slots = &report.slots;
    let mut blocks = vec![Block::Heading("Slots".to_owned())];
    if !slots.rows.is_empty() {
        blocks.push(Block::Table(slots_table(report)));
    }
    blocks.push(Block::Text(slot_effect(report)));
    blocks
}

fn slots_table(report: &FleetReport) -> Table {
    let row = |slot: &SlotRow| -> TableRow {
        [
            Cell::from(clean(&slot.slot)),
            node_names(report, &slot.nodes).into(),
            slot.hottest_celsius.map(|value| format!("{} °C", fixed(value, 0))).unwrap_or_default().into(),
            format!("{} of {}", slot.throttled, slot.nodes.len()).into(),
        ]
        .into()
    };
    Table {
        caption: String::new(),
        columns: vec![left("slot"), left("nodes"), right("hottest"), right("throttled")],
        rows: report.slots.rows.iter().map(row).collect(),
    }
}

pub(super) fn slot_effect(report: &FleetReport) -> String {
    match &report.slots.effect {
        PlaceEffect::Separated { at, loads, runs } if at.is_empty() => format!(
            "Units changed places over {}: no place deviates under {} (99 % over all, and more than 3 %).",
            count(*runs, "run"),
            if *loads == 1 { "the workload".to_owned() } else { format!("any of {loads} workloads") }
        ),
        PlaceEffect::Separated { at, runs, .. } => {
            let place = |slot: &SlotWarning| format!("{} {}", clean(&slot.slot), change(slot.ratio, None));
            let under = |under: &PlacesUnder| {
                let each: Vec<String> = under.slots.iter().map(place).collect();
                // The test is of all places.
                let chance = under.slots.first().map(|slot| format!(" (by chance in {})", cases(slot.p_value)));
                format!("under {} {}{}", clean(&under.title), each.join(", "), chance.unwrap_or_default())
            };
            let each: Vec<String> = at.iter().map(under).collect();
            format!(
                "Units changed places over {}, and places differ, whichever unit was there. Off the median place are {}.",
                count(*runs, "run"),
                each.join("; ")
            )
        }
        PlaceEffect::Inseparable { why, swap } => {
            let why = match why {
                Inseparable::NoSwap => "each unit was measured in one place",
                Inseparable::Confounded => "places and rounds changed together",
                Inseparable::TooFewRounds => "another round is needed to see by how much figures vary",
                Inseparable::Unknown => "records name neither a slot nor a host",
            };
            let swap = swap.map(|(suspect, other)| {
                format!(
                    "; swap the units of {} and {} and measure again, with --label slot=… where a host has several",
                    node_name(report, suspect),
                    node_name(report, other)
                )
            });
            format!("Unit and slot cannot be separated: {why}{}.", swap.unwrap_or_default())
        }
    }
}
