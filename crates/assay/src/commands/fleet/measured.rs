//! A run on many nodes: begun by the command line, measured, and told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_core::record::Record;
use assay_core::units::counted;
use assay_engine::{Control, wall_clock};
use assay_fleet::{
    Ansible, Conduct, Criteria, Entry, FleetError, Guard, Home, Host, Inventory, Launcher, Ledger, Mode, Route,
    conduct, entries, program, variables,
};
use assay_store::new_id;

use super::ansible::{ansible, via};
use super::nodes::{check_arguments, handed_suite};
use super::records::{adopt, asked};
use super::watcher::Watcher;
use super::{ledgers, words};
use crate::cli::{FleetRunArgs, ViaArg};
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
        // Another process may have had it meanwhile. What media were asked is newer than its file.
        let now = ledgers::find(&ledger.run)?;
        let asked = std::mem::replace(&mut ledger, now).nodes;
        for entry in &mut ledger.nodes {
            let known = asked.iter().find(|known| known.name == entry.name);
            entry.medium = known.and_then(|known| known.medium.clone()).or_else(|| entry.medium.take());
        }
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
        find_again(&mut ledger, &missing, control)?;
    }
    for number in &missing {
        let node = &mut ledger.nodes[*number];
        (node.attempts, node.fate) = (node.attempts + 1, None);
    }
    ledgers::keep(&ledger)?;
    let criteria = Criteria { run: ledger.run.clone(), asked: Some(asked(&ledger, Launcher::of_run(&ledger)?)), guard };
    let how = Conduct {
        listen: args.listen,
        ready_within: args.ready_within,
        // Of a resumed run most nodes are done.
        quorum: args.quorum.or(resumed.then_some(1)),
        suite: handed_suite(&ledger)?,
        home: Home::of(criteria, state::keeper()?)?,
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
        return output::print(&(output::wrapped(words::outcome_text(ledger, starts.as_ref()).trim_end(), 80) + "\n"));
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
    let (mode, at_a_time) = match (args.alone, args.staggered) {
        (true, _) => (Mode::Staggered(1), Some(1)),
        (false, Some(most)) => (Mode::Staggered(most), Some(most)),
        (false, None) => (Mode::Simultaneous, None),
    };
    let via = match via(args.via, &args.inventory)? {
        ViaArg::Local => Launcher::Local,
        ViaArg::Ssh => Launcher::Ssh,
        ViaArg::Slurm => Launcher::Slurm,
        ViaArg::Ansible => Launcher::Ansible,
    };
    let (nodes, inventory) = match via {
        Launcher::Ansible => of_inventory(args, control)?,
        _ => (entries(&args.nodes, &args.target, via)?, None),
    };
    Ok(Ledger {
        version: Ledger::VERSION,
        run: new_id(),
        created: wall_clock(),
        via: via.name().to_owned(),
        mode: mode.name().to_owned(),
        at_a_time,
        program: program(args.program.as_deref(), via)?,
        arguments: args.arguments.clone(),
        inventory,
        rotation: None,
        settled: None,
        nodes,
    })
}

/// The nodes of an inventory.
fn of_inventory(args: &FleetRunArgs, control: &Control) -> Result<(Vec<Entry>, Option<Inventory>), Failure> {
    let variables = variables(args.binaries.as_ref(), &args.arguments)?;
    let hosts = ansible(&args.inventory, control)?.hosts()?;
    if let Some(host) = hosts.iter().find(|host| host.target.is_empty()) {
        return Err(FleetError::NoTarget(host.name.clone()).into());
    }
    if args.inventory.forks.is_some_and(|forks| (forks as usize) < hosts.len()) {
        return Err(FleetError::TooFewForks(hosts.len()).into());
    }
    let far = |host: &&Host| !matches!(host.connection.as_str(), "ssh" | "smart" | "local" | "ansible.builtin.ssh");
    if let (None, Some(host)) = (args.listen, hosts.iter().find(far)) {
        return Err(FleetError::NoTunnel(host.name.clone()).into());
    }
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let inventory = Inventory {
        files: args.inventory.inventory.iter().map(absolute).collect(),
        limit: args.inventory.limit.clone(),
        variables,
        routes: routes(&hosts),
    };
    Ok((hosts.iter().map(|host| Entry::new(&host.name, &host.target)).collect(), Some(inventory)))
}

/// Asks the inventory of a run anew how its nodes are reached.
pub(super) fn find_again(ledger: &mut Ledger, missing: &[usize], control: &Control) -> Result<(), Failure> {
    let Some(inventory) = &mut ledger.inventory else { return Ok(()) };
    let hosts = Ansible::of(inventory, control)?.hosts()?;
    inventory.routes = routes(&hosts);
    match missing.iter().map(|node| &ledger.nodes[*node].name).find(|name| !inventory.routes.contains_key(*name)) {
        Some(name) => Err(FleetError::HostGone(name.clone()).into()),
        None => Ok(()),
    }
}

fn routes(hosts: &[Host]) -> BTreeMap<String, Route> {
    let route = |host: &Host| Route {
        ssh: host.connection != "local",
        ssh_extra_args: host.ssh_extra_args.clone(),
        slot: host.slot.clone(),
    };
    hosts.iter().map(|host| (host.name.clone(), route(host))).collect()
}
