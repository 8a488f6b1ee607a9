//! Caches of a medium, which answer for what its memory may have lost.

mod caches;
mod pages;
mod spec;

pub(super) use caches::Caches;
pub use spec::{Cache, Policy, Takes, Writing};
