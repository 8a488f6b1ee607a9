//! A damaged store is reported and never changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_core::exit::Exit;
use assay_core::observation::Observation;
use assay_store::{ObservationDetail, RunState, Spool, SqliteStore, Store, StoreError};

use crate::common::{record, skip, with_label, with_samples};

const PAGE: usize = 4096;

fn filled(dir: &Path, records: u32, kib: u64) -> Vec<u8> {
    let mut store = SqliteStore::open(dir).unwrap();
    for n in 0..records {
        let id = format!("id{n:04}");
        store.save(&with_label(with_samples(record(&id), kib), "n", &n.to_string()), RunState::Finished).unwrap();
    }
    drop(store);
    fs::read(dir.join("assay.sqlite")).unwrap()
}

/// Both ways of opening report the damage, or else reading everything does.
fn assert_damaged(dir: &Path, bytes: &[u8], what: &str) {
    let file = dir.join("assay.sqlite");
    fs::write(&file, bytes).unwrap();
    let read_all = |store: SqliteStore| -> Result<(), StoreError> {
        for summary in store.list("")? {
            store.load(&summary.id)?;
        }
        Ok(())
    };
    let results = [
        SqliteStore::open(dir).and_then(read_all),
        SqliteStore::open_existing(dir).and_then(|store| store.map_or(Ok(()), read_all)),
    ];
    for result in results {
        let error = result.expect_err(what);
        assert!(matches!(error, StoreError::Damaged { .. }), "{what}: {error:?}");
        assert_eq!(error.exit(), Exit::Environment);
        let text = error.to_string();
        assert!(text.contains("assay.sqlite is damaged (") && text.contains("move it away"), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
    assert_eq!(fs::read(&file).unwrap(), bytes, "{what}: the file was changed");
}

#[test]
fn random_bytes_are_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let bytes: Vec<u8> = (0..3 * PAGE)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect();
    assert_damaged(dir.path(), &bytes, "random bytes");
    assert_damaged(dir.path(), b"{\"not\": \"a database\"}", "a short text");
    assert_damaged(dir.path(), &vec![0; 2 * PAGE], "zeros");
}

#[test]
fn a_truncated_store_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let whole = filled(dir.path(), 20, 8);
    for keep in [PAGE, 5 * PAGE, whole.len() / 2, whole.len() - PAGE] {
        assert_damaged(dir.path(), &whole[..keep], &format!("{keep} of {} bytes", whole.len()));
    }
}

#[test]
fn a_zeroed_page_is_found_wherever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let whole = filled(dir.path(), 20, 8);
    let pages = whole.len() / PAGE;
    assert!(pages > 20, "{pages}");
    for page in (0..pages).step_by(3) {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        assert_damaged(dir.path(), &bytes, &format!("page {page} of {pages} zeroed"));
    }
}

#[test]
fn damage_in_a_store_too_large_to_be_checked_is_found_when_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let whole = filled(dir.path(), 12, 512);
    assert!(whole.len() > 5 << 20, "{}", whole.len());
    let mut bytes = whole.clone();
    let middle = whole.len() / PAGE / 2;
    bytes[middle * PAGE..(middle + 1) * PAGE].fill(0);
    assert_damaged(dir.path(), &bytes, "a zeroed page in the middle");
    // The rest is still readable.
    let store = SqliteStore::open_existing(dir.path()).unwrap().unwrap();
    let list = store.list("").unwrap();
    assert_eq!(list.len(), 12);
    assert_eq!(list.iter().filter(|s| store.load(&s.id).is_ok()).count(), 11);
}

/// The script of docs/store.md, unchanged.
#[test]
fn what_is_whole_in_a_damaged_store_is_copied_by_the_script_of_the_manual() {
    if Command::new("sqlite3").arg("-version").output().is_err() {
        return skip("the script needs sqlite3");
    }
    let manual = include_str!("../../../../docs/store.md");
    let script = manual.split("```").find(|block| block.contains("CREATE TEMP TABLE moved")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("damaged");
    let mut bytes = filled(&old, 12, 64);
    let middle = bytes.len() / PAGE / 2;
    bytes[middle * PAGE..(middle + 1) * PAGE].fill(0);
    fs::write(old.join("assay.sqlite"), &bytes).unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.save(&record("new0"), RunState::Finished).unwrap();
    drop(store);
    Command::new("bash").args(["-c", &script.replace("1000", "14")]).current_dir(dir.path()).output().unwrap();
    let store = SqliteStore::open_existing(dir.path()).unwrap().unwrap();
    let list = store.list("all").unwrap();
    assert!(list.len() >= 12, "{} of 12 and the new one", list.len());
    for summary in list {
        let whole = store.load(&summary.id).unwrap().record;
        assert_eq!(store.observations(&summary.id, ObservationDetail::Latencies).unwrap(), [Observation::from(&whole)]);
    }
}

#[test]
fn missing_tables_are_damage() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 1, 1);
    let file = dir.path().join("assay.sqlite");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("DROP TABLE label").unwrap();
    other.close().unwrap();
    let bytes = fs::read(&file).unwrap();
    assert_damaged(dir.path(), &bytes, "a dropped table");
}

// A new record survives a power cut together with the names that lead to it.

const TEST: &str = "names_of_new_directories_are_synced_in_the_directories_above";
/// The place of the process that is traced.
const PLACE: &str = "ASSAY_TEST_TRACED";

/// A new data directory with a record in the store, and one in the spool.
fn keep_records(data: &Path) {
    let mut store = SqliteStore::open(data).unwrap();
    store.save(&record("aaaaaaaaaa"), RunState::Finished).unwrap();
    Spool::in_directory(data).put(&record("bbbbbbbbbb"), RunState::Finished).unwrap();
}

/// A synced file of a directory whose own name was not written is lost with the directory.
#[test]
fn names_of_new_directories_are_synced_in_the_directories_above() {
    if let Some(traced) = std::env::var_os(PLACE) {
        return keep_records(&PathBuf::from(traced).join("above/data"));
    }
    let dir = tempfile::tempdir().unwrap();
    let (place, trace) = (dir.path().canonicalize().unwrap(), dir.path().join("trace"));
    // For a program of another processor, its emulator makes the calls.
    let emulator = std::env::var("ASSAY_EMULATOR").unwrap_or_default();
    let strace = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-s", "4096", "-e", "trace=?mkdir,mkdirat,fsync", "-o"]);
        command.arg(&trace);
        command
    };
    if !strace().arg("true").output().is_ok_and(|done| done.status.success()) {
        return skip(&format!("{TEST}: needs strace, and the right to trace"));
    }
    let mut command = strace();
    command.args(emulator.split_whitespace()).arg(std::env::current_exe().unwrap());
    let done =
        command.args(["--exact", &format!("damage::{TEST}"), "--test-threads=1"]).env(PLACE, &place).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let trace = std::fs::read_to_string(trace).unwrap();
    let (above, data) = (place.join("above"), place.join("above/data"));
    let synced_after = |made: &dyn Fn(&str) -> bool, directory: &Path| {
        let sync = format!("<{}>)", directory.display());
        let is_sync = |line: &str| line.contains("fsync(") && line.contains(&sync) && line.ends_with("= 0");
        let mut rest = trace.lines().skip_while(|line| !made(line));
        assert!(rest.next().is_some(), "nothing was made\n{trace}");
        rest.any(is_sync)
    };
    let made = |path: &Path| {
        let name = format!("\"{}\"", path.display());
        move |line: &str| line.contains("mkdir") && line.contains(&name) && line.ends_with("= 0")
    };
    assert!(synced_after(&made(&above), &place), "{trace}");
    assert!(synced_after(&made(&data), &above), "{trace}");
    let is_spool = |line: &str| line.contains("mkdirat") && line.contains("\"spool\"") && line.ends_with("= 0");
    assert!(synced_after(&is_spool, &data), "{trace}");
}
