//! `assay plan`: from a plan through records to what to do next.

use std::path::Path;

use crate::common::{Place, assert_harmless, run};
use assay_core::estimate::Estimate;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record};
use assay_core::suite::Suite;
use assay_core::workload::{Stop, Workload};
use assay_store::{RunState, SqliteStore, Store};
use serde_json::Value;

const UNITS: &str = "SanDisk Ultra A1=1,2,3;EVO=1,2,3";

/// A place with a plan of six units on four slots in two rounds.
fn planned() -> Place {
    let place = Place::new();
    let new = ["plan", "new", "--units", UNITS, "--slots", "4", "--rounds", "2", "--suite", "tiny.toml"];
    run(place.assay(new.iter().chain(&["-o", "plan.toml"]))).succeeds();
    run(place.assay(["plan", "suites", "plan.toml"])).succeeds();
    place
}

/// What `assay run` would make of a cell, but for the figures, which are made up.
fn result(place: &Path, cell: &Value, number: usize, iops: f64) -> Record {
    let command: Vec<&str> = cell["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let value = |flag: &str| command.windows(2).filter(|w| w[0] == flag).map(|w| w[1]).collect::<Vec<_>>();
    let text = std::fs::read_to_string(place.join(value("--suite")[0])).unwrap();
    let suite = Suite::parse(&text, "session").unwrap();
    let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = format!("{number:010}");
    record.created = format!("2026-01-02T03:{number:02}:05Z");
    record.origin = assay_core::record::Origin::default();
    record.suite = assay_core::record::SuiteRef { name: suite.name.clone(), version: suite.version };
    record.change_settings(|settings| settings.suite_text = suite.to_text());
    record.labels = value("--label")
        .into_iter()
        .map(|label| label.split_once('=').unwrap())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    record.measurements = suite.workloads.iter().map(|w| figure(w, iops)).collect();
    record
}

fn figure(workload: &assay_core::suite::SuiteWorkload, iops: f64) -> Measurement {
    let mut measurement = Measurement::empty(
        Workload {
            queue_depth: workload.queue_depth,
            jobs: workload.jobs,
            span_bytes: 4 << 20,
            sync: workload.sync,
            stop: Stop { ramp_ns: 0, duration_ns: 200_000_000, max_bytes: None },
            ..Workload::new(&workload.name, workload.op, workload.pattern, workload.block.0)
        },
        "sync",
    );
    measurement.iops = Some(Estimate::bare(iops, 1, "made up"));
    measurement.bytes_per_second = Some(Estimate::bare(iops * workload.block.0 as f64, 1, "made up"));
    measurement
}

fn cells(place: &Place) -> Vec<Value> {
    place.json(["plan", "show", "plan.toml", "--json"])["cells"].as_array().unwrap().clone()
}

/// Records of all cells: the models differ by a factor of two, units by some percent.
fn results(place: &Place) -> Vec<Record> {
    let iops = |cell: &Value| {
        let model = if cell["model"] == "EVO" { 2000.0 } else { 1000.0 };
        model + 20.0 * cell["unit"].as_str().unwrap().parse::<f64>().unwrap()
    };
    cells(place).iter().enumerate().map(|(n, cell)| result(place.path(), cell, n, iops(cell))).collect()
}

fn save<'a>(place: &Place, records: impl IntoIterator<Item = &'a Record>) {
    let mut store = SqliteStore::open(&place.data()).unwrap();
    for record in records {
        store.save(record, RunState::Finished).unwrap();
    }
}

#[track_caller]
fn assert_fits(text: &str) {
    assert_harmless(text);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn from_a_plan_through_its_records_to_what_to_buy() {
    let place = planned();
    let records = results(&place);
    assert_eq!(records.len(), 12);

    let done = run(place.assay(["plan", "status", "plan.toml"]));
    assert_eq!(done.code, Some(1), "nothing is measured yet: {}", done.stderr);
    assert!(done.stdout.contains("0 of 12 cells"), "{}", done.stdout);

    save(&place, &records[..11]);
    let partly = run(place.assay(["plan", "status", "plan.toml", "--json"]));
    assert_eq!(partly.code, Some(1));
    let partly: Value = serde_json::from_str(&partly.stdout).unwrap();
    assert_eq!((&partly["missing"], &partly["complete"]), (&1.into(), &false.into()));
    let open: Vec<&Value> =
        partly["cells"].as_array().unwrap().iter().filter(|cell| cell["state"] == "missing").collect();
    assert_eq!((open.len(), &open[0]["round"]), (1, &2.into()));

    save(&place, &records[11..]);
    let done = run(place.assay(["plan", "status", "plan.toml"]));
    done.succeeds();
    assert!(done.stdout.contains("12 of 12 cells have a result; it is complete"), "{}", done.stdout);
    assert_fits(&done.stdout);

    let hash = cells(&place)[0]["command"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
    let race = run(place.assay(["plan", "race", &hash, "--load", "rand-read"]));
    race.succeeds();
    assert!(race.stdout.starts_with("BUY EVO."), "{}", race.stdout);
    assert!(race.stdout.contains("Decided by random read 4 KiB"), "{}", race.stdout);
    assert_fits(&race.stdout);
    let race = place.json(["plan", "race", &hash, "--load", "rand-read", "--json"]);
    assert_eq!((&race["do"], &race["model"]), (&"buy".into(), &"EVO".into()), "{race:#}");
    assert_eq!(race["chances"][0]["units"], 3, "two rounds of a unit are one unit");
    assert_eq!(race, place.json(["plan", "race", &hash, "--load", "rand-read", "--json"]));
}

#[test]
fn the_command_of_a_cell_measures_that_cell() {
    let place = Place::new();
    let new = "plan new --units A=1 --slots left --rounds 1 --suite tiny.toml -o plan.toml";
    run(place.assay(new.split(' '))).succeeds();
    run(place.assay(["plan", "suites", "plan.toml"])).succeeds();
    let shown = place.json(["plan", "show", "plan.toml", "--target", "medium", "--json"]);
    let command = shown["cells"][0]["command"].as_array().unwrap();
    run(place.assay(command[1..].iter().map(|word| word.as_str().unwrap()))).measures();
    // A busy host may make such a short run invalid, which counts as not measured.
    let record = place.only_record();
    let status = run(place.assay(["plan", "status", "plan.toml"]));
    let invalid = record.validity.verdict == assay_core::finding::ValidityVerdict::Invalid;
    assert_eq!(status.code, Some(i32::from(invalid)), "{}", status.stdout);
    assert_eq!(status.stdout.contains("is invalid"), invalid, "{}", status.stdout);
}

#[test]
fn what_does_not_fit_is_told_with_its_reason() {
    let place = planned();
    let mut records = results(&place);
    records[0].labels.insert("slot".to_owned(), "99".to_owned());
    records[1].labels.insert("unit".to_owned(), "stray\u{1b}[2J".to_owned());
    records[2].labels.remove("plan");
    records[3].labels.insert("plan".to_owned(), "0123456789abcdef".to_owned());
    records[4].outcome = Outcome::Failed {
        failure: RunFailure::Hung,
        detail: String::new(),
        workload: None,
        elapsed_ns: 1,
        written_bytes: 0,
    };
    save(&place, &records);
    let done = run(place.assay(["plan", "status", "plan.toml"]));
    assert_eq!(done.code, Some(1));
    assert_fits(&done.stdout);
    for words in ["8 of 12 cells", "was in slot 99", "is not in the plan", "has no label plan=", "hung"] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    let status: Value =
        serde_json::from_str(&run(place.assay(["plan", "status", "plan.toml", "--json"])).stdout).unwrap();
    assert_eq!(status["misfits"].as_array().unwrap().len(), 3, "{:#}", status["misfits"]);
}

#[test]
fn a_plan_tells_its_cost_and_what_it_can_tell() {
    let place = Place::new();
    let units = "A=1,2,3;B=1,2,3;C=1,2,3;D=1,2,3;E=1,2,3";
    let new = ["plan", "new", "--units", units, "--slots", "15", "--seed", "7"];
    let done = run(place.assay(new.iter().chain(&["-o", "plan.toml"])));
    done.succeeds();
    let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "With 3 units per model you cannot separate models closer than 31 % (if units vary by 10 %;",
        "5 models, 15 units, 15 slots, 3 rounds, seed 7",
        "at most 1 min 30 s and 1 GiB written a session",
        "45 GiB",
    ] {
        assert!(flat.contains(words), "{words}: {}", done.stdout);
    }
    assert_fits(&done.stdout);
    // Without a file, the plan goes to standard output, and is the same.
    let printed = run(place.assay(new));
    assert_eq!(printed.succeeds().stdout, std::fs::read_to_string(place.path().join("plan.toml")).unwrap());
    let document = place.json(new.iter().chain(&["--json"]));
    assert_eq!(document["text"], printed.stdout.as_str());
    assert_eq!(document["outlook"]["total"]["sessions"], 45);
    // 3.5 minutes a wave and a minute for each of 15 units, three times.
    assert_eq!(document["outlook"]["total"]["clock_minutes"], 3.0 * 18.5);
    // The same once more changes nothing; another plan does not take the place of this one.
    run(place.assay(new.iter().chain(&["-o", "plan.toml"]))).succeeds();
    run(place.assay(new.iter().chain(&["--rounds", "2", "-o", "plan.toml"]))).refuses(2, &["is there already"]);
}

#[test]
fn people_see_who_goes_where() {
    let place = planned();
    let all = run(place.assay(["plan", "show", "plan.toml"]));
    assert_fits(&all.succeeds().stdout);
    assert_eq!(all.stdout.matches("assay run /mnt/card").count(), 12, "{}", all.stdout);
    let second = run(place.assay(["plan", "show", "plan.toml", "--round", "2"]));
    assert_eq!(second.succeeds().stdout.matches("--label round=2").count(), 6, "{}", second.stdout);
    assert!(second.stdout.contains("'model=SanDisk Ultra A1'"), "{}", second.stdout);
    run(place.assay(["plan", "show", "plan.toml", "--round", "3"])).refuses(2, &["no round 3", "1 to 2"]);
    let files = place.json(["plan", "suites", "plan.toml", "--json"]);
    for file in files["files"].as_array().unwrap() {
        run(place.assay(["suite", "show", file.as_str().unwrap()])).succeeds();
    }
    place.file("tiny-order-1.toml", "mine");
    run(place.assay(["plan", "suites", "plan.toml"])).refuses(2, &["tiny-order-1.toml", "is there already"]);
}

#[test]
fn bad_requests_get_one_line() {
    let place = Place::new();
    place.file("units.txt", "A = 1, 2\nB = 1, 1\n");
    for (arguments, words) in [
        ("--units A=1,2 --slots 2", vec!["--rounds", "3 rounds need 3 slots", "--no-swap"]),
        ("--units ; --slots 3", vec!["--units", "there are no units"]),
        ("--units A= --slots 3", vec!["model `A` has no units"]),
        ("--units A,B=1 --slots 3", vec!["model `A,B` holds a comma"]),
        ("--units A=1,1 --slots 3", vec!["unit `1` of model `A` is named twice"]),
        ("--units units.txt --slots 3", vec!["units.txt:2: unit `1` of model `B` is named twice"]),
        ("--units missing.txt --slots 3", vec!["missing.txt: no such file"]),
        ("--units medium --slots 3", vec!["medium: is a directory"]),
        ("--units A=1 --slots 0", vec!["--slots", "0 slots"]),
        ("--units A=1 --slots a,a", vec!["slot `a` is named twice"]),
        ("--units A=1 --slots 3 --suite nope", vec!["no suite `nope`"]),
        ("--units A=1 --slots 3 --rounds 0", vec!["0 rounds"]),
        ("--units A=1 --slots 3 --handling -1", vec!["--handling", "unit"]),
        ("--units A=1 --slots 3 --variation 150%", vec!["--variation", "to 99.99%"]),
        ("--units A=1", vec!["--slots"]),
    ] {
        let done = run(place.assay(["plan", "new"].into_iter().chain(arguments.split(' '))));
        done.refuses(2, &words).at_once();
    }
}

/// Neither by its name nor by a link.
#[test]
fn a_plan_takes_the_place_of_no_other_file() {
    let place = Place::new();
    let precious = place.file("thesis.tex", "dear");
    std::os::unix::fs::symlink(&precious, place.path().join("link.toml")).unwrap();
    for path in ["thesis.tex", "link.toml"] {
        let new = ["plan", "new", "--units", "A=1;B=1", "--slots", "2", "--rounds", "2", "-o", path];
        run(place.assay(new)).refuses(2, &["is there already"]);
    }
    assert_eq!(std::fs::read(&precious).unwrap(), b"dear");
}

#[test]
fn a_changed_or_newer_plan_is_refused_by_all_commands() {
    let place = planned();
    let text = std::fs::read_to_string(place.path().join("plan.toml")).unwrap();
    let version = text.replace("version = 1\nhash", "version = 9\nhash");
    for (content, words) in [
        (text.replace("rounds = 2", "rounds = 1"), ["plan.toml:5: ", "was changed"]),
        (version, ["plan.toml:4: ", "use a newer assay"]),
        ("hello".to_owned(), ["plan.toml:1: ", "assay plan new"]),
        (crate::common::TINY.to_owned(), ["plan.toml:", "assay plan new"]),
    ] {
        place.file("plan.toml", content);
        for command in ["show", "suites", "status"] {
            run(place.assay(["plan", command, "plan.toml"])).refuses(2, &words);
        }
    }
    run(place.assay(["plan", "show", "none.toml"])).refuses(2, &["none.toml: no such file"]);
}

#[test]
fn a_race_asks_for_what_is_missing_and_refuses_what_it_cannot_know() {
    let place = Place::new();
    run(place.assay(["plan", "race", "all"])).refuses(2, &["the store is empty"]);
    let first = place.json(["plan", "race", "published:sandisk-extreme-a2", "published:sandisk-ultra-a1", "--json"]);
    assert_eq!(first["quantity"], "iops", "{first:#}");
    let text = run(place.assay(["plan", "race", "published:"]));
    assert!(text.succeeds().stdout.starts_with("MEASURE "), "{}", text.stdout);
    assert_fits(&text.stdout);
    for (more, words) in [
        (vec!["--load", "nothing"], "no load is named `nothing`"),
        (vec!["--cap", "1"], "--cap"),
        (vec!["--level", "40%"], "--level: 40 %"),
        (vec!["--level", "much"], "--level"),
        (vec!["--dropped", "Nobody"], "no records of model `Nobody`"),
    ] {
        let done = run(place.assay(["plan", "race", "published:"].into_iter().chain(more)));
        done.refuses(2, &[words]);
    }
    run(place.assay(["plan", "race", "published:nothing"])).refuses(2, &["nothing"]);
}

#[test]
fn a_swap_test_says_what_to_measure_and_who_is_to_blame() {
    let place = planned();
    let swap = ["plan", "swap", "--suspect", "EVO=3@7", "--other", "EVO=1@2", "--load", "rand-read"];
    let before = run(place.assay(swap));
    assert!(before.succeeds().stdout.contains("Measure step 1, swap the units"), "{}", before.stdout);
    let cell = &cells(&place)[0];
    let mut records = Vec::new();
    for (unit, slot, iops) in [("3", "7", 500.0), ("3", "2", 510.0), ("1", "7", 1000.0), ("1", "2", 1010.0)] {
        for repeat in [0.0, 1.0] {
            let mut record = result(place.path(), cell, records.len(), iops + repeat);
            for (key, value) in [("model", "EVO"), ("unit", unit), ("slot", slot)] {
                record.labels.insert(key.to_owned(), value.to_owned());
            }
            records.push(record);
        }
    }
    save(&place, &records);
    let after = run(place.assay(swap));
    assert!(after.succeeds().stdout.contains("THE UNIT differs"), "{}", after.stdout);
    assert_fits(&after.stdout);
    let document = place.json(swap.iter().chain(&["--json"]));
    assert_eq!((&document["unit"]["real"], &document["slot"]["real"]), (&true.into(), &false.into()));
    let same = ["plan", "swap", "--suspect", "EVO=3@7", "--other", "EVO=3@7"];
    run(place.assay(same)).refuses(2, &["--other", "is the suspect itself"]);
    run(place.assay(["plan", "swap", "--suspect", "EVO", "--other", "EVO=1@2"])).refuses(2, &["MODEL=UNIT@SLOT"]);
}
