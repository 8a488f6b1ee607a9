//! Records by workloads.

use assay_analysis::{Load, deciding_quantity};
use assay_core::observation::Observation;
use assay_core::units::{figures, fixed};

use crate::data::{Label, Value, Wanted, counted, notes, subjects, unit, value};
use crate::font;
use crate::paint::{Anchor, BAND, Drawing, INK, MUTE, PAPER, Ramp, Stroke, VOID, heat as shade};
use crate::sheet::{EDGE, Heads, LABEL, Sheet};

/// Figures of units (rows) under loads (columns).
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Names of the rows.
    pub rows: Vec<Label>,
    /// Columns.
    pub columns: Vec<Column>,
    /// Below the picture.
    pub notes: Vec<String>,
}

/// One load.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The load: `random read 4 KiB`.
    pub load: String,
    /// Unit of its figures.
    pub unit: String,
    /// A figure for each row, where there is one.
    pub cells: Vec<Option<Value>>,
}

impl Column {
    fn best(&self) -> f64 {
        self.cells.iter().flatten().filter(|v| v.counts()).map(|v| v.point).fold(0.0, f64::max)
    }
}

/// Side of a cell.
const CELL: (f64, f64) = (44.0, 24.0);

impl Heat {
    /// All loads that two records or more have; of one record nothing can be compared.
    #[must_use]
    pub fn from_records(records: &[Observation], wanted: &Wanted) -> Option<Self> {
        let all = subjects(records);
        let column = |load: &Load| {
            let quantity = deciding_quantity(records, load).quantity;
            let cells = all.iter().map(|s| value(s.record, load, quantity)).collect();
            Column { load: load.title(), unit: unit(quantity).to_owned(), cells }
        };
        let every: Vec<Column> = wanted.loads_of(records).iter().map(column).collect();
        let (columns, alone): (Vec<Column>, Vec<Column>) =
            every.into_iter().partition(|c| c.cells.iter().flatten().filter(|v| v.counts()).count() > 1);
        let kept: Vec<usize> = (0..all.len()).filter(|i| columns.iter().any(|c| c.cells[*i].is_some())).collect();
        let columns: Vec<Column> = columns
            .into_iter()
            .map(|c| Column { cells: kept.iter().map(|i| c.cells[*i].clone()).collect(), ..c })
            .collect();
        let mut notes = Vec::new();
        if !alone.is_empty() {
            notes.push(format!("{} more loads have a valid figure of fewer than two records.", alone.len()));
        }
        let missing = all.len() - kept.len();
        if missing > 0 {
            notes.push(format!("{missing} of {} records share no load with another.", all.len()));
        }
        let rows = kept.iter().map(|i| all[*i].label.clone()).collect();
        (!columns.is_empty()).then_some(Self { rows, columns, notes })
    }

    fn title(&self) -> String {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        format!("{} under {}", count(self.rows.len(), "record"), count(self.columns.len(), "load"))
    }
}

/// Draws units by workloads; each column is shaded by the share of its best.
#[must_use]
pub fn heat(data: &Heat) -> Drawing {
    let names = data.rows.iter().map(|n| font::width(&n.to_string(), LABEL, false)).fold(60.0, f64::max).min(230.0);
    let left = EDGE + names + 12.0;
    let heads = Heads::new(data.columns.iter().map(|c| format!("{}, {}", c.load, c.unit)).collect());
    let width = heads.width(left, CELL.0);
    let values = || data.columns.iter().flat_map(|c| c.cells.iter().flatten());
    let described = format!(
        "MB/s (10⁶ bytes) or IOPS; the darker, the nearer to the best of its column; {}, intervals are not shown",
        counted(values())
    );
    let mut sheet = Sheet::new(width, &data.title(), &described);
    let top = sheet.top + heads.rise() + 10.0;
    for (row, name) in data.rows.iter().enumerate() {
        let y = top + CELL.1 * row as f64;
        if row % 2 == 0 {
            sheet.drawing.rect(EDGE - 6.0, y, left - EDGE + 6.0, CELL.1, Some(BAND), None);
        }
        let name = name.fitted(LABEL, names);
        sheet.drawing.text(EDGE, y + 16.5, LABEL, INK, Anchor::Start, &name);
    }
    for (i, column) in data.columns.iter().enumerate() {
        let x = left + CELL.0 * i as f64;
        heads.write(&mut sheet.drawing, i, (x, top), CELL.0);
        let best = column.best();
        for (row, cell) in column.cells.iter().enumerate() {
            let y = top + CELL.1 * row as f64;
            square(&mut sheet.drawing, (x, y), cell.as_ref(), best);
        }
    }
    let bottom = top + CELL.1 * data.rows.len() as f64;
    key(&mut sheet.drawing, left, bottom + 14.0);
    let named = data.columns.iter().flat_map(|c| data.rows.iter().zip(&c.cells));
    let small = notes(named.filter_map(|(name, cell)| Some((name, cell.as_ref()?))));
    let said = |n: String| n.replace("Hollow:", "≥:").replace("Not drawn:", "Crossed out under a load:");
    let mut small: Vec<String> = small.into_iter().map(said).collect();
    small.extend(data.notes.iter().cloned());
    sheet.finish(bottom + 36.0, &small)
}

fn square(drawing: &mut Drawing, (x, y): (f64, f64), cell: Option<&Value>, best: f64) {
    let rim = Some(Stroke::thin(PAPER));
    let middle = x + CELL.0 / 2.0;
    match cell {
        Some(v) if v.counts() && best > 0.0 => {
            let Ramp { paper, ink } = shade(v.point / best);
            drawing.rect(x, y, CELL.0, CELL.1, Some(paper), rim);
            let figure = format!("{}{}", if v.bounded() { "≥" } else { "" }, short(v.point));
            drawing.text(middle, y + 16.0, 11.0, ink, Anchor::Middle, &font::fitted(&figure, 11.0, CELL.0 - 2.0));
        }
        Some(_) => {
            drawing.rect(x, y, CELL.0, CELL.1, Some(VOID), rim);
            drawing.line([(x + 4.0, y + 4.0), (x + CELL.0 - 4.0, y + CELL.1 - 4.0)], Stroke::thin(MUTE));
            drawing.line([(x + 4.0, y + CELL.1 - 4.0), (x + CELL.0 - 4.0, y + 4.0)], Stroke::thin(MUTE));
        }
        None => drawing.rect(x, y, CELL.0, CELL.1, Some(VOID), rim),
    }
}

/// Five letters at most.
pub(super) fn short(value: f64) -> String {
    if value >= 999_500.0 {
        format!("{}M", fixed(value / 1e6, 1))
    } else if value >= 99_950.0 {
        format!("{:.0}k", value / 1e3)
    } else if value >= 9_995.0 {
        format!("{:.1}k", value / 1e3)
    } else {
        figures(value)
    }
}

fn key(drawing: &mut Drawing, left: f64, y: f64) {
    let steps = 10;
    for step in 0..steps {
        let Ramp { paper, .. } = shade(f64::from(step) / f64::from(steps - 1));
        drawing.rect(left + 14.0 * f64::from(step), y, 14.0, 9.0, Some(paper), None);
    }
    let end = left + 14.0 * f64::from(steps);
    drawing.text(left - 8.0, y + 9.0, 11.0, MUTE, Anchor::End, "0 %");
    drawing.text(end + 8.0, y + 9.0, 11.0, MUTE, Anchor::Start, "100 % of the best of the column");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Shape;

    #[test]
    fn a_cell_is_as_dark_as_its_share_of_the_best() {
        for share in [0.25, 0.5, 1.0] {
            let value = Value { point: 400.0 * share, interval: None, level: None, n: 1, marks: Vec::new() };
            let mut drawing = Sheet::new(200.0, "", "").drawing;
            drawing.shapes.clear();
            square(&mut drawing, (0.0, 0.0), Some(&value), 400.0);
            let Shape::Path { fill, .. } = &drawing.shapes[0] else { panic!("{:?}", drawing.shapes[0]) };
            assert_eq!(*fill, Some(shade(share).paper), "{share}");
        }
    }
}
