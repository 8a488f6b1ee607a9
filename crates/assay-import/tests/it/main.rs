//! Imported results: samples of each format, the originals' wrappings, articles, and what the documentation says of them.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and tells what it skips

mod articles;
mod damaged;
mod fio;
#[cfg(not(windows))]
mod linear;
mod originals;
mod samples;
