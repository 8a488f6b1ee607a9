//! `assay fleet`

mod ansible;
mod at_once;
mod begun;
mod check;
mod clean;
mod collect;
mod count;
mod descriptors;
mod gather;
mod home;
mod ledgers;
mod list;
mod measured;
mod node_arguments;
mod outcome;
mod participants;
mod records;
mod report;
mod rotate;
mod run;
mod view;

use assay_core::exit::Exit;

use crate::cli::{FleetArgs, FleetCommand};
use crate::failure::Failure;
use crate::system;

pub(super) fn fleet(args: FleetArgs) -> Result<Exit, Failure> {
    // What was measured elsewhere is read here as any record.
    if !system::MEASURES_NODES && !matches!(args.command, FleetCommand::List(_) | FleetCommand::Report(_)) {
        return Err(Failure::usage("nodes are measured from a coordinator on Linux; import their records here"));
    }
    match args.command {
        FleetCommand::Run(args) => run::run(*args),
        FleetCommand::Check(args) => check::check(&args),
        FleetCommand::Collect(args) => collect::collect(&args),
        FleetCommand::Clean(args) => clean::clean(&args),
        FleetCommand::List(args) => list::list(&args),
        FleetCommand::Report(args) => report::report(&args),
    }
}
