//! The overview of several records, shown before each of them.

use assay_core::record::Record;
use assay_core::text::clean;
use assay_pictures::Decided;

use crate::document::Cell;
use crate::facts;
use crate::headline::Columns;
use crate::list::{figure_cell, figure_title};
use crate::verdict::{Tone, tone, word};

/// Several records: what they come to, and a line for each.
pub(crate) struct Overview {
    /// The finding.
    pub(crate) finding: String,
    /// What pictures show that stand beside it.
    pub(crate) decided: Option<Decided>,
    /// Titles of the columns of figures, each of one load.
    pub(crate) columns: [String; FIGURES],
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
    pub(crate) figures: [Cell; FIGURES],
    /// The same as numbers, in the unit of the column; none where there is no figure.
    pub(crate) points: [Option<f64>; FIGURES],
}

/// Number of figures that represent a record.
const FIGURES: usize = Columns::TITLES.len();

impl Overview {
    /// Said under the table.
    pub(crate) const LEGEND: &str = "± is the confidence interval of a figure, n the number of values where there is none. \
         A column is of the load in its title; a figure of another load names that load.";

    pub(crate) fn of(records: &[Record]) -> Self {
        let loads = Columns::of(records);
        let found = crate::presented::finding::of(records, None);
        let decided = found.beside();
        Self {
            finding: found.sentence,
            decided,
            columns: std::array::from_fn(|at| figure_title(&loads, at)),
            rows: records.iter().map(|record| Listed::of(record, &loads)).collect(),
        }
    }
}

impl Listed {
    fn of(record: &Record, loads: &Columns) -> Self {
        Self {
            title: record.title(),
            place: place(record),
            word: word(record),
            tone: tone(record),
            figures: std::array::from_fn(|at| figure_cell(loads, record, at)),
            points: std::array::from_fn(|at| loads.figure(record, at).map(|found| found.estimate.point / found.unit)),
        }
    }
}

fn place(record: &Record) -> String {
    let part = |name: &str, text: String| (!text.is_empty()).then(|| format!("{name} {text}"));
    let labels = Some(facts::other_labels(record)).filter(|labels| !labels.is_empty());
    let parts = [Some(clean(&record.id)), part("unit", facts::unit(record)), part("slot", facts::slot(record)), labels];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
