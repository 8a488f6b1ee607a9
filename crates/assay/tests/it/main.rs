//! The program as a whole, one file a subject. They are one test program, because each program is linked with all that
//! assay consists of, and cargo runs one after the other. What must be a process of its own stands beside this directory.
#![allow(clippy::unwrap_used)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;

mod accuracy;
mod advise;
mod answers;
mod article;
mod articles;
mod at_once;
mod bad_input;
mod bare;
mod bounded;
mod busybox;
mod checked_before;
mod clients;
mod collection;
mod command_line;
mod compare;
mod discard;
mod docs;
mod documented;
mod faults;
mod fio;
mod fio_calls;
mod fleet;
mod fleet_ansible;
mod fleet_inventory;
mod fleet_loads;
mod fleet_report;
mod fleet_rotate;
mod foreign;
mod handles;
mod hostile;
mod identity;
mod import;
mod json;
mod launchers;
mod licences;
mod manner;
mod memory;
mod node_scripts;
mod observations;
mod old_kernel;
mod originals;
mod packaging;
mod pictures;
mod plan;
mod queries;
mod rank;
mod raw;
mod restore;
mod resume;
mod schema;
mod sensors;
mod sharing;
mod signals;
mod slurm;
mod spool;
mod ssh;
mod stops;
mod structure;
mod texts;
mod verify;
mod year_2040;
