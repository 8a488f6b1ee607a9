//! An answer as Markdown, for issues, wikis and forums.

use assay_core::text;
use assay_core::text::statement;

use super::{Block, Cell, Document, Row, Table};

impl Document {
    /// Headings, tables and lists; pictures are left out.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n**{}**\n", said(&self.about), said(&self.finding));
        blocks(&mut out, &self.blocks, 2);
        out
    }
}

/// Text within a line.
fn said(words: &str) -> String {
    text::markdown(&statement(words))
}

fn blocks(out: &mut String, blocks: &[Block], level: usize) {
    for block in blocks {
        match block {
            Block::Heading(title) => heading(out, title, level),
            Block::Text(words) => out.push_str(&format!("\n{}\n", said(words))),
            Block::Table(table) => self::table(out, table),
            Block::Items(items) => {
                out.push('\n');
                for (label, words) in items {
                    let label = if label.is_empty() { String::new() } else { format!("{}: ", said(label)) };
                    out.push_str(&format!("- {label}{}\n", said(words)));
                }
            }
            Block::Figure(figure) => {
                out.push_str(&format!("\n![{}]({})\n\n{}\n", said(&figure.title), figure.file, said(&figure.caption)));
            }
            Block::Picture(_) | Block::Plain(_) => {}
            Block::Folded { title, blocks } => {
                heading(out, title, level);
                self::blocks(out, blocks, level + 1);
            }
        }
    }
}

fn heading(out: &mut String, title: &str, level: usize) {
    out.push_str(&format!("\n{} {}\n", "#".repeat(level), said(title)));
}

fn table(out: &mut String, table: &Table) {
    if !table.caption.is_empty() {
        out.push_str(&format!("\n{}\n", said(&table.caption)));
    }
    out.push('\n');
    line(out, table.columns.iter().map(|column| said(&column.title)));
    line(out, table.columns.iter().map(|column| if column.right { "--:" } else { "---" }.to_owned()));
    for row in &table.rows {
        match row {
            Row::Cells(cells) => line(out, cells.iter().map(self::cell)),
            Row::Heading(title) => {
                let empty = std::iter::repeat_n(String::new(), table.columns.len().saturating_sub(1));
                line(out, std::iter::once(format!("**{}**", said(title))).chain(empty));
            }
        }
    }
}

/// A highlighted cell is bold.
fn cell(cell: &Cell) -> String {
    let text = said(&cell.text());
    if cell.mark.is_empty() { text } else { format!("**{text}**") }
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    cells.for_each(|cell| out.push_str(&format!(" {cell} |")));
    out.push('\n');
}
