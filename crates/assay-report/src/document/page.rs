//! An answer as a page: light and dark, on a phone, on paper, without scripts.

use assay_core::text;
use assay_core::text::statement;
use maud::{Markup, PreEscaped, html};

use super::{BEST, Block, Cell, Document, Figure, Seen, Table, TableRow};
use crate::html::{Part, Scripts, Shell, prose, said, slider};

impl Document {
    /// One self-contained page.
    #[must_use]
    pub fn html(&self) -> String {
        self.shell().page()
    }

    /// The same as a part of a page.
    #[must_use]
    pub fn part(&self) -> Part {
        self.shell().part()
    }

    fn shell(&self) -> Shell {
        let body = html! {
            article.record.answer {
                header.head {
                    p.kicker { (said(&self.about)) }
                    h1 { (prose(&self.finding)) }
                }
                (page_blocks(&self.blocks))
            }
        };
        let scripts = if has_film(&self.blocks) { Scripts::Films } else { Scripts::None };
        Shell {
            title: self.about.clone(),
            kind: self.kind,
            has_picture: has_picture(&self.blocks),
            body,
            footer: html! {},
            scripts,
        }
    }
}

fn has_picture(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Figure(_) | Block::Picture(_) => true,
        Block::Folded { blocks, .. } => has_picture(blocks),
        _ => false,
    })
}

fn has_film(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Figure(figure) => matches!(figure.shown, Seen::Film(_)),
        Block::Folded { blocks, .. } => has_film(blocks),
        _ => false,
    })
}

fn page_blocks(all: &[Block]) -> Markup {
    html! {
        @for block in all {
            @match block {
                Block::Heading(title) => h2 { (said(title)) },
                Block::Text(words) => p.text { (prose(words)) },
                Block::Table(table) => (page_table(&table.filled())),
                Block::Items(items) => (page_items(items)),
                Block::Picture(drawing) => {
                    figure.picture.wide[drawing.size().0 > 900.0] tabindex="0" { (PreEscaped(drawing.inline())) }
                }
                Block::Figure(figure) => (page_figure(figure)),
                Block::Plain(_) => {},
                Block::Folded { title, blocks } => {
                    details.folded {
                        summary { (said(title)) }
                        (page_blocks(blocks))
                    }
                }
            }
        }
    }
}

fn page_figure(figure: &Figure) -> Markup {
    html! {
        @match &figure.shown {
            Seen::Still(drawing) => figure.picture.wide[drawing.size().0 > 900.0] tabindex="0" { (PreEscaped(drawing.inline())) },
            Seen::Film(film) => (slider(film)),
        }
        p.caption { (said(&figure.caption)) }
    }
}

fn page_items(items: &[(String, String)]) -> Markup {
    html! {
        dl.items {
            @for (label, words) in items {
                div { dt { (said(label.trim())) } dd { (prose(words)) } }
            }
        }
    }
}

/// A table of more columns than these has its cells under each other on a phone, each beside the title of its column.
const BESIDE_EACH_OTHER: usize = 2;
/// A longer table is scrolled on a phone: it would be a list without an end, and a title at each cell much of the page.
const LONGEST_STACK: usize = 60;

fn page_table(table: &Table) -> Markup {
    let stacked = table.columns.len() > BESIDE_EACH_OTHER && table.rows.len() <= LONGEST_STACK;
    html! {
        @if !table.caption.is_empty() { h3 { (said(&table.caption)) } }
        div.scroll tabindex="0" {
            table.summary.stacked[stacked] {
                thead { tr {
                    @for column in &table.columns { th scope="col" .left[!column.right] { (said(&column.title)) } }
                } }
                tbody {
                    @for row in &table.rows {
                        @match row {
                            TableRow::Heading(title) => tr { th.group scope="rowgroup" colspan=(table.columns.len()) { (said(title)) } },
                            TableRow::Cells(cells) => tr { @for (at, cell) in cells.iter().enumerate() { (page_cell(table, stacked, at, cell)) } },
                        }
                    }
                }
            }
        }
    }
}

/// A cell with at most this many characters is not wrapped, so that no date or name is broken on a phone.
const UNBROKEN: usize = 22;

fn page_cell(table: &Table, stacked: bool, at: usize, cell: &Cell) -> Markup {
    let short = cell.value.chars().count() <= UNBROKEN;
    let column = table.columns.get(at);
    let left = column.is_some_and(|column| !column.right);
    let title = column.filter(|_| stacked).map(|column| said(&column.title));
    let content = html! {
        @if cell.mark.is_empty() { (said(&cell.value)) } @else {
            span { span.pill.good[cell.mark == BEST] { (cell.mark) } b { (said(&cell.value)) } }
        }
        @if !cell.small.is_empty() { " " small { (said(&cell.small)) } }
    };
    html! {
        @if at == 0 { th scope="row" data-title=[title.filter(|title| needs_title(title, &cell.value))] { (content) } } @else { td.left[left].short[short] data-title=[title] { (content) } }
    }
}

/// Whether a row's name says nothing without the title of its column, as numbers and single plain words do.
fn needs_title(title: &str, name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_digit()) || name.chars().all(|c| c.is_ascii_lowercase() || c == ' ');
    !title.is_empty() && !name.is_empty() && name.len() < UNBROKEN / 2 && plain
}

// An answer as Markdown, for issues, wikis and forums.

impl Document {
    /// Headings, tables and lists; pictures are left out.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n**{}**\n", markdown_sentence(&self.about), markdown_sentence(&self.finding));
        markdown_blocks(&mut out, &self.blocks, 2);
        out
    }
}

/// Text within a line.
fn markdown_sentence(words: &str) -> String {
    text::markdown(&statement(words))
}

fn markdown_blocks(out: &mut String, blocks: &[Block], level: usize) {
    for block in blocks {
        match block {
            Block::Heading(title) => markdown_heading(out, title, level),
            Block::Text(words) => out.push_str(&format!("\n{}\n", markdown_sentence(words))),
            Block::Table(table) => markdown_table(out, &table.filled()),
            Block::Items(items) => {
                out.push('\n');
                for (label, words) in items {
                    let label =
                        if label.is_empty() { String::new() } else { format!("{}: ", markdown_sentence(label)) };
                    out.push_str(&format!("- {label}{}\n", markdown_sentence(words)));
                }
            }
            Block::Figure(figure) => {
                out.push_str(&format!(
                    "\n![{}]({})\n\n{}\n",
                    markdown_sentence(&figure.title),
                    figure.file,
                    markdown_sentence(&figure.caption)
                ));
            }
            Block::Picture(_) | Block::Plain(_) => {}
            Block::Folded { title, blocks } => {
                markdown_heading(out, title, level);
                markdown_blocks(out, blocks, level + 1);
            }
        }
    }
}

fn markdown_heading(out: &mut String, title: &str, level: usize) {
    out.push_str(&format!("\n{} {}\n", "#".repeat(level), markdown_sentence(title)));
}

fn markdown_table(out: &mut String, table: &Table) {
    if !table.caption.is_empty() {
        out.push_str(&format!("\n{}\n", markdown_sentence(&table.caption)));
    }
    out.push('\n');
    markdown_line(out, table.columns.iter().map(|column| markdown_sentence(&column.title)));
    markdown_line(out, table.columns.iter().map(|column| if column.right { "--:" } else { "---" }.to_owned()));
    for row in &table.rows {
        match row {
            TableRow::Cells(cells) => markdown_line(out, cells.iter().map(markdown_cell)),
            TableRow::Heading(title) => {
                let empty = std::iter::repeat_n(String::new(), table.columns.len().saturating_sub(1));
                markdown_line(out, std::iter::once(format!("**{}**", markdown_sentence(title))).chain(empty));
            }
        }
    }
}

/// A highlighted cell is bold.
fn markdown_cell(cell: &Cell) -> String {
    let text = markdown_sentence(&cell.text());
    if cell.mark.is_empty() { text } else { format!("**{text}**") }
}

fn markdown_line(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    cells.for_each(|cell| out.push_str(&format!(" {cell} |")));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_a_number_or_a_short_word_needs_its_title() {
        for (name, needs) in [("7", true), ("queue", true), ("0123456789", true), ("01234567890", false), ("", false)] {
            assert_eq!(needs_title("Round", name), needs, "{name}");
        }
        assert!(!needs_title("", "7") && !needs_title("Model", "Card A"));
    }
}
