//! A ranking of models as text and as a document.

mod composite;
mod document;
mod foot;
mod odd;
mod picture;
mod strip;
mod table;
mod text;
mod words;

pub use document::document;
pub use picture::picture;
pub use text::text;
pub use words::First;
pub(crate) use words::{answer as answer_of, first, of_report as answer, verdict};
