//! Sentence, tables and lists of an advice, no wider than the terminal.

use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::style::Style;
use crate::wrap::{shorten, wrap};

/// Advice in both forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// For people.
    pub text: String,
    /// For machines: kind, the sentence, and the numbers.
    pub json: Value,
}

const GAP: usize = 2;
/// A first column is not made narrower than this.
const NARROWEST: usize = 12;
/// Width of the names in a list.
const NAME: usize = 16;

/// Text under construction.
pub(super) struct Page {
    style: Style,
    text: String,
}

impl Page {
    pub(super) fn new(style: &Style) -> Self {
        Self { style: style.bounded(), text: String::new() }
    }

    /// A paragraph.
    pub(super) fn say(&mut self, text: &str) {
        for line in wrap(&self.style.fold(text), self.style.width) {
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A paragraph with a name before it.
    pub(super) fn item(&mut self, name: &str, text: &str) {
        let name = shorten(&self.style.fold(name), NAME);
        let pad = NAME.saturating_sub(name.width()) + GAP;
        for (i, line) in wrap(&self.style.fold(text), self.style.width - NAME - GAP).into_iter().enumerate() {
            let before = if i == 0 { format!("{name}{}", " ".repeat(pad)) } else { " ".repeat(NAME + GAP) };
            self.text.push_str(before.as_str());
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// Rows under titles; the first column reads from the left and shrinks where there is no room.
    pub(super) fn table(&mut self, titles: &[&str], rows: Vec<Vec<String>>) {
        self.groups(titles, vec![(String::new(), rows)]);
    }

    /// The same with a heading before each group of rows.
    pub(super) fn groups(&mut self, titles: &[&str], groups: Vec<(String, Vec<Vec<String>>)>) {
        let mut rows = vec![(false, titles.iter().map(|t| self.style.fold(t)).collect::<Vec<_>>())];
        for (heading, lines) in groups {
            rows.extend((!heading.is_empty()).then(|| (true, vec![self.style.fold(&heading)])));
            rows.extend(lines.iter().map(|row| (false, row.iter().map(|cell| self.style.fold(cell)).collect())));
        }
        let cells = |at: usize| rows.iter().filter(|r| !r.0).filter_map(move |r| r.1.get(at));
        let mut widths: Vec<usize> =
            (0..titles.len()).map(|at| cells(at).map(|c| c.width()).max().unwrap_or(0)).collect();
        let others: usize = widths.iter().skip(1).map(|w| w + GAP).sum();
        if let Some(first) = widths.first_mut() {
            *first = (*first).min(self.style.width.saturating_sub(others).max(NARROWEST));
        }
        for (heading, row) in &rows {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                let width = if *heading { self.style.width } else { widths[at] };
                let cell = if at == 0 { shorten(cell, width) } else { cell.clone() };
                let pad = " ".repeat(width.saturating_sub(cell.width()));
                line += &if at == 0 { format!("{cell}{pad}") } else { format!("{}{pad}{cell}", " ".repeat(GAP)) };
            }
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    pub(super) fn told(self, kind: &str, sentence: &str, numbers: &impl Serialize) -> Told {
        let mut document = json!({ "advice": kind, "sentence": assay_core::text::harmless(sentence) });
        // Numbers and text with string keys: this cannot fail.
        if let (Some(all), Ok(Value::Object(fields))) = (document.as_object_mut(), serde_json::to_value(numbers)) {
            all.extend(fields);
        }
        Told { text: self.text, json: document }
    }
}
