//! Why a document is refused.

/// What is wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is no record.
    Malformed,
    /// It is of a version that this server does not read.
    Schema,
    /// It holds what identifies a unit, a machine or a person, or a field that this server does not know.
    NotRedacted,
    /// A number is one that no run has.
    OutOfRange,
    /// It was made later than now.
    Future,
    /// It was sent to the address of another one.
    WrongId,
    /// It, or a text in it, is too long.
    TooLarge,
}

impl Fault {
    /// Its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Schema => "schema",
            Self::NotRedacted => "not_redacted",
            Self::OutOfRange => "out_of_range",
            Self::Future => "future",
            Self::WrongId => "wrong_id",
            Self::TooLarge => "too_large",
        }
    }
}

/// Why a document is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong.
    pub fault: Fault,
    /// The same in a line, with the mend.
    pub message: String,
    /// JSON pointer (RFC 6901) of the place; none where there is no JSON.
    pub pointer: Option<String>,
}

impl Refusal {
    /// A refusal with its place.
    pub(crate) fn at(fault: Fault, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), pointer: Some(pointer.into()) }
    }
}
