//! Pages in a real browser, and what they lack.

#![allow(clippy::unwrap_used, reason = "a browser that answers otherwise ends the test")]

mod audit;
mod drive;

pub use audit::{Look, beyond, lacks, too_heavy};
pub use drive::Browser;
