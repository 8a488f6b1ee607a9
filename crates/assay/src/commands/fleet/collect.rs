//! `assay fleet collect`: records of nodes, by Ansible or ssh.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::{
    Accepted, Ansible, Claim, Criteria, Home, Launcher, Ledger, MAX_RECORD, RemoteNode, Way, bounded_reason,
    check_name, each_at_once, entries, is_record_id, program,
};
use serde_json::{Map, Value, json};

use super::ansible::ansible;
use super::records::adopt;
use super::view::AnswerCount;
use super::{ledgers, rotate};
use crate::cli::{FleetCollectArgs, ViaArg};
use crate::documents::fleet::{CollectDocument, CollectedNode, RefusedRecord};
use crate::failure::Failure;
use crate::{files, output, signals, state};

pub(super) fn collect(args: &FleetCollectArgs) -> Result<Exit, Failure> {
    check_name("run", &args.run)?;
    let named = !args.nodes.is_empty() || !args.inventory.inventory.is_empty();
    let found = match ledgers::find(&args.run) {
        Err(failure) if !named => return Err(failure),
        found => found.ok(),
    };
    let run = found.as_ref().map_or(&args.run, |ledger| &ledger.run).clone();
    let _lock = ledgers::lock(&run)?;
    let via = via(args, found.as_ref())?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    // What was asked for is not kept: another version of this program may have begun the run.
    let guard = found.as_ref().map(rotate::guard).transpose()?.flatten();
    let home = Home::of(Criteria { run: run.clone(), asked: None, guard }, state::keeper()?)?;
    let rows = match via {
        ViaArg::Ansible => rows_by_ansible(args, found.as_ref(), &run, &home, &control)?,
        via => rows_by_ssh(args, via, found.as_ref(), &run, &home, &control)?,
    };
    if let Some(mut ledger) = found {
        adopt(&mut ledger, home.criteria())?;
    }
    tell(args, &run, &rows)?;
    let whole = rows.iter().all(|row| row.reason.is_none() && row.refused.is_empty());
    Ok(if whole { Exit::Good } else { Exit::Environment })
}

/// As the user says, or else as the run was begun; nodes of Slurm are hosts, too.
fn via(args: &FleetCollectArgs, ledger: Option<&Ledger>) -> Result<ViaArg, Failure> {
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

impl CollectedRow {
    /// Takes a record that came.
    fn take(&mut self, home: &Home, ledger: Option<&Ledger>, id: &str, document: &[u8]) {
        let entry = ledger.and_then(|ledger| ledger.nodes.iter().find(|entry| entry.name == self.node));
        let way = Way::Fetched { id, attempts: entry.map(|entry| entry.attempts) };
        match home.accept(&Claim { node: &self.node, way }, document) {
            Ok(Accepted::Taken(_)) => self.taken.push(id.to_owned()),
            Ok(Accepted::Here(_)) => self.here.push(id.to_owned()),
            Err(refusal) => self.refused.push((id.to_owned(), harmless(&refusal.to_string()))),
        }
    }
}

fn tell(args: &FleetCollectArgs, run: &str, rows: &[CollectedRow]) -> Result<(), Failure> {
    if args.json {
        return output::print_json(&CollectDocument { run, nodes: rows.iter().map(document).collect() });
    }
    let width = rows.iter().map(|row| row.node.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut words = Vec::new();
        if !row.taken.is_empty() {
            words.push(format!("taken: {}", row.taken.join(" ")));
        }
        if !row.here.is_empty() {
            words.push(format!("here before: {}", row.here.join(" ")));
        }
        words.extend(row.refused.iter().map(|(id, reason)| format!("{id} not taken: {reason}")));
        words.extend(row.reason.clone());
        text += &format!("{:width$}  {}\n", row.node, words.join("; "));
    }
    let count = |of: fn(&CollectedRow) -> usize| rows.iter().map(of).sum::<usize>();
    let (taken, here) = (count(|row| row.taken.len()), count(|row| row.here.len()));
    text +=
        &format!("\nrun {run}: {taken} {} taken, {here} here before.", if taken == 1 { "record" } else { "records" });
    output::print(&text)
}

fn document(row: &CollectedRow) -> CollectedNode<'_> {
    CollectedNode {
        node: &row.node,
        taken: &row.taken,
        here: &row.here,
        refused: row.refused.iter().map(|(id, reason)| RefusedRecord { id, reason }).collect(),
        reason: row.reason.as_deref(),
    }
}

// What came of a node.

/// What came of a node.
#[derive(Debug, Default)]
struct CollectedRow {
    node: String,
    taken: Vec<String>,
    here: Vec<String>,
    /// Records that were not taken, and why.
    refused: Vec<(String, String)>,
    /// Why there is none, or not all.
    reason: Option<String>,
}

// Records by the playbook `collect`, which writes them into a directory of this command.

fn rows_by_ansible(
    args: &FleetCollectArgs,
    ledger: Option<&Ledger>,
    run: &str,
    home: &Home,
    control: &Control,
) -> Result<Vec<CollectedRow>, Failure> {
    let kept = ledger.and_then(|ledger| ledger.inventory.as_ref()).filter(|_| args.inventory.inventory.is_empty());
    let ansible = match kept {
        Some(kept) => Ansible::of(kept, control)?,
        None => ansible(&args.inventory, control)?,
    };
    let hosts = ansible.hosts()?;
    let before = home.ids();
    let records = ansible.directory().path().join("records");
    let variables = Map::from_iter([
        ("assay_run".to_owned(), json!(run)),
        ("assay_records".to_owned(), json!(records.to_string_lossy())),
        ("assay_have".to_owned(), json!(before)),
    ]);
    let mut rows: Vec<CollectedRow> =
        hosts.iter().map(|host| CollectedRow { node: host.name.clone(), ..CollectedRow::default() }).collect();
    let mut brought: Vec<BTreeSet<String>> = vec![BTreeSet::new(); rows.len()];
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    ansible.play("collect", &hosts, variables, &mut |event| {
        let Some(at) = rows.iter().position(|row| row.node == event.node) else { return };
        if let Some(fact) = event.facts.get("node_collected") {
            let ids = |name: &str| -> BTreeSet<String> {
                let list = fact[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                list.filter(|id| is_record_id(id)).map(str::to_owned).collect()
            };
            brought[at] = ids("brought");
            rows[at].here = ids("records").intersection(&before).cloned().collect();
        }
        if event.facts.contains_key("node_collected") || event.end().is_some() {
            count.done(&event.node);
        }
        if let Some(end) = event.end() {
            rows[at].reason.get_or_insert_with(|| bounded_reason(end));
        }
    })?;
    drop(count);
    for (row, ids) in rows.iter_mut().zip(brought) {
        for id in ids {
            match read(&records, &format!("{}-{id}.json", file_name(&row.node))) {
                Ok(document) => row.take(home, ledger, &id, &document),
                Err(why) => row.refused.push((id, why)),
            }
        }
    }
    Ok(rows)
}

/// The name of a node in the name of a file, as the role writes it.
fn file_name(node: &str) -> String {
    node.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

fn read(records: &Path, name: &str) -> Result<Vec<u8>, String> {
    let mut document = Vec::new();
    let file = files::open_below(records, Path::new(name)).map_err(|error| error.to_string())?;
    file.take(MAX_RECORD + 1).read_to_end(&mut document).map_err(|error| error.to_string())?;
    Ok(document)
}

// Records by the program on each node, which is asked for them by ssh.

/// Longest list of records, in bytes.
const LIST: u64 = 16 << 20;
/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(120);

fn rows_by_ssh(
    args: &FleetCollectArgs,
    via: ViaArg,
    ledger: Option<&Ledger>,
    run: &str,
    home: &Home,
    control: &Control,
) -> Result<Vec<CollectedRow>, Failure> {
    let launcher = if via == ViaArg::Local { Launcher::Local } else { Launcher::Ssh };
    let mut nodes = entries(&args.nodes, ".", launcher)?;
    if nodes.is_empty() {
        nodes = ledger.map(|ledger| ledger.nodes.clone()).unwrap_or_default();
    }
    let of_run = ledger.filter(|ledger| ledger.inventory.is_none()).map(|ledger| ledger.program.as_str());
    let program = program(args.program.as_deref().or(of_run), launcher)?;
    // One at a time is in memory.
    let turn = Mutex::new(());
    let count = AnswerCount::of(nodes.iter().map(|entry| entry.name.as_str()));
    let rows = each_at_once(&nodes, control, |entry| {
        let remote = RemoteNode { launcher, node: &entry.name };
        let mut row = CollectedRow { node: entry.name.clone(), ..CollectedRow::default() };
        let list = match list(&remote, &program, run) {
            Ok(list) => list,
            Err(why) => {
                count.done(&entry.name);
                return CollectedRow { reason: Some(bounded_reason(&why)), ..row };
            }
        };
        if list.is_empty() {
            row.reason = Some(format!("no record of {run} on {}", entry.name));
        }
        let before = home.ids();
        for id in list {
            if before.contains(&id) {
                row.here.push(id);
                continue;
            }
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            match remote.call(&[&program, "show", &id, "--json"], MAX_RECORD, WITHIN) {
                Ok(said) if said.code == Some(0) => row.take(home, ledger, &id, &said.out),
                Ok(said) => row.refused.push((id, bounded_reason(&said.last_words()))),
                Err(error) => row.refused.push((id, bounded_reason(&error.to_string()))),
            }
        }
        count.done(&entry.name);
        row
    })?;
    Ok(rows)
}

/// Identifiers of the records of a run on a node.
fn list(remote: &RemoteNode<'_>, program: &str, run: &str) -> Result<Vec<String>, String> {
    let said =
        remote.call(&[program, "list", &format!("fleet={run}"), "--json"], LIST, WITHIN).map_err(|e| e.to_string())?;
    if said.code != Some(0) {
        return Err(said.last_words());
    }
    let list: Vec<Value> =
        serde_json::from_slice(&said.out).map_err(|error| format!("its list of records: {error}"))?;
    Ok(list.iter().filter_map(|row| row["id"].as_str()).filter(|id| is_record_id(id)).map(str::to_owned).collect())
}
