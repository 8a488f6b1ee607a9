//! The public instance as a whole: both databases, the server as a process, forgeries, kills and bad input.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod bad_input;
mod databases;
mod faults;
mod forgeries;
mod kills;
mod pages;
mod peers;
mod privacy;
mod samples;
mod server;
mod serving;
mod tables;
mod unit;
mod ways;
