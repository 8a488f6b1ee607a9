//! Tests that need the machine to themselves. No other program runs beside this one, and those of its tests that
//! any load would disturb take their turns ([`assay_lab::Lab::enter`]).
#![allow(clippy::unwrap_used)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;

mod accuracy;
mod compare;
mod host;
mod originals;
mod steady;
