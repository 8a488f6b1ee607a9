//! A public place for results: `assay-public serve`. Records are submitted by accounts, checked at the door, ranked by the code
//! of `assay rank`, shown, and handed out as open data.
//!
//! A document goes through [`intake`] to the [`writer`], which answers when it is on the medium; the [`judge`] decides where it
//! stands; a [`snapshot`] of what is public is what pages and answers rest on.

mod answers;
mod api;
mod app;
pub mod classes;
pub mod data;
pub mod database;
pub mod derived;
pub mod digest;
mod figures;
pub mod intake;
pub mod judge;
mod limits;
mod metrics;
pub mod moving;
mod openapi;
mod pages;
mod questions;
mod selection;
mod server;
pub mod snapshot;
pub mod states;
pub mod store;
mod strict;
pub mod writer;

pub use intake::{Fault, Refusal};
pub use limits::Rate;
pub use openapi::document as description;
pub use server::{Server, ServerError, Setup};
pub use store::secret;
