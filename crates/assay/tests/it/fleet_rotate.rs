//! A plan carried out on several nodes: `assay fleet run --rotate`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::Duration;

use assay_lab::{Cluster, ClusterPlan, Lab, Missing, lab, skip};
use serde_json::Value;

use crate::common::{ASSAY, AtTerminal, Done, Place, Terminal, fate, run, tiny_at_leisure};
use crate::fleet::make_invalid;

/// A place with a plan of two units in two slots, and directories for them.
fn planned(units: &str, slots: &str) -> Place {
    let place = Place::new();
    let new = ["plan", "new", "--units", units, "--slots", slots, "--rounds", "2", "--suite", "tiny.toml"];
    run(place.assay(new.iter().chain(&["-o", "plan.toml"]))).succeeds();
    ["a", "b"].iter().for_each(|name| fs::create_dir(place.path().join(name)).unwrap());
    place
}

const RUN: [&str; 7] = ["fleet", "run", "--rotate", "plan.toml", "--via", "local", "a=a"];
const NULL: [&str; 3] = ["--", "--engine", "null"];

/// The name of the run that `assay fleet list` has last.
fn last(place: &Place) -> String {
    let list = place.json(["fleet", "list", "--json"]);
    list["runs"].as_array().unwrap().last().unwrap()["run"].as_str().unwrap().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Goes on with the plan. What a busy host made invalid is measured again.
fn resume(place: &Place) -> Done {
    let once = || run(place.assay(["fleet", "run", "--resume", &last(place)]));
    repeated(once(), once)
}

/// The first round of the plan, likewise.
fn begin(place: &Place, words: &[&str]) -> Done {
    repeated(run(place.assay(words)), || run(place.assay(["fleet", "run", "--resume", &last(place)])))
}

/// Most attempts at a valid record of an engine that never waits.
const ATTEMPTS: usize = 20;

fn repeated(mut done: Done, again: impl Fn() -> Done) -> Done {
    for _ in 0..ATTEMPTS {
        if done.code != Some(1) || !one_line(&done.stdout).contains(" invalid.") {
            break;
        }
        done = again();
    }
    done
}

#[test]
fn a_plan_is_carried_out_round_by_round_and_its_records_are_those_of_its_cells() {
    let place = planned("A=1,2", "a,b");
    let refused = |more: &[&str], words: &[&str]| {
        run(place.assay([&RUN[..], more].concat())).refuses(2, words);
    };
    refused(&[], &["the plan has slot b, and no node is called so; its slots are a, b"]);
    refused(&["b=b", "--", "--suite", "quick"], &["the plan names the suite"]);
    refused(&["b=b", "--", "--label", "unit=7"], &["the plan names model, unit, slot and round; leave unit=7 out"]);
    run(place.assay(["fleet", "run", "--rotate", "tiny.toml", "--via", "local", "a=a"])).refuses(2, &["tiny.toml"]);
    assert!(run(place.assay(["fleet", "list"])).succeeds().stdout.is_empty());

    let first = begin(&place, &[&RUN[..], &["b=b", "c=a"], &NULL].concat());
    assert_eq!(first.code, Some(8), "{}{}", first.stdout, first.stderr);
    assert!(first.stderr.contains("c is in no slot of the plan"), "{}", first.stderr);
    let said: Vec<&str> = first.stdout.lines().collect();
    let head = said.iter().position(|line| line.starts_with("Round 2 of 2 of plan ")).unwrap();
    let mut moves = [said[head + 1], said[head + 2]];
    moves.sort_unstable();
    let ways = ["from a to b", "from b to a"];
    assert!(moves[0].starts_with("  [ ] A unit 1  from ") && moves[1].starts_with("  [ ] A unit 2  from "), "{said:?}");
    assert!(ways.iter().all(|way| moves.iter().any(|line| line.ends_with(way))), "{said:?}");
    assert_eq!(said[head + 3], format!("When it is done: assay fleet run --resume {}", last(&place)));
    refused(&["b=b"], &["measures this plan already: assay fleet run --resume"]);
    let status = run(place.assay(["plan", "status", "plan.toml"]));
    assert_eq!(status.code, Some(1), "{}", status.stdout);

    let second = resume(&place);
    assert!(second.succeeds().stdout.contains("All 2 rounds of the plan are measured"), "{}", second.stdout);
    let status = place.json(["plan", "status", "plan.toml", "--json"]);
    assert_eq!((&status["complete"], &status["misfits"]), (&true.into(), &serde_json::json!([])), "{status}");
    // What the plan and the report say of it.
    let plan = status["plan"].as_str().unwrap();
    let report = place.json(["fleet", "report", "--json"]);
    assert_eq!(report["slots"]["rows"].as_array().unwrap().len(), 2, "{}", report["slots"]);
    // What counts is compared: beside other programs the figures of an engine that never waits may contradict each other.
    let records = place.json(["list", "--json"]);
    let counts = |record: &Value| record["verdict"] != "invalid";
    if records.as_array().unwrap().iter().all(counts) {
        // Two units in two slots in two rounds explain all figures. On a busy machine a record may lack the figure that decides.
        let ranked: Value =
            serde_json::from_str(&run(place.assay(["rank", &format!("plan={plan}"), "--json"])).stdout).unwrap();
        if ranked["primary"]["basis"]["records"] == 4 {
            assert_eq!(report["slots"]["effect"]["why"], "too_few_rounds", "{}", report["slots"]["effect"]);
        } else {
            eprintln!("a record has no figure: {}", ranked["primary"]["basis"]);
        }
        let ranked = run(place.assay(["rank", &format!("plan={plan}"), "--load", "rand-read"]));
        assert!(ranked.stdout.contains('A'), "{}{}", ranked.stdout, ranked.stderr);
    } else {
        eprintln!("a record does not count: {records}");
    }

    assert!(resume(&place).succeeds().stdout.contains("All 2 rounds"), "nothing is measured again");
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 4);
    let listed = run(place.assay(["fleet", "list"]));
    assert!(listed.stdout.lines().next().unwrap().ends_with(&format!("round 1 of plan {plan}")), "{}", listed.stdout);
}

/// A medium that failed in an earlier round is told by the exit code of the whole, which is that of the last round otherwise.
#[test]
fn a_medium_that_failed_in_an_earlier_round_is_told_at_the_end() {
    let place = planned("A=1,2", "a,b");
    let first = begin(&place, &[&RUN[..], &["b=b"], &NULL].concat());
    assert_eq!(first.code, Some(8), "{}{}", first.stdout, first.stderr);
    let file = place.data().join("fleet").join(last(&place) + ".json");
    let mut ledger: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let fate = &mut ledger["nodes"][0]["fate"];
    (fate["fate"], fate["reason"]) = ("medium_failed".into(), "read error".into());
    fs::write(&file, ledger.to_string()).unwrap();
    let done = resume(&place);
    assert!(done.stdout.contains("All 2 rounds"), "{}{}", done.stdout, done.stderr);
    assert_eq!((done.code, resume(&place).code), (Some(3), Some(3)), "{}", done.stdout);
}

/// A node that cannot be measured keeps the round, and nothing else is repeated.
#[test]
fn a_round_goes_on_where_a_node_was_missing() {
    let place = planned("A=1,2", "a,b");
    fs::remove_dir(place.path().join("b")).unwrap();
    let first = begin(&place, &[&RUN[..], &["b=b", "--quorum", "1", "--json"], &NULL].concat());
    assert_eq!(first.code, Some(4), "{}{}", first.stdout, first.stderr);
    let printed: Value = serde_json::from_str(&first.stdout).unwrap();
    fs::create_dir(place.path().join("b")).unwrap();
    let name = last(&place);
    let done = run(place.assay(["fleet", "run", "--resume", &name, "--json"]));
    assert_eq!(done.code, Some(8), "{}{}", done.stdout, done.stderr);
    let again: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&fate(&again, "a")["id"], &again["run"]["run"]), (&fate(&printed, "a")["id"], &printed["run"]["run"]));
    assert_eq!(again["next"]["turn"], serde_json::json!({ "round": 2, "wave": 1 }));
    assert_eq!(again["next"]["moves"].as_array().unwrap().len(), 2, "{again}");
    resume(&place).succeeds();
    assert_eq!(place.json(["plan", "status", "plan.toml", "--json"])["complete"], true);
}

/// Where a record of the round is invalid, its cell alone is measured again, as `plan status` asks for it.
#[test]
fn a_cell_whose_record_is_invalid_is_measured_again() {
    let place = planned("A=1,2", "a,b");
    let first = begin(&place, &[&RUN[..], &["b=b"], &NULL].concat());
    assert_eq!(first.code, Some(8), "{}{}", first.stdout, first.stderr);
    let attempt = |node: usize| {
        let ledger = place.json(["fleet", "list", "--json"])["runs"][0]["nodes"][node].clone();
        (ledger["attempts"].as_u64().unwrap(), ledger["fate"]["fate"].clone())
    };
    let before = [attempt(0), attempt(1)];
    make_invalid(&place, &last(&place), 0);
    let missing = || place.json(["plan", "status", "plan.toml", "--json"])["missing"].as_u64().unwrap();
    assert_eq!(missing(), 3);
    let done = resume(&place);
    assert_eq!((done.code, missing()), (Some(8), 2), "{}{}", done.stdout, done.stderr);
    assert!(attempt(0).0 > before[0].0, "measured again");
    assert_eq!((attempt(0).1, attempt(1)), ("recorded".into(), before[1].clone()));
}

/// A plan whose first round is measured on media that were not moved after it. What `info` says of a medium is what a file
/// beside it says; a file system in memory has no identity of its own.
fn not_moved() -> (Place, tempfile::TempDir, Done) {
    let place = planned("A=1,2", "a,b");
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let nodes: Vec<String> = ["a", "b"]
        .iter()
        .map(|name| {
            let target = memory.path().join(name);
            fs::create_dir(&target).unwrap();
            fs::write(memory.path().join(format!("{name}.serial")), format!("S-{name}")).unwrap();
            format!("{name}={}", target.display())
        })
        .collect();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = info ]; then for last; do :; done\n\
         echo \"{{\\\"medium\\\": {{\\\"unit\\\": \\\"$(cat \"$last.serial\")\\\"}}}}\"; exit; fi\nexec '{ASSAY}' \"$@\"\n"
    );
    let program = place.file("program", script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    let words = ["fleet", "run", "--rotate", "plan.toml", "--via", "local", "--program", &program];
    let first = begin(&place, &[&words[..], &[&nodes[0], &nodes[1]], &NULL].concat());
    assert_eq!(first.code, Some(8), "{}{}", first.stdout, first.stderr);
    let stayed = resume(&place);
    assert_eq!(stayed.code, Some(8), "{}{}", stayed.stdout, stayed.stderr);
    assert!(stayed.stdout.contains("Not moved as round 2 of the plan requires; nothing is measured."));
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 2);
    (place, memory, stayed)
}

#[test]
fn a_medium_that_was_not_moved_is_noticed_before_anything_is_measured() {
    let (place, memory, stayed) = not_moved();
    let words = "a: the medium here, S-a, was unit ";
    assert!(stayed.stdout.contains(words) && stayed.stdout.contains("in round 1; unit "), "{}", stayed.stdout);
    for (name, serial) in [("a", "S-b"), ("b", "S-a")] {
        fs::write(memory.path().join(format!("{name}.serial")), serial).unwrap();
    }
    resume(&place).succeeds();
    assert_eq!(place.json(["plan", "status", "plan.toml", "--json"])["complete"], true);
}

/// It may have been the first round in which the units were in wrong slots.
#[test]
fn a_round_is_not_judged_by_one_whose_records_were_removed() {
    let (place, _memory, stayed) = not_moved();
    let plan = place.json(["plan", "status", "plan.toml", "--json"])["plan"].as_str().unwrap().to_owned();
    let wrong = format!("plan={plan} round=1");
    let said = stayed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("round 1 had them wrong: assay rm '{wrong}'")), "{}", stayed.stdout);
    run(place.assay(["rm", &wrong])).succeeds();
    let done = resume(&place);
    assert_eq!(done.code, Some(1), "as plan status: {}{}", done.stdout, done.stderr);
    assert!(one_line(&done.stdout).contains("are over, and 2 of 4 cells have a result"), "{}", done.stdout);
    assert_eq!(place.json(["plan", "status", "plan.toml", "--json"])["missing"], 2);
}

/// A medium whose node says nothing before it is measured is judged by its record, which counts nowhere: not in the plan, not
/// where it is fetched, and not when the run goes on.
#[test]
fn the_record_of_a_medium_that_was_not_moved_counts_nowhere() {
    let name = "the_record_of_a_medium_that_was_not_moved_counts_nowhere";
    let place = planned("A=1,2", "a,b");
    let Some(own) = place.json(["info", "a", "--json"])["medium"]["unit"].as_str().map(str::to_owned) else {
        return skip(name, &Missing("needs a medium with an identity".to_owned()));
    };
    // In the first round the medium of a says who it is, and that of b another name; after that they say nothing.
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = info ]; then for last; do :; done; cat \"$last.info\" 2>/dev/null || echo '{{}}'; exit; fi\n\
         exec '{ASSAY}' \"$@\"\n"
    );
    let program = place.file("program", script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    for (node, unit) in [("a", own.as_str()), ("b", "S-b")] {
        place.file(format!("{node}.info"), serde_json::json!({ "medium": { "unit": unit } }).to_string());
    }
    let words = ["fleet", "run", "--rotate", "plan.toml", "--via", "local", "--program", &program, "a=a", "b=b"];
    let first = begin(&place, &[&words[..], &NULL].concat());
    assert_eq!(first.code, Some(8), "{}{}", first.stdout, first.stderr);
    ["a.info", "b.info"].iter().for_each(|file| fs::remove_file(place.path().join(file)).unwrap());

    let stayed = resume(&place);
    assert_eq!(stayed.code, Some(4), "{}{}", stayed.stdout, stayed.stderr);
    assert!(stayed.stdout.contains("record not taken: the medium here, "), "{}", stayed.stdout);
    let missing = || place.json(["plan", "status", "plan.toml", "--json"])["missing"].as_u64().unwrap();
    assert_eq!(missing(), 1);
    run(place.assay(["fleet", "collect", &last(&place), "--via", "local"]));
    let again = place.json(["fleet", "list", "--json"]);
    let nodes = again["runs"].as_array().unwrap().last().unwrap()["nodes"].clone();
    let fate = nodes.as_array().unwrap().iter().find(|node| node["name"] == "a").unwrap()["fate"]["fate"].clone();
    assert_eq!(fate, "not_taken", "{nodes}");

    // A medium without an identity is there now.
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::remove_dir(place.path().join("a")).unwrap();
    std::os::unix::fs::symlink(memory.path(), place.path().join("a")).unwrap();
    let done = resume(&place);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert_eq!(missing(), 0);
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 5, "it was measured anew");
}

/// What asks for the Enter key.
const PRESS: &str = "Press Enter when it is done";

/// On a terminal each round waits for Enter, and what was typed before it asks is no answer.
#[test]
fn somebody_at_a_terminal_says_when_the_units_were_moved() {
    if Terminal::new("somebody_at_a_terminal_says_when_the_units_were_moved").is_none() {
        return;
    }
    let place = planned("A=1,2", "a,b");
    let mut terminal = AtTerminal::new(&place, &[&RUN[..], &["b=b"], &NULL].concat().join(" "));
    terminal.waits_for(PRESS, 1);
    terminal.presses("\n\n");
    terminal.waits_for(PRESS, 2);
    std::thread::sleep(Duration::from_secs(1));
    let runs = place.json(["fleet", "list", "--json"]);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "nothing was moved yet: {runs}");
    // Another process does not begin the round that this one asks about.
    let resumed = resume(&place);
    assert_eq!(resumed.code, Some(4), "{}{}", resumed.stdout, resumed.stderr);
    assert!(resumed.stderr.contains("is carried out by another process at the moment"), "{}", resumed.stderr);
    terminal.presses("\n");
    let (said, code) = terminal.ended();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("Press Enter when it is done").count(), 2, "{said}");
    let order = ["Round 1 of 2", "put before it begins", "Press Enter", "Round 2 of 2", "Press Enter", "All 2 rounds"];
    order.iter().fold(said.as_str(), |rest, words| {
        let at = rest.find(words).unwrap_or_else(|| panic!("{words} is missing in {said}"));
        &rest[at..]
    });
    assert_eq!(place.json(["plan", "status", "plan.toml", "--json"])["complete"], true);
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 4);
}

/// Nodes get the suite through ssh, as the file is not there.
#[test]
fn a_plan_is_carried_out_on_nodes_behind_ssh() {
    let name = "a_plan_is_carried_out_on_nodes_behind_ssh";
    let _lab = lab!(name, Lab::share());
    let cluster = lab!(name, Cluster::new(&ClusterPlan::with_nodes(3)));
    let assay = |words: &[&str]| -> Output {
        let mut command = cluster.command(ASSAY);
        command.env("ASSAY_DATA", cluster.directory().join("here")).env("HOME", cluster.directory()).args(words);
        command.output().unwrap()
    };
    let (suite, plan) = (cluster.directory().join("tiny.toml"), cluster.directory().join("plan.toml"));
    fs::write(&suite, tiny_at_leisure()).unwrap();
    let (suite, plan) = (suite.display().to_string(), plan.display().to_string());
    let new = ["plan", "new", "--units", "A=1,2;B x=1", "--slots", "n1,n2,n3", "--rounds", "2", "--suite", &suite];
    assert!(assay(&[&new[..], &["-o", &plan]].concat()).status.success());
    let targets: Vec<String> =
        cluster.nodes().iter().map(|node| format!("{}={}", node.name(), node.target().display())).collect();
    let mut words = vec!["fleet", "run", "--json", "--rotate", &plan, "--program", ASSAY];
    words.extend(targets.iter().map(String::as_str));
    words.extend(["--", "--engine", "null"]);
    let printed = |output: &Output| -> Value {
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
            panic!("{e}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        })
    };
    let first = assay(&words);
    let all = printed(&first);
    assert_eq!(first.status.code(), Some(8), "{all}");
    let run = all["run"]["run"].as_str().unwrap();
    let second = assay(&["fleet", "run", "--json", "--resume", run]);
    assert_eq!(second.status.code(), Some(0), "{}", printed(&second));
    let status = printed(&assay(&["plan", "status", &plan, "--json"]));
    assert_eq!((&status["complete"], &status["misfits"]), (&true.into(), &serde_json::json!([])), "{status}");
    for node in cluster.nodes() {
        assert_eq!(fs::read_dir(node.target()).unwrap().count(), 0);
    }
}

/// The inventory says which slot a host is.
#[test]
fn a_plan_is_carried_out_on_an_inventory() {
    let name = "a_plan_is_carried_out_on_an_inventory";
    if std::process::Command::new("ansible-playbook").arg("--version").output().is_err() {
        return skip(name, &Missing("needs ansible-playbook".to_owned()));
    }
    let place = planned("A=1,2", "left,right");
    let line = |(node, slot): (&str, &str)| {
        let own = |part: &str| place.path().join(part).display().to_string();
        let there = own(&format!("there-{node}"));
        format!(
            "n{node} assay_target={} assay_directory={there} assay_slot={slot} ansible_connection=local\n",
            own(node)
        )
    };
    let all = "[all:vars]\nassay_options=['--label', 'lot=7', '--engine', 'null']\n";
    place.file("cards.ini", [("a", "right"), ("b", "left")].map(line).concat() + all);
    fs::create_dir(place.path().join("bin")).unwrap();
    fs::copy(ASSAY, place.path().join("bin").join(format!("assay-{}", std::env::consts::ARCH))).unwrap();
    let patiently = |words: &[&str]| -> Value {
        let output = place.assay(words).env("HOME", place.path()).env_remove("ANSIBLE_CONFIG").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    };
    let words = ["fleet", "run", "-i", "cards.ini", "--binaries", "bin", "--rotate", "plan.toml", "--json"];
    let first = patiently(&words);
    assert_eq!(first["next"]["turn"]["round"], 2, "{first}");
    let second = patiently(&["fleet", "run", "--json", "--resume", &last(&place)]);
    assert_eq!(second["next"], Value::Null, "{second}");
    let status = place.json(["plan", "status", "plan.toml", "--json"]);
    assert_eq!((&status["complete"], &status["misfits"]), (&true.into(), &serde_json::json!([])), "{status}");
    let record = place.json(["show", fate(&second, "na")["id"].as_str().unwrap(), "--json"]);
    assert_eq!((&record["labels"]["slot"], &record["labels"]["lot"]), (&"right".into(), &"7".into()));
    assert_eq!(record["tool"]["engine"], "null", "the inventory's own options are kept");
}
