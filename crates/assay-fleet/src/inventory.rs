//! Which nodes take part: those named on the command line, and those of the user's own inventory, with playbooks of the
//! collection on them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use assay_engine::Control;
use serde_json::{Map, Value, json};

use crate::ansible::{AnsibleEvent, AnsibleStep, NodeEvent, Play, Playbook, PrivateDirectory};
use crate::error::{FleetError, bounded_reason, shown};
use crate::launch::{Launcher, slurm_names};
use crate::ledger::{Inventory, Ledger, NodeEntry, Route};
use crate::message::LONGEST_NAME;

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
        // Beside those of the inventory.
        variables.insert("assay_run_options".to_owned(), json!(options));
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

/// More nodes are named by a typing fault.
const MOST_NODES: usize = 100_000;

/// Refuses a name that cannot stand in lines of the protocol, in tables and in records. `what` is called so.
///
/// # Errors
/// [`FleetError::BadName`]
pub fn check_name(what: &str, name: &str) -> Result<(), FleetError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:@".contains(c);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
        return Err(FleetError::BadName { what: what.to_owned(), name: name.to_owned() });
    }
    Ok(())
}

/// The nodes that were named, each as `NAME` or `NAME=TARGET`.
///
/// # Errors
/// Where a name is no name, or is there twice.
pub fn entries(named: &[String], target: &str, via: Launcher) -> Result<Vec<NodeEntry>, FleetError> {
    let mut nodes: Vec<NodeEntry> = Vec::new();
    for node in named {
        let (names, target) = node.split_once('=').unwrap_or((node, target));
        let names = match via {
            // It knows its nodes, and how they are numbered.
            Launcher::Slurm => slurm_names(names).map_err(FleetError::SlurmNames)?,
            _ => in_brackets(names).ok_or_else(|| FleetError::BadRange(node.clone()))?,
        };
        for name in names {
            check_name("node", &name)?;
            if name.starts_with('-') || target.is_empty() {
                return Err(FleetError::BadNode(node.clone()));
            }
            if nodes.iter().any(|entry| entry.name == name) {
                return Err(FleetError::TwiceNamed(name));
            }
            nodes.push(NodeEntry::new(&name, target));
        }
    }
    Ok(nodes)
}

/// Expands `node[01-28]` into names, by Slurm's rules: numbers keep their leading zeros. `None` if the brackets hold anything
/// else than numbers and ranges, or more names than a run may have.
fn in_brackets(text: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = text.split_once('[') else {
        return (!text.contains(']')).then(|| vec![text.to_owned()]);
    };
    let (numbers, after) = rest.split_once(']')?;
    let ends = in_brackets(after)?;
    let mut names = Vec::new();
    for range in numbers.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<usize>().ok().filter(|_| plain)
        };
        let (from, to) = (number(first)?, number(last)?);
        let count = to.checked_sub(from)?.checked_add(1)?.checked_mul(ends.len())?;
        if count.checked_add(names.len())? > MOST_NODES {
            return None;
        }
        let width = first.len();
        names.extend((from..=to).flat_map(|at| ends.iter().map(move |end| format!("{before}{at:0width$}{end}"))));
    }
    Some(names)
}

/// The program on the nodes: the one that is `named`, or else this one here, and one of its name elsewhere.
///
/// # Errors
/// Where the path of this one is not known, or is not text.
pub fn program(named: Option<&str>, via: Launcher) -> Result<String, FleetError> {
    if let Some(program) = named {
        return Ok(program.to_owned());
    }
    if via != Launcher::Local {
        return Ok("assay".to_owned());
    }
    let path = std::env::current_exe().map_err(FleetError::ProgramUnknown)?;
    path.into_os_string().into_string().map_err(|_| FleetError::ProgramNotText)
}

/// Names the newest run, as `last` names the newest record elsewhere.
pub const LAST_RUN: &str = "last";

/// The place of the run that is called so, or begins so; of [`LAST_RUN`] the first, as names come with the newest first.
///
/// # Errors
/// [`FleetError::UnknownRun`] or [`FleetError::SeveralRuns`]
pub fn run_named<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Result<usize, FleetError> {
    if let Some(exact) = names.clone().position(|name| name == wanted) {
        return Ok(exact);
    }
    if wanted == LAST_RUN && names.clone().next().is_some() {
        return Ok(0);
    }
    let found: Vec<usize> = names.enumerate().filter(|(_, name)| name.starts_with(wanted)).map(|(at, _)| at).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(FleetError::UnknownRun(wanted.to_owned())),
        _ => Err(FleetError::SeveralRuns(wanted.to_owned())),
    }
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
            json!({ "assay_suite": "no-such-file", "assay_run_options": ["--budget", "5s", "--label", "a=b"] })
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

    #[test]
    fn nodes_are_named_once_each_with_a_target() {
        let entries = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            entries(&named, ".", Launcher::Ssh)
        };
        let found = entries(&["a", "b=/m", "c@d:1=x=y"]).unwrap();
        let found: Vec<_> = found.iter().map(|entry| (entry.name.as_str(), entry.target.as_str())).collect();
        assert_eq!(found, [("a", "."), ("b", "/m"), ("c@d:1", "x=y")]);
        assert!(matches!(entries(&["a", "a=/m"]), Err(FleetError::TwiceNamed(name)) if name == "a"));
        assert!(matches!(entries(&["-a"]), Err(FleetError::BadNode(_))));
        assert!(matches!(entries(&["a="]), Err(FleetError::BadNode(_))));
        assert!(matches!(entries(&["a b"]), Err(FleetError::BadName { .. })));
        for other in ["a,b", "host:/mnt"] {
            let refused = entries(&[other]).unwrap_err().to_string();
            assert!(refused.contains("NAME=TARGET, each an argument of its own"), "{refused}");
        }
    }

    #[test]
    fn many_nodes_are_named_by_their_numbers() {
        let names = |text: &str| in_brackets(text).unwrap_or_default().join(" ");
        assert_eq!(names("node[08-11]"), "node08 node09 node10 node11");
        assert_eq!(names("n[1,3-4]"), "n1 n3 n4");
        assert_eq!(names("r[1-2]n[1-2]x"), "r1n1x r1n2x r2n1x r2n2x");
        assert_eq!(names("pi@n[9-10].lan"), "pi@n9.lan pi@n10.lan");
        for bad in ["n[1-", "n1]", "n[]", "n[a-b]", "n[3-1]", "n[1-9999999]", "n[+1]", "n[1-2"] {
            assert_eq!(in_brackets(bad), None, "{bad}");
        }
        let found = entries(&["n[1-2]=/m".to_owned(), "n3".to_owned()], "/c", Launcher::Ssh).unwrap();
        let found: Vec<_> = found.iter().map(|entry| format!("{}={}", entry.name, entry.target)).collect();
        assert_eq!(found, ["n1=/m", "n2=/m", "n3=/c"]);
    }

    #[test]
    fn a_run_is_named_by_its_beginning() {
        let named = |wanted: &str| run_named(["ab2", "ab1", "ab"].into_iter(), wanted);
        assert_eq!([named("ab").unwrap(), named("ab1").unwrap(), named("last").unwrap()], [2, 1, 0]);
        assert!(matches!(named("a"), Err(FleetError::SeveralRuns(_))));
        assert!(matches!(named("x"), Err(FleetError::UnknownRun(_))));
        assert!(matches!(run_named([].into_iter(), "last"), Err(FleetError::UnknownRun(_))));
    }
}
