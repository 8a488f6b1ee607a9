//! `assay-calibrate table`: how often the program decides wrongly. `assay-calibrate store`: a fleet to try it with.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use assay_calibrate::{Failure, head, line, measure, rows};
use clap::{Parser, Subcommand};

mod store;

/// How often the program decides wrongly, on fleets of which the truth is known.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures the rows and prints them; fails where one misses its bound.
    Table {
        /// Fleets for each row.
        #[arg(long, default_value_t = 1000)]
        replicates: usize,
        /// Only rows that hold this text.
        #[arg(long, default_value = "")]
        rows: String,
    },
    /// Writes the records of a fleet into a store, and what is true of it to standard output.
    Store {
        /// Directory of the store.
        directory: PathBuf,
        #[command(flatten)]
        fleet: store::FleetArguments,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Table { replicates, rows } => table(replicates, &rows),
        Command::Store { directory, fleet } => store::write(&directory, &fleet).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "assay-calibrate: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all rows hold.
fn table(replicates: usize, words: &str) -> Result<bool, Failure> {
    let (mut all, mut held) = (0, 0);
    writeln!(io::stdout(), "{}", head())?;
    for row in rows::all().iter().filter(|row| row.name.contains(words)) {
        let measured = measure(row, replicates)?;
        writeln!(io::stdout(), "{}", line(row, &measured))?;
        let each = measured.time.as_secs_f64() * 1e3 / replicates as f64;
        writeln!(io::stderr(), "{:.1} s, {each:.2} ms each: {}", measured.time.as_secs_f64(), row.name)?;
        all += 1;
        held += usize::from(row.bound.holds(measured.figure, 0.0));
    }
    writeln!(io::stdout(), "\n{held} of {all} rows hold, by {replicates} fleets each.")?;
    Ok(held == all)
}
