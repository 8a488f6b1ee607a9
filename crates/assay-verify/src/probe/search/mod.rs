//! The search: what is written where, what is read back, and what follows from it.

mod alias;
mod careful;
mod counted;
mod discover;
mod eviction;
mod judge;
mod kinds;
#[cfg(test)]
mod known_tests;
mod loss_kind;
mod map;
mod misdirected;
mod narrow;
mod numbers;
mod proof;
mod retest;
mod scatter;
mod stages;
mod stamped;
mod stripes;
mod through;
mod witness;
mod words;

pub(crate) use judge::{Account, account};
pub(crate) use stages::Search;
pub(crate) use stamped::{End, StampedDevice, Watch};
pub use stamped::{Phase, Progress};
pub(crate) use words::verification;
