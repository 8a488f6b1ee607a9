//! A ranking as a document: the answer, a picture and a table for each load, and the basis of the figures.

use assay_analysis::Mark;
use assay_analysis::rank::{LoadRanking, Medal, ModelRow, Precedence, RankReport, Shares};
use assay_core::estimate::Estimate;
use assay_core::text::{clean, statement};
use assay_pictures::{BusCeiling, Drawing, Label, RankRow, Ranking, Value, ranking};

use super::{foot, words};
use crate::change::is_useless;
use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right};
use crate::terminal::{Page, Paint, Style, shorten};

/// Everything that the ranking says, exploratory loads folded.
#[must_use]
pub fn document(report: &RankReport) -> Document {
    let primary = &report.primary;
    let metric = words::metric(primary);
    let mut blocks = vec![Block::Text(words::deciding(report))];
    blocks.extend(load_blocks(report, primary));
    if let Some(found) = &report.composite {
        blocks.extend(foot::composite_blocks(found));
    }
    let over: Vec<(String, String)> = foot::over_loads(report).into_iter().map(|line| (String::new(), line)).collect();
    if !over.is_empty() {
        blocks.extend([Block::Heading("Units over all loads".to_owned()), Block::Items(over)]);
    }
    if !report.exploratory.is_empty() {
        blocks.push(Block::Heading("Exploratory loads".to_owned()));
        blocks.push(Block::Text(words::exploratory(report)));
    }
    for (found, loads) in words::by_finding(report) {
        blocks.push(Block::Text(format!("{found}.")));
        blocks.extend(loads.into_iter().map(|ranking| {
            Block::Folded {
                title: format!("{}, {}", clean(&ranking.title), words::metric(ranking)),
                // The reason for the missing order is given above, for all of them.
                blocks: (ranking.refusal.is_none())
                    .then(|| Block::Text(words::answer(ranking, report.alpha)))
                    .into_iter()
                    .chain(load_blocks(report, ranking))
                    .collect(),
            }
        }));
    }
    Document {
        kind: "Ranking",
        about: format!("Ranking by {metric} of {}", clean(&primary.title)),
        finding: words::answer(primary, report.alpha),
        blocks,
        data: data(report),
    }
}

fn load_blocks(report: &RankReport, ranking: &LoadRanking) -> Vec<Block> {
    let title = format!("Models by {} of {}", words::metric(ranking), clean(&ranking.title));
    let drawn = titled(report, ranking, title);
    let mut blocks: Vec<Block> = drawn.map(|drawing| Block::Picture(Box::new(drawing))).into_iter().collect();
    blocks.push(Block::Table(load_table(report, ranking)));
    let mut notes: Vec<(String, String)> =
        words::shared(ranking, true).into_iter().map(|line| (String::new(), line)).collect();
    for model in &ranking.models {
        notes.extend(words::notes(ranking, model).into_iter().map(|note| (clean(&model.model), note)));
    }
    notes.extend(foot::odd_lines(ranking).into_iter().map(|line| (String::new(), line)));
    notes.extend(foot::basis_lines(report, ranking, true).into_iter().map(|(label, value)| (label.to_owned(), value)));
    blocks.push(Block::Items(notes));
    blocks
}

fn load_table(report: &RankReport, ranking: &LoadRanking) -> Table {
    let (unit, divisor) = words::unit(ranking);
    let figures = format!("{unit} ({})", words::level(report.alpha));
    let row = |model: &ModelRow| -> TableRow {
        let estimate = model.estimate.as_ref().map(|e| words::estimate(e, model.at_ceiling, divisor));
        [
            Cell::from(clean(&model.model)),
            words::place(model).into(),
            model.units.len().into(),
            estimate.unwrap_or_default().into(),
            model.to_first.map(|r| assay_core::units::multiple(r.point)).unwrap_or_default().into(),
            model.ranks.map(words::ranks).unwrap_or_default().into(),
        ]
        .into()
    };
    Table {
        caption: String::new(),
        columns: vec![left("model"), left("place"), right("units"), right(figures), right("to first"), right("ranks")],
        rows: ranking.models.iter().filter(|model| words::is_listed(model)).map(row).collect(),
    }
}

/// One row a model and load.
fn data(report: &RankReport) -> Data {
    let columns = vec![
        "load",
        "exploratory",
        "metric",
        "place",
        "model",
        "units",
        "value",
        "low",
        "high",
        "level",
        "layer",
        "first_rank",
        "last_rank",
        "ratio_to_first",
        "at_ceiling",
        "failed_units",
        "tried_units",
    ];
    let all = std::iter::once(&report.primary).chain(&report.exploratory);
    let rows = all.flat_map(|ranking| ranking.models.iter().map(move |model| data_row(ranking, model))).collect();
    Data { columns, rows }
}

fn data_row(ranking: &LoadRanking, model: &ModelRow) -> Vec<String> {
    let count = |value: Option<usize>| value.map(|v| v.to_string()).unwrap_or_default();
    let e = model.estimate.as_ref();
    vec![
        ranking.title.clone(),
        ranking.exploratory.to_string(),
        ranking.quantity.name().to_owned(),
        words::place(model),
        model.model.clone(),
        model.units.len().to_string(),
        number(e.map(|e| e.point)),
        number(e.and_then(|e| e.low)),
        number(e.and_then(|e| e.high)),
        number(e.and_then(|e| e.level)),
        count(model.layer),
        count(model.ranks.map(|r| r.0)),
        count(model.ranks.map(|r| r.1)),
        number(model.to_first.map(|r| r.point)),
        model.at_ceiling.to_string(),
        model.failures.map(|f| f.failed.to_string()).unwrap_or_default(),
        model.failures.map(|f| f.of.to_string()).unwrap_or_default(),
    ]
}

// A ranking as a picture.

/// Models under one of the loads of a report, with their places and simultaneous intervals; the title is the
/// first sentence of the answer, without its interval. `None` where no model has a figure.
#[must_use]
pub fn picture(report: &RankReport, of: &LoadRanking) -> Option<Drawing> {
    titled(report, of, words::title(of))
}

/// The same under another title, for a page where the answer stands already.
pub(super) fn titled(report: &RankReport, of: &LoadRanking, title: String) -> Option<Drawing> {
    let (unit, divisor) = words::unit(of);
    let all = &report.primary.models;
    let hue = |model: &ModelRow| all.iter().position(|m| m.model == model.model).unwrap_or(all.len());
    let rows: Vec<RankRow> = of.models.iter().filter_map(|model| picture_row(model, hue(model), divisor)).collect();
    if rows.is_empty() {
        return None;
    }
    let without = of.models.len() - rows.len();
    let mut notes = vec![format!("Ceiling: {}.", statement(&words::ceiling(of.ceiling.as_ref())))];
    if without > 0 {
        let have = if without == 1 { "has" } else { "have" };
        notes.push(format!("{without} of {} models {have} no figure of this load.", of.models.len()));
    }
    let ceilings = of
        .ceiling
        .as_ref()
        .filter(|_| unit == "MB/s")
        .map(|used| BusCeiling { name: "ceiling".to_owned(), value: used.bytes_per_second / 1e6 });
    Some(ranking(&Ranking {
        title: Some(title),
        load: of.title.clone(),
        unit: unit.to_owned(),
        rows,
        ceilings: ceilings.into_iter().collect(),
        notes,
    }))
}

fn picture_row(model: &ModelRow, hue: usize, divisor: f64) -> Option<RankRow> {
    let e: &Estimate = model.estimate.as_ref()?;
    let interval = e.low.zip(e.high).map(|(low, high)| (low / divisor, high / divisor));
    Some(RankRow {
        place: words::place(model),
        label: Label::without_unit(clean(&model.model)),
        hue,
        value: Value {
            point: e.point / divisor,
            interval,
            level: e.level,
            n: e.n,
            // The interval is over units; that each is published without repeats stands in the text.
            marks: model.marks.iter().map(|(mark, _)| *mark).filter(|mark| *mark != Mark::Published).collect(),
        },
    })
}

// The whole answer on a terminal.

/// The answer within the width of `style`; with `all`, exploratory loads in full.
#[must_use]
pub fn text(report: &RankReport, all: bool, style: &Style) -> String {
    let mut page = Page::new(style.at_least_a_table());
    let primary = &report.primary;
    page.text(Paint::Bold, 0, &words::answer(primary, report.alpha));
    page.text(Paint::Dim, 0, &words::deciding(report));
    page.blank();
    load_text(&mut page, report, primary, all);
    if let Some(found) = &report.composite {
        page.blank();
        foot::composite_text(&mut page, found);
    }
    let over = foot::over_loads(report);
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

fn load_text(page: &mut Page, report: &RankReport, ranking: &LoadRanking, all: bool) {
    models_table(page, ranking, report.alpha);
    let notes: Vec<(String, Vec<String>)> =
        ranking.models.iter().map(|m| (clean(&m.model), words::notes(ranking, m))).collect();
    let shared = words::shared(ranking, all);
    if !shared.is_empty() || notes.iter().any(|(_, notes)| !notes.is_empty()) {
        page.blank();
    }
    shared.iter().for_each(|line| page.text(Paint::Plain, 0, line));
    for (model, notes) in notes {
        notes.iter().for_each(|note| page.text(Paint::Plain, 0, &format!("{model}: {note}")));
    }
    let lines = foot::odd_lines(ranking);
    if !lines.is_empty() {
        page.blank();
    }
    lines.iter().for_each(|line| page.text(Paint::Care, 0, line));
    page.blank();
    // Of values that the bus made alike, shares say nothing.
    let free = ranking.models.iter().any(|m| m.estimate.is_some() && !m.at_ceiling);
    if let Some(shares) = ranking.shares.as_ref().filter(|_| free) {
        let (bar, legend) = shares_strip(shares, page.style.width - crate::terminal::VALUES - 1, page.style);
        page.labelled("variance", Paint::Dim, &bar, Paint::Plain);
        page.labelled("", Paint::Dim, &legend, Paint::Plain);
    }
    for (label, value) in foot::basis_lines(report, ranking, all) {
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
        load_text(page, report, ranking, all);
    }
}

// The table of models.

/// Where names begin.
const NAME: usize = 13;
/// Columns of figures, from the right: of ratio and ranks, and of the estimate before them.
const RATIO: usize = 8;
const RIGHT: usize = 15;
const ESTIMATE: usize = 24;
/// Narrower tables go without ratio and ranks.
const WIDE: usize = 76;

/// One line a model, then its strip where there is an interval anywhere.
fn models_table(page: &mut Page, ranking: &LoadRanking, alpha: f64) {
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
        line.push(standing_paint(model), &words::place(model));
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
        line.push(standing_paint(model), &axis.strip(model, page.style));
        page.add(line);
    }
    let mut scale = page.line();
    let end = |value: f64| format!("{} {unit}", assay_core::units::figures(value / divisor));
    scale.to(name).push(Paint::Dim, &end(axis.low)).right(Paint::Dim, &end(axis.high), page.style.width - 1);
    page.add(scale);
}

fn standing_paint(model: &ModelRow) -> Paint {
    match (model.class, model.medal) {
        (Precedence::Corrupt, _) => Paint::Bad,
        (Precedence::Failing, _) => Paint::Care,
        _ if model.at_ceiling => Paint::Plain,
        (_, Some(Medal::Gold)) => Paint::Good,
        _ => Paint::Plain,
    }
}

// Intervals and shares as strips of characters.

/// The axis that all strips of a table share, on the log scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    width: usize,
}

impl Axis {
    /// From the least to the largest end of all; `None` where they are one.
    pub(super) fn new<'a>(models: impl Iterator<Item = &'a ModelRow>, width: usize) -> Option<Self> {
        let ends = models.filter_map(|m| m.estimate.as_ref()).map(|e| match useful(e) {
            Some((low, high)) => [e.point, low, high],
            None => [e.point, e.low.filter(|_| e.high.is_none()).unwrap_or(e.point), e.point],
        });
        let (low, high) = ends
            .flatten()
            .filter(|v| *v > 0.0 && v.is_finite())
            .fold((f64::MAX, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
        (high > low && width > 2).then_some(Self { low, high, width })
    }

    fn column(&self, value: f64) -> usize {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        // The last column stays for the arrow of a bound.
        (share.clamp(0.0, 1.0) * (self.width - 2) as f64).round() as usize
    }

    /// `  ───•────  `; a bound has an arrow where it is open.
    pub(super) fn strip(&self, model: &ModelRow, style: Style) -> String {
        let Some(estimate) = &model.estimate else { return String::new() };
        let (line, point, open) = if style.unicode { ('─', '●', '▶') } else { ('-', 'o', '>') };
        let at = self.column(estimate.point);
        let mut cells = vec![' '; self.width];
        if let Some((low, high)) = useful(estimate) {
            cells[self.column(low)..=self.column(high)].fill(line);
        }
        cells[at] = point;
        if model.at_ceiling {
            cells[at + 1] = open;
        }
        cells.into_iter().collect()
    }
}

/// The interval, where it says something.
fn useful(estimate: &Estimate) -> Option<(f64, f64)> {
    estimate.low.zip(estimate.high).filter(|(low, high)| !is_useless(*low, *high))
}

/// Shares as a bar, and what its parts mean.
fn shares_strip(shares: &Shares, width: usize, style: Style) -> (String, String) {
    let glyphs = if style.unicode { ['█', '▓', '▒', '░'] } else { ['M', 'U', 'S', 'R'] };
    let parts = [shares.model, Some(shares.unit), shares.slot, shares.run];
    let mut bar = String::new();
    let (mut sum, mut drawn) = (0.0, 0);
    for (part, glyph) in parts.iter().zip(glyphs) {
        sum += part.unwrap_or(0.0);
        let end = ((sum * width as f64).round() as usize).min(width);
        bar.extend(std::iter::repeat_n(glyph, end - drawn.min(end)));
        drawn = end.max(drawn);
    }
    let within = match (shares.slot, shares.run) {
        (None, None) => "unit, with slot and run",
        (None, Some(_)) => "unit, with slot",
        (Some(_), None) => "unit, with run",
        _ => "unit",
    };
    let named = parts.iter().zip(glyphs).zip(["model", within, "slot", "run"]);
    let legend: Vec<String> = named
        .filter_map(|((part, glyph), name)| part.map(|part| format!("{glyph} {name} {:.0} %", part * 100.0)))
        .collect();
    (bar, legend.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_parts() {
        let all = Shares { model: Some(0.5), unit: 0.25, slot: Some(0.0), run: Some(0.25) };
        let (bar, legend) = shares_strip(&all, 40, Style::default());
        assert_eq!(bar, format!("{}{}{}", "█".repeat(20), "▓".repeat(10), "░".repeat(10)));
        assert_eq!(legend, "█ model 50 %; ▓ unit 25 %; ▒ slot 0 %; ░ run 25 %");
        let ascii = Style { unicode: false, ..Style::default() };
        let (bar, legend) = shares_strip(&Shares { model: None, unit: 1.0, slot: None, run: None }, 7, ascii);
        assert_eq!((bar.as_str(), legend.as_str()), ("UUUUUUU", "U unit, with slot and run 100 %"));
        // Thirds of ten are rounded, and still fill the bar.
        let third = Some(1.0 / 3.0);
        let (bar, _) = shares_strip(&Shares { model: third, unit: 1.0 / 3.0, slot: third, run: None }, 10, ascii);
        assert_eq!(bar, "MMMUUUUSSS");
    }
}
