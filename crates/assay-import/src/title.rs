//! The line that begins a tool's output and names its version.

use std::sync::LazyLock;

use crate::pattern::Regex;
use crate::text::Text;

/// A line that begins an output.
pub(crate) struct Title {
    /// Stands in each such line, as it is looked for sooner than a shape.
    words: &'static str,
    /// Its first group is the version.
    shape: LazyLock<Regex>,
}

impl Title {
    /// One that holds `words`; `shape` makes its pattern.
    pub(crate) const fn new(words: &'static str, shape: fn() -> Regex) -> Self {
        Self { words, shape: LazyLock::new(shape) }
    }

    /// Whether line `at` is one.
    pub(crate) fn stands(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains(self.words) && self.shape.is_match(line)
    }

    /// The version that line `at` names, if it names one.
    pub(crate) fn version(&self, text: &Text, at: usize) -> Option<String> {
        self.shape.captures(text.line(at))?.get(1).map(|version| version.as_str().to_owned())
    }
}
