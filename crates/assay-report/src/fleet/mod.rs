//! What a run on many nodes says.

mod against;
mod apart;
mod brief;
mod columns;
mod document;
mod slots;
mod tables;
mod words;

pub use brief::{WHOLE, brief};
pub use document::document;
pub use words::not_mounted;
