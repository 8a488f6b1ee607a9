//! A ranking of models as text, Markdown, HTML and CSV.

mod composite;
mod export;
mod foot;
mod odd;
mod picture;
mod strip;
mod table;
mod text;
mod words;

pub use export::{csv, html, markdown};
pub use picture::picture;
pub use text::text;
