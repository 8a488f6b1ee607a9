//! The comparison with a run where fewer of the same nodes measured at a time, as text and tables.

use assay_analysis::compare::{PairVerdict, Why};
use assay_analysis::fleet::{Against, FleetReport, Loss};
use assay_core::text::{clean, statement};
use assay_core::units::{multiples, times};

use super::tables::estimate;
use super::words::{count, node, nodes, ratio};
use crate::document::{Block, Cell, Row, Table, left, right};
use crate::figure::MB;
use crate::needed::needed;

/// All parts of the comparison.
pub(super) fn blocks(report: &FleetReport, against: &Against) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("At once and one after the other".to_owned())];
    blocks.push(Block::Text(finding(against)));
    let mut notes: Vec<(String, String)> = Vec::new();
    if !against.moved.is_empty() {
        let words = format!("{} had another unit or slot there and are not compared", nodes(report, &against.moved));
        notes.push(("moved".to_owned(), words));
    }
    if !against.missing.is_empty() {
        let words = format!("{} have no record of the same suite there", nodes(report, &against.missing));
        notes.push(("not there".to_owned(), words));
    }
    if !against.loads.is_empty() {
        blocks.push(Block::Table(table(against)));
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
            blocks: vec![Block::Table(by_node(report, against))],
        });
    }
    blocks
}

/// The loss through limits that the nodes share.
pub(super) fn finding(against: &Against) -> String {
    let other = format!(
        "run {} ({}, {} at a time; here {})",
        clean(&against.run),
        against.mode.as_deref().map_or_else(|| "mode unknown".to_owned(), clean),
        against.at_a_time,
        against.own_at_a_time
    );
    if let Some(refusal) = &against.refusal {
        return format!("Not compared with {other}: {}.", statement(refusal));
    }
    let slower: Vec<&Loss> = against.loads.iter().filter(|loss| loss.pair.verdict == PairVerdict::Worse).collect();
    let same = against.loads.iter().filter(|loss| loss.pair.verdict == PairVerdict::Same).count();
    let with = format!("Against {other}, {}, each unit with itself", count(against.nodes.len(), "node"));
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

/// `0.70 times (0.69–0.71)`.
fn in_words(loss: &Loss) -> String {
    let interval = loss.pair.low.zip(loss.pair.high).map(|(low, high)| format!(" ({})", multiples(low, high)));
    format!("{}{}", times(loss.pair.ratio), interval.unwrap_or_default())
}

fn word(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Better => "faster",
        PairVerdict::Worse => "slower",
        PairVerdict::Same => "same",
        PairVerdict::BusTie => "both at the bus",
        PairVerdict::CannotTell(Why::BusHides) => "the bus hides it",
        PairVerdict::CannotTell(_) => "cannot tell",
    }
}

fn table(against: &Against) -> Table {
    let row = |loss: &Loss| -> Row {
        let sum = loss.sum.as_ref();
        [
            Cell::from(clean(&loss.title)),
            word(loss.pair.verdict).into(),
            ratio(loss.pair.ratio, loss.pair.low, loss.pair.high).into(),
            sum.map(|sum| estimate(&sum.together, MB)).unwrap_or_default(),
            sum.map(|sum| estimate(&sum.apart, MB)).unwrap_or_default(),
            sum.and_then(|sum| sum.ratio.as_ref()).map(|r| ratio(r.point, r.low, r.high)).unwrap_or_default().into(),
        ]
        .into()
    };
    Table {
        caption: "Simultaneous / alone (95 %), and the sums in MB/s".to_owned(),
        columns: vec![
            left("load"),
            left("answer"),
            right("a node"),
            right("sum at once"),
            right("sum of each alone"),
            right("in sum"),
        ],
        rows: against.loads.iter().map(row).collect(),
    }
}

fn by_node(report: &FleetReport, against: &Against) -> Table {
    let row = |at: &usize| {
        let of = |loss: &Loss| {
            let found = loss.nodes.iter().find(|own| own.node == *at);
            Cell::from(found.map(|own| ratio(own.pair.ratio, own.pair.low, own.pair.high)).unwrap_or_default())
        };
        Row::Cells(std::iter::once(Cell::from(node(report, *at))).chain(against.loads.iter().map(of)).collect())
    };
    Table {
        caption: "Simultaneous / alone, including day-to-day variation".to_owned(),
        columns: std::iter::once(left("node"))
            .chain(against.loads.iter().map(|loss| right(clean(&loss.title))))
            .collect(),
        rows: against.nodes.iter().map(row).collect(),
    }
}
