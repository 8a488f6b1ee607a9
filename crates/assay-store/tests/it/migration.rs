//! Stores of older versions can be opened, and their records continue.

use std::fs;
use std::path::Path;

use crate::common::{Mount, record, running, with_label, with_samples};
use assay_core::cluster::{ClusterPart, CommonStart};
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::{Batching, Measurement, Record, Repeat};
use assay_core::workload::{Op, Pattern, Workload};
use assay_store::{Detail, Owner, RunState, SqliteStore, Store, StoreError};
use rusqlite::{Connection, params};

/// What version 1 created besides its tables.
const VERSION_1: &str = "
    PRAGMA application_id = 0x61737379;
    PRAGMA user_version = 1;
    INSERT INTO secret VALUES ('identity', zeroblob(32));
";

#[test]
fn a_store_of_version_1_opens_and_its_records_grow_on() {
    let dir = tempfile::tempdir().unwrap();
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    conn.execute_batch(include_str!("../../src/sqlite/version_1.sql")).unwrap();
    conn.execute_batch(VERSION_1).unwrap();
    let all = [with_samples(running("aaaaaaaaaa"), 4), with_samples(record("bbbbbbbbbb"), 4)];
    for (number, record) in (1..).zip(&all) {
        let outcome = serde_json::to_string(&record.outcome).unwrap();
        conn.execute(
            "INSERT INTO record VALUES (?1, ?2, ?3, ?1, 't', 'sd', NULL, NULL, NULL, NULL, 'quick', ?4, 'valid')",
            params![number, record.id, record.created, outcome],
        )
        .unwrap();
        let json = serde_json::to_string(record).unwrap();
        conn.execute("INSERT INTO document VALUES (?1, ?2)", params![number, json]).unwrap();
    }
    conn.close().unwrap();
    let mut store = SqliteStore::open_existing(dir.path()).unwrap().unwrap();
    assert_eq!(store.list("").unwrap().len(), 2);
    let mut grown: Record = store.load("aaaaaaaaaa").unwrap().record;
    assert_eq!(grown, all[0]);
    let owner = Owner::current();
    for step in 0..3 {
        grown.sensors[0].samples.push((step, 7.5));
        store.save(&grown, RunState::Running { owner: &owner, scratch: None }).unwrap();
        assert_eq!(store.load("aaaaaaaaaa").unwrap().record, grown);
    }
    assert_eq!(store.load("bbbbbbbbbb").unwrap().record, all[1]);
    drop(store);
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let version: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 8);
}

/// A store in the state of version 2, with these records.
fn version_2(dir: &Path, records: &[Record]) {
    let owner = Owner::current();
    let mut store = SqliteStore::open(dir).unwrap();
    for record in records {
        let run = match record.outcome {
            Outcome::Running => RunState::Running { owner: &owner, scratch: None },
            _ => RunState::Finished,
        };
        store.save(record, run).unwrap();
    }
    drop(store);
    let conn = Connection::open(dir.join("assay.sqlite")).unwrap();
    conn.execute_batch("DROP TABLE observation; PRAGMA user_version = 2").unwrap();
}

/// Observations of version 3 contain nothing about clusters.
#[test]
fn a_store_of_version_3_tells_of_clusters_again() {
    let dir = tempfile::tempdir().unwrap();
    let part = ClusterPart {
        run: "r1".to_owned(),
        node: "n1".to_owned(),
        attempt: 1,
        nodes: 7,
        mode: "simultaneous".to_owned(),
        at_a_time: 7,
        clock: None,
        lost: None,
        settled: None,
    };
    let mut record = record("aaaaaaaaaa");
    record.cluster = Some(Box::new(part));
    let start = CommonStart { planned_ns: 5, began_ns: 7, bound_ns: Some(3), nodes: 6 };
    let mut measurement = Measurement::empty(Workload::new("r", Op::Read, Pattern::Random, 4096), "sync");
    let repeat = Repeat::empty("2026-01-02T00:00:00Z", Outcome::Completed);
    measurement.repeats.push(Repeat { common_start: Some(Box::new(start)), elapsed_ns: 9, last_done_ns: 8, ..repeat });
    record.measurements.push(measurement);
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.save(&record, RunState::Finished).unwrap();
    drop(store);
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let old = "UPDATE observation SET head = json_remove(head, '$.cluster'),
               repeats = json_remove(repeats, '$[0][0][5]'); PRAGMA user_version = 3";
    conn.execute_batch(old).unwrap();
    drop(conn);
    drop(SqliteStore::open(dir.path()).unwrap());
    let seen = observed(dir.path());
    assert_eq!(seen[0].cluster, record.cluster);
    let timed = |record: &Observation| {
        let repeat = &record.measurements[0].repeats[0];
        (repeat.common_start.clone(), repeat.elapsed_ns, repeat.last_done_ns)
    };
    assert_eq!(timed(&seen[0]), timed(&Observation::from(&record)));
    assert_eq!(version_of(dir.path()), 8);
}

fn version_of(dir: &Path) -> i64 {
    let conn = Connection::open(dir.join("assay.sqlite")).unwrap();
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn observed(dir: &Path) -> Vec<Observation> {
    SqliteStore::open_existing(dir).unwrap().unwrap().observations("all", Detail::Latencies).unwrap()
}

/// Records with observations so large that SQLite writes them before the transaction ends.
fn large() -> Vec<Record> {
    let label = "x".repeat(20_000);
    (0..200).map(|n| with_label(with_samples(record(&format!("id{n:08}")), 1), "note", &label)).collect()
}

#[test]
fn a_store_of_version_2_gets_the_observations_of_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let newer = Record { schema: "1.9".to_owned(), ..with_samples(record("cccccccccc"), 4) };
    let all =
        [with_samples(record("aaaaaaaaaa"), 4), with_samples(running("bbbbbbbbbb"), 4), newer, record("dddddddddd")];
    version_2(dir.path(), &all);
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let major = "UPDATE document SET json = json_set(json, '$.schema', '2.0') WHERE record = 4";
    assert_eq!(conn.execute(major, []).unwrap(), 1);
    conn.close().unwrap();
    let mut reported = Vec::new();
    let store =
        SqliteStore::open_existing_telling(dir.path(), &mut |done, of| reported.push((done, of))).unwrap().unwrap();
    assert_eq!(reported, [(1, 3), (2, 3), (3, 3)], "the run under way has none");
    for (id, saved) in ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"].iter().zip(&all) {
        assert_eq!(store.observations(id, Detail::Latencies).unwrap(), [Observation::from(saved)], "{id}");
    }
    // Like the document itself.
    let refused = |error| matches!(error, Err(StoreError::Unreadable { .. }));
    assert!(refused(store.observations("dddddddddd", Detail::Estimates).map(drop)));
    assert!(refused(store.load("dddddddddd").map(drop)) && store.list("all").unwrap().len() == 4);
    drop(store);
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let of: String = conn
        .query_row("SELECT group_concat(record) FROM (SELECT record FROM observation ORDER BY 1)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(of, "1,3");
}

/// Version 4 did not store the number of completions waited for, by which `compare` and `rank` distinguish runs.
#[test]
fn a_store_of_version_4_learns_how_its_runs_waited() {
    let dir = tempfile::tempdir().unwrap();
    let mut measurement = Measurement::empty(Workload::new("w", Op::Read, Pattern::Random, 4096), "uring");
    let batching = Batching { wait_for: 8, tried: 8, iops_ratio: 1.1, p50_ratio: None, p99_ratio: None };
    measurement.batching = Some(Box::new(batching));
    let saved = Record { measurements: vec![measurement], ..record("aaaaaaaaaa") };
    SqliteStore::open(dir.path()).unwrap().save(&saved, RunState::Finished).unwrap();
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    conn.execute_batch(
        "UPDATE observation SET head = json_remove(head, '$.measurements[0].batching'); PRAGMA user_version = 4",
    )
    .unwrap();
    conn.close().unwrap();
    assert_eq!(observed(dir.path())[0].measurements[0].batching, saved.measurements[0].batching);
    assert_eq!(version_of(dir.path()), 8);
}

/// Version 6 did not keep the processor, which distinguishes computers.
#[test]
fn a_store_of_version_6_tells_computers_apart_again() {
    let dir = tempfile::tempdir().unwrap();
    let saved = record("aaaaaaaaaa");
    SqliteStore::open(dir.path()).unwrap().save(&saved, RunState::Finished).unwrap();
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
    let old = "UPDATE observation SET head = json_remove(head, '$.host.cpu'); PRAGMA user_version = 6";
    conn.execute_batch(old).unwrap();
    conn.close().unwrap();
    assert_eq!(observed(dir.path())[0].host.cpu, saved.host.cpu);
    assert_eq!(version_of(dir.path()), 8);
}

#[test]
fn a_migration_that_is_killed_is_as_if_it_had_not_begun() {
    let (dir, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let all = large();
    version_2(dir.path(), &all);
    let mut log = 0;
    let mut copy = |done, of| {
        if 10 * done == 9 * of {
            for entry in fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
                let name = entry.file_name();
                // Files that a killed process leaves: the file and its log; shared memory is created anew.
                if name == "assay.sqlite" || name == "assay.sqlite-wal" {
                    log = fs::copy(entry.path(), killed.path().join(name)).unwrap();
                }
            }
        }
    };
    SqliteStore::open_existing_telling(dir.path(), &mut copy).unwrap().unwrap();
    assert!(log > 1 << 20, "nothing was written yet: {log}");
    assert_eq!(version_of(killed.path()), 2);
    let expected: Vec<Observation> = all.iter().map(Observation::from).collect();
    assert!(observed(killed.path()) == expected && observed(dir.path()) == expected);
    assert_eq!((version_of(killed.path()), version_of(dir.path())), (8, 8));
}

#[test]
fn two_processes_that_migrate_at_once_do_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let all = large();
    version_2(dir.path(), &all);
    let path = dir.path();
    let begin = || {
        let mut reported = 0;
        SqliteStore::open_existing_telling(path, &mut |_, _| reported += 1).unwrap().unwrap();
        reported
    };
    let reported: Vec<usize> = std::thread::scope(|scope| {
        let both = [scope.spawn(begin), scope.spawn(begin)];
        both.map(|one| one.join().unwrap()).into()
    });
    assert_eq!(reported.iter().sum::<usize>(), all.len(), "{reported:?}");
    assert_eq!(observed(dir.path()).len(), all.len());
}

#[test]
fn an_older_store_that_cannot_be_written_is_refused_with_the_mend() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::tmpfs(dir.path(), "16m") else { return };
    version_2(dir.path(), &[record("aaaaaaaaaa")]);
    mount.remount("ro");
    let error = SqliteStore::open_existing(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::OlderReadOnly { found: 2, .. }), "{error}");
    mount.remount("rw");
    assert_eq!(version_of(dir.path()), 2);
    assert_eq!(observed(dir.path()), [Observation::from(&record("aaaaaaaaaa"))]);
}
