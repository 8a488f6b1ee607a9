//! The model medium as its parameters say, as a real device, and as f3 sees it; the cluster.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod cluster;
mod devices;
mod f3;
mod model;
