//! Interoperability with fio: its job files are read and written, and its loop can run a workload
//! in place of assay's own.
//!
//! fio is a program beside this one: it is started, given options and asked for its JSON. Facts
//! about options and output come from fio's manual and from what version 3.33 was seen to do.

mod area;
mod export;
mod given;
mod job_file;
mod load;
mod options;
mod run;
mod values;

pub use area::{Included, JobPlace, is_job_text};
pub use export::job_file;
pub use given::Amount;
pub use job_file::{JobFile, Wish, read_job_file};
pub use run::{Fio, Totals, complaint, document, io_error, run_repeat, totals};
