//! The program of nodes, which has fewer commands, run beside the whole one: `tests/foreign.sh` builds it and names it in
//! `ASSAY_NODE`.

use std::ffi::OsStr;
use std::process::Command;

use assay_core::record::Record;
use assay_lab::{Missing, skip};
use serde_json::Value;

use crate::common::{Place, assert_empty, run};

/// Where the program is; none where it was not built.
fn program(test: &str) -> Option<String> {
    let program = std::env::var("ASSAY_NODE").ok().filter(|program| !program.is_empty());
    if program.is_none() {
        skip(test, &Missing("needs the program of nodes: make foreign TARGETS=node".to_owned()));
    }
    program
}

fn called<A: AsRef<OsStr>>(place: &Place, program: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    place.at_home(&mut command);
    command
}

#[test]
fn a_node_measures_checks_and_lists_and_the_whole_program_reads_its_records() {
    let Some(program) = program("a_node_measures_checks_and_lists_and_the_whole_program_reads_its_records") else {
        return;
    };
    let place = Place::new();
    let node = |words: &[&str]| run(called(&place, &program, words));
    assert!(node(&["--version"]).succeeds().stdout.contains("features  node"));
    let measured = node(&["run", "--json", "--suite", "tiny.toml", "--label", "unit=7", "-o", "own.json", "medium"]);
    let measured: Record = serde_json::from_str(&measured.measures().stdout).unwrap();
    let kept: Value = serde_json::from_slice(&std::fs::read(place.path().join("own.json")).unwrap()).unwrap();
    assert_eq!(kept["measurements"].as_array().unwrap().len(), measured.measurements.len());
    assert!(!place.data().join("reports").exists(), "a node makes no pages");
    node(&["verify", "--bytes", "4MiB", "medium"]).succeeds();
    place.assert_clean();

    // The same list, the same cards, the same documents.
    for words in
        [&["list"][..], &["list", "--json"], &["show", "last~1"], &["show", "all", "--json"], &["suite", "list"]]
    {
        let whole = run(place.assay(words)).succeeds().stdout.clone();
        assert_eq!(node(words).succeeds().stdout, whole, "{words:?}");
    }
    let shown: Record = serde_json::from_value(place.json(["show", "unit=7", "--json"])).unwrap();
    assert_eq!(shown, measured);
    // Its records go into another store as text.
    place.file("node.json", node(&["show", "all", "--json"]).stdout.clone());
    let mut import = place.assay(["import", "node.json"]);
    import.env("ASSAY_DATA", place.path().join("elsewhere"));
    run(import).succeeds();
    run(place.assay(["report", "last~1", "-o", "page.html"])).succeeds();
    // What is there is told by both alike, and what was left is removed.
    let medium = |text: &str| serde_json::from_str::<Value>(text).unwrap()["medium"].take();
    let whole = run(place.assay(["info", "--json", "medium"])).succeeds().stdout.clone();
    assert_eq!(medium(&node(&["info", "--json", "medium"]).succeeds().stdout), medium(&whole));
    node(&["verify", "--bytes", "4MiB", "--keep", "--no-save", "medium"]).succeeds();
    node(&["verify", "--remove", "medium"]).succeeds();
    place.assert_clean();
    node(&["rm", "last"]).succeeds();
}

#[test]
fn what_is_no_part_of_a_node_is_told_in_one_line() {
    let Some(program) = program("what_is_no_part_of_a_node_is_told_in_one_line") else { return };
    let place = Place::new();
    let node = |words: &[&str]| run(called(&place, &program, words));
    for command in
        ["compare", "baseline", "rank", "plan", "advise", "fleet", "import", "export", "report", "completions", "man"]
    {
        node(&[command, "x"]).refuses(2, &[command, "not part of this program", "assay import"]);
    }
    node(&["rnu"]).refuses(2, &["unrecognized subcommand 'rnu'"]);
    node(&["run", "-o", "page.html", "medium"]).refuses(2, &["page.html", "name a file in .json"]).at_once();
    node(&["show", "published:all"]).refuses(2, &["published", "whole program"]);
    node(&["list", "./medium"]).refuses(2, &["./medium", "whole program"]);
    let words = ["run", "--engine", "reference", "--suite", "iozone", "medium"];
    node(&words).refuses(4, &["iozone", "whole program"]).at_once();
    place.assert_clean();
}

#[test]
fn a_node_takes_part_in_a_run_of_a_cluster() {
    let Some(program) = program("a_node_takes_part_in_a_run_of_a_cluster") else { return };
    let place = Place::new();
    let directories = ["a", "b"].map(|name| place.path().join(name));
    directories.iter().for_each(|directory| std::fs::create_dir(directory).unwrap());
    let nodes = ["a", "b"].map(|name| format!("{name}={}", place.path().join(name).display()));
    place.file("leisure.toml", crate::common::tiny_at_leisure());
    let words = ["fleet", "run", "--json", "--via", "local", "--program", &program, &nodes[0], &nodes[1], "--"];
    run(place.assay(words.into_iter().chain(["--suite", "leisure.toml"]))).succeeds();
    let list = place.json(["list", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    directories.iter().for_each(|directory| assert_empty(directory));
}
