//! Errors in the request of a plan, or in its file.

/// One line with the place, the problem and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct PlanError {
    /// An argument as the user knows it, or file and line.
    pub place: String,
    /// The problem and its remedy.
    pub message: String,
}

impl PlanError {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    /// Something in a line of a file, counted from 1.
    pub(super) fn in_line(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self::new(format!("{file}:{line}"), message)
    }
}
