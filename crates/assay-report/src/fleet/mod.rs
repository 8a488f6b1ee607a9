//! What a run on many nodes says.

mod document;
mod tables;
mod words;

pub use document::{WHOLE, brief, document};
pub use words::not_mounted;
