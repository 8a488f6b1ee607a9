//! Runs on several nodes, which are processes of this machine.

use assay_core::finding::ValidityVerdict;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_store::{RunState, SqliteStore, Store};
use rustix::process::Signal;
use serde_json::Value;

use crate::common::family::{assert_gone, family};
use crate::common::{ASSAY, Place, assert_empty, fate, random, run, send, suite};

/// Directories of three nodes.
fn nodes(place: &Place) -> [String; 3] {
    ["a", "b", "c"].map(|name| {
        let directory = place.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        format!("{name}={}", directory.display())
    })
}

fn records(place: &Place) -> Vec<Record> {
    let list = place.json(["list", "--json"]);
    let ids = list.as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned());
    ids.map(|id| serde_json::from_value(place.json(["show", &id, "--json"])).unwrap()).collect()
}

#[test]
fn three_nodes_begin_together_and_their_records_are_here() {
    let place = Place::new();
    let nodes = nodes(&place);
    let loads = [random("r", "read", "200ms"), random("w", "write", "200ms"), random("s", "read", "200ms")];
    place.file("three.toml", suite("three", "30s", 1, &loads));
    let mut arguments = vec!["fleet", "run", "--json", "--via", "local"];
    arguments.extend(nodes.iter().map(String::as_str));
    arguments.extend(["--", "--suite", "three.toml", "--label", "model=X"]);
    let done = run(place.assay(&arguments));
    done.measures();
    let printed: Value = serde_json::from_str(&done.stdout).unwrap();
    let records = records(&place);
    assert_eq!(records.len(), 3);
    let name = printed["run"]["run"].as_str().unwrap();
    for record in &records {
        let part = record.cluster.as_deref().unwrap();
        assert_eq!((part.run.as_str(), part.attempt, part.nodes, part.at_a_time), (name, 1, 3, 3));
        assert_eq!((part.mode.as_str(), &part.lost, &record.outcome), ("simultaneous", &None, &Outcome::Completed));
        assert_eq!(fate(&printed, &part.node)["id"], record.id.as_str());
        assert_eq!((&record.labels["fleet"], &record.labels["node"]), (&part.run, &part.node));
        let clock = part.clock.as_ref().unwrap();
        assert!(clock.exchanges >= 32 && clock.bound_ns > 0 && clock.drift_ppm.is_some(), "{clock:?}");
    }
    // Each repeat of all was to begin at one moment, and did not begin before.
    for workload in 0..3 {
        let starts: Vec<_> =
            records.iter().map(|r| r.measurements[workload].repeats[0].common_start.as_deref().unwrap()).collect();
        assert!(starts.iter().all(|start| start.planned_ns == starts[0].planned_ns && start.nodes == 3), "{starts:?}");
        for start in starts {
            assert!(start.began_ns >= start.planned_ns, "{start:?}");
        }
    }
    assert!(
        printed["starts"]["n"] == 9 && printed["starts"]["p95_late_ns"].as_i64().unwrap() >= 0,
        "{}",
        printed["starts"]
    );
    ["a", "b", "c"].iter().for_each(|name| assert_empty(&place.path().join(name)));
    for left in ["nodes", "reports"] {
        assert!(!place.data().join(left).exists(), "{left}: nodes leave neither store nor page");
    }
    let list = run(place.assay(["fleet", "list"]));
    assert!(list.succeeds().stdout.contains("simultaneous  3 of 3 nodes"), "{}", list.stdout);
    let collected = place.json(["fleet", "collect", name, "--json"]);
    for row in collected["nodes"].as_array().unwrap() {
        assert_eq!((row["here"].as_array().unwrap().len(), &row["reason"]), (1, &Value::Null), "of that node: {row}");
    }
    // What is found by its label is what every other command takes.
    run(place.assay(["compare", &format!("fleet={name} node=a"), &format!("fleet={name} node=b")])).measures();
}

#[test]
fn who_does_not_come_is_a_line_and_is_repeated_alone() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    let missing = place.path().join("late");
    let missing = format!("late={}", missing.display());
    let arguments = [
        "fleet",
        "run",
        "--json",
        "--via",
        "local",
        &a,
        &b,
        &missing,
        "--",
        "--suite",
        "tiny.toml",
        "--engine",
        "null",
    ];
    let done = run(place.assay(arguments));
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    let printed: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (&fate(&printed, "late")["fate"], &fate(&printed, "late")["cause"]),
        (&"not_begun".into(), &"no_target".into())
    );
    assert!(fate(&printed, "late")["reason"].as_str().unwrap().contains("no such file"), "{printed}");
    assert_eq!(records(&place).len(), 2);

    std::fs::create_dir(place.path().join("late")).unwrap();
    let name = printed["run"]["run"].as_str().unwrap().to_owned();
    let again: Value =
        serde_json::from_str(&run(place.assay(["fleet", "run", "--json", "--resume", &name])).measures().stdout)
            .unwrap();
    let of = |printed: &Value, node: &str| fate(printed, node)["id"].clone();
    assert_eq!(
        (of(&again, "a"), of(&again, "b")),
        (of(&printed, "a"), of(&printed, "b")),
        "what is here is not repeated"
    );
    let records = records(&place);
    assert_eq!(records.len(), 3);
    let late = records.iter().find(|r| r.cluster.as_ref().unwrap().node == "late").unwrap();
    assert_eq!((late.cluster.as_ref().unwrap().attempt, late.cluster.as_ref().unwrap().nodes), (2, 1));
}

/// Directories of coordinators among temporary files.
fn meeting_places(place: &Place) -> usize {
    let named = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("assay-fleet-");
    std::fs::read_dir(place.path()).unwrap().flatten().filter(|entry| named(&entry.file_name())).count()
}

/// The coordinator is killed while nodes measure: they end by themselves, the run is completed later, and what it left is removed.
#[test]
fn a_run_goes_on_after_its_coordinator_was_killed() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    place.file("two.toml", suite("two", "20s", 2, &[random("r", "read", "500ms"), random("w", "write", "500ms")]));
    let (mut child, mut lines) = begin(&place, &["--via", "local", &a, &b, "--", "--suite", "two.toml"]);
    lines.find(|line| line.as_ref().unwrap().contains("repeat 1 of w")).unwrap().unwrap();
    let nodes = family(child.id());
    send(child.id(), Signal::KILL);
    child.wait().unwrap();
    assert_gone(&nodes);
    assert_eq!(meeting_places(&place), 1, "no command removed it");

    let mut list = place.assay(["fleet", "list", "--json"]);
    list.env("TMPDIR", place.path());
    let list: Value = serde_json::from_str(&run(list).succeeds().stdout).unwrap();
    assert_eq!(meeting_places(&place), 0, "the next command does");
    let name = list["runs"][0]["run"].as_str().unwrap();
    let done = run(place.assay(["fleet", "run", "--json", "--resume"]));
    let printed: Value = serde_json::from_str(&done.succeeds().stdout).unwrap();
    for node in ["a", "b"] {
        assert_eq!(fate(&printed, node)["fate"], "recorded", "{printed}");
    }
    assert_eq!(printed["run"]["run"], name, "without a name the last one is resumed");
    let complete = |record: &&Record| record.cluster.as_ref().is_some_and(|c| c.lost.is_none() && c.attempt == 2);
    assert_eq!(records(&place).iter().filter(complete).count(), 2);
    ["a", "b"].iter().for_each(|name| assert_empty(&place.path().join(name)));
}

/// What a killed node of this machine had is found by each command on nodes.
#[test]
fn what_a_killed_node_left_is_taken_in_by_the_next_command() {
    let place = Place::new();
    run(place.assay(["run", "-q", "--suite", "tiny.toml", "--engine", "null", "medium"])).measures();
    let own = place.data().join("nodes/0123456789");
    std::fs::create_dir_all(&own).unwrap();
    for file in std::fs::read_dir(place.data()).unwrap().flatten().filter(|file| file.path().is_file()) {
        std::fs::rename(file.path(), own.join(file.file_name())).unwrap();
    }
    run(place.assay(["fleet", "list"])).succeeds();
    assert!(!place.data().join("nodes").exists());
    assert_eq!(records(&place).len(), 1);
}

/// A node with a store of its own finished as its coordinator died: what it has is handed over, and not measured again.
#[test]
fn what_a_node_finished_alone_is_handed_over_by_the_next_attempt() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    let script = format!("#!/bin/sh\nASSAY_DATA=$ASSAY_DATA/../own exec '{ASSAY}' \"$@\"\n");
    let program = place.file("program", script);
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    let words = ["fleet", "run", "--json", "--via", "local", "--program", &program, &a, &b];
    let words = [&words[..], &["--", "--suite", "tiny.toml", "--engine", "null"]].concat();
    let first: Value = serde_json::from_str(&run(place.assay(words)).succeeds().stdout).unwrap();
    assert!(!place.path().join("own").exists(), "what was handed over is gone there");
    // As if the coordinator had died before it had the record, and the node had finished.
    let own = place.path().join("own");
    std::fs::create_dir(&own).unwrap();
    for file in std::fs::read_dir(place.data()).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("assay.sqlite") {
            std::fs::rename(file.path(), own.join(file.file_name())).unwrap();
        }
    }
    let name = first["run"]["run"].as_str().unwrap();
    let ledger = place.data().join("fleet").join(format!("{name}.json"));
    let mut printed: Value = serde_json::from_slice(&std::fs::read(&ledger).unwrap()).unwrap();
    printed["nodes"][0]["fate"] = Value::Null;
    std::fs::write(&ledger, printed.to_string()).unwrap();
    let again = run(place.assay(["fleet", "run", "--json", "--resume", "last"]));
    let again: Value = serde_json::from_str(&again.succeeds().stdout).unwrap();
    assert_eq!(fate(&again, "a"), fate(&first, "a"));
    let records = records(&place);
    assert_eq!((records.len(), records[0].cluster.as_ref().unwrap().attempt), (1, 1));
}

/// A node that is interrupted has a record that is not complete, and is missing.
#[test]
fn an_interrupted_node_is_repeated() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    place.file("two.toml", suite("two", "20s", 2, &[random("r", "read", "1s"), random("w", "write", "1s")]));
    let (mut child, mut lines) = begin(&place, &["--via", "local", &a, &b, "--", "--suite", "two.toml"]);
    lines.find(|line| line.as_ref().unwrap().contains("repeat 1 of r")).unwrap().unwrap();
    let node = family(child.id()).into_iter().skip(1).find(|process| command_line(process.id).contains("--node\0a\0"));
    send(node.unwrap().id, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let printed = place.json(["fleet", "list", "--json"])["runs"][0].clone();
    let printed = serde_json::json!({ "run": printed });
    assert_eq!(
        (&fate(&printed, "a")["fate"], &fate(&printed, "b")["fate"]),
        (&"incomplete".into(), &"recorded".into()),
        "{printed}"
    );
    let name = printed["run"]["run"].as_str().unwrap();
    run(place.assay(["fleet", "run", "-q", "--resume", name])).succeeds();
    let complete = |record: &&Record| record.outcome == Outcome::Completed;
    assert_eq!(records(&place).iter().filter(complete).count(), 2);
}

/// What a run has where the record of this node is invalid.
pub(crate) fn make_invalid(place: &Place, name: &str, node: usize) {
    let file = place.data().join("fleet").join(format!("{name}.json"));
    let mut ledger: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let fate = &mut ledger["nodes"][node]["fate"];
    (fate["fate"], fate["reason"]) = ("invalid".into(), "served from a cache".into());
    let mut store = SqliteStore::open(&place.data()).unwrap();
    let mut record = store.load(fate["id"].as_str().unwrap()).unwrap().record;
    record.validity.verdict = ValidityVerdict::Invalid;
    store.save(&record, RunState::Finished).unwrap();
    std::fs::write(&file, ledger.to_string()).unwrap();
}

/// A report without figures says why, and the node is measured again, also where it has a store of its own on this machine.
#[test]
fn an_invalid_record_is_no_result_of_its_node() {
    let place = Place::new();
    let [a, ..] = nodes(&place);
    let words = ["fleet", "run", "-q", "--via", "local", &a, "--", "--suite", "tiny.toml", "--engine", "null"];
    run(place.assay(words)).measures();
    let name = place.json(["fleet", "list", "--json"])["runs"][0]["run"].as_str().unwrap().to_owned();
    make_invalid(&place, &name, 0);
    let listed = run(place.assay(["fleet", "list"]));
    assert!(listed.stdout.contains("0 of 1 nodes"), "{}", listed.stdout);
    let report = run(place.assay(["fleet", "report", "-o", "run.html"]));
    let said = report.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(report.code, Some(1), "{}", report.stderr);
    assert!(said.contains("wrote run.html no figure of run ") && said.contains(": invalid: "), "{said}");
    run(place.assay(["fleet", "run", "-q", "--resume", &name])).measures();
    assert_eq!(records(&place).len(), 2, "it was measured again");
}

/// Ctrl-C: nodes end in good order and leave nothing behind, and none is counted as recorded.
#[test]
fn an_interrupted_run_ends_its_nodes() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    place.file("two.toml", suite("two", "60s", 2, &[random("r", "read", "8s"), random("w", "write", "8s")]));
    let (mut child, mut lines) = begin(&place, &["--via", "local", &a, &b, "--", "--suite", "two.toml"]);
    lines.find(|line| line.as_ref().unwrap().contains("repeat 1 of r")).unwrap().unwrap();
    let nodes = family(child.id());
    send(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_gone(&nodes);
    ["a", "b"].iter().for_each(|name| assert_empty(&place.path().join(name)));
    let printed = place.json(["fleet", "list", "--json"])["runs"][0].clone();
    let printed = serde_json::json!({ "run": printed });
    assert_eq!(
        (&fate(&printed, "a")["fate"], &fate(&printed, "b")["fate"]),
        (&"interrupted".into(), &"interrupted".into())
    );
}

type Lines = std::io::Lines<std::io::BufReader<std::process::ChildStderr>>;

/// A run that begins, and what it says.
fn begin(place: &Place, arguments: &[&str]) -> (std::process::Child, Lines) {
    let mut command = place.assay([&["fleet", "run"], arguments].concat());
    command.env("TMPDIR", place.path());
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    (child, lines)
}

fn command_line(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default()
}

#[test]
fn bad_input_costs_one_line() {
    let place = Place::new();
    let refused = |arguments: &[&str], words: &[&str]| {
        run(place.assay(arguments)).refuses(2, words).at_once();
    };
    refused(&["fleet", "run", "--via", "local", "a=.", "a=."], &["node a is named twice"]);
    refused(&["fleet", "run", "--via", "local", "a b=."], &["letters, digits"]);
    refused(&["fleet", "run", "--via", "local", "a="], &["NAME or NAME=TARGET"]);
    refused(&["fleet", "run", "--via", "local", "a=.", "--quorum", "2"], &["--quorum 2 is more than the 1 node"]);
    refused(&["fleet", "run", "--via", "local", "a=.", "--", "--quiet"], &["on the nodes", "--quiet"]);
    refused(&["fleet", "run", "--via", "local", "a=.", "--", "--no-such"], &["on the nodes", "--no-such"]);
    let list = run(place.assay(["fleet", "list"]));
    assert!(list.succeeds().stdout.is_empty(), "nothing of these is kept: {}", list.stdout);
    refused(&["fleet", "run", "--resume", "nothing"], &["no run on a cluster is called nothing"]);
    refused(&["run", "--start-at", "2020-01-01T00:00:00Z"], &["--start-at", "is in the past"]);
    let join = ["run", "--rendezvous", "127.0.0.1:1", "--node", "a", "--fleet-run", "r"];
    refused(&join, &["needs the key of the node in ASSAY_FLEET_KEY"]);
    place.file("key", "12345");
    refused(&[&join[..], &["--rendezvous-key", "key"]].concat(), &["key holds no key: 64 hexadecimal digits"]);
    place.file("key", "1".repeat(64));
    let nobody = run(place.assay([&join[..], &["--rendezvous-key", "key"]].concat()));
    nobody.refuses(4, &["this node cannot take part in run r", "127.0.0.1:1"]).at_once();
    place.assert_clean();
}

#[test]
fn events_are_lines_of_json_from_the_start_to_the_end() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    place.file("two.toml", suite("two", "20s", 2, &[random("r", "read", "1200ms")]));
    let done = run(place.assay(["fleet", "run", "--events", "--via", "local", &a, &b, "--", "--suite", "two.toml"]));
    let lines: Vec<Value> = done.measures().stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!((&lines[0]["event"], &lines[0]["nodes"]), (&"started".into(), &2.into()));
    assert_eq!([of("joined").len(), of("ready").len(), of("goes").len(), of("over").len()], [2, 4, 2, 2]);
    assert!(!of("live").is_empty(), "{}", done.stdout);
    assert_eq!(of("goes")[1]["repeat"], 2);
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], last["run"]["nodes"].as_array().unwrap().len()), (&"ended".into(), 2));
    for over in of("over") {
        let node = over["node"].as_str().unwrap();
        assert_eq!(&over["fate"], fate(last, node), "as in the document at the end");
    }
}

#[test]
fn a_run_may_begin_at_a_time_of_day() {
    let place = Place::new();
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(4);
    let record: Record = serde_json::from_value(place.json([
        "run",
        "--json",
        "--suite",
        "tiny.toml",
        "medium",
        "--start-at",
        &at.to_string(),
    ]))
    .unwrap();
    let first = &record.measurements[0].repeats[0];
    let began: jiff::Timestamp = first.started.parse().unwrap();
    let start = first.common_start.as_deref().unwrap();
    assert_eq!((start.planned_ns, start.bound_ns, start.nodes), (0, None, 1));
    assert!(start.began_ns >= 0 && (began.duration_since(at)).abs() < jiff::SignedDuration::from_secs(3), "{first:?}");
    assert!(record.cluster.is_none() && record.measurements[1].repeats[0].common_start.is_none());
}

/// The key of a run is in the environment of its nodes, and nowhere else: in no file, in nothing that is said, on no command
/// line while they measure.
#[test]
fn the_key_of_a_run_is_written_nowhere() {
    let place = Place::new();
    let [a, b, _] = nodes(&place);
    place.file("two.toml", suite("two", "20s", 2, &[random("r", "read", "700ms")]));
    // A node tells the test its key, outside of all that the run may write.
    let key_directory = tempfile::tempdir().unwrap();
    let key_file = key_directory.path().join("key");
    let script = format!("#!/bin/sh\necho \"$ASSAY_FLEET_KEY\" > '{}'\nexec '{ASSAY}' \"$@\"\n", key_file.display());
    let program = place.file("program", script);
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // In the place of ssh: what a shell on the host is to do is its last word, and its tunnel leads where it would.
    let stand_in = "#!/bin/sh\nfor last; do [ \"$before\" = -R ] && map=$last; before=$last; done\n\
                    far=${map%%:*}; near=${map#*:}\n\
                    exec sh -c \"$(printf %s \"$last\" | sed \"s|$far|$near|\")\"\n";
    let ssh = place.file("ssh", stand_in);
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap());
    for via in ["local", "ssh"] {
        let program = program.display().to_string();
        let words =
            ["fleet", "run", "--events", "--via", via, "--listen", "127.0.0.1:0", "--program", &program, &a, &b];
        let mut command = place.assay([&words[..], &["--", "--suite", "two.toml"]].concat());
        command.env("PATH", &path).env("TMPDIR", place.path());
        let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let mut seen = 0;
        let id = child.id();
        let watching = std::thread::spawn(move || child.wait_with_output().unwrap());
        while !watching.is_finished() {
            if let Some(key) = std::fs::read_to_string(&key_file).ok().filter(|key| key.trim().len() == 64) {
                for process in family(id) {
                    let line = command_line(process.id);
                    assert!(!line.contains(key.trim()), "{line}");
                    seen += usize::from(line.contains("--rendezvous"));
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let output = watching.join().unwrap();
        assert!(output.status.success(), "{via}: {output:?}");
        let key = std::fs::read_to_string(&key_file).unwrap().trim().to_owned();
        assert!(key.len() == 64 && seen > 0, "{via}: {key}, {seen} command lines: {output:?}");
        let raw: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&key[2 * at..2 * at + 2], 16).unwrap()).collect();
        let holds = |bytes: &[u8]| {
            let found = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
            found(key.as_bytes()) || found(key.to_uppercase().as_bytes()) || found(&raw)
        };
        assert!(!holds(&output.stdout) && !holds(&output.stderr));
        let mut files = 0;
        let mut left = vec![place.path().to_owned()];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(directory).unwrap().flatten() {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => left.push(entry.path()),
                    kind if kind.is_file() => {
                        files += 1;
                        assert!(!holds(&std::fs::read(entry.path()).unwrap()), "{}", entry.path().display());
                    }
                    _ => {}
                }
            }
        }
        assert!(files > 5, "{files} files: store, ledger and scripts");
        std::fs::remove_file(&key_file).unwrap();
    }
    assert_eq!(records(&place).len(), 4);
}

/// Only a program that is not there is called missing; another reason is told as the system says it.
#[test]
fn a_program_that_may_not_be_executed_is_not_called_missing() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("a")).unwrap();
    let program = place.file("program", "no program").display().to_string();
    let fate_of_a = |program: &str| {
        let words = ["fleet", "run", "--json", "--via", "local", "--program", program, "a=a"];
        let done = run(place.assay(words));
        let printed: Value = serde_json::from_str(&done.stdout).unwrap();
        fate(&printed, "a").clone()
    };
    let denied = fate_of_a(&program);
    assert_eq!(denied["cause"], "other", "{denied}");
    assert!(denied["reason"].as_str().unwrap().contains("Permission denied"), "{denied}");
    assert_eq!(fate_of_a("/no/assay")["cause"], "no_program");
}
