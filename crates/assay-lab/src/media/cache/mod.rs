//! Caches of a medium, which hide what its memory loses.

mod caches;
mod pages;
mod spec;

pub(super) use caches::Caches;
pub use spec::{Cache, CachedWrites, Eviction, WritePolicy};
