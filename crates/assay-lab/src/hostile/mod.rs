//! Media that somebody prepared to do harm: trees of directories by seed, and proof that nothing foreign changed.

mod state;
mod tree;
mod witness;

pub use tree::Tree;
pub use witness::Witness;
