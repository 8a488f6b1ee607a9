//! `assay fleet collect`: records of nodes, by Ansible or ssh.

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_engine::Control;
use assay_fleet::{
    Ansible, Collected, Collection, Criteria, Home, Launcher, Ledger, Missing, NotFetched, check_name, entries, program,
};

use super::measured::{adopt, ansible};
use super::view::AnswerCount;
use super::{ledgers, rotate};
use crate::cli::{FleetCollectArgs, ViaArg};
use crate::documents::fleet::{CollectDocument, CollectedNode, RefusedRecord};
use crate::ending::Failure;
use crate::{output, signals, state};

pub(super) fn collect(args: &FleetCollectArgs) -> Result<Exit, Failure> {
    check_name("run", &args.run)?;
    let named = !args.nodes.is_empty() || !args.inventory.inventory.is_empty();
    let found = match ledgers::find(&args.run) {
        Err(failure) if !named => return Err(failure),
        found => found.ok(),
    };
    let run = found.as_ref().map_or(&args.run, |ledger| &ledger.run).clone();
    let _lock = ledgers::lock(&run)?;
    let via = collected_by(args, found.as_ref())?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    // What was asked for is not kept: another version of this program may have begun the run.
    let guard = found.as_ref().map(rotate::guard).transpose()?.flatten();
    let home = Home::with_keeper(Criteria { run: run.clone(), asked: None, guard }, state::keeper()?)?;
    let collection = Collection { run: &run, ledger: found.as_ref(), home: &home };
    let rows = match via {
        ViaArg::Ansible => by_ansible(args, &collection, &control)?,
        ViaArg::Local => by_ssh(args, Launcher::Local, &collection, &control)?,
        ViaArg::Ssh | ViaArg::Slurm => by_ssh(args, Launcher::Ssh, &collection, &control)?,
    };
    if let Some(mut ledger) = found {
        adopt(&mut ledger, home.criteria())?;
    }
    tell(args, &run, &rows)?;
    Ok(if rows.iter().all(Collected::is_whole) { Exit::Good } else { Exit::Environment })
}

/// As the user says, or else as the run was begun; nodes of Slurm are hosts, too.
fn collected_by(args: &FleetCollectArgs, ledger: Option<&Ledger>) -> Result<ViaArg, Failure> {
    let of_run = match ledger.and_then(|ledger| Launcher::of_name(&ledger.via)) {
        Some(Launcher::Local) => ViaArg::Local,
        Some(Launcher::Ansible) => ViaArg::Ansible,
        Some(Launcher::Ssh | Launcher::Slurm) | None => ViaArg::Ssh,
    };
    let kept = ledger.is_some_and(|ledger| ledger.inventory.is_some());
    match (args.via, args.inventory.inventory.is_empty()) {
        (None | Some(ViaArg::Ansible), false) => Ok(ViaArg::Ansible),
        (Some(_), false) => Err(Failure::usage("an inventory is for --via ansible")),
        (Some(ViaArg::Ansible), true) if !kept => Err(Failure::usage("--via ansible needs an inventory: -i FILE")),
        (Some(ViaArg::Slurm), true) => Ok(ViaArg::Ssh),
        (Some(via), true) => Ok(via),
        (None, true) if !args.nodes.is_empty() && of_run == ViaArg::Ansible => Ok(ViaArg::Ssh),
        (None, true) => Ok(of_run),
    }
}

fn tell(args: &FleetCollectArgs, run: &str, rows: &[Collected]) -> Result<(), Failure> {
    let reasons: Vec<Reasons> = rows.iter().map(|row| Reasons::of_node(run, row)).collect();
    if args.json {
        return output::print_json(&CollectDocument {
            run,
            nodes: rows.iter().zip(&reasons).map(|(row, reasons)| document(row, reasons)).collect(),
        });
    }
    let width = rows.iter().map(|row| row.node.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (row, reasons) in rows.iter().zip(&reasons) {
        let mut words = Vec::new();
        if !row.taken.is_empty() {
            words.push(format!("taken: {}", row.taken.join(" ")));
        }
        if !row.here.is_empty() {
            words.push(format!("{} here before", counted(row.here.len(), "record")));
        }
        let refused = row.refused.iter().zip(&reasons.refused);
        words.extend(refused.map(|((id, _), reason)| format!("{id} not taken: {reason}")));
        words.extend(reasons.missing.clone());
        text += &format!("{:width$}  {}\n", row.node, words.join("; "));
    }
    let count = |of: fn(&Collected) -> usize| rows.iter().map(of).sum::<usize>();
    let (taken, here) = (count(|row| row.taken.len()), count(|row| row.here.len()));
    text += &format!("\nrun {run}: {} taken, {here} here before.", counted(taken, "record"));
    output::print(&text)
}

/// Why records of a node are not here, in words.
struct Reasons {
    refused: Vec<String>,
    missing: Option<String>,
}

impl Reasons {
    fn of_node(run: &str, row: &Collected) -> Self {
        let refused = |(_, why): &(String, NotFetched)| match why {
            NotFetched::Refused(refusal) => harmless(&refusal.to_string()),
            NotFetched::Said(words) => words.clone(),
            NotFetched::Unopened(error) => error.to_string(),
            NotFetched::Unread(error) => error.to_string(),
        };
        let missing = |missing: &Missing| match missing {
            Missing::None => format!("no record of {run} on {}", row.node),
            Missing::Said(words) => words.clone(),
        };
        Self { refused: row.refused.iter().map(refused).collect(), missing: row.missing.as_ref().map(missing) }
    }
}

fn document<'a>(row: &'a Collected, reasons: &'a Reasons) -> CollectedNode<'a> {
    let refused = row.refused.iter().zip(&reasons.refused);
    CollectedNode {
        node: &row.node,
        taken: &row.taken,
        here: &row.here,
        refused: refused.map(|((id, _), reason)| RefusedRecord { id, reason }).collect(),
        reason: reasons.missing.as_deref(),
    }
}

fn by_ansible(
    args: &FleetCollectArgs,
    collection: &Collection<'_>,
    control: &Control,
) -> Result<Vec<Collected>, Failure> {
    let kept = collection.ledger.and_then(|ledger| ledger.inventory.as_ref());
    let ansible = match kept.filter(|_| args.inventory.inventory.is_empty()) {
        Some(kept) => Ansible::from_inventory(kept, control)?,
        None => ansible(&args.inventory, control)?,
    };
    let hosts = ansible.hosts()?;
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    Ok(collection.by_ansible(&ansible, &hosts, &|node| count.done(node))?)
}

fn by_ssh(
    args: &FleetCollectArgs,
    launcher: Launcher,
    collection: &Collection<'_>,
    control: &Control,
) -> Result<Vec<Collected>, Failure> {
    let mut nodes = entries(&args.nodes, ".", launcher)?;
    if nodes.is_empty() {
        nodes = collection.ledger.map(|ledger| ledger.nodes.clone()).unwrap_or_default();
    }
    let of_run = collection.ledger.filter(|ledger| ledger.inventory.is_none()).map(|ledger| ledger.program.as_str());
    let program = program(args.program.as_deref().or(of_run), launcher)?;
    let count = AnswerCount::of(nodes.iter().map(|entry| entry.name.as_str()));
    Ok(collection.by_ssh(launcher, &nodes, &program, control, &|node| count.done(node))?)
}
