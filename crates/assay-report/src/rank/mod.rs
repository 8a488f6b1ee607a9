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
pub(crate) use words::of_report as answer;
