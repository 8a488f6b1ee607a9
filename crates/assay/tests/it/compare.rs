//! `assay compare` with records in a store and with published figures.

use std::fs;

use crate::common::{Place, assert_harmless, run};
use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use serde_json::Value;

/// A record of a unit, made of a published one: four jobs read 4 KiB at random, with these operations a second.
fn card(id: &str, unit: &str, iops: &[f64]) -> Record {
    let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = id.to_owned();
    record.created = format!("2026-11-21T06:31:0{}Z", id.len() % 10);
    record.origin = assay_core::record::Origin::default();
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

const SLOW: [f64; 3] = [1000.0, 1001.0, 999.0];
const FAST: [f64; 3] = [1050.0, 1051.0, 1049.0];

fn four() -> Place {
    Place::with_records(&[
        card("aaaa1", "1", &SLOW),
        card("bbbb1", "2", &FAST),
        card("cccc1", "1", &SLOW),
        card("dddd1", "2", &FAST),
    ])
}

fn verdict(document: &Value) -> String {
    let loads = document["comparison"]["loads"].as_array().unwrap();
    let primary = loads.iter().find(|load| load["primary"] == true).unwrap();
    primary["pairs"][0]["verdict"]["answer"].as_str().unwrap().to_owned()
}

#[test]
fn records_units_and_models_are_groups() {
    let place = four();
    // What another day would give is not known of one run each.
    let done = run(place.assay(["compare", "aaaa1", "bbbb1"]));
    let words = done.succeeds().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "cannot tell – B (Card · unit 2) looks faster than A (Card · unit 1): +5 % (−11 … +24 %)",
        "these runs differ (+4.8 … +5.2 %)",
        "3.7 % between days is assumed, as each unit was measured on one day",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let done = run(place.assay(["compare", "aaaa1", "bbbb1", "--runs"]));
    let words = done.succeeds().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.starts_with(
            "Random read 4 KiB, 4 jobs: different – B (Card · unit 2) is faster than A (Card · unit 1): +5.0 % (+4."
        ),
        "{words}"
    );
    for part in ["A 1 000 ±2 n=3 repeats", "B 1 050 ±2 n=3 repeats", "one run each", "95 % intervals"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let json = |arguments: &[&str]| place.json(["compare", "--runs", "--json"].iter().chain(arguments));
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
fn contradictions_of_labels_and_serial_numbers_are_in_the_documents() {
    let with = |id: &str, label: &str, number: &str| {
        let mut record = card(id, label, if label == "1" { &SLOW } else { &FAST });
        record.medium.kind = assay_core::medium::MediumKind::Sd;
        record.medium.unit = Some(number.to_owned());
        record.medium.bus = None;
        record
    };
    let place =
        Place::with_records(&[with("aaaa1", "1", "0x11"), with("bbbb1", "2", "0x11"), with("cccc1", "3", "0x33")]);
    let both = "is one unit by its serial number, though its labels are 1, 2";
    for command in [
        "compare aaaa1 bbbb1 --json",
        "rank all --json",
        "advise nas all --nodes 28 --link 1Gbit/s --json",
        "plan race all --json",
    ] {
        let done = run(place.assay(command.split(' ')));
        let document: Value =
            serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{command}: {}", done.stderr));
        let found = &document["contradictions"];
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{command}: {found}");
        assert_eq!((found[0]["kind"].as_str(), found[0]["number"].as_str()), (Some("one_unit"), Some("0x11")));
        assert_eq!(found[0]["labels"], serde_json::json!(["1", "2"]));
        let words = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(both), "{command}: {words}");
    }
    assert_eq!(place.json(["compare", "aaaa1", "cccc1", "--json"])["contradictions"], serde_json::json!([]));
}

#[test]
fn published_figures_are_a_group_and_need_no_store() {
    let place = Place::with_records(&[card("aaaa1", "1", &SLOW)]);
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
    let place = Place::with_records(&[card("aaaa1", "1", &SLOW), cached]);
    let done = run(place.assay(["compare", "aaaa1", "bbbb1"]));
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("cannot tell") && words.contains("is invalid"), "{}", done.stdout);
}

/// The newest records of two units: that is what somebody means who has two cards.
#[test]
fn without_a_query_the_last_two_media_are_compared() {
    let place = four();
    let done = run(place.assay(["compare"]));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.starts_with("$ assay compare "), "{}", done.stderr);
    assert!(done.stdout.contains("unit 1") && done.stdout.contains("unit 2"), "{}", done.stdout);
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
    refused(&["aaaa1", "bbbb1", "--load", "write"], &["no load is named `write`", "random read 4 KiB, 4 jobs"]);
    refused(&["aaaa1", "bbbb1", "--load", "write"], &["no load is named `write`"]);
    refused(&["aaaa1", "bbbb1", "--margin", "3"], &["--margin", "`3` is not a share"]);
    refused(&["aaaa1", "bbbb1", "--level", "100%"], &["--level", "50% to 99.99%"]);
    refused(&["aaaa1", "bbbb1", "--metric", "speed"], &["speed", "iops"]);
    refused(&["aaaa1", "bbbb1", "-o", "x.gif"], &["x.gif", ".json, .svg or .png"]);
    refused(&["aaaa1,", "bbbb1"], &["aaaa1,"]);
    refused(&["aaaa1", "bbbb1", "--fail-if", "slow"], &["--fail-if", "`slow` is not a limit", "slower than 5%"]);
    refused(&["aaaa1", "bbbb1", "--fail-if", "slower than 5% for trim"], &["`trim`", "random read 4 KiB, 4 jobs"]);
    refused(&["aaaa1", "bbbb1", "--fail-if-unknown"], &["--fail-if"]);
    refused(&["aaaa1", "bbbb1", "--format", "junit"], &["--fail-if"]);
    let odd = run(place.assay(["compare", "aaaa1", "\u{1b}[2J\u{202e}"]));
    odd.refuses(2, &["assay: "]);
}

#[test]
fn a_zero_is_left_out_in_words_and_p99_of_nothing_too() {
    let place = Place::with_records(&[card("aaaa1", "1", &SLOW), card("bbbb1", "2", &[0.0, 1050.0, 1051.0])]);
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
    let place = Place::with_records(&records);
    for file in ["c.md", "c.json", "c.html", "c.csv"] {
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

/// A card whose latencies are those of one operation in flight, so that percentiles exist.
fn with_latencies(mut record: Record) -> Record {
    for repeat in &mut record.measurements[0].repeats {
        let mut histogram = assay_core::histogram::Histogram::default();
        histogram.add((1e9 / repeat.iops) as u64);
        repeat.histogram = assay_core::histogram::StoredHistogram::from(&histogram).into();
    }
    record
}

/// The exit code and what is printed of a comparison with limits.
fn limited(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let done = run(place.assay(["compare", "--runs"].iter().chain(arguments)));
    (done.code, done.stdout)
}

#[test]
fn limits_have_exit_codes_of_their_own() {
    let place = Place::with_records(&[
        card("aaaa1", "1", &SLOW),
        card("bbbb1", "2", &FAST),
        card("cccc1", "1", &[960.0, 1000.0, 1040.0]),
        card("dddd1", "1", &[1000.0]),
    ]);
    let code = |arguments: &[&str]| limited(&place, arguments).0;
    // B is 5 % faster than A, A 4.8 % slower than B.
    assert_eq!(code(&["bbbb1", "aaaa1"]), Some(0), "without a limit nothing fails");
    assert_eq!(code(&["bbbb1", "aaaa1", "--fail-if", "slower than 3%"]), Some(7));
    assert_eq!(code(&["bbbb1", "aaaa1", "--fail-if", "slower than 10%"]), Some(0));
    assert_eq!(code(&["aaaa1", "bbbb1", "--fail-if", "slower than 3%"]), Some(0), "it is faster");
    assert_eq!(code(&["aaaa1", "bbbb1", "--fail-if", "iops higher than 3%"]), Some(7));
    let several = ["bbbb1", "aaaa1", "--fail-if", "slower than 10%", "--fail-if", "rate lower than 3% for random read"];
    assert_eq!(code(&several), Some(7), "each limit counts");
    // What cannot be told is decided on its own.
    for (other, why) in [("cccc1", "the limit lies inside the interval"), ("dddd1", "no interval")] {
        let arguments = ["aaaa1", other, "--fail-if", "slower than 2%"];
        let (code, said) = limited(&place, &arguments);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(why) && said.ends_with("Limits: 0 failed, 1 cannot tell, 0 passed\n"), "{said}");
        assert_eq!(limited(&place, &[&arguments[..], &["--fail-if-unknown"]].concat()).0, Some(6));
    }
    // A limit that is exceeded weighs more than one that cannot be told.
    let unknown = ["aaaa1", "bbbb1", "--fail-if", "p99 higher than 3%", "--fail-if-unknown"];
    assert_eq!(code(&unknown), Some(6), "no latencies were kept");
    assert_eq!(code(&[&unknown[..], &["--fail-if", "iops higher than 3%"]].concat()), Some(7));
}

#[test]
fn a_limit_judges_the_interval_that_the_comparison_shows() {
    let cards = [card("aaaa1", "1", &[990.0, 1000.0, 1010.0]), card("bbbb1", "2", &[890.0, 900.0, 910.0])];
    let place = Place::with_records(&cards.map(with_latencies));
    let limit = ["--fail-if", "slower than 5%", "--fail-if", "p99 higher than 5%"];
    let all = |more: &[&str]| {
        let mut command = place.assay(["compare", "aaaa1", "bbbb1", "--runs", "--json"].iter().chain(more));
        serde_json::from_slice::<Value>(&command.output().unwrap().stdout).unwrap()
    };
    let judged = all(&limit);
    for (check, more) in [(0, &[][..]), (1, &["--metric", "p99"])] {
        let pair = &judged["limits"]["checks"][check]["cases"][0]["pair"];
        assert!(pair["low"].is_number(), "{judged}");
        assert_eq!(pair, &all(more)["comparison"]["loads"][0]["pairs"][0]);
    }
    assert_eq!(judged["limits"]["checks"][0]["cases"][0]["answer"], "failed");
    assert!(all(&[]).get("limits").is_none(), "without a limit nothing is added");
    // The words are those of the comparison, too.
    let said = limited(&place, &[&["aaaa1", "bbbb1"], &limit[..]].concat()).1;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("B (Card · unit 2) is slower than A (Card · unit 1): −10.0 % ("), "{said}");
    assert!(words.contains("failed: random read 4 KiB, 4 jobs, IOPS: B is slower than A: −10.0 % ("), "{said}");
}

#[test]
fn limits_are_written_for_other_programs() {
    let place = four();
    let limit = ["bbbb1", "aaaa1", "--fail-if", "slower than 3%"];
    let (code, said) = limited(&place, &[&limit[..], &["--format", "junit", "-o", "io.xml"]].concat());
    assert_eq!(code, Some(7));
    assert!(said.ends_with("Limits: 1 failed, 0 cannot tell, 0 passed\n"), "{said}");
    let xml = fs::read_to_string(place.path().join("io.xml")).unwrap();
    assert!(xml.starts_with("<?xml") && xml.contains("<failure type=\"limit\" message=\"random read 4 KiB"), "{xml}");
    let (code, said) = limited(&place, &[&limit[..], &["--format", "github"]].concat());
    assert_eq!(code, Some(7));
    assert!(said.starts_with("::error title=assay%3A slower than 3%25::random read 4 KiB, 4 jobs"), "{said}");
    limited(&place, &[&limit[..], &["-o", "c.md"]].concat());
    assert!(fs::read_to_string(place.path().join("c.md")).unwrap().contains("## Limits: 1 failed"));
}

/// A file that may be shared names groups by queries that say no more than its records do.
#[test]
fn a_page_of_one_unit_names_groups_by_their_labels() {
    let builds = [("aaaa1", "r1"), ("bbbb1", "r2")].map(|(id, build)| {
        let mut record = card(id, "1", &[990.0, 1000.0, 1010.0]);
        record.labels.insert("build".to_owned(), build.to_owned());
        record
    });
    let place = Place::with_records(&builds);
    let page = |queries: [&str; 2]| {
        run(place.assay(["compare", queries[0], queries[1], "--runs", "-o", "cmp.html"]));
        fs::read_to_string(place.path().join("cmp.html")).unwrap()
    };
    let told = page(["build=r1", "build=r2"]);
    assert!(told.contains("build=r1 · ") && told.contains("build=r2 · "), "{told}");
    let hidden = page(["build=r1,aaaa1", "build=r2,bbbb1"]);
    assert!(hidden.contains("query 1 · ") && hidden.contains("query 2 · "), "{hidden}");
}

#[test]
fn a_baseline_is_a_name_for_records_in_every_command() {
    let place = four();
    run(place.assay(["baseline", "list"])).succeeds();
    run(place.assay(["baseline", "set", "main", "bbbb1", "dddd1"])).succeeds();
    assert_eq!(place.json(["baseline", "list", "--json"])[0]["records"], serde_json::json!(["bbbb1", "dddd1"]));
    let against = ["compare", "baseline:main", "aaaa1", "--json"];
    let groups = place.json(against)["comparison"]["groups"].clone();
    assert_eq!((&groups[0]["query"], groups[0]["records"].as_array().unwrap().len()), (&"baseline:main".into(), 2));
    assert_eq!(place.json(["list", "baseline:main", "--json"]).as_array().unwrap().len(), 2);
    assert!(run(place.assay(["rank", "baseline:main"])).stdout.contains("Card"));
    run(place.assay(["show", "baseline:main"])).succeeds();
    // It names the records as they were.
    run(place.assay(["baseline", "set", "newest", "last"])).succeeds();
    let limit = ["compare", "baseline:newest", "aaaa1", "--runs", "--fail-if", "slower than 3%"];
    assert_eq!(run(place.assay(limit)).code, Some(7));
    // Set again it names others; a record that is gone is said.
    run(place.assay(["baseline", "set", "main", "aaaa1"])).succeeds();
    run(place.assay(["rm", "aaaa1"])).succeeds();
    run(place.assay(["show", "baseline:main"])).refuses(2, &["baseline:main", "aaaa1", "set the baseline again"]);
    run(place.assay(["show", "baseline:mian"])).refuses(2, &["`mian`", "main, newest", "assay baseline set"]);
    run(place.assay(["baseline", "rm", "main"])).succeeds();
    run(place.assay(["baseline", "rm", "main"])).refuses(2, &["no baseline is named `main`"]);
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 3, "only the name is removed");
    for bad in ["", "../x", ".x", "a/b", "-x", "a b", "\u{1b}"] {
        run(place.assay(["baseline", "set", "--", bad, "last"])).refuses(2, &["is not a valid baseline name"]);
    }
    run(place.assay(["baseline", "set", "x", "published:sandisk-ultra-a1"])).refuses(2, &["not in the store"]);
}

#[test]
fn every_percentile_is_a_figure_of_every_command_that_takes_one() {
    // Latencies spread evenly from 1 µs to 20 ms.
    let with = |id: &str, unit: &str, scale: u64| {
        let mut record = card(id, unit, &SLOW);
        for (at, repeat) in record.measurements[0].repeats.iter_mut().enumerate() {
            let mut histogram = assay_core::histogram::Histogram::default();
            for n in 1..=20_000u64 {
                histogram.add(n * (1_000 + at as u64 * 20) * scale);
            }
            repeat.histogram = assay_core::histogram::StoredHistogram::from(&histogram).into();
        }
        record
    };
    let place = Place::with_records(&[with("aaaa1", "1", 1), with("bbbb1", "2", 2)]);
    for (name, share) in
        [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)]
    {
        let json = place.json(["compare", "aaaa1", "bbbb1", "--metric", name, "--json"]);
        let load = &json["comparison"]["loads"][0];
        let point = load["sides"][0]["values"][0].as_f64().unwrap();
        let expected = 20_000.0 * share * 1_000.0;
        assert!((point / expected - 1.0).abs() < 0.005, "{name}: {point} is not {expected}");
        assert_eq!(load["pairs"][0]["verdict"]["answer"], "worse", "{name}");
        let limit = format!("{name} higher than 50%");
        assert_eq!(limited(&place, &["aaaa1", "bbbb1", "--fail-if", &limit]).0, Some(7), "{name}");
        for command in ["rank all", "plan race all"] {
            let done = run(place.assay(command.split(' ').chain(["--metric", name])));
            assert!(done.code == Some(0) || done.code == Some(1), "{command} {name}: {}", done.stderr);
            assert!(done.stdout.contains(if name == "p50" { "median latency" } else { name }), "{}", done.stdout);
        }
    }
    // Of 1 000 operations none need be slower than p99.99.
    let place = few_operations();
    let said = run(place.assay(["compare", "aaaa1", "cccc1", "--metric", "p99.99"]));
    assert!(said.stdout.contains("it takes 10 000 operations"), "{}", said.stdout);
}

/// Two cards whose repeats have 1 000 operations each.
fn few_operations() -> Place {
    let mut records = [card("aaaa1", "1", &SLOW), card("cccc1", "3", &SLOW)];
    for repeat in records.iter_mut().flat_map(|record| &mut record.measurements[0].repeats) {
        let mut histogram = assay_core::histogram::Histogram::default();
        (1..=1_000u64).for_each(|n| histogram.add(n * 1_000));
        repeat.histogram = assay_core::histogram::StoredHistogram::from(&histogram).into();
    }
    Place::with_records(&records)
}
