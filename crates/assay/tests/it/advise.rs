//! `assay advise` as people and scripts use it: sentence first, numbers, JSON, exit codes.

use crate::common::{Done, Place, assert_harmless, run};
use assay_core::outcome::Outcome;
use assay_core::record::{Record, Repeat};
use assay_store::{SqliteStore, Store};

const SIX: [&str; 3] =
    ["published:sandisk-extreme-a2", "published:samsung-evo-plus-64gb", "published:sandisk-ultra-a1"];
const STICK: [&str; 4] = ["cache", "published:imation-swivel-usb-16gb", "--before", "published:sata-hdd-500gb"];

fn advise(place: &Place, arguments: &[&str]) -> Done {
    run(place.assay([&["advise"], arguments].concat()))
}

/// The text: its lines fit and nothing in it can be obeyed by a terminal.
#[track_caller]
fn text(place: &Place, arguments: &[&str], code: i32) -> String {
    let done = advise(place, arguments);
    assert_eq!(done.code, Some(code), "{}\n{}", done.stdout, done.stderr);
    assert_harmless(&done.stdout);
    for line in done.stdout.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!(done.stderr.is_empty(), "{}", done.stderr);
    done.stdout
}

/// All white space made one space, so that line breaks do not matter.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    let text = joined(text);
    for word in words {
        assert!(text.contains(word), "`{word}` is missing: {text}");
    }
}

/// A published record as if it had been measured here: three repeats a figure, one percent apart.
fn measured(query: &str, id: &str, labels: &[(&str, &str)]) -> Record {
    let mut record = assay_analysis::published_records(query).unwrap().remove(0);
    record.id = id.to_owned();
    record.created = "2026-01-02T03:04:05Z".to_owned();
    record.origin = assay_core::record::Origin::default();
    record.labels.extend(labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    for m in &mut record.measurements {
        let iops = m.iops.as_ref().unwrap().point;
        m.repeats = [0.99, 1.0, 1.01]
            .iter()
            .map(|factor| Repeat {
                elapsed_ns: 1_000_000_000,
                operations: 1,
                bytes: m.workload.block_bytes,
                iops: iops * factor,
                bytes_per_second: iops * factor * m.workload.block_bytes as f64,
                issued_bytes: m.workload.block_bytes,
                in_flight: 1.0,
                first_done_ns: 1,
                last_done_ns: 1,
                ..Repeat::empty("2026-01-02T03:04:05Z", Outcome::Completed)
            })
            .collect();
    }
    record
}

fn keep(place: &Place, records: &[Record]) {
    std::fs::create_dir_all(place.data()).unwrap();
    let mut store = SqliteStore::open(&place.data()).unwrap();
    for record in records {
        store.save_document(&serde_json::to_string(record).unwrap()).unwrap();
    }
}

#[test]
fn nas_shares_of_a_gigabit_and_a_row_for_each_block_size() {
    let place = Place::new();
    let load = ["--nodes", "28", "--link", "1Gbit", "--load", "random read"];
    let six = text(&place, &[&["nas"], &SIX[..], &load[..]].concat(), 0);
    says(&six, &["each node 4.46 MB/s of the line, 4.20 MB/s of its payload", "even at", "SanDisk Ultra A1, 3 units"]);
    for size in ["4 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB"] {
        let rows = six.lines().filter(|l| l.trim_start().starts_with(&format!("{size} "))).count();
        assert_eq!(rows, 3, "a row of {size} for each model: {six}");
    }
    // One value of one unit decides a large difference, and says how large a small one looks.
    let one = text(&place, &[&["nas", SIX[0]], &load[..]].concat(), 0);
    assert!(joined(&one).starts_with("Local flash wins in ") && joined(&one).contains(", by a factor of "), "{one}");
    let near = [&["nas", SIX[0]], &load[..5], &["random read 4 KiB, 4 jobs"]].concat();
    let near = text(&place, &near, 0);
    assert!(joined(&near).starts_with("Cannot tell: one value without an interval; measure with 3 repeats,"), "{near}");
    assert!(joined(&near).contains("local flash is faster, by a factor of 1.49."), "{near}");
    let volume = ["nas", "published:sdcard-sandisk-ultra-32gb", "--nas", "published:iscsi-pi-target-with-ssd"];
    let iscsi = text(&place, &[&volume[..], &["--nodes", "28", "--link", "1Gbit", "--all"]].concat(), 0);
    says(
        &iscsi,
        &[
            "best rate of one client 74.9 MB/s (1 repeat, no interval)",
            "2.68 best rate",
            "0.747 volume",
            "the server caches of it in memory",
        ],
    );
    let document = place.json([&["advise", "nas", SIX[2]], &load[..], &["--json"]].concat());
    assert_eq!(document["advice"], "nas");
    assert_eq!(document["models"][0]["rows"].as_array().unwrap().len(), 6);
    assert!(document["models"][0]["rows"][0]["probability"].as_f64().unwrap() > 0.95);
    assert!(document["sentence"].as_str().unwrap().starts_with("Local flash: SanDisk Ultra A1"));
}

#[test]
fn cache_answers_and_refuses_to_be_a_log() {
    let place = Place::new();
    let size = ["--hit", "50%", "--size", "15GB", "--ram", "8GiB"];
    let full = text(&place, &[&STICK[..], &size[..]].concat(), 1);
    says(
        &full,
        &[
            "Harmful as read cache at this feed: 8.39 MB/s is more than the 6.69 MB/s",
            "10 % 1.103",
            "50 % 1.872",
            "100 % 14.57",
            "469 MB of RAM for 15.0 GB in blocks of 4 KiB",
            "2 times at 53.7 % hits",
        ],
    );
    let log = text(&place, &[&STICK[..], &["--as", "slog"]].concat(), 1);
    assert!(log.starts_with("Refused as log (SLOG): Imation Swivel USB 16GB"), "{log}");
    let quiet = text(&place, &[&STICK[..], &size[..], &["--feed", "1.6MB/s"]].concat(), 0);
    // One value of each: 14.6 times the reads are beyond what units differ by.
    says(
        &quiet,
        &[
            "Good as read cache: Imation Swivel USB 16GB makes random reads of 4 KiB from SATA HDD 500GB 1.83 times as fast at 50 % \
             hits; probability of more than 1.2 times:",
            "there is one value, which may be off by as much as units of a model differ",
        ],
    );
    keep(
        &place,
        &[measured("imation-swivel-usb-16gb", "st1ck00001", &[]), measured("sata-hdd-500gb", "d1sk000001", &[])],
    );
    let stored = ["cache", "st1ck00001", "--before", "d1sk000001", "--feed", "1.6MB/s"];
    let good = text(&place, &[&stored[..], &size[..]].concat(), 0);
    says(
        &good,
        &["Good as read cache: Imation Swivel USB 16GB", "probability of more than 1.2 times: >99 %", "3 repeats"],
    );
    let document = place.json([&["advise"], &stored[..], &size[..], &["--json"]].concat());
    assert_eq!((&document["word"]["answer"], &document["log"]["word"]), (&"good".into(), &"refused".into()));
}

#[test]
fn buy_counts_the_money() {
    let place = Place::new();
    let price = [("price", "25USD"), ("power", "1W")];
    keep(
        &place,
        &[
            measured("sandisk-ultra-a1/1", "card000001", &price),
            measured("samsung-evo-plus-64gb/eu", "card000002", &[("price", "31USD"), ("power", "1W")]),
        ],
    );
    let found = text(&place, &["buy", "all", "--nodes", "28"], 0);
    says(&found, &["Buy 28 SanDisk Ultra A1 for 700 USD", "probability >99 %", "the one unit measured"]);
    says(&found, &["868", "random read 4 KiB, 4 jobs"]);
    let power = ["advise", "buy", "all", "--nodes", "28", "--power-price", "0.30USD", "--hours", "1000", "--json"];
    assert!((place.json(power)["options"][0]["cost"].as_f64().unwrap() - 708.4).abs() < 1e-9);
    let over = text(&place, &["buy", "all", "--nodes", "28", "--max-cost", "699USD"], 0);
    assert!(
        over.starts_with("None is within 699 USD: the cheapest option is 28 SanDisk Ultra A1 for 700 USD."),
        "{over}"
    );
    advise(&place, &["buy", "all", "--nodes", "28", "--max-cost", "600EUR"]).refuses(2, &["EUR and USD"]).at_once();
    // All amounts of money are written alike.
    for option in ["--worth", "--power-price"] {
        advise(&place, &["buy", "all", "--nodes", "28", option, "3EUR"]).refuses(2, &["EUR and USD"]);
        advise(&place, &["buy", "all", "--nodes", "28", option, "3"]).refuses(2, &["is not a price"]);
    }
    says(&text(&place, &["buy", "all", "--nodes", "28", "--worth", "3USD"], 0), &["is worth 3 USD"]);
    advise(&place, &["buy", SIX[2], "--nodes", "28"]).refuses(2, &["no label price", "--price"]);
    // A model without a price does not keep the others from an answer.
    let one = ["buy", SIX[0], SIX[2], "--nodes", "28", "--price", "SanDisk Extreme A2=25USD"];
    says(&text(&place, &one, 0), &["28 SanDisk Extreme A2 for 700 USD", "no label price"]);
    // The first sentence says that the choice is among fewer.
    let left_out = "Left out, as the price is not known: SanDisk Ultra A1.";
    let said = joined(&text(&place, &one, 0));
    assert!(said.split(" best trade-off IOPS ").next().unwrap().contains(left_out), "{said}");
    let once = text(&place, &["buy", SIX[0], "--nodes", "28", "--price", "SanDisk Extreme A2=25USD"], 0);
    assert!(once.starts_with("Nothing to compare: one candidate is left, 28 SanDisk Extreme A2 for 700 USD"), "{once}");
}

#[test]
fn class_says_no_only_where_it_is_certain() {
    let place = Place::new();
    let six = text(&place, &[&["class"], &SIX[..], &["--class", "A1"]].concat(), 1);
    // A single value far below a threshold is certain: 148 of 500 IOPS.
    let first = "A1: not met by 1 of 6 units, not all measured for 5 of 6 units (5 below threshold, single repeat)";
    assert!(joined(&six).starts_with(first), "{six}");
    assert_eq!(joined(&six).matches("random write is below threshold").count(), 5, "{six}");
    assert_eq!(joined(&six).matches("random write does not meet it (148 of 500 IOPS)").count(), 1, "{six}");
    says(&six, &["one unit does not describe the model"]);
    keep(&place, &[measured("sandisk-ultra-a1/3", "card000003", &[])]);
    let failed = text(&place, &["class", "last", "--class", "A1"], 1);
    says(
        &failed,
        &["A1: not met by 1 of 1 units", "random write does not meet it (147 of 500 IOPS)", "random read meets it"],
    );
    text(&place, &["class", "last"], 0);
    let document = place.json(["advise", "class", "last", "--json"]);
    assert_eq!(document["units"][0]["classes"].as_array().unwrap().len(), 13);
}

#[test]
fn bad_input_is_one_line() {
    let place = Place::new();
    let nas = |more: &[&str]| advise(&place, &[&["nas", SIX[0]], more].concat());
    nas(&["--nodes", "0", "--link", "1Gbit"]).refuses(2, &["--nodes"]).at_once();
    nas(&["--nodes", "28", "--link", "NaNbit"]).refuses(2, &["1Gbit"]);
    nas(&["--nodes", "28", "--link", "1Gbit", "--active", "NaN"]).refuses(2, &["--active"]);
    nas(&["--nodes", "28", "--link", "1Gbit", "--active", "0%"]).refuses(2, &["from 0.01%"]);
    nas(&["--nodes", "28", "--link", "1Gbit", "--load", "mixed"])
        .refuses(2, &["no load is named `mixed`", "there are"]);
    nas(&["--nodes", "28", "--link", "1Gbit", "--nas", "published:sata-hdd-500gb"])
        .refuses(2, &["the NAS was not measured under this load"]);
    nas(&["--nodes", "28"]).refuses(2, &["--link"]);
    advise(&place, &["nas", "published:nothing", "--nodes", "1", "--link", "1Gbit"])
        .refuses(2, &["no published medium"]);
    advise(&place, &["nas", "all", "--nodes", "1", "--link", "1Gbit"]).refuses(2, &["the store is empty"]);
    advise(&place, &[&STICK[..], &["--hit", "150%"]].concat()).refuses(2, &["0% to 100%"]);
    advise(&place, &[&STICK[..], &["--working-set", "1GiB"]].concat()).refuses(2, &["--ram"]);
    advise(&place, &[&STICK[..], &["--block", "3KiB"]].concat()).refuses(2, &["random read of 3 KiB"]);
    advise(&place, &["class", SIX[0], "--class", "A3"]).refuses(2, &["A1"]);
    let mut evil = measured("sandisk-ultra-a1/1", "card000004", &[("model", "Evil\u{1b}[2J\u{202e}card")]);
    evil.labels.insert("price".to_owned(), "\u{1b}[31mfree".to_owned());
    keep(&place, &[evil]);
    advise(&place, &["buy", "last", "--nodes", "28"]).refuses(2, &["is not a price"]);
    text(&place, &["nas", "last", "--nodes", "28", "--link", "1Gbit"], 0);
    text(&place, &["class", "last"], 0);
    for command in ["nas", "cache", "buy", "class"] {
        let help = advise(&place, &[command, "--help"]);
        assert!(help.succeeds().stdout.contains("Examples:"), "{}", help.stdout);
    }
}
