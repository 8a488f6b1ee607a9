//! A run on many nodes: begun by the command line, measured, and told.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use assay_core::record::Record;
use assay_core::units::counted;
use assay_engine::Control;
use assay_fleet::{
    Conduct, Criteria, Guard, Home, Launcher, Ledger, Mode, conduct, entries, find_again, program, variables,
};

use super::records::{adopt, asked};
use super::records::{ansible, check_arguments, handed_suite, via};
use super::watcher::Watcher;
use super::{ledgers, words};
use crate::cli::{FleetRunArgs, ViaArg, own_build};
use crate::documents::fleet::{FleetEvent, FleetRunDocument, RotationNews};
use crate::failure::Failure;
use crate::{output, state};

/// Measures what is missing of a run, which may be `resumed`. A record that the guard refuses is not taken.
pub(super) fn measured(
    args: &FleetRunArgs,
    mut ledger: Ledger,
    resumed: bool,
    mut guard: Option<Guard>,
    control: &Control,
) -> Result<(Ledger, BTreeMap<usize, Record>), Failure> {
    let _lock = ledgers::lock(&ledger.run)?;
    if resumed {
        // Another process may have had it meanwhile.
        ledger.renew(ledgers::find(&ledger.run)?);
        // What is here was asked for when it was measured.
        let criteria = Criteria { run: ledger.run.clone(), asked: None, guard: guard.take() };
        adopt(&mut ledger, &criteria)?;
        guard = criteria.guard;
    }
    let missing = ledger.missing();
    let count = u32::try_from(missing.len()).unwrap_or(u32::MAX);
    if let Some(quorum) = args.quorum.filter(|quorum| *quorum > count) {
        return Err(Failure::usage(format!("--quorum {quorum} is more than the {}", counted(count as usize, "node"))));
    }
    check_arguments(&ledger)?;
    if missing.is_empty() {
        return Ok((ledger, BTreeMap::new()));
    }
    if args.resume.is_some() && ledger.inventory.is_some() {
        find_again(&mut ledger, control)?;
    }
    ledger.begin_attempt();
    ledgers::keep(&ledger)?;
    let criteria = Criteria { run: ledger.run.clone(), asked: Some(asked(&ledger, Launcher::of_run(&ledger)?)), guard };
    let how = Conduct {
        listen: args.listen,
        ready_within: args.ready_within,
        // Of a resumed run most nodes are done.
        quorum: args.quorum.or(resumed.then_some(1)),
        build: own_build(),
        suite: handed_suite(&ledger)?,
        home: Home::with_keeper(criteria, state::keeper()?)?,
    };
    let mut watcher = Watcher::new(args, &ledger, &missing);
    let records = conduct(how, &mut ledger, missing, &mut watcher, control)?;
    watcher.end(&ledger)?;
    Ok((ledger, records))
}

/// Says what a run came to; for programs with `rotation` beside it.
pub(super) fn tell_run(
    args: &FleetRunArgs,
    ledger: &Ledger,
    records: &BTreeMap<usize, Record>,
    rotation: RotationNews,
) -> Result<(), Failure> {
    let starts = words::starts(records);
    if !args.json && !args.events {
        let told = !args.quiet && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let text = words::outcome_text(ledger, starts.as_ref(), told);
        return output::print(&(output::wrapped(text.trim_end(), 80) + "\n"));
    }
    let document = FleetRunDocument::new(ledger, starts, rotation);
    if args.events {
        return output::print_event(&FleetEvent::Ended(document));
    }
    output::print_json(&document)
}

// A new run by the command line, and how its nodes are reached.

/// A new run by the command line.
pub(super) fn begun(args: &FleetRunArgs, control: &Control) -> Result<Ledger, Failure> {
    let mode = match (args.alone, args.staggered) {
        (true, _) => Mode::Staggered(1),
        (false, Some(most)) => Mode::Staggered(most),
        (false, None) => Mode::Simultaneous,
    };
    let via = match via(args.via, &args.inventory)? {
        ViaArg::Local => Launcher::Local,
        ViaArg::Ssh => Launcher::Ssh,
        ViaArg::Slurm => Launcher::Slurm,
        ViaArg::Ansible => Launcher::Ansible,
    };
    let (nodes, inventory) = match via {
        Launcher::Ansible => {
            let variables = variables(args.binaries.as_ref(), &args.arguments)?;
            let (nodes, inventory) =
                ansible(&args.inventory, control)?.nodes_of_run(variables, args.listen.is_some())?;
            (nodes, Some(inventory))
        }
        _ => (entries(&args.nodes, &args.target, via)?, None),
    };
    let program = program(args.program.as_deref(), via)?;
    let ledger = Ledger::begun(via.name(), mode, program, args.arguments.clone(), nodes);
    Ok(Ledger { inventory, ..ledger })
}
