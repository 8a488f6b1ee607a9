//! A ranking: who is where, with intervals.

use assay_analysis::{Load, Quantity};
use assay_core::record::Record;

use crate::data::{Ceiling, Value, by_how_much, ceilings, notes, rests_on, subjects, unit, value};
use crate::paint::looks;
use crate::rows::{self, Row};
use crate::scene::Drawing;
use crate::sheet::{Sheet, WIDTH};
use crate::wanted::Wanted;

/// Rows from the best to the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The finding; one that the rows themselves show where there is none.
    pub title: Option<String>,
    /// What was ranked: `random read 4 KiB`.
    pub load: String,
    /// Unit of the figures.
    pub unit: String,
    /// Whether more is better.
    pub more_is_better: bool,
    /// The rows, in order.
    pub rows: Vec<RankRow>,
    /// Ceilings, where the unit is MB/s.
    pub ceilings: Vec<Ceiling>,
    /// Below the picture.
    pub notes: Vec<String>,
}

/// One model or unit.
#[derive(Debug, Clone, PartialEq)]
pub struct RankRow {
    /// Its place: `1`, `2–4`, or nothing.
    pub place: String,
    /// Who it is.
    pub label: String,
    /// Place of its model among those of all pictures that stand together, which gives it its colour.
    pub hue: usize,
    /// Its figure.
    pub value: Value,
}

impl Ranking {
    /// Records in the order of one load, by their figures alone; ties are what `assay rank` finds.
    #[must_use]
    pub fn of(records: &[Record], wanted: &Wanted) -> Option<Self> {
        let load: Load = wanted.one(records)?;
        let quantity = Quantity::usual(&load);
        let mut rows: Vec<RankRow> = Vec::new();
        let mut shown: Vec<&Record> = Vec::new();
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
        let ceilings = if quantity == Quantity::BytesPerSecond { ceilings(shown) } else { Vec::new() };
        Some(Self {
            title: None,
            load: load.title(),
            unit: unit(quantity).to_owned(),
            more_is_better: true,
            rows,
            ceilings,
            notes,
        })
    }

    fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let mut good = self.rows.iter().filter(|row| row.value.counts());
        let Some(first) = good.next() else { return format!("No valid figure of {}", self.load) };
        let Some(second) = good.clone().next() else {
            return format!(
                "{} does {} at {}",
                first.label,
                crate::data::said(first.value.point, &self.unit),
                self.load
            );
        };
        let ratio = first.value.point / second.value.point;
        let ahead = by_how_much(if self.more_is_better { ratio } else { 1.0 / ratio });
        let reach = |row: &RankRow| -> Option<bool> {
            let ((a, b), (c, d)) = (first.value.interval?, row.value.interval?);
            Some(a <= d && c <= b)
        };
        let touching = good.clone().filter(|row| reach(row) == Some(true)).count();
        let bounded = first.value.bounded() && second.value.bounded();
        let meets = good.clone().count();
        if ahead.starts_with("less") {
            return format!("{} and {} do the same at {}", first.label, second.label, self.load);
        }
        if bounded {
            format!(
                "{} and {} are both at the limit of the bus or the instrument at {}",
                first.label, second.label, self.load
            )
        } else if touching > 0 {
            format!(
                "{} leads at {} by {ahead}; its interval meets those of {touching} of {meets} others",
                first.label, self.load
            )
        } else if reach(second).is_some() {
            format!("{} leads at {} by {ahead}, clear of the intervals of all others", first.label, self.load)
        } else {
            format!("{} leads {} by {ahead} at {}", first.label, second.label, self.load)
        }
    }
}

/// Draws a ranking.
#[must_use]
pub fn ranking(data: &Ranking) -> Drawing {
    let described = format!("{}, {}; {}", data.load, data.unit, rests_on(data.rows.iter().map(|r| &r.value)));
    let mut sheet = Sheet::new(WIDTH, &data.title(), &described);
    let looks = looks(data.rows.iter().map(|row| row.hue));
    let rows: Vec<Row> = data
        .rows
        .iter()
        .zip(looks)
        .map(|(r, look)| Row { lead: &r.place, label: &r.label, value: &r.value, repeats: &[], look, first: false })
        .collect();
    let bottom = rows::draw(&mut sheet, &rows, &data.ceilings, &data.unit);
    let mut small = notes(data.rows.iter().map(|r| (r.label.as_str(), &r.value)));
    small.extend(data.notes.iter().cloned());
    sheet.finish(bottom, &small)
}
