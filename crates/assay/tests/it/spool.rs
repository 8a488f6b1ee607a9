//! Records survive the store: what it cannot take is kept beside it and taken in by the next
//! command, and a kill loses at most the repeat under way.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Place, Running, can_be_apart, is_root, random, run, suite};
use assay_core::event::EventKind;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_lab::{Lab, LoopDevice, Missing, lab, skip};
use rusqlite::Connection;
use rustix::process::Signal;

/// Repeats of a second.
fn seconds(repeats: u32) -> String {
    suite("seconds", "60s", repeats, &[random("rand-read", "read", "1s")])
}

/// A run of more repeats than any test waits for, of which the first is done.
fn begun() -> (Place, Running) {
    let place = Place::new();
    place.file("seconds.toml", seconds(40));
    let mut running = place.begin("seconds.toml", &[]);
    finished(&mut running, 1);
    (place, running)
}

fn spool(place: &Place) -> PathBuf {
    place.data().join("spool")
}

/// Files that wait for the store.
fn waiting(place: &Place) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(spool(place)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Locks the store as another program does that writes in it.
fn lock(place: &Place) -> Connection {
    let other = Connection::open(place.store()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    other
}

fn repeats(record: &Record) -> usize {
    record.measurements.iter().flat_map(|m| &m.repeats).filter(|r| r.outcome == Outcome::Completed).count()
}

fn finished(running: &mut Running, count: usize) {
    for _ in 0..count {
        running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    }
}

/// Threat 12.
#[test]
fn a_kill_while_the_store_is_locked_loses_at_most_the_repeat_under_way() {
    let (place, mut running) = begun();
    let other = lock(&place);
    finished(&mut running, 4);
    // The next one is under way, so that the fourth is saved.
    running.wait_for(|event| matches!(event, EventKind::RepeatStarted { .. }));
    running.kill();
    assert_eq!(waiting(&place).len(), 1, "one file a record");
    // While the store is locked the next command says what waits, and does its work.
    let done = run(place.assay(["list"]));
    assert!(done.succeeds().stderr.contains("wait in") && done.stderr.contains("is locked"), "{}", done.stderr);
    drop(other);
    let done = run(place.assay(["list"]));
    assert!(done.succeeds().stderr.contains("is in the store now"), "{}", done.stderr);
    assert_eq!(waiting(&place).len(), 0, "removed when the store has it");
    let record = place.only_record();
    assert!(repeats(&record) >= 5, "{} repeats", repeats(&record));
    // The run is closed, and its files go, as after any kill.
    let done = run(place.assay(["run", "--quiet", "--suite", "tiny.toml", "medium"]));
    assert!(done.measures().stderr.contains(&format!("run {} was killed", record.id)), "{}", done.stderr);
    let closed: Record = serde_json::from_value(place.json(["show", &record.id, "--json"])).unwrap();
    assert!(matches!(closed.outcome, Outcome::Failed { failure: RunFailure::Abandoned, .. }), "{:?}", closed.outcome);
    assert_eq!(closed.measurements[0].repeats, record.measurements[0].repeats);
    place.assert_clean();
}

#[test]
fn a_store_that_is_locked_all_the_time_is_told_once_and_the_next_command_has_the_record() {
    let place = Place::new();
    place.measured();
    let other = lock(&place);
    let done = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    done.measures();
    let warnings = done.stderr.lines().filter(|line| line.starts_with("warning: ") && line.contains("spool")).count();
    assert_eq!(warnings, 1, "{}", done.stderr);
    assert!(done.stderr.contains("is not in the store yet"), "{}", done.stderr);
    assert!(done.stdout.contains("the record is not in the store"), "{}", done.stdout);
    let [file] = waiting(&place).try_into().unwrap();
    assert_eq!((mode(&spool(&place)), mode(&file)), (0o700, 0o600));
    drop(other);
    for command in [&["list", "--json"][..], &["list", "--json"]] {
        assert_eq!(place.json(command).as_array().unwrap().len(), 2, "taken in once");
    }
    let record: Record = serde_json::from_value(place.json(["show", "last", "--json"])).unwrap();
    assert_eq!(record.outcome, Outcome::Completed);
}

#[test]
fn a_store_that_is_unlocked_again_has_the_record_itself() {
    let (place, mut running) = begun();
    let other = lock(&place);
    finished(&mut running, 2);
    assert_eq!(waiting(&place).len(), 1);
    drop(other);
    finished(&mut running, 1);
    running.wait_for(|event| matches!(event, EventKind::RepeatStarted { .. }));
    assert_eq!(waiting(&place).len(), 0);
    assert!(repeats(&place.only_record()) >= 4);
    running.signal(Signal::INT);
    let done = running.end();
    assert_eq!(done.code, Some(130));
    assert!(done.stderr.contains("kept in") && !done.stderr.contains("not in the store yet"), "{}", done.stderr);
}

/// Another command takes the file while the run that wrote it goes on.
#[test]
fn what_another_command_takes_in_is_not_lost_to_the_run_that_goes_on() {
    let (place, mut running) = begun();
    let other = lock(&place);
    finished(&mut running, 2);
    drop(other);
    run(place.assay(["list"])).succeeds();
    let other = lock(&place);
    finished(&mut running, 2);
    running.wait_for(|event| matches!(event, EventKind::RepeatStarted { .. }));
    running.kill();
    drop(other);
    assert!(repeats(&place.only_record()) >= 5);
    assert_eq!(waiting(&place).len(), 0);
}

#[test]
fn a_full_file_system_is_told_at_once_and_the_record_can_be_had() {
    let test = "a_full_file_system_is_told_at_once_and_the_record_can_be_had";
    let place = Place::new();
    if !can_be_apart(test) {
        return;
    }
    place.file("seconds.toml", seconds(4));
    // The file system fills up in the middle of the run.
    let done = run(place.apart(
        "mkdir data; mount -t tmpfs -o size=1m none data
         (sleep 2; head -c 2m /dev/zero > data/ballast 2> ballast.log) &
         code=0; \"$ASSAY\" run --suite seconds.toml --json medium || code=$?
         rm data/ballast; wait; \"$ASSAY\" list > list.txt 2>&1; exit $code",
    ));
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    let warnings = done.stderr.lines().filter(|line| line.starts_with("warning: no space left")).count();
    assert_eq!(warnings, 1, "{}", done.stderr);
    assert!(done.stderr.contains("only in memory") && done.stderr.contains("-o FILE.json"), "{}", done.stderr);
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(repeats(&record), 4);
    let list = fs::read_to_string(place.path().join("list.txt")).unwrap();
    assert!(list.contains(&record.id), "what was saved before is there: {list}");
}

#[test]
fn a_store_that_turns_read_only_costs_no_check_its_result() {
    let test = "a_store_that_turns_read_only_costs_no_check_its_result";
    let place = Place::new();
    if !can_be_apart(test) {
        return;
    }
    place.measured();
    let done = run(place.apart(
        "mount -t tmpfs -o size=64m none medium; mount --bind data data; mount -o remount,ro,bind data
         exec \"$ASSAY\" verify --quiet --bytes 4MiB medium",
    ));
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    assert!(done.stderr.contains("read-only") && done.stdout.contains("medium"), "{}\n{}", done.stdout, done.stderr);
}

/// A check of hours is not lost to a store that is damaged when it ends.
#[test]
fn the_result_of_a_check_waits_until_the_damaged_store_is_moved_away() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    fs::write(place.store(), vec![0x55; 20_000]).unwrap();
    let done = run(place.assay(["verify", "--quiet", "--bytes", "4MiB", "medium"]));
    assert!(done.stderr.contains("damaged") && done.stderr.contains("not in the store yet"), "{}", done.stderr);
    assert_eq!(waiting(&place).len(), 1);
    run(place.assay(["list"])).refuses(4, &["damaged"]);
    fs::rename(place.store(), place.path().join("damaged")).unwrap();
    assert_eq!(place.only_record().suite.name, "verify");
    assert_eq!(waiting(&place).len(), 0);
}

#[test]
fn torn_and_hostile_files_of_the_spool_are_told_and_left() {
    let place = Place::new();
    place.measured();
    let other = lock(&place);
    run(place.assay(["run", "--quiet", "--suite", "tiny.toml", "medium"])).measures();
    let [file] = waiting(&place).try_into().unwrap();
    let whole = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    drop(other);
    let secret = place.file("secret", "not for the store");
    let id = file.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().0.to_owned();
    let named = |number: u32| spool(&place).join(format!("{id}-{number:016x}.spool"));
    fs::write(named(1), &whole[..whole.len() / 2]).unwrap();
    let mut flipped = whole.clone();
    // One digit of a figure: still a record.
    let figure = b"\"written_bytes\":";
    let at = flipped.windows(figure.len()).position(|bytes| bytes == figure).unwrap() + figure.len();
    flipped[at] ^= 1;
    fs::write(named(2), &flipped).unwrap();
    symlink(&secret, named(3)).unwrap();
    symlink("/dev/zero", named(4)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(named(5)).status().unwrap().success());
    fs::create_dir(named(6)).unwrap();
    fs::hard_link(&secret, named(7)).unwrap();
    fs::write(spool(&place).join(format!("aaaaaaaaaa-{:016x}.spool", 8)), &whole).unwrap();
    fs::File::create(named(9)).unwrap().set_len(1 << 40).unwrap();
    fs::write(named(10), "").unwrap();
    let mut count = 10;
    if is_root() {
        count = 11;
        fs::write(named(11), &whole).unwrap();
        std::os::unix::fs::chown(named(11), Some(crate::common::NOBODY), None).unwrap();
    }
    let done = run(place.assay(["list", "--json"]));
    done.succeeds().at_once();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap().as_array().unwrap().len(), 1);
    let warnings = done.stderr.lines().filter(|line| line.contains("cannot be taken into the store")).count();
    assert_eq!(warnings, count, "{}", done.stderr);
    let reasons = [
        ("it is not whole", 2),
        ("it is no regular file", 4),
        ("it has another name too", 1),
        ("its name is not that of its record", 1),
        ("it is too long", 1),
        ("it has no second line", 1),
        ("it belongs to another user", count - 10),
    ];
    for (reason, times) in reasons {
        assert_eq!(done.stderr.matches(reason).count(), times, "{reason}: {}", done.stderr);
    }
    assert_eq!(waiting(&place).len(), count, "nothing is removed that is not whole");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "not for the store");
}

#[test]
fn a_link_in_the_place_of_the_spool_is_not_followed() {
    let place = Place::new();
    place.measured();
    let elsewhere = place.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, spool(&place)).unwrap();
    let other = lock(&place);
    let done = run(place.assay(["run", "--quiet", "--suite", "tiny.toml", "medium"]));
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    drop(other);
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
}

/// Threat 26: serial numbers and host names live in the data directory.
#[test]
fn the_data_directory_is_closed_to_others_whichever_command_makes_it() {
    let test = "the_data_directory_is_closed_to_others_whichever_command_makes_it";
    let assert_closed = |place: &Place, command: &[&str]| {
        let data = place.path().join("new/assay");
        let mut assay = place.assay(command);
        assay.env("ASSAY_DATA", &data);
        run(assay);
        for directory in [place.path().join("new"), data.clone()] {
            assert_eq!(mode(&directory), 0o700, "{command:?}: {}", directory.display());
        }
        assert_eq!(mode(&data.join("assay.sqlite")), 0o600);
        for directory in ["reports", "journals"].map(|name| data.join(name)).iter().filter(|path| path.exists()) {
            assert_eq!(mode(directory), 0o700, "{command:?}: {}", directory.display());
        }
    };
    assert_closed(&Place::new(), &["run", "--quiet", "--suite", "tiny.toml", "medium"]);
    assert_closed(&Place::new(), &["verify", "--quiet", "--bytes", "4MiB", "medium"]);
    // The probe makes a place for its journal before there is a store.
    if !is_root() {
        return skip(test, &Missing("needs root".to_owned()));
    }
    let place = Place::new();
    let image = place.path().join("disk.img");
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let _lab = lab!(test, Lab::share());
    let device = lab!(test, LoopDevice::attach(&image, false));
    assert_closed(&place, &["verify", "--quick", "--quiet", device.path().to_str().unwrap()]);
}

/// Two cards without serial numbers are two units, so nothing is known of the second.
#[test]
fn a_unit_without_identity_is_no_other_unit() {
    let place = Place::new();
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    place.measured();
    // As imported records and older ones have it.
    Connection::open(place.store()).unwrap().execute("UPDATE record SET unit = ''", []).unwrap();
    run(place.assay(["list", "unit="])).succeeds();
    assert_eq!(place.json(["list", "unit=", "--json"]).as_array().unwrap().len(), 0);
    run(place.assay(["show", "unit="])).refuses(2, &["no record matches"]);
    let done = run(place.assay(["info", "other"]));
    assert!(!done.succeeds().stdout.contains("measured  "), "{}", done.stdout);
}

/// Locked for readers too, as a store on a shared file system is, or one that another program opened so.
#[test]
fn a_run_begun_while_the_store_cannot_even_be_read_waits_a_while_and_measures() {
    let place = Place::new();
    place.measured();
    let other = Connection::open(place.store()).unwrap();
    other.execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let done = run(place.assay(["run", "--quiet", "--suite", "tiny.toml", "medium"]));
    assert!(done.measures().elapsed < Duration::from_secs(30), "{:?}", done.elapsed);
    assert!(done.stdout.contains("the record is not in the store"), "{}", done.stdout);
    run(place.assay(["run", "--quiet", "--resume", "medium"])).refuses(4, &["is locked"]);
    drop(other);
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 2);
}

/// A log that another process made has no name after a power cut, unless its directory is synced.
#[test]
fn the_directory_of_the_store_is_synced_before_the_first_commit() {
    let test = "the_directory_of_the_store_is_synced_before_the_first_commit";
    let place = Place::new();
    place.measured();
    // The log is there already: SQLite leaves its name to whoever made it.
    let other = Connection::open(place.store()).unwrap();
    other.query_row("SELECT count(*) FROM record", [], |row| row.get::<_, i64>(0)).unwrap();
    let traced = run(place.shell(
        "strace -f -y -e trace=fsync,fdatasync -o trace.txt true || exit 77
         strace -f -y -e trace=fsync,fdatasync -o trace.txt \"$ASSAY\" run --quiet --suite tiny.toml medium",
    ));
    if matches!(traced.code, Some(77 | 127)) {
        return skip(test, &Missing("needs strace".to_owned()));
    }
    let trace = fs::read_to_string(place.path().join("trace.txt")).unwrap();
    let data = fs::canonicalize(place.data()).unwrap();
    let synced = |path: &Path| trace.find(&format!("<{}>", path.display()));
    let (names, log) = (synced(&data), synced(&data.join("assay.sqlite-wal")));
    assert!(names.is_some() && names < log, "{trace}");
}

/// Two names of a file have two logs, each of which is read into it without the other: records would be lost.
#[test]
fn a_store_with_two_names_is_shown_by_a_copy_and_takes_nothing() {
    let place = Place::new();
    place.measured();
    let other = place.path().join("backup");
    fs::create_dir(&other).unwrap();
    fs::hard_link(place.store(), other.join("assay.sqlite")).unwrap();
    let done = run(place.assay(["list", "--json"]));
    let said = done.succeeds().stderr.replace("\n  ", " ");
    assert!(said.contains("has 2 names (hard links)") && said.contains("it is read by a copy"), "{said}");
    let listed: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    for refused in [&["run", "--suite", "tiny.toml", "medium"][..], &["rm", "last"], &["import", "tiny.toml"]] {
        let done = run(place.assay(refused));
        let said = done.stderr.replace("\n  ", " ");
        assert!(done.code == Some(4) && said.contains("has 2 names (hard links)"), "{refused:?}: {said}");
    }
    let copies = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("import-");
    assert!(!fs::read_dir(place.data()).unwrap().any(|entry| copies(&entry.unwrap())));
    place.assert_clean();
    fs::remove_file(other.join("assay.sqlite")).unwrap();
    place.measured();
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 2);
}
