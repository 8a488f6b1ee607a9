//! Runs by ssh on cards of a known truth: loop devices that the kernel limits, one on each node of a cluster of name spaces.
//!
//! `ASSAY_NODES=28 ASSAY_RUNS=2` makes the cluster of the articles, and repeats what is slow so often:
//! `ASSAY_NODES=28 ASSAY_RUNS=2 cargo test -p assay --test it ssh_cards:: -- --nocapture --test-threads=1`.

use std::process::{Command, Output};

use assay_core::record::Record;
use assay_lab::{Cluster, ClusterPlan, Lab, LimitedCard, Limits, Missing, NodePlan, lab};
use serde_json::Value;

use crate::common::family::{Process, assert_gone, family, wait_for};
use crate::common::{ASSAY, assert_empty, fate, node, random, suite};

const MB: f64 = 1e6;

fn from_environment(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What a card does: bytes and operations a second in reading, and in writing.
#[derive(Debug, Clone, Copy)]
struct Card {
    read: (f64, f64),
    write: (f64, f64),
}

impl Card {
    /// A card of the usual speed, so many times as fast in reading and in writing.
    fn times(read: f64, write: f64) -> Self {
        Self { read: (20.0 * MB * read, 800.0 * read), write: (8.0 * MB * write, 300.0 * write) }
    }

    fn limits(self) -> Limits {
        let whole = |value: f64| Some(value as u64);
        Limits {
            read_bytes: whole(self.read.0),
            read_iops: whole(self.read.1),
            write_bytes: whole(self.write.0),
            write_iops: whole(self.write.1),
        }
    }
}

/// Nodes with a card each. The cluster goes before the cards, whose mounts its name spaces hold.
struct Rig {
    cluster: Cluster,
    _cards: Vec<LimitedCard>,
}

impl Rig {
    fn new(nodes: usize, card: impl Fn(usize) -> Card) -> Result<Self, Missing> {
        let cards: Vec<LimitedCard> =
            (0..nodes).map(|at| LimitedCard::new(64 << 20, card(at).limits())).collect::<Result<_, _>>()?;
        let plan = cards.iter().zip(1..).map(|(card, n)| NodePlan::on(&format!("n{n}"), card)).collect();
        let cluster = Cluster::new(&ClusterPlan { nodes: plan, uplink: None })?;
        Ok(Self { cluster, _cards: cards })
    }

    fn assay(&self, words: &[&str]) -> Command {
        let mut command = self.cluster.command(ASSAY);
        command.env("ASSAY_DATA", self.cluster.directory().join("here")).env("HOME", self.cluster.directory());
        command.args(words);
        command
    }

    fn json(&self, words: &[&str]) -> (Value, Output) {
        let output = self.assay(words).output().unwrap();
        let said = || format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said())), output)
    }

    /// `NAME=TARGET` of each node.
    fn nodes(&self) -> Vec<String> {
        let named = |node: &assay_lab::Node| format!("{}={}", node.name(), node.target().display());
        self.cluster.nodes().iter().map(named).collect()
    }

    /// Measures all nodes; the report as a document and as a text.
    fn measured(&self, suite: &str, more: &[&str]) -> (Value, String) {
        let nodes = self.nodes();
        let mut words = vec!["fleet", "run", "--json", "--program", ASSAY];
        words.extend(nodes.iter().map(String::as_str));
        words.extend(["--", "--suite", suite, "--label", "model=X"]);
        words.extend(more);
        let (ran, output) = self.json(&words);
        assert!(output.status.success(), "{ran}\n{}", String::from_utf8_lossy(&output.stderr));
        let report = self.json(&["fleet", "report", "--json"]).0;
        let text = self.assay(&["fleet", "report"]).output().unwrap();
        (report, String::from_utf8_lossy(&text.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Nothing of a run is on a node, neither files nor processes.
    fn assert_nothing_left(&self) {
        for node in self.cluster.nodes() {
            assert_empty(node.target());
            assert_empty(&node.home());
            assert_empty(&node.temporary());
            assert!(!node.data().exists(), "{}", node.data().display());
            assert_gone(&agents(node));
        }
    }

    /// The names of the nodes with these numbers.
    fn names(report: &Value, numbers: &Value) -> Vec<String> {
        let of =
            |number: &Value| report["nodes"][number.as_u64().unwrap() as usize]["node"].as_str().unwrap().to_owned();
        let mut names: Vec<String> = numbers.as_array().unwrap().iter().map(of).collect();
        names.sort();
        names
    }
}

/// Processes of `assay run` on a node of this cluster: other tests have nodes of the same name.
fn agents(node: &assay_lab::Node) -> Vec<Process> {
    let (name, target) = (format!("--node\0{}\0", node.name()), node.target().display().to_string());
    let is_agent = |process: &Process| {
        let line = std::fs::read_to_string(format!("/proc/{}/cmdline", process.id));
        line.is_ok_and(|line| line.contains(&name) && line.contains(&target))
    };
    family(1).into_iter().filter(is_agent).collect()
}

/// Reads and writes for twenty seconds, in loads that a slow card does.
const LOADS: &str = "name = \"cards\"\nversion = 1\npurpose = \"a test\"\nbudget = \"24s\"\nmax_write = \"160MiB\"\nrepeats = 3\n\
    span = \"16MiB\"\n\
    [[workload]]\nname = \"sr\"\nop = \"read\"\npattern = \"sequential\"\nblock = \"256KiB\"\nqueue_depth = 4\n\
    [[workload]]\nname = \"rr\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = 4\n\
    [[workload]]\nname = \"sw\"\nop = \"write\"\npattern = \"sequential\"\nblock = \"256KiB\"\nqueue_depth = 4\n\
    [[workload]]\nname = \"rw\"\nop = \"write\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = 4\n";

/// The suite `smoke` left random writes out on most nodes.
#[test]
fn five_seconds_are_enough_for_each_load_on_each_node() {
    let name = "five_seconds_are_enough_for_each_load_on_each_node";
    let _lab = lab!(name, Lab::share());
    let slow = Card { read: (10.0 * MB, 300.0), write: (1.0 * MB, 25.0) };
    let rig = lab!(name, Rig::new(from_environment("ASSAY_NODES", 6), |_| slow));
    for _ in 0..from_environment("ASSAY_RUNS", 1) {
        let (report, text) = rig.measured("smoke", &[]);
        let loads = report["loads"].as_array().unwrap();
        let nodes = rig.cluster.nodes().len();
        for load in loads {
            let measured = load["figures"].as_array().unwrap().iter().filter(|figure| !figure.is_null()).count();
            assert_eq!(measured, nodes, "{}: {text}", load["title"]);
        }
        assert_eq!(loads.len(), 4, "{loads:?}");
        assert!(!text.contains("was not measured"), "{text}");
        eprintln!("{text}\n");
    }
    rig.assert_nothing_left();
}

#[test]
fn a_card_that_is_slow_is_named_and_no_other() {
    let name = "a_card_that_is_slow_is_named_and_no_other";
    let (nodes, runs) = (from_environment("ASSAY_NODES", 6), from_environment("ASSAY_RUNS", 1));
    let all = [("reads", 0.4, 1.0), ("writes", 1.0, 0.4), ("both", 0.4, 0.4)];
    // Each kind takes half a minute, and the tests of each day have one.
    let kinds = if std::env::var_os("ASSAY_RUNS").is_some() { &all[..] } else { &all[1..2] };
    for (kind, read, write) in kinds {
        let _lab = lab!(name, Lab::share());
        let slow = nodes / 2;
        let rig = lab!(
            name,
            Rig::new(nodes, |at| if at == slow { Card::times(*read, *write) } else { Card::times(1.0, 1.0) })
        );
        let suite = rig.cluster.directory().join("cards.toml");
        std::fs::write(&suite, LOADS).unwrap();
        for run in 0..runs {
            let (report, text) = rig.measured(&suite.display().to_string(), &[]);
            eprintln!("{kind} {run}: {text}\n");
            let odd: Vec<&str> = report["odd"]["odd"]
                .as_array()
                .unwrap()
                .iter()
                .map(|odd| &odd["node"])
                .map(|number| report["nodes"][number.as_u64().unwrap() as usize]["node"].as_str().unwrap())
                .collect();
            assert_eq!(odd, [format!("n{}", slow + 1)], "{kind}: {text}");
            let at = report["odd"]["odd"][0]["at"].as_array().unwrap();
            let loads = |of: &str| at.iter().filter(|at| at["title"].as_str().unwrap().contains(of)).count();
            assert_eq!(loads("read") > 0, *read < 1.0, "{kind}: {text}");
            assert_eq!(loads("write") > 0, *write < 1.0, "{kind}: {text}");
            assert!(report["odd"]["groups"].as_array().unwrap().is_empty(), "{kind}: {text}");
        }
        rig.assert_nothing_left();
    }
}

/// Five of fourteen nodes at three quarters, and the report said that none is odd.
#[test]
fn two_kinds_of_cards_are_two_groups() {
    let name = "two_kinds_of_cards_are_two_groups";
    let _lab = lab!(name, Lab::share());
    let nodes = from_environment("ASSAY_NODES", 8);
    let of_other_kind = |at: usize| at % 14 % 3 == 1;
    // Where a seventh node is far from the others, few nodes tell less.
    let ratio = if nodes >= 14 { 0.75 } else { 0.5 };
    let rig = lab!(name, Rig::new(nodes, |at| Card::times(1.0, if of_other_kind(at) { ratio } else { 1.0 })));
    let suite = rig.cluster.directory().join("cards.toml");
    std::fs::write(&suite, LOADS).unwrap();
    for run in 0..from_environment("ASSAY_RUNS", 1) {
        let (report, text) = rig.measured(&suite.display().to_string(), &[]);
        eprintln!("{run}: {text}\n");
        let mut expected: Vec<String> =
            (0..nodes).filter(|at| of_other_kind(*at)).map(|at| format!("n{}", at + 1)).collect();
        expected.sort();
        let groups = report["odd"]["groups"].as_array().unwrap();
        assert!(!groups.is_empty() && text.contains("the nodes form two groups under "), "{text}");
        assert!(report["odd"]["odd"].as_array().unwrap().is_empty() && !text.contains("none is odd"), "{text}");
        for two in groups {
            assert!(two["title"].as_str().unwrap().contains("write"), "{two}");
            assert_eq!(Rig::names(&report, &two["low"]), expected, "{two}");
            assert!((two["ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 0.15, "{two}");
        }
    }
    rig.assert_nothing_left();
}

/// The store of a node whose program was killed stayed there, and no command found it.
#[test]
fn what_a_killed_node_left_is_found_and_removed() {
    let name = "what_a_killed_node_left_is_found_and_removed";
    let _lab = lab!(name, Lab::share());
    let rig = lab!(name, Rig::new(3, |_| Card::times(1.0, 1.0)));
    let slow = |name, op| random(name, op, "500ms") + "rate = \"50 iops\"\n";
    let text = suite("slow", "60s", 4, &[slow("r", "read"), slow("w", "write")]);
    let file = rig.cluster.directory().join("slow.toml");
    std::fs::write(&file, text).unwrap();
    let nodes = rig.nodes();
    let mut words = vec!["fleet", "run", "--json", "--quorum", "2", "--program", ASSAY];
    words.extend(nodes.iter().map(String::as_str));
    let file = file.display().to_string();
    words.extend(["--", "--suite", &file]);
    let coordinator = rig.assay(&words).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let killed = &rig.cluster.nodes()[1];
    let stores = killed.data().join("nodes");
    // The first repeat is in its store then.
    let begun =
        || agents(killed).len() > 1 && stores.is_dir() && std::fs::read_dir(killed.target()).unwrap().count() > 1;
    wait_for("n2 measures", begun);
    std::thread::sleep(std::time::Duration::from_secs(3));
    for agent in agents(killed) {
        let pid = rustix::process::Pid::from_raw(agent.id.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let output = coordinator.wait_with_output().unwrap();
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&fate(&ran, "n1")["fate"], &fate(&ran, "n2")["fate"]), (&"recorded".into(), &"lost".into()), "{ran}");
    let stays = |of: &std::path::Path| std::fs::read_dir(of).unwrap().flatten().any(|e| e.file_name() != "lost+found");
    assert!(stays(killed.target()) && stays(&stores), "it was killed");

    let clean = |more: &[&str]| {
        let mut words = vec!["fleet", "clean", "--json", "--program", ASSAY];
        words.extend(more);
        words.extend(nodes.iter().map(String::as_str));
        let (cleaned, output) = rig.json(&words);
        assert!(output.status.success(), "{cleaned}");
        cleaned
    };
    // A user who forgets where the program is reads what mends it.
    let words: Vec<&str> = ["fleet", "clean"].into_iter().chain(nodes.iter().map(String::as_str)).collect();
    let forgotten = rig.assay(&words).output().unwrap();
    let said = String::from_utf8_lossy(&forgotten.stdout).into_owned();
    assert_eq!(forgotten.status.code(), Some(4), "{said}");
    assert_eq!(said.matches("no assay there: ").count(), 3, "{said}");
    assert!(said.contains("; --program PATH says where it is"), "{said}");

    let first = clean(&[]);
    let removed = |of: &Value, name: &str| node(of, name)["removed"].to_string();
    assert!(removed(&first, "n2").contains("test files of a run that was killed"), "{first}");
    assert!(removed(&first, "n2").contains("the store of a node that was killed"), "{first}");
    assert_eq!((removed(&first, "n1"), removed(&first, "n3")), ("[]".to_owned(), "[]".to_owned()), "{first}");
    assert!(node(&first, "n2")["kept"].as_str().unwrap().starts_with("1 record in "), "{first}");
    assert_empty(killed.target());
    assert!(!stores.exists() && killed.data().exists());
    let again = clean(&[]);
    assert_eq!(removed(&again, "n2"), "[]", "{again}");
    let all = clean(&["--records"]);
    assert!(removed(&all, "n2").contains("1 record") && node(&all, "n2")["kept"] == "", "{all}");
    rig.assert_nothing_left();
    // What was brought here stays.
    let id = fate(&ran, "n1")["id"].as_str().unwrap();
    let here: Record = serde_json::from_value(rig.json(&["show", id, "--json"]).0).unwrap();
    assert_eq!(here.host.hostname.as_deref(), Some("n1"));
}
