//! A comparison for people: `assay compare` on a terminal, and as a document, and limits for other programs.

mod answer;
mod document;
mod gate;
mod names;
mod notes;
#[cfg(test)]
mod scenes;
mod text;

pub(crate) use answer::finding;
pub use document::{document, picture};
pub use gate::{gate_github, gate_junit, gate_text};
pub use text::text;
