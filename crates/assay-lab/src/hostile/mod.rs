//! Media prepared by an attacker: directory trees by seed, and a proof that no foreign file changed.

mod state;
mod tree;
mod witness;

pub use tree::Tree;
pub use witness::Witness;
