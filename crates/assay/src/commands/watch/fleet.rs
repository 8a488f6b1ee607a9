//! `assay fleet watch`: nights of the nodes of a cluster. One run measures all nodes at once; the medium of each is then a watch of
//! its own, named after the fleet and the node.

use std::path::Path;
use std::process::{Command, Stdio};

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_fleet::{Fate, Ledger, NodeEntry};
use assay_report::watch::skip;
use assay_watch::{FIRST, Kept, Measured, Plan, SECOND, Skip, Skipped, Status, metrics};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::night::{self, Reason, conclude, run_words, take};
use super::timer::{self, Timer};
use super::{add, keep};
use crate::cli::{FleetWatchAddArgs, FleetWatchCommand, InventoryArgs, ViaArg, WatchRunArgs};
use crate::documents::watch::WatchNightDocument;
use crate::ending::Failure;
use crate::{files, output, suites};

/// A watched cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FleetWatch {
    /// How its nodes are reached.
    reach: Reach,
    /// The plan of each node, apart from what the node itself says.
    plan: Plan,
}

/// How nodes are reached: arguments of `assay fleet run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Reach {
    /// The nodes, where no inventory names them.
    nodes: Vec<String>,
    /// The inventories, and which of their hosts.
    inventory: Vec<String>,
    /// See `inventory`.
    limit: Option<String>,
    /// Further arguments.
    more: Vec<String>,
}

impl Reach {
    fn of(args: &FleetWatchAddArgs) -> Self {
        let absolute =
            |path: &Path| crate::documents::path(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let InventoryArgs { inventory, limit, forks } = &args.reach.inventory;
        let mut more = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            more.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        let via = args.reach.via.map(|via| match via {
            ViaArg::Ssh => "ssh",
            ViaArg::Slurm => "slurm",
            ViaArg::Ansible => "ansible",
            ViaArg::Local => "local",
        });
        option("--via", via.map(str::to_owned));
        option("--forks", forks.map(|forks| forks.to_string()));
        option("--binaries", args.reach.binaries.as_deref().map(absolute));
        option("--program", args.reach.program.clone());
        option("--listen", args.reach.listen.map(|listen| listen.to_string()));
        if inventory.is_empty() {
            option("--target", Some(args.reach.target.clone()));
        }
        let inventory = inventory.iter().map(|path| absolute(path)).collect();
        Self { nodes: args.reach.nodes.clone(), inventory, limit: limit.clone(), more }
    }

    /// The arguments for all nodes, or for one of them.
    fn words(&self, only: Option<&NodeEntry>) -> Vec<String> {
        let mut words = self.more.clone();
        for inventory in &self.inventory {
            words.extend(["--inventory".to_owned(), inventory.clone()]);
        }
        match (self.inventory.is_empty(), only) {
            (true, None) => words.extend(self.nodes.iter().cloned()),
            (true, Some(node)) => words.push(format!("{}={}", node.name, node.target)),
            (false, None) => words.extend(self.limit.iter().flat_map(|limit| ["--limit".to_owned(), limit.clone()])),
            (false, Some(node)) => words.extend(["--limit".to_owned(), node.name.clone()]),
        }
        words
    }
}

pub(in crate::commands) fn fleet_watch(command: &FleetWatchCommand) -> Result<Exit, Failure> {
    match command {
        FleetWatchCommand::Add(args) => add_fleet(args),
        FleetWatchCommand::Run(args) => run(args),
        FleetWatchCommand::Remove { name } => remove(name),
    }
}

fn add_fleet(args: &FleetWatchAddArgs) -> Result<Exit, Failure> {
    let how = &args.how;
    suites::checked(&how.suite)?;
    if keep::fleet_names()?.contains(&args.name) || keep::names()?.contains(&args.name) {
        return Err(Failure::usage(format!("--named: there is a watch {} already", args.name)));
    }
    let measured = Measured::Node { fleet: args.name.clone(), node: String::new() };
    let plan = add::plan_of(args.name.clone(), measured, how);
    let fleet = FleetWatch { reach: Reach::of(args), plan };
    let timer = Timer::of(&fleet.plan)?;
    if how.print {
        output::print(&timer.text(&fleet.plan))?;
        output::tell_wrapped(&add::budget(&fleet.plan));
        return Ok(Exit::Good);
    }
    if let Some(file) = &how.textfile {
        files::check_writable(file)?;
    }
    check(&fleet)?;
    keep::write_fleet(&args.name, &fleet)?;
    if !how.no_timer
        && let Err(failure) = timer.install(&fleet.plan)
    {
        let _ = keep::remove_fleet(&args.name);
        return Err(failure);
    }
    output::print(&format!("the nodes are watched as {}, each night at {}", args.name, how.nightly))?;
    output::tell_wrapped(&format!("each node {}", add::budget(&fleet.plan)));
    Ok(Exit::Good)
}

/// Asks the nodes whether a night fits.
fn check(fleet: &FleetWatch) -> Result<(), Failure> {
    let mut command = assay(&["fleet", "check"])?;
    command.args(fleet.reach.words(None)).arg("--").args(run_words(&fleet.plan, FIRST));
    let failed = |said: String| Failure::environment(format!("the nodes were not asked: {said}"));
    let done =
        command.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|error| failed(error.to_string()))?;
    match done.code() {
        Some(0) => Ok(()),
        _ => Err(Failure::usage("not each node can be measured; assay fleet check says why, with the same arguments")),
    }
}

/// This program with the words of a command.
fn assay(words: &[&str]) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
    let mut command = Command::new(program);
    command.args(words);
    Ok(command)
}

/// What `assay fleet run --json` prints, as far as it is read.
#[derive(Deserialize)]
struct RunDocument {
    run: Ledger,
}

/// Measures all nodes, or one of them.
fn measured(fleet: &FleetWatch, which: &str, only: Option<&NodeEntry>) -> Result<Ledger, String> {
    let mut command = assay(&["fleet", "run", "--json", "--quiet"]).map_err(|failure| failure.message().to_owned())?;
    command.args(fleet.reach.words(only)).arg("--").args(run_words(&fleet.plan, which));
    let done = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let document: Result<RunDocument, _> = serde_json::from_slice(&done.stdout);
    document.map(|document| document.run).map_err(|_| {
        let said = String::from_utf8_lossy(&done.stderr);
        said.lines().last().unwrap_or("it said nothing").trim_start_matches("assay: ").to_owned()
    })
}

fn run(args: &WatchRunArgs) -> Result<Exit, Failure> {
    let all = keep::fleet_names()?;
    if all.is_empty() {
        return Err(Failure::usage("no cluster is watched; begin with: assay fleet watch add NODES --named NAME"));
    }
    if let Some(unknown) = args.names.iter().find(|name| !all.contains(name)) {
        let unknown = assay_core::text::quoted(unknown);
        return Err(Failure::usage(format!("no watched cluster is named {unknown}; there are {}", all.join(", "))));
    }
    let names = if args.names.is_empty() { &all } else { &args.names };
    let mut nights = Vec::new();
    for name in names {
        nights.extend(nights_of(name)?);
    }
    night::finish(nights, args.json)
}

/// A night of all nodes of a cluster.
fn nights_of(name: &str) -> Result<Vec<WatchNightDocument>, Failure> {
    let fleet: FleetWatch = keep::read_fleet(name)?;
    let Some(_lock) = keep::lock(name)? else {
        return Err(Failure::environment(format!("a night of {name} is under way; try again when it is over")));
    };
    let now = Timestamp::now().as_second();
    let mut known = keep::of_fleet(name)?;
    if !known.is_empty() && known.iter().all(|kept| kept.has(now)) {
        output::tell_wrapped(&format!("{name}: skipped, as {}", skip(Skip::Done)));
        let done = || Some(Skipped { at: now, reason: Skip::Done, detail: String::new() });
        return Ok(known.iter().map(|kept| night_of(&kept.plan.name, done())).collect());
    }
    let ledger = measured(&fleet, FIRST, None)
        .map_err(|said| Failure::environment(format!("{name}: the nodes were not measured: {}", harmless(&said))))?;
    let mut nights = Vec::new();
    for node in &ledger.nodes {
        nights.push(of_node(&fleet, &mut known, node, now)?);
    }
    write_metrics(&fleet.plan, &known, now)?;
    let measured = nights.iter().filter(|night| night.skipped.is_none()).count();
    output::tell_wrapped(&format!("{name}: {measured} of {} measured", counted(nights.len(), "node")));
    Ok(nights)
}

fn night_of(name: &str, skipped: Option<Skipped>) -> WatchNightDocument {
    WatchNightDocument { name: name.to_owned(), record: None, second_record: None, skipped, events: Vec::new() }
}

/// The night of a node.
fn of_node(
    fleet: &FleetWatch,
    known: &mut Vec<Kept>,
    node: &NodeEntry,
    now: i64,
) -> Result<WatchNightDocument, Failure> {
    let record = result_of(node);
    let at = match known.iter().position(|kept| is_of(kept, &node.name)) {
        Some(at) => at,
        None => {
            // A node that never had a result is known by its name alone.
            let Ok(record) = &record else {
                let (reason, detail) = record.err().unwrap_or((Skip::Failed, String::new()));
                let skipped = Skipped { at: now, reason, detail };
                night::tell_skipped(&node.name, &skipped);
                return Ok(night_of(&node.name, Some(skipped)));
            };
            known.push(Kept::new(plan_of_node(fleet, node, record)?, now));
            known.len() - 1
        }
    };
    let kept = &mut known[at];
    let mut night = night_of(&kept.plan.name, None);
    let result = record.and_then(|record| {
        if kept.plan.unit != add::unit_of(&record.medium) {
            return Err((Skip::Exchanged, String::new()));
        }
        take(kept, &record, now, &mut night, &mut || {
            let ledger = measured(fleet, SECOND, Some(node)).ok()?;
            result_of(ledger.nodes.first()?).ok()
        })
    });
    conclude(kept, &mut night, now, result)?;
    Ok(night)
}

fn is_of(kept: &Kept, node: &str) -> bool {
    matches!(&kept.plan.measured, Measured::Node { node: known, .. } if known == node)
}

/// The record of a node, or why there is none.
fn result_of(node: &NodeEntry) -> Result<Record, Reason> {
    let failed = |detail: &str| (Skip::Failed, detail.to_owned());
    match &node.fate {
        Some(
            Fate::Recorded { id }
            | Fate::MediumFailed { id, .. }
            | Fate::Incomplete { id, .. }
            | Fate::Invalid { id, .. },
        ) => keep::record(id).map_err(|failure| failed(failure.message())),
        Some(
            Fate::Unreachable { reason }
            | Fate::NotBegun { reason, .. }
            | Fate::Lost { reason }
            | Fate::NotTaken { reason },
        ) => Err(failed(reason)),
        Some(Fate::Late | Fate::TooFew) => Err((Skip::NotReady, String::new())),
        Some(Fate::Interrupted) | None => Err((Skip::Interrupted, String::new())),
    }
}

/// The plan of a node that is seen for the first time.
fn plan_of_node(fleet: &FleetWatch, node: &NodeEntry, record: &Record) -> Result<Plan, Failure> {
    let taken = keep::names()?;
    let name =
        add::free_name(&format!("{}-{}", fleet.plan.name, node.name), |name| taken.iter().any(|one| one == name));
    Ok(Plan {
        name,
        title: record.medium.title(),
        unit: add::unit_of(&record.medium),
        measured: Measured::Node { fleet: fleet.plan.name.clone(), node: node.name.clone() },
        target: format!("{}:{}", node.name, node.target),
        capacity_bytes: record.medium.capacity_bytes,
        // One file has the figures of all nodes.
        textfile: None,
        ..fleet.plan.clone()
    })
}

fn write_metrics(plan: &Plan, known: &[Kept], now: i64) -> Result<(), Failure> {
    let Some(file) = &plan.textfile else { return Ok(()) };
    let all: Vec<Status> = known.iter().map(|kept| Status::of(kept, now)).collect();
    files::write_whole(Path::new(file), metrics(&all))
}

fn remove(name: &str) -> Result<Exit, Failure> {
    let fleet: FleetWatch = keep::read_fleet(name)?;
    let Some(_lock) = keep::lock(name)? else {
        return Err(Failure::environment(format!("a night of {name} is under way; try again when it is over")));
    };
    timer::remove(&fleet.plan.name)?;
    for kept in keep::of_fleet(name)? {
        add::forget(&kept.plan)?;
    }
    keep::remove_fleet(name)?;
    output::print(&format!("{name} is not watched any more; its records stay: assay list watch={name}"))?;
    Ok(Exit::Good)
}
