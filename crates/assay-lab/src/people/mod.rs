//! Stores as people make them: a second generator, written from the documents and the help texts alone.
//!
//! It shares nothing with [`crate::fleet`] and was written without a look at the program's decisions, so that a mistake
//! in what the first generator takes for granted shows here. A [`Store`] is files to import, questions, and the truth:
//!
//! - `world`: models, units, hosts and days with their true speeds, and what a visit to a unit measures.
//! - `paper`: a run as a record of assay, or as the text that somebody copied out of CrystalDiskMark.
//! - `store`: the files, names and questions of one store.
//! - `schedules`, `imports`, `behaviour`: how stores of a kind are made, one subject each.
//! - `kinds`: the kinds, and the store of a seed.
//!
//! All speeds are logarithms until they are written; all times are UTC.

mod behaviour;
mod imports;
mod kinds;
mod paper;
mod schedules;
mod store;
mod world;

pub use kinds::{KINDS, draw};
pub use store::{Drawn, File, Pair, Store};
pub use world::{LOAD_TITLES, LOADS, Model, Unit};
