//! Checks of media whose truth is known, in memory and as real devices.
#![cfg(not(windows))] // its media are modelled by a crate for Linux
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod files;
mod mounted;
mod mounted_campaign;
mod mounted_edges;
mod mounted_second;
mod probe;
mod probe_attacks;
mod probe_plan;
mod quick;
mod restore;
