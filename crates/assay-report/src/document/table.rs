//! A table on a terminal: text is left-aligned, figures are right-aligned, and the widest column of text is cut on a
//! narrow terminal. If the table is still too wide, its titles take several lines, and its columns are split into
//! several tables.

use unicode_width::UnicodeWidthStr;

use super::{Block, Cell, Column, Document, Table, TableRow};
use crate::terminal::{Style, shorten, wrap};

const GAP: usize = 2;
/// A column of text is not made narrower than this.
const NARROWEST: usize = 8;
/// A column of sentences is not: their lines would be too short to read.
const NARROWEST_WRAPPED: usize = 24;
/// The first column says what a row is: where less than this would be left of it, other columns go to a further table.
const NARROWEST_FIRST: usize = 20;
/// A column of text in one of several tables is not made wider than this.
const WIDEST: usize = 32;

/// A table that is no part of a document, as text within the width of `style`.
#[must_use]
pub fn plain(columns: Vec<Column>, rows: impl IntoIterator<Item = Vec<String>>, style: &Style) -> String {
    of_rows(columns, rows.into_iter().map(TableRow::from).collect(), style)
}

/// [`plain`] of rows that hold more than text.
pub(crate) fn of_rows(columns: Vec<Column>, rows: Vec<TableRow>, style: &Style) -> String {
    table_lines(&Table { columns, rows, ..Table::default() }, style.bounded()).join("\n") + "\n"
}

/// The lines of a table.
fn table_lines(table: &Table, style: Style) -> Vec<String> {
    let titles: Vec<String> = table.columns.iter().map(|column| style.fold(&column.title)).collect();
    let under: Vec<Vec<String>> =
        table.columns.iter().map(|column| column.under.iter().map(|line| style.fold(line)).collect()).collect();
    let cells: Vec<Line> = table.rows.iter().map(|row| folded(row, style)).collect();
    let figures = widths(&cells, titles.len());
    let titled = |at: usize| under[at].iter().chain([&titles[at]]).map(|line| line.width()).max().unwrap_or(0);
    let mut whole: Vec<usize> = figures.iter().enumerate().map(|(at, width)| titled(at).max(*width)).collect();
    fit(&mut whole, table, style.width);
    let first = figures.first().is_none_or(|natural| whole[0] >= NARROWEST_FIRST.min(*natural));
    if total(&whole) <= style.width && first || titles.len() < 2 {
        let all: Vec<usize> = (0..titles.len()).collect();
        let titles = titles.into_iter().map(|title| vec![title]).collect();
        return laid(table, &cells, &Layout { titles, under, widths: whole, shown: all }, style);
    }
    // No word of a title is torn.
    let word = |title: &str| title.split_whitespace().map(|word| word.width()).max().unwrap_or(0);
    let titles: Vec<Vec<String>> =
        titles.iter().zip(&figures).map(|(title, width)| wrap(title, word(title).max(*width))).collect();
    let narrow = |(at, lines): (usize, &Vec<String>)| {
        let width = lines.iter().chain(&under[at]).map(|line| line.width()).fold(figures[at], usize::max);
        if table.columns[at].right { width } else { width.min(WIDEST) }
    };
    let mut widths: Vec<usize> = titles.iter().enumerate().map(narrow).collect();
    fit_beside_the_first(&mut widths, table, style.width);
    let mut lines = Vec::new();
    for (number, shown) in parts(&widths, style.width).into_iter().enumerate() {
        if number > 0 {
            lines.push(String::new());
        }
        let layout = Layout { titles: titles.clone(), under: under.clone(), widths: widths.clone(), shown };
        lines.extend(laid(table, &cells, &layout, style));
    }
    lines
}

/// A row whose text is harmless, each cell in its lines.
enum Line {
    Heading(String),
    Cells(Vec<Vec<String>>),
}

/// Which columns are shown, how wide, under which lines of title.
struct Layout {
    titles: Vec<Vec<String>>,
    under: Vec<Vec<String>>,
    widths: Vec<usize>,
    shown: Vec<usize>,
}

fn folded(row: &TableRow, style: Style) -> Line {
    match row {
        TableRow::Heading(title) => Line::Heading(style.fold(title)),
        TableRow::Cells(cells) => {
            let lines = |cell: &Cell| {
                let under = cell.under.iter().map(|line| style.fold(line));
                std::iter::once(style.fold(&cell.text())).chain(under).collect()
            };
            Line::Cells(cells.iter().map(lines).collect())
        }
    }
}

fn widths(lines: &[Line], columns: usize) -> Vec<usize> {
    let mut widths = vec![0; columns];
    for line in lines {
        if let Line::Cells(cells) = line {
            let wide = |cell: &Vec<String>| cell.iter().map(|line| line.width()).max().unwrap_or(0);
            widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(wide(cell)));
        }
    }
    widths
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// As many columns as fit, and the rest in further tables; the first column stands in each of them.
fn parts(widths: &[usize], width: usize) -> Vec<Vec<usize>> {
    let mut parts = vec![vec![0]];
    let mut used = widths[0];
    for (column, own) in widths.iter().enumerate().skip(1) {
        if used + GAP + own > width && parts.last().is_some_and(|part| part.len() > 1) {
            parts.push(vec![0]);
            used = widths[0];
        }
        used += GAP + own;
        parts.last_mut().into_iter().for_each(|part| part.push(column));
    }
    parts
}

fn laid(table: &Table, rows: &[Line], layout: &Layout, style: Style) -> Vec<String> {
    let line = |of: &dyn Fn(usize) -> String| {
        let mut line = String::new();
        for column in &layout.shown {
            let (cell, width) = (of(*column), layout.widths[*column]);
            let right = table.columns[*column].right;
            // The sign for cut text is folded, too.
            let cell = if right || cell.width() <= width { cell } else { style.fold(&shorten(&cell, width)) };
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            line += &if right { format!("{pad}{cell}") } else { format!("{cell}{pad}") };
            line += &" ".repeat(GAP);
        }
        line.trim_end().to_owned()
    };
    // Titles of fewer lines stand just over their column.
    let height = layout.shown.iter().map(|column| layout.titles[*column].len()).max().unwrap_or(0);
    let title = |column: usize, row: usize| {
        let lines = &layout.titles[column];
        (row + lines.len()).checked_sub(height).and_then(|at| lines.get(at)).cloned().unwrap_or_default()
    };
    let mut lines: Vec<String> = (0..height).map(|row| line(&|column| title(column, row))).collect();
    let below = layout.shown.iter().map(|column| layout.under[*column].len()).max().unwrap_or(0);
    let under = |column: usize, row: usize| layout.under[column].get(row).cloned().unwrap_or_default();
    lines.extend((0..below).map(|row| line(&|column| under(column, row))));
    for row in rows {
        match row {
            Line::Heading(title) => lines.push(style.fold(&shorten(title, style.width))),
            Line::Cells(cells) => {
                let parts: Vec<Vec<String>> =
                    layout.shown.iter().map(|at| parts_of(table, cells, layout, *at)).collect();
                let height = parts.iter().map(Vec::len).max().unwrap_or(0);
                let part = |column: usize, row: usize| {
                    let shown = layout.shown.iter().position(|at| *at == column);
                    shown.and_then(|at| parts[at].get(row)).cloned().unwrap_or_default()
                };
                lines.extend((0..height).map(|row| line(&|column| part(column, row))));
            }
        }
    }
    lines
}

/// The lines of a cell.
fn parts_of(table: &Table, cells: &[Vec<String>], layout: &Layout, column: usize) -> Vec<String> {
    let Some(lines) = cells.get(column) else { return Vec::new() };
    if !table.columns[column].wraps {
        return lines.clone();
    }
    lines.iter().flat_map(|line| wrap(line, layout.widths[column])).collect()
}

/// Narrows columns of text, so that the first one and any other fit beside each other where figures leave room for that.
fn fit_beside_the_first(widths: &mut [usize], table: &Table, width: usize) {
    let others = || table.columns.iter().enumerate().skip(1);
    let figures = others().filter(|(_, column)| column.right).map(|(at, _)| widths[at]).max().unwrap_or(NARROWEST);
    widths[0] = widths[0].min(width.saturating_sub(figures + GAP).max(NARROWEST));
    let left = width.saturating_sub(widths[0] + GAP).max(NARROWEST);
    others().filter(|(_, column)| !column.right).for_each(|(at, _)| widths[at] = widths[at].min(left));
}

/// Takes the excess width from the widest columns of text.
fn fit(widths: &mut [usize], table: &Table, width: usize) {
    loop {
        let all = total(widths);
        let least = |column: &Column| if column.wraps { NARROWEST_WRAPPED } else { NARROWEST };
        let text =
            widths.iter_mut().zip(&table.columns).filter(|(width, column)| !column.right && **width > least(column));
        match text.max_by_key(|(width, _)| **width) {
            Some((widest, column)) if all > width => *widest -= (all - width).min(*widest - least(column)).max(1),
            _ => return,
        }
    }
}

// An answer on a terminal: the finding first, then the numbers, no line wider than the terminal.

/// Columns of a label.
const LABEL: usize = 16;
const GAP_OF_ITEMS: usize = 2;

impl Document {
    /// The text within the width of `style`.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let style = style.bounded();
        let mut lines = wrap(&style.fold(&self.finding), style.width);
        let mut before_was_text = true;
        for block in self.blocks.iter().filter(|block| !matches!(block, Block::Picture(_) | Block::Figure(_))) {
            let is_text = matches!(block, Block::Text(_));
            if !(is_text && before_was_text) {
                lines.push(String::new());
            }
            before_was_text = is_text;
            text_lines(&mut lines, block, style);
        }
        lines.join("\n") + "\n"
    }
}

fn text_lines(lines: &mut Vec<String>, block: &Block, style: Style) {
    let say = |lines: &mut Vec<String>, words: &str| lines.extend(wrap(&style.fold(words), style.width));
    match block {
        Block::Heading(words) | Block::Text(words) => say(lines, words),
        Block::Table(table) | Block::Plain(table) => {
            if !table.caption.is_empty() {
                say(lines, &table.caption);
            }
            lines.extend(table_lines(&table.filled(), style));
        }
        Block::Items(items) => items.iter().for_each(|(label, words)| item_lines(lines, label, words, style)),
        Block::Picture(_) | Block::Figure(_) => {}
        Block::Folded { title, blocks } => {
            say(lines, title);
            blocks.iter().for_each(|block| text_lines(lines, block, style));
        }
    }
}

fn item_lines(lines: &mut Vec<String>, label: &str, words: &str, style: Style) {
    let label = shorten(&style.fold(label), LABEL);
    let pad = LABEL.saturating_sub(label.width()) + GAP_OF_ITEMS;
    for (at, line) in wrap(&style.fold(words), style.width - LABEL - GAP_OF_ITEMS).into_iter().enumerate() {
        let before = if at == 0 { format!("{label}{}", " ".repeat(pad)) } else { " ".repeat(LABEL + GAP_OF_ITEMS) };
        lines.push(before + &line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{left, right};
    use super::*;

    fn table(columns: usize) -> Table {
        let title = |n| right(format!("random write 4 KiB, QD{n}, IOPS"));
        let cells = |row| {
            let cell = |n| crate::document::Cell::from(format!("{row}{n} 503"));
            TableRow::Cells(std::iter::once(format!("node{row}").into()).chain((0..columns).map(cell)).collect())
        };
        Table {
            caption: String::new(),
            columns: std::iter::once(left("node")).chain((0..columns).map(title)).collect(),
            rows: (1..3).map(cells).collect(),
        }
    }

    #[test]
    fn what_does_not_fit_stands_in_further_tables_under_titles_of_several_lines() {
        let style = Style { width: 40, ..Style::default() };
        let lines = table_lines(&table(6), style);
        assert!(lines.iter().all(|line| line.width() <= 40), "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("node1")).count(), 2, "{lines:#?}");
        for n in 0..6 {
            assert!(lines.iter().any(|line| line.contains(&format!("1{n} 503"))), "{lines:#?}");
        }
        assert!(lines.iter().any(|line| line.contains("random") && !line.contains("write")), "{lines:#?}");
        assert_eq!(super::table_lines(&table(1), Style::default())[0], "node   random write 4 KiB, QD0, IOPS");
    }
}
