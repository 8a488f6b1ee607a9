//! `assay compare` with records in a store, with published figures, and with cards whose truth is known.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod common;

use std::fs;
use std::path::Path;

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_lab::{Lab, LimitedCard, Limits, skip};
use assay_store::{RunState, SqliteStore, Store};
use common::{Place, assert_harmless, run};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// A lab object, or the end of the test with its reason printed.
macro_rules! lab {
    ($test:expr, $make:expr) => {
        match $make {
            Ok(made) => made,
            Err(missing) => return skip($test, &missing),
        }
    };
}

/// A record of a unit, made of a published one: four jobs read 4 KiB at random, with these operations a second.
fn card(id: &str, unit: &str, iops: &[f64]) -> Record {
    let mut record = assay_analysis::published("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = id.to_owned();
    record.created = format!("2026-11-21T06:31:0{}Z", id.len() % 10);
    record.source = None;
    record.tool.name = "assay".to_owned();
    record.labels.insert("model".to_owned(), "Card".to_owned());
    record.labels.insert("unit".to_owned(), unit.to_owned());
    record.host.hostname = Some("node1.lan".to_owned());
    record.measurements.truncate(1);
    let measurement = &mut record.measurements[0];
    (measurement.iops, measurement.bytes_per_second) = (None, None);
    for value in iops {
        measurement.repeats.push(repeat(*value));
    }
    record
}

fn repeat(iops: f64) -> assay_core::record::Repeat {
    serde_json::from_value(serde_json::json!({
        "started": "", "elapsed_ns": 1, "operations": 1000, "bytes": 4_096_000, "iops": iops,
        "bytes_per_second": iops * 4096.0, "issued_bytes": 4_096_000, "durable_bytes_per_second": null,
        "in_flight": 4.0, "proof_ratio": 1.0, "samples": [],
        "histogram": assay_core::histogram::StoredHistogram::from(&assay_core::histogram::Histogram::default()),
        "first_done_ns": 1, "last_done_ns": 1, "outcome": Outcome::Completed,
    }))
    .unwrap()
}

/// A place whose store holds these records, the last being the newest.
fn place(records: &[Record]) -> Place {
    let place = Place::new();
    let mut store = SqliteStore::open(&place.data()).unwrap();
    for record in records {
        store.save(record, RunState::Finished).unwrap();
    }
    place
}

const SLOW: [f64; 3] = [1000.0, 1001.0, 999.0];
const FAST: [f64; 3] = [1050.0, 1051.0, 1049.0];

fn four() -> Place {
    place(&[card("aaaa1", "1", &SLOW), card("bbbb1", "2", &FAST), card("cccc1", "1", &SLOW), card("dddd1", "2", &FAST)])
}

fn verdict(document: &Value) -> String {
    let loads = document["comparison"]["loads"].as_array().unwrap();
    let primary = loads.iter().find(|load| load["primary"] == true).unwrap();
    primary["pairs"][0]["verdict"]["answer"].as_str().unwrap().to_owned()
}

#[test]
fn records_units_and_models_are_groups() {
    let place = four();
    let done = run(place.assay(["compare", "aaaa1", "bbbb1"]));
    let words = done.succeeds().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.starts_with("Random read 4 KiB, 4 jobs: different – B (Card 2) is 5.0 % faster than A (Card 1) (4."),
        "{words}"
    );
    for part in ["A 1 000 ±2 n=3 repeats", "B 1 050 ±2 n=3 repeats", "one run each", "95 % intervals"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let json = |arguments: &[&str]| place.json(["compare", "--json"].iter().chain(arguments));
    assert_eq!(verdict(&json(&["aaaa1", "bbbb1"])), "better");
    assert_eq!(verdict(&json(&["bbbb1", "aaaa1"])), "worse");
    assert_eq!(verdict(&json(&["aaaa1", "cccc1"])), "same");
    assert_eq!(verdict(&json(&["aaaa1", "bbbb1", "--margin", "10%"])), "same");
    // Runs of a unit: their means agree to the last digit here, which is no spread.
    let units = json(&["unit=1", "unit=2"]);
    assert_eq!(units["comparison"]["loads"][0]["sides"][0]["basis"], "runs");
    assert_eq!(json(&["all", "--by", "unit"])["comparison"]["loads"], units["comparison"]["loads"]);
    // One query: each of its records; commas: one group.
    assert_eq!(json(&["all"])["comparison"]["groups"].as_array().unwrap().len(), 4);
    let groups = json(&["aaaa1,bbbb1", "cccc1,dddd1"])["comparison"]["groups"].clone();
    assert_eq!((groups.as_array().unwrap().len(), &groups[0]["records"][1]), (2, &Value::from("bbbb1")));
}

#[test]
fn published_figures_are_a_group_and_need_no_store() {
    let place = place(&[card("aaaa1", "1", &SLOW)]);
    let json = place.json(["compare", "last", "published:sandisk-ultra-a1", "--json"]);
    assert_eq!(verdict(&json), "better");
    let side = &json["comparison"]["loads"][0]["sides"][1];
    assert_eq!((side["basis"].as_str(), side["values"].as_array().unwrap().len()), (Some("units"), 3));
    assert!(json["comparison"]["excluded"].as_array().unwrap().iter().any(|e| e["reason"]["kind"] == "other_blocks"));
    let words = run(place.assay(["compare", "last", "published:sandisk-ultra-a1/1"])).succeeds().stdout.clone();
    assert!(words.contains("cannot tell") && words.contains("one value"), "{words}");
    assert!(words.contains("different hosts"), "{words}");

    let empty = Place::new();
    let done = run(empty.assay(["compare", "published:sandisk-ultra-a1", "published:samsung-evo-plus-64gb"]));
    assert!(done.succeeds().stdout.contains("Random read 4 KiB, 4 jobs: cannot tell"), "{}", done.stdout);
    assert!(!empty.store().exists(), "a comparison makes no store");
    let none = run(empty.assay(["compare", "published:sandisk-ultra-a1/1", "published:ssd-via-sata"]));
    assert_eq!(none.code, Some(1), "{}", none.stdout);
    assert!(none.stdout.starts_with("Nothing to compare") && none.stdout.contains("left out"), "{}", none.stdout);
}

#[test]
fn what_is_invalid_wins_nothing_and_the_exit_code_says_so() {
    let mut cached = card("bbbb1", "2", &[90_000.0, 90_001.0, 90_002.0]);
    cached.measurements[0].warn(Finding::ServedFromCache { proof_ratio: 0.01 });
    let place = place(&[card("aaaa1", "1", &SLOW), cached]);
    let done = run(place.assay(["compare", "aaaa1", "bbbb1"]));
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    assert!(done.stdout.contains("cannot tell") && done.stdout.contains("is invalid"), "{}", done.stdout);
}

#[test]
fn bad_input_is_one_line() {
    let place = four();
    let refused = |arguments: &[&str], words: &[&str]| {
        run(place.assay(["compare"].iter().chain(arguments))).refuses(2, words).at_once();
    };
    refused(&["aaaa1"], &["one group is not enough", "aaaa1"]);
    refused(&["aaaa1", "aaaa1"], &["record aaaa1", "name it once"]);
    refused(&["all", "--by", "model"], &["one group is not enough", "Card", "4 records"]);
    refused(&["aaaa1", "nosuch"], &["nosuch"]);
    refused(&["aaaa1", "published:nosuch"], &["nosuch", "sandisk-ultra-a1"]);
    refused(&["aaaa1", "bbbb1", "--primary", "write"], &["--primary `write` names none", "random read 4 KiB, 4 jobs"]);
    refused(&["aaaa1", "bbbb1", "--margin", "3"], &["--margin", "like 3%"]);
    refused(&["aaaa1", "bbbb1", "--level", "100%"], &["--level", "95%"]);
    refused(&["aaaa1", "bbbb1", "--metric", "speed"], &["speed", "iops"]);
    refused(&["aaaa1", "bbbb1", "-o", "x.png"], &["x.png", ".md or .json"]);
    refused(&["aaaa1,", "bbbb1"], &["aaaa1,"]);
    refused(&[], &["QUERY"]);
    let odd = run(place.assay(["compare", "aaaa1", "\u{1b}[2J\u{202e}"]));
    odd.refuses(2, &["assay: "]);
}

#[test]
fn a_zero_is_left_out_in_words_and_p99_of_nothing_too() {
    let place = place(&[card("aaaa1", "1", &SLOW), card("bbbb1", "2", &[0.0, 1050.0, 1051.0])]);
    let done = run(place.assay(["compare", "aaaa1", "bbbb1"]));
    let words = done.succeeds().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("left out B: left out a value of 0: not a positive finite number"), "{words}");
    let done = run(place.assay(["compare", "aaaa1", "bbbb1", "--metric", "p99"]));
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("no p99 was kept"), "{}", done.stdout);
}

#[test]
fn a_file_holds_no_identity_unless_asked() {
    let mut records = [card("aaaa1", "1", &SLOW), card("bbbb1", "2", &FAST)];
    for (at, record) in records.iter_mut().enumerate() {
        record.labels.remove("unit");
        record.medium.unit = Some(format!("SERIAL-0000{at}"));
    }
    let place = place(&records);
    for file in ["c.md", "c.json"] {
        run(place.assay(["compare", "unit=SERIAL-00000", "bbbb1", "-o", file])).succeeds();
        let text = fs::read_to_string(place.path().join(file)).unwrap();
        assert!(!text.contains("SERIAL") && !text.contains("node1"), "{text}");
        assert!(text.contains("bbbb1"), "{text}");
        assert_harmless(&text);
        run(place.assay(["compare", "aaaa1", "bbbb1", "--identities", "-o", file])).succeeds();
        assert!(fs::read_to_string(place.path().join(file)).unwrap().contains("SERIAL-00001"));
    }
    run(place.assay(["compare", "aaaa1", "bbbb1", "-o", "no/such/c.md"])).refuses(4, &["no/such/c.md"]);
}

/// Measures a card of so many operations a second until it is known to 1 %, into the store of the place.
fn measure(place: &Place, card: &LimitedCard, unit: &str) {
    let suite = place.file(
        "lab.toml",
        "name = \"lab\"\nversion = 1\npurpose = \"test\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\n\
         span = \"16MiB\"\n[[workload]]\nname = \"read\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n\
         queue_depth = 8\n",
    );
    let (suite, target) = (suite.to_string_lossy(), card.path().to_string_lossy());
    let label = format!("unit={unit}");
    let arguments = [
        "run",
        "--quiet",
        "--json",
        "--suite",
        &suite,
        "--confidence",
        "1%",
        "--budget",
        "18s",
        "--label",
        &label,
        "--label",
        "model=Lab",
        &target,
    ];
    let mut command = card.command(Path::new(common::ASSAY), &arguments);
    place.at_home(&mut command);
    let record: Record = serde_json::from_str(&run(command).measures().stdout).unwrap();
    let m = &record.measurements[0];
    let iops = m.iops.as_ref().unwrap();
    eprintln!("unit {unit}: {iops:?} in {} s, {:?}", record.settings.elapsed_ns / 1_000_000_000, record.validity);
    assert!(m.repeats.len() >= 3 && iops.relative_half_width().unwrap() <= 0.01, "{iops:?}");
}

#[test]
fn cards_that_differ_by_five_percent_are_told_apart_and_equal_ones_are_not() {
    const TEST: &str = "cards_that_differ_by_five_percent_are_told_apart_and_equal_ones_are_not";
    let _lab = lab!(TEST, Lab::enter());
    let limited = |iops| LimitedCard::new(128 * MIB, Limits { read_iops: Some(iops), ..Limits::default() });
    let (slow, fast) = (lab!(TEST, limited(1000)), lab!(TEST, limited(1050)));
    let place = Place::new();
    measure(&place, &slow, "1");
    measure(&place, &fast, "2");
    measure(&place, &slow, "3");
    let against = |other: &str| {
        let json = place.json(["compare", "unit=1", other, "--json"]);
        (verdict(&json), json["comparison"]["loads"][0]["pairs"][0].clone())
    };
    let (answer, pair) = against("unit=2");
    eprintln!("{pair}");
    assert_eq!(answer, "better", "{pair}");
    let ratio = pair["ratio"].as_f64().unwrap();
    assert!((1.04..=1.06).contains(&ratio), "{pair}");
    assert!(pair["low"].as_f64().unwrap() > 1.03, "beyond the margin: {pair}");
    let (answer, pair) = against("unit=3");
    eprintln!("{pair}");
    assert_eq!(answer, "same", "{pair}");
}
