//! Advice as people and machines read it: one sentence with the decision, then the numbers.

mod buy;
mod cache;
mod class;
mod nas;
mod parts;

pub use buy::buy;
pub use cache::cache;
pub use class::class;
pub(crate) use class::judge;
pub use nas::nas;
pub use parts::AdviceDocument;
