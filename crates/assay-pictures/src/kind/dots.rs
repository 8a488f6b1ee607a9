//! Every unit as a row, every repeat as a dot: what lies between units and what between models.

use assay_analysis::{Quantity, deciding_quantity};
use assay_core::observation::Observation;
use assay_core::text::capitalised;

use crate::data::{
    BusCeiling, Decided, Label, Value, Wanted, by_how_much, ceilings, notes, repeats, rests_on, subjects, unit, value,
    with_unit,
};
use crate::paint::{Drawing, looks};
use crate::sheet;
use crate::sheet::{IntervalRow, Sheet, WIDTH};

/// Units under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// The finding; `None` for a title that says what is shown.
    pub title: Option<String>,
    /// The load: `random read 4 KiB`.
    pub load: String,
    /// Unit of the figures.
    pub unit: String,
    /// Units; those of a model together.
    pub rows: Vec<DotRow>,
    /// Ceilings, where the unit is MB/s.
    pub ceilings: Vec<BusCeiling>,
    /// Below the picture.
    pub notes: Vec<String>,
}

/// One unit.
#[derive(Debug, Clone, PartialEq)]
pub struct DotRow {
    /// Who it is.
    pub label: Label,
    /// Its model.
    pub model: String,
    /// Place of its model among those of all pictures that stand together, which gives it its colour.
    pub hue: usize,
    /// Which physical piece it is; empty where that is not known.
    pub unit: String,
    /// Its figure.
    pub value: Value,
    /// Its repeats.
    pub repeats: Vec<f64>,
}

impl Dots {
    /// The units of these records under the load that most of them have.
    #[must_use]
    pub fn from_records(records: &[Observation], wanted: &Wanted) -> Option<Self> {
        let Decided { load, title } = wanted.one(records)?;
        let quantity = deciding_quantity(records, &load).quantity;
        let mut shown: Vec<&Observation> = Vec::new();
        let mut rows: Vec<DotRow> = Vec::new();
        for subject in subjects(records) {
            if let Some(value) = value(subject.record, &load, quantity) {
                shown.push(subject.record);
                let repeats = repeats(subject.record, &load, quantity);
                let (label, model, unit) = (subject.label, subject.model, subject.unit);
                rows.push(DotRow { label, model, hue: subject.hue, unit, value, repeats });
            }
        }
        if rows.is_empty() {
            return None;
        }
        // Models by their best unit, units by their figure.
        let best = |model: &str| {
            rows.iter().filter(|r| r.model == model && r.value.counts()).map(|r| r.value.point).fold(0.0, f64::max)
        };
        let keys: Vec<f64> = rows.iter().map(|row| best(&row.model)).collect();
        let mut keyed: Vec<(f64, DotRow)> = keys.into_iter().zip(rows).collect();
        keyed.sort_by(|(a, x), (b, y)| {
            b.total_cmp(a).then_with(|| x.model.cmp(&y.model)).then(y.value.point.total_cmp(&x.value.point))
        });
        let rows: Vec<DotRow> = keyed.into_iter().map(|(_, row)| row).collect();
        let missing = records.len() - rows.len();
        let missing =
            (missing > 0).then(|| format!("{missing} of {} records have no figure of this load.", records.len()));
        let ceilings = if matches!(quantity, Quantity::BytesPerSecond | Quantity::DurableBytesPerSecond) {
            ceilings(shown)
        } else {
            Vec::new()
        };
        Some(Self {
            title,
            load: load.title(),
            unit: unit(quantity).to_owned(),
            rows,
            ceilings,
            notes: missing.into_iter().collect(),
        })
    }

    fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let good: Vec<&DotRow> = self.rows.iter().filter(|row| row.value.counts()).collect();
        let Some(first) = good.first() else { return format!("No valid figure of {}", self.load) };
        if good.len() == 1 {
            let (least, most) = ends(first.repeats.iter().copied());
            let figure = format!("{} does {} at {}", first.label, with_unit(first.value.point, &self.unit), self.load);
            return if first.repeats.len() > 1 {
                format!("{figure}; its {} repeats lie within {}", first.repeats.len(), by_how_much(most / least))
            } else {
                figure
            };
        }
        let mut models: Vec<&str> = good.iter().map(|row| row.model.as_str()).collect();
        models.dedup();
        // Several records of one piece are no units.
        let distinct =
            |i: usize, row: &DotRow| good[..i].iter().all(|o| (&o.model, &o.unit) != (&row.model, &row.unit));
        let all_units = good.iter().enumerate().all(|(i, row)| distinct(i, row));
        let shown = format!("{} {}", good.len(), if all_units { "units" } else { "records" });
        let head = format!("{}, {}", capitalised(&self.load), self.unit);
        match &models[..] {
            [model] => {
                let (least, most) = ends(good.iter().map(|row| row.value.point));
                format!("{head}: {shown} of {model}, whose figures lie within {}", by_how_much(most / least))
            }
            several => format!("{head}: {shown} of {} models", several.len()),
        }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), v| (v.min(least), v.max(most)))
}

/// Draws units with their repeats.
#[must_use]
pub fn dots(data: &Dots) -> Drawing {
    let with_repeats = data.rows.iter().any(|row| row.repeats.len() > 1);
    let circles = if with_repeats { "; circles are repeats" } else { "" };
    let described = format!("{}, {}; {}{circles}", data.load, data.unit, rests_on(data.rows.iter().map(|r| &r.value)));
    let mut sheet = Sheet::new(WIDTH, &data.title(), &described);
    let looks = looks(data.rows.iter().map(|row| row.hue));
    let mut before = "";
    let mut rows: Vec<IntervalRow> = Vec::new();
    for (r, look) in data.rows.iter().zip(looks) {
        let first = r.model != before;
        before = &r.model;
        rows.push(IntervalRow { lead: "", label: &r.label, value: &r.value, repeats: &r.repeats, look, first });
    }
    let bottom = sheet::draw_rows(&mut sheet, &rows, &data.ceilings, &data.unit);
    let mut small = notes(data.rows.iter().map(|r| (&r.label, &r.value)));
    small.extend(data.notes.iter().cloned());
    sheet.finish(bottom, &small)
}
