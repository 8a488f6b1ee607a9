//! The quick check of a mounted medium, without root: stamps spread over all free space.
//!
//! Space is set aside for many files that together take all that is free, so that their blocks lie
//! all over the medium; one block of each is stamped and read back, in rounds that double, until
//! something is lost or all is stamped. Then runs of pages are written at both ends of the space: they drive the stamps out of
//! caches, and lie on some where addresses start again.

mod aliases;
mod check;
mod probe;
mod run;
mod spread;
mod stamp;

pub use check::{Quick, check};
