//! Records as documents, the source of the Markdown output.

use assay_core::units::{counted, rate};

use super::{Crosscheck, LoadRow, Overview, Presented};
use crate::document::{Block, Cell, Data, Document, Row, Table, left, right};
use crate::figure::percent;

/// One record.
pub(crate) fn of_record(record: &Presented<'_>) -> Document {
    let mut blocks = vec![Block::Items(record.on_page())];
    if !record.loads.is_empty() {
        blocks.push(loads(record));
        blocks.extend(
            record
                .record
                .medium
                .reachable()
                .map(|bus| Block::Text(format!("Reachable rate of the bus: {}.", rate(bus)))),
        );
    }
    blocks.extend(record.crosscheck.as_ref().map(crosscheck));
    blocks.extend(titled("Genuine or fake", record.checked()));
    let note = |note: &crate::notes::Note| (note.word().to_owned(), note.sentences());
    blocks.extend(titled("Warnings", record.notes.iter().map(note).collect()));
    Document {
        kind: "Record",
        about: record.title.clone(),
        finding: record.sentence.clone(),
        blocks,
        data: Data::default(),
    }
}

/// What comes before several records.
pub(crate) fn of_several(overview: &Overview) -> Document {
    let mut columns = vec![left("medium"), left("record")];
    columns.extend(overview.columns.iter().map(right));
    columns.push(left("result"));
    let rows = overview.rows.iter().map(|listed| {
        let names = [Cell::from(listed.title.as_str()), listed.place.as_str().into()];
        Row::Cells(names.into_iter().chain(listed.figures.clone()).chain([listed.word.into()]).collect())
    });
    let table = Table { columns, rows: rows.collect(), ..Table::default() };
    Document {
        kind: "Report",
        about: format!("Comparison of {}", counted(overview.rows.len(), "record")),
        finding: overview.finding.clone(),
        blocks: vec![Block::Table(table), Block::Text(Overview::LEGEND.to_owned())],
        data: Data::default(),
    }
}

fn titled(title: &str, items: Vec<(String, String)>) -> Vec<Block> {
    if items.is_empty() { Vec::new() } else { vec![Block::Heading(title.to_owned()), Block::Items(items)] }
}

fn loads(record: &Presented<'_>) -> Block {
    let figures = ["MB/s", "synced MB/s", "IOPS", "p50", "p99", "of bus", "n"].map(right);
    let columns = std::iter::once(left("workload")).chain(figures).chain([left("remarks")]).collect();
    Block::Table(Table { columns, rows: record.loads.iter().map(load).collect(), ..Table::default() })
}

fn load(load: &LoadRow<'_>) -> Row {
    let figures = load.figures.as_ref().map_or_else(
        |_| vec![String::new(); 7],
        |f| {
            let rates = [f.rate, f.durable, f.iops].map(|figure| figure.map_or_else(String::new, |f| f.bracketed()));
            let share = f.share.map(percent).unwrap_or_default();
            let n = f.n().map(|n| n.to_string()).unwrap_or_default();
            rates.into_iter().chain([f.p50.clone(), f.p99.clone(), share, n]).collect()
        },
    );
    std::iter::once(load.title.clone()).chain(figures).chain([load.beside()]).collect::<Vec<_>>().into()
}

fn crosscheck(found: &Crosscheck) -> Block {
    let columns = std::iter::once(left(found.title.clone())).chain(Crosscheck::COLUMNS.map(right)).collect();
    let row = |row: &crate::presented::crosscheck::Row| {
        let name = match &row.trouble {
            Some(trouble) => format!("{}: {trouble}", row.workload),
            None => row.workload.clone(),
        };
        vec![name, row.rate.clone(), row.p50.clone(), row.p99.clone()].into()
    };
    Block::Table(Table { columns, rows: found.rows.iter().map(row).collect(), ..Table::default() })
}
