//! A ranking as a document: the answer, a picture and a table for each load, and the basis of the figures.

use assay_analysis::Mark;
use assay_analysis::rank::{LoadRanking, ModelRow, RankReport};
use assay_core::estimate::Estimate;
use assay_core::text::{clean, statement};
use assay_pictures::{Ceiling, Drawing, Label, RankRow, Ranking, Value, ranking};

use super::{foot, words};
use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right};

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
        words::shared(ranking).into_iter().map(|line| (String::new(), line)).collect();
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
        .map(|used| Ceiling { name: "ceiling".to_owned(), value: used.bytes_per_second / 1e6 });
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
