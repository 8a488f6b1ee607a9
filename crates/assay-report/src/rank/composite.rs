//! One number from several loads.

use assay_analysis::rank::{CompositeKind, CompositeRanking, CompositeRow};
use assay_core::text::clean;
use assay_core::units::figures;

use super::words;
use crate::document::{Block, Cell, Row, Table, left, right};
use crate::figure::percent;
use crate::line::{Page, Paint};
use crate::wrap::shorten;

/// Column where the figures of a row begin.
const FIGURES: usize = 38;

pub(super) fn block(page: &mut Page, composite: &CompositeRanking) {
    page.text(Paint::Bold, 0, &format!("Composite: {}", name(composite)));
    if let Some(refusal) = &composite.refusal {
        page.text(Paint::Care, 2, &clean(refusal));
    }
    if !composite.models.is_empty() {
        page.text(Paint::Plain, 2, &verdict(composite));
        let mut head = page.line();
        head.to(2).push(Paint::Dim, "model").right(Paint::Dim, "value", FIGURES + 8);
        head.right(Paint::Dim, "ranks", FIGURES + 16).to(FIGURES + 18).push(Paint::Dim, "share of weights by rank");
        page.add(head);
    }
    for row in &composite.models {
        let mut line = page.line();
        line.to(2).push(Paint::Plain, &shorten(&clean(&row.model), FIGURES - 3));
        line.right(Paint::Plain, &figures(row.value), FIGURES + 8);
        line.right(Paint::Plain, &words::ranks(row.ranks), FIGURES + 16);
        let shares: Vec<String> = row.acceptability.iter().take(4).map(|s| format!("{s:.3}")).collect();
        line.to(FIGURES + 18).push(Paint::Plain, &shares.join(" "));
        page.add(line);
    }
    for pair in composite.models.windows(2).filter(|pair| pair[0].tied_with_next) {
        let text = format!("TIE {{{}, {}}}: the weights decide", clean(&pair[0].model), clean(&pair[1].model));
        page.text(Paint::Plain, 2, &text);
    }
    foot(composite).iter().for_each(|line| page.text(Paint::Dim, 2, line));
}

/// The same for a document.
pub(super) fn blocks(composite: &CompositeRanking) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(format!("Composite: {}", name(composite)))];
    blocks.extend(composite.refusal.iter().map(|refusal| Block::Text(clean(refusal))));
    let row = |row: &CompositeRow| -> Row {
        let shares: Vec<String> = row.acceptability.iter().map(|share| format!("{share:.3}")).collect();
        let ranks = words::ranks(row.ranks);
        [Cell::from(clean(&row.model)), figures(row.value).into(), ranks.into(), shares.join(" ").into()].into()
    };
    if !composite.models.is_empty() {
        blocks.push(Block::Text(verdict(composite)));
        blocks.push(Block::Table(Table {
            caption: String::new(),
            columns: vec![left("model"), right("value"), right("ranks"), left("share of weights by rank")],
            rows: composite.models.iter().map(row).collect(),
        }));
    }
    blocks.push(Block::Items(foot(composite).into_iter().map(|line| (String::new(), line)).collect()));
    blocks
}

fn name(composite: &CompositeRanking) -> &'static str {
    match composite.kind {
        CompositeKind::Pibenchmarks => "PiBenchmarks score",
        CompositeKind::Index => "index, the first is 1",
    }
}

/// What has to be known with it.
fn foot(composite: &CompositeRanking) -> Vec<String> {
    let mut lines = vec![
        "composite; weights arbitrary; not comparable between hosts. 10 000 random weights; no interval, as the \
         figures of models are used as points"
            .to_owned(),
        format!("parts: {}", composite.parts.join("; ")),
    ];
    if !composite.incomplete.is_empty() {
        let left: Vec<String> = composite.incomplete.iter().map(|m| clean(m)).collect();
        lines.push(format!("left out, lacking a part: {}", left.join(", ")));
    }
    lines
}

fn verdict(composite: &CompositeRanking) -> String {
    let first = composite.models.iter().map(|m| m.acceptability.first().copied().unwrap_or(0.0)).fold(0.0, f64::max);
    match &composite.winner {
        Some(winner) => format!("{} is first under {} of the weights", clean(winner), percent(first)),
        None => {
            let near = composite.models.iter().filter_map(|m| m.first_near_published).reduce(f64::max);
            let near = near.map(|p| format!(", near the published weights {}", percent(p))).unwrap_or_default();
            format!("COMPOSITE weight-dependent: one is first under at most {} of the weights{near}", percent(first))
        }
    }
}
