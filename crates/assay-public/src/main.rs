//! `assay-public`: the program of a public instance and of who operates it.

mod commands;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::run(commands::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "assay-public: {error}");
            ExitCode::from(2)
        }
    }
}
