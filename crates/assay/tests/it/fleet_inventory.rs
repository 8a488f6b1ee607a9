//! Commands of `assay fleet` with an inventory, whose hosts are directories of this machine, and with nodes that a script in
//! the place of ssh reaches.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use assay_lab::{Missing, skip};
use serde_json::Value;

use crate::common::{ASSAY, Done, Place, assert_empty, assert_harmless, node, run};

fn ansible() -> Result<(), Missing> {
    Command::new("ansible-playbook")
        .arg("--version")
        .output()
        .map_err(|_| Missing("needs ansible-playbook".to_owned()))?;
    Ok(())
}

/// An inventory of so many nodes, and programs for them.
fn cards(place: &Place, nodes: usize) -> PathBuf {
    let mut text = "[cards]\n".to_owned();
    for number in 1..=nodes {
        for part in ["medium", "there"] {
            std::fs::create_dir_all(place.path().join(format!("{part}{number}"))).unwrap();
        }
        let own = |part: &str| place.path().join(format!("{part}{number}")).display().to_string();
        writeln!(
            text,
            "n{number} assay_target={} assay_directory={} assay_unit={number} assay_slot=s{number}",
            own("medium"),
            own("there")
        )
        .unwrap();
    }
    text += "[cards:vars]\nansible_connection=local\nansible_python_interpreter=/nonexistent\n";
    std::fs::create_dir_all(place.path().join("bin")).unwrap();
    let program = place.path().join("bin").join(format!("assay-{}", std::env::consts::ARCH));
    if !program.exists() {
        std::fs::hard_link(ASSAY, &program).or_else(|_| std::fs::copy(ASSAY, &program).map(drop)).unwrap();
    }
    place.file("cards.ini", text)
}

/// A command of `assay fleet`, whose temporary files are in a directory that is empty afterwards.
fn fleet(place: &Place, arguments: &[&str]) -> Done {
    let temporary = place.path().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = place.assay([&["fleet"], arguments].concat());
    command.env("TMPDIR", &temporary).env("HOME", place.path()).env_remove("ANSIBLE_CONFIG");
    let done = patiently(command);
    assert_empty(&temporary);
    assert_harmless(&done.stderr);
    done
}

/// Ansible takes as long as the machine lets it.
fn patiently(mut command: Command) -> Done {
    let begun = Instant::now();
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    Done { code: output.status.code(), stdout, stderr, elapsed: begun.elapsed() }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Without a directory of programs, nodes like this machine get the one that runs here.
#[test]
fn nodes_like_this_machine_get_the_running_program() {
    if let Err(missing) = ansible() {
        return skip("nodes_like_this_machine_get_the_running_program", &missing);
    }
    let place = Place::new();
    cards(&place, 2);
    let check = fleet(&place, &["check", "-i", "cards.ini", "--json", "--", "--suite", "tiny.toml"]);
    assert_eq!(json(&check.succeeds().stdout)["fit"], 2, "{}", check.stdout);
    let own = std::fs::read(ASSAY).unwrap();
    assert!(std::fs::read(place.path().join("there1/assay")).unwrap() == own, "it is this program");
}

/// The last host of an inventory fails. The run reports it at once, quotes the program, and does not wait for the host.
#[test]
fn a_last_host_that_fails_is_told_at_once() {
    if let Err(missing) = ansible() {
        return skip("a_last_host_that_fails_is_told_at_once", &missing);
    }
    let place = Place::new();
    cards(&place, 3);
    let sum = std::fs::read_to_string(place.path().join("cards.ini")).unwrap();
    // A target that is there when the playbook looks at it, and that the program refuses.
    let file = place.file("no-directory", "x").display().to_string();
    place.file("cards.ini", sum.replace(&place.path().join("medium3").display().to_string(), &file));
    let arguments = ["run", "-i", "cards.ini", "--json", "--ready-within", "1h", "--", "--suite", "tiny.toml"];
    let done = fleet(&place, &arguments);
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    assert!(done.elapsed < std::time::Duration::from_secs(1800), "{:?}: it waited", done.elapsed);
    let printed = json(&done.stdout);
    for name in ["n1", "n2"] {
        assert_eq!(node(&printed, name)["fate"]["fate"], "recorded", "{printed}");
    }
    let fate = &node(&printed, "n3")["fate"];
    assert!(fate["fate"] == "not_begun" && fate["reason"].as_str().unwrap().contains("no-directory"), "{fate}");
}

#[test]
fn an_inventory_is_checked_measured_collected_and_left_as_it_was() {
    if let Err(missing) = ansible() {
        return skip("an_inventory_is_checked_measured_collected_and_left_as_it_was", &missing);
    }
    let place = Place::new();
    cards(&place, 2);
    let check =
        fleet(&place, &["check", "-i", "cards.ini", "--binaries", "bin", "--json", "--", "--suite", "tiny.toml"]);
    let printed = json(&check.succeeds().stdout);
    assert_eq!(printed["fit"], 2);
    for name in ["n1", "n2"] {
        let row = node(&printed, name);
        assert_eq!((&row["fits"], &row["reached"]), (&true.into(), &true.into()), "{row}");
        assert!(row["planned_write_bytes"].as_u64().unwrap() > 0 && row["budget_ns"] == 2_000_000_000u64, "{row}");
        let clock = |name: &str| row["clock"][name].as_i64().unwrap();
        assert!(clock("offset_ns").abs() <= clock("bound_ns") && clock("bound_ns") < 5_000_000_000, "{row}");
    }
    let measured =
        fleet(&place, &["run", "-i", "cards.ini", "--binaries", "bin", "--json", "--", "--suite", "tiny.toml"]);
    let printed = json(&measured.succeeds().stdout);
    let name = printed["run"]["run"].as_str().unwrap().to_owned();
    for (number, node_name) in [(1, "n1"), (2, "n2")] {
        let fate = &node(&printed, node_name)["fate"];
        assert_eq!(fate["fate"], "recorded", "{printed}");
        let record = place.json(["show", fate["id"].as_str().unwrap(), "--json"]);
        assert_eq!(
            (&record["labels"]["unit"], &record["labels"]["slot"]),
            (&number.to_string().into(), &format!("s{number}").into())
        );
        assert!(record["measurements"][0]["repeats"][0]["common_start"]["planned_ns"].is_number());
    }
    // All is here already, and the nodes keep nothing that was handed over.
    let again = json(&fleet(&place, &["collect", &name, "--json"]).succeeds().stdout);
    assert!(["n1", "n2"].iter().all(|n| node(&again, n)["here"].as_array().unwrap().len() == 1), "{again}");
    assert!(!place.path().join("there1/data").exists() && !place.path().join("there2/key").exists());
    let lost = node(&printed, "n2")["fate"]["id"].as_str().unwrap();
    run(place.assay(["rm", lost])).succeeds();
    let again = fleet(&place, &["collect", &name, "--json"]);
    assert_eq!(again.code, Some(4), "{}", again.stdout);
    let again = json(&again.stdout);
    assert!(node(&again, "n2")["reason"].as_str().unwrap().contains("no record of"), "{again}");

    let clean = fleet(&place, &["clean", "-i", "cards.ini", "--limit", "n1"]);
    let said = &clean.succeeds().stdout;
    assert!(said.contains("there1/assay") && !said.contains("n2"), "{said}");
    let clean = json(&fleet(&place, &["clean", "-i", "cards.ini", "--records", "--json"]).succeeds().stdout);
    assert!(node(&clean, "n2")["removed"].to_string().contains("there2/assay"), "{clean}");
    for part in ["there1", "there2"] {
        assert!(!place.path().join(part).exists());
    }
    for part in ["medium1", "medium2"] {
        assert_empty(&place.path().join(part));
    }
}

#[test]
fn a_node_that_cannot_be_measured_is_a_line_with_its_reason() {
    if let Err(missing) = ansible() {
        return skip("a_node_that_cannot_be_measured_is_a_line_with_its_reason", &missing);
    }
    let place = Place::new();
    let inventory = cards(&place, 3);
    let own = |part: &str| place.path().join(part).display().to_string();
    std::fs::create_dir(place.path().join("wrong")).unwrap();
    // The group's variables are the last lines.
    let good = std::fs::read_to_string(&inventory).unwrap() + &format!("assay_binaries={}\n", own("bin"));
    let n3 = format!("n3 assay_binaries={} ", own("wrong"));
    place.file("cards.ini", good.replace(&own("medium2"), "/nonexistent").replace("n3 ", &n3));
    let check = fleet(&place, &["check", "-i", "cards.ini", "--", "--suite", "tiny.toml"]);
    assert_eq!(check.code, Some(1), "{}{}", check.stdout, check.stderr);
    for words in [
        "n2: ",
        "/nonexistent",
        "n3: a program for another architecture: no program for ",
        "1 of 3 nodes can be measured",
    ] {
        assert!(check.stdout.contains(words), "{words}: {}", check.stdout);
    }
    let arguments = ["run", "-i", "cards.ini", "--quorum", "1", "--json", "--", "--suite", "tiny.toml"];
    let printed = json(&fleet(&place, &arguments).stdout);
    assert_eq!(node(&printed, "n1")["fate"]["fate"], "recorded", "{printed}");
    for (name, cause, words) in [("n2", "no_target", "/nonexistent"), ("n3", "architecture", "no program for")] {
        let fate = &node(&printed, name)["fate"];
        assert!(fate["cause"] == cause && fate["reason"].as_str().unwrap().contains(words), "{fate}");
    }
    // What was mended is repeated, and nothing else.
    place.file("cards.ini", good);
    let name = printed["run"]["run"].as_str().unwrap();
    let again = json(&fleet(&place, &["run", "--resume", name, "--json"]).succeeds().stdout);
    assert_eq!(node(&again, "n1")["fate"]["id"], node(&printed, "n1")["fate"]["id"]);
    assert!(
        ["n2", "n3"].iter().all(|n| node(&again, n)["fate"]["fate"] == "recorded" && node(&again, n)["attempts"] == 2)
    );
}

#[test]
fn an_inventory_that_is_none_costs_one_line() {
    let place = Place::new();
    let inventory = cards(&place, 2);
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        fleet(&place, arguments).refuses(code, words);
    };
    refused(&["check", "-i", "none.ini"], 2, &["none.ini", "No such file"]);
    refused(&["check", "--via", "ansible", "x"], 2, &["-i FILE"]);
    refused(&["check", "--via", "ssh", "-i", "cards.ini"], 2, &["an inventory is for --via ansible"]);
    refused(&["clean"], 2, &["<NODE>..."]);
    refused(&["collect", "nothing"], 2, &["no run on a cluster is called nothing"]);
    refused(&["run", "x", "-i", "cards.ini"], 2, &["cannot be used with"]);
    let mut nowhere = place.assay(["fleet", "check", "-i", "cards.ini"]);
    nowhere.env("PATH", place.path());
    run(nowhere).refuses(4, &["there is no ansible-playbook", "ansible-core"]);
    if let Err(missing) = ansible() {
        return skip("an_inventory_that_is_none_costs_one_line", &missing);
    }
    place.file("empty.ini", "");
    refused(&["check", "-i", "empty.ini"], 2, &["empty.ini names no host"]);
    place.file("bad.yml", "n1: [\n");
    refused(&["check", "-i", "bad.yml"], 2, &["bad.yml cannot be read", "did not find expected node content"]);
    place.file("evil.ini", "\u{1b}[31m[: x\n");
    refused(&["run", "-i", "evil.ini"], 2, &["evil.ini"]);
    refused(&["check", "-i", "cards.ini", "--limit", "nobody"], 2, &["--limit nobody matches no host"]);
    refused(&["check", "-i", "cards.ini", "--limit", "n1,n7"], 2, &["--limit n7 matches no host"]);
    refused(&["run", "-i", "cards.ini", "--binaries", "nowhere"], 2, &["--binaries nowhere"]);
    let text = std::fs::read_to_string(&inventory).unwrap();
    place.file("twice.ini", text.replace("assay_unit=2", "assay_unit=1"));
    refused(&["run", "-i", "twice.ini"], 2, &["n1 and n2 have the same assay_unit, 1"]);
    place.file("odd.ini", "n\u{e4}1 assay_target=/\n");
    refused(&["check", "-i", "odd.ini"], 2, &["letters, digits"]);
    place.file("none.ini", "n1 ansible_connection=local\n");
    refused(&["run", "-i", "none.ini"], 2, &["n1: the inventory has no assay_target for it"]);
}

/// A program that prints one, with a template.
#[test]
fn an_inventory_may_be_a_program() {
    if let Err(missing) = ansible() {
        return skip("an_inventory_may_be_a_program", &missing);
    }
    let place = Place::new();
    let variables = r#"{"ansible_connection": "local", "assay_unit": "{{ 40 + 2 }}", "assay_target": "/nonexistent"}"#;
    let text = format!(r#"{{"all": {{"hosts": ["n1"]}}, "_meta": {{"hostvars": {{"n1": {variables}}}}}}}"#);
    let script = place.file("dynamic", format!("#!/bin/sh\necho '{text}'\n"));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let check = fleet(&place, &["check", "-i", "dynamic", "--json"]);
    assert_eq!(check.code, Some(1), "{}", check.stderr);
    let printed = json(&check.stdout);
    assert_eq!(
        (&node(&printed, "n1")["unit"], &node(&printed, "n1")["fits"]),
        (&"42".into(), &false.into()),
        "{printed}"
    );
}

/// In the place of ssh: the last word is what a shell on the host is to do; each host has a store of its own.
const SSH: &str = "#!/bin/sh\nfor last; do host=$before before=$last; done\n\
                   case $host in lost) echo 'ssh: connect to host lost: No route to host' >&2; exit 255 ;; esac\n\
                   ASSAY_DATA=\"$STORES/$host\" exec sh -c \"$last\"\n";

fn ssh(place: &Place, arguments: &[&str]) -> Command {
    let script = place.file("path/ssh", SSH);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.assay(arguments);
    let path = format!("{}:{}", script.parent().unwrap().display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("STORES", place.path());
    command
}

fn directory(place: &Place, name: &str) -> String {
    let path: &Path = &place.path().join(name);
    std::fs::create_dir_all(path).unwrap();
    path.display().to_string()
}

#[test]
fn nodes_are_checked_and_their_records_brought_by_ssh() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("path")).unwrap();
    let (a, b) = (format!("a={}", directory(&place, "m1")), "b=/nonexistent".to_owned());
    let arguments = ["fleet", "check", "--program", ASSAY, "--json", &a, &b, "lost=/", "--", "--suite", "smoke"];
    let check = patiently(ssh(&place, &arguments));
    assert_eq!(check.code, Some(1), "{}", check.stderr);
    let printed = json(&check.stdout);
    let (a, b, lost) = (node(&printed, "a"), node(&printed, "b"), node(&printed, "lost"));
    assert!(
        a["fits"] == true && a["free_bytes"].as_u64().unwrap() > 0 && a["machine"] == std::env::consts::ARCH,
        "{a}"
    );
    assert!(a["clock"]["offset_ns"].as_i64().unwrap().abs() <= a["clock"]["bound_ns"].as_i64().unwrap(), "{a}");
    assert!(b["reached"] == true && b["reason"].as_str().unwrap().contains("/nonexistent"), "{b}");
    assert!(
        lost["reached"] == false && lost["reason"] == "unreachable: ssh: connect to host lost: No route to host",
        "{lost}"
    );

    // Each node measured by itself, as the collection does it.
    for host in ["a", "b"] {
        let target = directory(&place, &format!("m-{host}"));
        let mut command =
            place.assay(["run", "-q", "--suite", "tiny.toml", "--engine", "null", "--label", "fleet=monday"]);
        command.args(["--label", &format!("node={host}"), &target]).env("ASSAY_DATA", place.path().join(host));
        run(command).measures();
    }
    let arguments = ["fleet", "collect", "monday", "a", "b", "lost", "c", "--program", ASSAY, "--json"];
    let collect = patiently(ssh(&place, &arguments));
    assert_eq!(collect.code, Some(4), "{}", collect.stderr);
    let printed = json(&collect.stdout);
    assert!(["a", "b"].iter().all(|n| node(&printed, n)["taken"].as_array().unwrap().len() == 1), "{printed}");
    assert_eq!(node(&printed, "lost")["reason"], "ssh: connect to host lost: No route to host");
    assert_eq!(node(&printed, "c")["reason"], "no record of monday on c");
    let again = json(&patiently(ssh(&place, &arguments)).stdout);
    assert!(["a", "b"].iter().all(|n| node(&again, n)["here"].as_array().unwrap().len() == 1), "{again}");
    assert_eq!(place.json(["list", "fleet=monday", "--json"]).as_array().unwrap().len(), 2);

    // A record of another node is not asked for.
    std::fs::rename(place.path().join("b"), place.path().join("d")).unwrap();
    let id = node(&printed, "b")["taken"][0].as_str().unwrap();
    run(place.assay(["rm", id])).succeeds();
    let printed =
        json(&patiently(ssh(&place, &["fleet", "collect", "monday", "d", "--program", ASSAY, "--json"])).stdout);
    assert_eq!(node(&printed, "d")["reason"], "no record of monday on d");
    let here = run(place.assay(["fleet", "check", "--via", "local", &format!("x={}", directory(&place, "m2"))]));
    assert!(here.succeeds().stdout.contains("The node can be measured"), "{}", here.stdout);
}
