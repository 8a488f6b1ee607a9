//! A new record survives a power cut together with the names that lead to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{record, skip};
use assay_store::{RunState, Spool, SqliteStore, Store};

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
        command.args(["--exact", &format!("durable::{TEST}"), "--test-threads=1"]).env(PLACE, &place).output().unwrap();
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
