//! A comparison for people: `assay compare` on a terminal, and as a document, and limits for other programs.

mod answer;
mod document;
mod gate;
#[cfg(test)]
mod scenes;

pub(crate) use answer::finding;
pub use document::{document, picture, text};
pub use gate::{gate_github, gate_junit, gate_text};
