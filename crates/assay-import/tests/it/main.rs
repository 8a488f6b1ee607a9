//! Imported results: samples of each format, the originals' wrappings, articles, and what the documentation says of them.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and tells what it skips

mod articles;
mod documented;
mod fio;
mod originals;
mod samples;
