//! Interoperability with fio: its job files are read and written, and its loop can run a workload
//! in place of assay's own.
//!
//! fio is a program beside this one: it is started, given options and asked for its JSON. Facts
//! about options and output come from fio's manual and from what version 3.33 was seen to do.

mod area;
mod beside;
mod defaults;
mod export;
mod expression;
mod fio;
mod fold;
mod forms;
mod given;
mod include;
mod job_file;
mod load;
mod names;
mod noted;
mod options;
pub mod output;
mod place;
mod plan;
mod priorities;
mod run;
mod sections;
mod system;
mod values;

pub use export::job_file;
pub use fio::Fio;
pub use given::Amount;
pub use include::Included;
pub use job_file::{JobFile, Wish, read_job_file};
pub use place::Place;
pub use run::run_repeat;
pub use sections::is_job_text;
