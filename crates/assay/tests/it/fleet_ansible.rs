//! Commands of `assay fleet` with an inventory, on a cluster of the lab: by ssh, and to the coordinator through its tunnel.
//! `ASSAY_FLEET_NODES=28` takes as many nodes, and measures memory.

use std::fs;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_lab::lab;
use serde_json::Value;

use crate::collection::{Fleet, root};
use crate::common::{ASSAY, node};

/// At most so much for this program, and with Ansible, in bytes, at 28 nodes.
const MOST_OF_ASSAY: u64 = 60_000_000;
const MOST_OF_ALL: u64 = 450_000_000;

fn nodes() -> usize {
    std::env::var("ASSAY_FLEET_NODES").map_or(3, |nodes| nodes.parse().unwrap())
}

/// A command of `assay fleet` on the control machine.
fn assay(fleet: &Fleet, arguments: &[&str]) -> Command {
    let mut command = fleet.cluster.control().command(ASSAY);
    for directory in ["tmp", "control"] {
        fs::create_dir_all(fleet.file(directory)).unwrap();
    }
    command
        .arg("fleet")
        .args(arguments)
        .env("HOME", fleet.file("control"))
        .env("ASSAY_DATA", fleet.file("control").join("data"))
        .env("TMPDIR", fleet.file("tmp"))
        .env_remove("ANSIBLE_CONFIG");
    command
}

fn inventory(fleet: &Fleet) -> String {
    fleet.cluster.inventory().display().to_string()
}

#[track_caller]
fn printed_json(fleet: &Fleet, output: &Output, code: i32) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{}\n{said}", String::from_utf8_lossy(&output.stdout));
    // What was unpacked is gone.
    assert_eq!(fs::read_dir(fleet.file("tmp")).unwrap().count(), 0);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn an_inventory_of_nodes_behind_ssh_is_measured_at_once() {
    let count = nodes();
    let fleet = lab!("an_inventory_of_nodes_behind_ssh_is_measured_at_once", Fleet::new(count));
    fleet.offer_program();
    let inventory = inventory(&fleet);
    let names: Vec<String> = (1..=count).map(|number| format!("n{number}")).collect();

    let check = printed_json(&fleet, &assay(&fleet, &["check", "-i", &inventory, "--json"]).output().unwrap(), 0);
    assert_eq!(check["fit"], count);
    for name in &names {
        let row = node(&check, name);
        let clock = |name: &str| row["clock"][name].as_i64().unwrap();
        assert!(clock("offset_ns").abs() <= clock("bound_ns") && clock("bound_ns") < 10_000_000_000, "{row}");
    }
    let (measured, peak) =
        watched(&inventory, || assay(&fleet, &["run", "-i", &inventory, "--json"]).output().unwrap());
    eprintln!("{count} nodes: assay {} MB, with Ansible {} MB at most", peak.0 / 1_000_000, peak.1 / 1_000_000);
    let measured = printed_json(&fleet, &measured, 0);
    for name in &names {
        assert_eq!(node(&measured, name)["fate"]["fate"], "recorded", "{measured}");
    }
    eprintln!("starts: {}", measured["starts"]);
    assert_eq!(measured["starts"]["n"], count * 3);
    assert!(peak.0 > 0 && peak.0 <= MOST_OF_ASSAY, "assay: {} bytes", peak.0);
    assert!(peak.1 <= MOST_OF_ALL, "with Ansible: {} bytes", peak.1);

    // What the playbook measured by itself is brought, once.
    fleet.play("run", &[("assay_run", "monday")]).succeeded();
    for (taken, here) in [(1, 0), (0, 1)] {
        let collect = ["collect", "monday", "-i", &inventory, "--json"];
        let collected = printed_json(&fleet, &assay(&fleet, &collect).output().unwrap(), 0);
        for name in &names {
            let count = |what: &str| node(&collected, name)[what].as_array().unwrap().len();
            assert_eq!((count("taken"), count("here")), (taken, here), "{collected}");
        }
    }
    printed_json(&fleet, &assay(&fleet, &["clean", "-i", &inventory, "--records", "--json"]).output().unwrap(), 0);
    for node in fleet.cluster.nodes() {
        for place in [node.home(), node.target().to_owned()] {
            assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "{}", place.display());
        }
    }
}

/// n1 is well, n2 gets a program for another machine, n3 has a full medium, and nobody has the address of n4.
#[test]
fn nodes_that_do_not_begin_are_told_with_their_reasons() {
    let fleet = lab!("nodes_that_do_not_begin_are_told_with_their_reasons", Fleet::new(3));
    fleet.offer_program();
    let inventory = inventory(&fleet);
    let wrong = fleet.file("wrong");
    fs::create_dir(&wrong).unwrap();
    fs::write(wrong.join(format!("assay-{}", std::env::consts::ARCH)), b"\x7fELF\x02\x01\x01").unwrap();
    let full = fleet.cluster.nodes()[2].target().to_owned();
    let mount = ["-t", "tmpfs", "-o", "size=64k", "none"];
    assert!(fleet.cluster.nodes()[2].command("mount").args(mount).arg(&full).status().unwrap().success());
    let text = fs::read_to_string(fleet.cluster.inventory()).unwrap();
    let others = format!("n4 ansible_host=10.77.0.200 assay_target=/\nn2 assay_binaries={} ", wrong.display());
    fleet.change_inventory(|inventory| inventory.replace("n2 ", &others));

    let reasons = [("n2", "the program does not run on"), ("n3", "free"), ("n4", "ssh: connect to host 10.77.0.200")];
    let check = printed_json(&fleet, &assay(&fleet, &["check", "-i", &inventory, "--json"]).output().unwrap(), 1);
    assert_eq!((&check["fit"], &node(&check, "n1")["fits"]), (&1.into(), &true.into()), "{check}");
    for (name, words) in reasons {
        assert!(node(&check, name)["reason"].as_str().unwrap().contains(words), "{words}: {check}");
    }
    assert_eq!(
        [node(&check, "n3")["reached"].as_bool(), node(&check, "n4")["reached"].as_bool()],
        [Some(true), Some(false)]
    );

    let arguments = ["run", "-i", &inventory, "--quorum", "1", "--json"];
    let measured = printed_json(&fleet, &assay(&fleet, &arguments).output().unwrap(), 4);
    assert_eq!(node(&measured, "n1")["fate"]["fate"], "recorded", "{measured}");
    for (name, words) in reasons {
        let fate = &node(&measured, name)["fate"];
        assert!(fate["fate"] != "recorded" && fate["reason"].as_str().unwrap().contains(words), "{words}: {measured}");
    }
    // What was mended is repeated; the one that is gone is no longer in the inventory.
    assert!(fleet.cluster.nodes()[2].command("umount").arg(&full).status().unwrap().success());
    fleet.change_inventory(|_| text.replace("n2 ", "n4 ansible_host=10.77.0.200 assay_target=/\nn2 "));
    let run = measured["run"]["run"].as_str().unwrap();
    let again = printed_json(&fleet, &assay(&fleet, &["run", "--resume", run, "--json"]).output().unwrap(), 4);
    for name in ["n2", "n3"] {
        assert_eq!(node(&again, name)["fate"]["fate"], "recorded", "{again}");
    }
    assert_eq!(node(&again, "n1")["attempts"], 1);
    assert!(node(&again, "n4")["fate"]["reason"].as_str().unwrap().contains("ssh: connect to host"), "{again}");
}

/// The three commands of the example, with an inventory beside its own that says where the nodes of the lab are.
#[test]
fn the_example_does_what_it_says() {
    let fleet = lab!("the_example_does_what_it_says", Fleet::new(3));
    fleet.offer_program();
    let readme = fs::read_to_string(root().join("examples/fleet/README.md")).unwrap();
    let script = readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let lines: Vec<&str> = script.lines().map(|line| line.split(" # ").next().unwrap().trim()).collect();
    assert_eq!(lines.len(), 3, "{script}");
    let lab: String = fs::read_to_string(fleet.cluster.inventory()).unwrap();
    let lab = (1..=3).fold(lab, |text, n| text.replace(&format!("n{n} "), &format!("node{n} ")));
    fs::write(fleet.file("lab.ini"), lab.replace("[fleet", "[cards")).unwrap();
    let example = root().join("examples/fleet/cards.ini");
    let both = format!("-i {} -i {}", example.display(), fleet.file("lab.ini").display());
    for line in lines {
        assert!(line.starts_with("assay fleet "), "{line}");
        let binaries = fleet.file("binaries").display().to_string();
        let line = line.replace("-i cards.ini", &both).replace("--binaries bin", &format!("--binaries {binaries}"));
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        let output = assay(&fleet, &words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{}{said}", String::from_utf8_lossy(&output.stdout));
    }
    let list = assay(&fleet, &["list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&list.stdout).contains("3 of 3 nodes"));
}

/// Does `work`, and gives what assay and it with Ansible, ssh and all that they started took at most, in bytes: shared pages
/// are counted once.
fn watched<T>(inventory: &str, work: impl FnOnce() -> T) -> (T, (u64, u64)) {
    let (ended, peak) = (AtomicBool::new(false), Mutex::new((0, 0)));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let (own, all) = taken(inventory);
                let mut peak = peak.lock().unwrap();
                *peak = (peak.0.max(own), peak.1.max(all));
                drop(peak);
                std::thread::sleep(Duration::from_millis(200).max(begun.elapsed()));
            }
        });
        let result = work();
        ended.store(true, Ordering::Relaxed);
        result
    });
    (result, peak.into_inner().unwrap())
}

/// Of `assay fleet run` with this inventory and its descendants on the control machine.
fn taken(inventory: &str) -> (u64, u64) {
    let mut processes: Vec<(u32, u32, String)> = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        processes.push((process, parent, String::from_utf8_lossy(&line).replace('\0', " ")));
    }
    let begins = format!("{ASSAY} fleet run -i {inventory} ");
    let Some(own) = processes.iter().find(|(_, _, line)| line.starts_with(&begins)).map(|(process, ..)| *process)
    else {
        return (0, 0);
    };
    let mut family = vec![own];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        family.extend(processes.iter().filter(|(_, above, _)| *above == parent).map(|(process, ..)| *process));
        at += 1;
    }
    (pss(own), family.into_iter().map(pss).sum())
}

fn pss(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
