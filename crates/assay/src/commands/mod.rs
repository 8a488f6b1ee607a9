//! One file a command.

mod advise;
mod baseline;
mod compare;
mod completions;
mod confidence;
mod dry_run;
mod export;
mod finished;
mod fleet;
mod import;
mod info;
mod label;
mod licences;
mod list;
mod man;
mod peers;
mod plan;
mod rank;
mod report;
mod resume;
mod rm;
mod run;
mod show;
mod suite;
mod verify;

use assay_core::exit::Exit;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

/// Does what was asked for.
pub(crate) fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Info(args) => info::info(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Baseline(args) => baseline::baseline(&args),
        Command::Rank(args) => rank::rank(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Suite(args) => suite::suite(args),
        Command::Fleet(args) => fleet::fleet(args),
        Command::Import(args) => import::import(&args),
        Command::Export(args) => export::export(&args),
        Command::List(args) => list::list(&args),
        Command::Show(args) => show::show(&args),
        Command::Label(args) => label::label(&args),
        Command::Rm(args) => rm::rm(&args),
        Command::Report(args) => report::report(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        Command::Licences(args) => licences::licences(&args),
    }
}
