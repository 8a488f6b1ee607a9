//! The overview of several records, shown before each of them.

use assay_analysis::Load;
use assay_analysis::compare::{By, CompareRequest, compare, split};
use assay_analysis::rank::{RankOptions, rank};
use assay_core::observation::Observation;
use assay_core::text::{capitalised, clean};
use assay_core::units::{counted, rate};
use assay_pictures::{Decided, PictureKind, Wanted, still};

use super::{Crosscheck, LoadRow, Presented};
use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, right};
use crate::headline::{Columns, percent};
use crate::list::{figure_cell, figure_title};
use crate::verdict::{Tone, tone, word};
use crate::{compare, facts, rank};

/// Several records: what they come to, and a line for each.
pub(crate) struct Overview {
    /// The finding.
    pub(crate) finding: String,
    /// What pictures show that stand beside it.
    pub(crate) decided: Option<Decided>,
    /// Titles of the columns of figures that any record fills, each of one load.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Listed>,
}

/// A record in the line of a table.
pub(crate) struct Listed {
    /// The medium.
    pub(crate) title: String,
    /// What tells records of one model apart: id, unit, slot and other labels.
    pub(crate) place: String,
    pub(crate) word: &'static str,
    pub(crate) tone: Tone,
    pub(crate) figures: Vec<Cell>,
    /// The same as numbers, in the unit of the column; none where there is no figure.
    pub(crate) points: Vec<Option<f64>>,
}

impl Overview {
    /// Said under the table.
    pub(crate) const LEGEND: &str = "± is the confidence interval of a figure, n the number of values where there is none. \
         A column is of the load in its title; a figure of another load names that load.";

    pub(crate) fn from_records(records: &[Observation]) -> Self {
        let loads = Columns::from_records(records);
        let found = common_finding(records, None);
        let decided = found.beside();
        Self {
            finding: found.sentence().to_owned(),
            decided,
            columns: loads.filled().into_iter().map(|at| figure_title(&loads, at)).collect(),
            rows: records.iter().map(|record| Listed::from_record(record, &loads)).collect(),
        }
    }
}

impl Listed {
    fn from_record(record: &Observation, loads: &Columns) -> Self {
        Self {
            title: record.title(),
            place: figure_place(record),
            word: word(record),
            tone: tone(record),
            figures: loads.filled().into_iter().map(|at| figure_cell(loads, record, at)).collect(),
            points: loads.filled().into_iter().map(|at| point(loads, record, at)).collect(),
        }
    }
}

fn point(loads: &Columns, record: &Observation, at: usize) -> Option<f64> {
    loads.figure(record, at).map(|found| found.estimate.point / found.unit)
}

fn figure_place(record: &Observation) -> String {
    let part = |name: &str, text: String| (!text.is_empty()).then(|| format!("{name} {text}"));
    let labels = Some(facts::other_labels(record)).filter(|labels| !labels.is_empty());
    let parts = [Some(clean(&record.id)), part("unit", facts::unit(record)), part("slot", facts::slot(record)), labels];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

// Records as documents, the source of the Markdown output.

/// One record.
pub(crate) fn record_document(record: &Presented<'_>) -> Document {
    let mut blocks = vec![Block::Items(record.on_page())];
    if !record.loads.is_empty() {
        blocks.push(loads_table(record));
        blocks.extend(
            record
                .record
                .medium
                .reachable()
                .map(|bus| Block::Text(format!("Reachable rate of the bus: {}.", rate(bus)))),
        );
    }
    blocks.extend(record.crosscheck.as_ref().map(crosscheck_table));
    blocks.extend(titled_text("Genuine or fake", record.checked()));
    let note = |note: &crate::caveats::Note| (note.word().to_owned(), note.sentences());
    blocks.extend(titled_text("Warnings", record.notes.iter().map(note).collect()));
    Document {
        kind: "Record",
        about: record.title.clone(),
        finding: record.sentence.clone(),
        blocks,
        data: Data::default(),
    }
}

/// What comes before several records.
pub(crate) fn records_document(overview: &Overview) -> Document {
    let mut columns = vec![left("medium"), left("record")];
    columns.extend(overview.columns.iter().map(right));
    columns.push(left("result"));
    let rows = overview.rows.iter().map(|listed| {
        let names = [Cell::from(listed.title.as_str()), listed.place.as_str().into()];
        TableRow::Cells(names.into_iter().chain(listed.figures.clone()).chain([listed.word.into()]).collect())
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

fn titled_text(title: &str, items: Vec<(String, String)>) -> Vec<Block> {
    if items.is_empty() { Vec::new() } else { vec![Block::Heading(title.to_owned()), Block::Items(items)] }
}

fn loads_table(record: &Presented<'_>) -> Block {
    let figures = ["MB/s", "synced MB/s", "IOPS", "p50", "p99", "of bus", "n"].map(right);
    let columns = std::iter::once(left("workload")).chain(figures).chain([left("remarks")]).collect();
    Block::Table(Table { columns, rows: record.loads.iter().map(load_blocks).collect(), ..Table::default() })
}

fn load_blocks(load: &LoadRow<'_>) -> TableRow {
    let figures = load.figures.as_ref().map_or_else(
        |_| vec![String::new(); 7],
        |f| {
            let mut rates =
                [f.rate, f.durable, f.iops].map(|figure| figure.map_or_else(String::new, |f| f.bracketed()));
            if f.durable_of_writes && f.durable.is_some() {
                rates[1].insert_str(0, "writes ");
            }
            let share = f.share.map(percent).unwrap_or_default();
            let n = f.n().map(|n| n.to_string()).unwrap_or_default();
            rates.into_iter().chain([f.p50.clone(), f.p99.clone(), share, n]).collect()
        },
    );
    std::iter::once(load.title.clone()).chain(figures).chain([load.beside()]).collect::<Vec<_>>().into()
}

fn crosscheck_table(found: &Crosscheck) -> Block {
    let columns = std::iter::once(left(found.title.clone())).chain(Crosscheck::COLUMNS.map(right)).collect();
    let row = |row: &super::record::CrosscheckRow| {
        let name = match &row.trouble {
            Some(trouble) => format!("{}: {trouble}", row.workload),
            None => row.workload.clone(),
        };
        vec![name, row.rate.clone(), row.p50.clone(), row.p99.clone()].into()
    };
    Block::Table(Table { columns, rows: found.rows.iter().map(row).collect(), ..Table::default() })
}

// What several records come to, in a sentence: the answer of the ranking or of the comparison, so that no page and no
// picture says more than they do.

/// A finding and its parts.
#[derive(Debug, Clone)]
pub(crate) struct CommonFinding {
    /// The finding without intervals: one line, for titles.
    pub(crate) title: String,
    /// The whole answer, where that says more.
    answer: Option<String>,
    /// The load that it is about; `None` where no load is.
    load: Option<Load>,
}

impl CommonFinding {
    /// All that is said.
    pub(crate) fn sentence(&self) -> &str {
        self.answer.as_deref().unwrap_or(&self.title)
    }

    /// The whole answer, where it says more than the title.
    pub(crate) fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// For pictures whose title is the finding.
    pub(crate) fn titled(self) -> Option<Decided> {
        Some(Decided { load: self.load?, title: Some(self.title) })
    }

    /// For pictures that stand beside the finding.
    pub(crate) fn beside(&self) -> Option<Decided> {
        Some(Decided { load: self.load.clone()?, title: None })
    }
}

/// The finding on these records, under the load that `words` name or else the deciding one: which model is better where
/// models can be ranked, how two records differ, else a description of the records.
pub(crate) fn common_finding(records: &[Observation], words: Option<&str>) -> CommonFinding {
    let all: Vec<&Observation> = records.iter().collect();
    let primary = words.map(str::to_owned);
    if let Ok(report) = rank(&all, &RankOptions { primary: primary.clone(), ..RankOptions::default() })
        && report.primary.refusal.is_none()
        && report.primary.models.len() > 1
    {
        let under = capitalised(&report.primary.title);
        let answer = Some(format!("{under}: {}", rank::answer(&report)));
        let title = format!("{under}: {}", rank::title(&report.primary));
        return CommonFinding { title, answer, load: Some(report.primary.load) };
    }
    if let [_, _] = records
        && let Ok(found) =
            compare(&split(&[records.to_vec()], By::Record), &CompareRequest { primary, ..CompareRequest::default() })
    {
        let (sentence, title) = compare::finding(&found, records);
        let load = found.primary().map(|load| load.load.clone());
        return CommonFinding { title, answer: load.is_some().then_some(sentence), load };
    }
    let drawn = Wanted::named(records, words).ok().and_then(|wanted| still(PictureKind::Dots, records, &wanted).ok());
    let title = drawn.map_or_else(|| format!("{} records", records.len()), |drawing| drawing.title().to_owned());
    CommonFinding { title, answer: None, load: None }
}
