//! A table on a terminal: text to the left, figures to the right, the widest column of text cut where the
//! terminal is narrow.

use unicode_width::UnicodeWidthStr;

use super::{Row, Table};
use crate::style::Style;
use crate::wrap::shorten;

const GAP: usize = 2;
/// A column of text is not made narrower than this.
const NARROWEST: usize = 8;

/// The lines of a table.
pub(super) fn lines(table: &Table, style: Style) -> Vec<String> {
    let fold = |text: &str| style.fold(text);
    let titles: Vec<String> = table.columns.iter().map(|column| fold(&column.title)).collect();
    let rows = table.rows.iter().filter_map(|row| match row {
        Row::Cells(cells) => Some(cells.iter().map(|cell| fold(&cell.text())).collect::<Vec<_>>()),
        Row::Heading(_) => None,
    });
    let mut widths: Vec<usize> = titles.iter().map(|title| title.width()).collect();
    for row in rows {
        widths.iter_mut().zip(&row).for_each(|(width, cell)| *width = (*width).max(cell.width()));
    }
    fit(&mut widths, table, style.width);
    let line = |cells: &[String]| {
        let mut line = String::new();
        for ((cell, width), column) in cells.iter().zip(&widths).zip(&table.columns) {
            let cell = if column.right { cell.clone() } else { shorten(cell, *width) };
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            line += &if column.right { format!("{pad}{cell}") } else { format!("{cell}{pad}") };
            line += &" ".repeat(GAP);
        }
        line.trim_end().to_owned()
    };
    let mut lines = vec![line(&titles)];
    lines.extend(table.rows.iter().map(|row| match row {
        Row::Heading(title) => shorten(&fold(title), style.width),
        Row::Cells(cells) => line(&cells.iter().map(|cell| fold(&cell.text())).collect::<Vec<_>>()),
    }));
    lines
}

/// Takes what is too much from the widest columns of text.
fn fit(widths: &mut [usize], table: &Table, width: usize) {
    loop {
        let all: usize = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let text = widths.iter_mut().zip(&table.columns).filter(|(_, column)| !column.right).map(|(width, _)| width);
        match text.max() {
            Some(widest) if all > width && *widest > NARROWEST => {
                *widest -= (all - width).min(*widest - NARROWEST).max(1)
            }
            _ => return,
        }
    }
}
