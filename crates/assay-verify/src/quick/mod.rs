//! The quick check of a mounted medium, without root: stamps spread over all free space.
//!
//! Space is set aside for many files that together take all free space, so that their blocks lie all over the medium.
//! One block of each is stamped and read back, in rounds that double, until something is lost or all are stamped. Then
//! runs of pages are written at both ends of the space. They evict the stamps from caches, and overwrite some where
//! addresses wrap around.

mod check;
mod pages;
mod probe;
mod spread;

pub use check::{Quick, check};
