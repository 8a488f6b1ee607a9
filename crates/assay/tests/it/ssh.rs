//! Runs on nodes that are reached by the ssh of the system, in a cluster of name spaces.

use std::process::Output;

use assay_core::record::Record;
use assay_lab::{Cluster, ClusterPlan, Lab, lab};
use serde_json::Value;

use crate::common::{ASSAY, fate, tiny_at_leisure};

fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("{e}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    })
}

fn assay(cluster: &Cluster, words: &[&str]) -> Output {
    let mut command = cluster.command(ASSAY);
    command.env("ASSAY_DATA", cluster.directory().join("here")).env("HOME", cluster.directory()).args(words);
    command.output().unwrap()
}

/// `ASSAY_NODES=28` is the whole cluster.
#[test]
fn nodes_are_measured_through_a_tunnel_and_their_records_are_here_and_there() {
    let name = "nodes_are_measured_through_a_tunnel_and_their_records_are_here_and_there";
    let nodes = std::env::var("ASSAY_NODES").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let _lab = lab!(name, Lab::share());
    let cluster = lab!(name, Cluster::new(&ClusterPlan::of(nodes)));
    let suite = cluster.directory().join("tiny.toml");
    std::fs::write(&suite, tiny_at_leisure()).unwrap();
    let suite = suite.display().to_string();
    let targets: Vec<String> =
        cluster.nodes().iter().map(|node| format!("{}={}", node.name(), node.target().display())).collect();
    let mut words = vec!["fleet", "run", "--json", "--program", ASSAY];
    words.extend(targets.iter().map(String::as_str));
    words.extend(["--", "--suite", &suite, "--engine", "null"]);
    let output = assay(&cluster, &words);
    let all = told(&output);
    assert!(output.status.success(), "{all}");
    for node in cluster.nodes() {
        let id = fate(&all, node.name())["id"].as_str().unwrap_or_else(|| panic!("{all}"));
        let here: Record = serde_json::from_slice(&assay(&cluster, &["show", id, "--json"]).stdout).unwrap();
        let there = node.command(ASSAY).args(["show", id, "--json"]).output().unwrap();
        let there: Record = serde_json::from_slice(&there.stdout).unwrap();
        let part = here.cluster.as_deref().unwrap();
        assert_eq!((part.node.as_str(), part.nodes as usize, &part.lost), (node.name(), nodes, &None));
        assert_eq!((&here.host.hostname, &here.id), (&Some(node.name().to_owned()), &there.id));
        assert_eq!(here.measurements, there.measurements);
        assert_eq!(std::fs::read_dir(node.target()).unwrap().count(), 0);
    }
    eprintln!("{nodes} nodes by ssh: {}", all["starts"]);

    // One host does not exist, one has no such program, one no such directory.
    let words =
        [
            &[
                "fleet",
                "run",
                "--json",
                "--quorum",
                "1",
                "--program",
                ASSAY,
                &targets[0],
                "nowhere",
                "n2=/no/such/place",
            ][..],
            &["--", "--suite", &suite, "--engine", "null"],
        ]
        .concat();
    let output = assay(&cluster, &words);
    let some = told(&output);
    assert_eq!((output.status.code(), &fate(&some, "n1")["fate"]), (Some(4), &"recorded".into()), "{some}");
    for (node, words) in [("nowhere", "nowhere"), ("n2", "/no/such/place")] {
        let fate = fate(&some, node);
        assert!(fate["fate"] == "unreachable" && fate["reason"].as_str().unwrap().contains(words), "{some}");
    }
    let words = ["fleet", "run", "--json", "--program", "/no/assay", &targets[0], "--", "--suite", &suite];
    let none = told(&assay(&cluster, &words));
    assert!(fate(&none, "n1")["reason"].as_str().unwrap().contains("/no/assay"), "{none}");
}
