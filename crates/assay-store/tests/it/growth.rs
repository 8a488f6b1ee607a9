//! A growing record is appended to, not written again; reading always returns all of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::common::running;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record, Repeat, Sample, Sensor};
use assay_core::workload::{Op, Pattern, Workload};
use assay_store::{Keeper, Kept, Owner, RunState, Spool, SqliteStore, Store};

fn measurement(name: &str) -> Measurement {
    let workload = Workload { span_bytes: 1 << 30, ..Workload::new(name, Op::Write, Pattern::Random, 4096) };
    Measurement::empty(workload, "sync")
}

fn repeat(number: u64) -> Repeat {
    Repeat {
        iops: 0.1 + number as f64,
        bytes_per_second: 4096.3,
        in_flight: 1.0,
        ..Repeat::empty(&format!("2026-01-02T03:04:{:02}Z", number % 60), Outcome::Running)
    }
}

fn sensor(name: &str) -> Sensor {
    Sensor {
        name: name.to_owned(),
        kind: "temperature".to_owned(),
        unit: "°C".to_owned(),
        source: "hwmon".to_owned(),
        samples: Vec::new(),
    }
}

/// One more second of the running repeat, as the runner provides it.
fn second(record: &mut Record, second: u64) {
    let t_ns = second * 1_000_000_000;
    for (number, sensor) in record.sensors.iter_mut().enumerate() {
        sensor.samples.push((t_ns, 41.3 + number as f64 + (second % 7) as f64 / 10.0));
    }
    let Some(repeat) = record.measurements.last_mut().and_then(|m| m.repeats.last_mut()) else { return };
    repeat.samples.push(Sample {
        t_ns,
        interval_ns: 1_000_000_123,
        operations: 4_711 + second % 100,
        bytes: 19_296_256,
        p50_ns: Some(203_456.7),
        p99_ns: Some(1_234_567.8),
    });
    repeat.operations += 1;
    repeat.elapsed_ns = t_ns;
    record.change_settings(|settings| settings.elapsed_ns = t_ns);
    record.change_settings(|settings| settings.written_bytes += 4096);
}

fn begun(id: &str, sensors: usize) -> Record {
    let mut record = running(id);
    record.sensors = (0..sensors).map(|number| sensor(&format!("s{number}"))).collect();
    record
}

fn save(store: &mut SqliteStore, record: &Record) {
    store.save(record, RunState::Running { owner: &Owner::current(), scratch: None }).unwrap();
}

/// The loaded record equals the saved one, on this connection and on another.
#[track_caller]
fn assert_kept(dir: &Path, store: &SqliteStore, record: &Record) {
    assert_eq!(store.load(&record.id).unwrap().record, *record);
    let other = SqliteStore::open_existing(dir).unwrap().unwrap();
    let stored = other.load(&record.id).unwrap();
    assert_eq!(stored.record, *record);
    assert_eq!(serde_json::from_str::<Record>(&stored.document).unwrap(), *record);
}

#[test]
fn a_growing_record_is_whole_at_every_step() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let mut record = begun("aaaaaaaaaa", 2);
    let mut time = 0;
    save(&mut store, &record);
    assert_kept(dir.path(), &store, &record);
    for workload in 0..2u64 {
        record.measurements.push(measurement(&format!("w{workload}")));
        for number in 0..3 {
            record.measurements.last_mut().unwrap().repeats.push(repeat(number));
            for _ in 0..4 {
                for _ in 0..3 {
                    time += 1;
                    second(&mut record, time);
                }
                save(&mut store, &record);
                assert_kept(dir.path(), &store, &record);
            }
            // The repeat ends; its figures differ from those of the last save.
            let over = record.measurements.last_mut().unwrap().repeats.last_mut().unwrap();
            over.outcome = Outcome::Completed;
            over.samples.pop();
            over.iops = 12.5;
            if number != 1 {
                // After number 1 the next repeat is running before the record is saved.
                save(&mut store, &record);
                assert_kept(dir.path(), &store, &record);
            }
        }
    }
    // A label, another sensor, fewer samples: changes that do not continue the saved state are written completely.
    record.labels.insert("slot".to_owned(), "3".to_owned());
    record.sensors.push(sensor("late"));
    record.sensors[0].samples.truncate(2);
    save(&mut store, &record);
    assert_kept(dir.path(), &store, &record);
    record.measurements[0].repeats.remove(0);
    save(&mut store, &record);
    assert_kept(dir.path(), &store, &record);
    assert_eq!(store.list("slot=3").unwrap().len(), 1);
    record.outcome = Outcome::Completed;
    store.save(&record, RunState::Finished).unwrap();
    assert_kept(dir.path(), &store, &record);
    drop(store);
    let raw = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let left: i64 = raw.query_row("SELECT count(*) FROM part", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "a finished record is one document");
}

#[test]
fn two_growing_records_do_not_meet_and_a_removed_one_takes_its_parts() {
    let dir = tempfile::tempdir().unwrap();
    let mut stores = [SqliteStore::open(dir.path()).unwrap(), SqliteStore::open(dir.path()).unwrap()];
    let mut records = [begun("aaaaaaaaaa", 1), begun("bbbbbbbbbb", 1)];
    for step in 1..=5 {
        for (store, record) in stores.iter_mut().zip(&mut records) {
            second(record, step);
            save(store, record);
        }
    }
    for (store, record) in stores.iter().zip(&records) {
        assert_kept(dir.path(), store, record);
    }
    let raw = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let parts = || raw.query_row("SELECT count(*) FROM part", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(parts(), 10);
    // As if its process were on another host.
    raw.execute("UPDATE run SET host = 'elsewhere'", []).unwrap();
    stores[0].remove("aaaaaaaaaa").unwrap();
    assert_eq!(parts(), 5);
    // The run that continues saves everything again.
    second(&mut records[0], 6);
    save(&mut stores[0], &records[0]);
    assert_kept(dir.path(), &stores[0], &records[0]);
}

#[test]
fn a_killed_soak_is_closed_with_all_that_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let mut record = begun("aaaaaaaaaa", 1);
    record.measurements.push(measurement("soak"));
    record.measurements[0].repeats.push(repeat(0));
    let owner = Owner { start_time: 1, ..Owner::current() };
    for step in 1..=30 {
        second(&mut record, step);
        store.save(&record, RunState::Running { owner: &owner, scratch: None }).unwrap();
    }
    let [closed] = store.abandoned().unwrap().try_into().unwrap();
    record.outcome = closed.record.outcome.clone();
    assert!(matches!(record.outcome, Outcome::Failed { failure: RunFailure::Abandoned, .. }));
    assert_eq!(closed.record, record);
    assert_kept(dir.path(), &store, &record);
}

#[test]
fn parts_that_do_not_fit_their_document_are_damage_and_not_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let mut record = begun("aaaaaaaaaa", 1);
    second(&mut record, 1);
    save(&mut store, &record);
    let raw = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    for (column, value) in [("series", "/sensors/7/samples"), ("json", "[1"), ("json", "")] {
        let (series, json): (String, String) =
            raw.query_row("SELECT series, json FROM part", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        raw.execute(&format!("UPDATE part SET {column} = ?1"), [value]).unwrap();
        let error = store.load("aaaaaaaaaa").unwrap_err();
        assert!(error.to_string().contains("is damaged"), "{error}");
        raw.execute("UPDATE part SET series = ?1, json = ?2", [series, json]).unwrap();
    }
    assert_kept(dir.path(), &store, &record);
}

/// Bytes that this process has passed to write(2) and similar calls: proc(5), `wchar`.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

/// Child: a soak of `seconds`, saved every ten seconds; prints how many bytes that wrote.
#[test]
#[ignore = "started by another test"]
fn child_that_soaks() {
    let (Ok(dir), Ok(seconds)) = (std::env::var("ASSAY_TEST_SOAK"), std::env::var("ASSAY_TEST_SECONDS")) else {
        return;
    };
    let whole = std::env::var_os("ASSAY_TEST_WHOLE").is_some();
    let mut store = SqliteStore::open(Path::new(&dir)).unwrap();
    let mut record = begun("aaaaaaaaaa", 3);
    record.measurements.push(measurement("soak"));
    record.measurements[0].repeats.push(repeat(0));
    save(&mut store, &record);
    let before = written();
    for time in 1..=seconds.parse().unwrap() {
        second(&mut record, time);
        if time % 10 == 0 && whole {
            store.save(&record, RunState::Finished).unwrap();
        } else if time % 10 == 0 {
            save(&mut store, &record);
        }
    }
    record.measurements[0].repeats[0].outcome = Outcome::Completed;
    save(&mut store, &record);
    record.outcome = Outcome::Completed;
    store.save(&record, RunState::Finished).unwrap();
    println!("\nwrote {} of {}", written() - before, serde_json::to_string(&record).unwrap().len());
}

/// Bytes that a soak writes to the store, and bytes of its document.
fn soaked(seconds: u64, whole: bool) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let seconds = seconds.to_string();
    let mut soak = crate::common::child(
        "growth::child_that_soaks",
        &[("ASSAY_TEST_SOAK", dir.path().to_str().unwrap()), ("ASSAY_TEST_SECONDS", &seconds)],
    );
    if whole {
        soak.env("ASSAY_TEST_WHOLE", "1");
    }
    let out = String::from_utf8(soak.output().unwrap().stdout).unwrap();
    let line = out.lines().find_map(|line| line.strip_prefix("wrote ")).unwrap();
    let (wrote, document) = line.split_once(" of ").unwrap();
    (wrote.parse().unwrap(), document.parse().unwrap())
}

/// Threat 21. `ASSAY_SOAK_SECONDS=604800` measures a soak of a week; see docs/results/2026-11-23-benchmarks.md.
#[test]
fn a_soak_writes_in_proportion_to_its_length() {
    let seconds = std::env::var("ASSAY_SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(16_000);
    let (half, _) = soaked(seconds / 2, false);
    let (full, document) = soaked(seconds, false);
    println!("{seconds} s: {full} bytes written for a document of {document}, {half} for half of it");
    if std::env::var_os("ASSAY_SOAK_SECONDS").is_some() {
        for seconds in [3_600, 7_200] {
            println!("written whole each time, {seconds} s: {} bytes", soaked(seconds, true).0);
        }
    }
    assert!(full as f64 <= 2.2 * half as f64, "{half} bytes for {} s, {full} for {seconds} s", seconds / 2);
}

/// Beside a permanently locked store, a soak also writes in proportion to its length: the running repeat is spooled
/// when a sixteenth of it is new, a finished one at once.
#[test]
fn a_soak_beside_a_locked_store_writes_in_proportion_and_keeps_what_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let other = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut keeper = Keeper::with(Some(store), Spool::in_directory(dir.path()));
    let owner = Owner { start_time: 1, ..Owner::current() };
    let mut keep = |record: &Record| {
        let run = RunState::Running { owner: &owner, scratch: None };
        assert!(matches!(keeper.keep(record, run, Duration::ZERO), Kept::Spooled(_)));
    };
    // The name and size of the only spooled file.
    let waits = || {
        let [file] = std::fs::read_dir(dir.path().join("spool"))
            .unwrap()
            .map(Result::unwrap)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        (file.file_name(), file.metadata().unwrap().len())
    };
    let mut record = begun("aaaaaaaaaa", 1);
    record.measurements.push(measurement("soak"));
    record.measurements[0].repeats.push(repeat(0));
    let (mut seen, mut written, mut last) = (BTreeSet::new(), 0, 0);
    for time in 1..=6_000 {
        second(&mut record, time);
        if time % 10 == 0 {
            keep(&record);
            let (name, bytes) = waits();
            if seen.insert(name) {
                (written, last) = (written + bytes, time);
            }
            assert!(time - last <= time / 16 + 10, "{last} of {time} s are kept");
        }
    }
    let document = serde_json::to_string(&record).unwrap().len() as u64;
    assert!(written <= 17 * document, "{written} bytes for a document of {document}");
    assert!(seen.len() < 200, "{} of 600 saves", seen.len());
    // The repeat ends and the next one begins, both between two files of a soak.
    record.measurements[0].repeats[0].outcome = Outcome::Completed;
    record.measurements[0].repeats.push(repeat(1));
    record.change_settings(|settings| settings.elapsed_ns += 1);
    keep(&record);
    assert!(seen.insert(waits().0), "a repeat that is over is kept at once");
    drop(keeper);
    other.execute_batch("ROLLBACK").unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let taken = store.take_in(&mut Spool::in_directory(dir.path())).unwrap();
    assert_eq!((taken.taken, taken.left), (vec!["aaaaaaaaaa".to_owned()], Vec::new()));
    assert_kept(dir.path(), &store, &record);
}
