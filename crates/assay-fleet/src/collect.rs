//! Fetches records of a run from nodes, by a playbook or by ssh, and removes what the collection put there.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_device::owned::{Caching, Directory, OwnedError};
use assay_engine::Control;
use serde_json::{Map, Value, json};

use crate::accept::{Accepted, Home, RecordClaim, RecordRefusal, Way, is_record_id};
use crate::error::{FleetError, NodeCause, bounded_reason};
use crate::inventory::{Ansible, InventoryNode};
use crate::launch::{Launcher, NodeEnd};
use crate::ledger::{Ledger, NodeEntry};
use crate::remote::{RemoteNode, each_at_once};
use crate::wire::MAX_RECORD;

/// Longest list of records, in bytes.
const LIST: u64 = 16 << 20;
/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(120);

/// What came of a node.
#[derive(Debug, Default)]
pub struct Collected {
    /// The node.
    pub node: String,
    /// Identifiers of records that were accepted.
    pub taken: Vec<String>,
    /// Identifiers of records that were here before.
    pub here: Vec<String>,
    /// Records that were not accepted, and why.
    pub refused: Vec<(String, NotFetched)>,
    /// Why there is none, or not all.
    pub missing: Option<Missing>,
}

/// Why a record of a node is not here.
#[derive(Debug)]
pub enum NotFetched {
    /// It came, and was not accepted.
    Refused(RecordRefusal),
    /// The node, or the program that asked it, says why it did not come.
    Said(String),
    /// What the playbook brought cannot be opened.
    Unopened(OwnedError),
    /// What the playbook brought cannot be read.
    Unread(io::Error),
}

/// Why no records of a node are here, or not all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The node holds no record of the run.
    None,
    /// The node, or the program that asked it, says why.
    Said(String),
}

/// A run whose records are fetched, and what is known of it here.
#[derive(Debug, Clone, Copy)]
pub struct Collection<'a> {
    /// Identity of the run.
    pub run: &'a str,
    /// The run, where it was begun here.
    pub ledger: Option<&'a Ledger>,
    /// Where records come.
    pub home: &'a Home,
}

impl Collected {
    fn from_node(node: &str) -> Self {
        Self { node: node.to_owned(), ..Self::default() }
    }

    /// Whether all that the node has of the run is here.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing.is_none() && self.refused.is_empty()
    }
}

impl Collection<'_> {
    /// The record that the node sent. The node deleted its own copy.
    fn handed_over(&self, node: &str) -> Option<String> {
        let entry = self.ledger?.nodes.iter().find(|entry| entry.name == node)?;
        entry.fate.as_ref().filter(|fate| fate.is_result() || fate.is_invalid())?.record().map(str::to_owned)
    }

    /// Takes a record that came.
    fn take(&self, row: &mut Collected, id: &str, document: &[u8]) {
        let entry = self.ledger.and_then(|ledger| ledger.nodes.iter().find(|entry| entry.name == row.node));
        let way = Way::Fetched { id, attempts: entry.map(|entry| entry.attempts) };
        match self.home.accept(&RecordClaim { node: &row.node, way }, document) {
            Ok(Accepted::Taken(_)) => row.taken.push(id.to_owned()),
            Ok(Accepted::Here(_)) => row.here.push(id.to_owned()),
            Err(refusal) => row.refused.push((id.to_owned(), NotFetched::Refused(refusal))),
        }
    }

    /// Fetches records by the playbook `collect`, which writes them into the directory of this command. Calls `answered`
    /// with the name of each node that answered or failed.
    ///
    /// # Errors
    /// Where the playbook does not come to its end.
    pub fn by_ansible(
        &self,
        ansible: &Ansible,
        hosts: &[InventoryNode],
        answered: &dyn Fn(&str),
    ) -> Result<Vec<Collected>, FleetError> {
        let before = self.home.ids();
        let records = ansible.directory().path().join("records");
        let variables = Map::from_iter([
            ("assay_run".to_owned(), json!(self.run)),
            ("assay_records".to_owned(), json!(records.to_string_lossy())),
            ("assay_have".to_owned(), json!(before)),
        ]);
        let mut rows: Vec<Collected> = hosts.iter().map(|host| Collected::from_node(&host.name)).collect();
        let mut brought: Vec<BTreeSet<String>> = vec![BTreeSet::new(); rows.len()];
        ansible.play("collect", hosts, variables, &mut |event| {
            let Some(at) = rows.iter().position(|row| row.node == event.node) else { return };
            if let Some(fact) = event.facts.get("node_collected") {
                let ids = |name: &str| -> BTreeSet<String> {
                    let list = fact[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                    list.filter(|id| is_record_id(id)).map(str::to_owned).collect()
                };
                brought[at] = ids("brought");
                let mut here: BTreeSet<String> = ids("records").intersection(&before).cloned().collect();
                here.extend(self.handed_over(&event.node).filter(|id| before.contains(id)));
                if ids("records").is_empty() && here.is_empty() {
                    rows[at].missing = Some(Missing::None);
                }
                rows[at].here = here.into_iter().collect();
            }
            if event.facts.contains_key("node_collected") || event.end().is_some() {
                answered(&event.node);
            }
            if let Some(end) = event.end() {
                rows[at].missing.get_or_insert_with(|| Missing::Said(bounded_reason(end)));
            }
        })?;
        for (row, ids) in rows.iter_mut().zip(brought) {
            for id in ids {
                match read(&records, &format!("{}-{id}.json", file_name(&row.node))) {
                    Ok(document) => self.take(row, &id, &document),
                    Err(why) => row.refused.push((id, why)),
                }
            }
        }
        Ok(rows)
    }

    /// Fetches records by the program on each node, which is asked for them by ssh, or here.
    ///
    /// # Errors
    /// Where the user ends it, or there is no thread.
    pub fn by_ssh(
        &self,
        launcher: Launcher,
        nodes: &[NodeEntry],
        program: &str,
        control: &Control,
        answered: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Collected>, FleetError> {
        // One record at a time is in memory.
        let turn = Mutex::new(());
        each_at_once(nodes, control, |entry| {
            let row = self.of_node(&RemoteNode { launcher, node: &entry.name }, program, &turn);
            answered(&entry.name);
            row
        })
    }

    fn of_node(&self, remote: &RemoteNode<'_>, program: &str, turn: &Mutex<()>) -> Collected {
        let mut row = Collected::from_node(remote.node);
        let list = match list(remote, program, self.run) {
            Ok(list) => list,
            Err(why) => {
                row.missing = Some(Missing::Said(bounded_reason(&why)));
                return row;
            }
        };
        let before = self.home.ids();
        row.here.extend(self.handed_over(remote.node).filter(|id| before.contains(id) && !list.contains(id)));
        if list.is_empty() && row.here.is_empty() {
            row.missing = Some(Missing::None);
        }
        for id in list {
            if before.contains(&id) {
                row.here.push(id);
                continue;
            }
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let said = |words: &str| NotFetched::Said(bounded_reason(words));
            match remote.call(&[program, "show", &id, "--json"], MAX_RECORD, WITHIN) {
                Ok(answer) if answer.code == Some(0) => self.take(&mut row, &id, &answer.out),
                Ok(answer) => row.refused.push((id, said(&answer.last_words()))),
                Err(error) => row.refused.push((id, said(&error.to_string()))),
            }
        }
        row
    }
}

/// The name of a node in the name of a file, as the role writes it.
fn file_name(node: &str) -> String {
    node.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// A file that the playbook brought; no link is followed.
fn read(records: &Path, name: &str) -> Result<Vec<u8>, NotFetched> {
    let mut document = Vec::new();
    let directory = Directory::open(records).map_err(NotFetched::Unopened)?;
    let file = directory.read_file(OsStr::new(name), Caching::Cached).map_err(NotFetched::Unopened)?;
    file.take(MAX_RECORD + 1).read_to_end(&mut document).map_err(NotFetched::Unread)?;
    Ok(document)
}

/// Identifiers of the records of a node in a run. The store there may hold those of other nodes, too: of this machine all are.
fn list(remote: &RemoteNode<'_>, program: &str, run: &str) -> Result<Vec<String>, String> {
    let query = format!("fleet={run} node={}", remote.node);
    let said = remote.call(&[program, "list", &query, "--json"], LIST, WITHIN).map_err(|e| e.to_string())?;
    if said.code != Some(0) {
        return Err(said.last_words());
    }
    let list: Vec<Value> =
        serde_json::from_slice(&said.out).map_err(|error| format!("its list of records: {error}"))?;
    Ok(list.iter().filter_map(|row| row["id"].as_str()).filter(|id| is_record_id(id)).map(str::to_owned).collect())
}

// Removes what the collection put on nodes.

/// What was removed from a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The node.
    pub node: String,
    /// What was removed: paths, or words.
    pub removed: Vec<String>,
    /// What stays: paths that assay did not make, or words.
    pub left: Vec<String>,
    /// Directory with records that were kept; empty where there is none.
    pub kept: String,
    /// Why it was not cleaned, as the node or Ansible says it.
    pub refused: Option<String>,
    /// The cause of that, where the program of the node did not answer.
    pub cause: Option<NodeCause>,
}

/// Cleans the hosts of an inventory; with `records`, removes their records too. Calls `answered` with the name of each node that
/// answered or failed.
///
/// # Errors
/// Where the playbook does not come to its end.
pub fn clean(
    ansible: &Ansible,
    hosts: &[InventoryNode],
    records: bool,
    answered: &dyn Fn(&str),
) -> Result<Vec<Cleaned>, FleetError> {
    let mut all: Vec<Cleaned> =
        hosts.iter().map(|host| Cleaned { node: host.name.clone(), ..Cleaned::default() }).collect();
    let variables = Map::from_iter([("assay_remove_records".to_owned(), json!(records))]);
    ansible.play("clean", hosts, variables, &mut |event| {
        let Some(one) = all.iter_mut().find(|one| one.node == event.node) else { return };
        if let Some(fact) = event.facts.get("node_removed") {
            let paths = |name: &str| -> Vec<String> {
                let paths = fact[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                paths.map(bounded_reason).collect()
            };
            (one.removed, one.left) = (paths("removed"), paths("left"));
            one.kept = bounded_reason(fact["kept"].as_str().unwrap_or_default());
        }
        if event.facts.contains_key("node_removed") || event.end().is_some() {
            answered(&event.node);
        }
        if let Some(end) = event.end() {
            one.refused.get_or_insert_with(|| bounded_reason(end));
        }
    })?;
    Ok(all)
}

/// Has each node remove what killed runs left there, by the program on it: `assay fleet clean --via local`. With `records` also
/// records that it measured for other machines. Calls `answered` with the name of each node that answered or failed.
///
/// # Errors
/// Where the user ends it, or there is no thread.
pub fn clean_by_ssh(
    nodes: &[NodeEntry],
    program: &str,
    records: bool,
    control: &Control,
    answered: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Cleaned>, FleetError> {
    each_at_once(nodes, control, |entry| {
        let remote = RemoteNode { launcher: Launcher::Ssh, node: &entry.name };
        let found = cleaned(&remote, &entry.target, program, records);
        answered(&entry.name);
        let mut row = match found {
            Ok(row) => row,
            Err((cause, why)) => Cleaned { refused: Some(bounded_reason(&why)), cause, ..Cleaned::default() },
        };
        row.node.clone_from(&entry.name);
        row
    })
}

/// What a node says that it removed. Nothing of it is believed beyond its type and its length.
fn cleaned(
    remote: &RemoteNode<'_>,
    target: &str,
    program: &str,
    records: bool,
) -> Result<Cleaned, (Option<NodeCause>, String)> {
    let entry = format!("{}={target}", remote.node);
    let more: &[&str] = if records { &["--records"] } else { &[] };
    let words = [&[program, "fleet", "clean", "--via", "local", "--json"], more, &["--", &entry]].concat();
    let said = remote.call(&words, LIST, WITHIN).map_err(|error| (None, error.to_string()))?;
    let Ok(document) = serde_json::from_slice::<Value>(&said.out) else {
        let (code, last) = (said.code, said.last_words());
        return Err((NodeCause::from_end(&NodeEnd { words: String::new(), code, reached: true }, &last), last));
    };
    let row = &document["nodes"][0];
    let texts = |name: &str| -> Vec<String> {
        row[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(bounded_reason).collect()
    };
    Ok(Cleaned {
        node: String::new(),
        removed: texts("removed"),
        left: texts("left"),
        kept: row["kept"].as_str().map(bounded_reason).unwrap_or_default(),
        refused: row["reason"].as_str().map(bounded_reason),
        cause: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_is_made_of_the_name_of_a_node() {
        assert_eq!(file_name("a@b:1.c_d-e"), "a_b_1.c_d-e");
        assert_eq!(file_name("../x"), ".._x");
    }

    #[test]
    fn no_link_is_followed_to_what_a_playbook_brought() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.json"), "{}").unwrap();
        assert_eq!(read(directory.path(), "a.json").unwrap(), b"{}");
        assert!(matches!(read(directory.path(), "b.json"), Err(NotFetched::Unopened(_))));
        #[cfg(not(windows))]
        {
            std::os::unix::fs::symlink("a.json", directory.path().join("c.json")).unwrap();
            assert!(matches!(read(directory.path(), "c.json"), Err(NotFetched::Unopened(_))));
        }
    }
}
