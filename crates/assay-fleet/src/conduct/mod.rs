//! A run from its start to its end: nodes are started and followed, and what became of each is written down.

mod participants;
mod start;

pub use participants::{Audience, Conduct, RunEvent, conduct};
pub(crate) use start::remote_port;
pub use start::{SuiteHandover, node_arguments};
