//! `assay fleet`

mod check;
mod clean;
mod collect;
mod ledgers;
mod measured;
pub(super) mod report;
mod rotate;
mod view;

use assay_core::exit::Exit;
use assay_engine::Control;
use measured::{begun, measured, tell_run};

use super::watch::fleet_watch;
use crate::cli::{FleetArgs, FleetCommand, FleetRunArgs};
use crate::documents::fleet::RotationNews;
use crate::ending::Failure;
use crate::{ending, node, signals, system};

pub(super) fn fleet(args: FleetArgs) -> Result<Exit, Failure> {
    // What was measured elsewhere is read here as any record.
    if !system::MEASURES_NODES && !matches!(args.command, FleetCommand::List(_) | FleetCommand::Report(_)) {
        return Err(Failure::usage("nodes are measured from a coordinator on Linux; import their records here"));
    }
    assay_fleet::remove_left_by_killed();
    // Clean says itself what it removes.
    if !matches!(args.command, FleetCommand::Clean(_)) {
        node::recover();
    }
    match args.command {
        FleetCommand::Run(args) => run(&args),
        FleetCommand::Check(args) => check::check(&args),
        FleetCommand::Collect(args) => collect::collect(&args),
        FleetCommand::Clean(args) => clean::clean(&args),
        FleetCommand::List(args) => ledgers::list_runs(&args),
        FleetCommand::Report(args) => report::report(&args),
        FleetCommand::Watch(args) => fleet_watch(&args.command),
    }
}

/// `assay fleet run`
fn run(args: &FleetRunArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let ledger = match (&args.resume, &args.rotate) {
        (Some(run), _) => ledgers::find(run)?,
        (None, Some(plan)) => return rotate::begin(args, plan, &control),
        (None, None) => begun(args, &control)?,
    };
    if ledger.rotation.is_some() {
        return rotate::go_on(args, &ledger, &control);
    }
    let (ledger, records) = measured(args, ledger, args.resume.is_some(), None, &control)?;
    tell_run(args, &ledger, &records, RotationNews::default())?;
    Ok(ending::of_nodes(ledger.end()))
}
