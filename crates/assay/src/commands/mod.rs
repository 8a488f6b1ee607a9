//! One file a command.

#[cfg(feature = "whole")]
mod advise;
#[cfg(feature = "whole")]
mod baseline;
#[cfg(feature = "whole")]
mod compare;
#[cfg(feature = "whole")]
mod completions;
mod confidence;
mod dry_run;
#[cfg(feature = "whole")]
mod export;
mod finished;
#[cfg(feature = "whole")]
mod fleet;
#[cfg(feature = "whole")]
mod import;
mod info;
mod label;
mod licences;
#[cfg(feature = "whole")]
mod list;
#[cfg(not(feature = "whole"))]
mod list_of_node;
#[cfg(feature = "whole")]
mod man;
mod peers;
#[cfg(feature = "whole")]
mod plan;
#[cfg(feature = "whole")]
mod rank;
#[cfg(feature = "whole")]
mod report;
mod resume;
mod rm;
mod run;
mod show;
mod suite;
mod verify;

use assay_core::exit::Exit;

#[cfg(not(feature = "whole"))]
use list_of_node as list;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

/// Does what was asked for.
pub(crate) fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Info(args) => info::info(&args),
        Command::Verify(args) => verify::verify(&args),
        #[cfg(feature = "whole")]
        Command::Compare(args) => compare::compare(&args),
        #[cfg(feature = "whole")]
        Command::Baseline(args) => baseline::baseline(&args),
        #[cfg(feature = "whole")]
        Command::Rank(args) => rank::rank(&args),
        #[cfg(feature = "whole")]
        Command::Plan(args) => plan::plan(&args),
        #[cfg(feature = "whole")]
        Command::Advise(args) => advise::advise(&args),
        Command::Suite(args) => suite::suite(args),
        #[cfg(feature = "whole")]
        Command::Fleet(args) => fleet::fleet(args),
        #[cfg(feature = "whole")]
        Command::Import(args) => import::import(&args),
        #[cfg(feature = "whole")]
        Command::Export(args) => export::export(&args),
        Command::List(args) => list::list(&args),
        Command::Show(args) => show::show(&args),
        Command::Label(args) => label::label(&args),
        Command::Rm(args) => rm::rm(&args),
        #[cfg(feature = "whole")]
        Command::Report(args) => report::report(&args),
        #[cfg(feature = "whole")]
        Command::Completions(args) => completions::completions(&args),
        #[cfg(feature = "whole")]
        Command::Man(args) => man::man(&args),
        Command::Licences(args) => licences::licences(&args),
    }
}
