//! A run on many nodes as a document: odd nodes, each node, each load, the sums, and the limits that nodes share.

use assay_analysis::compare::{PairVerdict, WhyUnknown};
use assay_analysis::fleet::{Against, FleetReport, FleetRow, LoadLoss, LoadRow, NodeFigure};
use assay_core::text::{capitalised, clean, statement};
use assay_core::units::multiple;
use assay_pictures as pictures;

use super::tables::{NodeColumns, estimate, star_if_odd};
use super::words::{count, node_name, node_names, ratio};
use super::{tables, words};
use crate::caveats::needed;
use crate::change::change;
use crate::document::{Block, Cell, Document, Table, TableRow, left, right};
use crate::headline::MB;

/// Everything that the run says.
#[must_use]
pub fn document(report: &FleetReport) -> Document {
    let mut blocks = vec![Block::Items(words::facts(report))];
    blocks.push(Block::Heading("Nodes".to_owned()));
    if !report.loads.is_empty() {
        blocks.push(Block::Picture(Box::new(pictures::nodes(report))));
        blocks.push(Block::Plain(tables::node_map(report)));
    }
    blocks.push(Block::Table(tables::nodes(report)));
    if !report.loads.is_empty() {
        blocks.push(Block::Heading("Workloads over all nodes".to_owned()));
        blocks.push(Block::Picture(Box::new(pictures::spread(report))));
        blocks.push(Block::Table(tables::loads(report)));
    }
    let (sums, apart) = (tables::sums(report), words::apart_items(report));
    if sums.is_some() || !apart.is_empty() {
        blocks.push(Block::Heading("At the same time".to_owned()));
    }
    let summed = sums.is_some();
    blocks.extend(sums.map(Block::Table));
    if !apart.is_empty() {
        blocks.push(Block::Items(apart));
    }
    if summed {
        blocks.push(Block::Folded {
            title: "The share of each node in the sums".to_owned(),
            blocks: vec![Block::Table(tables::shares(report))],
        });
    }
    if let Some(other) = &report.against {
        blocks.extend(against_blocks(report, other));
    }
    blocks.extend(tables::slot_blocks(report));
    let excluded = words::excluded(report);
    if !excluded.is_empty() {
        blocks.push(Block::Heading("Left out".to_owned()));
        blocks.push(Block::Items(excluded));
    }
    Document {
        kind: "Run on a cluster",
        about: format!("Run {} on {}", clean(&report.run), words::count(report.nodes.len(), "node")),
        finding: words::finding(report),
        blocks,
        data: tables::data(report),
    }
}

// A run on many nodes, for a terminal: the finding, one table of nodes, the sums, and where to find the rest.

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
    let apart = words::apart_items(report);
    if !apart.is_empty() {
        blocks.push(Block::Items(apart));
    }
    if let Some(other) = &report.against {
        blocks.push(Block::Text(against_finding(other)));
    }
    blocks.push(Block::Text(tables::slot_effect(report)));
    let excluded = words::excluded(report);
    if !excluded.is_empty() {
        blocks.push(Block::Items(excluded));
    }
    let run = clean(&report.run);
    blocks.push(Block::Text(format!("All figures: assay fleet report {run} --all, or -o FILE.html for a page.")));
    Document { blocks, ..document(report) }
}

/// A line a node, with the load under which it is furthest from the median of all.
fn nodes(report: &FleetReport) -> Table {
    let mut order: Vec<usize> = (0..report.nodes.len()).collect();
    let ended_well = |row: &FleetRow| row.complete && !row.medium_failed;
    // Of two groups, the lower one has the first rows.
    let is_low = |at: &usize| report.odd.groups.iter().any(|two| two.low.contains(at));
    order.sort_by_key(|at| (!report.nodes[*at].odd, ended_well(&report.nodes[*at]), !is_low(at)));
    let first = NodeColumns::from_report(report);
    let mut columns = first.titles();
    columns.extend([right("to median"), left("under")]);
    let row = |at: usize| {
        let row = &report.nodes[at];
        let outcome = if ended_well(row) { "recorded".to_owned() } else { statement(&row.outcome) };
        let mut cells = first.cells(row, outcome);
        let furthest = furthest(&report.loads, at);
        cells.push(furthest.map(|(_, figure)| multiple(figure.to_median)).unwrap_or_default().into());
        cells.push(furthest.map(|(load, _)| clean(&load.title)).unwrap_or_default().into());
        TableRow::Cells(cells)
    };
    Table {
        caption: format!("Each node under the load where it is furthest from the median{}", star_if_odd(report)),
        columns,
        rows: order.into_iter().take(ROWS).map(row).collect(),
    }
}

/// The load under which a node is furthest from the median; one under which it is odd before others.
fn furthest(loads: &[LoadRow], at: usize) -> Option<(&LoadRow, &NodeFigure)> {
    let off = |figure: &NodeFigure| (figure.odd, figure.to_median.max(f64::MIN_POSITIVE).ln().abs());
    let known = loads.iter().filter_map(|load| Some((load, load.figures[at].as_ref()?)));
    known.max_by(|(_, a), (_, b)| {
        let (a, b) = (off(a), off(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

// The comparison with a run where fewer of the same nodes measured at a time, as text and tables.

/// All parts of the comparison.
fn against_blocks(report: &FleetReport, against: &Against) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("At once and one after the other".to_owned())];
    blocks.push(Block::Text(against_finding(against)));
    let mut notes: Vec<(String, String)> = Vec::new();
    if !against.moved.is_empty() {
        let words =
            format!("{} had another unit or slot there and are not compared", node_names(report, &against.moved));
        notes.push(("moved".to_owned(), words));
    }
    if !against.missing.is_empty() {
        let words = format!("{} have no record of the same suite there", node_names(report, &against.missing));
        notes.push(("not there".to_owned(), words));
    }
    if !against.loads.is_empty() {
        blocks.push(Block::Table(against_table(report.mode.as_deref(), against)));
    }
    notes.extend(against.loads.iter().filter_map(|loss| {
        let needed = loss.pair.needed.as_ref().map(needed)?;
        Some(("cannot tell".to_owned(), format!("{}: {needed}", clean(&loss.title))))
    }));
    if !notes.is_empty() {
        blocks.push(Block::Items(notes));
    }
    if !against.loads.is_empty() {
        blocks.push(Block::Folded {
            title: "Node by node, each unit with itself".to_owned(),
            blocks: vec![Block::Table(nodes_against(report, against))],
        });
    }
    blocks
}

/// The loss through limits that the nodes share.
fn against_finding(against: &Against) -> String {
    let other = format!(
        "run {} ({} at a time; here {})",
        clean(&against.run),
        count(against.at_a_time as usize, "node"),
        against.own_at_a_time
    );
    if let Some(refusal) = &against.refusal {
        return format!("Not compared with {other}: {}.", statement(&refusal.to_string()));
    }
    let slower: Vec<&LoadLoss> = against.loads.iter().filter(|loss| loss.pair.verdict == PairVerdict::Worse).collect();
    let same = against.loads.iter().filter(|loss| loss.pair.verdict == PairVerdict::Same).count();
    let with = format!("Compared with {other}, {}, each unit with itself", count(against.nodes.len(), "node"));
    // The difference points to a limit that nodes share only if fewer nodes measured at a time in the reference.
    let shared = |words: &'static str| if against.own_at_a_time > against.at_a_time { words } else { "" };
    let furthest = slower.iter().max_by(|a, b| a.pair.ratio.ln().abs().total_cmp(&b.pair.ratio.ln().abs()));
    match furthest {
        Some(worst) => format!(
            "{with}: slower under {} of {}, most under {}: {}.{}",
            slower.len(),
            count(against.loads.len(), "load"),
            clean(&worst.title),
            in_words(worst),
            shared(" The nodes share a limit there: power, a hub, an uplink or a volume.")
        ),
        None if same == against.loads.len() => {
            let limits = shared(" Nothing that they share limits them.");
            format!("{with}: as fast under {}.{limits}", count(same, "load"))
        }
        None => format!("{with}: slower under no load; the same under {same} of {}.", against.loads.len()),
    }
}

/// `−30 % (−31 … −29 %)`.
fn in_words(loss: &LoadLoss) -> String {
    change(loss.pair.ratio, loss.pair.low.zip(loss.pair.high))
}

fn against_word(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Better => "faster",
        PairVerdict::Worse => "slower",
        PairVerdict::Same => "same",
        PairVerdict::BusTie => "both at the bus",
        PairVerdict::CannotTell(WhyUnknown::BusHides) => "the bus hides it",
        PairVerdict::CannotTell(_) => "cannot tell",
    }
}

/// How nodes measured on both sides: `Simultaneous / staggered`.
fn sides(own: Option<&str>, against: &Against) -> String {
    let own = own.map_or_else(|| "this run".to_owned(), clean);
    format!("{} / {}", capitalised(&own), there(against))
}

/// How nodes measured in the other run.
fn there(against: &Against) -> String {
    against.mode.as_deref().map_or_else(|| "there".to_owned(), clean)
}

fn against_table(own: Option<&str>, against: &Against) -> Table {
    let row = |loss: &LoadLoss| -> TableRow {
        let sum = loss.sum.as_ref();
        [
            Cell::from(clean(&loss.title)),
            against_word(loss.pair.verdict).into(),
            ratio(loss.pair.ratio, loss.pair.low, loss.pair.high).into(),
            sum.map(|sum| estimate(&sum.together, MB)).unwrap_or_default(),
            sum.map(|sum| estimate(&sum.apart, MB)).unwrap_or_default(),
            sum.and_then(|sum| sum.ratio.as_ref()).map(|r| ratio(r.point, r.low, r.high)).unwrap_or_default().into(),
        ]
        .into()
    };
    Table {
        caption: format!("{} (95 %), and the sums in MB/s", sides(own, against)),
        columns: vec![
            left("load"),
            left("answer"),
            right("a node"),
            right("sum at once"),
            right(format!("sum of each {}", there(against))),
            right("in sum"),
        ],
        rows: against.loads.iter().map(row).collect(),
    }
}

fn nodes_against(report: &FleetReport, against: &Against) -> Table {
    let row = |at: &usize| {
        let of = |loss: &LoadLoss| {
            let found = loss.nodes.iter().find(|own| own.node == *at);
            Cell::from(found.map(|own| ratio(own.pair.ratio, own.pair.low, own.pair.high)).unwrap_or_default())
        };
        TableRow::Cells(
            std::iter::once(Cell::from(node_name(report, *at))).chain(against.loads.iter().map(of)).collect(),
        )
    };
    Table {
        caption: format!("{}, including day-to-day variation", sides(report.mode.as_deref(), against)),
        columns: std::iter::once(left("node"))
            .chain(against.loads.iter().map(|loss| right(clean(&loss.title))))
            .collect(),
        rows: against.nodes.iter().map(row).collect(),
    }
}
