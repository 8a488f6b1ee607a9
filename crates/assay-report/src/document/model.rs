//! The parts of an answer.

use assay_core::text;
use assay_core::units::exact;
use assay_pictures::{Drawing, Film};

use crate::headline::Shown;

/// An answer. Text may come from records and is escaped during layout.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The kind of answer: `Ranking`.
    pub(crate) kind: &'static str,
    /// The subject in a few words: the title of a page.
    pub(crate) about: String,
    /// The finding: the heading of a page, the first sentence on a terminal.
    pub(crate) finding: String,
    pub(crate) blocks: Vec<Block>,
    /// The figures for spreadsheets and scripts.
    pub(crate) data: Data,
}

/// An answer for people and for machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// For people.
    pub document: Document,
    /// The numbers behind it.
    pub json: serde_json::Value,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Heading(String),
    Text(String),
    Table(Table),
    /// Labelled texts: facts, notes, what was left out.
    Items(Vec<(String, String)>),
    /// A picture, shown neither on a terminal nor in Markdown.
    Picture(Box<Drawing>),
    /// A picture in a separate file beside the text, with its caption; not shown on a terminal.
    Figure(Box<Figure>),
    /// A table that replaces a picture, shown on a terminal only.
    Plain(Table),
    /// Details for few readers, under a title.
    Folded {
        title: String,
        blocks: Vec<Block>,
    },
}

/// A picture with a caption.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Name of its file.
    pub(crate) file: String,
    /// The kind of picture, shown where the picture itself cannot be.
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) shown: Seen,
}

/// The picture itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Still(Drawing),
    Film(Film),
}

/// Rows under titles.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    /// What stands over it; nothing where the text before it says that.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<TableRow>,
}

impl Table {
    /// The table without the columns in which several rows have nothing but dashes.
    pub(crate) fn filled(&self) -> Self {
        let rows: Vec<&Vec<Cell>> = self.rows.iter().filter_map(TableRow::cells).collect();
        let says = |cell: &Cell| !["", "–"].contains(&cell.value.as_str()) || !cell.small.is_empty();
        let keeps = |at: usize| {
            let own = || rows.iter().filter_map(|cells| cells.get(at));
            at == 0 || own().count() < 2 || own().any(says)
        };
        let kept: Vec<usize> = (0..self.columns.len()).filter(|at| keeps(*at)).collect();
        let of = |cells: &Vec<Cell>| kept.iter().filter_map(|at| cells.get(*at).cloned()).collect();
        let row = |row: &TableRow| row.cells().map_or_else(|| row.clone(), |cells| TableRow::Cells(of(cells)));
        Self {
            caption: self.caption.clone(),
            columns: kept.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

impl TableRow {
    /// Its cells; `None` of a heading.
    fn cells(&self) -> Option<&Vec<Cell>> {
        match self {
            Self::Heading(_) => None,
            Self::Cells(cells) => Some(cells),
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub(crate) title: String,
    /// Further lines of the title, on a terminal alone.
    pub(crate) under: Vec<String>,
    /// Figures stand to the right.
    pub(crate) right: bool,
    /// Text of the cells that is wider than the column takes several lines on a terminal, instead of being cut.
    pub(crate) wraps: bool,
}

/// A column of text.
pub fn left(title: impl Into<String>) -> Column {
    Column { title: title.into(), under: Vec::new(), right: false, wraps: false }
}

/// A column of figures.
pub fn right(title: impl Into<String>) -> Column {
    Column { right: true, ..left(title) }
}

/// A column of sentences.
pub fn wrapped(title: impl Into<String>) -> Column {
    Column { wraps: true, ..left(title) }
}

/// A line of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TableRow {
    /// Over the rows of a group.
    Heading(String),
    Cells(Vec<Cell>),
}

impl<const N: usize> From<[Cell; N]> for TableRow {
    fn from(cells: [Cell; N]) -> Self {
        Self::Cells(cells.into())
    }
}

impl From<Vec<String>> for TableRow {
    fn from(cells: Vec<String>) -> Self {
        Self::Cells(cells.into_iter().map(Cell::from).collect())
    }
}

/// A cell: a value, and a small remark on its uncertainty or its circumstances.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    pub(crate) value: String,
    pub(crate) small: String,
    /// A word that sets it off from the others of its column: `best`.
    pub(crate) mark: &'static str,
    /// Further lines, on a terminal alone.
    pub(crate) under: Vec<String>,
}

/// The mark of a value that is better than all others of its column.
pub(crate) const BEST: &str = "best";

impl Cell {
    pub(crate) fn with(value: impl ToString, small: impl Into<String>) -> Self {
        Self { value: value.to_string(), small: small.into(), ..Self::default() }
    }

    /// All of it in a line.
    pub(crate) fn text(&self) -> String {
        let parts = [self.value.as_str(), &self.small, self.mark];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl From<Shown> for Cell {
    fn from(shown: Shown) -> Self {
        Self::with(shown.value, shown.spread)
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self { value, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        value.to_owned().into()
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        value.to_string().into()
    }
}

/// A table for machines: names of columns hold units, values are exact.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Data {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A number of [`Data`]; empty for `None`.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map(exact).unwrap_or_default()
}

impl Document {
    /// The figures as CSV (RFC 4180), a row each.
    #[must_use]
    pub fn csv(&self) -> String {
        let head = self.data.columns.iter().map(|name| text::csv(name)).collect();
        let rows = self.data.rows.iter().map(|row| row.iter().map(|cell| text::csv(cell)).collect());
        std::iter::once(head).chain(rows).map(|cells: Vec<String>| cells.join(",") + "\r\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_dashes_is_left_out() {
        let rows = |last: &str| {
            vec![
                vec!["A".to_owned(), "–".to_owned(), "1".to_owned()],
                vec!["B".to_owned(), last.to_owned(), "–".to_owned()],
            ]
        };
        let of = |rows: Vec<Vec<String>>| Table {
            columns: vec![left("model"), right("95 %"), right("units")],
            rows: rows.into_iter().map(TableRow::from).collect(),
            ..Table::default()
        };
        let titles = |table: &Table| table.filled().columns.iter().map(|c| c.title.clone()).collect::<Vec<_>>();
        assert_eq!(titles(&of(rows("–"))), ["model", "units"]);
        assert_eq!(titles(&of(rows("2–3"))), ["model", "95 %", "units"]);
        assert_eq!(titles(&of(rows("–")[..1].to_vec())).len(), 3, "of one row a dash is an answer");
    }
}
