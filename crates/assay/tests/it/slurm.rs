//! A run on nodes of Slurm, whose daemons are all on one machine of the lab.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assay_core::record::Record;
use assay_lab::{Cluster, ClusterPlan, Lab, Missing, Slurm, lab};
use serde_json::Value;

use crate::common::{ASSAY, fate, tiny_at_leisure};

/// The nodes of `slurm`, told in the words of its users, each with a directory of its own as target.
fn command(slurm: &Slurm<'_>, directory: &Path, words: &[&str]) -> Command {
    let mut command = slurm.command(ASSAY);
    command.env("ASSAY_DATA", directory.join("data")).env("HOME", directory).current_dir("/");
    // The name of this machine is in no list of names.
    command
        .args(["fleet", "run", "--json", "--via", "slurm", "--listen", "127.0.0.1:0", "--program", ASSAY])
        .args(words);
    command
}

fn targets(directory: &Path, nodes: usize) -> Vec<PathBuf> {
    let made = (1..=nodes).map(|node| directory.join(format!("card{node}")));
    made.inspect(|path| std::fs::create_dir(path).unwrap()).collect()
}

fn printed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("{e}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    })
}

fn record(slurm: &Slurm<'_>, directory: &Path, id: &str) -> Record {
    let mut show = slurm.command(ASSAY);
    let output = show.env("ASSAY_DATA", directory.join("data")).args(["show", id, "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn cluster() -> Result<(Lab, Cluster), Missing> {
    let lab = Lab::share()?;
    Ok((lab, Cluster::new(&ClusterPlan::with_nodes(0))?))
}

#[test]
fn nodes_of_slurm_are_measured_and_those_it_lost_are_told() {
    let name = "nodes_of_slurm_are_measured_and_those_it_lost_are_told";
    let (_lab, cluster) = lab!(name, cluster());
    let mut slurm = lab!(name, Slurm::new(&cluster, 3));
    let directory = cluster.directory();
    let targets = targets(directory, 3);
    let suite = directory.join("tiny.toml");
    std::fs::write(&suite, tiny_at_leisure()).unwrap();
    let nodes: Vec<String> = targets.iter().zip(1..).map(|(target, n)| format!("s{n}={}", target.display())).collect();
    let suite = suite.display().to_string();
    let mut words: Vec<&str> = nodes.iter().map(String::as_str).collect();
    words.extend(["--", "--suite", &suite, "--engine", "null"]);

    let all = printed(&command(&slurm, directory, &words).output().unwrap());
    for (node, target) in ["s1", "s2", "s3"].into_iter().zip(&targets) {
        let id = fate(&all, node)["id"].as_str().unwrap_or_else(|| panic!("{all}"));
        let record = record(&slurm, directory, id);
        let part = record.cluster.as_deref().unwrap();
        assert_eq!((part.node.as_str(), part.mode.as_str(), part.attempt, part.nodes), (node, "simultaneous", 1, 3));
        assert_eq!((record.labels["node"].as_str(), &record.labels["fleet"]), (node, &part.run));
        assert!(part.clock.as_ref().unwrap().exchanges >= 32 && part.lost.is_none(), "{part:?}");
        assert_eq!(std::fs::read_dir(target).unwrap().count(), 0);
    }

    // One after the other, and two at a time.
    for (mode, option, at_a_time) in [("alone", &["--alone"][..], 1), ("staggered", &["--staggered", "2"], 2)] {
        let words = [option, &words].concat();
        let all = printed(&command(&slurm, directory, &words).output().unwrap());
        for node in ["s1", "s2", "s3"] {
            let id = fate(&all, node)["id"].as_str().unwrap_or_else(|| panic!("{all}"));
            let record = record(&slurm, directory, id);
            let part = record.cluster.as_deref().unwrap();
            assert_eq!((part.mode.as_str(), part.at_a_time, &part.lost), (mode, at_a_time, &None));
        }
    }

    // One is down, one is none of Slurm's, one cannot measure: the others are recorded.
    slurm.lose(2);
    let (first, gone) = (&nodes[0], "s3=/nowhere/at/all");
    let words = [first, "s2", gone, "s9", "--quorum", "1", "--", "--suite", &suite, "--engine", "null"];
    let output = command(&slurm, directory, &words).output().unwrap();
    let some = printed(&output);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(fate(&some, "s1")["fate"], "recorded", "{some}");
    assert_eq!(fate(&some, "s3")["cause"], "no_target", "{some}");
    for (node, words) in [("s2", "Slurm says it is down"), ("s9", "no node of this name"), ("s3", "/nowhere/at/all")] {
        assert_eq!(fate(&some, node)["fate"], if node == "s3" { "not_begun" } else { "unreachable" }, "{some}");
        assert!(fate(&some, node)["reason"].as_str().unwrap().contains(words), "{some}");
    }
}

/// Nodes get the suite of the plan by their standard input, as the file is not there.
#[test]
fn a_plan_is_carried_out_on_nodes_of_slurm() {
    let name = "a_plan_is_carried_out_on_nodes_of_slurm";
    let (_lab, cluster) = lab!(name, cluster());
    let slurm = lab!(name, Slurm::new(&cluster, 2));
    let directory = cluster.directory();
    let targets = targets(directory, 2);
    let (suite, plan) = (directory.join("tiny.toml"), directory.join("plan.toml"));
    std::fs::write(&suite, tiny_at_leisure()).unwrap();
    let (suite, plan) = (suite.display().to_string(), plan.display().to_string());
    let assay = |words: &[&str]| -> Output {
        let mut command = slurm.command(ASSAY);
        command.env("ASSAY_DATA", directory.join("data")).env("HOME", directory).current_dir("/").args(words);
        command.output().unwrap()
    };
    let new = ["plan", "new", "--units", "A=1,2", "--slots", "s1,s2", "--rounds", "2", "--suite", &suite, "-o", &plan];
    assert!(assay(&new).status.success());
    let nodes: Vec<String> = targets.iter().zip(1..).map(|(target, n)| format!("s{n}={}", target.display())).collect();
    let first = ["--rotate", &plan, &nodes[0], &nodes[1], "--", "--engine", "null"];
    let first = command(&slurm, directory, &first).output().unwrap();
    let all = printed(&first);
    assert_eq!((first.status.code(), &all["next"]["turn"]["round"]), (Some(8), &2.into()), "{all}");
    let second = assay(&["fleet", "run", "--json", "--listen", "127.0.0.1:0", "--resume"]);
    assert_eq!(second.status.code(), Some(0), "{}", printed(&second));
    let status = printed(&assay(&["plan", "status", &plan, "--json"]));
    assert_eq!((&status["complete"], &status["misfits"]), (&true.into(), &serde_json::json!([])), "{status}");
    for target in &targets {
        assert_eq!(std::fs::read_dir(target).unwrap().count(), 0);
    }
}
