//! The whole answer on a terminal.

use assay_analysis::rank::{LoadRanking, RankReport};
use assay_core::text::clean;

use super::{composite, foot, odd, strip, table, words};
use crate::line::{Page, Paint};
use crate::style::Style;

/// The answer within the width of `style`; with `all`, exploratory loads in full.
#[must_use]
pub fn text(report: &RankReport, all: bool, style: &Style) -> String {
    let mut page = Page::new(style.at_least_a_table());
    let primary = &report.primary;
    page.text(Paint::Bold, 0, &words::answer(primary, report.alpha));
    page.text(Paint::Dim, 0, &words::deciding(report));
    page.blank();
    block(&mut page, report, primary, all);
    if let Some(found) = &report.composite {
        page.blank();
        composite::block(&mut page, found);
    }
    let over = odd::over_loads(report);
    if !over.is_empty() {
        page.blank();
        page.text(Paint::Bold, 0, "Units over all loads");
        over.iter().for_each(|line| page.text(Paint::Care, 2, line));
    }
    if !report.exploratory.is_empty() {
        exploratory(&mut page, report, all);
    }
    page.finish()
}

fn block(page: &mut Page, report: &RankReport, ranking: &LoadRanking, all: bool) {
    table::table(page, ranking, report.alpha);
    let notes: Vec<(String, Vec<String>)> =
        ranking.models.iter().map(|m| (clean(&m.model), words::notes(ranking, m))).collect();
    let shared = words::shared(ranking);
    if !shared.is_empty() || notes.iter().any(|(_, notes)| !notes.is_empty()) {
        page.blank();
    }
    shared.iter().for_each(|line| page.text(Paint::Plain, 0, line));
    for (model, notes) in notes {
        notes.iter().for_each(|note| page.text(Paint::Plain, 0, &format!("{model}: {note}")));
    }
    let lines = odd::lines(ranking);
    if !lines.is_empty() {
        page.blank();
    }
    lines.iter().for_each(|line| page.text(Paint::Care, 0, line));
    page.blank();
    // Of values that the bus made alike, shares say nothing.
    let free = ranking.models.iter().any(|m| m.estimate.is_some() && !m.at_ceiling);
    if let Some(shares) = ranking.shares.as_ref().filter(|_| free) {
        let (bar, legend) = strip::shares(shares, page.style.width - crate::line::VALUES - 1, page.style);
        page.labelled("variance", Paint::Dim, &bar, Paint::Plain);
        page.labelled("", Paint::Dim, &legend, Paint::Plain);
    }
    for (label, value) in foot::lines(report, ranking, all) {
        page.labelled(label, Paint::Dim, &value, if label == "resolves" { Paint::Plain } else { Paint::Dim });
    }
}

fn exploratory(page: &mut Page, report: &RankReport, all: bool) {
    page.blank();
    page.rule();
    page.text(Paint::Bold, 0, &words::exploratory(report));
    if !all {
        page.text(Paint::Dim, 0, "--all shows them in full.");
        for (found, loads) in words::by_finding(report) {
            let titles: Vec<String> = loads.iter().map(|ranking| clean(&ranking.title)).collect();
            page.text(Paint::Plain, 2, &found);
            page.text(Paint::Dim, 4, &titles.join("; "));
        }
        return;
    }
    for ranking in &report.exploratory {
        page.blank();
        page.text(Paint::Bold, 0, &format!("{} ({}), exploratory", ranking.title, words::metric(ranking)));
        page.text(Paint::Plain, 0, &words::answer(ranking, report.alpha));
        block(page, report, ranking, all);
    }
}
