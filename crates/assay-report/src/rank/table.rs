//! The table of models.

use assay_analysis::rank::{Class, LoadRanking, Medal, ModelRow};
use assay_core::text::clean;

use super::strip::Axis;
use super::words;
use crate::line::{Page, Paint};
use crate::wrap::shorten;

/// Where names begin.
const NAME: usize = 13;
/// Columns of figures, from the right: of ratio and ranks, and of the estimate before them.
const RATIO: usize = 8;
const RIGHT: usize = 15;
const ESTIMATE: usize = 24;
/// Narrower tables go without ratio and ranks.
const WIDE: usize = 76;

/// One line a model, then its strip where there is an interval anywhere.
pub(super) fn table(page: &mut Page, ranking: &LoadRanking, alpha: f64) {
    let width = page.style.width;
    let wide = width >= WIDE;
    let (unit, divisor) = words::unit(ranking);
    let units = width - ESTIMATE - if wide { RIGHT } else { 0 };
    let name = units - 6 - NAME;
    let mut head = page.line();
    head.push(Paint::Dim, "place").to(NAME).push(Paint::Dim, "model").right(Paint::Dim, "units", units);
    head.to(units + 2).push(Paint::Dim, &format!("{unit} ({})", words::level(alpha)));
    if wide {
        head.right(Paint::Dim, "to 1st", width - RATIO).right(Paint::Dim, "ranks", width);
    }
    page.add(head);
    for model in ranking.models.iter().filter(|model| words::is_listed(model)) {
        let mut line = page.line();
        line.push(paint(model), &words::place(model));
        line.to(NAME).push(Paint::Bold, &shorten(&clean(&model.model), name));
        line.right(Paint::Plain, &model.units.len().to_string(), units);
        if let Some(estimate) = &model.estimate {
            line.to(units + 2);
            line.push(Paint::Plain, &words::estimate(estimate, model.at_ceiling, divisor));
        }
        if let Some(ratio) = model.to_first.filter(|_| wide) {
            line.right(Paint::Plain, &assay_core::units::multiple(ratio.point), width - RATIO);
        }
        if let Some((first, last)) = model.ranks.filter(|_| wide) {
            line.right(Paint::Plain, &words::ranks((first, last)), width);
        }
        page.add(line);
    }
    strips(page, ranking, (unit, divisor));
}

fn strips(page: &mut Page, ranking: &LoadRanking, (unit, divisor): (&str, f64)) {
    let name = 22;
    let Some(axis) = Axis::new(ranking.models.iter(), page.style.width - name - 1) else { return };
    page.blank();
    for model in ranking.models.iter().filter(|m| m.estimate.is_some()) {
        let mut line = page.line();
        line.push(Paint::Plain, &shorten(&clean(&model.model), name - 1)).to(name);
        line.push(paint(model), &axis.strip(model, page.style));
        page.add(line);
    }
    let mut scale = page.line();
    let end = |value: f64| format!("{} {unit}", assay_core::units::figures(value / divisor));
    scale.to(name).push(Paint::Dim, &end(axis.low)).right(Paint::Dim, &end(axis.high), page.style.width - 1);
    page.add(scale);
}

fn paint(model: &ModelRow) -> Paint {
    match (model.class, model.medal) {
        (Class::Corrupt, _) => Paint::Bad,
        (Class::Failing, _) => Paint::Care,
        _ if model.at_ceiling => Paint::Plain,
        (_, Some(Medal::Gold)) => Paint::Good,
        _ => Paint::Plain,
    }
}
