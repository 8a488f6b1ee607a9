//! A ranking of models as text and as a document.

mod document;
mod foot;
mod words;

pub use document::{document, picture, text};
pub(crate) use foot::odd_units;
pub use words::First;
pub(crate) use words::{answer as answer_of, first, of_report as answer, title, verdict};
