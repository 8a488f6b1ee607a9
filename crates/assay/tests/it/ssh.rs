//! Runs on nodes that are reached by the ssh of the system, in a cluster of name spaces.

use std::process::Output;

use assay_core::record::Record;
use assay_lab::{Cluster, ClusterPlan, Lab, NodePlan, lab};
use serde_json::Value;

use crate::common::{ASSAY, fate, tiny_at_leisure};

fn printed(output: &Output) -> Value {
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
fn nodes_are_measured_through_a_tunnel_and_keep_nothing() {
    let name = "nodes_are_measured_through_a_tunnel_and_keep_nothing";
    let nodes = std::env::var("ASSAY_NODES").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let _lab = lab!(name, Lab::share());
    let cluster = lab!(name, Cluster::new(&ClusterPlan::with_nodes(nodes)));
    let suite = cluster.directory().join("tiny.toml");
    std::fs::write(&suite, tiny_at_leisure()).unwrap();
    let suite = suite.display().to_string();
    let targets: Vec<String> =
        cluster.nodes().iter().map(|node| format!("{}={}", node.name(), node.target().display())).collect();
    let mut words = vec!["fleet", "run", "--json", "--program", ASSAY];
    words.extend(targets.iter().map(String::as_str));
    words.extend(["--", "--suite", &suite, "--engine", "null"]);
    let output = assay(&cluster, &words);
    let all = printed(&output);
    assert!(output.status.success(), "{all}");
    for node in cluster.nodes() {
        let id = fate(&all, node.name())["id"].as_str().unwrap_or_else(|| panic!("{all}"));
        let here: Record = serde_json::from_slice(&assay(&cluster, &["show", id, "--json"]).stdout).unwrap();
        let part = here.cluster.as_deref().unwrap();
        assert_eq!((part.node.as_str(), part.nodes as usize, &part.lost), (node.name(), nodes, &None));
        assert_eq!(here.host.hostname, Some(node.name().to_owned()));
        for place in [node.target(), &node.home(), &node.temporary()] {
            assert_eq!(std::fs::read_dir(place).unwrap().count(), 0, "{}", place.display());
        }
        assert!(!node.data().exists(), "neither store nor page");
    }
    eprintln!("{nodes} nodes by ssh: {}", all["starts"]);

    // One host does not exist, one has no such program, one no such directory.
    let begun = ["fleet", "run", "--json", "--quorum", "1", "--program", ASSAY, &targets[0], "nowhere"];
    let words = [&begun[..], &["n2=/no/such/place", "--", "--suite", &suite, "--engine", "null"]].concat();
    let output = assay(&cluster, &words);
    let some = printed(&output);
    assert_eq!((output.status.code(), &fate(&some, "n1")["fate"]), (Some(4), &"recorded".into()), "{some}");
    for (node, outcome, words) in [("nowhere", "unreachable", "nowhere"), ("n2", "not_begun", "/no/such/place")] {
        let fate = fate(&some, node);
        assert!(fate["fate"] == outcome && fate["reason"].as_str().unwrap().contains(words), "{some}");
    }
    assert_eq!(fate(&some, "n2")["cause"], "no_target", "{some}");
    let words = ["fleet", "run", "--json", "--program", "/no/assay", &targets[0], "--", "--suite", &suite];
    let none = printed(&assay(&cluster, &words));
    assert!(fate(&none, "n1")["reason"].as_str().unwrap().contains("/no/assay"), "{none}");
    assert_eq!(fate(&none, "n1")["cause"], "no_program", "{none}");
    causes(&cluster, &targets, &suite);
}

/// Why nodes do not begin.
fn causes(cluster: &Cluster, targets: &[String], suite: &str) {
    // One for another machine, one of another version, a node that does not let anybody in, and a full medium.
    let other = if std::env::consts::ARCH == "aarch64" { 62u8 } else { 183 };
    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, other, 0, 1, 0, 0, 0];
    elf.resize(4096, 0);
    let caused = |program: &str, node: &str, more: &[&str]| {
        let words = [&["fleet", "run", "--json", "--program", program, node][..], more].concat();
        let printed = printed(&assay(cluster, &words));
        fate(&printed, node.split('=').next().unwrap()).clone()
    };
    let script = |name: &str, content: &[u8]| {
        let path = cluster.directory().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let wrong = caused(&script("wrong", &elf), &targets[0], &[]);
    assert_eq!(wrong["cause"], "architecture", "{wrong}");
    let old = "#!/bin/sh\necho \"error: unexpected argument '--fleet-run' found\" >&2\nexit 2\n";
    let old = caused(&script("old", old.as_bytes()), &targets[0], &[]);
    assert_eq!(old["cause"], "version", "{old}");
    let full = cluster.nodes()[0].target().join("full");
    std::fs::create_dir(&full).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=64k", "none"];
    assert!(cluster.nodes()[0].command("mount").args(mount).arg(&full).status().unwrap().success());
    let full = caused(ASSAY, &format!("n1={}", full.display()), &["--", "--suite", suite]);
    assert_eq!(full["cause"], "no_space", "{full}");
    // Nobody's key is known any more.
    let known = cluster.directory().join("user.pub");
    std::fs::rename(&known, known.with_extension("away")).unwrap();
    let denied = caused(ASSAY, &targets[1], &["--", "--suite", suite]);
    assert_eq!(denied["cause"], "denied", "{denied}");
}

/// What a run would not take is not called measurable by a check, and both say why in the same words.
#[test]
fn a_check_refuses_what_a_run_refuses_and_quotes_the_node() {
    let name = "a_check_refuses_what_a_run_refuses_and_quotes_the_node";
    let _lab = lab!(name, Lab::share());
    let nodes = vec![
        NodePlan::new("n1"),
        NodePlan::new("n2").with("AllowStreamLocalForwarding no\nAllowTcpForwarding no"),
        NodePlan::new("n3").with("ForceCommand echo This account is closed."),
        NodePlan::new("n4").with("ForceCommand /bin/false"),
    ];
    let cluster = lab!(name, Cluster::new(&ClusterPlan { nodes, uplink: None }));
    let script = |name: &str, content: String| {
        let path = cluster.directory().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let said = |program: &str, command: &str, more: &[&str]| {
        let target = |at: usize| format!("n{at}={}", cluster.nodes()[at - 1].target().display());
        let all: Vec<String> = (1..=4).map(target).collect();
        let mut words = vec!["fleet", command, "--json", "--program", program];
        words.extend(all.iter().map(String::as_str));
        words.extend(more);
        printed(&assay(&cluster, &words))
    };
    let suite = cluster.directory().join("tiny.toml");
    std::fs::write(&suite, tiny_at_leisure()).unwrap();
    let after = ["--", "--suite", &suite.display().to_string(), "--engine", "null"].map(str::to_owned);
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
    let check = said(ASSAY, "check", &after);
    let ran = said(ASSAY, "run", &[&["--quorum", "1"], &after[..]].concat());
    let row = |node: &str| check["nodes"].as_array().unwrap().iter().find(|row| row["node"] == node).unwrap();
    assert_eq!((&check["fit"], &row("n1")["fits"]), (&1.into(), &true.into()), "{check}");
    assert_eq!(fate(&ran, "n1")["fate"], "recorded", "{ran}");
    for (node, cause, words) in [
        ("n2", "no_tunnel", "remote port forwarding failed"),
        ("n3", "other", "and said: This account is closed."),
        ("n4", "other", "without a word: a forced command"),
    ] {
        let fate = fate(&ran, node);
        let reason = fate["reason"].as_str().unwrap();
        assert!(fate["cause"] == cause && reason.contains(words), "{fate}");
        let checked = row(node)["reason"].as_str().unwrap();
        assert!(row(node)["reached"] == true && checked.contains(words), "{checked}");
    }
    assert!(row("n2")["reason"].as_str().unwrap().contains("--listen ADDRESS:PORT"), "{check}");
    // A build of another commit, and one of another version.
    let version = env!("CARGO_PKG_VERSION");
    let of = |first: &str, commit: &str| {
        let content = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '{first}'; echo 'commit    {commit}'; exit; }}\n\
             exec '{ASSAY}' \"$@\"\n"
        );
        let check = said(&script(commit, content), "check", &after);
        let n1 = check["nodes"][0].clone();
        assert_eq!(n1["fits"], false, "{n1}");
        n1["reason"].as_str().unwrap().to_owned()
    };
    let other = of(&format!("assay {version}"), "0123abc");
    assert!(other.contains("of commit 0123abc is there") && other.starts_with("another version"), "{other}");
    let older = of("assay 0.0.9", "0123abd");
    assert!(older.contains("assay 0.0.9 is there"), "{older}");
}

/// Threat 4.2: no other user reaches the coordinator, here or on a node; a node whose sshd makes no socket has a port, and
/// that is said.
#[test]
fn a_tunnel_ends_in_sockets_of_the_user_and_in_a_port_where_a_node_makes_none() {
    let name = "a_tunnel_ends_in_sockets_of_the_user_and_in_a_port_where_a_node_makes_none";
    let _lab = lab!(name, Lab::share());
    let nodes = vec![NodePlan::new("n1"), NodePlan::new("n2").without_sockets()];
    let cluster = lab!(name, Cluster::new(&ClusterPlan { nodes, uplink: None }));
    let (suite, seen) = (cluster.directory().join("tiny.toml"), cluster.directory().join("seen"));
    std::fs::write(&suite, tiny_at_leisure()).unwrap();
    std::fs::create_dir(&seen).unwrap();
    // Says where the node was sent, what is there, and what it was told besides.
    let script = format!(
        "#!/bin/sh\nbefore=\nfor word; do [ \"$before\" = --rendezvous ] && at=$word; before=$word; done\n\
         {{ echo \"$at\"; stat -c '%a %F' \"$at\"; echo \"$ASSAY_FLEET_KEY\"; }} > '{}'/$ASSAY_LAB_NODE 2> /dev/null\n\
         exec '{ASSAY}' \"$@\"\n",
        seen.display()
    );
    let program = cluster.directory().join("program");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let target = |number: usize| format!("n{}={}", number + 1, cluster.nodes()[number].target().display());
    let (program, suite) = (program.display().to_string(), suite.display().to_string());
    let words = ["fleet", "run", "--json", "--program", &program, &target(0), &target(1), "--", "--suite", &suite];
    let output = assay(&cluster, &[&words[..], &["--engine", "null"]].concat());
    let (all, said) = (printed(&output), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{all}\n{said}");
    let of = |node: &str| -> Vec<String> {
        std::fs::read_to_string(seen.join(node)).unwrap().lines().map(str::to_owned).collect()
    };
    let (first, second) = (of("n1"), of("n2"));
    assert!(first[0].starts_with("/tmp/assay-") && first[1] == "600 socket", "{first:?}");
    assert!(!std::path::Path::new(&first[0]).exists(), "it is gone");
    assert!(second[0].starts_with("127.0.0.1:"), "{second:?}");
    assert!(first.last().unwrap().len() == 64 && first.last() != second.last(), "each has a key of its own");
    let line = said.lines().find(|line| line.contains("AllowStreamLocalForwarding"));
    assert!(line.is_some_and(|line| line.contains("n2")) && !said.contains("n1: its ssh"), "{said}");
}
