//! The tools that workloads were taken from, run in place of assay's own engines.
//!
//! Each is a program beside this one: it is called with the options of its source, works on a file in assay's own
//! directory, and what it prints is read by the importer. fio has a crate of its own (`assay-fio`).

mod call;
mod program;
mod run;

pub use call::{FILE, ToolSubject, is_known, needs_directory};
pub use program::{ProgramReport, run_program};
pub use run::{FoundTool, run_repeat};
