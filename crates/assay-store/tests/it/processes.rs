//! Several processes using one store, and processes that die.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Reaped, child, record, running, with_samples};
use assay_core::outcome::{Outcome, RunFailure};
use assay_store::{Owner, RunState, SqliteStore, Store, StoreError, new_id};

fn environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// Child: a run that saves larger and larger records until it is killed.
#[test]
#[ignore = "started by another test"]
fn child_that_saves_until_it_is_killed() {
    let Some(dir) = environment("ASSAY_TEST_KILL") else { return };
    let mut store = SqliteStore::open(Path::new(&dir)).unwrap();
    let owner = Owner::current();
    let scratch = PathBuf::from(&dir).join("scratch");
    for step in 1.. {
        let mut growing = with_samples(running("k111ed0000"), step % 200);
        growing.change_settings(|settings| settings.elapsed_ns = step);
        store.save(&growing, RunState::Running { owner: &owner, scratch: Some(&scratch) }).unwrap();
    }
}

#[test]
fn a_killed_run_leaves_a_whole_record_that_is_found_and_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    // Ten kills at different moments of a save.
    for death in 0..10u64 {
        let mut run = Reaped(
            child("processes::child_that_saves_until_it_is_killed", &[("ASSAY_TEST_KILL", path)])
                .stdout(Stdio::null())
                .spawn()
                .unwrap(),
        );
        let end = Instant::now() + Duration::from_secs(30);
        let begun = || {
            let store = SqliteStore::open_existing(dir.path()).ok()??;
            let record = store.load("k111ed0000").ok()?.record;
            (record.outcome == Outcome::Running && record.settings().unwrap().elapsed_ns > 2).then_some(())
        };
        while begun().is_none() {
            assert!(Instant::now() < end, "the run never saved");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut store = SqliteStore::open(dir.path()).unwrap();
        assert_eq!(store.abandoned().unwrap(), [], "the run is alive");
        std::thread::sleep(Duration::from_millis(7 * death));
        run.0.kill().unwrap(); // SIGKILL
        run.0.wait().unwrap();
        drop(store);

        let mut store = SqliteStore::open(dir.path()).unwrap();
        let closed = store.abandoned().unwrap();
        assert_eq!(closed.len(), 1);
        assert_eq!(closed[0].scratch.as_deref(), Some(dir.path().join("scratch").as_path()));
        let stored = store.load("k111ed0000").unwrap();
        assert!(matches!(stored.record.outcome, Outcome::Failed { failure: RunFailure::Abandoned, .. }));
        // Complete: as many readings as that step had.
        let step = stored.record.settings().unwrap().elapsed_ns.max(3);
        let readings = stored.record.sensors[0].samples.len() as u64;
        let elapsed_is_step = stored.record.settings().unwrap().elapsed_ns == step;
        assert!(elapsed_is_step && readings == step % 200 * 60, "step {step}, {readings} readings");
        assert_eq!(store.abandoned().unwrap(), []);
    }
}

/// Child: saves its records one after the other.
#[test]
#[ignore = "started by another test"]
fn child_that_saves_two_hundred_records() {
    let (Some(dir), Some(name)) = (environment("ASSAY_TEST_MANY"), environment("ASSAY_TEST_NAME")) else { return };
    let mut store = SqliteStore::open(Path::new(&dir)).unwrap();
    let owner = Owner::current();
    for n in 0..200 {
        let id = format!("{name}{n:03}");
        store.save(&running(&id), RunState::Running { owner: &owner, scratch: None }).unwrap();
        store.save(&with_samples(record(&id), 2), RunState::Finished).unwrap();
    }
}

#[test]
fn two_processes_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    // Even the directory is missing: both create the store.
    let data = dir.path().join("new/assay");
    let path = data.to_str().unwrap();
    let spawn = |name| {
        let variables = [("ASSAY_TEST_MANY", path), ("ASSAY_TEST_NAME", name)];
        Reaped(
            child("processes::child_that_saves_two_hundred_records", &variables).stdout(Stdio::null()).spawn().unwrap(),
        )
    };
    let mut both = [spawn("left"), spawn("right")];
    // A concurrent reader never fails either.
    let mut seen = 0;
    while both.iter_mut().any(|run| run.0.try_wait().unwrap().is_none()) {
        if let Some(store) = SqliteStore::open_existing(&data).unwrap() {
            let now = store.list("").unwrap().len();
            assert!(now >= seen, "{now} after {seen}");
            seen = now;
        }
    }
    for run in &mut both {
        assert!(run.0.wait().unwrap().success());
    }
    let mut store = SqliteStore::open(&data).unwrap();
    let list = store.list("").unwrap();
    assert_eq!(list.len(), 400);
    assert!(list.iter().all(|s| s.outcome == Outcome::Completed));
    for summary in &list {
        store.load(&summary.id).unwrap();
    }
    assert_eq!(store.abandoned().unwrap(), []);
}

/// Child: closes abandoned runs, and counts them.
#[test]
#[ignore = "started by another test"]
fn child_that_closes_the_abandoned() {
    let Some(dir) = environment("ASSAY_TEST_CLOSE") else { return };
    let closed = SqliteStore::open(Path::new(&dir)).unwrap().abandoned().unwrap();
    std::fs::write(Path::new(&dir).join(format!("closed-{}", std::process::id())), closed.len().to_string()).unwrap();
}

#[test]
fn an_abandoned_record_goes_to_one_of_two_that_look() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let owner = Owner { start_time: 1, ..Owner::current() };
    for n in 0..20 {
        store.save(&running(&format!("lost{n:02}")), RunState::Running { owner: &owner, scratch: None }).unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let spawn = || {
        Reaped(
            child("processes::child_that_closes_the_abandoned", &[("ASSAY_TEST_CLOSE", path)])
                .stdout(Stdio::null())
                .spawn()
                .unwrap(),
        )
    };
    for mut run in [spawn(), spawn()] {
        assert!(run.0.wait().unwrap().success());
    }
    let counts: Vec<usize> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("closed-"))
        .map(|path| std::fs::read_to_string(path).unwrap().parse().unwrap())
        .collect();
    assert_eq!((counts.len(), counts.iter().sum::<usize>()), (2, 20), "{counts:?}");
}

#[test]
fn a_locked_store_says_so_and_can_still_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.save(&record("aaaaaaaaaa"), RunState::Finished).unwrap();
    let other = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.set_busy_timeout(Duration::from_millis(50)).unwrap();
    let error = store.save(&record("bbbbbbbbbb"), RunState::Finished).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("assay.sqlite is locked by another process"), "{error}");
    assert_eq!(store.list("").unwrap().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    store.save(&record("bbbbbbbbbb"), RunState::Finished).unwrap();
}

#[test]
fn a_store_locked_for_everybody_is_reported_on_opening() {
    let dir = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(dir.path()).unwrap());
    let other = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    other.execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let begun = Instant::now();
    let error = SqliteStore::open_existing(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
}

#[test]
fn ids_made_at_once_do_not_meet() {
    let threads: Vec<_> =
        (0..4).map(|_| std::thread::spawn(|| (0..500).map(|_| new_id()).collect::<Vec<_>>())).collect();
    let all: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    // 2,000 out of 2^25 in the same minute: the chance of two pairs is 1 in 500.
    assert!(different.len() >= all.len() - 1, "{} of {}", different.len(), all.len());
}
