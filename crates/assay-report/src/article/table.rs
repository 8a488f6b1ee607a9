//! The tables of figures.

use assay_analysis::Quantity;
use assay_core::text::capitalised;
use assay_core::units::counted;

use super::cells::{Figure, Shown, cell, figure};
use super::columns::{Column, Plan, block, kind};
use super::media::{Model, Of, rows};
use super::scope::Scope;
use crate::document::{Cell, Row, Table, left, right};

/// What all tables are made of.
pub(super) struct Figures<'a> {
    pub(super) scopes: &'a [Scope<'a>],
    pub(super) media: &'a [Model<'a>],
    /// Whether each figure is a single value, which is then stated once.
    pub(super) single: bool,
}

impl Figures<'_> {
    fn figure(&self, column: &Column, of: Of<'_>) -> Option<Figure> {
        figure(&self.scopes[column.scope], &column.load, of)
    }

    /// What a column is shown in, by its first figure.
    fn shown(&self, column: &Column, figures: &[Option<Figure>]) -> Shown {
        let like = figures.iter().flatten().next().map_or(1.0, |figure| figure.estimate.point);
        Shown::of(&column.load, self.scopes[column.scope].quantity(&column.load), like)
    }

    /// `4 KiB, IOPS`.
    fn titled(&self, column: &Column, shown: Shown) -> String {
        let what = match self.scopes[column.scope].quantity(&column.load) {
            Quantity::Iops | Quantity::BytesPerSecond => shown.unit.to_owned(),
            other => format!("{} {}", other.title(), shown.unit),
        };
        format!("{}, {what}", column.title)
    }

    /// The table of a plan: a row for each medium that has a figure in it.
    pub(super) fn table(&self, plan: &Plan) -> Table {
        let all = rows(self.media);
        let mut columns = vec![left("medium")];
        let mut cells: Vec<Vec<Cell>> = all.iter().map(|of| vec![name(*of)]).collect();
        let mut filled = vec![false; all.len()];
        for column in &plan.columns {
            let figures: Vec<Option<Figure>> = all.iter().map(|of| self.figure(column, *of)).collect();
            let shown = self.shown(column, &figures);
            columns.push(right(self.titled(column, shown)));
            for (at, figure) in figures.iter().enumerate() {
                filled[at] |= figure.is_some();
                cells[at].push(cell(figure.as_ref(), shown, !self.single));
            }
        }
        let rows = cells.into_iter().zip(filled).filter(|(_, filled)| *filled);
        Table { caption: plan.title.clone(), columns, rows: rows.map(|(cells, _)| Row::Cells(cells)).collect() }
    }

    /// All loads of one medium: rows are sizes of blocks, columns kinds of loads, as nothing stands beside it. `None`
    /// where there are several media, or where sizes do not vary.
    pub(super) fn turned(&self, plans: &[Plan]) -> Option<Table> {
        let [model] = self.media else { return None };
        let [unit] = model.units.as_slice() else { return None };
        let columns: Vec<&Column> = plans.iter().flat_map(|plan| &plan.columns).collect();
        let mut kinds: Vec<String> = Vec::new();
        let mut blocks: Vec<(u64, String)> = Vec::new();
        for column in &columns {
            let (kind, block) = (kind(&column.load), (column.load.block_bytes, block(&column.load)));
            kinds.extend(Some(kind).filter(|kind| !kinds.contains(kind)));
            blocks.extend(Some(block).filter(|block| !blocks.contains(block)));
        }
        if kinds.len() < 2 || blocks.len() < 2 || kinds.len() > 8 {
            return None;
        }
        blocks.sort();
        let cells = |(_, size): &(u64, String)| {
            let of = |kind: &String| {
                let found = columns.iter().find(|c| self::kind(&c.load) == *kind && block(&c.load) == *size);
                let Some(column) = found else { return Cell::default() };
                let figure = self.figure(column, Of::One(model, unit));
                let shown = self.shown(column, std::slice::from_ref(&figure));
                let cell = cell(figure.as_ref(), shown, !self.single);
                Cell { value: format!("{} {}", cell.value, shown.unit), ..cell }
            };
            Row::Cells(std::iter::once(Cell::from(size.as_str())).chain(kinds.iter().map(of)).collect())
        };
        let rows = blocks.iter().map(cells).collect();
        let titles = kinds.iter().map(|kind| right(capitalised(kind)));
        let columns = std::iter::once(left("block")).chain(titles).collect();
        Some(Table { caption: String::new(), columns, rows })
    }
}

/// The name of the medium of a row.
pub(super) fn name(of: Of<'_>) -> Cell {
    match of {
        Of::Whole(model) => Cell::with(&model.title, format!("({})", counted(model.units.len(), "unit"))),
        Of::One(model, unit) if model.units.len() == 1 => {
            let title = if unit.title.is_empty() { String::new() } else { format!("(unit {})", unit.title) };
            Cell::with(&model.title, title)
        }
        Of::One(model, unit) => {
            let title = if unit.title.is_empty() { "without a name" } else { &unit.title };
            Cell::with(format!("{}, unit {title}", model.title), "")
        }
    }
}
