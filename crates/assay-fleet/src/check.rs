//! What each node says of itself, by Ansible or ssh, and which of them can be measured.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_core::medium::{Medium, Mounted};
use assay_engine::Control;
use serde_json::{Map, Value};

use crate::ansible::{NodeEvent, TaskStatus};
use crate::error::FleetError;
use crate::inventory::{Ansible, InventoryNode};
use crate::launch::{Launcher, NodeEnd};
use crate::ledger::{Fate, NodeEntry};
use crate::meeting::{MeetingRules, Mode};
use crate::message::{Build, own_program};
use crate::remote::{CommandOutput, DayClock, RemoteError, RemoteNode, RemoteVolume, each_at_once};

/// Longest answer, in bytes.
const ANSWER: u64 = 1 << 20;
/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(60);
/// Cards of one size on their package differ by a few per cent in bytes.
const ALIKE: f64 = 1.25;

/// What is known of a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeCheck {
    /// Its name.
    pub node: String,
    /// What would be measured.
    pub target: String,
    /// Label of the unit; empty where it has none.
    pub unit: String,
    /// Label of the slot; empty where it has none.
    pub slot: String,
    /// Whether the node answered.
    pub reached: bool,
    /// Machine, as `uname -m` names it; empty where not known.
    pub machine: String,
    /// Bits of its programs; 0 where not known.
    pub bits: u32,
    /// The program there; none where it is missing.
    pub build: Option<Build>,
    /// The medium.
    pub medium: Option<Medium>,
    /// Free bytes.
    pub free_bytes: Option<u64>,
    /// The file system of the target.
    pub volume: Option<RemoteVolume>,
    /// The node's time of day minus the one here.
    pub clock: Option<DayClock>,
    /// Most bytes that the run would write.
    pub planned_write_bytes: Option<u64>,
    /// Test area in bytes.
    pub area_bytes: Option<u64>,
    /// Longest time that the suite measures in nanoseconds.
    pub budget_ns: Option<u64>,
    /// Repeats, which nodes begin together.
    pub starts: u64,
    /// Why it cannot be measured.
    pub unfit: Option<Unfit>,
}

/// Why a node cannot be measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Unfit {
    /// The inventory has no target for it.
    NoTarget,
    /// It was not reached, or did not begin, as a run would tell it.
    Ended(Fate),
    /// It has another build of the program.
    OtherBuild {
        /// The one there.
        there: String,
        /// The one here.
        here: String,
    },
    /// It has no such program.
    NoProgram,
    /// Its volume has no room for the test areas of all nodes that measure on it.
    Crowded {
        /// What the volume is mounted from.
        source: String,
        /// Nodes that measure on it.
        nodes: usize,
        /// Bytes that they need together.
        needed_bytes: u64,
        /// Bytes that are free.
        free_bytes: u64,
    },
    /// What it says cannot be read.
    Unreadable,
}

/// All nodes that were asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetCheck {
    /// The nodes.
    pub nodes: Vec<NodeCheck>,
}

/// The node that differs most from the others, and what most of them have.
#[derive(Debug, Clone, PartialEq)]
pub struct Different<'a> {
    /// Name of the node.
    pub node: &'a str,
    /// Its file system; none where it has none.
    pub filesystem: Option<&'a str>,
    /// Its size; none where not known.
    pub capacity_bytes: Option<u64>,
    /// The file system of most nodes; none where they have none.
    pub usual_filesystem: Option<&'a str>,
    /// The median size; none where not known.
    pub usual_bytes: Option<u64>,
}

impl NodeCheck {
    /// Whether the target is the root disk or memory, where a card was most likely meant.
    #[must_use]
    pub fn is_no_medium(&self) -> bool {
        self.unfit.is_none() && self.medium.as_ref().is_some_and(|medium| medium.mounted().is_no_medium())
    }

    /// Time that passes before the starts of all repeats, beside the time of the suite.
    #[must_use]
    pub fn starts_ns(&self) -> u64 {
        let rules = MeetingRules::new(Mode::Simultaneous, 1);
        let lead = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let first = if self.starts > 0 { lead(rules.first_lead) } else { 0 };
        self.starts.saturating_sub(1).saturating_mul(lead(rules.lead)).saturating_add(first)
    }

    /// Longest time of the run in nanoseconds, where no other node is slower.
    #[must_use]
    pub fn run_ns(&self) -> Option<u64> {
        self.budget_ns.map(|budget| budget.saturating_add(self.starts_ns()))
    }

    /// What the node itself does not see.
    fn judge(&mut self, here: &Build) {
        if self.unfit.is_some() {
            return;
        }
        self.unfit = match &self.build {
            None => Some(Unfit::NoProgram),
            Some(there) if !there.is_same(here) => {
                let told = |own: &Build, other: &Build| format!("assay {}", own.told_from(other));
                Some(Unfit::OtherBuild { there: told(there, here), here: told(here, there) })
            }
            Some(_) => (self.planned_write_bytes.is_none() || self.budget_ns.is_none()).then_some(Unfit::Unreadable),
        };
    }

    /// What tells the volume of the target from those of other nodes, where others may measure on it: one of a server, wherever it
    /// is mounted, or one of the same host, as it was attached there.
    fn shared(&self) -> Option<(&str, u64, &str, Option<&str>)> {
        let (volume, medium) = (self.volume.as_ref()?, self.medium.as_ref()?);
        let of_server = medium.is_remote() && !volume.source.starts_with("/dev/");
        let attached = if of_server { None } else { Some(medium.attached.as_deref()?) };
        Some((&volume.source, volume.bytes, medium.filesystem.as_deref()?, attached))
    }

    fn of_host(host: &InventoryNode) -> Self {
        let InventoryNode { name, target, unit, slot, .. } = host.clone();
        let unfit = target.is_empty().then_some(Unfit::NoTarget);
        Self { node: name, target, unit, slot, unfit, ..Self::default() }
    }

    fn take(&mut self, event: &NodeEvent) {
        self.reached = event.status != TaskStatus::Unreachable;
        if let Some(report) = event.facts.get("node_report") {
            self.read(report);
        }
        if let Some(end) = event.end() {
            self.is_over(None, self.reached, end);
        }
    }

    /// What a node says of itself, as the role tells it.
    fn read(&mut self, report: &Value) {
        let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
        self.reached = true;
        self.machine = text("machine");
        self.bits = report["bits"].as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0);
        self.build = Build::from_words(&format!("{}\ncommit {}", text("version"), text("commit")));
        self.medium = serde_json::from_value(report["medium"].clone()).ok();
        self.free_bytes = report["target_free_bytes"].as_u64();
        let volume = |bytes| RemoteVolume { source: text("target_source"), bytes };
        self.volume = report["target_total_bytes"].as_u64().map(volume).filter(|volume| !volume.source.is_empty());
        self.clock = clock(&report["clock"]);
        if text("refused").is_empty() {
            self.planned_write_bytes = report["planned_write_bytes"].as_u64();
            self.area_bytes = report["area_bytes"].as_u64();
            self.budget_ns = report["budget_ns"].as_u64();
            self.starts = report["starts"].as_u64().unwrap_or(0);
        } else {
            self.is_over(None, true, &text("refused"));
        }
    }

    /// It was not reached, or ended with these words. The first that is known stands.
    fn is_over(&mut self, code: Option<i32>, reached: bool, said: &str) {
        let end = NodeEnd { words: said.to_owned(), code, reached };
        self.unfit.get_or_insert_with(|| Unfit::Ended(Fate::before(&end, said)));
    }

    fn ask(
        &mut self,
        remote: &RemoteNode<'_>,
        target: &str,
        &CheckRequest { program, arguments, tunnel }: &CheckRequest<'_>,
    ) -> Result<(), RemoteError> {
        let look = remote.look(target)?;
        self.reached = true;
        (self.machine, self.bits, self.clock) = (look.machine, look.bits, look.clock);
        (self.free_bytes, self.volume) = (look.free_bytes, look.volume);
        if tunnel {
            remote.try_tunnel()?;
        }
        let version = well(remote.call(&[program, "--version"], ANSWER, WITHIN)?)?;
        self.build = Build::from_words(&String::from_utf8_lossy(&version.out));
        let medium = remote.call(&[program, "info", "--json", "--", target], ANSWER, WITHIN)?;
        let medium: Option<Value> = serde_json::from_slice(&medium.out).ok();
        self.medium = medium.and_then(|mut said| serde_json::from_value(said["medium"].take()).ok());
        let words = [program, "run", "--quiet"].into_iter().chain(arguments.iter().map(String::as_str));
        let words: Vec<&str> = words.chain(["--dry-run", "--json", "--", target]).collect();
        let plan = well(remote.call(&words, ANSWER, WITHIN)?)?;
        if let Ok(plan) = serde_json::from_slice::<Value>(&plan.out) {
            (self.planned_write_bytes, self.budget_ns) =
                (plan["planned_write_bytes"].as_u64(), plan["budget_ns"].as_u64());
            self.area_bytes = plan["area_bytes"].as_u64();
            let repeats =
                plan["workloads"].as_array().into_iter().flatten().filter_map(|load| load["repeats"].as_u64());
            self.starts = repeats.fold(0, u64::saturating_add);
        }
        Ok(())
    }
}

/// Nodes that find room alone, and not beside the others on the same volume.
fn crowded(nodes: &[NodeCheck]) -> Vec<(usize, Unfit)> {
    let mut volumes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.unfit.is_none()) {
        if let Some(volume) = node.shared() {
            volumes.entry(volume).or_default().push(at);
        }
    }
    let mut all = Vec::new();
    for ((source, ..), on_it) in volumes.into_iter().filter(|(_, on_it)| on_it.len() > 1) {
        let needed_bytes = on_it.iter().filter_map(|at| nodes[*at].area_bytes).fold(0, u64::saturating_add);
        let Some(free_bytes) = on_it.iter().filter_map(|at| nodes[*at].free_bytes).min() else { continue };
        if needed_bytes > free_bytes {
            let source = source.to_owned();
            let unfit = Unfit::Crowded { source, nodes: on_it.len(), needed_bytes, free_bytes };
            all.extend(on_it.into_iter().map(|at| (at, unfit.clone())));
        }
    }
    all
}

/// What a program said that ended well.
fn well(said: CommandOutput) -> Result<CommandOutput, RemoteError> {
    if said.code == Some(0) {
        return Ok(said);
    }
    Err(RemoteError::Ended { code: said.code, said: said.last_words() })
}

fn clock(report: &Value) -> Option<DayClock> {
    let nanoseconds = |name: &str| report[name].as_f64().map(|seconds| seconds * 1e9).filter(|ns| ns.abs() < 1e18);
    let (offset, bound) = (nanoseconds("offset_s")?, nanoseconds("bound_s").filter(|bound| *bound >= 0.0)?);
    Some(DayClock { offset_ns: offset as i64, bound_ns: bound as u64 })
}

/// What each node is asked.
#[derive(Debug, Clone, Copy)]
pub struct CheckRequest<'a> {
    /// The program on the nodes.
    pub program: &'a str,
    /// Arguments of the run.
    pub arguments: &'a [String],
    /// Whether the run reaches its coordinator through a tunnel of ssh.
    pub tunnel: bool,
}

impl FleetCheck {
    /// Asks the hosts of an inventory. Calls `answered` with the name of each node that answered or failed.
    ///
    /// # Errors
    /// Where the playbook does not come to its end.
    pub fn by_ansible(
        ansible: &Ansible,
        hosts: &[InventoryNode],
        variables: Map<String, Value>,
        here: &Build,
        answered: &dyn Fn(&str),
    ) -> Result<Self, FleetError> {
        let mut nodes: Vec<NodeCheck> = hosts.iter().map(NodeCheck::of_host).collect();
        let numbers: BTreeMap<&str, usize> =
            hosts.iter().enumerate().map(|(at, host)| (host.name.as_str(), at)).collect();
        let variables = own_program().into_iter().chain(variables).collect();
        ansible.play("check", hosts, variables, &mut |event| {
            // Events of other nodes are ignored.
            if let Some(at) = numbers.get(event.node.as_str()) {
                nodes[*at].take(&event);
                if event.facts.contains_key("node_report") || event.end().is_some() {
                    answered(&event.node);
                }
            }
        })?;
        Ok(Self::judged(nodes, here))
    }

    /// Asks nodes by ssh, or this machine. A node needs a shell and assay; `arguments` are those of `assay run` there.
    ///
    /// # Errors
    /// Where the user ends it, or there is no thread.
    pub fn by_ssh(
        launcher: Launcher,
        nodes: &[NodeEntry],
        request: &CheckRequest<'_>,
        here: &Build,
        control: &Control,
        answered: &(dyn Fn(&str) + Sync),
    ) -> Result<Self, FleetError> {
        let nodes = each_at_once(nodes, control, |entry| {
            let remote = RemoteNode { launcher, node: &entry.name };
            let mut node = NodeCheck { node: entry.name.clone(), target: entry.target.clone(), ..NodeCheck::default() };
            match node.ask(&remote, &entry.target, request) {
                Ok(()) => {}
                Err(RemoteError::NotReached(said)) => {
                    node.is_over(None, false, &said);
                    node.reached = matches!(node.unfit, Some(Unfit::Ended(Fate::NotBegun { .. })));
                }
                Err(RemoteError::NoAnswer(said)) => node.is_over(None, true, &said),
                Err(RemoteError::Ended { code, said }) => {
                    node.reached = true;
                    node.is_over(code, true, &said);
                }
            }
            answered(&entry.name);
            node
        })?;
        Ok(Self::judged(nodes, here))
    }

    fn judged(mut nodes: Vec<NodeCheck>, here: &Build) -> Self {
        nodes.iter_mut().for_each(|node| node.judge(here));
        for (at, unfit) in crowded(&nodes) {
            nodes[at].unfit = Some(unfit);
        }
        Self { nodes }
    }

    /// Whether a node can be measured with the others: the report leaves one out whose target is no medium, where more than half of
    /// the nodes have one that is mounted there. Where all are like that, it is what was meant.
    #[must_use]
    pub fn fits(&self, node: &NodeCheck) -> bool {
        let there = |node: &&NodeCheck| node.medium.as_ref().is_some_and(|medium| medium.mounted() == Mounted::There);
        let able: Vec<&NodeCheck> = self.nodes.iter().filter(|node| node.unfit.is_none()).collect();
        let most_are_mounted = 2 * able.iter().filter(|node| there(node)).count() > able.len();
        node.unfit.is_none() && !(most_are_mounted && node.is_no_medium())
    }

    /// Nodes that can be measured together.
    pub fn fit(&self) -> impl Iterator<Item = &NodeCheck> {
        self.nodes.iter().filter(|node| self.fits(node))
    }

    /// Nodes that could be measured but whose target is no medium.
    pub fn without_medium(&self) -> impl Iterator<Item = &NodeCheck> {
        self.nodes.iter().filter(|node| node.is_no_medium())
    }

    /// Nodes that would measure the same disk of one host, which disturb each other; each group in the order of the nodes.
    #[must_use]
    pub fn same_disk(&self) -> Vec<Vec<&NodeCheck>> {
        let mut disks: BTreeMap<&str, Vec<&NodeCheck>> = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| node.unfit.is_none()) {
            if let Some(attached) = node.medium.as_ref().and_then(|medium| medium.attached.as_deref()) {
                disks.entry(attached).or_default().push(node);
            }
        }
        disks.into_values().filter(|nodes| nodes.len() > 1).collect()
    }

    /// The node that differs most from the others in file system and size; `None` where they are alike, or where fewer than three
    /// say what they are.
    #[must_use]
    pub fn most_different(&self) -> Option<Different<'_>> {
        let known: Vec<(&NodeCheck, &Medium)> =
            self.nodes.iter().filter_map(|node| Some((node, node.medium.as_ref()?))).collect();
        if known.len() < 3 {
            return None;
        }
        let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        known.iter().for_each(|(_, medium)| *counts.entry(medium.filesystem.as_deref()).or_default() += 1);
        let (usual, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        let mut sizes: Vec<u64> = known.iter().filter_map(|(_, medium)| medium.capacity_bytes).collect();
        sizes.sort_unstable();
        let size = sizes.get(sizes.len() / 2).copied();
        let distance = |medium: &Medium| {
            let sizes = medium.capacity_bytes.zip(size).filter(|(own, usual)| *own > 0 && *usual > 0);
            let ratio = sizes.map_or(0.0, |(own, usual)| (own as f64 / usual as f64).ln().abs());
            (medium.filesystem.as_deref() != usual, ratio)
        };
        let (node, medium) = known
            .into_iter()
            .max_by(|(_, a), (_, b)| distance(a).0.cmp(&distance(b).0).then(distance(a).1.total_cmp(&distance(b).1)))?;
        let (other, ratio) = distance(medium);
        (other || ratio > ALIKE.ln()).then(|| Different {
            node: &node.node,
            filesystem: medium.filesystem.as_deref(),
            capacity_bytes: medium.capacity_bytes,
            usual_filesystem: usual,
            usual_bytes: size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, filesystem: &str, bytes: u64) -> NodeCheck {
        let medium = Medium {
            filesystem: Some(filesystem.to_owned()),
            capacity_bytes: (bytes > 0).then_some(bytes),
            ..Medium::default()
        };
        NodeCheck { node: name.to_owned(), medium: Some(medium), ..NodeCheck::default() }
    }

    #[test]
    fn the_one_that_differs_most_is_found_with_what_most_have() {
        let nodes = (0..6).map(|n| node(&format!("n{n}"), "ext4", 101_000_000 + n * 100_000)).collect();
        let mut check = FleetCheck { nodes };
        assert_eq!(check.most_different(), None, "they are alike");
        check.nodes.push(node("big", "ext4", 275_000_000_000));
        let found = check.most_different().unwrap();
        assert_eq!(
            (found.node, found.capacity_bytes, found.usual_bytes),
            ("big", Some(275_000_000_000), Some(101_300_000))
        );
        check.nodes.push(node("memory", "tmpfs", 0));
        let found = check.most_different().unwrap();
        assert_eq!((found.node, found.filesystem, found.usual_filesystem), ("memory", Some("tmpfs"), Some("ext4")));
        let two = FleetCheck { nodes: check.nodes.split_off(6) };
        assert_eq!(two.most_different(), None, "either of two may be the exception");
    }

    /// As in the report: what is no medium is left out where more than half of the nodes have one.
    #[test]
    fn a_root_disk_beside_mounted_media_does_not_count() {
        let check = |points: &[&str]| {
            let node = |point: &&str| NodeCheck {
                medium: Some(Medium { mount_point: Some((*point).to_owned()), ..Medium::unknown("/mnt/card") }),
                ..NodeCheck::default()
            };
            FleetCheck { nodes: points.iter().map(node).collect() }
        };
        let fit = |check: &FleetCheck| check.nodes.iter().map(|node| check.fits(node)).collect::<Vec<_>>();
        assert_eq!(fit(&check(&["/mnt/card", "/mnt/card", "/"])), [true, true, false]);
        assert_eq!(fit(&check(&["/mnt/card", "/"])), [true, true], "no more than half are mounted");
    }

    /// Each node finds room for its own area; several on one volume may not. Cards of one model in different hosts have the same
    /// device and size.
    #[test]
    fn nodes_on_one_volume_need_room_for_all_of_them() {
        let node = |source: &str, filesystem: &str, attached: &str| NodeCheck {
            build: Build::from_words("assay 1.0"),
            medium: Some(Medium {
                filesystem: Some(filesystem.to_owned()),
                attached: Some(attached.to_owned()).filter(|attached| !attached.is_empty()),
                ..Medium::default()
            }),
            volume: Some(RemoteVolume { source: source.to_owned(), bytes: 1000 }),
            free_bytes: Some(100),
            area_bytes: Some(40),
            planned_write_bytes: Some(80),
            budget_ns: Some(1),
            ..NodeCheck::default()
        };
        let crowds = |of: (&str, &str, &str), other: (&str, &str, &str)| {
            let nodes = [of, of, other].map(|(source, filesystem, attached)| node(source, filesystem, attached));
            let check = FleetCheck::judged(nodes.to_vec(), &Build { version: "1.0".to_owned(), commit: None });
            let crowded = |node: &&NodeCheck| {
                matches!(node.unfit, Some(Unfit::Crowded { nodes: 3, needed_bytes: 120, free_bytes: 100, .. }))
            };
            check.nodes.iter().filter(crowded).count()
        };
        let nas = ("nas:/cards", "nfs4", "");
        assert_eq!(crowds(nas, nas), 3);
        assert_eq!(crowds(nas, ("other:/cards", "nfs4", "")), 0, "two areas of 40 fit into 100");
        let card = ("/dev/mmcblk0p1", "ext4", "boot-a:1");
        assert_eq!(crowds(card, card), 3, "three directories of one card");
        assert_eq!(crowds(card, ("/dev/mmcblk0p1", "ext4", "boot-b:1")), 0);
        let unknown = ("/dev/sda1", "ext4", "");
        assert_eq!(crowds(unknown, unknown), 0, "nothing says that it is one host");
    }

    #[test]
    fn nodes_on_one_disk_are_found() {
        let node = |name: &str, attached: Option<&str>| {
            let medium = Medium { attached: attached.map(str::to_owned), ..Medium::default() };
            NodeCheck { node: name.to_owned(), medium: Some(medium), ..NodeCheck::default() }
        };
        let places = [("a", Some("boot:1")), ("b", Some("boot:2")), ("c", Some("boot:1")), ("d", None), ("e", None)];
        let check = FleetCheck { nodes: places.map(|(name, attached)| node(name, attached)).to_vec() };
        let names: Vec<Vec<&str>> =
            check.same_disk().iter().map(|nodes| nodes.iter().map(|node| node.node.as_str()).collect()).collect();
        assert_eq!(names, [["a", "c"]]);
    }

    #[test]
    fn a_node_with_another_program_or_without_an_answer_is_unfit() {
        let judged = |said: &str, budget_ns| {
            let build = Build::from_words(&said.replace('/', "\ncommit "));
            let mut node = NodeCheck { build, planned_write_bytes: Some(1), budget_ns, ..NodeCheck::default() };
            node.judge(&Build { version: "1.0".to_owned(), commit: Some("abc".to_owned()) });
            node.unfit
        };
        let other = |there: &str, here: &str| {
            Some(Unfit::OtherBuild { there: format!("assay {there}"), here: format!("assay {here}") })
        };
        assert_eq!([judged("assay 1.0/abc", Some(1)), judged("assay 1.0/", Some(1))], [None, None]);
        assert_eq!(judged("assay 1.0/abc", None), Some(Unfit::Unreadable));
        assert_eq!(judged("/", Some(1)), Some(Unfit::NoProgram));
        assert_eq!(judged("assay 0.9/def", Some(1)), other("0.9", "1.0"));
        assert_eq!(judged("assay 1.0/def", Some(1)), other("1.0 of commit def", "1.0 of commit abc"));
    }
}
