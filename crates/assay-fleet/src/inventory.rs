//! The user's own inventory: its hosts, and playbooks of the collection on them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use assay_engine::Control;
use serde_json::{Map, Value, json};

use crate::ansible::{AnsibleEvent, AnsibleStep, NodeEvent, Play, Playbook, PrivateDirectory};
use crate::error::bounded_reason;
use crate::error::{FleetError, shown};
use crate::ledger::{Inventory, Ledger, NodeEntry, Route};
use crate::names::check_name;

/// Between two looks at whether the user interrupts.
const TICK: Duration = Duration::from_millis(100);
/// Connections at a time, where the user does not say.
const FORKS: usize = 28;

/// A node of the inventory, as the inventory has it.
#[derive(Debug, Clone, PartialEq)]
pub struct InventoryNode {
    /// Its name.
    pub name: String,
    /// What is measured; empty where the inventory has none.
    pub target: String,
    /// Label of the unit; empty where it has none.
    pub unit: String,
    /// Label of the slot; empty where it has none.
    pub slot: String,
    /// How Ansible reaches it.
    pub connection: String,
    /// More arguments of ssh, from the inventory.
    pub ssh_extra_args: String,
}

/// Ansible with an inventory.
#[derive(Debug)]
pub struct Ansible {
    directory: PrivateDirectory,
    inventory: Vec<PathBuf>,
    limit: Option<String>,
    forks: Option<usize>,
    control: Control,
}

impl Ansible {
    /// Reads the inventory from these files, limited to the hosts that match `limit`, with at most `forks` connections at a time.
    /// Contacts no host.
    ///
    /// # Errors
    /// Where there is no such file, or no directory for playbooks.
    pub fn new(
        files: &[PathBuf],
        limit: Option<&str>,
        forks: Option<u32>,
        control: &Control,
    ) -> Result<Self, FleetError> {
        for path in files {
            path.metadata().map_err(|error| FleetError::InventoryMissing { path: path.clone(), error })?;
        }
        let directory = PrivateDirectory::new().map_err(FleetError::TemporaryDirectory)?;
        Ok(Self {
            directory,
            inventory: files.to_vec(),
            limit: limit.map(str::to_owned),
            forks: forks.map(|forks| forks as usize),
            control: control.clone(),
        })
    }

    /// With the inventory that a run was begun with.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_inventory(kept: &Inventory, control: &Control) -> Result<Self, FleetError> {
        Self::new(&kept.files, kept.limit.as_deref(), None, control)
    }

    /// Where files for a playbook may be, and come.
    pub(crate) fn directory(&self) -> &PrivateDirectory {
        &self.directory
    }

    /// The nodes of the inventory, in the order of their numbers. None is reached.
    ///
    /// # Errors
    /// Where Ansible cannot read it, or a host of it cannot be used.
    pub fn hosts(&self) -> Result<Vec<InventoryNode>, FleetError> {
        let book = Playbook {
            name: "nodes",
            inventory: &self.inventory,
            limit: self.limit.as_deref(),
            forks: self.forks.unwrap_or(FORKS).min(FORKS),
            variables: None,
        };
        let mut hosts = Vec::new();
        let mut bad = None;
        let played = self.play_book(&book, &mut |event| {
            if let Some(fact) = event.facts.get("node_host") {
                hosts.push(host(&event.node, fact));
            }
            if let Some(end) = event.end() {
                bad.get_or_insert_with(|| (event.node.clone(), bounded_reason(end)));
            }
        })?;
        let names = self.inventory.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        match played {
            Err(said) => return Err(refusal(&said, self.limit.as_deref(), &names)),
            Ok(said) => {
                if let (Some(limit), Some(_)) = (unmatched(&said), &self.limit) {
                    return Err(FleetError::LimitMatchesNone { limit, inventory: names });
                }
            }
        }
        if let Some(bad) = bad {
            let (node, reason) = bad;
            return Err(FleetError::InventoryHost { inventory: names, node, reason });
        }
        if hosts.is_empty() {
            return Err(FleetError::InventoryEmpty(names));
        }
        hosts.sort_by_key(|host| natural(&host.name));
        check(&hosts)?;
        Ok(hosts)
    }

    /// Returns the hosts as nodes of a run, and the inventory that the ledger keeps. Without an address in `listens`, each host has
    /// to be this machine or reachable by ssh.
    ///
    /// # Errors
    /// As [`Self::hosts`], and where a host cannot take part.
    pub fn nodes_of_run(
        &self,
        variables: Map<String, Value>,
        listens: bool,
    ) -> Result<(Vec<NodeEntry>, Inventory), FleetError> {
        let hosts = self.hosts()?;
        if let Some(host) = hosts.iter().find(|host| host.target.is_empty()) {
            return Err(FleetError::NoTarget(host.name.clone()));
        }
        if self.forks.is_some_and(|forks| forks < hosts.len()) {
            return Err(FleetError::TooFewForks(hosts.len()));
        }
        let far = |host: &&InventoryNode| {
            !matches!(host.connection.as_str(), "ssh" | "smart" | "local" | "ansible.builtin.ssh")
        };
        if let (false, Some(host)) = (listens, hosts.iter().find(far)) {
            return Err(FleetError::NoTunnel(host.name.clone()));
        }
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let inventory = Inventory {
            files: self.inventory.iter().map(absolute).collect(),
            limit: self.limit.clone(),
            variables,
            routes: routes(&hosts),
        };
        Ok((hosts.iter().map(|host| NodeEntry::new(&host.name, &host.target)).collect(), inventory))
    }

    /// Plays a playbook on these nodes, and has each result taken.
    ///
    /// # Errors
    /// Where the playbook does not come to its end.
    pub(crate) fn play(
        &self,
        name: &str,
        hosts: &[InventoryNode],
        variables: Map<String, Value>,
        each: &mut dyn FnMut(NodeEvent),
    ) -> Result<(), FleetError> {
        let write = |name: &str, text: String| {
            self.directory.write(name, text.as_bytes()).map_err(FleetError::TemporaryDirectory)
        };
        let lines: String = hosts.iter().map(|host| host.name.clone() + "\n").collect();
        let limit = format!("@{}", write("limit", lines)?.display());
        let variables = write("variables.json", Value::Object(variables).to_string())?;
        let book = Playbook {
            name,
            inventory: &self.inventory,
            limit: Some(&limit),
            forks: self.forks.unwrap_or(hosts.len().min(FORKS)),
            variables: Some(&variables),
        };
        match self.play_book(&book, each)? {
            Ok(_) => Ok(()),
            Err(said) => Err(FleetError::Playbook(bounded_reason(last_error(&said)))),
        }
    }

    /// What it said beside its events; as an error where it did not come to its end.
    fn play_book(
        &self,
        book: &Playbook<'_>,
        each: &mut dyn FnMut(NodeEvent),
    ) -> Result<Result<String, String>, FleetError> {
        let mut play = start(book, &self.directory)?;
        let mut whole = false;
        loop {
            if self.control.stopped() {
                return Err(FleetError::PlayInterrupted);
            }
            match play.next(TICK) {
                AnsibleStep::Event(AnsibleEvent::Result(event)) => each(event),
                AnsibleStep::Event(AnsibleEvent::Stats {}) => whole = true,
                AnsibleStep::Event(AnsibleEvent::Other) | AnsibleStep::Quiet => {}
                AnsibleStep::Over if whole => return Ok(Ok(play.said())),
                AnsibleStep::Over => return Ok(Err(play.said())),
            }
        }
    }
}

fn start(book: &Playbook<'_>, directory: &PrivateDirectory) -> Result<Play, FleetError> {
    book.start(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => FleetError::NoAnsible,
        _ => FleetError::AnsibleNotStarted(error),
    })
}

/// What Ansible says as an error; otherwise what it said last.
fn last_error(said: &str) -> &str {
    let mut lines = said.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next().unwrap_or("it ended without a word");
    lines.find(|line| line.starts_with("ERROR") || line.starts_with("[ERROR]")).unwrap_or(last)
}

/// The part of a pattern that matches no host: Ansible warns of it, and goes on with the rest.
fn unmatched(said: &str) -> Option<String> {
    let whole = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = whole.split_once("Could not match supplied host pattern, ignoring: ")?;
    rest.split(' ').next().map(str::to_owned)
}

/// Why there are no nodes.
fn refusal(said: &str, limit: Option<&str>, inventory: &str) -> FleetError {
    if let Some(limit) = limit
        && said.contains("no hosts to target")
    {
        return FleetError::LimitMatchesNone { limit: limit.to_owned(), inventory: inventory.to_owned() };
    }
    // Of all plug-ins that tried to read it, the one for what the name promises; warnings are broken into lines.
    let warnings: Vec<String> =
        said.split("[WARNING]:").skip(1).map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let plain = [".yml", ".yaml", ".json"].iter().all(|end| !inventory.ends_with(end));
    let plugin = if plain { "with ini plugin:" } else { "with yaml plugin:" };
    let of =
        |plugin: &str| warnings.iter().find_map(|warning| warning.split_once(plugin)).map(|(_, why)| why.to_owned());
    let why = of("with script plugin:").or_else(|| of(plugin));
    let why =
        why.map_or_else(|| last_error(said).to_owned(), |why| why.split(" ERROR! ").next().unwrap_or("").to_owned());
    FleetError::InventoryUnread { inventory: inventory.to_owned(), reason: bounded_reason(&why) }
}

fn host(name: &str, fact: &Value) -> InventoryNode {
    let text = |name: &str| match &fact[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    InventoryNode {
        name: name.to_owned(),
        target: text("target"),
        unit: text("unit"),
        slot: text("slot"),
        connection: text("connection"),
        ssh_extra_args: text("ssh_extra_args"),
    }
}

/// Two nodes with one name for their units would be one unit in every ranking.
fn check(hosts: &[InventoryNode]) -> Result<(), FleetError> {
    for (at, host) in hosts.iter().enumerate() {
        check_name("host", &host.name)?;
        if host.name.starts_with(['-', '@']) {
            return Err(FleetError::HostPrefix(host.name.clone()));
        }
        let same = |other: &&InventoryNode| !host.unit.is_empty() && other.unit == host.unit;
        if let Some(other) = hosts[..at].iter().find(same) {
            let (first, second) = (other.name.clone(), host.name.clone());
            return Err(FleetError::SameUnit { first, second, unit: host.unit.clone() });
        }
    }
    Ok(())
}

/// n2 before n10.
fn natural(name: &str) -> Vec<(String, u128)> {
    let mut parts = vec![(String::new(), 0u128)];
    for c in name.chars() {
        let last = parts.len() - 1;
        match c.to_digit(10) {
            Some(digit) => parts[last].1 = parts[last].1.saturating_mul(10).saturating_add(u128::from(digit) + 1),
            None if parts[last].1 > 0 => parts.push((c.to_string(), 0)),
            None => parts[last].0.push(c),
        }
    }
    parts
}

/// Variables that say what is measured, by what `assay run` is to be told.
///
/// # Errors
/// Where there is no such directory with programs.
pub fn variables(binaries: Option<&PathBuf>, arguments: &[String]) -> Result<Map<String, Value>, FleetError> {
    let mut variables = Map::new();
    if let Some(directory) = binaries {
        let whole = std::fs::canonicalize(directory);
        let whole = whole.map_err(|error| FleetError::Binaries { path: directory.clone(), error })?;
        variables.insert("assay_binaries".to_owned(), json!(whole.to_string_lossy()));
    }
    // The suite may be a file here, which the role copies.
    let mut options = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let suite = match word.strip_prefix("--suite") {
            Some("") => words.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        match suite {
            Some(suite) => {
                let path = PathBuf::from(suite);
                let suite = if path.is_file() { std::path::absolute(&path).unwrap_or(path) } else { path };
                variables.insert("assay_suite".to_owned(), json!(suite.to_string_lossy()));
            }
            None => options.push(word.as_str()),
        }
    }
    if !options.is_empty() {
        variables.insert("assay_options".to_owned(), json!(options));
    }
    Ok(variables)
}

/// Asks the inventory of a run anew how its nodes are reached whose records are missing.
///
/// # Errors
/// Where Ansible cannot read it, or a node is gone from it.
pub fn find_again(ledger: &mut Ledger, control: &Control) -> Result<(), FleetError> {
    let missing = ledger.missing();
    let Some(inventory) = &mut ledger.inventory else { return Ok(()) };
    inventory.routes = routes(&Ansible::from_inventory(inventory, control)?.hosts()?);
    match missing.iter().map(|node| &ledger.nodes[*node].name).find(|name| !inventory.routes.contains_key(*name)) {
        Some(name) => Err(FleetError::HostGone(name.clone())),
        None => Ok(()),
    }
}

fn routes(hosts: &[InventoryNode]) -> BTreeMap<String, Route> {
    let route = |host: &InventoryNode| Route {
        ssh: host.connection != "local",
        ssh_extra_args: host.ssh_extra_args.clone(),
        slot: host.slot.clone(),
    };
    hosts.iter().map(|host| (host.name.clone(), route(host))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, unit: &str) -> InventoryNode {
        host(name, &json!({ "target": "/m", "unit": unit }))
    }

    #[test]
    fn nodes_are_in_the_order_of_their_numbers() {
        let mut names = ["n10", "n2", "n1", "m3", "n2b", "n2a10", "n2a9"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["m3", "n1", "n2", "n2a9", "n2a10", "n2b", "n10"]);
    }

    #[test]
    fn a_unit_is_in_one_node() {
        check(&[named("a", "1"), named("b", "2"), named("c", ""), named("d", "")]).unwrap();
        let twice = check(&[named("a", "1"), named("b", "2"), named("c", "1")]).unwrap_err();
        assert_eq!(twice.to_string(), "a and c have the same assay_unit, 1; each medium has its own");
        for bad in ["a b", "@x", "-x", "a\u{1b}[0m", ""] {
            assert!(check(&[named(bad, "")]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_suite_is_told_apart_from_other_arguments() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let passed = variables(None, &words("--budget 5s --suite no-such-file --label a=b")).unwrap();
        assert_eq!(
            Value::Object(passed),
            json!({ "assay_suite": "no-such-file", "assay_options": ["--budget", "5s", "--label", "a=b"] })
        );
        let passed = variables(None, &words("--suite=quick")).unwrap();
        assert_eq!(Value::Object(passed), json!({ "assay_suite": "quick" }));
        assert!(variables(Some(&PathBuf::from("/nowhere")), &[]).is_err());
    }

    #[test]
    fn a_part_of_a_pattern_that_matches_nothing_is_found_in_the_warning() {
        let said = "[WARNING]: Could not match supplied host pattern,\nignoring: n7\n[WARNING]: something else\n";
        assert_eq!(unmatched(said).as_deref(), Some("n7"));
        assert_eq!(unmatched("[WARNING]: something else\n"), None);
    }

    #[test]
    fn why_there_are_no_nodes_is_one_line() {
        let refused = |said: &str, limit: Option<&str>, inventory: &str| refusal(said, limit, inventory).to_string();
        let said = "[WARNING]:  * Failed to parse /x/bad.yml with yaml plugin: We were unable\nto read either.\n\
                    [WARNING]:  * Failed to parse /x/bad.yml with ini plugin: Invalid host\npattern\n\
                    ERROR! Completely failed to parse inventory source /x/bad.yml\n";
        assert_eq!(refused(said, None, "bad.yml"), "inventory bad.yml cannot be read: We were unable to read either.");
        assert_eq!(refused(said, None, "bad"), "inventory bad cannot be read: Invalid host pattern");
        let none = "[WARNING]: Could not match supplied host pattern, ignoring: x\nERROR! Specified inventory, host \
                    pattern and/or --limit leaves us with no hosts to target.\n";
        assert_eq!(refused(none, Some("x"), "a.ini"), "--limit x matches no host of inventory a.ini");
    }
}
