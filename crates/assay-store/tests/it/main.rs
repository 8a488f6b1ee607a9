//! All stores, whatever the implementation: what is kept, refused, damaged, and shared between processes.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod damage;
mod foreign;
mod growth;
mod matching;
mod processes;
mod refusals;
mod shared;
