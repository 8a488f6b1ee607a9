//! The Ansible collection on a cluster of the lab: the program is put there, asked, run, and gone again.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use assay_core::record::Record;
use assay_fleet::{Build, Coordinator, Expected, MeetingRules, Mode, NotKept, RunKey};
use assay_lab::{Cluster, ClusterPlan, Lab, Missing, lab, skip};
use serde_json::Value;

use crate::common::{ASSAY, tiny_at_leisure};

/// A cluster, the collection and files on the control machine.
pub(crate) struct Fleet {
    pub(crate) cluster: Cluster,
    _lab: Lab,
}

/// What a playbook said, by the collection's own callback.
pub(crate) struct Answer {
    output: Output,
    lines: Vec<Value>,
}

pub(crate) fn root() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

pub(crate) fn is_there(program: &str) -> Result<(), Missing> {
    Command::new(program).arg("--version").output().map_err(|_| Missing(format!("needs {program}")))?;
    Ok(())
}

impl Fleet {
    pub(crate) fn new(nodes: usize) -> Result<Self, Missing> {
        Self::of(&ClusterPlan::with_nodes(nodes))
    }

    pub(crate) fn of(plan: &ClusterPlan<'_>) -> Result<Self, Missing> {
        is_there("ansible-playbook")?;
        let lab = Lab::share()?;
        let fleet = Self { cluster: Cluster::new(plan)?, _lab: lab };
        for directory in ["control", "binaries", "records"] {
            fs::create_dir(fleet.file(directory)).unwrap();
        }
        fs::write(fleet.file("tiny.toml"), tiny_at_leisure()).unwrap();
        // Nothing may need Python on a node: routers have none.
        let mut variables = "ansible_python_interpreter=/nonexistent\n".to_owned();
        for (name, file) in [("binaries", "binaries"), ("records", "records"), ("suite", "tiny.toml")] {
            writeln!(variables, "assay_{name}={}", fleet.file(file).display()).unwrap();
        }
        fleet.change_inventory(|inventory| inventory + &variables);
        Ok(fleet)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.cluster.directory().join(name)
    }

    pub(crate) fn change_inventory(&self, change: impl FnOnce(String) -> String) {
        let inventory = fs::read_to_string(self.cluster.inventory()).unwrap();
        fs::write(self.cluster.inventory(), change(inventory)).unwrap();
    }

    /// The program under test, without what a debugger needs, as what a user has for this architecture.
    pub(crate) fn offer_program(&self) {
        let there = self.file("binaries").join(format!("assay-{}", std::env::consts::ARCH));
        let stripped = Command::new("strip").arg("-o").arg(&there).arg(ASSAY).status();
        if !stripped.is_ok_and(|status| status.success()) {
            fs::copy(ASSAY, &there).unwrap();
        }
    }

    /// A script in its place, which says on a node what it was given.
    fn offer_script(&self, script: &str) {
        let there = self.file("binaries").join(format!("assay-{}", std::env::consts::ARCH));
        fs::write(&there, format!("#!/bin/sh\n{script}")).unwrap();
    }

    fn command(&self, playbook: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = self.cluster.control().command("ansible-playbook");
        command
            .env("ANSIBLE_COLLECTIONS_PATH", root().join("fleet"))
            .env("ANSIBLE_STDOUT_CALLBACK", "assay.fleet.jsonl")
            .env("HOME", self.file("control"))
            .env("LC_ALL", "C.UTF-8")
            .env_remove("ANSIBLE_CONFIG")
            .args(["--forks", "28", "-i"])
            .arg(self.cluster.inventory())
            .arg(format!("assay.fleet.{playbook}"));
        for (name, value) in variables {
            command.arg("-e").arg(serde_json::json!({ *name: value }).to_string());
        }
        command
    }

    pub(crate) fn play(&self, playbook: &str, variables: &[(&str, &str)]) -> Answer {
        let output = self.command(playbook, variables).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let read = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}\n{text}"));
        let lines = text.lines().map(read).collect();
        Answer { output, lines }
    }

    /// Records that were brought home, by node.
    fn records(&self, node: &str) -> Vec<Record> {
        let files = fs::read_dir(self.file("records")).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<PathBuf> = files.filter(|path| is_of(path, node)).collect();
        files.sort();
        files.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
    }
}

/// Whether a process has the text among its arguments.
fn stands_on_a_command_line(text: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.windows(text.len()).any(|part| part == text.as_bytes()))
}

fn is_of(path: &Path, node: &str) -> bool {
    path.file_name().unwrap().to_string_lossy().starts_with(&format!("{node}-"))
}

impl Answer {
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert!(self.output.status.success(), "{}", self.text());
        self
    }

    fn text(&self) -> String {
        format!("{}\n{}", String::from_utf8_lossy(&self.output.stdout), String::from_utf8_lossy(&self.output.stderr))
    }

    fn results<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Value> {
        self.lines.iter().filter(move |line| line["event"] == "result" && line["node"] == node)
    }

    /// What the role says of a node.
    #[track_caller]
    fn fact<'a>(&'a self, node: &'a str, name: &str) -> &'a Value {
        let said = self.results(node).map(|line| &line["facts"][name]).find(|fact| !fact.is_null());
        said.unwrap_or_else(|| panic!("no {name} of {node}: {}", self.text()))
    }

    /// How a task ended on a node.
    #[track_caller]
    fn status<'a>(&'a self, node: &'a str, task: &str) -> &'a str {
        let line = self.results(node).find(|line| line["task"].as_str().is_some_and(|name| name.ends_with(task)));
        line.unwrap_or_else(|| panic!("no {task} on {node}: {}", self.text()))["status"].as_str().unwrap()
    }

    /// What ended a node.
    #[track_caller]
    fn ended<'a>(&'a self, node: &'a str) -> (&'a str, &'a str) {
        let line = self.results(node).find(|line| matches!(line["status"].as_str(), Some("failed" | "unreachable")));
        let line = line.unwrap_or_else(|| panic!("{node} did not fail: {}", self.text()));
        (line["status"].as_str().unwrap(), line["message"].as_str().unwrap())
    }
}

const NODES: [&str; 3] = ["n1", "n2", "n3"];

#[test]
fn three_nodes_are_checked_measured_collected_and_left_as_they_were() {
    let fleet = lab!("three_nodes_are_checked_measured_collected_and_left_as_they_were", Fleet::new(3));
    fleet.offer_program();

    let check = fleet.play("check", &[]).succeeded();
    for (number, node) in (1..).zip(NODES) {
        let report = check.fact(node, "node_report");
        assert_eq!(check.status(node, "Put it into its place"), "ok");
        assert_eq!(report["version"], format!("assay {}", env!("CARGO_PKG_VERSION")));
        assert_eq!(report["machine"], std::env::consts::ARCH);
        assert_eq!(report["slot"], format!("slot-{number}"));
        assert!(report["target_free_bytes"].as_u64().unwrap() > 0, "{report}");
        assert!(report["medium"]["kind"].is_string(), "{report}");
    }

    // The program is there.
    let run = fleet.play("run", &[("assay_run", "r1")]).succeeded();
    for node in NODES {
        assert_eq!(run.status(node, "Put it into its place"), "skipped");
        assert_eq!(run.fact(node, "node_result")["run"], "r1");
    }

    let collected = fleet.play("collect", &[("assay_run", "r1")]).succeeded();
    for (number, node) in (1..).zip(NODES) {
        let records = fleet.records(node);
        assert_eq!(records.len(), 1, "{}", collected.text());
        let record = &records[0];
        assert_eq!(run.fact(node, "node_result")["record"], record.id.as_str());
        let labels = |name: &str| record.labels.get(name).map(String::as_str);
        let (unit, slot) = (format!("unit-{number}"), format!("slot-{number}"));
        assert_eq!([labels("unit"), labels("slot")], [Some(&*unit), Some(&*slot)]);
        assert_eq!([labels("fleet"), labels("node")], [Some("r1"), Some(node)]);
        assert_eq!(record.host.hostname.as_deref(), Some(node));
        assert_eq!(record.suite.name, "tiny");
    }
    // They are at home, and another run has none.
    let again = fleet.play("collect", &[("assay_run", "r1")]).succeeded();
    assert!(NODES.iter().all(|node| again.fact(node, "node_collected")["brought"] == Value::Array(Vec::new())));
    let other = fleet.play("collect", &[("assay_run", "r2")]);
    assert!(NODES.iter().all(|node| other.ended(node) == ("failed", &*format!("no record of r2 on {node}"))));

    // Records are somebody's data: they stay until they are told to go.
    fleet.play("clean", &[]).succeeded();
    for node in fleet.cluster.nodes() {
        let mut there: Vec<_> =
            fs::read_dir(node.home().join(".assay-fleet")).unwrap().map(|file| file.unwrap().file_name()).collect();
        there.sort();
        assert_eq!(there, [".assay-fleet", "data"]);
    }
    fleet.play("clean", &[("assay_remove_records", "true")]).succeeded();
    for node in fleet.cluster.nodes() {
        for place in [node.home(), node.target().to_owned()] {
            assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "{}", place.display());
        }
    }
}

#[test]
fn a_node_that_fails_is_named_and_the_others_finish() {
    let fleet = lab!("a_node_that_fails_is_named_and_the_others_finish", Fleet::new(3));
    fleet.offer_program();
    // Nobody has the address of n4; n2 gets a program for another machine; n3 has no medium.
    let wrong = fleet.file("wrong");
    fs::create_dir(&wrong).unwrap();
    fs::write(wrong.join(format!("assay-{}", std::env::consts::ARCH)), b"\x7fELF\x02\x01\x01").unwrap();
    let target = fleet.cluster.nodes()[2].target().display().to_string();
    let others = format!("n4 ansible_host=10.77.0.200 assay_target=/\nn2 assay_binaries={} ", wrong.display());
    fleet.change_inventory(|inventory| inventory.replace("n2 ", &others).replace(&target, "/nonexistent"));
    let run = fleet.play("run", &[("assay_run", "r1")]);
    assert!(!run.output.status.success());
    assert_eq!(run.fact("n1", "node_result")["exit"], "0", "{}", run.text());
    let (status, message) = run.ended("n2");
    assert!(status == "failed" && message.starts_with("assay: the program does not run on"), "{message}");
    let (status, message) = run.ended("n3");
    assert!(status == "failed" && message.starts_with("exit code 2, usage or bad input: assay: "), "{message}");
    assert_eq!(run.ended("n4").0, "unreachable");
}

/// The program's place is taken by a script, which tells what it was given.
#[test]
fn a_key_is_in_the_environment_of_the_program_and_on_no_command_line() {
    const TEST: &str = "a_key_is_in_the_environment_of_the_program_and_on_no_command_line";
    let fleet = lab!(TEST, Fleet::new(2));
    fleet.offer_script(
        "case $1 in -V) echo \"assay 0\"; exit ;; esac\n\
         echo \"$ASSAY_FLEET_KEY\" > \"$HOME/key\"; echo \"$*\" > \"$HOME/words\"; sleep 1\n\
         echo '{'; echo '  \"id\": \"0123456789\",'\n",
    );
    let key = "5ec2e7".repeat(11)[..64].to_owned();
    let file = fleet.file("key");
    fs::write(&file, &key).unwrap();
    let variables =
        [("assay_run", "r1"), ("assay_rendezvous", "10.77.0.1:4711"), ("assay_key_file", &*file.to_string_lossy())];
    let ended = AtomicBool::new(false);
    let (run, seen) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut seen = false;
            while !ended.load(Ordering::Relaxed) {
                seen |= stands_on_a_command_line(&key);
            }
            seen
        });
        let run = fleet.play("run", &variables);
        ended.store(true, Ordering::Relaxed);
        (run, watch.join().unwrap())
    });
    let run = run.succeeded();
    assert!(!seen, "the key stood on a command line");
    assert!(!run.text().contains(&key), "{}", run.text());
    for node in fleet.cluster.nodes() {
        let file_of = |name: &str| fs::read_to_string(node.home().join(name)).unwrap().trim().to_owned();
        assert_eq!(file_of("key"), key);
        let words = file_of("words");
        let asked = format!("--rendezvous 10.77.0.1:4711 --node {} --fleet-run r1", node.name());
        assert!(words.starts_with("run ") && words.contains(&asked) && words.ends_with("--quiet --json"), "{words}");
        assert_eq!(run.fact(node.name(), "node_result")["record"], "0123456789");
        assert!(!node.home().join(".assay-fleet/key").exists());
    }
    // All have to be there at once.
    let mut few = fleet.command("run", &variables);
    few.args(["--forks", "1"]);
    let output = few.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 nodes need --forks 2"));
}

#[test]
fn nodes_meet_at_a_rendezvous_and_what_was_pushed_is_not_fetched() {
    const TEST: &str = "nodes_meet_at_a_rendezvous_and_what_was_pushed_is_not_fetched";
    let fleet = lab!(TEST, Fleet::new(3));
    fleet.offer_program();
    let key = RunKey::new().unwrap();
    let expected = Expected {
        run: "r1".to_owned(),
        key: key.clone(),
        build: Build { version: env!("CARGO_PKG_VERSION").to_owned(), commit: None },
        nodes: NODES.map(|node| (node.to_owned(), 1)).to_vec(),
        rules: MeetingRules::new(Mode::Simultaneous, 3),
        settled: None,
    };
    let pushed: Arc<Mutex<Vec<Record>>> = Arc::default();
    let keep = Arc::clone(&pushed);
    let keep = Box::new(move |_, document: &[u8]| {
        let record: Record = serde_json::from_slice(document).map_err(|e| e.to_string())?;
        let id = record.id.clone();
        // The last one is lost on its way.
        let mut kept = keep.lock().unwrap();
        if kept.len() == 2 {
            return Err("no space".to_owned().into());
        }
        kept.push(record);
        Ok::<_, NotKept>(id)
    });
    let address: SocketAddr = format!("{}:0", fleet.cluster.control_address()).parse().unwrap();
    let (coordinator, _happenings) =
        fleet.cluster.control().enter(|| Coordinator::listen(address, expected, keep)).unwrap().unwrap();

    // Each node gets its own.
    let keys = fleet.file("keys");
    fs::create_dir(&keys).unwrap();
    NODES.iter().for_each(|node| fs::write(keys.join(node), key.of_node(node).to_hex()).unwrap());
    let file = keys.join("{{ inventory_hostname }}");
    let address = coordinator.endpoint().to_string();
    let run = fleet.play(
        "run",
        &[("assay_run", "r1"), ("assay_rendezvous", &*address), ("assay_key_file", &*file.to_string_lossy())],
    );
    let run = run.succeeded();
    let pushed = pushed.lock().unwrap();
    assert_eq!(pushed.len(), 2, "{}", run.text());
    for record in pushed.iter() {
        let part = record.cluster.as_ref().unwrap();
        assert_eq!(part.run, "r1");
        assert_eq!(run.fact(&part.node, "node_result")["record"], record.id.as_str());
    }
    // What is at home is no text of Ansible's but a list.
    let ids: Vec<&str> = pushed.iter().map(|record| record.id.as_str()).collect();
    let have = serde_json::json!({ "assay_have": ids }).to_string();
    let mut collect = fleet.command("collect", &[("assay_run", "r1")]);
    assert!(collect.args(["-e", &have]).status().unwrap().success());
    let fetched: Vec<Record> = NODES.iter().flat_map(|node| fleet.records(node)).collect();
    assert_eq!(fetched.len(), 1);
    assert!(!ids.contains(&fetched[0].id.as_str()) && fetched[0].cluster.is_some());
}

#[test]
fn the_collection_passes_the_lints_for_production() {
    if let Err(missing) = is_there("ansible-lint") {
        return skip("the_collection_passes_the_lints_for_production", &missing);
    }
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("ansible-lint")
        // Newer versions of it know 2.14, which Debian 12 has, for too old.
        .args(["--offline", "-q", "--nocolor", "--profile", "production"])
        .args(["--skip-list", "meta-runtime[unsupported-version]"])
        .current_dir(root().join("fleet/ansible_collections/assay/fleet"))
        .env("HOME", home.path())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
