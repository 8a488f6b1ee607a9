//! Tests that need the machine to themselves. No other program runs beside this one. Those that measure media slower
//! than the machine are made beside each other, and the others after them, one by one ([`assay_lab::Lab::enter`]).
#![allow(clippy::unwrap_used)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;

mod budget;
mod cards;
mod compare;
mod originals;
mod steady;
mod unshared;
mod uplink;
