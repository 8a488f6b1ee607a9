//! A run on many nodes, for a terminal: the finding, one table of nodes, the sums, and where to find the rest.

use assay_analysis::fleet::{Figure, FleetReport, LoadRow};
use assay_core::text::{clean, statement};
use assay_core::units::multiple;

use super::columns::{NodeColumns, star};
use super::words::count;
use super::{against, apart, document, slots, tables, words};
use crate::document::{Block, Document, Row, Table, left, right};

/// Up to this many nodes, all tables fit on a terminal or two.
pub const WHOLE: usize = 12;
/// Rows of the table; further nodes are counted.
const ROWS: usize = 28;

/// The run in few lines. Odd and failed nodes come first.
#[must_use]
pub fn brief(report: &FleetReport) -> Document {
    let mut blocks = vec![Block::Items(words::facts(report)), Block::Table(nodes(report))];
    let beyond = report.nodes.len().saturating_sub(ROWS);
    if beyond > 0 {
        blocks.push(Block::Text(format!("{} more in the full table.", count(beyond, "node"))));
    }
    blocks.extend(tables::sums(report).map(Block::Table));
    let apart = apart::items(report);
    if !apart.is_empty() {
        blocks.push(Block::Items(apart));
    }
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
    let first = NodeColumns::of(report);
    let mut columns = first.titles();
    columns.extend([right("to median"), left("under")]);
    let row = |at: usize| {
        let row = &report.nodes[at];
        let outcome = if row.complete { "recorded".to_owned() } else { statement(&row.outcome) };
        let mut cells = first.cells(row, outcome);
        let furthest = furthest(&report.loads, at);
        cells.push(furthest.map(|(_, figure)| multiple(figure.to_median)).unwrap_or_default().into());
        cells.push(furthest.map(|(load, _)| clean(&load.title)).unwrap_or_default().into());
        Row::Cells(cells)
    };
    Table {
        caption: format!("Each node where it is furthest from the median of all{}", star(report)),
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
