//! An advice under construction: the sentence with the decision, then tables and lists.

use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Answered, Block, Column, Data, Document, Row, Table};

/// Parts of an advice, in their order.
#[derive(Default)]
pub(super) struct Parts {
    blocks: Vec<Block>,
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
        let mut json = json!({ "advice": kind, "sentence": assay_core::text::harmless(&sentence) });
        // Numbers and text with string keys: this cannot fail.
        if let (Some(all), Ok(Value::Object(fields))) = (json.as_object_mut(), serde_json::to_value(numbers)) {
            all.extend(fields);
        }
        Answered { document: Document { kind: "Advice", about, finding: sentence, blocks: self.blocks, data }, json }
    }
}
