//! Stores of older versions open, and their records go on.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use assay_core::record::Record;
use assay_store::{Owner, RunState, SqliteStore, Store};
use common::{record, running, with_samples};
use rusqlite::{Connection, params};

/// What version 1 made.
const VERSION_1: &str = "
    PRAGMA application_id = 0x61737379;
    PRAGMA user_version = 1;
    CREATE TABLE record (
        number     INTEGER PRIMARY KEY,
        id         TEXT NOT NULL UNIQUE,
        created    TEXT NOT NULL,
        created_us INTEGER NOT NULL,
        title      TEXT NOT NULL,
        kind       TEXT NOT NULL,
        product    TEXT,
        unit       TEXT,
        host       TEXT,
        slot       TEXT,
        suite      TEXT NOT NULL,
        outcome    TEXT NOT NULL,
        verdict    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX record_by_time ON record (created_us, number);

    CREATE TABLE document (
        record INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
        json   TEXT NOT NULL
    ) STRICT;

    CREATE TABLE label (
        record INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
        key    TEXT NOT NULL,
        value  TEXT NOT NULL,
        PRIMARY KEY (record, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX label_by_value ON label (key, value COLLATE NOCASE);

    CREATE TABLE run (
        record        INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
        pid           INTEGER NOT NULL,
        start_time    INTEGER NOT NULL,
        boot_id       TEXT NOT NULL,
        host          TEXT NOT NULL,
        pid_namespace TEXT NOT NULL,
        scratch       BLOB
    ) STRICT;

    CREATE TABLE secret (
        name  TEXT PRIMARY KEY,
        value BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO secret VALUES ('identity', zeroblob(32));
";

#[test]
fn a_store_of_version_1_opens_and_its_records_grow_on() {
    let dir = tempfile::tempdir().unwrap();
    let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
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
    assert_eq!(version, 2);
}
