//! Input that somebody else made takes no memory, no room and no time without a bound.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use assay_store::{SqliteStore, Store};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::common::{Place, is_installed, run};

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// One of the smallest reports there are.
fn report(n: usize) -> String {
    format!("{n}+0 records in\n{n}+0 records out\n{} bytes (1 MB) copied, 1.5 s, 1 MB/s\n", n * 512)
}

/// The most memory that a command had at once, in KiB, and how it ended.
#[allow(clippy::zombie_processes, reason = "it is waited for by wait4")]
fn peak(mut command: Command) -> (u64, Option<i32>) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut status = 0;
    // SAFETY: all fields of `rusage` are numbers, which may be zero.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let id = i32::try_from(child.id()).unwrap();
    // SAFETY: the child is this function's own and is waited for once; both places live until the call returns.
    assert_eq!(unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) }, id);
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    (u64::try_from(usage.ru_maxrss).unwrap(), code)
}

/// `import DIR`, `list DIR/` and `report DIR/` hung for ever, or filled the file system of the data directory.
#[test]
fn what_lies_beside_a_store_in_a_directory_is_a_file_or_is_not_read() {
    let place = Place::new();
    let stick = place.path().join("stick");
    for (what, make) in [
        ("a named pipe and not a file", &(|path: &Path| pipe(path)) as &dyn Fn(&Path)),
        ("a symbolic link and not a file", &|path: &Path| symlink("/dev/zero", path).unwrap()),
        ("a directory and not a file", &|path: &Path| fs::create_dir(path).unwrap()),
    ] {
        for name in ["assay.sqlite", "assay.sqlite-wal"] {
            fs::create_dir(&stick).unwrap();
            if name != "assay.sqlite" {
                File::create(stick.join("assay.sqlite")).unwrap().set_len(50 << 30).unwrap();
            }
            make(&stick.join(name));
            for command in ["import stick", "list stick/", "report stick/ -o out.html"] {
                let command: Vec<&str> = command.split(' ').collect();
                let done = run(place.assay(&command));
                assert!(done.stderr.contains(what) || name != "assay.sqlite", "{what}, {command:?}: {}", done.stderr);
                assert!(
                    done.stderr.lines().count() == 1 && done.code == Some(4),
                    "{what}, {command:?}: {}",
                    done.stderr
                );
            }
            let left = fs::read_dir(place.data()).map_or(0, |entries| {
                entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with("import-")).count()
            });
            assert_eq!(left, 0, "copies are gone");
            fs::remove_dir_all(&stick).unwrap();
        }
    }
}

#[test]
fn a_directory_holds_what_it_holds_and_what_cannot_be_read_of_it_is_told() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("stick/a")).unwrap();
    place.file("stick/b.txt", report(1));
    pipe(&place.path().join("stick/pipe.txt"));
    symlink("/dev/zero", place.path().join("stick/zeros.txt")).unwrap();
    symlink("..", place.path().join("stick/again")).unwrap();
    File::create(place.path().join("stick/a/assay.sqlite")).unwrap().set_len(50 << 30).unwrap();
    let done = run(place.assay(["import", "stick"]));
    assert_eq!(done.code, Some(2), "a store in it cannot be read: {}", done.stderr);
    assert!(done.stderr.contains("stick/a") && done.stderr.contains("1 record added"), "{}", done.stderr);
    assert_eq!(SqliteStore::open(&place.data()).unwrap().list("").unwrap().len(), 1);
}

/// 72 bytes took 4.1 GiB.
#[test]
fn a_dictionary_that_a_file_asks_for_is_not_made() {
    let place = Place::new();
    if !is_installed("xz", "a_dictionary_that_a_file_asks_for_is_not_made") {
        return;
    }
    place.file("a.txt", report(1));
    let made = place.shell("xz -k --lzma2=dict=1GiB a.txt && mv a.txt.xz large.xz && xz -k -9 a.txt").status().unwrap();
    assert!(made.success());
    for command in ["import large.xz", "list ./large.xz", "show ./large.xz", "compare ./large.xz ./a.txt"] {
        let command: Vec<&str> = command.split(' ').collect();
        let (kib, code) = peak(place.assay(&command));
        assert!(code == Some(2) && kib < 200 << 10, "{command:?}: {kib} KiB, {code:?}");
        run(place.assay(&command)).refuses(2, &["it asks for a dictionary of 1 GiB, and at most 64 MiB is given"]);
    }
    // The highest level of xz is read.
    run(place.assay(["import", "a.txt.xz"])).succeeds();
}

/// 8.7 KB of each report were kept until all were read.
#[test]
fn memory_does_not_grow_with_the_number_of_records() {
    let place = Place::new();
    let text = |count: usize| -> String { (1..=count).map(report).collect() };
    place.file("few.txt", text(1_000));
    place.file("many.txt", text(12_000));
    let (few, code) = peak(place.assay(["import", "--dry-run", "few.txt"]));
    let (many, more) = peak(place.assay(["import", "--dry-run", "many.txt"]));
    assert_eq!((code, more), (Some(0), Some(0)));
    // Ten times the text itself, which is held as bytes, as text and as lines.
    assert!(many < few + (12_000 * 87 * 10) / 1024, "{few} KiB, {many} KiB");
}

/// For one row in a file of 40 KB: 3.4 GiB and no end.
#[test]
fn the_schema_of_another_store_runs_nothing() {
    let place = Place::new();
    place.file("a.txt", report(1));
    run(place.assay(["import", "a.txt"])).succeeds();
    run(place.assay(["export", "--store", "stick", "--identities"])).succeeds();
    let file = rusqlite::Connection::open(place.path().join("stick/assay.sqlite")).unwrap();
    file.execute_batch(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'slot       TEXT', 'slot TEXT AS (hex(zeroblob(900000000)))')
             WHERE name = 'record'",
    )
    .unwrap();
    drop(file);
    for command in [["import", "stick"], ["list", "stick/"], ["show", "stick/"]] {
        let (kib, code) = peak(place.assay(command));
        assert!(code == Some(4) && kib < 200 << 10, "{command:?}: {kib} KiB, {code:?}");
        run(place.assay(command))
            .refuses(4, &["stick/assay.sqlite has tables, columns or indexes that assay does not make"]);
    }
}

#[test]
fn a_failure_in_the_middle_of_a_file_loses_nothing_that_was_read() {
    let place = Place::new();
    let record = |id: &str| {
        let mut text = fs::read_to_string(place.path().join("one.json")).unwrap();
        text = text.replacen("\"id\":\"", &format!("\"id\":\"{id}"), 1);
        text
    };
    place.file("a.txt", report(1));
    run(place.assay(["import", "a.txt"])).succeeds();
    fs::write(place.path().join("one.json"), run(place.assay(["show", "last", "--json"])).stdout).unwrap();
    let many: String = (0..1_200)
        .map(|n| if n % 400 == 399 { "{\"schema\":\"9.0\"}\n".to_owned() } else { record(&format!("a{n:04}")) })
        .collect();
    place.file("many.json", many);
    let done = run(place.assay(["import", "many.json"]));
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert_eq!(done.stderr.matches("9.0").count(), 3, "{}", done.stderr);
    assert_eq!(done.stdout.lines().count(), 1_197);
    assert_eq!(SqliteStore::open(&place.data()).unwrap().list("").unwrap().len(), 1_198);
    let again = place.assay(["import", "many.json", "--json"]).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((value["known"].as_u64(), value["records"].as_array().map(Vec::len)), (Some(1_197), Some(1_197)));
    assert_eq!(value["records"][1]["id"].as_str().map(|id| &id[..5]), Some("a0001"));
}

#[test]
fn a_pipe_that_nothing_writes_to_is_told_and_others_are_read() {
    let place = Place::new();
    pipe(&place.path().join("pipe"));
    pipe(&place.path().join("pipe.toml"));
    for command in [
        vec!["suite", "show", "./pipe.toml"],
        vec!["plan", "show", "pipe"],
        vec!["import", "pipe"],
        vec!["list", "./pipe"],
        vec!["import", "--sheet", "pipe", "-"],
    ] {
        run(place.assay(command)).refuses(2, &["it is a pipe that no program writes to"]);
    }
    place.file("a.txt", report(1));
    assert!(place.shell("(sleep 0.3; cat a.txt) > pipe & \"$ASSAY\" import pipe").status().unwrap().success());
    assert!(place.shell("\"$ASSAY\" import - < a.txt").status().unwrap().success());
    assert!(place.shell("cat a.txt | \"$ASSAY\" import /dev/stdin").status().unwrap().success());
    if is_installed("bash", "a_pipe_that_nothing_writes_to_is_told_and_others_are_read") {
        let script = "\"$ASSAY\" import <(sleep 0.3; cat a.txt) && \"$ASSAY\" suite show quick > q.toml && \"$ASSAY\" suite show <(cat q.toml)";
        assert!(place.shell(&format!("bash -c '{script}'")).status().unwrap().success());
    }
}

#[test]
fn records_of_another_store_that_cannot_be_read_are_told_and_the_others_taken() {
    let place = Place::new();
    place.file("a.txt", report(1) + &report(2));
    run(place.assay(["import", "a.txt"])).succeeds();
    run(place.assay(["export", "--store", "stick", "--identities"])).succeeds();
    let change = |sql: &str| {
        let file = rusqlite::Connection::open(place.path().join("stick/assay.sqlite")).unwrap();
        file.execute_batch(sql).unwrap();
    };
    change("UPDATE document SET json = 'no JSON' WHERE record = 1");
    let there = Place::new();
    let done = run(there.assay(["import", place.path().join("stick").to_str().unwrap()]));
    assert!(
        done.code == Some(2) && done.stderr.contains("is broken") && done.stderr.contains("1 record cannot be read"),
        "{}",
        done.stderr
    );
    assert_eq!(SqliteStore::open(&there.data()).unwrap().list("").unwrap().len(), 1);
    change(
        "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n LIMIT 1200)
         INSERT INTO record SELECT x, 'a' || x, '', x, 't', 'sd', NULL, NULL, NULL, NULL, 's', 'o', 'v' FROM n",
    );
    for command in ["import stick", "list stick/"] {
        let done = run(place.assay(command.split(' ')));
        assert!(done.code == Some(4) && done.stderr.lines().count() < 1_100, "{}", done.stderr.lines().count());
        assert!(done.stderr.contains("more than 1000 of its records cannot be read"), "{}", done.stderr);
    }
}
