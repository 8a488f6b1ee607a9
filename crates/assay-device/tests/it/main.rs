//! What is under a path, on made-up boards and on this machine; the write guards; directories of assay's own.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and says what it skips

mod boards;
mod common;
mod identity;
mod owned;
mod raw;
mod this_machine;
