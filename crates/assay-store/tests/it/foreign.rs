//! Stores from elsewhere: those that assay makes are read, and nothing else.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{record_at, running, with_samples};
use assay_store::{Foreign, Owner, RunState, SqliteStore, Store, StoreError, read_document};
use rusqlite::Connection;

fn filled(dir: &Path, records: u32, kib: u64) {
    let mut store = SqliteStore::open(dir).unwrap();
    for n in 0..records {
        // Saved in the reverse order of their time.
        let record = with_samples(record_at(&format!("id{n:04}"), records - n), kib);
        store.save(&record, RunState::Finished).unwrap();
    }
}

fn changed(dir: &Path, sql: &str) {
    let conn = Connection::open(dir.join("assay.sqlite")).unwrap();
    conn.execute_batch(sql).unwrap();
}

fn ids(dir: &Path) -> Result<Vec<String>, StoreError> {
    let Some(mut store) = Foreign::open(dir)? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    while let Some(document) = store.next_document()? {
        all.push(read_document(&document?)?.id);
    }
    Ok(all)
}

#[test]
fn records_come_in_the_order_of_their_time() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Foreign::open(dir.path()).unwrap().is_none());
    filled(dir.path(), 3, 20);
    let want = ["id0002", "id0001", "id0000"];
    assert_eq!(ids(dir.path()).unwrap(), want);
    // After VACUUM the schema is in another order.
    changed(dir.path(), "VACUUM");
    assert_eq!(ids(dir.path()).unwrap(), want);
    let before = fs::read(dir.path().join("assay.sqlite")).unwrap();
    assert_eq!(ids(dir.path()).unwrap(), want);
    assert_eq!(fs::read(dir.path().join("assay.sqlite")).unwrap(), before, "it is only read");
}

#[test]
fn a_record_of_a_run_under_way_is_put_together() {
    let dir = tempfile::tempdir().unwrap();
    let (mut record, owner) = (with_samples(running("aaaaaaaaaa"), 1), Owner::current());
    let mut store = SqliteStore::open(dir.path()).unwrap();
    for n in 0..3 {
        record.sensors[0].samples.push((n, 7.5));
        store.save(&record, RunState::Running { owner: &owner, scratch: None }).unwrap();
    }
    drop(store);
    let document = Foreign::open(dir.path()).unwrap().unwrap().next_document().unwrap().unwrap().unwrap();
    assert_eq!(read_document(&document).unwrap(), record);
}

/// For one row in a file of 40 KB: 3.4 GiB, without end.
#[test]
fn a_schema_that_assay_does_not_make_is_not_read_whoever_opens_the_store() {
    let replaced = |from: &str, to: &str| {
        format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = 'record';
             PRAGMA writable_schema = OFF"
        )
    };
    let make = |sql: &str| sql.to_owned();
    for (what, sql) in [
        ("a computed column", replaced("slot       TEXT", "slot TEXT AS (hex(zeroblob(900000000)))")),
        ("a check", replaced("host       TEXT", "host TEXT CHECK (instr(title, kind) = 0)")),
        ("a default", replaced("unit       TEXT", "unit TEXT DEFAULT (hex(zeroblob(9)))")),
        ("another order", replaced("slot       TEXT", "slot       TEXT COLLATE NOCASE")),
        ("white space", replaced("slot       TEXT", "slot        TEXT")),
        ("a table", make("CREATE TABLE more (x)")),
        ("an index", make("CREATE INDEX more ON record (title)")),
        ("an index of an expression", make("CREATE INDEX more ON record (upper(title))")),
        ("a trigger", make("CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM label; END")),
        ("a view", make("CREATE VIEW more AS SELECT * FROM record")),
        ("a view in place of a table", make("DROP TABLE observation; CREATE VIEW observation AS SELECT 1")),
        ("statistics", make("ANALYZE")),
        ("a table with fewer columns", make("DROP TABLE part; CREATE TABLE part (number INTEGER PRIMARY KEY)")),
    ] {
        let dir = tempfile::tempdir().unwrap();
        filled(dir.path(), 1, 1);
        changed(dir.path(), &sql);
        let before = fs::read(dir.path().join("assay.sqlite")).unwrap();
        for error in [
            ids(dir.path()).unwrap_err(),
            SqliteStore::open_existing(dir.path()).unwrap_err(),
            SqliteStore::open(dir.path()).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::OtherTables { .. }), "{what}: {error:?}");
            assert!(error.to_string().contains("that assay does not make") && !error.to_string().contains('\n'));
        }
        assert_eq!(fs::read(dir.path().join("assay.sqlite")).unwrap(), before, "{what}: the file was changed");
    }
}

#[test]
fn a_schema_of_many_objects_is_not_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 1, 1);
    let tables: String = (0..3_000).map(|n| format!("CREATE TABLE t{n} (a, b, c);")).collect();
    changed(dir.path(), &format!("BEGIN; {tables} COMMIT"));
    for error in [ids(dir.path()).unwrap_err(), SqliteStore::open_existing(dir.path()).unwrap_err()] {
        assert!(matches!(error, StoreError::OtherTables { .. }), "{error:?}");
    }
}

/// A few pages can form an endless tree, if each leads to the same one.
#[test]
fn pages_that_stand_in_a_tree_twice_are_found_whatever_the_size() {
    const PAGE: usize = 4096;
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 60, 100);
    let file = dir.path().join("assay.sqlite");
    let mut bytes = fs::read(&file).unwrap();
    assert!(bytes.len() > 4 << 20, "larger than what is checked when it is the user's own");
    let mut changed = 0;
    for page in bytes.chunks_mut(PAGE).skip(1).filter(|page| page[0] == 5) {
        let cells = usize::from(page[3]) << 8 | usize::from(page[4]);
        let place = |page: &[u8], n: usize| usize::from(page[12 + 2 * n]) << 8 | usize::from(page[13 + 2 * n]);
        if cells < 2 || (0..cells).any(|n| place(page, n) + 4 > PAGE) {
            continue;
        }
        let first: [u8; 4] = page[place(page, 0)..][..4].try_into().unwrap();
        for n in 1..cells {
            let at = place(page, n);
            page[at..at + 4].copy_from_slice(&first);
            changed += 1;
        }
    }
    assert!(changed > 0, "there is an inner page of a table");
    fs::write(&file, bytes).unwrap();
    let begun = Instant::now();
    let error = ids(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn what_is_no_record_is_told_and_the_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 3, 1);
    changed(
        dir.path(),
        "UPDATE document SET json = 'no JSON' WHERE record = 2; UPDATE record SET id = printf('%.*c', 2000000, 'x') WHERE number = 2",
    );
    let mut store = Foreign::open(dir.path()).unwrap().unwrap();
    let mut all = Vec::new();
    while let Some(document) = store.next_document().unwrap() {
        all.push(document.map(|document| read_document(&document).unwrap().id).map_err(|error| error.to_string()));
    }
    let refused = all[1].clone().unwrap_err();
    assert!(refused.contains("the document of record xxx") && refused.len() < 600, "{refused}");
    assert_eq!((all[0].as_deref(), all[2].as_deref()), (Ok("id0002"), Ok("id0000")));
}
