//! An answer as a page: light and dark, on a phone, on paper, without scripts.

use maud::{Markup, PreEscaped, html};

use super::{BEST, Block, Cell, Document, Figure, Row, Seen, Table};
use crate::html::{Scripts, Shell, said, slider};

impl Document {
    /// One self-contained page.
    #[must_use]
    pub fn html(&self) -> String {
        let body = html! {
            article.record.answer {
                header.head {
                    p.kicker { (said(&self.about)) }
                    h1 { (said(&self.finding)) }
                }
                (blocks(&self.blocks))
            }
        };
        let scripts = if has_film(&self.blocks) { Scripts::Films } else { Scripts::None };
        Shell { title: &self.about, kind: self.kind, body, footer: html! {}, scripts }.page()
    }
}

fn has_film(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Figure(figure) => matches!(figure.shown, Seen::Film(_)),
        Block::Folded { blocks, .. } => has_film(blocks),
        _ => false,
    })
}

fn blocks(all: &[Block]) -> Markup {
    html! {
        @for block in all {
            @match block {
                Block::Heading(title) => h2 { (said(title)) },
                Block::Text(words) => p.text { (said(words)) },
                Block::Table(table) => (self::table(table)),
                Block::Items(items) => (self::items(items)),
                Block::Picture(drawing) => {
                    figure.picture.wide[drawing.size().0 > 900.0] { (PreEscaped(drawing.inline())) }
                }
                Block::Figure(figure) => (self::figure(figure)),
                Block::Plain(_) => {},
                Block::Folded { title, blocks } => {
                    details.folded {
                        summary { (said(title)) }
                        (self::blocks(blocks))
                    }
                }
            }
        }
    }
}

fn figure(figure: &Figure) -> Markup {
    html! {
        @match &figure.shown {
            Seen::Still(drawing) => figure.picture.wide[drawing.size().0 > 900.0] { (PreEscaped(drawing.inline())) },
            Seen::Film(film) => (slider(film)),
        }
        p.caption { (said(&figure.caption)) }
    }
}

fn items(items: &[(String, String)]) -> Markup {
    html! {
        dl.items {
            @for (label, words) in items {
                div { dt { (said(label.trim())) } dd { (said(words)) } }
            }
        }
    }
}

/// A table of more columns than these has its cells under each other on a phone, each beside the title of its column.
const BESIDE_EACH_OTHER: usize = 2;
/// A longer table is scrolled on a phone: it would be a list without an end, and a title at each cell much of the page.
const LONGEST_STACK: usize = 60;

fn table(table: &Table) -> Markup {
    let stacked = table.columns.len() > BESIDE_EACH_OTHER && table.rows.len() <= LONGEST_STACK;
    html! {
        @if !table.caption.is_empty() { h3 { (said(&table.caption)) } }
        div.scroll {
            table.summary.stacked[stacked] {
                thead { tr {
                    @for column in &table.columns { th scope="col" .left[!column.right] { (said(&column.title)) } }
                } }
                tbody {
                    @for row in &table.rows {
                        @match row {
                            Row::Heading(title) => tr { th.group scope="rowgroup" colspan=(table.columns.len()) { (said(title)) } },
                            Row::Cells(cells) => tr { @for (at, cell) in cells.iter().enumerate() { (self::cell(table, stacked, at, cell)) } },
                        }
                    }
                }
            }
        }
    }
}

/// A cell with at most this many characters is not wrapped, so that no date or name is broken on a phone.
const UNBROKEN: usize = 22;

fn cell(table: &Table, stacked: bool, at: usize, cell: &Cell) -> Markup {
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
        @if at == 0 { th scope="row" { (content) } } @else { td.left[left].short[short] data-title=[title] { (content) } }
    }
}
