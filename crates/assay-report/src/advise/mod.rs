//! Advice as people and machines read it: one sentence with the decision, then the numbers.

mod buy;
mod cache;
mod class;
pub(crate) mod classes;
mod layout;
mod nas;
mod words;

pub use buy::buy;
pub use cache::cache;
pub use class::class;
pub(crate) use class::{against, kind};
pub use layout::AdviceDocument;
pub use nas::nas;
