//! A comparison for people: `assay compare` on a terminal, and as a document, and limits for other programs.

mod answer;
mod change;
mod document;
mod gate;
mod gate_spread;
mod left_out;
mod listed;
mod names;
#[cfg(test)]
mod scenes;
mod strip;
mod text;

pub(crate) use answer::finding;
pub use document::{document, picture};
pub use gate::{gate_github, gate_junit, gate_text};
pub use text::text;
