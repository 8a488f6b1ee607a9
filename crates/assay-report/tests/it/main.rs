//! Records and answers as people see them.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod card;
mod common;
mod foreign;
mod html;
mod redact;
mod texts;
mod verification;
