//! What a format has to be able to do.

use crate::report::Report;
use crate::text::Text;

/// A format of results. A new one is a file beside this with a type that implements it, and a line of the registry.
pub trait Format: Sync {
    /// Its name, as in `source.format` of a record and in messages.
    fn name(&self) -> &'static str;

    /// Words that occur in its reports, in small letters: by them the nearest format is named of a text that none reads.
    fn words(&self) -> &'static [&'static str];

    /// Whether a report begins at line `at`. Asked of every line that no format has read yet: it has to be quick, and
    /// must not say yes to a line that merely mentions the tool.
    fn begins(&self, text: &Text, at: usize) -> bool;

    /// Reads the report that begins at line `at`.
    fn read(&self, text: &Text, at: usize) -> Section;
}

/// What was read from a line on.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The first line that is not of it; at least one behind where it began.
    pub end: usize,
    /// The reports in it, in order. None where it holds nothing that can be used; a problem says why.
    pub reports: Vec<Report>,
    /// What of it could not be read.
    pub problems: Vec<Problem>,
}

impl Section {
    /// One report up to line `end`.
    #[must_use]
    pub fn of(report: Report, end: usize) -> Self {
        Self { end, reports: vec![report], problems: Vec::new() }
    }

    /// Nothing, and why.
    #[must_use]
    pub fn nothing(end: usize, line: u32, what: impl Into<String>) -> Self {
        Self { end, reports: Vec::new(), problems: vec![Problem { line, what: what.into() }] }
    }
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub what: String,
}
