//! `assay fleet run`

use std::collections::BTreeMap;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_engine::{Control, wall_clock};
use assay_fleet::{Entry, Fate, Launcher, Ledger, Mode, slurm_names};
use assay_store::new_id;
use serde_json::json;

use super::party::Party;
use super::records::adopt;
use super::told::check_arguments;
use super::{books, outcome};
use crate::cli::{FleetRunArgs, ViaArg};
use crate::failure::Failure;
use crate::together::check_name;
use crate::{output, signals};

pub(super) fn run(args: FleetRunArgs) -> Result<Exit, Failure> {
    let mut ledger = match &args.resume {
        Some(run) => books::find(run)?,
        None => begun(&args)?,
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
    let control = Control::default();
    signals::stop_on_signals(&control)?;
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
fn begun(args: &FleetRunArgs) -> Result<Ledger, Failure> {
    let (mode, at_a_time) = match (args.alone, args.staggered) {
        (true, _) => (Mode::Staggered(1), Some(1)),
        (false, Some(most)) => (Mode::Staggered(most), Some(most)),
        (false, None) => (Mode::Simultaneous, None),
    };
    let via = match args.via {
        ViaArg::Local => Launcher::Local,
        ViaArg::Ssh => Launcher::Ssh,
        ViaArg::Slurm => Launcher::Slurm,
    };
    let own = || {
        let path = std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
        path.into_os_string()
            .into_string()
            .map_err(|_| Failure::usage("the path of this program is no text; use --program"))
    };
    let program = if via == Launcher::Local { own()? } else { "assay".to_owned() };
    Ok(Ledger {
        version: Ledger::VERSION,
        run: new_id(),
        created: wall_clock(),
        via: via.name().to_owned(),
        mode: mode.name().to_owned(),
        at_a_time,
        program: args.program.clone().unwrap_or(program),
        arguments: args.arguments.clone(),
        nodes: entries(args, via)?,
    })
}

/// The nodes that were named.
fn entries(args: &FleetRunArgs, via: Launcher) -> Result<Vec<Entry>, Failure> {
    let mut nodes: Vec<Entry> = Vec::new();
    for node in &args.nodes {
        let (names, target) = node.split_once('=').unwrap_or((node, &args.target));
        // Slurm's users write node[01-28].
        let names = match via {
            Launcher::Slurm => slurm_names(names).map_err(|error| Failure::usage(harmless(&error.to_string())))?,
            Launcher::Local | Launcher::Ssh => vec![names.to_owned()],
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
