//! The search: what is written where, what is read back, and what follows from it.

mod alias;
mod careful;
mod discover;
mod eviction;
mod judge;
mod kinds;
#[cfg(test)]
mod known_tests;
mod map;
mod narrow;
mod periods;
mod proof;
mod same_medium;
mod stages;
mod stamped;

pub(crate) use judge::{Account, account, verification};
pub(crate) use stages::Search;
pub(crate) use stamped::{End, StampedDevice, Watch};
pub use stamped::{Phase, Progress};
