//! `assay-calibrate table`: how often the program decides wrongly. `assay-calibrate store`: a fleet to try it with.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use assay_calibrate::{Failure, head, line, measure, rows, save};
use assay_lab::fleet::{Design, Fleet, Load, Part, Repeats, Spread, Truth, Units};
use clap::{Args, Parser, Subcommand};

/// How often the program decides wrongly, on fleets with a known truth.
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
        fleet: FleetArguments,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Table { replicates, rows } => table(replicates, &rows),
        Command::Store { directory, fleet } => write(&directory, &fleet).map(|()| true),
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

// Writes a store with a simulated fleet, to try the program's judgement.

/// What is true of the fleet, and who is measured.
#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    /// Seed of all that chance adds.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Units of each model, like 3,3,1.
    #[arg(long, value_delimiter = ',', default_value = "3,3,3")]
    units: Vec<usize>,
    /// Speed of each model over that of the first; equal where none is given.
    #[arg(long, value_delimiter = ',')]
    ratios: Vec<f64>,
    /// Runs of each unit, each on a day of its own.
    #[arg(long, default_value_t = 1)]
    days: u32,
    /// Repeats of each load.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Deviation of units of a model: 0.1 is 10 %.
    #[arg(long, default_value_t = 0.1)]
    unit_deviation: f64,
    /// Deviation of runs of a unit.
    #[arg(long, default_value_t = 0.02)]
    run_deviation: f64,
    /// Deviation of repeats of a run.
    #[arg(long, default_value_t = 0.01)]
    repeat_deviation: f64,
    /// One unit that is off, as model, unit and factor: 1,3,0.28.
    #[arg(long, value_delimiter = ',')]
    odd: Vec<f64>,
}

impl FleetArguments {
    fn fleet(&self) -> Result<Fleet, Failure> {
        let spread =
            Spread { run: self.run_deviation, repeat: self.repeat_deviation, common: 0.5, ..Spread::default() };
        let units = Units::Normal(self.unit_deviation);
        let mut truth = Truth::equal(Load::random_read(), self.units.len(), units, spread);
        truth.loads = Load::eight();
        truth.models.iter_mut().zip(&self.ratios).for_each(|(model, ratio)| model.ratio = *ratio);
        match self.odd[..] {
            [] => {}
            [model, unit, ratio] if model >= 1.0 && unit >= 1.0 && ratio > 0.0 => {
                truth = truth.with_off(Part::Unit(model as usize - 1, unit as usize - 1), ratio);
            }
            _ => return Err("--odd takes model, unit and factor, like 1,3,0.28".into()),
        }
        let design = Design::units(&self.units).on_days(self.days).with_repeats(Repeats::Fixed(self.repeats));
        Ok(Fleet { truth, design, seed: self.seed })
    }
}

/// Writes the store, and the truth about its fleet to standard output.
pub(crate) fn write(directory: &Path, arguments: &FleetArguments) -> Result<(), Failure> {
    let fleet = arguments.fleet()?;
    save(directory, &fleet)?;
    let mut out = io::stdout();
    for (at, model) in fleet.truth.models.iter().enumerate() {
        writeln!(out, "{}: x{} of the first, of {} units measured", model.name, model.ratio, arguments.units[at])?;
        for unit in 0..arguments.units[at] {
            let load = fleet.truth.loads.iter().position(|load| *load == Load::random_read()).unwrap_or(0);
            writeln!(out, "  unit {}: {:.0} random reads of 4 KiB a second", unit + 1, fleet.unit(at, unit, load))?;
        }
    }
    writeln!(out, "Try: ASSAY_DATA={} assay rank", directory.display())?;
    Ok(())
}
