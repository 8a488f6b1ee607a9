//! A new run by the command line, and how its nodes are reached.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_core::text::harmless;
use assay_engine::{Control, wall_clock};
use assay_fleet::{Entry, Inventory, Launcher, Ledger, Mode, Route, slurm_names};
use assay_store::new_id;

use super::ansible::{Ansible, Host, variables, via};
use crate::cli::{FleetRunArgs, InventoryArgs, ViaArg};
use crate::failure::Failure;
use crate::together::check_name;

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
    text.map_err(|_| Failure::usage("the path of this program is not text; use --program"))
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
    Ok((hosts.iter().map(|host| Entry::new(&host.name, &host.target)).collect(), Some(inventory)))
}

/// Asks the inventory of a run anew how its nodes are reached.
pub(super) fn find_again(ledger: &mut Ledger, missing: &[usize], control: &Control) -> Result<(), Failure> {
    let Some(inventory) = &mut ledger.inventory else { return Ok(()) };
    let hosts = Ansible::new(&InventoryArgs::of(inventory), control)?.hosts()?;
    inventory.routes = routes(&hosts);
    match missing.iter().map(|node| &ledger.nodes[*node].name).find(|name| !inventory.routes.contains_key(*name)) {
        Some(name) => Err(Failure::usage(format!("the inventory of this run no longer has a host {}", harmless(name)))),
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
            nodes.push(Entry::new(&name, target));
        }
    }
    Ok(nodes)
}
