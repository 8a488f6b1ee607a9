//! Operations that a store refuses, each with its own error, and what they leave unchanged.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Mount, child, is_root, record, running, skip, with_label, with_samples};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_store::{Keeper, Kept, Rehearsal, RunState, Saved, Spool, SqliteStore, Store, StoreError};

fn filled(dir: &Path) {
    let mut store = SqliteStore::open(dir).unwrap();
    for id in ["aaaaaaaaaa", "bbbbbbbbbb"] {
        store.save(&with_samples(record(id), 8), RunState::Finished).unwrap();
    }
}

fn one_line(error: &StoreError) -> String {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() < 400, "{text}");
    assert_eq!(error.exit(), Exit::Environment, "{text}");
    text
}

#[test]
fn directory_and_file_are_for_this_user_only() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a/b/assay");
    filled(&data);
    // Opened again, so that the log exists too.
    let store = SqliteStore::open(&data).unwrap();
    store.list("").unwrap();
    for made in [dir.path().join("a"), dir.path().join("a/b"), data.clone()] {
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700, "{}", made.display());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap();
        names.push(entry.file_name().into_string().unwrap());
        assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600, "{}", entry.path().display());
    }
    assert!(names.iter().all(|name| name.starts_with("assay.sqlite")), "{names:?}");
}

#[test]
fn looking_for_a_store_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(SqliteStore::open_existing(&dir.path().join("none")).unwrap().is_none());
    assert!(SqliteStore::open_existing(dir.path()).unwrap().is_none());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    // An empty file is left by a run that was killed in its first moment.
    fs::write(dir.path().join("assay.sqlite"), "").unwrap();
    assert!(SqliteStore::open_existing(dir.path()).unwrap().is_none());
    filled(dir.path());
    assert_eq!(SqliteStore::open_existing(dir.path()).unwrap().unwrap().list("").unwrap().len(), 2);
}

#[test]
fn a_file_where_the_directory_should_be_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let stone = dir.path().join("stone");
    fs::write(&stone, "x").unwrap();
    for data in [stone.clone(), stone.join("assay")] {
        for error in [SqliteStore::open(&data).unwrap_err(), SqliteStore::open_existing(&data).unwrap_err()] {
            let text = one_line(&error);
            assert!(matches!(error, StoreError::NotADirectory { .. }), "{text}");
            assert!(text.contains("stone is not a directory"), "{text}");
        }
    }
    assert_eq!(fs::read(&stone).unwrap(), b"x");
}

#[test]
fn a_directory_or_pipe_where_the_file_should_be_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("assay.sqlite");
    let both = || [SqliteStore::open(dir.path()).unwrap_err(), SqliteStore::open_existing(dir.path()).unwrap_err()];
    fs::create_dir(&place).unwrap();
    for error in both() {
        assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
        one_line(&error);
    }
    fs::remove_dir(&place).unwrap();
    assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
    for error in both() {
        assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
    }
}

/// Child, as another user: opens the store, and prints the result.
#[test]
#[ignore = "started by another test"]
fn child_that_opens() {
    let Ok(dir) = std::env::var("ASSAY_TEST_OPEN") else { return };
    let dir = Path::new(&dir);
    match SqliteStore::open(dir) {
        Ok(_) => println!("open: fine"),
        Err(error) => println!("open: {error} {error:?}"),
    }
    match SqliteStore::open_existing(dir) {
        Ok(None) => println!("existing: none"),
        Ok(Some(store)) => println!("existing: {} read_only={}", store.list("").unwrap().len(), store.read_only()),
        Err(error) => println!("existing: {error} {error:?}"),
    }
}

/// What a user without rights sees; `None`, with the reason printed, if no other user is available.
fn seen_by_another(dir: &Path) -> Option<String> {
    let mut command = child("refusals::child_that_opens", &[("ASSAY_TEST_OPEN", dir.to_str().unwrap())]);
    if is_root() {
        command.uid(65534).gid(65534); // nobody
    }
    match command.output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap()),
        other => {
            skip(&format!("cannot run as another user: {other:?}"));
            None
        }
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn without_permission_the_place_and_the_mend_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("assay");
    filled(&data);
    let file = data.join("assay.sqlite");

    mode(dir.path(), 0o755);
    mode(&data, 0o000);
    let seen = seen_by_another(&data);
    mode(&data, 0o700);
    let Some(seen) = seen else { return };
    assert!(seen.contains("open: no permission to") && seen.contains("existing: no permission to read"), "{seen}");

    mode(&data, 0o755);
    mode(&file, 0o000);
    let seen = seen_by_another(&data).unwrap();
    mode(&file, 0o644);
    assert!(
        seen.contains("open: no permission to write") && seen.contains("existing: no permission to read"),
        "{seen}"
    );

    // Readable for all, in a directory that only its owner can write to.
    mode(&data, 0o555);
    mode(&file, 0o444);
    let seen = seen_by_another(&data).unwrap();
    assert!(seen.contains("open: no permission to write"), "{seen}");
    assert!(seen.contains("existing: 2 read_only=true"), "{seen}");

    // The same in a directory that all can write to.
    mode(&data, 0o777);
    let seen = seen_by_another(&data).unwrap();
    assert!(seen.contains("open: no permission to write"), "{seen}");
    assert!(seen.contains("existing: 2 read_only=true"), "{seen}");

    // No permission to create a store there.
    mode(&data, 0o555);
    let seen = seen_by_another(&data.join("more")).unwrap();
    mode(&data, 0o700);
    assert!(seen.contains("open: no permission to create") && seen.contains("existing: none"), "{seen}");
}

#[test]
fn a_store_on_a_read_only_file_system_is_read_and_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::tmpfs(dir.path(), "8m") else { return };
    let data = dir.path().join("a?b#c%41 ä");
    filled(&data);
    mount.remount("ro");
    let error = SqliteStore::open(&data).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert!(one_line(&error).contains("mount it read-write"));
    let mut store = SqliteStore::open_existing(&data).unwrap().unwrap();
    assert!(store.read_only());
    assert_eq!(store.list("").unwrap().len(), 2);
    store.load("aaaaaaaaaa").unwrap();
    store.identity_key().unwrap();
    assert_eq!(store.abandoned().unwrap(), []);
    for error in [
        store.save(&record("cccccccccc"), RunState::Finished).unwrap_err(),
        store.remove("aaaaaaaaaa").unwrap_err(),
        store.save_document(&serde_json::to_string(&record("cccccccccc")).unwrap()).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    }
    let error = SqliteStore::open(&dir.path().join("new")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn the_log_of_a_killed_run_is_read_on_a_read_only_file_system_or_the_mend_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::tmpfs(dir.path(), "8m") else { return };
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.save(&record("aaaaaaaaaa"), RunState::Finished).unwrap();
    // What a kill leaves: the files as they are while the store is open.
    let (with_memory, without) = (dir.path().join("with"), dir.path().join("without"));
    for (place, ends) in [(&with_memory, &["", "-wal", "-shm"][..]), (&without, &["", "-wal"])] {
        fs::create_dir(place).unwrap();
        for end in ends {
            let name = format!("assay.sqlite{end}");
            fs::copy(dir.path().join(&name), place.join(&name)).unwrap();
        }
    }
    drop(store);
    mount.remount("ro");
    let store = SqliteStore::open_existing(&with_memory).unwrap().unwrap();
    assert_eq!(store.list("").unwrap().len(), 1);
    let error = SqliteStore::open_existing(&without).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnlyLog { .. }), "{error}");
    one_line(&error);
}

#[test]
fn an_immutable_directory_is_read_and_not_written() {
    struct Immutable<'a>(&'a Path);
    impl Drop for Immutable<'_> {
        fn drop(&mut self) {
            let _ = Command::new("chattr").arg("-i").arg(self.0).status();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let set = Command::new("chattr").arg("+i").arg(dir.path()).output();
    if !set.as_ref().is_ok_and(|output| output.status.success()) {
        return skip(&format!("chattr +i does not work here: {set:?}"));
    }
    let _unset = Immutable(dir.path());
    let error = SqliteStore::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let store = SqliteStore::open_existing(dir.path()).unwrap().unwrap();
    assert!(store.read_only());
    assert_eq!(store.list("").unwrap().len(), 2);
}

#[test]
fn a_full_disk_says_so_and_keeps_what_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_mount) = Mount::tmpfs(dir.path(), "2m") else { return };
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let mut saved = 0;
    let error = loop {
        match store.save(&with_samples(record(&format!("id{saved:04}")), 64), RunState::Finished) {
            Ok(()) => saved += 1,
            Err(error) => break error,
        }
        assert!(saved < 100, "2 MiB never get full");
    };
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert!(one_line(&error).contains("no space left"));
    assert!(saved > 3, "{saved}");
    assert_eq!(store.list("").unwrap().len(), saved, "what was saved is still there");
    drop(store);
    let store = SqliteStore::open_existing(dir.path()).unwrap().unwrap();
    for summary in store.list("").unwrap() {
        store.load(&summary.id).unwrap();
    }
}

#[test]
fn a_disk_full_from_the_start_says_so_and_the_next_open_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_mount) = Mount::tmpfs(dir.path(), "1m") else { return };
    let ballast = dir.path().join("ballast");
    let _ = fs::write(&ballast, vec![1u8; 2 << 20]);
    let error = SqliteStore::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
    assert!(SqliteStore::open_existing(dir.path()).unwrap().is_none());
    fs::remove_file(ballast).unwrap();
    filled(dir.path());
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let file = dir.path().join("assay.sqlite");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    other.close().unwrap();
    let before = fs::read(&file).unwrap();
    for error in [SqliteStore::open(dir.path()).unwrap_err(), SqliteStore::open_existing(dir.path()).unwrap_err()] {
        assert!(matches!(error, StoreError::NewerStore { found: 99, known: 1, .. }), "{error}");
        assert!(one_line(&error).contains("store version 99"), "{error}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("assay.sqlite");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    other.close().unwrap();
    let before = fs::read(&file).unwrap();
    for error in [SqliteStore::open(dir.path()).unwrap_err(), SqliteStore::open_existing(dir.path()).unwrap_err()] {
        assert!(matches!(error, StoreError::OtherProgram { .. }), "{error}");
        one_line(&error);
    }
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn triggers_smuggled_into_a_store_do_not_run() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let other = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    other
        .execute_batch("CREATE TRIGGER evil AFTER INSERT ON record BEGIN UPDATE record SET title = 'owned'; END")
        .unwrap();
    other.close().unwrap();
    for error in [SqliteStore::open(dir.path()).unwrap_err(), SqliteStore::open_existing(dir.path()).unwrap_err()] {
        assert!(matches!(error, StoreError::OtherTables { .. }), "{error}");
        one_line(&error);
    }
}

#[test]
fn a_stored_document_of_a_newer_version_is_listed_and_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let other = rusqlite::Connection::open(dir.path().join("assay.sqlite")).unwrap();
    other.execute("UPDATE document SET json = '{\"schema\":\"2.0\"}' WHERE record = 1", []).unwrap();
    other
        .execute("UPDATE record SET verdict = 'splendid', outcome = '{\"state\":\"paused\"}' WHERE number = 1", [])
        .unwrap();
    other.close().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.list("").unwrap().len(), 2);
    let error = store.load("aaaaaaaaaa").unwrap_err();
    assert!(matches!(error, StoreError::Unreadable { .. }), "{error}");
    one_line(&error);
    store.load("bbbbbbbbbb").unwrap();
}

#[test]
fn a_store_removed_under_an_open_one_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.save(&record("aaaaaaaaaa"), RunState::Finished).unwrap();
    for name in ["assay.sqlite", "assay.sqlite-wal", "assay.sqlite-shm"] {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    let moved = |store: &mut SqliteStore| {
        let error = store.save(&record("bbbbbbbbbb"), RunState::Finished).unwrap_err();
        assert!(matches!(error, StoreError::Moved { .. }), "{error}");
        one_line(&error);
    };
    moved(&mut store);
    // Another store in its place is not mistaken for it.
    filled(dir.path());
    moved(&mut store);
}

#[test]
fn a_torn_file_of_the_spool_stays_with_its_reason_and_the_others_are_taken_in() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::in_directory(dir.path());
    spool.put(&record("aaaaaaaaaa"), RunState::Finished).unwrap();
    let torn = "bbbbbbbbbb-0123456789abcdef.spool";
    fs::write(spool.path().join(torn), "assay").unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let intake = store.take_in(&mut spool).unwrap();
    assert_eq!(intake.taken, ["aaaaaaaaaa"]);
    let left: Vec<(&str, &str)> = intake.left.iter().map(|left| (left.name.as_str(), left.reason.as_str())).collect();
    assert_eq!(left, [(torn, "it has no second line")]);
    assert!(spool.path().join(torn).exists());
}

/// A file with two names has two logs: data written through one name are lost to the other.
#[test]
fn a_store_with_two_names_is_read_by_a_copy_and_not_written() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut open = SqliteStore::open(one.path()).unwrap();
    open.save(&record("aaaaaaaaaa"), RunState::Finished).unwrap();
    let (file, name) = (one.path().join("assay.sqlite"), other.path().join("assay.sqlite"));
    for named in ["assay.sqlite", "assay.sqlite-wal"] {
        let there = one.path().join(named);
        fs::hard_link(&there, other.path().join("a name")).unwrap();
        let error = open.save(&record("bbbbbbbbbb"), RunState::Finished).unwrap_err();
        assert!(matches!(&error, StoreError::Linked { path, names: 2 } if *path == there), "{error}");
        assert!(one_line(&error).contains("put a copy"), "{error}");
        for error in [SqliteStore::open(one.path()).unwrap_err(), SqliteStore::open_existing(one.path()).unwrap_err()] {
            assert!(matches!(error, StoreError::Linked { .. }), "{error}");
        }
        fs::remove_file(other.path().join("a name")).unwrap();
    }
    fs::hard_link(&file, &name).unwrap();

    // The copy is complete with its log, and the original stays unchanged.
    let copy = tempfile::tempdir().unwrap();
    for name in ["assay.sqlite", "assay.sqlite-wal"] {
        fs::copy(one.path().join(name), copy.path().join(name)).unwrap();
    }
    let place = copy.path().to_owned();
    let mut read = SqliteStore::open_copied(one.path(), &place, Box::new(copy)).unwrap().unwrap();
    assert!(read.read_only() && read.location() == file.to_str().unwrap(), "{}", read.location());
    assert_eq!(read.list("").unwrap().len(), 1);
    let error = read.save(&record("bbbbbbbbbb"), RunState::Finished).unwrap_err();
    assert!(matches!(error, StoreError::Linked { .. }), "{error}");
    drop(read);
    assert!(!place.exists(), "the copy goes with the store");

    // A running run saves to the spool, and nothing is lost once the file has one name.
    let mut keeper = Keeper::with(Some(open), Spool::in_directory(one.path()));
    let kept = keeper.keep(&record("bbbbbbbbbb"), RunState::Finished, Duration::from_secs(1));
    assert!(matches!(kept, Kept::Spooled(StoreError::Linked { .. })), "{kept:?}");
    drop(keeper);
    fs::remove_file(&name).unwrap();
    let mut store = SqliteStore::open(one.path()).unwrap();
    store.take_in(&mut Spool::in_directory(one.path())).unwrap();
    assert_eq!(store.list("").unwrap().len(), 2);
}

#[test]
fn a_store_with_two_names_that_cannot_be_written_is_read_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::tmpfs(dir.path(), "8m") else { return };
    let data = dir.path().join("data");
    filled(&data);
    fs::hard_link(data.join("assay.sqlite"), dir.path().join("name")).unwrap();
    mount.remount("ro");
    let store = SqliteStore::open_existing(&data).unwrap().unwrap();
    assert!(store.read_only());
    assert_eq!(store.list("").unwrap().len(), 2);
}

#[test]
fn a_rehearsal_says_what_saving_would_change_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let labelled = |id: &str| with_label(record(id), "rack", "2");
    let text = |record: Record| record.to_json().unwrap();
    let other = Record { created: "2026-02-02T03:04:05Z".to_owned(), ..record("cccccccccc") };
    let documents = [
        text(with_samples(record("aaaaaaaaaa"), 8)),
        text(record("aaaaaaaaaa")),
        text(labelled("cccccccccc")),
        text(record("cccccccccc")),
        text(other),
        text(running("dddddddddd")),
        text(record("dddddddddd")),
        text(running("dddddddddd")),
        "no record".to_owned(),
    ];
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    let said = |all: Vec<Result<Saved, StoreError>>| -> Vec<String> {
        all.into_iter().map(|one| one.map_or_else(|error| error.to_string(), |saved| format!("{saved:?}"))).collect()
    };
    let mut rehearsal = Rehearsal::beside(SqliteStore::open_existing(dir.path()).unwrap()).unwrap();
    // In two parts, as files come one after another.
    let mut rehearsed = said(rehearsal.save_documents(&texts[..3]).unwrap());
    rehearsed.extend(said(rehearsal.save_documents(&texts[3..]).unwrap()));
    assert_eq!(rehearsal.load("cccccccccc").unwrap().record, labelled("cccccccccc"));
    assert_eq!(rehearsal.load("aaaaaaaaaa").unwrap().record, with_samples(record("aaaaaaaaaa"), 8));
    drop(rehearsal);
    let mut store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.list("").unwrap().len(), 2);
    assert_eq!(rehearsed, said(store.save_documents(&texts).unwrap()));
    let nothing = Rehearsal::beside(None).unwrap();
    assert!(matches!(nothing.load("aaaaaaaaaa"), Err(StoreError::UnknownId { .. })));
}
