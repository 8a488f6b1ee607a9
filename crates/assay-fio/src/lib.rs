//! Interoperability with fio: its job files are read and written, and its loop can run a workload
//! in place of assay's own.
//!
//! fio is a program beside this one: it is started, given options and asked for its JSON. Facts
//! about options and output come from fio's manual and from what version 3.33 was seen to do.

mod beside;
mod export;
mod fio;
mod fold;
mod include;
mod job_file;
mod noted;
mod options;
pub mod output;
mod place;
mod plan;
mod run;
mod system;
mod values;

pub use export::job_file;
pub use fio::Fio;
pub use include::Included;
pub use job_file::{JobFile, read_job_file};
pub use place::Place;
pub use run::run_repeat;
