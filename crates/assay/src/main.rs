//! assay: which storage should I put in my nodes, is it genuine, and is it fast enough?
//!
//! Wiring only: arguments become a request, the request a run, the run a record.

mod answer;
mod cli;
mod commands;
mod copies;
mod documents;
mod ending;
mod files;
mod imports;
mod leftovers;
mod node;
mod output;
mod progress;
mod queries;
mod recorder;
mod signals;
mod state;
mod suites;
mod system;

use std::process::ExitCode;

use assay_core::exit::Exit;
use clap::Parser;
use clap::error::ErrorKind;

use ending::Failure;

fn main() -> ExitCode {
    let mut questions = output::Questions::new(false);
    if std::env::args_os().len() == 1 && questions.asks() {
        return match commands::guide(&mut questions) {
            Ok(exit) => exit.into(),
            Err(failure) => output::tell_failure(&failure).into(),
        };
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == commands::COMPLETE) {
        commands::complete();
        return Exit::Good.into();
    }
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
        Err(error) => {
            let words: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let failure = cli::second_target(&words, &error).map_or_else(|| Failure::from(error), Failure::usage);
            return output::tell_failure(&failure).into();
        }
    };
    // Runs and checks are made by a child process; its code comes back through `signals`.
    match commands::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => output::tell_failure(&failure).into(),
    }
}
