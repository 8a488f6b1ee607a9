//! An advice under construction: the sentence with the decision, then tables and lists.

use serde::Serialize;

use crate::document::{Answered, Block, Column, Data, Document, Row, Table};

/// Parts of an advice, in their order.
#[derive(Default)]
pub(super) struct Parts {
    blocks: Vec<Block>,
}

/// What `assay advise --json` prints: the answer with the numbers behind it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviceDocument<'a, T> {
    /// The question: `nas`, `cache`, `buy` or `class`.
    advice: &'a str,
    /// The answer, for people.
    sentence: String,
    /// The numbers behind it.
    #[serde(flatten)]
    numbers: T,
}

impl Parts {
    /// A text with a name before it.
    pub(super) fn item(&mut self, name: &str, text: &str) {
        let item = (name.to_owned(), text.to_owned());
        match self.blocks.last_mut() {
            Some(Block::Items(items)) => items.push(item),
            _ => self.blocks.push(Block::Items(vec![item])),
        }
    }

    /// A title over what follows.
    pub(super) fn heading(&mut self, title: &str) {
        self.blocks.push(Block::Heading(title.to_owned()));
    }

    /// Rows under titles.
    pub(super) fn table(&mut self, columns: Vec<Column>, rows: Vec<Vec<String>>) {
        let rows = rows.into_iter().map(Row::from).collect();
        self.blocks.push(Block::Table(Table { caption: String::new(), columns, rows }));
    }

    /// Rows under titles, with a heading before each group of rows.
    pub(super) fn groups(&mut self, caption: String, columns: Vec<Column>, groups: Vec<(String, Vec<Vec<String>>)>) {
        let rows = groups
            .into_iter()
            .flat_map(|(heading, rows)| std::iter::once(Row::Heading(heading)).chain(rows.into_iter().map(Row::from)));
        self.blocks.push(Block::Table(Table { caption, columns, rows: rows.collect() }));
    }

    pub(super) fn answered(
        self,
        kind: &str,
        about: String,
        sentence: String,
        data: Data,
        numbers: &impl Serialize,
    ) -> Answered {
        let advice = AdviceDocument { advice: kind, sentence: assay_core::text::harmless(&sentence), numbers };
        // Numbers and text with string keys: this cannot fail.
        let json = serde_json::to_value(advice).unwrap_or_default();
        Answered { document: Document { kind: "Advice", about, finding: sentence, blocks: self.blocks, data }, json }
    }
}
