//! The search: what is written where, what is read back, and what follows from it.

mod alias;
mod counted;
mod course;
mod crowd;
mod desk;
mod discover;
mod judge;
mod kinds;
#[cfg(test)]
mod known_tests;
mod map;
mod narrow;
mod nature;
mod numbers;
mod scatter;
mod strays;
mod stripes;
mod through;
mod words;

pub(crate) use course::Search;
pub(crate) use desk::{Desk, End, Watch};
pub use desk::{Phase, Progress};
pub(crate) use judge::{Account, account};
pub(crate) use words::verification;
