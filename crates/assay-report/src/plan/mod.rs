//! Plans, their status, the race and the swap test for people.

mod race;
mod show;

pub use race::race;
pub use show::{outlook, show, status, swap};
