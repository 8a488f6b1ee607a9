//! assay: which storage should I put in my nodes, is it genuine, and is it fast enough?
//!
//! Wiring only: arguments become a request, the request a run, the run a record.

mod answer;
mod asked;
mod baselines;
#[cfg_attr(windows, path = "windows/child.rs")]
mod child;
mod cli;
mod commands;
mod copies;
mod data_directory;
mod documents;
mod failure;
mod files;
mod imports;
mod input;
mod journals;
mod leftovers;
mod misplaced;
mod output;
mod progress;
mod queries;
mod questions;
mod recorder;
#[cfg_attr(windows, path = "windows/signals.rs")]
mod signals;
mod state;
mod suites;
#[cfg_attr(not(windows), path = "system/linux.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod together;
#[cfg(not(windows))]
#[path = "system/unix.rs"]
mod unix;
#[cfg(not(windows))]
#[path = "system/wishes.rs"]
mod wishes;

use std::process::ExitCode;

use assay_core::exit::Exit;
use clap::Parser;
use clap::error::ErrorKind;

use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // Help and version are answers, not mistakes.
            let _ = error.print();
            return Exit::Good.into();
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            return Exit::Usage.into();
        }
        Err(error) => return output::tell_failure(&Failure::from(error)).into(),
    };
    match commands::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => output::tell_failure(&failure).into(),
    }
}
