//! A ranking as a document: the answer, a picture and a table for each load, and the basis of the figures.

use assay_analysis::rank::{LoadRanking, ModelRow, RankReport};
use assay_core::text::clean;

use super::picture::titled;
use super::{composite, foot, odd, words};
use crate::document::{Block, Cell, Data, Document, Row, Table, left, number, right};

/// Everything that the ranking says, exploratory loads folded.
#[must_use]
pub fn document(report: &RankReport) -> Document {
    let primary = &report.primary;
    let metric = words::metric(primary);
    let mut blocks = vec![Block::Text(words::deciding(report))];
    blocks.extend(load(report, primary));
    if let Some(found) = &report.composite {
        blocks.extend(composite::blocks(found));
    }
    let over: Vec<(String, String)> = odd::over_loads(report).into_iter().map(|line| (String::new(), line)).collect();
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
                    .chain(load(report, ranking))
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

fn load(report: &RankReport, ranking: &LoadRanking) -> Vec<Block> {
    let title = format!("Models by {} of {}", words::metric(ranking), clean(&ranking.title));
    let drawn = titled(report, ranking, title);
    let mut blocks: Vec<Block> = drawn.map(|drawing| Block::Picture(Box::new(drawing))).into_iter().collect();
    blocks.push(Block::Table(table(report, ranking)));
    let mut notes: Vec<(String, String)> =
        words::shared(ranking).into_iter().map(|line| (String::new(), line)).collect();
    for model in &ranking.models {
        notes.extend(words::notes(ranking, model).into_iter().map(|note| (clean(&model.model), note)));
    }
    notes.extend(odd::lines(ranking).into_iter().map(|line| (String::new(), line)));
    notes.extend(foot::lines(report, ranking, true).into_iter().map(|(label, value)| (label.to_owned(), value)));
    blocks.push(Block::Items(notes));
    blocks
}

fn table(report: &RankReport, ranking: &LoadRanking) -> Table {
    let (unit, divisor) = words::unit(ranking);
    let figures = format!("{unit} ({})", words::level(report.alpha));
    let row = |model: &ModelRow| -> Row {
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
