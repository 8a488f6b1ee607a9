//! Runs on many nodes of which some are killed, hang, have a full disk or are cut off, and whose coordinator is killed in
//! every second round: nothing is lost, nothing counts twice, each node that is missing is named, and what is missing is
//! completed without repeating what is there.
//!
//! `ASSAY_CAMPAIGN_SEEDS` says how many rounds, or which of them (`20..30`), with 28 nodes each; a round takes from 15 to 100
//! seconds: `ASSAY_CAMPAIGN_SEEDS=200 cargo test --release -p assay --test campaign_fleet -- --nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and a campaign prints its figures

#[path = "common/mod.rs"]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_lab::SplitMix;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use common::family::{Process, assert_gone, family};
use common::{Place, assert_empty, is_root, random, suite};

/// Rounds beside each other: most of a round is waiting.
const AT_ONCE: usize = 3;
/// A node that hangs is waited for for a minute, and more than one may.
const TIMEOUT: Duration = Duration::from_secs(300);
/// In the tests of each day.
const ROUNDS: u64 = 3;
const NODES: usize = 6;
/// In a campaign.
const CLUSTER: usize = 28;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Killed,
    Hung,
    Full,
    CutOff,
}

/// What a round does, drawn by its seed.
#[derive(Debug)]
struct Round {
    seed: u64,
    nodes: usize,
    /// Nodes, with what happens to them and when, in milliseconds.
    faults: BTreeMap<usize, (Fault, u64)>,
    /// When the coordinator is killed.
    end: Option<u64>,
}

impl Round {
    fn draw(seed: u64, nodes: usize) -> Self {
        let mut dice = SplitMix::new(seed);
        // Most of the others have to be ready.
        let count = (nodes - 1) / 2;
        let mut faults = BTreeMap::new();
        while faults.len() < count.min(3) {
            let kinds = [Fault::Killed, Fault::Hung, Fault::Full, Fault::CutOff];
            let kind = kinds[dice.index(kinds.len())];
            // Others wait for a minute for one that hangs.
            let kind = if kind == Fault::Hung && nodes < CLUSTER { Fault::Killed } else { kind };
            // Mounting needs root.
            let kind = if kind == Fault::Full && !is_root() { Fault::Killed } else { kind };
            faults.insert(dice.index(nodes), (kind, dice.below(7_000)));
        }
        let end = seed.is_multiple_of(2).then(|| dice.below(8_000));
        Self { seed, nodes, faults, end }
    }
}

/// A round under way.
struct RoundUnderWay {
    round: Round,
    place: Place,
}

impl RoundUnderWay {
    fn directory(&self, node: usize) -> PathBuf {
        self.place.path().join(format!("n{node}"))
    }

    fn mount(&self, node: usize, options: &str) {
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "assay-test"]).arg(self.directory(node)).status();
        assert!(mount.unwrap().success());
    }

    fn begin(&self) -> Child {
        let nodes = (0..self.round.nodes).map(|node| format!("n{node}={}", self.directory(node).display()));
        let mut command = self.place.assay(["fleet", "run", "--via", "local", "--ready-within", "60s"]);
        command.args(nodes).args(["--", "--suite", "two.toml"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Processes of a node.
    fn processes(&self, root: u32, node: usize) -> Vec<Process> {
        let word = format!("--node\0n{node}\0");
        let is_its = |process: &Process| {
            std::fs::read_to_string(format!("/proc/{}/cmdline", process.id)).is_ok_and(|line| line.contains(&word))
        };
        family(root).into_iter().skip(1).filter(is_its).collect()
    }

    fn harm(&self, root: u32, node: usize, fault: Fault) -> Vec<Process> {
        let processes = self.processes(root, node);
        let signal = |signal| processes.iter().for_each(|process| send(process.id, signal));
        match fault {
            Fault::Killed => signal(Signal::KILL),
            Fault::Hung => {
                signal(Signal::STOP);
                return processes;
            }
            Fault::CutOff => processes.iter().for_each(|process| cut_off(process.id)),
            Fault::Full => {}
        }
        Vec::new()
    }

    /// Follows the first attempt to its end: whether the coordinator came to its own.
    fn follow(&self, mut child: Child) -> bool {
        let (begun, mut hung) = (Instant::now(), Vec::new());
        let mut waiting: Vec<(u64, Option<usize>)> =
            self.round.faults.iter().map(|(node, (_, at))| (*at, Some(*node))).collect();
        waiting.extend(self.round.end.map(|at| (at, None)));
        waiting.sort_unstable();
        let mut own = true;
        for (at, who) in waiting {
            while begun.elapsed() < Duration::from_millis(at) && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            if child.try_wait().unwrap().is_some() {
                break;
            }
            match who {
                Some(node) => hung.extend(self.harm(child.id(), node, self.round.faults[&node].0)),
                None => {
                    let nodes = family(child.id()).split_off(1);
                    send(child.id(), Signal::KILL);
                    child.wait().unwrap();
                    hung.iter().for_each(|process| send(process.id, Signal::KILL));
                    assert_gone(&nodes);
                    own = false;
                    break;
                }
            }
        }
        while child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < TIMEOUT, "{:?} hangs", self.round);
            std::thread::sleep(Duration::from_millis(20));
        }
        hung.iter().for_each(|process| send(process.id, Signal::KILL));
        assert_gone(&hung);
        own
    }

    /// The run as its file tells it.
    fn ledger(&self) -> Option<Value> {
        let list = self.place.json(["fleet", "list", "--json"]);
        list["runs"].as_array().unwrap().first().cloned()
    }

    fn records(&self) -> Vec<Record> {
        let list = self.place.json(["list", "--json"]);
        let ids = list.as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned());
        ids.map(|id| serde_json::from_value(self.place.json(["show", &id, "--json"])).unwrap()).collect()
    }

    /// Identities of the records that nodes have.
    fn recorded(ledger: &Value) -> BTreeMap<String, String> {
        let nodes = ledger["nodes"].as_array().unwrap().iter();
        let done = nodes.filter(|entry| entry["fate"]["fate"] == "recorded");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        done.map(|entry| (text(&entry["name"]), text(&entry["fate"]["id"]))).collect()
    }

    /// The whole round; what it came to in a line.
    fn play(self) -> String {
        for node in 0..self.round.nodes {
            std::fs::create_dir(self.directory(node)).unwrap();
        }
        let full: Vec<usize> =
            self.round.faults.iter().filter(|(_, (fault, _))| *fault == Fault::Full).map(|(node, _)| *node).collect();
        full.iter().for_each(|node| self.mount(*node, "size=1m"));
        // All nodes share the processors of this machine.
        let slow = |name, op| random(name, op, "300ms") + "rate = \"100 iops\"\n";
        let loads = [slow("r", "read"), slow("w", "write")];
        self.place.file("two.toml", suite("two", "30s", 2, &loads));
        let own = self.follow(self.begin());
        let first = self.ledger();
        let before = first.as_ref().map(Self::recorded).unwrap_or_default();
        if own {
            let ledger = first.as_ref().unwrap();
            for entry in ledger["nodes"].as_array().unwrap() {
                let node: usize = entry["name"].as_str().unwrap()[1..].parse().unwrap();
                let fate = entry["fate"]["fate"].as_str().unwrap_or("none");
                let fault = self.round.faults.get(&node);
                assert!(fate == "recorded" || fault.is_some(), "n{node} had no fault: {ledger}");
                assert!(fate != "recorded" || fault.is_none_or(|(fault, _)| *fault != Fault::Full), "{ledger}");
                assert_ne!(fate, "none", "n{node} is not named: {ledger}");
            }
        }
        for node in full {
            self.mount(node, "remount,size=64m");
        }
        let Some(name) = first.map(|ledger| ledger["run"].as_str().unwrap().to_owned()) else {
            return format!("{}: the coordinator was killed before it wrote anything", self.round.seed);
        };
        let mut resume = self.place.assay(["fleet", "run", "-q", "--resume", &name]);
        let output = resume.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{:?}: {said}", self.round);

        let after = Self::recorded(&self.ledger().unwrap());
        assert_eq!(after.len(), self.round.nodes, "{:?}: {said}", self.round);
        for (node, id) in &before {
            assert_eq!(after.get(node), Some(id), "{node} was there: {:?}", self.round);
        }
        let mut attempts = BTreeSet::new();
        let mut complete: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for record in self.records() {
            // What a killed node had by then is a record that never ended.
            let Some(part) = record.cluster.as_deref() else {
                assert_ne!(record.outcome, Outcome::Completed);
                continue;
            };
            assert!(attempts.insert((part.node.clone(), part.attempt)), "{} twice: {:?}", part.node, self.round);
            if record.outcome == Outcome::Completed && part.lost.is_none() {
                complete.entry(part.node.clone()).or_default().push(record.id.to_string());
            }
        }
        for (node, id) in &after {
            assert_eq!(complete.get(node), Some(&vec![id.clone()]), "{node}: {:?}", self.round);
        }
        (0..self.round.nodes).for_each(|node| assert_empty(&self.directory(node)));
        let how = if own { "ended by itself" } else { "was killed" };
        format!("{}: {} of {} at first, the coordinator {how}", self.round.seed, before.len(), self.round.nodes)
    }
}

impl Drop for RoundUnderWay {
    fn drop(&mut self) {
        for (node, (fault, _)) in &self.round.faults {
            if *fault == Fault::Full {
                let _ = Command::new("umount").arg(self.directory(*node)).stderr(Stdio::null()).status();
            }
        }
    }
}

/// Signals a process that may have ended by itself.
fn send(process: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(process.cast_signed()).unwrap(), signal);
}

/// Ends the connections of a process as the network would, where the kernel lets ss(8) do that.
fn cut_off(process: u32) {
    let Ok(links) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return };
    let sockets: BTreeSet<String> = links
        .flatten()
        .filter_map(|link| std::fs::read_link(link.path()).ok())
        .filter_map(|target| Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    for fields in table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        if fields.len() > 9 && sockets.contains(fields[9]) {
            let port = fields[1].rsplit(':').next().and_then(|port| u16::from_str_radix(port, 16).ok()).unwrap();
            let filter = format!("sport = :{port}");
            let _ = Command::new("ss").args(["-K", "-t", &filter]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

/// `ASSAY_CAMPAIGN_SEEDS`: a number, or a range like `10..20`; and how many nodes.
fn rounds() -> (Range<u64>, usize) {
    let Ok(text) = std::env::var("ASSAY_CAMPAIGN_SEEDS") else { return (0..ROUNDS, NODES) };
    let (from, to) = text.split_once("..").unwrap_or(("0", &text));
    (from.parse().unwrap()..to.parse().unwrap(), CLUSTER)
}

#[test]
fn nothing_is_lost_and_nothing_counts_twice() {
    let (seeds, nodes) = rounds();
    let (next, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let under_way = RoundUnderWay { round: Round::draw(seed, nodes), place: Place::new() };
                    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| under_way.play())) {
                        Ok(line) => println!("{line}"),
                        Err(_) => failed.lock().unwrap().push(seed),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    println!("{} rounds of {nodes} nodes, {} failed: {failed:?}", seeds.end - seeds.start, failed.len());
    assert!(failed.is_empty(), "{failed:?}");
}
