//! Tests of the independent model: its truths, its media, and its judge, with a program that makes mistakes on purpose.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod media;
mod reference;
mod truths;
