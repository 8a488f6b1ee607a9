//! A line of a text.

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Its text, without the end of the line.
    pub text: String,
}
