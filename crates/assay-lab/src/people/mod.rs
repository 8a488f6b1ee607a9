//! Stores as users make them: a second generator, written from the documents and the help texts alone.
//!
//! It shares nothing with [`crate::fleet`], and was written without knowledge of the program's decisions. So a wrong
//! assumption of the first generator shows here. A [`Store`] has files to import, questions, and the truth:
//!
//! - `world`: models, units, hosts and days with their true speeds, and the result of a run of a unit.
//! - `paper`: a run as a record of assay, or as a text copied from CrystalDiskMark.
//! - `store`: the files, names and questions of one store.
//! - `schedules`, `imports`, `behaviour`: functions that fill stores of a kind, one subject each.
//! - `kinds`: the kinds, and the store of a seed.
//!
//! All speeds are logarithms until they are written; all times are UTC.

mod kinds;
mod schedules;
mod store;
mod world;

pub use kinds::{KINDS, draw};
pub use store::{Drawn, File, Pair, Store};
pub use world::{LOAD_TITLES, LOADS, Model, Unit};
