//! One grammar of queries in every command: several of them, and conditions behind the name of a place.

use std::fs;

use crate::common::{Place, run};
use assay_core::record::Record;
use serde_json::Value;

/// A record of a unit, made of a published one.
fn card(id: &str, unit: &str, minute: u32) -> Record {
    let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = id.to_owned();
    record.created = format!("2026-11-21T06:{minute:02}:00Z");
    record.origin = assay_core::record::Origin::default();
    record.labels.insert("model".to_owned(), "Card".to_owned());
    record.labels.insert("unit".to_owned(), unit.to_owned());
    record
}

fn three() -> Place {
    Place::with_records(&[card("aaaa1", "1", 1), card("bbbb1", "2", 2), card("cccc1", "1", 3)])
}

fn ids(place: &Place, queries: &[&str]) -> Vec<String> {
    let rows = place.json([&["list", "--json"], queries].concat());
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_takes_several_queries_and_has_each_record_once() {
    let place = three();
    assert_eq!(ids(&place, &["last", "unit=1", "all"]), ["cccc1", "aaaa1", "bbbb1"]);
    assert_eq!(ids(&place, &["unit=9", "bbbb1"]), ["bbbb1"]);
    assert_eq!(ids(&place, &["unit=9", "unit=8"]), [""; 0]);
    let none = run(place.assay(["list", "unit=9", "published: unit=9"]));
    assert_eq!(none.succeeds().stderr, "no record matches\n");
    run(place.assay(["list", "last", "nothing"])).refuses(2, &["no record `nothing`"]);
    std::fs::create_dir(place.path().join("results")).unwrap();
    run(place.assay(["list", "results"])).refuses(2, &["is a directory; write results/"]);
    let table = run(place.assay(["list", "published:sandisk-ultra-a1/1", "aaaa1"])).stdout;
    let all = run(place.assay(["list", "published:sandisk-ultra-a1"])).stdout;
    assert!(
        all.starts_with("published:") && all.contains("\nsandisk-ultra-a1/1  "),
        "how all of them begin is said once: {all}"
    );
    assert!(table.contains("published:sandisk-ultra-a1/1  ") && table.contains("aaaa1  "), "{table}");
}

/// Whether a store has no record yet or there is no store makes no difference to who asks.
#[test]
fn a_list_of_nothing_is_no_error() {
    let (empty, none) = (Place::with_records(&[]), Place::new());
    for query in ["all", "last", "unit=1"] {
        let answers = [&empty, &none].map(|place| run(place.assay(["list", query])).succeeds().stderr.clone());
        assert_eq!(answers[0], answers[1], "{query}");
        assert!(answers[0].contains("assay run"), "{query}: {answers:?}");
    }
}

#[test]
fn cards_of_several_records_stand_below_each_other() {
    let place = three();
    let show = |queries: &[&str]| run(place.assay([&["show"], queries].concat())).succeeds().stdout.clone();
    let cards = [show(&["aaaa1"]), show(&["bbbb1"])];
    assert_eq!(show(&["aaaa1", "bbbb1", "aaaa1"]), cards.join("\n"));
    // One is the document as it is stored, several are an array of such.
    let one = place.json(["show", "aaaa1", "--json"]);
    assert_eq!(one["id"], "aaaa1");
    assert_eq!(place.json(["show", "aaaa1", "bbbb1", "--json"])[0], one);
    let lines = show(&["aaaa1", "bbbb1", "--percentiles", "50"]);
    let headings: Vec<&str> = lines.lines().filter(|line| line.contains("bbbb1") || line.contains("aaaa1")).collect();
    assert_eq!(headings, ["aaaa1  Card", "bbbb1  Card"]);
    assert!(lines.contains("\n\nbbbb1  Card\nlatency\n"), "{lines}");
    assert!(show(&["aaaa1", "--percentiles", "50"]).starts_with("latency\n"));
}

#[test]
fn conditions_divide_the_records_of_every_place() {
    let place = three();
    assert_eq!(ids(&place, &["all unit=1"]), ["aaaa1", "cccc1"]);
    let published = ["published:sandisk-extreme-a2/1", "published:sandisk-ultra-a1/1", "published:sandisk-ultra-a1/2"];
    assert_eq!(ids(&place, &["published: model=sandisk* unit=1,2"]), published);
    assert_eq!(ids(&place, &["published:sandisk-ultra-a1 unit=2"]), published[2..]);
    run(place.assay(["baseline", "set", "main", "cccc1", "bbbb1"])).succeeds();
    assert_eq!(ids(&place, &["baseline:main unit=1"]), ["cccc1"]);
    assert_eq!(ids(&place, &["baseline:main model=Card suite=published"]), ["cccc1", "bbbb1"]);
    let results = place.path().join("my results");
    fs::create_dir(&results).unwrap();
    for record in [card("dddd1", "3", 4), card("eeee1", "4", 5)] {
        fs::write(results.join(format!("{}.json", record.id)), record.to_json().unwrap()).unwrap();
    }
    assert_eq!(ids(&place, &["my results/ unit=3"]), ["dddd1"]);
    assert_eq!(place.json(["show", "my results/ model=Card unit=4", "--json"])["id"], "eeee1");
    let groups = place.json(["compare", "my results/ unit=3", "published: unit=3", "--json"]);
    assert_eq!(groups["comparison"]["groups"][1]["records"][0], "published:sandisk-ultra-a1/3");
}

#[test]
fn what_names_nothing_is_told_in_one_line() {
    let place = three();
    fs::write(place.path().join("a.json"), card("dddd1", "3", 4).to_json().unwrap()).unwrap();
    run(place.assay(["baseline", "set", "main", "aaaa1"])).succeeds();
    for (arguments, words) in [
        (&["show", "published: unit=9"][..], "no record matches `published: unit=9`"),
        (&["show", "a.json unit=9"], "no record matches `a.json unit=9`"),
        (&["rank", "baseline:main unit=9"], "no record matches `baseline:main unit=9`"),
        (&["show", "reslts/ unit=9"], "reslts/: no such file or directory"),
        (&["show", "published:nothing unit=9"], "no published medium is named `nothing`"),
        (&["list", "published: =9"], "no published medium is named"),
        (&["list", "published: label.=9"], "there is no key after `label.`"),
        (&["show", "last unit=1"], "`last` is one record, and takes no conditions"),
        (&["rm", "a.json"], "assay import a.json brings its records there"),
        (&["rm", "-"], "assay import - brings its records there"),
        (&["rm", "published:"], "`published:` is not in the store"),
        (&["rm", "unit=9"], "no record matches `unit=9`"),
        (&["rm", "last", " all "], "rm does not take `all`"),
        (&["export", "--store", "new", "a.json unit=3"], "`a.json unit=3` is not in the store"),
        (&["baseline", "list", "mian"], "no baseline is named `mian`"),
    ] {
        run(place.assay(arguments)).refuses(2, &[words]);
    }
    assert_eq!(ids(&place, &[]).len(), 3, "a refusal removes nothing");
    let blanks = " a".repeat(50_000);
    for query in [format!("all{blanks}"), format!("published:{blanks}"), format!("a/b{blanks} unit=1")] {
        run(place.assay(["show", &query])).refuses(2, &[]).at_once();
    }
}

#[test]
fn baselines_are_listed_by_name_and_removed_with_the_records_they_name() {
    let place = three();
    for (name, query) in [("main", "unit=1"), ("other", "bbbb1")] {
        run(place.assay(["baseline", "set", name, query])).succeeds();
    }
    let listed = run(place.assay(["baseline", "list", "other", "baseline:other"]));
    assert_eq!(listed.succeeds().stdout, "other: bbbb1\n");
    run(place.assay(["rm", "baseline:main unit=1"])).succeeds();
    assert_eq!(ids(&place, &[]), ["bbbb1"]);
}

#[test]
fn what_is_no_key_is_no_condition() {
    let place = three();
    for query in ["aaaa1 unit=1", "results.json unit=1"] {
        run(place.assay(["list", query])).refuses(2, &["is no query", "a key before `=` has no white space"]);
    }
}

#[test]
fn labels_are_added_corrected_and_removed_and_all_else_stays() {
    let place = Place::with_records(&[card("aaaa1", "1", 1), card("bbbb1", "2", 2)]);
    let labels = |id: &str| place.json(["show", id, "--json"])["labels"].clone();
    let before = place.json(["show", "aaaa1", "--json"]);
    let done = run(place.assay(["label", "all", "rack=2", "unit=7"])).succeeds().stderr.clone();
    assert!(done.contains("changed 2 records"), "{done}");
    assert_eq!((&labels("aaaa1")["rack"], &labels("bbbb1")["unit"]), (&"2".into(), &"7".into()));
    // Queries and tables know it at once.
    assert_eq!(place.json(["list", "rack=2", "--json"]).as_array().unwrap().len(), 2);
    let done = run(place.assay(["label", "aaaa1", "rack=", "unit=7"])).succeeds().stderr.clone();
    assert!(done.contains("changed 1 record"), "{done}");
    let again = run(place.assay(["label", "aaaa1", "unit=7"])).succeeds().stderr.clone();
    assert!(again.contains("changed 0 records; 1 record needed no change"), "{again}");
    let after = place.json(["show", "aaaa1", "--json"]);
    assert!(after["labels"].get("rack").is_none() && after["labels"]["unit"] == "7");
    let rest = |record: &Value| {
        let mut record = record.clone();
        record.as_object_mut().unwrap().remove("labels");
        record
    };
    assert_eq!(rest(&after), rest(&before));
    run(place.assay(["label", "nosuch1", "a=b"])).refuses(2, &["no record"]);
    run(place.assay(["label", "aaaa1", "a=b", "a=c"])).refuses(2, &["given twice"]);
    run(place.assay(["label", "aaaa1"])).refuses(2, &["KEY=VALUE"]);
    run(place.assay(["label", "published:", "a=b"])).refuses(2, &["not in the store"]);
    // Written as in a query, and as a mistake.
    run(place.assay(["label", "aaaa1", "label.kind=mine"])).succeeds();
    assert_eq!(place.json(["list", "label.kind=mine", "--json"]).as_array().unwrap().len(), 1);
    run(place.assay(["label", "aaaa1", "a= "])).refuses(2, &["more than blanks"]);
    run(place.assay(["label", "aaaa1", &format!("{}=1", "k".repeat(65))])).refuses(2, &["1 to 64"]);
    // A document that was exported before its label was corrected.
    place.file("old.json", before.to_string());
    let again = run(place.assay(["import", "old.json", "--label", "x=y"]));
    assert!(
        again.stderr.contains("with other labels") && again.stderr.contains("keep their labels"),
        "{}",
        again.stderr
    );
}

/// One name for three media is most likely a mistake: what was there before can be named again.
#[test]
fn what_a_label_overwrites_is_told_and_can_be_looked_at_before() {
    let mut records = [card("aaaa1", "1", 1), card("bbbb1", "2", 2), card("cccc1", "1", 3)];
    records[2].labels.insert("model".to_owned(), "Disk".to_owned());
    let place = Place::with_records(&records);
    let label = ["label", "all", "model=Kingson", "week=2"];
    let told = |done: &str| {
        assert!(done.contains("model: Card (2), Disk (1) → Kingson"), "{done}");
        assert!(done.contains("week: none (3) → 2"), "{done}");
    };
    let dry = run(place.assay(label.iter().chain(&["--dry-run"]))).succeeds().stderr.clone();
    told(&dry);
    assert!(dry.contains("would change 3 records"), "{dry}");
    let models = || place.json(["list", "model=Kingson", "--json"]).as_array().map_or(0, Vec::len);
    let listed = run(place.assay(["list", "all"])).succeeds().stdout.clone();
    assert!(!listed.contains("Kingson"), "something was written: {listed}");
    let printed = place.json(["label", "aaaa1", "model=Kingson", "--dry-run", "--json"]);
    assert_eq!((&printed["dry_run"], &printed["changed"][0]), (&true.into(), &"aaaa1".into()), "{printed}");
    assert_eq!(printed["before"]["model"][0]["value"], "Card", "{printed}");
    told(&run(place.assay(label)).succeeds().stderr.clone());
    assert_eq!(models(), 3);
}

/// A value that is there beside one that is misspelt would give an answer about half of what was asked for.
#[test]
fn a_misspelt_value_is_refused_with_the_nearest_one() {
    let mut other = card("bbbb1", "2", 2);
    other.labels.insert("model".to_owned(), "SanDisk Ultra A1".to_owned());
    other.labels.insert("rack".to_owned(), "north".to_owned());
    let place = Place::with_records(&[card("aaaa1", "1", 1), other]);
    for (query, near) in [
        ("model=SanDsik Ultra A1", "model=SanDisk Ultra A1"),
        ("model=Card,SanDisk Utlra A1", "model=SanDisk Ultra A1"),
        ("rakc=north", "rack="),
        ("Unit=2", "unit="),
        ("rack=nroth", "rack=north"),
        ("published: model=SanDsik Ultra A1,Samsung EVO Plus 64GB", "model=SanDisk Ultra A1"),
    ] {
        for command in ["list", "rank", "show"] {
            run(place.assay([command, query])).refuses(2, &["no record has", near]);
        }
    }
    run(place.assay(["rm", "model=SanDsik Ultra A1"])).refuses(2, &["the nearest is model=SanDisk Ultra A1"]);
    // Values with other digits are other values: scripts look for what is not there yet.
    let said = run(place.assay(["list", "unit=1", "unit=3"])).succeeds().stderr.clone();
    assert!(said.contains("no record matches `unit=3`"), "{said}");
    for query in ["model=Kingston", "unit=3", "shop=somewhere", "model=SanDisk*", "model=SanDisk Ultra A2"] {
        run(place.assay(["list", query])).succeeds();
    }
}

#[test]
fn commas_divide_queries_in_every_command() {
    let place = three();
    assert_eq!(ids(&place, &["unit=1,unit=2"]), ids(&place, &["unit=1", "unit=2"]));
    let all = ids(&place, &[]);
    assert_eq!(ids(&place, &["unit=1,2"]), all);
    assert_eq!(ids(&place, &[&all.join(",")]), all);
    run(place.assay(["rm", "last,all"])).refuses(2, &["rm does not take `all`"]);
    run(place.assay(["rm", &all[..2].join(",")])).succeeds();
    assert_eq!(ids(&place, &[]), all[2..]);
    for query in [",last", "last,,last"] {
        run(place.assay(["list", query])).refuses(2, &["empty query beside a comma"]);
        run(place.assay(["label", query, "x=1"])).refuses(2, &["empty query beside a comma"]);
    }
    // A path is itself, whatever its name.
    place.file("a,b.txt", "104857600 bytes (105 MB, 100 MiB) copied, 5.0 s, 21.0 MB/s\n");
    assert_eq!(ids(&place, &["./a,b.txt"]).len(), 1);
}

#[test]
fn a_word_that_is_a_model_and_a_kind_that_is_none_are_told() {
    let place = Place::with_records(&[Record {
        labels: [("model".to_owned(), "SDCard".to_owned())].into(),
        ..card("aaaa1", "1", 1)
    }]);
    run(place.assay(["list", "sdcard"])).refuses(2, &["no record is named `sdcard`", "write `model=sdcard`"]);
    run(place.assay(["rank", "SDCard"])).refuses(2, &["write `model=SDCard`"]);
    run(place.assay(["list", "kind=sdd"])).refuses(2, &["`sdd` is not a kind of medium", "sd, emmc"]);
    run(place.assay(["list", "kind=SD,usb*"])).succeeds();
    run(place.assay(["run", "--suite", "quik", "medium"])).refuses(2, &["no suite `quik`; the nearest is quick"]);
}

#[test]
fn a_list_for_programs_has_models_and_figures() {
    let place = Place::new();
    let rows = place.json(["list", "--json", "published:sandisk-ultra-a1/1"]);
    let row = &rows[0];
    assert_eq!((&row["model"], &row["created"]), (&"SanDisk Ultra A1".into(), &serde_json::Value::Null));
    let read = &row["figures"][0];
    assert_eq!(read["title"], "random read 4 KiB, 4 jobs");
    assert_eq!((&read["quantity"], &read["estimate"]["point"]), (&"iops".into(), &1634.0.into()));
}

#[test]
fn rm_does_not_take_all_records_by_a_star() {
    let place = three();
    for query in ["suite=*", "kind=*", "unit=*", "all unit=*"] {
        run(place.assay(["rm", query])).refuses(2, &["name every record"]);
    }
    run(place.assay(["rm", "unit=1*"])).succeeds();
    assert_eq!(ids(&place, &[]).len(), 1);
}

/// One record that a later build wrote in a way of its own is left out of answers about all, and named.
#[test]
fn a_record_that_cannot_be_read_is_left_out_and_named() {
    let place = three();
    let ids = ids(&place, &["all"]);
    let store = rusqlite::Connection::open(place.store()).unwrap();
    let number: i64 = store.query_row("SELECT number FROM record WHERE id = ?1", [&ids[0]], |row| row.get(0)).unwrap();
    store.execute("DELETE FROM observation WHERE record = ?1", [number]).unwrap();
    let changed = store
        .execute("UPDATE document SET json = json_set(json, '$.measurements', 'one') WHERE record = ?1", [number])
        .unwrap();
    assert_eq!(changed, 1);
    drop(store);
    for command in [&["list"][..], &["rank"], &["compare", "all", "--by", "record"], &["show", "all"]] {
        let done = run(place.assay(command));
        let said: Vec<&str> = done.stderr.lines().filter(|line| line.contains("cannot be read")).collect();
        assert_eq!(said.len(), 1, "{command:?}: {}", done.stderr);
        assert!(
            said[0]
                .contains(&format!("1 record of another version of assay cannot be read and is left out: {}", ids[0]))
        );
        assert!([Some(0), Some(1)].contains(&done.code), "{command:?}: {:?} {}", done.code, done.stderr);
    }
    run(place.assay(["show", &ids[0]])).refuses(4, &["use the version of assay that wrote it"]);
}
