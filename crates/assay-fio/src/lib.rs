//! Interoperability with fio: its job files are read and written, and its loop can run a workload
//! in place of assay's own.
//!
//! fio is a program beside this one: it is started, given options and asked for its JSON. Facts
//! about options and output come from fio's manual and from what version 3.33 was seen to do.

mod area;
mod export;
mod given;
mod include;
mod job_file;
mod load;
mod noted;
mod options;
pub mod output;
mod priorities;
mod run;
mod values;

pub use area::JobPlace;
pub use export::job_file;
pub use given::Amount;
pub use include::{Included, is_job_text};
pub use job_file::{JobFile, Wish, read_job_file};
pub use run::{Fio, run_repeat};
