//! An answer on a terminal: the finding first, then the numbers, no line wider than the terminal.

use unicode_width::UnicodeWidthStr;

use super::{Block, Document, table};
use crate::style::Style;
use crate::wrap::{shorten, wrap};

/// Columns of a label.
const LABEL: usize = 16;
const GAP: usize = 2;

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
            self::lines(&mut lines, block, style);
        }
        lines.join("\n") + "\n"
    }
}

fn lines(lines: &mut Vec<String>, block: &Block, style: Style) {
    let say = |lines: &mut Vec<String>, words: &str| lines.extend(wrap(&style.fold(words), style.width));
    match block {
        Block::Heading(words) | Block::Text(words) => say(lines, words),
        Block::Table(table) | Block::Plain(table) => {
            if !table.caption.is_empty() {
                say(lines, &table.caption);
            }
            lines.extend(table::lines(table, style));
        }
        Block::Items(items) => items.iter().for_each(|(label, words)| item(lines, label, words, style)),
        Block::Picture(_) | Block::Figure(_) => {}
        Block::Folded { title, blocks } => {
            say(lines, title);
            blocks.iter().for_each(|block| self::lines(lines, block, style));
        }
    }
}

fn item(lines: &mut Vec<String>, label: &str, words: &str, style: Style) {
    let label = shorten(&style.fold(label), LABEL);
    let pad = LABEL.saturating_sub(label.width()) + GAP;
    for (at, line) in wrap(&style.fold(words), style.width - LABEL - GAP).into_iter().enumerate() {
        let before = if at == 0 { format!("{label}{}", " ".repeat(pad)) } else { " ".repeat(LABEL + GAP) };
        lines.push(before + &line);
    }
}
