//! One thing that is known, and how much room a text needs to have for it.

use crate::line::{Page, Paint};
use crate::verdict::capitalised;

/// Where a fact is told; each rank is told wherever the next one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// On the card.
    Card,
    /// In Markdown and at the top of a page.
    Page,
    /// Among a page's settings, and by `assay info`.
    Detail,
}

/// A name with words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) rank: Rank,
    /// In lower case, at most nine letters where it is on the card.
    pub(crate) name: String,
    pub(crate) value: String,
    /// How the words stand out on the card.
    pub(crate) paint: Paint,
}

impl Fact {
    /// A fact, unless nothing is known.
    pub(crate) fn new(rank: Rank, name: &str, value: impl Into<Option<String>>) -> Option<Self> {
        let value = value.into().filter(|value| !value.trim().is_empty())?;
        Some(Self { rank, name: name.to_owned(), value, paint: Paint::Plain })
    }

    /// A line of a terminal's text.
    pub(crate) fn line(&self, page: &mut Page) {
        page.labelled(&self.name, Paint::Dim, &self.value, self.paint);
    }

    /// The name as a title, and the words.
    pub(crate) fn titled(self) -> (String, String) {
        (capitalised(&self.name), self.value)
    }
}
