//! Documents of commands that no other test asks for, and errors as documents. `common::contract` holds the output of every command
//! that a test runs against its schema.

use serde_json::Value;

use crate::common::contract::{ERROR, assert_valid};
use crate::common::{Place, run};

/// The error that a command prints, which fails with this code.
fn error(place: &Place, words: &[&str], code: i32) -> Value {
    let done = run(place.assay(words));
    assert_eq!(done.code, Some(code), "{words:?}: {}", done.stderr);
    let document: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stdout));
    assert_valid(ERROR, &document);
    assert_eq!(format!("assay: {}\n", document["error"]["message"].as_str().unwrap()), done.stderr);
    document["error"].clone()
}

#[test]
fn errors_are_documents_where_json_is_asked_for() {
    let place = Place::new();
    assert_eq!(error(&place, &["rank", "--json"], 2)["kind"], "usage");
    assert_eq!(error(&place, &["show", "nothing", "--json"], 2)["exit_code"], 2);
    assert_eq!(error(&place, &["list", "--aggregate", "mean", "--json"], 2)["kind"], "usage");
    // A command line that cannot be read, too, wherever the option stands.
    assert_eq!(error(&place, &["compare", "--json"], 2)["kind"], "usage");
    assert_eq!(error(&place, &["rank", "--json", "--no-such"], 2)["kind"], "usage");
    assert_eq!(error(&place, &["run", "--json", "no-such-directory"], 2)["kind"], "usage");
    place.file("data", "a file where the store should be");
    assert_eq!(error(&place, &["list", "--json"], 4)["kind"], "environment");
}

#[test]
fn an_error_is_the_last_event() {
    let place = Place::new();
    let done = run(place.assay(["run", "--events", "no-such-directory"]));
    assert_eq!((done.code, done.stdout.lines().count()), (Some(2), 1), "{}", done.stdout);
    assert_valid(ERROR, &serde_json::from_str(&done.stdout).unwrap());
}

#[test]
fn without_json_an_error_is_one_line_on_standard_error() {
    let place = Place::new();
    let done = run(place.assay(["rank"]));
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    // Behind `--` it is a word like any other.
    let done = run(place.assay(["show", "--", "--json"]));
    assert!(done.stdout.is_empty(), "{}", done.stdout);
}

#[test]
fn documents_of_the_store_are_as_their_schemas_say() {
    let place = Place::new();
    place.file("job.fio", "[global]\nioengine=sync\nsize=4m\n[r]\nrw=randread\nbs=4k\nruntime=1\ntime_based\n");
    let id = place.measured_with(&["--label", "model=X", "--label", "price=9USD"]).id;
    for words in [
        &["info", "medium"][..],
        &["list"],
        &["list", "--aggregate", "best"],
        &["show", "last", "--percentiles", "50,99"],
        &["label", "last", "slot=3"],
        &["report", "last", "-o", "one.csv"],
        &["report", "last", "-o", "plots/", "--format", "fio-json"],
        &["export", "--store", "copy"],
        &["baseline", "set", "main", "last"],
        &["baseline", "list"],
        &["baseline", "rm", "main"],
        &["suite", "list"],
        &["suite", "show", "quick"],
        &["suite", "import", "job.fio"],
        &["suite", "export", "quick", "--format", "fio"],
        &["suite", "export", "quick", "--format", "toml", "-o", "quick.toml"],
        &["run", "--dry-run", "--suite", "tiny.toml", "medium"],
        &["advise", "class", "last"],
        &["advise", "nas", "published:sandisk-ultra-a1", "--nodes", "28", "--link", "1Gbit"],
        &["advise", "buy", "last", "--nodes", "3"],
        &["advise", "cache", "published:imation-swivel-usb-16gb", "--before", "published:sata-hdd-500gb"],
        &["compare", "published:sandisk-ultra-a1", "published:samsung-evo-plus-64gb"],
        &["import", "--formats"],
        &["licences"],
        &["fleet", "list"],
        &["rm", &id],
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        // The schema is checked wherever a test runs a command.
        let document = place.json(&words);
        assert!(document.get("error").is_none(), "{words:?}: {document}");
    }
}

#[test]
fn a_name_that_is_not_utf_8_is_shown_in_json() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"odd-\xff.txt");
    place.file(name, "104857600 bytes (105 MB, 100 MiB) copied, 5.0 s, 21.0 MB/s\n");
    let mut command = place.assay(["import", "--json"]);
    command.arg(name);
    let done = run(command);
    done.succeeds();
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(document["records"][0]["file"], "odd-\u{fffd}.txt");
    // A file that is refused is named, too.
    place.file(name, "nothing that is known");
    let mut command = place.assay(["import", "--json"]);
    command.arg(name);
    let refused: Value = serde_json::from_str(&run(command).stdout).unwrap();
    assert_eq!(refused["refused"][0]["file"], "odd-\u{fffd}.txt");
}

#[test]
fn events_that_are_lost_on_a_full_disk_are_an_error_at_the_end() {
    let place = Place::new();
    let done = run(place.shell("\"$ASSAY\" run --suite tiny.toml --events medium > /dev/full"));
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    assert!(done.stderr.contains("standard output: No space left on device"), "{}", done.stderr);
    // The record is there.
    assert_eq!(place.only_record().suite.name, "tiny");
}

#[test]
fn lives_of_units_are_as_the_schema_says() {
    let place = Place::new();
    place.file(
        "units.csv",
        "unit,model,cycles,end,cause\n1,A,900,died,errors\n2,A,1200,running,\n1,B,300,died,hung\n2,B,2,running,\n",
    );
    let answer = place.json(["survive", "units.csv", "--at", "100", "--json"]);
    assert_eq!(answer["groups"][0]["failed"], 1);
    assert_eq!(answer["groups"][0]["censored"], serde_json::json!([{"seen": {"state": "running"}, "units": 1}]));
    assert_eq!(answer["pairs"][0]["verdict"], "cannot_tell");
    run(place.assay(["survive", "units.csv", "--at", "0"])).refuses(2, &["--at", "1000,3000"]);
    run(place.assay(["survive", "medium"])).refuses(2, &["cannot be read"]);
}
