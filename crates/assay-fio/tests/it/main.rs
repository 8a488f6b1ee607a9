//! fio's job files, and fio itself as an engine.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod fio;
mod job_files;
