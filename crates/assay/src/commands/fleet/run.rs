//! `assay fleet run`

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_engine::{Control, wall_clock};
use assay_fleet::{Entry, Fate, Inventory, Launcher, Ledger, Mode, Route, slurm_names};
use assay_store::new_id;
use serde_json::json;

use super::ansible::{Ansible, Host, variables, via};
use super::party::Party;
use super::records::adopt;
use super::told::check_arguments;
use super::{books, outcome};
use crate::cli::{FleetRunArgs, InventoryArgs, ViaArg};
use crate::failure::Failure;
use crate::together::check_name;
use crate::{output, signals};

pub(super) fn run(args: FleetRunArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut ledger = match &args.resume {
        Some(run) => books::find(run)?,
        None => begun(&args, &control)?,
    };
    let _lock = books::lock(&ledger.run)?;
    if args.resume.is_some() {
        // Another process may have had it meanwhile.
        ledger = books::find(&ledger.run)?;
        adopt(&mut ledger)?;
    }
    let missing = ledger.missing();
    let count = u32::try_from(missing.len()).unwrap_or(u32::MAX);
    if let Some(quorum) = args.quorum.filter(|quorum| *quorum > count) {
        return Err(Failure::usage(format!("--quorum {quorum} is more than the {count} nodes")));
    }
    check_arguments(&ledger)?;
    if missing.is_empty() {
        return tell(&args, &ledger, &BTreeMap::new());
    }
    if args.resume.is_some() && ledger.inventory.is_some() {
        find_again(&mut ledger, &missing, &control)?;
    }
    missing
        .iter()
        .for_each(|node| (ledger.nodes[*node].attempts, ledger.nodes[*node].fate) = next(&ledger.nodes[*node]));
    books::keep(&ledger)?;
    let records = Party::begin(&args, &mut ledger, missing)?.follow(&control)?;
    tell(&args, &ledger, &records)
}

fn next(entry: &Entry) -> (u32, Option<Fate>) {
    (entry.attempts + 1, None)
}

/// A new run by the command line.
fn begun(args: &FleetRunArgs, control: &Control) -> Result<Ledger, Failure> {
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
        nodes,
    })
}

/// The program on the nodes.
pub(super) fn program(named: Option<&str>, via: Launcher) -> Result<String, Failure> {
    if let Some(program) = named {
        return Ok(program.to_owned());
    }
    if via != Launcher::Local {
        return Ok("assay".to_owned());
    }
    let path = std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
    let text = path.into_os_string().into_string();
    text.map_err(|_| Failure::usage("the path of this program is no text; use --program"))
}

/// The nodes of an inventory.
fn of_inventory(args: &FleetRunArgs, control: &Control) -> Result<(Vec<Entry>, Option<Inventory>), Failure> {
    let variables = variables(args.binaries.as_ref(), &args.arguments)?;
    let hosts = Ansible::new(&args.inventory, control)?.hosts()?;
    if let Some(host) = hosts.iter().find(|host| host.target.is_empty()) {
        return Err(Failure::usage(format!("{}: the inventory has no assay_target for it", host.name)));
    }
    if args.inventory.forks.is_some_and(|forks| (forks as usize) < hosts.len()) {
        return Err(Failure::usage(format!("{0} nodes wait for each other and need --forks {0}", hosts.len())));
    }
    let far = |host: &&Host| !matches!(host.connection.as_str(), "ssh" | "smart" | "local" | "ansible.builtin.ssh");
    if let (None, Some(host)) = (args.listen, hosts.iter().find(far)) {
        return Err(Failure::usage(format!(
            "{} is not reached by ssh: --listen ADDRESS:PORT names where nodes find this machine",
            host.name
        )));
    }
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let inventory = Inventory {
        files: args.inventory.inventory.iter().map(absolute).collect(),
        limit: args.inventory.limit.clone(),
        variables,
        routes: routes(&hosts),
    };
    let entry = |host: Host| Entry { name: host.name, target: host.target, attempts: 0, fate: None };
    Ok((hosts.into_iter().map(entry).collect(), Some(inventory)))
}

/// Asks the inventory of a run anew how its nodes are reached.
fn find_again(ledger: &mut Ledger, missing: &[usize], control: &Control) -> Result<(), Failure> {
    let Some(inventory) = &mut ledger.inventory else { return Ok(()) };
    let hosts = Ansible::new(&InventoryArgs::of(inventory), control)?.hosts()?;
    inventory.routes = routes(&hosts);
    match missing.iter().map(|node| &ledger.nodes[*node].name).find(|name| !inventory.routes.contains_key(*name)) {
        Some(name) => Err(Failure::usage(format!("the inventory of this run has no host {} any more", harmless(name)))),
        None => Ok(()),
    }
}

fn routes(hosts: &[Host]) -> BTreeMap<String, Route> {
    let route = |host: &Host| Route { ssh: host.connection != "local", ssh_extra_args: host.ssh_extra_args.clone() };
    hosts.iter().map(|host| (host.name.clone(), route(host))).collect()
}

/// The nodes that were named.
pub(super) fn entries(named: &[String], target: &str, via: Launcher) -> Result<Vec<Entry>, Failure> {
    let mut nodes: Vec<Entry> = Vec::new();
    for node in named {
        let (names, target) = node.split_once('=').unwrap_or((node, target));
        // Slurm's users write node[01-28].
        let names = match via {
            Launcher::Slurm => slurm_names(names).map_err(|error| Failure::usage(harmless(&error.to_string())))?,
            _ => vec![names.to_owned()],
        };
        for name in names {
            check_name("node", &name)?;
            if name.starts_with('-') || target.is_empty() {
                return Err(Failure::usage(format!("node {}: NAME or NAME=TARGET", harmless(node))));
            }
            if nodes.iter().any(|entry| entry.name == name) {
                return Err(Failure::usage(format!("node {name} is named twice")));
            }
            nodes.push(Entry { name, target: target.to_owned(), attempts: 0, fate: None });
        }
    }
    Ok(nodes)
}

fn tell(args: &FleetRunArgs, ledger: &Ledger, records: &BTreeMap<usize, Record>) -> Result<Exit, Failure> {
    let starts = outcome::starts(records);
    if args.json || args.events {
        let starts = starts.map(|s| json!({ "n": s.n, "p95_late_ns": s.p95_late_ns, "bound_ns": s.bound_ns }));
        if args.events {
            let ended = json!({ "event": "ended", "run": ledger, "starts": starts });
            output::print(&assay_core::text::json(&ended.to_string()))?;
        } else {
            output::print_json(&json!({ "run": ledger, "starts": starts }))?;
        }
    } else {
        output::print(&(output::wrapped(outcome::text(ledger, starts.as_ref()).trim_end(), 80) + "\n"))?;
    }
    let failed = ledger.nodes.iter().any(|entry| matches!(entry.fate, Some(Fate::MediumFailed { .. })));
    let interrupted = ledger.nodes.iter().any(|entry| entry.fate == Some(Fate::Interrupted));
    Ok(match (ledger.missing().is_empty(), interrupted) {
        (true, _) if failed => Exit::Medium,
        (true, _) => Exit::Good,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Environment,
    })
}
