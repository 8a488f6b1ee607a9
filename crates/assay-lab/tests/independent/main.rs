//! The independent model: its truths, its media, and its judge by a program that makes mistakes on purpose.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod judging;
mod media;
mod reference;
mod truths;
