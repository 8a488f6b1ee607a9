//! The mathematics against published measurements, worked examples and its own laws.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and tells what it measured

mod decide_bounds;
mod decide_composite;
mod plan;
mod plan_race;
mod rank;
mod rank_calibration;
mod rank_properties;
mod survival_peers;
