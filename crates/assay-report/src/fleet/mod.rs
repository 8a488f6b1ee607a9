//! What a run on many nodes says.

mod against;
mod document;
mod slots;
mod tables;
mod words;

pub use document::document;
