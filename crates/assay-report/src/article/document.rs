//! The article as a document.

use assay_analysis::rank::{LoadRanking, Standing};
use assay_analysis::{Excluded, Load, Reason};
use assay_core::record::Record;
use assay_core::units::counted;

use super::columns::{Column, Plan, by_computers, by_loads};
use super::findings::{self, BUS, Finding, TIE};
use super::media::{Model, media};
use super::pictures::Picture;
use super::scope::{Scope, computers, crossed};
use super::table::Figures;
use super::{facts, tidy};
use crate::document::{BEST, Block, Cell, Document, Row};
use crate::left_out;

/// The document, and the result for each load.
pub(super) fn document(records: &[Record], finding: String, pictures: &[Picture]) -> (Document, Vec<Finding>) {
    let crossed = crossed(records);
    let mut scopes = vec![Scope::of_all(records)];
    if !crossed.is_empty() {
        scopes.extend(computers(records).iter().map(|host| Scope::of_computer(records, host)));
    }
    let media = media(records, scopes[0].ranked.as_ref().ok());
    let mut plans = by_computers(&scopes, &crossed);
    plans.extend(by_loads(records, &scopes[0], 0, |load| !crossed.contains(load)));
    let single = records.iter().filter(|r| !r.measurements.is_empty()).all(Record::is_published);
    let figures = Figures { scopes: &scopes, media: &media, single };
    let columns: Vec<&Column> = plans.iter().flat_map(|plan| &plan.columns).collect();
    let mut blocks = tables(&figures, &plans);
    let data = tidy::data(&scopes, &media, &plans);
    blocks.extend(legend(&figures, &blocks, &plans, &tidy::levels(&data)));
    if let Some(table) = facts::table(&media) {
        blocks.extend([Block::Heading("The media".to_owned()), Block::Table(table)]);
    }
    let lines = findings::lines(&scopes, &columns);
    if media.len() > 1 && !lines.is_empty() {
        blocks.extend([Block::Heading("What the figures show".to_owned()), Block::Items(lines)]);
    }
    let left_out = left_out(&scopes);
    if !left_out.is_empty() {
        let items = left_out.into_iter().map(|line| (String::new(), line)).collect();
        blocks.extend([Block::Heading("Left out".to_owned()), Block::Items(items)]);
    }
    if !pictures.is_empty() {
        blocks.push(Block::Heading("Pictures".to_owned()));
        blocks.extend(pictures.iter().map(Picture::block));
    }
    let conditions = facts::conditions(records);
    if !conditions.is_empty() {
        blocks.extend([Block::Heading("How it was measured".to_owned()), Block::Items(conditions)]);
    }
    let files = [
        ("table.csv", "the tables above, with what is known of the media: a row for each figure"),
        ("results.csv", "all figures of all repeats: a row for each"),
    ];
    let files = files.map(|(file, words)| (file.to_owned(), words.to_owned()));
    blocks.extend([Block::Heading("Data".to_owned()), Block::Items(files.into())]);
    // A ranking over all computers is not what the tables show.
    let finding = match scopes.len() - 1 {
        0 => finding,
        computers => {
            let models = counted(media.len(), "model");
            format!("{models} on {computers} computers, compared on one computer at a time")
        }
    };
    let document = Document { kind: "Article", about: about(&media, &columns), finding, blocks, data };
    (document, findings::findings(&scopes, &columns))
}

/// `3 models, 6 units, 12 loads`.
fn about(media: &[Model<'_>], columns: &[&Column]) -> String {
    let units: usize = media.iter().map(|model| model.units.len()).sum();
    let mut loads: Vec<&Load> = columns.iter().map(|column| &column.load).collect();
    loads.sort();
    loads.dedup();
    match media {
        [one] if units == 1 => format!("{}, {}", one.title, counted(loads.len(), "load")),
        several => {
            let parts = [counted(several.len(), "model"), counted(units, "unit"), counted(loads.len(), "load")];
            parts.join(", ")
        }
    }
}

fn tables(figures: &Figures<'_>, plans: &[Plan]) -> Vec<Block> {
    if let Some(turned) = figures.turned(plans) {
        return vec![Block::Table(turned)];
    }
    let table = |plan: &Plan| Block::Table(figures.table(plan));
    let mut blocks: Vec<Block> = plans.iter().filter(|plan| !plan.alone).map(table).collect();
    let alone: Vec<Block> = plans.iter().filter(|plan| plan.alone).map(table).collect();
    if !alone.is_empty() {
        blocks.push(Block::Folded { title: "Loads of one medium alone".to_owned(), blocks: alone });
    }
    blocks
}

/// What the marks and the small letters mean, as far as they are there.
fn legend(figures: &Figures<'_>, tables: &[Block], plans: &[Plan], level: &str) -> Option<Block> {
    let cells = || tables.iter().flat_map(cells_of);
    let marked = |mark: &str| cells().any(|cell| cell.mark == mark);
    let by_computers = plans.iter().flat_map(|plan| &plan.columns).any(|c| !figures.scopes[c.scope].host.is_empty());
    let parts = [
        (figures.single, "Each figure is one published value: n = 1, without an interval of its own.".to_owned()),
        (figures.single && !level.is_empty(), format!("In brackets: the interval of a model over its units{level}.")),
        (!figures.single && !level.is_empty(), format!("In brackets: the interval{level}, where there is one.")),
        (!figures.single, "n counts the repeats of a unit, and the units of a model.".to_owned()),
        (marked(BEST), "best: by assay rank, under this load.".to_owned()),
        (
            marked(TIE),
            "tie: assay rank cannot separate these models, which does not say that they are equal.".to_owned(),
        ),
        (marked(BUS), "tie at the bus: the bus makes these models equal.".to_owned()),
        (
            cells().any(|cell| cell.value.starts_with('≥')),
            "≥: the bus or the instrument was reached, the medium is at least this fast.".to_owned(),
        ),
        (
            ranked_beside_specimens(figures, plans),
            "A model of one unit is not ranked: one unit says nothing of the model.".to_owned(),
        ),
        (by_computers, "Models are compared within a column, on one computer.".to_owned()),
    ];
    let said: Vec<String> = parts.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words).collect();
    (!tables.is_empty()).then(|| Block::Text(said.join(" ")))
}

/// Whether some models are ranked under a load, and others are not for being one unit.
fn ranked_beside_specimens(figures: &Figures<'_>, plans: &[Plan]) -> bool {
    let columns = plans.iter().flat_map(|plan| &plan.columns);
    let rankings = columns.filter_map(|column| figures.scopes[column.scope].ranking(&column.load));
    let beside = |ranking: &LoadRanking| {
        let has = |standing| ranking.models.iter().any(|row| row.standing == standing);
        has(Standing::Ranked) && has(Standing::Specimen)
    };
    rankings.filter(|ranking| ranking.refusal.is_none()).any(beside)
}

fn cells_of(block: &Block) -> impl Iterator<Item = &Cell> {
    let rows = if let Block::Table(table) = block { table.rows.as_slice() } else { &[] };
    rows.iter().flat_map(|row| match row {
        Row::Cells(cells) => cells.as_slice(),
        Row::Heading(_) => &[],
    })
}

/// What counts nowhere, and why. That a medium was not measured under a load is seen in the table.
fn left_out(scopes: &[Scope<'_>]) -> Vec<String> {
    let Ok(report) = &scopes[0].ranked else { return Vec::new() };
    let rankings = std::iter::once(&report.primary).chain(&report.exploratory);
    let seen = |excluded: &&Excluded| {
        !matches!(excluded.reason, Reason::NotMeasured | Reason::OtherDepths { .. } | Reason::OtherBlocks { .. })
    };
    left_out::lines(rankings.flat_map(|ranking| &ranking.excluded).filter(seen), left_out::record, None)
}
