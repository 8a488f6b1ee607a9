//! One fact, and the places with room to show it.

use crate::line::{Page, Paint};
use crate::verdict::capitalised;

/// The smallest place that shows a fact; larger places show it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// On the card.
    Card,
    /// In Markdown and at the top of a page.
    Page,
    /// In the settings of a page, and in `assay info`.
    Detail,
}

/// A name with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) rank: Rank,
    /// In lower case; at most nine characters if it is shown on the card.
    pub(crate) name: String,
    pub(crate) value: String,
    /// How the value is highlighted on the card.
    pub(crate) paint: Paint,
}

impl Fact {
    /// A fact, unless its value is unknown.
    pub(crate) fn new(rank: Rank, name: &str, value: impl Into<Option<String>>) -> Option<Self> {
        let value = value.into().filter(|value| !value.trim().is_empty())?;
        Some(Self { rank, name: name.to_owned(), value, paint: Paint::Plain })
    }

    /// Writes the fact as a line of terminal text.
    pub(crate) fn line(&self, page: &mut Page) {
        page.labelled(&self.name, Paint::Dim, &self.value, self.paint);
    }

    /// The name as a title, and the value.
    pub(crate) fn titled(self) -> (String, String) {
        (capitalised(&self.name), self.value)
    }
}
