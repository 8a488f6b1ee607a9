//! A run on many nodes: what nodes receive and are asked to measure, the run itself, and their records in the store of this
//! machine.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use assay_core::record::Record;
use assay_core::suite::Suite;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_engine::Control;
use assay_fleet::{
    Ansible, Asked, AskedSuite, Conduct, Criteria, FleetError, Guard, Home, Launcher, Ledger, Mode, SuiteHandover,
    conduct, entries, find_again, node_arguments, program, variables,
};
use clap::Parser;

use super::view::Watcher;
use super::{ledgers, view};
use crate::cli::{Cli, Command, FleetRunArgs, InventoryArgs, RunArgs, ViaArg, own_build};
use crate::commands::run;
use crate::documents::fleet::{FleetEvent, FleetRunDocument, RotationNews};
use crate::ending::Failure;
use crate::{output, state, suites};

/// Measures what is missing of a run, which may be `resumed`. A record that the guard refuses is not taken.
pub(super) fn measured(
    args: &FleetRunArgs,
    mut ledger: Ledger,
    resumed: bool,
    mut guard: Option<Guard>,
    control: &Control,
) -> Result<(Ledger, BTreeMap<usize, Record>), Failure> {
    // What no node can run leaves nothing behind.
    check_arguments(&ledger)?;
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
    if missing.is_empty() {
        return Ok((ledger, BTreeMap::new()));
    }
    if args.resume.is_some() && ledger.inventory.is_some() {
        find_again(&mut ledger, control)?;
    }
    ledger.begin_attempt();
    ledgers::keep(&ledger)?;
    let launcher = Launcher::of_run(&ledger)?;
    let criteria = Criteria { run: ledger.run.clone(), asked: Some(asked(&ledger, launcher)), guard };
    let how = Conduct {
        listen: args.listen,
        ready_within: args.ready_within,
        // Of a resumed run most nodes are done.
        quorum: args.quorum.or(resumed.then_some(1)),
        build: own_build(),
        suite: handed_suite(&ledger)?,
        home: Home::with_keeper(criteria, state::keeper()?)?,
    };
    let mut watcher = Watcher::new(args, &ledger, &missing, workload_names(&ledger, launcher));
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
    let starts = view::starts(records);
    if !args.json && !args.events {
        let told = !args.quiet && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let text = view::outcome_text(ledger, starts.as_ref(), told);
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

/// What the nodes of a run are asked for. A suite is known that the program has itself, or that is handed to them; of a
/// file on the nodes its name alone is known.
pub(super) fn asked(ledger: &Ledger, launcher: Launcher) -> Asked {
    Asked { version: env!("CARGO_PKG_VERSION").to_owned(), suite: asked_suite(ledger, launcher) }
}

fn asked_suite(ledger: &Ledger, launcher: Launcher) -> Option<AskedSuite> {
    let suite = known_suite(ledger, launcher)?;
    // Variables of an inventory may change it, and a share of a medium is another size on each.
    let text = (ledger.inventory.is_none() && !suite.has_shares()).then(|| suite.to_text());
    Some(AskedSuite { text, name: suite.name, version: suite.version })
}

/// The names of the workloads of a run; empty if this machine does not have the suite.
pub(super) fn workload_names(ledger: &Ledger, launcher: Launcher) -> Vec<String> {
    let suite = known_suite(ledger, launcher);
    suite.map_or_else(Vec::new, |suite| suite.workloads.into_iter().map(|workload| workload.name).collect())
}

/// The suite of a run, where it is known here.
fn known_suite(ledger: &Ledger, launcher: Launcher) -> Option<Suite> {
    match (&ledger.inventory, &ledger.rotation) {
        (None, _) => suite_by(&node_arguments(ledger), ledger, launcher),
        (Some(_), Some(_)) => ledgers::suite_text(&ledger.run).ok().and_then(|text| Suite::parse(&text, "").ok()),
        // Without a word on the command line, the inventory names it.
        (Some(inventory), None) => {
            let named = inventory.variables.get("assay_suite")?.as_str()?;
            Some(suites::checked(named).ok()?.1)
        }
    }
}

/// The suite that `assay run` takes by these arguments.
fn suite_by(arguments: &[String], ledger: &Ledger, launcher: Launcher) -> Option<Suite> {
    let mut arguments = arguments.to_vec();
    if ledger.rotation.is_some() {
        arguments.extend(["--suite".to_owned(), ledgers::suite(&ledger.run).ok()?.to_str()?.to_owned()]);
    }
    // A job file that is named as the target is the suite.
    if ledger.nodes.iter().any(|entry| suites::is_job_file(Path::new(&entry.target))) {
        return None;
    }
    let args = run_args(&arguments)?;
    let is_here = ledger.rotation.is_some() || launcher == Launcher::Local || suites::is_built_in(&args.suite);
    let (suite, _) = is_here.then(|| run::suite(&args).ok()).flatten()?;
    Some(suite)
}

/// Takes records that are here already into the ledger of their run.
pub(super) fn adopt(ledger: &mut Ledger, criteria: &Criteria) -> Result<(), Failure> {
    let Some(mut store) = state::existing()? else { return Ok(()) };
    assay_fleet::adopt(ledger, criteria, &mut store)?;
    ledgers::keep(ledger)
}

// What nodes receive: their command line and their suite.

/// Arguments that each node has for itself, as an example.
const NODES_OWN: [&str; 6] = ["--rendezvous", "127.0.0.1:1", "--node", "x", "--", "."];

/// Finds what is wrong with the arguments before anything is started.
pub(super) fn check_arguments(ledger: &Ledger) -> Result<(), Failure> {
    let arguments = node_arguments(ledger);
    parse(arguments.iter().cloned().chain(NODES_OWN.map(str::to_owned)))?;
    run_args(&arguments).map_or(Ok(()), |args| suites::check_word(&args.suite))
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

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::record::{Origin, Record, SuiteRef, Tool};
    use assay_fleet::NodeEntry;

    fn ledger(via: Launcher, arguments: &[&str]) -> Ledger {
        Ledger {
            version: Ledger::VERSION,
            run: "r".to_owned(),
            created: String::new(),
            via: via.name().to_owned(),
            mode: "simultaneous".to_owned(),
            at_a_time: None,
            program: "assay".to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            inventory: None,
            rotation: None,
            settled: None,
            nodes: vec![NodeEntry::new("n1", "/mnt")],
        }
    }

    /// What a node hands over that ran the suite.
    fn record(suite: &str, change: impl FnOnce(&mut Suite)) -> Record {
        let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
        let (_, mut suite) = suites::checked(suite).unwrap();
        change(&mut suite);
        record.origin = Origin::default();
        record.tool = Tool::assay(env!("CARGO_PKG_VERSION"), "sync", "");
        record.suite = SuiteRef::new(&suite.name, suite.version);
        record.change_settings(|settings| settings.suite_text = suite.to_text());
        record
    }

    /// As `assay run` has it beside other nodes.
    fn in_step(suite: &mut Suite) {
        suite.enough = None;
    }

    /// Threat 4.1: a hostile node hands over what it likes.
    #[test]
    fn a_record_is_of_the_suite_and_the_program_that_were_asked_for() {
        let wanted = asked(&ledger(Launcher::Ssh, &["--suite", "smoke"]), Launcher::Ssh);
        wanted.check(&record("smoke", in_step)).unwrap();
        let refused = |record: &Record, words: &str| {
            let reason = wanted.check(record).unwrap_err().to_string();
            assert!(reason.contains(words), "{reason}");
        };
        refused(&record("quick", in_step), "by suite quick");
        refused(&record("smoke", |suite| (suite.enough, suite.version) = (None, 99)), "version 99");
        refused(&record("smoke", |suite| (suite.enough, suite.repeats) = (None, 7)), "differs from the one");
        let mut older = record("smoke", in_step);
        older.tool.version = "0.0.1".to_owned();
        refused(&older, "assay 0.0.1");
        let mut imported = record("smoke", in_step);
        imported.origin = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0).origin;
        refused(&imported, "imported");
        let mut other = record("smoke", in_step);
        other.tool.name = "dd".to_owned();
        refused(&other, "dd");
    }

    #[test]
    fn what_the_command_line_changes_in_a_suite_is_asked_for_too() {
        let words = ["--suite", "smoke", "--repeats", "2", "--label", "model=X"];
        let wanted = asked(&ledger(Launcher::Local, &words), Launcher::Local);
        wanted.check(&record("smoke", |suite| (suite.enough, suite.repeats) = (None, 2))).unwrap();
        assert!(wanted.check(&record("smoke", in_step)).is_err());
        let wanted = asked(&ledger(Launcher::Ssh, &[]), Launcher::Ssh);
        wanted.check(&record("quick", in_step)).unwrap();
        assert!(wanted.check(&record("smoke", in_step)).is_err());
    }

    /// A file on the nodes is not known here; nor is the target that is a job file.
    #[test]
    fn a_suite_that_is_not_known_here_is_not_compared() {
        let wanted = asked(&ledger(Launcher::Ssh, &["--suite", "/there/own.toml"]), Launcher::Ssh);
        wanted.check(&record("smoke", in_step)).unwrap();
        let mut job = ledger(Launcher::Local, &[]);
        job.nodes = vec![NodeEntry::new("a", "own.fio")];
        asked(&job, Launcher::Local).check(&record("smoke", in_step)).unwrap();
    }
}
