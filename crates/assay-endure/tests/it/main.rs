//! Lives of model media, with kills and power cuts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod deferred;
mod foreign;
mod lives;
mod log;
mod memory;
mod model;
#[cfg(not(windows))]
mod real;
mod resting;
mod size;
