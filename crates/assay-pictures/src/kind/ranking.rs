//! A ranking: the places of models, with intervals.

use assay_analysis::{Quantity, deciding_quantity};
use assay_core::observation::Observation;
use assay_core::text::capitalised;

use crate::data::{
    BusCeiling, Decided, Label, Value, Wanted, ceilings, notes, rests_on, subjects, unit, value, with_unit,
};
use crate::paint::{Drawing, looks};
use crate::sheet;
use crate::sheet::{IntervalRow, Sheet, WIDTH};

/// Rows from the best to the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The finding; `None` for a title that says what is shown.
    pub title: Option<String>,
    /// The ranked load: `random read 4 KiB`.
    pub load: String,
    /// Unit of the figures.
    pub unit: String,
    /// The rows, in order.
    pub rows: Vec<RankRow>,
    /// Ceilings, where the unit is MB/s.
    pub ceilings: Vec<BusCeiling>,
    /// Below the picture.
    pub notes: Vec<String>,
}

/// One model or unit.
#[derive(Debug, Clone, PartialEq)]
pub struct RankRow {
    /// Its place: `1`, `2–4`, or nothing.
    pub place: String,
    /// Who it is.
    pub label: Label,
    /// Place of its model among those of all pictures that stand together, which gives it its colour.
    pub hue: usize,
    /// Its figure.
    pub value: Value,
}

impl Ranking {
    /// Records in the order of one load, by their figures alone; ties are what `assay rank` finds.
    #[must_use]
    pub fn from_records(records: &[Observation], wanted: &Wanted) -> Option<Self> {
        let Decided { load, title } = wanted.one(records)?;
        let quantity = deciding_quantity(records, &load).quantity;
        let mut rows: Vec<RankRow> = Vec::new();
        let mut shown: Vec<&Observation> = Vec::new();
        for subject in subjects(records) {
            if let Some(value) = value(subject.record, &load, quantity) {
                shown.push(subject.record);
                rows.push(RankRow { place: String::new(), label: subject.label, hue: subject.hue, value });
            }
        }
        if rows.is_empty() {
            return None;
        }
        rows.sort_by(|a, b| b.value.counts().cmp(&a.value.counts()).then(b.value.point.total_cmp(&a.value.point)));
        let missing = records.len() - rows.len();
        let mut notes = vec!["In the order of the figures; which differences are real, assay rank says.".to_owned()];
        if missing > 0 {
            notes.push(format!("{missing} of {} records have no figure of this load.", records.len()));
        }
        let ceilings = if matches!(quantity, Quantity::BytesPerSecond | Quantity::DurableBytesPerSecond) {
            ceilings(shown)
        } else {
            Vec::new()
        };
        Some(Self { title, load: load.title(), unit: unit(quantity).to_owned(), rows, ceilings, notes })
    }

    fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let good: Vec<&RankRow> = self.rows.iter().filter(|row| row.value.counts()).collect();
        match &good[..] {
            [] => format!("No valid figure of {}", self.load),
            [one] => format!("{} does {} at {}", one.label, with_unit(one.value.point, &self.unit), self.load),
            several => format!("{}, {}: {} records", capitalised(&self.load), self.unit, several.len()),
        }
    }
}

/// Draws a ranking.
#[must_use]
pub fn ranking(data: &Ranking) -> Drawing {
    let described = format!("{}, {}; {}", data.load, data.unit, rests_on(data.rows.iter().map(|r| &r.value)));
    let mut sheet = Sheet::new(WIDTH, &data.title(), &described);
    let looks = looks(data.rows.iter().map(|row| row.hue));
    let rows: Vec<IntervalRow> = data
        .rows
        .iter()
        .zip(looks)
        .map(|(r, look)| IntervalRow {
            lead: &r.place,
            label: &r.label,
            value: &r.value,
            repeats: &[],
            look,
            first: false,
        })
        .collect();
    let bottom = sheet::draw_rows(&mut sheet, &rows, &data.ceilings, &data.unit);
    let mut small = notes(data.rows.iter().map(|r| (&r.label, &r.value)));
    small.extend(data.notes.iter().cloned());
    sheet.finish(bottom, &small)
}
