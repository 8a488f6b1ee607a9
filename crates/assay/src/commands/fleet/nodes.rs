//! What nodes receive: their command line and their suite.

use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::{Ansible, FleetError, Launcher, Ledger, SuiteHandover, node_arguments};
use clap::Parser;

use super::ledgers;
use crate::cli::{Cli, Command, InventoryArgs, RunArgs, ViaArg};
use crate::failure::Failure;

/// Arguments that each node has for itself, as an example.
const NODES_OWN: [&str; 6] = ["--rendezvous", "127.0.0.1:1", "--node", "x", "--", "."];

/// Finds what is wrong with the arguments before anything is started.
pub(super) fn check_arguments(ledger: &Ledger) -> Result<(), Failure> {
    parse(node_arguments(ledger).into_iter().chain(NODES_OWN.map(str::to_owned)))
}

/// The same for arguments alone.
pub(super) fn check_words(words: &[String]) -> Result<(), Failure> {
    parse(std::iter::once("run".to_owned()).chain(words.iter().cloned()))
}

/// What nodes understand of their arguments; none where they do not.
pub(super) fn run_args(words: &[String]) -> Option<RunArgs> {
    let words = ["assay"].into_iter().chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(words.chain(NODES_OWN)).ok()?.command {
        Command::Run(args) => Some(*args),
        _ => None,
    }
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let arguments = std::iter::once("assay".to_owned()).chain(arguments);
    Cli::try_parse_from(arguments).map(drop).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::usage(harmless(&format!("arguments for assay run on the nodes: {line}")))
    })
}

/// How nodes get their suite: files of this machine are not there on others.
pub(super) fn handed_suite(ledger: &Ledger) -> Result<SuiteHandover, Failure> {
    match Launcher::of_run(ledger)? {
        _ if ledger.rotation.is_none() => Ok(SuiteHandover::Named),
        // Its variables name the file, which it copies.
        Launcher::Ansible => Ok(SuiteHandover::Named),
        Launcher::Local => ledgers::suite(&ledger.run).map(SuiteHandover::File),
        Launcher::Ssh | Launcher::Slurm => ledgers::suite_text(&ledger.run).map(SuiteHandover::Text),
    }
}

// The inventory of the command line.

/// How nodes are reached.
pub(super) fn via(via: Option<ViaArg>, inventory: &InventoryArgs) -> Result<ViaArg, Failure> {
    match (via, inventory.inventory.is_empty()) {
        (None | Some(ViaArg::Ansible), false) => Ok(ViaArg::Ansible),
        (Some(ViaArg::Ansible), true) => Err(Failure::usage("--via ansible needs an inventory: -i FILE")),
        (Some(_), false) => Err(Failure::usage("an inventory is for --via ansible")),
        (Some(via), true) => Ok(via),
        (None, true) => Ok(ViaArg::Ssh),
    }
}

/// Ansible with the inventory of the command line.
pub(super) fn ansible(args: &InventoryArgs, control: &Control) -> Result<Ansible, FleetError> {
    Ansible::new(&args.inventory, args.limit.as_deref(), args.forks, control)
}
