//! The mathematics against published measurements, worked examples and its own laws.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod decide_bounds;
mod decide_buy;
mod decide_cache;
mod decide_composite;
mod decide_nas;
mod experiment;
mod experiment_race;
mod rank;
mod rank_calibration;
mod rank_properties;
