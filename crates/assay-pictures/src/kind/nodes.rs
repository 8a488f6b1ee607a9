//! Nodes of a run by workloads: which nodes deviate from the others, and under which workload.

use assay_analysis::Quantity;
use assay_analysis::fleet::{FleetReport, FleetRun, LoadRow, NodeFigure, report};
use assay_core::observation::Observation;
use assay_core::text::clean;
use assay_core::units::trimmed;

use super::heat::short;
use crate::data::{Wanted, factor, unit};
use crate::font;
use crate::paint::{Anchor, BAND, Drawing, INK, MUTE, PAPER, Ramp, Shape, Stroke, Text, VOID, diverging};
use crate::sheet::{EDGE, Heads, LABEL, Sheet};

/// Side of a cell.
const CELL: (f64, f64) = (50.0, 22.0);
/// Nodes that are drawn: of more, those that are odd, missing or furthest from the median.
const MOST: usize = 80;

/// The run that records are of: all of one, with nodes of different names.
pub(super) fn run_of(records: &[Observation], wanted: &Wanted) -> Option<FleetReport> {
    let name = |record: &Observation| {
        record.cluster.as_ref().map(|part| part.run.clone()).or_else(|| record.labels.get("fleet").cloned())
    };
    let first = records.first().and_then(name)?;
    let of_it: Vec<Observation> =
        records.iter().filter(|record| name(record).as_ref() == Some(&first)).cloned().collect();
    let run = FleetRun::of_records(&first, of_it);
    if run.nodes.len() < 2 || !records.iter().all(|record| name(record).as_ref() == Some(&first)) {
        return None;
    }
    let mut report = report(&run, &[], None, false);
    report.loads.retain(|load| wanted.holds(&load.load));
    (!report.loads.is_empty()).then_some(report)
}

/// How fast a node is relative to the median: of latencies the inverse.
pub(super) fn speed(load: &LoadRow, figure: &NodeFigure) -> f64 {
    if load.more_is_better { figure.to_median } else { 1.0 / figure.to_median }
}

/// The finding over a picture of a run.
pub(super) fn title(report: &FleetReport) -> String {
    let odd: Vec<String> = report.odd.odd.iter().map(|odd| clean(&report.nodes[odd.node].node)).collect();
    let measured = report.nodes.iter().filter(|node| node.record.is_some()).count();
    match odd.as_slice() {
        [] if report.odd.tested == 0 => format!("{measured} nodes, too few of a model to name an odd one"),
        [] => match report.odd.groups.first() {
            Some(two) => format!("{measured} nodes form two groups: {} and {}", two.low.len(), two.high.len()),
            None => format!("No node of {measured} is odd"),
        },
        [one] => format!("{one} is odd among {measured} nodes"),
        several if several.len() > 4 => format!("{} of {measured} nodes are odd", several.len()),
        several => format!("{} are odd among {measured} nodes", several.join(", ")),
    }
}

/// Numbers of the nodes that are drawn, in their order.
fn drawn(report: &FleetReport) -> Vec<usize> {
    let all: Vec<usize> = (0..report.nodes.len()).collect();
    if all.len() <= MOST {
        return all;
    }
    let off = |at: usize| {
        let node = &report.nodes[at];
        let of = report.loads.iter().filter_map(|load| Some(load.figures[at].as_ref()?.to_median.ln().abs()));
        if node.odd || node.record.is_none() { f64::INFINITY } else { of.fold(0.0, f64::max) }
    };
    let mut keyed: Vec<(f64, usize)> = all.into_iter().map(|at| (off(at), at)).collect();
    keyed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut first: Vec<usize> = keyed.into_iter().take(MOST).map(|(_, at)| at).collect();
    first.sort_unstable();
    first
}

/// Draws nodes by workloads, shaded by the ratio to the median of the workload; odd ones have a frame.
#[must_use]
pub fn nodes(report: &FleetReport) -> Drawing {
    let rows = drawn(report);
    let label = |at: usize| clean(&report.nodes[at].node);
    let names = rows.iter().map(|at| font::width(&label(*at), LABEL, false)).fold(60.0, f64::max).min(200.0);
    let left = EDGE + names + 12.0;
    let heads = report.loads.iter().map(|load| format!("{}, {}", load.title, unit(load.quantity)));
    let heads = Heads::new(heads.collect());
    let width = heads.width(left, CELL.0);
    let described = "figures of nodes, shaded by how fast they are relative to the median of the column; a frame marks \
                     what the test of odd units names; intervals are in the table";
    let mut sheet = Sheet::new(width, &title(report), described);
    let top = sheet.top + heads.rise() + 10.0;
    for (row, at) in rows.iter().enumerate() {
        let y = top + CELL.1 * row as f64;
        if row % 2 == 0 {
            sheet.drawing.rect(EDGE - 6.0, y, left - EDGE + 6.0, CELL.1, Some(BAND), None);
        }
        let name = font::fitted(&label(*at), LABEL, names);
        sheet.drawing.push(Shape::Text(Text {
            x: EDGE,
            y: y + 15.5,
            size: LABEL,
            ink: INK,
            anchor: Anchor::Start,
            bold: report.nodes[*at].odd,
            turn: 0.0,
            text: name,
        }));
    }
    for (i, load) in report.loads.iter().enumerate() {
        let x = left + CELL.0 * i as f64;
        heads.write(&mut sheet.drawing, i, (x, top), CELL.0);
        for (row, at) in rows.iter().enumerate() {
            cell(&mut sheet.drawing, (x, top + CELL.1 * row as f64), load, load.figures[*at].as_ref());
        }
    }
    frames(&mut sheet.drawing, report, &rows, (left, top));
    let bottom = top + CELL.1 * rows.len() as f64;
    key(&mut sheet.drawing, left, bottom + 14.0);
    sheet.finish(bottom + 42.0, &notes(report, &rows))
}

fn cell(drawing: &mut Drawing, (x, y): (f64, f64), load: &LoadRow, figure: Option<&NodeFigure>) {
    let rim = Some(Stroke::thin(PAPER));
    let Some(figure) = figure else { return drawing.rect(x, y, CELL.0, CELL.1, Some(VOID), rim) };
    let Ramp { paper, ink } = diverging(speed(load, figure));
    drawing.rect(x, y, CELL.0, CELL.1, Some(paper), rim);
    let value = short(figure.estimate.point * factor(load.quantity));
    let text = format!("{}{value}", if figure.at_least { "≥" } else { "" });
    drawing.text(x + CELL.0 / 2.0, y + 15.0, 11.0, ink, Anchor::Middle, &font::fitted(&text, 11.0, CELL.0 - 4.0));
}

/// Drawn after all cells, so that no cell covers a frame.
fn frames(drawing: &mut Drawing, report: &FleetReport, rows: &[usize], (left, top): (f64, f64)) {
    for (i, load) in report.loads.iter().enumerate() {
        for (row, at) in rows.iter().enumerate() {
            if load.figures[*at].as_ref().is_some_and(|figure| figure.odd) {
                let (x, y) = (left + CELL.0 * i as f64, top + CELL.1 * row as f64);
                drawing.rect(x + 1.0, y + 1.0, CELL.0 - 2.0, CELL.1 - 2.0, None, Some(Stroke::wide(INK, 2.4)));
            }
        }
    }
}

/// Width of a step of the key.
const STEP: f64 = 36.0;

fn key(drawing: &mut Drawing, left: f64, y: f64) {
    let ratios = [0.25, 0.5, 0.71, 0.84, 1.0, 1.19, 1.41, 2.0, 4.0];
    for (at, ratio) in ratios.into_iter().enumerate() {
        let x = left + STEP * at as f64;
        drawing.rect(x, y, STEP, 9.0, Some(diverging(ratio).paper), None);
        if [0.25, 0.5, 1.0, 2.0, 4.0].contains(&ratio) {
            drawing.text(x + STEP / 2.0, y + 22.0, 11.0, MUTE, Anchor::Middle, &format!("×{}", trimmed(ratio, 2)));
        }
    }
    let end = left + STEP * ratios.len() as f64;
    drawing.text(end + 8.0, y + 9.0, 11.0, MUTE, Anchor::Start, "of the median, slower to the left");
}

fn notes(report: &FleetReport, rows: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    if rows.len() < report.nodes.len() {
        notes.push(format!(
            "{} of {} nodes: those that are odd, missing or furthest from the median.",
            rows.len(),
            report.nodes.len()
        ));
    }
    let missing: Vec<String> =
        rows.iter().filter(|at| report.nodes[**at].record.is_none()).map(|at| clean(&report.nodes[*at].node)).collect();
    if !missing.is_empty() {
        notes.push(format!("Without a record: {}.", missing.join(", ")));
    }
    if report.loads.iter().any(|load| load.quantity == Quantity::P99Ns) {
        notes.push("Of latencies the shade is that of the inverse ratio.".to_owned());
    }
    notes
}
