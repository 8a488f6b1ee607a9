//! A comparison for people: `assay compare` on a terminal and as Markdown.

mod answer;
mod change;
mod left_out;
mod markdown;
mod names;
#[cfg(test)]
mod scenes;
mod strip;
mod text;

pub use markdown::markdown;
pub use text::text;
