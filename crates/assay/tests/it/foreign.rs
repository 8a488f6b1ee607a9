//! The program as it was built for other processors, run by emulators that `ASSAY_FOREIGN` names: what it records differs
//! from our own records in host and figures alone. `tests/foreign.sh` builds those programs and calls these tests.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::common::{ASSAY, Place, run, tiny_at_leisure};
use assay_core::units::MIB;
use assay_lab::{Lab, LimitedCard, Limits, Missing, lab, skip};
use jsonschema::Validator;
use serde_json::Value;

/// One command a line: an emulator, where one is needed, and the program.
pub(crate) fn foreign(test: &str) -> Vec<Vec<String>> {
    let given = std::env::var("ASSAY_FOREIGN").unwrap_or_default();
    let commands: Vec<Vec<String>> = given
        .lines()
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect();
    if commands.is_empty() {
        skip(test, &Missing("needs programs for other processors: make foreign".to_owned()));
    }
    commands
}

/// A command of a foreign program in a place.
fn called(place: &Place, program: &[String], arguments: &[&str]) -> Command {
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).args(arguments);
    place.at_home(&mut command);
    command
}

/// qemu's answer to statx says of every file that it cannot be read directly (7.2), so both go through the page cache.
fn through_the_cache() -> String {
    tiny_at_leisure().replace("duration = ", "direct = false\nduration = ")
}

/// What was asked for and of which medium, without host, times and figures.
fn asked(record: &Value) -> Value {
    const FIGURES: [&str; 13] = [
        "iops",
        "bytes_per_second",
        "durable_bytes_per_second",
        "latency_ns",
        "service_ns",
        "batching",
        "proof_ratio",
        "in_flight",
        "bus_limited",
        "instrument_limited",
        "bytes_per_joule",
        "operations_per_joule",
        "warnings",
    ];
    let mut rest = record.clone();
    let all = rest.as_object_mut().unwrap();
    for name in ["id", "created", "host", "sensors", "validity", "warnings"] {
        assert!(all.remove(name).is_some(), "{name}");
    }
    let settings = all["settings"].as_object_mut().unwrap();
    // The last two are what the kernel said by statx.
    for name in [
        "elapsed_ns",
        "read_bytes",
        "written_bytes",
        "seed",
        "null_ns_per_operation",
        "layout",
        "direct_alignment_bytes",
        "direct_source",
    ] {
        settings.remove(name);
    }
    for measurement in all["measurements"].as_array_mut().unwrap() {
        let measurement = measurement.as_object_mut().unwrap();
        measurement.retain(|name, _| !FIGURES.contains(&name.as_str()));
        // How much it may write in its time, by the speed at which the test file was written.
        measurement["workload"]["stop"].as_object_mut().unwrap().remove("max_bytes");
        for repeat in measurement["repeats"].as_array_mut().unwrap() {
            repeat.as_object_mut().unwrap().retain(|name, _| name == "outcome");
        }
    }
    rest
}

fn validator() -> Validator {
    let schema = serde_json::to_value(assay_core::record::json_schema()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn a_medium_measured_by_a_foreign_program_gives_the_same_record_but_for_host_and_figures() {
    const TEST: &str = "a_medium_measured_by_a_foreign_program_gives_the_same_record_but_for_host_and_figures";
    let measure = ["run", "--json", "--engine", "sync", "--suite", "tiny.toml", "medium"];
    let validator = validator();
    for program in foreign(TEST) {
        let place = Place::new();
        place.file("tiny.toml", through_the_cache());
        let record = |command| -> Value { serde_json::from_str(&run(command).measures().stdout).unwrap() };
        let ours = record(place.assay(measure));
        let theirs = record(called(&place, &program, &measure));
        place.assert_clean();
        for record in [&ours, &theirs] {
            validator.validate(record).unwrap_or_else(|error| panic!("{error} at {}", error.instance_path()));
        }
        assert_eq!(asked(&theirs), asked(&ours), "{program:?}");
        // Both are in one store, which either program reads alike.
        let listed = run(place.assay(["list", "--json"])).succeeds().stdout.clone();
        assert_eq!(run(called(&place, &program, &["list", "--json"])).succeeds().stdout, listed, "{program:?}");
        assert_eq!(serde_json::from_str::<Value>(&listed).unwrap().as_array().unwrap().len(), 2, "{program:?}");
        // A record of either goes into the store of the other.
        for (from, command) in [
            (&ours, called(&place, &program, &["import", "from.json"])),
            (&theirs, place.assay(["import", "from.json"])),
        ] {
            place.file("from.json", from.to_string());
            let mut command = command;
            command.env("ASSAY_DATA", place.path().join(if std::ptr::eq(from, &ours) { "theirs" } else { "ours" }));
            run(command).succeeds();
        }
    }
}

/// The paths of all values in a document, without numbers of elements; of what is about host and figures, none.
fn paths(value: &Value, at: &str, all: &mut BTreeSet<String>) {
    // What is found wrong, and what sensors there are, is not up to the program.
    const OTHERS: [&str; 4] = ["/host", "/sensors", "/warnings", "/validity"];
    if OTHERS.iter().any(|other| at.ends_with(other)) {
        return;
    }
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| paths(value, &format!("{at}/{name}"), all)),
        Value::Array(elements) => elements.iter().for_each(|value| paths(value, at, all)),
        _ => drop(all.insert(at.to_owned())),
    }
}

#[test]
fn a_card_measured_by_every_program_gives_records_of_one_shape_for_one_store() {
    const TEST: &str = "a_card_measured_by_every_program_gives_records_of_one_shape_for_one_store";
    let programs = foreign(TEST);
    if programs.is_empty() {
        return;
    }
    let _lab = lab!(TEST, Lab::share());
    let limits = Limits { read_iops: Some(2000), write_iops: Some(500), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(64 * MIB, limits));
    let (validator, place) = (validator(), Place::new());
    // Written to the card in any case, so that all figures are its own.
    place.file("card.toml", through_the_cache() + "sync = \"fdatasync\"\n");
    let mut records = Vec::new();
    for program in std::iter::once(vec![ASSAY.to_owned()]).chain(programs) {
        let target = card.path().to_string_lossy();
        let words = ["run", "--json", "--engine", "sync", "--suite", "card.toml", &target];
        let arguments: Vec<&str> = program[1..].iter().map(String::as_str).chain(words).collect();
        let mut command = card.command(Path::new(&program[0]), &arguments);
        place.at_home(&mut command);
        let record: Value = serde_json::from_str(&run(command).measures().stdout).unwrap();
        validator.validate(&record).unwrap_or_else(|error| panic!("{program:?}: {error}"));
        let mut all = BTreeSet::new();
        paths(&record, "", &mut all);
        assert!(all.len() > 100 && all.contains("/measurements/iops/point"), "{all:?}");
        records.push((program, all, asked(&record)));
    }
    let (_, shape, values) = &records[0];
    for (program, theirs, values_of_theirs) in &records[1..] {
        assert_eq!(theirs, shape, "{program:?}");
        assert_eq!(values_of_theirs, values, "{program:?}");
    }
    let listed = place.json(["list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), records.len());
}

#[test]
fn what_one_program_filled_another_reads_back_as_genuine() {
    const TEST: &str = "what_one_program_filled_another_reads_back_as_genuine";
    let fill = ["verify", "--bytes", "8MiB", "--keep", "--no-save", "medium"];
    let read = ["verify", "--only", "read", "--no-save", "medium"];
    for program in foreign(TEST) {
        let place = Place::new();
        run(place.assay(fill)).succeeds();
        run(called(&place, &program, &read)).succeeds();
        run(place.assay(["verify", "--remove", "medium"])).succeeds();
        run(called(&place, &program, &fill)).succeeds();
        run(place.assay(read)).succeeds();
        run(called(&place, &program, &["verify", "--remove", "medium"])).succeeds();
        place.assert_clean();
    }
}
