//! One cluster, measured through each launcher: the same records, the node with the slow card is the one that is named, and
//! nothing is left behind. `ASSAY_FLEET_NODES=28 ASSAY_FLEET_RUNS=20` sets the number of nodes, and of runs by each launcher. Then
//! no other node may be named, so the machine must be idle. `ASSAY_FLEET_SLOW=reads|writes|both` selects what the slow card is
//! slow at.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use assay_lab::{ClusterPlan, LimitedCard, Limits, Missing, NodePlan, Slurm, lab, skip};
use serde_json::Value;

use crate::collection::Fleet;
use crate::common::{ASSAY, fate, random, suite};

const CARD_BYTES: u64 = 48 << 20;
/// What every card does, and the reads and writes of a slow one.
const GOOD: Limits = Limits { read_iops: Some(150), write_iops: Some(80), read_bytes: None, write_bytes: None };
const SLOW_READS: u64 = 60;
const SLOW_WRITES: u64 = 32;
/// Loop devices report no model, and nodes without a model are not compared.
const MODEL: &str = "model=card of the lab";

fn asked(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |count| count.parse().unwrap())
}

/// What the slow card is slow at.
fn slow_in() -> &'static [&'static str] {
    match std::env::var("ASSAY_FLEET_SLOW").as_deref() {
        Ok("reads") => &["read"],
        Ok("both") => &["read", "write"],
        Ok("writes") | Err(_) => &["write"],
        Ok(other) => panic!("ASSAY_FLEET_SLOW={other}"),
    }
}

/// `count` cards, the one in the middle slow, and the number of that card, counted from 1.
fn cards(count: usize) -> Result<(Vec<LimitedCard>, usize), Missing> {
    let slow = count / 2 + 1;
    let of_slow = Limits {
        read_iops: if slow_in().contains(&"read") { Some(SLOW_READS) } else { GOOD.read_iops },
        write_iops: if slow_in().contains(&"write") { Some(SLOW_WRITES) } else { GOOD.write_iops },
        ..GOOD
    };
    let limits = |number| if number == slow { of_slow } else { GOOD };
    let cards: Result<Vec<_>, _> = (1..=count).map(|number| LimitedCard::new(CARD_BYTES, limits(number))).collect();
    Ok((cards?, slow))
}

fn run(fleet: &Fleet, mut command: Command, words: &[&str]) -> Value {
    let directory = fleet.cluster.directory();
    for part in ["tmp", "control"] {
        fs::create_dir_all(directory.join(part)).unwrap();
    }
    command
        .env("HOME", directory.join("control"))
        .env("ASSAY_DATA", directory.join("control/data"))
        .env("TMPDIR", directory.join("tmp"))
        .env_remove("ANSIBLE_CONFIG")
        .args(words);
    printed(&command.output().unwrap())
}

#[track_caller]
fn printed(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Who is named odd in a run, and under which loads.
fn odd(fleet: &Fleet, printed: &Value) -> Vec<(String, Vec<String>)> {
    let run_id = printed["run"]["run"].as_str().unwrap();
    let command = fleet.cluster.control().command(ASSAY);
    let report = run(fleet, command, &["fleet", "report", run_id, "--json"]);
    let name = |odd: &Value| {
        let node = usize::try_from(odd["node"].as_u64().unwrap()).unwrap();
        report["nodes"][node]["node"].as_str().unwrap().to_owned()
    };
    let at = |odd: &Value| {
        let loads = odd["at"].as_array().unwrap().iter();
        loads.map(|at| at["title"].as_str().unwrap().to_owned()).collect()
    };
    report["odd"]["odd"].as_array().unwrap().iter().map(|odd| (name(odd), at(odd))).collect()
}

/// And nobody else, where the machine has nothing else to do: what disturbs a node for longer than the others is seen, too.
#[track_caller]
/// Whether the slow one is named. Beside other tests, which take the processors of nodes in turns, a run may leave it unnamed.
fn the_slow_one_is_named(fleet: &Fleet, printed: &Value, slow: &str) -> bool {
    let odd = odd(fleet, printed);
    let names: Vec<&str> = odd.iter().map(|(name, _)| name.as_str()).collect();
    let loads = odd.iter().find(|(name, _)| name == slow).map(|(_, loads)| loads);
    let named = loads.is_some_and(|loads| slow_in().iter().all(|what| loads.iter().any(|load| load.contains(what))));
    if is_asked("ASSAY_FLEET_NODES") {
        assert!(named && names == [slow], "{odd:?}");
    } else if names != [slow] {
        eprintln!("named: {odd:?}");
    }
    named
}

fn is_asked(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// What differs by launcher, and what is there or not by what a run met.
const APART: [&str; 7] =
    [".host", ".cluster.clock", ".labels.unit", ".labels.slot", ".warnings", ".sensors", ".validity"];

/// Of each node, by its number: the paths in its record, and values that are the same whoever launched it.
fn shapes(fleet: &Fleet, printed: &Value, prefix: &str, nodes: usize) -> Vec<BTreeSet<String>> {
    let shape = |number| {
        let id = fate(printed, &format!("{prefix}{number}"))["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{printed}"))
            .to_owned();
        let record = run(fleet, fleet.cluster.control().command(ASSAY), &["show", &id, "--json"]);
        let mut shape = BTreeSet::new();
        collect(&record, "", &mut shape);
        shape.retain(|path| !APART.iter().any(|apart| path.starts_with(apart)) && !path.contains(".warnings[]"));
        let mut same = |name: &str, value: &Value| shape.insert(format!("{name}: {value}"));
        for name in ["suite", "tool", "outcome"] {
            same(name, &record[name]);
        }
        same("file system", &record["medium"]["filesystem"]);
        for name in ["budget_ns", "repeats", "planned_write_bytes", "suite_text", "direct_alignment_bytes"] {
            same(name, &record["settings"][name]);
        }
        for measurement in record["measurements"].as_array().unwrap() {
            // Bytes that may still be written depend on how fast the layout before was.
            let mut workload = measurement["workload"].clone();
            workload["stop"]["max_bytes"] = workload["stop"]["max_bytes"].is_u64().into();
            same("workload", &workload);
            same("repeats", &measurement["repeats"].as_array().unwrap().len().into());
        }
        shape
    };
    (1..=nodes).map(shape).collect()
}

#[track_caller]
fn are_the_same(ours: &[BTreeSet<String>], theirs: &[BTreeSet<String>]) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        let apart: Vec<&String> = ours.symmetric_difference(theirs).collect();
        assert!(apart.is_empty(), "{apart:#?}");
    }
    assert_eq!(ours.len(), theirs.len());
}

/// The paths of a document, each element of a list under the same one.
fn collect(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(value, &format!("{path}.{name}"), paths))
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, &format!("{path}[]"), paths)),
        Value::Null => {}
        _ => drop(paths.insert(path.to_owned())),
    }
}

#[test]
fn one_cluster_by_each_launcher_gives_the_same_records_and_names_the_slow_card() {
    let name = "one_cluster_by_each_launcher_gives_the_same_records_and_names_the_slow_card";
    let (count, runs) = (asked("ASSAY_FLEET_NODES", 6), asked("ASSAY_FLEET_RUNS", 1));
    let (cards, slow) = lab!(name, cards(count));
    let nodes = cards.iter().zip(1..).map(|(card, number)| NodePlan::on(&format!("n{number}"), card)).collect();
    let fleet = lab!(name, Fleet::of(&ClusterPlan { nodes, uplink: None }));
    fleet.offer_program();
    let workloads = [random("read", "read", "1s"), random("write", "write", "1s")];
    fs::write(fleet.file("tiny.toml"), suite("two", "60s", 3, &workloads)).unwrap();
    let (file, inventory) =
        (fleet.file("tiny.toml").display().to_string(), fleet.cluster.inventory().display().to_string());

    let (mut by_ansible, mut by_ssh) = (Value::Null, Value::Null);
    let mut named = false;
    for number in 1..=runs {
        let command = fleet.cluster.control().command(ASSAY);
        by_ansible = run(&fleet, command, &["fleet", "run", "-i", &inventory, "--json", "--", "--label", MODEL]);
        let is_named = the_slow_one_is_named(&fleet, &by_ansible, &format!("n{slow}"));
        named |= is_named;
        eprintln!("{number} of {runs} by Ansible: {count} records, n{slow} is odd: {is_named}");
    }

    let program = fleet.file("binaries").join(format!("assay-{}", std::env::consts::ARCH)).display().to_string();
    let target = |prefix: &str, number: usize| format!("{prefix}{number}={}", cards[number - 1].path().display());
    let begun = ["fleet", "run", "--json", "--program", &program];
    let targets = |prefix: &str| (1..=count).map(|number| target(prefix, number)).collect::<Vec<_>>();
    let after = ["--", "--suite", &file, "--label", MODEL];

    let names = targets("n");
    let words = [&begun[..], &names.iter().map(String::as_str).collect::<Vec<_>>(), &after].concat();
    for number in 1..=runs {
        by_ssh = run(&fleet, fleet.cluster.command(ASSAY), &words);
        let is_named = the_slow_one_is_named(&fleet, &by_ssh, &format!("n{slow}"));
        named |= is_named;
        eprintln!("{number} of {runs} by ssh: {count} records, n{slow} is odd: {is_named}");
    }

    let shape = shapes(&fleet, &by_ansible, "n", count);
    are_the_same(&shape, &shapes(&fleet, &by_ssh, "n", count));
    match Slurm::on(&fleet.cluster, &cards) {
        Err(missing) => skip(name, &missing),
        Ok(slurm) => {
            let begun = [&begun[..], &["--via", "slurm", "--listen", "127.0.0.1:0"]].concat();
            for number in 1..=runs {
                let printed = by_slurm(&slurm, &fleet, &cards, &begun, &after);
                let is_named = the_slow_one_is_named(&fleet, &printed, &format!("s{slow}"));
                named |= is_named;
                eprintln!("{number} of {runs} by Slurm: {count} records, s{slow} is odd: {is_named}");
                are_the_same(&shape, &shapes(&fleet, &printed, "s", count));
            }
        }
    }
    assert!(named, "by no launcher");
    run(&fleet, fleet.cluster.control().command(ASSAY), &["fleet", "clean", "-i", &inventory, "--json"]);
    nothing_is_left(&fleet, &program);
}

/// Neither files on the nodes and here among the temporary ones, nor processes of the program.
fn nothing_is_left(fleet: &Fleet, program: &str) {
    let is_running = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let lines = all.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
        lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).find(|line| line.contains(program))
    };
    // A shell at the other end may take a while to end.
    let begun = std::time::Instant::now();
    while let Some(line) = is_running() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{line}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let below = |directory: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.path().display().to_string());
        // Ansible itself leaves the directory of its temporary files, empty.
        let of_ansible =
            |path: &str| path.ends_with("/ansible") && fs::read_dir(path).is_ok_and(|mut all| all.next().is_none());
        names.filter(|path| !path.ends_with("lost+found") && !of_ansible(path)).collect()
    };
    for node in fleet.cluster.nodes() {
        for place in [node.home(), node.data(), node.temporary(), node.target().to_owned()] {
            assert!(below(&place).is_empty(), "{:?}", below(&place));
        }
    }
    assert!(below(&fleet.file("tmp")).is_empty(), "{:?}", below(&fleet.file("tmp")));
}

fn by_slurm(slurm: &Slurm, fleet: &Fleet, cards: &[LimitedCard], begun: &[&str], after: &[&str]) -> Value {
    let names: Vec<String> =
        cards.iter().zip(1..).map(|(card, number)| format!("s{number}={}", card.path().display())).collect();
    let words = [begun, &names.iter().map(String::as_str).collect::<Vec<_>>(), after].concat();
    run(fleet, slurm.command(ASSAY), &words)
}
