//! A run on many nodes for somebody at a terminal: the finding, one table of nodes, the sums, and where the rest is.

use assay_analysis::fleet::{Figure, FleetReport, LoadRow};
use assay_core::text::{clean, statement};
use assay_core::units::fixed;

use super::words::{count, times};
use super::{against, document, slots, tables, words};
use crate::document::{Block, Cell, Document, Row, Table, left, right};

/// Of so many nodes all tables fit on a terminal or two.
pub const WHOLE: usize = 12;
/// Rows of the table; further nodes are counted.
const ROWS: usize = 28;

/// What the run says in few lines: nodes that are odd or failed come first.
#[must_use]
pub fn brief(report: &FleetReport) -> Document {
    let mut blocks = vec![Block::Items(words::facts(report)), Block::Table(nodes(report))];
    let beyond = report.nodes.len().saturating_sub(ROWS);
    if beyond > 0 {
        blocks.push(Block::Text(format!("{} more in the whole table.", count(beyond, "node"))));
    }
    blocks.extend(tables::sums(report).map(Block::Table));
    if let Some(other) = &report.against {
        blocks.push(Block::Text(against::finding(other)));
    }
    blocks.push(Block::Text(slots::effect(report)));
    let excluded = words::excluded(report);
    if !excluded.is_empty() {
        blocks.push(Block::Items(excluded));
    }
    let run = clean(&report.run);
    blocks.push(Block::Text(format!("Each figure: assay fleet report {run} --all, or -o FILE.html for a page.")));
    Document { blocks, ..document(report) }
}

/// A line a node, with the load under which it is furthest from the median of all.
fn nodes(report: &FleetReport) -> Table {
    let mut order: Vec<usize> = (0..report.nodes.len()).collect();
    order.sort_by_key(|at| (!report.nodes[*at].odd, report.nodes[*at].complete));
    let some = |holds: fn(&assay_analysis::fleet::FleetRow) -> bool| report.nodes.iter().any(holds);
    let (slots, heat) = (some(|row| row.slot.is_some()), some(|row| row.hottest_celsius.is_some()));
    let mut columns = vec![left("node"), left("unit")];
    if slots {
        columns.push(left("slot"));
    }
    columns.push(left("outcome"));
    if heat {
        columns.push(right("hottest"));
    }
    columns.extend([right("to median"), left("under")]);
    let row = |at: usize| {
        let row = &report.nodes[at];
        let text = |value: &Option<String>| Cell::from(value.as_deref().map(clean).unwrap_or_default());
        let mut cells =
            vec![Cell::from(format!("{}{}", clean(&row.node), if row.odd { "*" } else { "" })), text(&row.unit)];
        if slots {
            cells.push(text(&row.slot));
        }
        cells.push(if row.complete { "recorded".to_owned() } else { statement(&row.outcome) }.into());
        if heat {
            cells.push(row.hottest_celsius.map(|value| format!("{} °C", fixed(value, 0))).unwrap_or_default().into());
        }
        let furthest = furthest(&report.loads, at);
        cells.push(furthest.map(|(_, figure)| times(figure.to_median)).unwrap_or_default().into());
        cells.push(furthest.map(|(load, _)| clean(&load.title)).unwrap_or_default().into());
        Row::Cells(cells)
    };
    let odd = if some(|row| row.odd) { "; * is odd" } else { "" };
    Table {
        caption: format!("Each node where it is furthest from the median of all{odd}"),
        columns,
        rows: order.into_iter().take(ROWS).map(row).collect(),
    }
}

/// The load under which a node is furthest from the median; one under which it is odd before others.
fn furthest(loads: &[LoadRow], at: usize) -> Option<(&LoadRow, &Figure)> {
    let off = |figure: &Figure| (figure.odd, figure.to_median.max(f64::MIN_POSITIVE).ln().abs());
    let known = loads.iter().filter_map(|load| Some((load, load.figures[at].as_ref()?)));
    known.max_by(|(_, a), (_, b)| {
        let (a, b) = (off(a), off(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}
