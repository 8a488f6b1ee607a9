//! Tests of the model medium by its parameters, as a real device, and as f3 sees it; tests of the cluster.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod cluster;
mod devices;
mod f3;
mod model;
