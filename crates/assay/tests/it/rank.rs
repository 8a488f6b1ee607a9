//! `assay rank` from the command line: what it prints, where it ends, and what it refuses.

use crate::common::{Place, assert_harmless, run};
use assay_analysis::published_records;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_store::{RunState, SqliteStore, Store};
use serde_json::Value;

const CARDS: [&str; 3] =
    ["published:sandisk-ultra-a1", "published:samsung-evo-plus-64gb", "published:sandisk-extreme-a2"];

fn cards(more: &[&str]) -> Vec<String> {
    ["rank"].iter().chain(&CARDS).chain(more).map(|a| (*a).to_owned()).collect()
}

/// Figures of the article as records of the store, so that they can be changed.
fn stored(place: &Place, records: impl IntoIterator<Item = Record>) {
    let mut store = SqliteStore::open(&place.data()).unwrap();
    for record in records {
        store.save(&record, RunState::Finished).unwrap();
    }
}

fn own() -> Vec<Record> {
    let named = CARDS.iter().flat_map(|q| published_records(q.strip_prefix("published:").unwrap()).unwrap());
    named
        .enumerate()
        .map(|(n, record)| Record {
            id: format!("card{n:06}"),
            created: format!("2026-01-02T03:0{n}:00Z"),
            origin: assay_core::record::Origin::default(),
            ..record
        })
        .collect()
}

#[test]
fn the_answer_fits_a_terminal_and_is_worded_like_other_answers() {
    let place = Place::new();
    let done = run(place.assay(cards(&["--ceiling", "23000KiB/s", "--all"])));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    for line in done.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // Lines break where the width ends.
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Cannot separate SanDisk Ultra A1 and Samsung EVO Plus 64GB: the first looks better, +25 % (−56 … +261 %, simultaneous 95 %); measure more units.",
        "Only 6 units: a weak result.",
        "Not ranked, one unit only: SanDisk Extreme A2",
        "Cannot separate SanDisk Ultra A1 and Samsung EVO Plus 64GB: all are limited by the bus (at least 22.4 MB/s of 23.6)",
        "unit 3 (published) of 3 differs from the others in writes by −72.9 % (−77.3 … −64.6 %), under 6 of 6 loads; its reads are like those of the others; swap slots to check",
        "unit 3 (published) of 3 differs from the others in writes by −71.2 %",
        "2 units per model can show a difference of 51 %",
        "unit, with slot and run",
        "6 records, 6 units, 6 repeats, rounds unknown, slots unknown",
        "19999 draws; level 95 %, margin 3 %, seed 0",
        "11 other loads (exploratory)",
    ] {
        assert!(text.contains(words), "`{words}` is missing:\n{}", done.stdout);
    }
    let short = run(place.assay(cards(&[])));
    assert!(short.stdout.lines().count() < done.stdout.lines().count() / 3);
    let words = short.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = "Cannot separate SanDisk Ultra A1 and Samsung EVO Plus 64GB; measure more units.";
    assert_eq!(words.matches(found).count(), 1, "the same finding is told once: {}", short.stdout);
    assert!(words.contains("; random write 256 KiB, 4 jobs "), "{}", short.stdout);
    let score = run(place.assay(["rank", "published:", "--composite", "pibenchmarks"]));
    assert!(score.stdout.contains("TIE {iSCSI"), "{}", score.stdout);
}

#[test]
fn the_same_records_give_the_same_bytes_in_any_order() {
    let (forth, back) = (Place::new(), Place::new());
    stored(&forth, own());
    stored(&back, own().into_iter().rev());
    let json = |place: &Place, queries: &[&str]| {
        let done = run(place.assay(["rank", "--json"].iter().chain(queries)));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stdout
    };
    let first = json(&forth, &[]);
    assert_eq!(json(&back, &[]), first);
    assert_eq!(json(&back, &["unit=3", "model=Samsung EVO Plus 64GB", "all"]), first);
    let report: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(report["primary"]["title"], "random read 4 KiB, 4 jobs");
    assert_eq!(report["primary"]["models"][0]["estimate"]["n"], 3);
    assert_eq!(report["primary"]["models"][0]["estimate"]["level"], 0.95);
    assert_eq!(report["exploratory"].as_array().unwrap().len(), 11);
}

#[test]
fn failures_are_shown_and_names_can_do_no_harm() {
    let place = Place::new();
    let mut records = own();
    for record in records.iter_mut().filter(|r| r.labels["model"].contains("EVO")) {
        record.labels.insert("model".to_owned(), "=EVO\u{1b}[2J<b>|\u{202e}".to_owned());
    }
    let elapsed_ns = 48 * 3600 * 1_000_000_000;
    records[0].outcome = Outcome::Failed {
        failure: RunFailure::ReadOnly,
        detail: String::new(),
        workload: None,
        elapsed_ns,
        written_bytes: 1,
    };
    stored(&place, records);
    let done = run(place.assay(["rank"]));
    assert_eq!(done.code, Some(0));
    assert_harmless(&done.stdout);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("failed: 1 of 3 units: unit 1 turned read-only after 48 h"), "{}", done.stdout);
    assert!(text.contains(" % fail (95 % confidence)"), "the level is in per cent:\n{}", done.stdout);
    for (name, words) in [("a.md", "\\|"), ("a.html", "&lt;b&gt;"), ("a.csv", "'=EVO")] {
        let done = run(place.assay(["rank", "-o", name]));
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{}", done.stderr);
        let text = std::fs::read_to_string(place.path().join(name)).unwrap();
        assert!(text.contains(words) && !text.contains("<b>") | name.ends_with("csv"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
        assert!(name != "a.html" || text.matches("<tr>").count() > 2, "a page has a table: {text}");
    }
}

/// The line of the ceiling stands where the ceiling is, in megabytes of 10^6 bytes as its axis.
#[test]
fn the_line_of_the_ceiling_in_a_picture_is_where_the_ceiling_is() {
    let place = Place::new();
    let more = ["--ceiling", "23000KiB/s", "--load", "random read 256 KiB, 4 jobs", "--metric", "rate", "-o", "a.svg"];
    let done = run(place.assay(cards(&more)));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let svg = std::fs::read_to_string(place.path().join("a.svg")).unwrap();
    assert!(svg.contains("ceiling allows 23.6 MB/s"), "{svg}");
}

#[test]
fn too_little_to_say_is_a_no() {
    let place = Place::new();
    let done = run(place.assay(["rank", "published:sandisk-ultra-a1/1"]));
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stdout.starts_with("Not ranked: "), "{}", done.stdout);
    let done = run(place.assay(["rank", "--json", "published:sandisk-ultra-a1"]));
    assert_eq!(done.code, Some(1));
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["primary"]["models"][0]["standing"], "unordered");
    assert!(report["primary"]["refusal"].is_string());
}

#[test]
fn bad_input_is_refused_in_a_line() {
    let place = Place::new();
    let card = CARDS[0];
    for (arguments, words) in [
        (vec!["rank"], "the store is empty"),
        (vec!["rank", "published:nothing"], "no published medium"),
        (vec!["rank", card, "--load", "fast"], "`fast` is not part of a load"),
        (vec!["rank", card, "--load", "sequential write"], "no load is named"),
        (vec!["rank", card, "--metric", "speed"], "iops, rate, durable, p50, p90, p95, p99"),
        (vec!["rank", card, "--metric", "p99"], "no record has the metric `p99`"),
        (vec!["rank", card, "--ceiling", "23"], "23MB/s"),
        (vec!["rank", card, "--level", "100%"], "from 50% to 99.9%"),
        (vec!["rank", card, "--margin", "200%"], "from 0% to 100%"),
        (vec!["rank", card, "--composite", "best"], "pibenchmarks and index"),
        (vec!["rank", card, "--seed", "x"], "--seed"),
        (vec!["rank", card, "-o", "a.txt"], ".html, .md, .csv, .json, .svg or .png"),
        (vec!["rank", card, "-o", "a.md", "--json"], "cannot be used with"),
    ] {
        run(place.assay(arguments)).refuses(2, &[words]);
    }
    run(place.assay(["rank", card, "-o", "no/such/a.md"])).refuses(4, &["cannot be written"]);
}
