//! Programs of a suite, each made anew from what its original is documented to do: sysbench cpu and memory, LINPACK,
//! `dd conv=fsync`,
//! PostMark, gzip and tar of a source tree, inserts into SQLite.
//!
//! A program is fitted to what time, bytes and space allow ([`fit`]), and run in a directory of assay's own ([`run`]),
//! in a thread that may wait for a hung medium for ever: it owns all that it uses. What it makes has names that
//! [`is_known`] knows, so that a later run can remove what a killed one left.

mod archives;
mod linpack;
mod run;
mod sysbench;
mod system;
#[cfg(test)]
mod tests;
mod tree;
mod trouble;
mod work;
mod writes;

pub use run::{Fitted, ProgramLimits, fit, run};
pub use tree::{SourceTree, is_known};
pub use trouble::ProgramTrouble;
pub use work::{Done, ProgramFigure, Timed, Work};
