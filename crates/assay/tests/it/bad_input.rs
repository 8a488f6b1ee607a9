//! Bad input and bad places: each ends with one clear line, its exit code, and nothing half-done.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{
    Place, Running, TINY, as_nobody, assert_empty, assert_harmless, can_be_apart, is_root, nobody_can_run, open_to_all,
    run, scratch_directories,
};
use assay_core::event::EventKind;
use assay_core::finding::{AreaLimit, Finding, ValidityVerdict};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_lab::{FastDevice, Lab, LoopDevice, Missing, Mount, skip};
use rusqlite::Connection;
use rustix::process::Signal;

/// What a terminal, a shell, a page or a spreadsheet could obey.
const HOSTILE: &str = "\x1b]0;owned\x07\x1b[31m<script>alert(1)</script>\"'&,=";

// ------------------------------------------------------------------------------------ the target

#[test]
fn a_path_that_is_not_there_is_refused() {
    let place = Place::new();
    for command in ["run", "info"] {
        run(place.assay([command, "nowhere/at/all"])).refuses(2, &["nowhere/at/all", "no such file"]).at_once();
    }
    assert!(!place.data().exists(), "a store was made for nothing");
}

#[test]
fn a_path_through_a_file_is_refused() {
    let place = Place::new();
    run(place.assay(["run", "tiny.toml/x"])).refuses(2, &["tiny.toml/x", "no such file"]);
}

#[test]
fn a_dangling_link_is_refused() {
    let place = Place::new();
    symlink("gone", place.path().join("link")).unwrap();
    run(place.assay(["run", "link"])).refuses(2, &["link", "no such file"]);
}

#[test]
fn a_file_where_a_directory_was_meant_is_refused() {
    let place = Place::new();
    run(place.assay(["run", "tiny.toml"])).refuses(2, &["tiny.toml", "is a file", "directory"]).at_once();
    assert_eq!(fs::read_to_string(place.path().join("tiny.toml")).unwrap(), TINY);
}

#[test]
fn a_directory_where_a_raw_device_was_meant_is_refused() {
    let place = Place::new();
    run(place.assay(["run", "--raw", "medium"])).refuses(2, &["medium", "is not a block device"]).at_once();
    run(place.assay(["run", "--raw", "--overwrite", "medium", "medium"])).refuses(2, &["is not a block device"]);
    place.assert_clean();
}

#[test]
fn what_is_neither_directory_nor_disk_is_refused() {
    let place = Place::new();
    run(place.assay(["run", "/dev/null"])).refuses(2, &["/dev/null"]);
    run(place.assay(["run", "--raw", "/dev/null"])).refuses(2, &["/dev/null"]);
    run(place.shell("mkfifo pipe; exec \"$ASSAY\" run pipe")).refuses(2, &["pipe"]);
}

#[test]
fn no_permission_to_write_is_an_environment_that_failed() {
    let place = Place::new();
    if !nobody_can_run("no_permission_to_write_is_an_environment_that_failed", &place) {
        return;
    }
    let closed = place.medium().join("closed");
    fs::create_dir(&closed).unwrap();
    open_to_all(place.path());
    for (mode, words) in [(0o555, "no permission to write"), (0o000, "permission")] {
        fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        run(as_nobody(place.assay(["run", "medium/closed"]))).refuses(4, &["medium/closed", words]).at_once();
        let below = run(as_nobody(place.assay(["run", "medium/closed/below"])));
        assert!(matches!(below.code, Some(2 | 4)), "{}", below.stderr);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert_empty(&closed);
    assert!(!place.store().exists());
}

#[test]
fn a_read_only_file_system_is_refused() {
    let test = "a_read_only_file_system_is_refused";
    let place = Place::new();
    if !can_be_apart(test) {
        return;
    }
    let done =
        run(place.apart("mount --bind medium medium; mount -o remount,ro,bind medium; exec \"$ASSAY\" run medium"));
    done.refuses(4, &["medium", "read-only", "remount,rw"]).at_once();
    place.assert_clean();
}

#[test]
fn a_file_system_mounted_read_only_is_refused() {
    let test = "a_file_system_mounted_read_only_is_refused";
    let place = Place::new();
    let Some((_lab, device)) = loop_device(test, &place, 32 << 20) else { return };
    let mount = Mount::ext4(device.path(), &place.path().join("mnt")).unwrap();
    mount.remount("ro").unwrap();
    run(place.assay(["run", "mnt"])).refuses(4, &["mnt", "read-only"]).at_once();
}

// ------------------------------------------------------------------------------------ raw devices

#[test]
fn a_raw_device_is_written_only_when_that_is_beyond_doubt() {
    let test = "a_raw_device_is_written_only_when_that_is_beyond_doubt";
    let place = Place::new();
    let Some((_lab, device)) = loop_device(test, &place, 32 << 20) else { return };
    let path = device.path().to_str().unwrap();
    let mount = Mount::ext4(device.path(), &place.path().join("mnt")).unwrap();

    let raw = |more: &[&str]| {
        let mut command = place.assay(["run", "--suite", "tiny.toml"]);
        command.args(more).arg(path);
        run(command)
    };
    let image = || fs::read(place.path().join("disk.img")).unwrap();

    raw(&["--raw"]).refuses(2, &[path, "in use", "mnt"]).at_once();
    raw(&["--raw", "--overwrite", path]).refuses(2, &[path, "in use"]).at_once();
    drop(mount);

    let before = image();
    raw(&[]).refuses(2, &[path, "raw device", "--raw"]).at_once();
    raw(&["--raw"]).refuses(2, &[path, "ext"]).at_once();
    raw(&["--raw", "--overwrite", "/dev/sdz"]).refuses(2, &["/dev/sdz", path, "nothing was touched"]).at_once();
    raw(&["--overwrite", path]).refuses(2, &["--raw"]).at_once();
    assert!(image() == before, "a refusal changed the device");

    let mut reads = place.assay(["run", "--raw", "--suite", "read-only", "--budget", "1s", "--json", path]);
    reads.env("ASSAY_DATA", place.path().join("other"));
    let record: Record = serde_json::from_str(&run(reads).measures().stdout).unwrap();
    assert_eq!(record.settings().unwrap().written_bytes, 0);
    assert!(image() == before, "a suite that only reads changed the device");

    assert!(!place.store().exists(), "a refusal made a store");
    raw(&["--raw", "--overwrite", path]).measures();
    assert!(image() != before);
    assert!(place.only_record().settings().unwrap().raw_device);
}

#[test]
fn a_reader_without_a_medium_is_no_medium_that_failed() {
    let test = "a_reader_without_a_medium_is_no_medium_that_failed";
    let place = Place::new();
    place.file("disk.img", []);
    let Some((_lab, device)) = some(test, lab_with(&place.path().join("disk.img"))) else { return };
    let path = device.path().to_str().unwrap();
    run(place.assay(["run", "--raw", path])).refuses(4, &[path, "put a medium in"]).at_once();
    assert!(!place.store().exists());
}

#[test]
fn blocks_that_direct_io_cannot_do_are_refused() {
    let test = "blocks_that_direct_io_cannot_do_are_refused";
    let place = Place::new();
    let Some((_lab, device)) = loop_device(test, &place, 32 << 20) else { return };
    if !large_sectors(&device) {
        return skip(test, &Missing("needs losetup --sector-size".to_owned()));
    }
    place.file("small.toml", TINY.replace("\"4KiB\"", "\"512\""));
    let path = device.path().to_str().unwrap();
    let done = run(place.assay(["run", "--raw", "--suite", "small.toml", path]));
    done.refuses(2, &["rand-read", "512 B", "4096 B", path]).at_once();
}

// ------------------------------------------------------------------------------------------ space

#[test]
fn a_full_disk_is_found_before_anything_is_written() {
    let test = "a_full_disk_is_found_before_anything_is_written";
    let place = Place::new();
    let Some((_lab, disk)) = fast_device(test, 32 << 20) else { return };
    fill(disk.path(), 0);
    let mut command = place.assay(["run", "--suite", "tiny.toml"]);
    command.arg(disk.path());
    run(command).refuses(4, &["free", "at least"]).at_once();
    assert_eq!(scratch_directories(disk.path()), 0);
    assert!(!place.store().exists());
}

#[test]
fn less_space_than_the_suite_needs_makes_the_test_smaller_and_says_so() {
    let test = "less_space_than_the_suite_needs_makes_the_test_smaller_and_says_so";
    let place = Place::new();
    let Some((_lab, disk)) = fast_device(test, 32 << 20) else { return };
    fill(disk.path(), 8 << 20);
    place.file("large.toml", TINY.replace("4MiB", "1GiB").replace("32MiB", "8GiB"));
    let mut command = place.assay(["run", "--suite", "large.toml", "--json"]);
    command.arg(disk.path());
    let done = run(command);
    done.measures();
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    let (asked, used, limit) = smaller_span(&record).unwrap_or_else(|| panic!("{:?}", record.warnings));
    assert_eq!(asked, 1 << 30);
    assert!((1 << 20..8 << 20).contains(&used), "{used}");
    assert_eq!(used, record.settings().unwrap().span_bytes);
    assert_eq!(limit, AreaLimit::FreeSpace);
    assert!(done.stderr.contains("instead of 1 GiB"), "people are told, too: {}", done.stderr);
    assert_eq!(scratch_directories(disk.path()), 0);
}

#[test]
fn a_disk_that_fills_while_the_file_is_written_makes_the_test_smaller() {
    let test = "a_disk_that_fills_while_the_file_is_written_makes_the_test_smaller";
    let place = Place::new();
    let Some((_lab, disk)) = fast_device(test, 64 << 20) else { return };
    fill_at_the_start(&place, &disk, 4 << 20).measures();
    let record = place.only_record();
    let (asked, used, limit) = smaller_span(&record).unwrap_or_else(|| panic!("{:?}", record.warnings));
    assert!(used < asked && used > 0 && used <= 5 << 20, "{used} of {asked}");
    assert_eq!(limit, AreaLimit::FileSystemFull);
    assert!(record.measurements.iter().all(|m| m.iops.is_some()), "it was measured all the same");
    assert_eq!(scratch_directories(disk.path()), 0);
}

#[test]
fn a_disk_without_a_block_left_ends_the_run_with_a_record() {
    let test = "a_disk_without_a_block_left_ends_the_run_with_a_record";
    let place = Place::new();
    let Some((_lab, disk)) = fast_device(test, 64 << 20) else { return };
    let done = fill_at_the_start(&place, &disk, 0);
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    let record = place.only_record();
    assert!(matches!(record.outcome, Outcome::Failed { failure: RunFailure::OutOfSpace, .. }), "{:?}", record.outcome);
    assert_eq!(scratch_directories(disk.path()), 0);
}

/// Starts a run, and fills the disk but for so many bytes before the first byte is written.
fn fill_at_the_start(place: &Place, disk: &FastDevice, leave: u64) -> crate::common::Done {
    place.file("large.toml", TINY.replace("4MiB", "40MiB").replace("32MiB", "1GiB"));
    let mut command = place.assay(["run", "--suite", "large.toml", "--events"]);
    command.arg(disk.path());
    let mut running = Running::start(command);
    running.wait_for(|event| matches!(event, EventKind::Started { .. }));
    running.signal_all(Signal::STOP);
    fill(disk.path(), leave);
    running.signal_all(Signal::CONT);
    running.end()
}

/// Writes a file that leaves so many bytes of the file system.
fn fill(directory: &Path, leave: u64) {
    use std::io::Write;
    let mut file = fs::File::create(directory.join("filler")).unwrap();
    for size in [1 << 20, 4096] {
        let block = vec![0xa5u8; size];
        while file.write_all(&block).is_ok() {}
    }
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(leave)).unwrap();
    file.sync_all().unwrap();
}

fn smaller_span(record: &Record) -> Option<(u64, u64, AreaLimit)> {
    record.all_warnings().find_map(|w| match &w.finding {
        Finding::SmallerSpan { asked_bytes, used_bytes, limit } => Some((*asked_bytes, *used_bytes, *limit)),
        _ => None,
    })
}

// -------------------------------------------------------------------------- kinds of file systems

#[test]
fn memory_is_measured_and_called_suspect() {
    let place = Place::new();
    let memory = tempfile::Builder::new().prefix("assay-test-").tempdir_in("/dev/shm");
    let Ok(memory) = memory else {
        return skip("memory_is_measured_and_called_suspect", &Missing("needs /dev/shm".into()));
    };
    let mut command = place.assay(["run", "--json", "--suite", "tiny.toml"]);
    command.arg(memory.path());
    let done = run(command);
    done.measures();
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    assert_ne!(record.validity.verdict, ValidityVerdict::Valid);
    assert!(record.all_warnings().any(|w| matches!(w.finding, Finding::MemoryNotMedium { .. })));
    assert!(done.stderr.contains("tmpfs"), "{}", done.stderr);
    assert_empty(memory.path());
}

#[test]
fn an_overlay_is_measured_and_called_suspect() {
    let test = "an_overlay_is_measured_and_called_suspect";
    let place = Place::new();
    if !can_be_apart(test) {
        return;
    }
    let done = run(place.apart(
        "mkdir lower upper work mnt
         mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work mnt 2>/dev/null || exit 77
         exec \"$ASSAY\" run --json --suite tiny.toml mnt",
    ));
    if done.code == Some(77) {
        return skip(test, &Missing("needs overlayfs".to_owned()));
    }
    done.measures();
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    assert_ne!(record.validity.verdict, ValidityVerdict::Valid);
    assert!(record.all_warnings().any(|w| w.finding == Finding::OverlayHidesMedium));
    assert_empty(&place.path().join("upper"));
}

// ------------------------------------------------------------------------------------ suite files

#[test]
fn a_suite_that_is_not_there_is_refused() {
    let place = Place::new();
    run(place.assay(["run", "--suite", "nope"])).refuses(2, &["`nope`", "quick"]).at_once();
    run(place.assay(["run", "--suite", "nope.toml"])).refuses(2, &["nope.toml", "no such file", "quick"]).at_once();
    run(place.assay(["suite", "show", "nope"])).refuses(2, &["`nope`"]);
    run(place.assay(["suite", "export", "nope", "--format", "fio"])).refuses(2, &["`nope`"]);
    run(place.assay(["run", "--suite", "medium"])).refuses(2, &["medium", "directory"]);
    run(place.assay(["run", "--suite", HOSTILE])).refuses(2, &[]);
    place.assert_clean();
}

#[test]
fn a_mistake_in_a_suite_file_is_named_with_its_line() {
    let place = Place::new();
    for (from, to, words) in [
        ("budget = \"2s\"", "budget = \"2s\"\ncolour = \"red\"", "mine.toml:6: unknown field `colour`"),
        ("queue_depth = 4", "queue_depth = 0", "queue_depth = 0 must be 1 to"),
        ("queue_depth = 4", "queue_depth = -1", "mine.toml:15"),
        ("queue_depth = 4", "queue_depth = 99999", "queue_depth = 99999 must be"),
        ("block = \"1MiB\"", "block = \"8MiB\"", "is larger than span 4 MiB"),
        ("block = \"1MiB\"", "block = \"1000\"", "multiple of 512"),
        ("block = \"1MiB\"", "block = \"0\"", "multiple of 512"),
        ("block = \"1MiB\"", "block = \"huge\"", "mine.toml:14"),
        ("block = \"1MiB\"", "", "block"),
        ("op = \"read\"", "op = \"erase\"", "erase"),
        ("repeats = 1", "repeats = 0", "repeats = 0 must be"),
        ("budget = \"2s\"", "budget = \"0s\"", "budget `0s`"),
        ("budget = \"2s\"", "budget = \"1000000d\"", "30d"),
        ("budget = \"2s\"", "budget = \"99999999999999999999999999d\"", "budget"),
        ("span = \"4MiB\"", "span = \"0\"", "span must be larger than 0"),
        ("max_write = \"32MiB\"", "max_write = \"99999999999999T\"", "64 bits"),
        ("max_write = \"32MiB\"", "max_write = \"0\"", "too small"),
        ("name = \"rand-read\"", "name = \"seq-read\"", "two workloads"),
        ("name = \"tiny\"", "name = \"<script>\"", "may hold only"),
        ("[[workload]]", "[[workload", "mine.toml:10"),
    ] {
        let text = TINY.replacen(from, to, 1);
        assert_ne!(text, TINY, "{from}");
        place.file("mine.toml", text);
        run(place.assay(["run", "--suite", "mine.toml", "medium"])).refuses(2, &[words]).at_once();
    }
    assert!(!place.store().exists());
    place.assert_clean();
}

#[test]
fn what_is_no_suite_file_is_refused() {
    let place = Place::new();
    let head = TINY.split("[[workload]]").next().unwrap().to_owned();
    for (content, words) in [
        (b"".to_vec(), "mine.toml:1: missing field"),
        (b"# Heading\n\nSome *Markdown*.\n".to_vec(), "mine.toml:3"),
        (b"{\"name\": \"json\"}".to_vec(), "mine.toml:1"),
        (vec![0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe], "not a text file"),
        (vec![0; 4096], "mine.toml:1"),
        (vec![b'#'; 2 << 20], "larger than 1 MiB"),
        (head.clone().into_bytes(), "workload"),
        (format!("{head}workload = []\n").into_bytes(), "no [[workload]]"),
        ("\x1b[2J = 1\n".as_bytes().to_vec(), "mine.toml:1"),
    ] {
        place.file("mine.toml", &content);
        for command in [&["run", "--suite", "mine.toml", "medium"][..], &["suite", "show", "mine.toml"]] {
            run(place.assay(command)).refuses(2, &["mine.toml", words]).at_once();
        }
    }
    run(place.assay(["run", "--suite", "/dev/zero"])).refuses(2, &["/dev/zero"]).at_once();
    place.assert_clean();
}

// -------------------------------------------------------------------------------------- arguments

#[test]
fn impossible_arguments_are_refused_in_one_line() {
    let place = Place::new();
    for (arguments, words) in [
        (&["run", "--budget", "0"][..], &["--budget", "1s to 30d"][..]),
        (&["run", "--budget", "soon"], &["`soon`", "90s"]),
        (&["run", "--budget", "99999d"], &["1s to 30d"]),
        (&["run", "--max-write", "1k", "medium"], &["--max-write 1 KiB", "4 MiB"]),
        (&["run", "--max-write", "0", "medium"], &["--max-write 0 B"]),
        (&["run", "--max-write", "lots"], &["`lots`"]),
        (&["run", "--max-write", "-1"], &["-1"]),
        (&["run", "--repeats", "0"], &["--repeats"]),
        (&["run", "--repeats", "9999999999"], &["--repeats"]),
        (&["run", "--engine", "steam"], &["steam", "auto, uring, sync"]),
        (&["run", "--label", "slot"], &["KEY=VALUE"]),
        (&["run", "--label", "=7"], &["key"]),
        (&["run", "--label", "slot="], &["1 to 256"]),
        (&["run", "--label", "a b=7"], &["letters, digits"]),
        (&["run", "--label", "\x1b[2J=7"], &["letters, digits"]),
        (&["run", "--json", "--events"], &["--json", "--events"]),
        (&["run", "one", "two"], &["two"]),
        (&["run", "--overwrite", "/dev/sdz", "medium"], &["--raw"]),
        (&["frobnicate"], &["frobnicate"]),
        (&["suite", "frobnicate"], &["frobnicate"]),
        (&["suite", "export", "quick"], &["--format"]),
        (&["suite", "export", "quick", "--format", "word"], &["word", "fio"]),
        (&["run", "--frobnicate"], &["--frobnicate"]),
        (&["completions", "tcsh"], &["tcsh", "bash"]),
        (&["report"], &["--output"]),
        (&["rm"], &["QUER"]),
    ] {
        run(place.assay(arguments)).refuses(2, words).at_once();
    }
    let long = format!("slot={}", "7".repeat(300));
    run(place.assay(["run", "--label", &long])).refuses(2, &["1 to 256"]);
    let bytes = std::ffi::OsStr::from_bytes(b"a=\xff");
    run(place.assay([std::ffi::OsStr::new("run"), "--label".as_ref(), bytes])).refuses(2, &["UTF-8"]);
    assert!(!place.data().exists());
    place.assert_clean();
}

#[test]
fn an_unwritable_report_is_found_before_the_run() {
    let place = Place::new();
    fs::create_dir(place.path().join("folder.html")).unwrap();
    for (output, code, words) in [
        ("no/such/folder/card.html", 4, "cannot be written"),
        ("folder.html", 4, "cannot be written"),
        ("tiny.toml/card.html", 4, "cannot be written"),
        ("/proc/card.html", 4, "cannot be written"),
        ("card.docx", 2, "card.docx"),
        ("card", 2, "card"),
        ("-", 2, "-"),
    ] {
        let done = run(place.assay(["run", "--suite", "tiny.toml", "-o", output, "medium"]));
        done.refuses(code, &[output, words]).at_once();
        assert!(!place.store().exists(), "measured all the same: -o {output}");
    }
    place.assert_clean();
}

#[test]
fn a_report_that_may_not_be_written_is_found_before_the_run() {
    let test = "a_report_that_may_not_be_written_is_found_before_the_run";
    let place = Place::new();
    if !nobody_can_run(test, &place) {
        return;
    }
    let closed = place.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("old.html"), "old").unwrap();
    fs::set_permissions(closed.join("old.html"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    for output in ["closed/new.html", "closed/old.html"] {
        let done = run(as_nobody(place.assay(["run", "--no-save", "--suite", "tiny.toml", "-o", output, "medium"])));
        done.refuses(4, &[output, "cannot be written"]).at_once();
    }
    assert_eq!(fs::read_to_string(closed.join("old.html")).unwrap(), "old");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    place.assert_clean();
}

#[test]
fn a_report_takes_the_place_of_the_old_one_whole_or_not_at_all() {
    let place = Place::new();
    place.measured();
    let card = place.file("card.md", "old");
    run(place.assay(["report", "nope", "-o", "card.md"])).refuses(2, &["nope"]);
    assert_eq!(fs::read_to_string(&card).unwrap(), "old");
    run(place.assay(["report", "-o", "card.md"])).succeeds();
    assert!(fs::read_to_string(&card).unwrap().len() > 100);
    let parts = fs::read_dir(place.path())
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains("part"));
    assert_eq!(parts.count(), 0);
    // Devices and pipes are written to, never replaced.
    run(place.assay(["report", "--format", "csv", "-o", "/dev/null"])).succeeds();
    assert!(!Path::new("/dev/null").symlink_metadata().unwrap().is_file());
}

// -------------------------------------------------------------------------------------- the store

#[test]
fn a_run_that_cannot_start_leaves_no_record() {
    let test = "a_run_that_cannot_start_leaves_no_record";
    let place = Place::new();
    place.measured();
    let Some((_lab, device)) = loop_device(test, &place, 32 << 20) else { return };
    if !large_sectors(&device) {
        return skip(test, &Missing("needs losetup --sector-size".to_owned()));
    }
    let mount = Mount::ext4(device.path(), &place.path().join("mnt")).unwrap();
    place.file("odd.toml", TINY.replace("\"4KiB\"", "\"512\""));
    run(place.assay(["run", "--suite", "odd.toml", "mnt"])).refuses(2, &["rand-read", "512 B", "4096 B"]).at_once();
    assert_empty(mount.path());
    place.only_record();
}

#[test]
fn a_read_only_store_can_be_read_and_is_found_before_the_run() {
    let test = "a_read_only_store_can_be_read_and_is_found_before_the_run";
    let place = Place::new();
    let record = place.measured();
    if !can_be_apart(test) {
        return;
    }
    let apart = |command: &str| {
        run(place.apart(&format!("mount --bind data data; mount -o remount,ro,bind data; exec \"$ASSAY\" {command}")))
    };
    apart("run --suite tiny.toml medium").refuses(4, &["read-only", "ASSAY_DATA"]).at_once();
    apart("rm last").refuses(4, &["read-only"]);
    for command in ["list", "show last", "report -o card.html", "info medium"] {
        let done = apart(command);
        done.succeeds();
    }
    assert!(apart("list").stdout.contains(&record.id));
    place.assert_clean();
    assert_eq!(place.only_record().id, record.id);
}

#[test]
fn a_store_that_is_damaged_newer_or_foreign_is_refused_and_left_as_it_is() {
    let place = Place::new();
    place.measured();
    let good = fs::read(place.store()).unwrap();
    let sql = |text: &'static str| {
        move |path: &Path| {
            let database = Connection::open(path).unwrap();
            database.pragma_update(None, "journal_mode", "DELETE").unwrap();
            database.execute_batch(text).unwrap();
        }
    };
    type Damage = Box<dyn Fn(&Path)>;
    let cases: [(Damage, &[&str]); 5] = [
        (Box::new(|path| fs::write(path, vec![0x55; 20_000]).unwrap()), &["damaged", "move it away"]),
        (
            Box::new({
                let good = good.clone();
                move |path| {
                    let mut bytes = good.clone();
                    for page in bytes.chunks_mut(4096).skip(1) {
                        page.fill(0xee);
                    }
                    fs::write(path, bytes).unwrap();
                }
            }),
            &["damaged"],
        ),
        (Box::new(|path| fs::write(path, &b"SQLite format 3\0"[..]).unwrap()), &["damaged"]),
        (Box::new(sql("PRAGMA user_version = 99")), &["store version 99", "newer assay"]),
        (Box::new(sql("PRAGMA application_id = 7")), &["another program"]),
    ];
    for (damage, words) in cases {
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", place.store().display()));
        }
        fs::write(place.store(), &good).unwrap();
        damage(&place.store());
        let before = fs::read(place.store()).unwrap();
        for command in [&["run", "--suite", "tiny.toml", "medium"][..], &["list"], &["show"], &["rm", "last"]] {
            let mut all = vec!["assay.sqlite"];
            all.extend(words);
            run(place.assay(command)).refuses(4, &all).at_once();
        }
        assert!(fs::read(place.store()).unwrap() == before, "changed: {words:?}");
    }
    place.assert_clean();
    // A run that does not need the store is not held up by it.
    run(place.assay(["run", "--no-save", "--suite", "tiny.toml", "medium"])).measures();
}

#[test]
fn a_data_directory_that_is_a_file_is_refused() {
    let place = Place::new();
    for data in ["tiny.toml", "tiny.toml/below"] {
        for command in [&["run", "--suite", "tiny.toml", "medium"][..], &["list"]] {
            let mut assay = place.assay(command);
            assay.env("ASSAY_DATA", data);
            run(assay).refuses(4, &["tiny.toml is not a directory", "ASSAY_DATA"]).at_once();
        }
    }
    place.assert_clean();
}

#[test]
fn without_a_home_the_data_directory_is_asked_for() {
    let place = Place::new();
    let mut assay = place.assay(["list"]);
    assay.env_remove("ASSAY_DATA").env_remove("HOME").env_remove("XDG_DATA_HOME");
    run(assay).refuses(4, &["ASSAY_DATA"]);
    // What works without one is named.
    for command in [&["run", "--suite", "tiny.toml", "medium"][..], &["verify", "medium"]] {
        let mut assay = place.assay(command);
        assay.env_remove("ASSAY_DATA").env_remove("HOME").env_remove("XDG_DATA_HOME");
        run(assay).refuses(4, &["ASSAY_DATA", "--no-save"]).at_once();
    }
    place.assert_clean();
}

#[test]
fn a_budget_that_leaves_a_workload_out_is_refused_with_the_least_that_does() {
    let place = Place::new();
    let quick = ["run", "--budget", "1s", "--no-save", "medium"];
    run(place.assay(quick)).refuses(2, &["1 s is too short for 7 repeats", "--budget 3s is the least"]).at_once();
    place.assert_clean();
}

#[test]
fn a_data_directory_without_permission_is_found_before_the_run() {
    let test = "a_data_directory_without_permission_is_found_before_the_run";
    let place = Place::new();
    if !nobody_can_run(test, &place) {
        return;
    }
    fs::create_dir(place.data()).unwrap();
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o555)).unwrap();
    run(as_nobody(place.assay(["run", "--suite", "tiny.toml", "medium"])))
        .refuses(4, &["permission", "data"])
        .at_once();
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o755)).unwrap();
    place.assert_clean();
}

// --------------------------------------------------------------------------------- names of things

#[test]
fn hostile_names_are_shown_harmlessly_everywhere() {
    let place = Place::new();
    let medium = place.path().join(HOSTILE.replace('/', "\u{2215}"));
    fs::create_dir(&medium).unwrap();
    let labels = ["model", "unit", "slot", "shop"].map(|key| format!("{key}={HOSTILE}"));
    let mut command = place.assay(["run", "--suite", "tiny.toml", "-o", "card.html"]);
    for label in &labels {
        command.arg("--label").arg(label);
    }
    command.arg(&medium);
    let done = run(command);
    done.measures();
    assert_harmless(&done.stdout);
    assert_harmless(&done.stderr);
    assert_empty(&medium);
    assert_page_harmless(&fs::read_to_string(place.path().join("card.html")).unwrap());

    for command in [&["show"][..], &["list"]] {
        let done = run(place.assay(command));
        assert_harmless(&done.succeeds().stdout);
        assert!(done.stdout.contains("owned"), "shown, and not taken away: {}", done.stdout);
    }
    let mut info = place.assay(["info"]);
    info.arg(&medium);
    assert_harmless(&run(info).succeeds().stdout);

    let record = place.json(["show", "--json"]);
    assert_eq!(record["labels"]["model"], HOSTILE, "the record holds what was given");
    assert_eq!(place.json(["list", "--json"])[0]["labels"]["shop"], HOSTILE);
    for format in ["html", "md", "csv"] {
        let done = run(place.assay(["report", "-o", "-", "--format", format]));
        let text = &done.succeeds().stdout;
        assert_harmless(&text.replace("\r\n", "\n"));
        match format {
            "html" => assert_page_harmless(text),
            "csv" => assert_table(text),
            _ => assert!(!text.contains("<script>"), "{text}"),
        }
    }
    // In what is shared, what looks like a path is none.
    let shared = place.json(["report", "-o", "-", "--format", "json"])["labels"]["model"].as_str().unwrap().to_owned();
    let (before, after) = HOSTILE.split_once("</script>").unwrap();
    assert!(shared.starts_with(before) && shared.ends_with(after) && !shared.contains("</script>"), "{shared}");
    // And as what to look for.
    let done = run(place.assay(["list", &format!("model={HOSTILE}")]));
    assert_harmless(&done.succeeds().stdout);
    run(place.assay(["show", &format!("model={HOSTILE}x")])).refuses(2, &["no record has", "the nearest is"]);
}

#[test]
fn a_hostile_host_name_is_shown_harmlessly() {
    let test = "a_hostile_host_name_is_shown_harmlessly";
    let place = Place::new();
    if !can_be_apart(test) {
        return;
    }
    let done = run(place.apart(
        "printf '\\033[31m<script>alert(1)</script>\"' > /proc/sys/kernel/hostname
         exec \"$ASSAY\" run --suite tiny.toml -o card.html medium",
    ));
    done.measures();
    assert_harmless(&done.stdout);
    assert!(done.stdout.contains("<script>alert(1)</script>"), "{}", done.stdout);
    let page = fs::read_to_string(place.path().join("card.html")).unwrap();
    assert_page_harmless(&page);
    let run_with_identities = run(place.assay(["report", "--identities", "--format", "html", "-o", "-"]));
    assert_page_harmless(&run_with_identities.succeeds().stdout);
}

#[test]
fn a_hostile_medium_is_shown_harmlessly() {
    let test = "a_hostile_medium_is_shown_harmlessly";
    let place = Place::new();
    // A loop device is named after its file.
    let image = place.file(HOSTILE.replace('/', "\u{2215}"), []);
    fs::File::options().write(true).open(&image).unwrap().set_len(32 << 20).unwrap();
    let Some((_lab, device)) = some(test, lab_with(&image)) else { return };
    let path = device.path().to_str().unwrap();
    let done = run(place.assay(["run", "--raw", "--suite", "tiny.toml", "-o", "card.html", path]));
    done.measures();
    assert_harmless(&done.stdout);
    assert_harmless(&done.stderr);
    assert_page_harmless(&fs::read_to_string(place.path().join("card.html")).unwrap());
    for command in [&["show"][..], &["list"], &["info", path]] {
        assert_harmless(&run(place.assay(command)).succeeds().stdout);
    }
}

/// Nothing that was given stands in the page as markup or as script.
#[track_caller]
fn assert_page_harmless(page: &str) {
    assert_harmless(page);
    assert!(page.starts_with("<!"), "{}", &page[..40]);
    for bad in ["<script>alert", "</script>\"'", "</script>\\\"'"] {
        assert!(!page.contains(bad), "`{bad}` in the page");
    }
}

/// A table in which every row has as many cells, none of which is a formula (RFC 4180).
#[track_caller]
fn assert_table(text: &str) {
    let mut rows: Vec<Vec<String>> = vec![vec![String::new()]];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let row = rows.last_mut().unwrap();
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                row.last_mut().unwrap().push(characters.next().unwrap())
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => rows.push(vec![String::new()]),
            c => row.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted, "a quote that never ends");
    assert_eq!(rows.pop(), Some(vec![String::new()]), "ends with a line");
    assert!(rows.len() > 1);
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{row:?}");
        assert!(row.iter().all(|cell| !cell.starts_with(['=', '@', '+'])), "{row:?}");
    }
}

// ------------------------------------------------------------------------------------ finding them

#[test]
fn records_that_are_not_there_are_refused() {
    let place = Place::new();
    for command in [&["show"][..], &["show", "x"], &["rm", "x"], &["report", "-o", "x.md"]] {
        run(place.assay(command)).refuses(2, &["store is empty"]);
    }
    assert!(!place.data().exists(), "reading made a store");
    let record = place.measured();
    for query in ["zzzz", "last~1", "last~-1", "last~x", "=x", "slot=7", "a\x1b[2Jb", "\u{202e}", "%", "_", "*"] {
        run(place.assay(["show", query])).refuses(2, &[]);
        run(place.assay(["rm", query])).refuses(2, &[]);
        run(place.assay(["report", query, "-o", "x.md"])).refuses(2, &[]);
    }
    run(place.assay(["rm", "all"])).refuses(2, &["all"]);
    run(place.assay(["rm", ""])).refuses(2, &[]);
    run(place.assay(["rm", "last", "zzzz"])).refuses(2, &["zzzz"]);
    run(place.assay(["report", "-o", "x.docx"])).refuses(2, &["x.docx"]);
    run(place.assay(["report", "-o", "-"])).refuses(2, &["--format"]);
    assert!(!place.path().join("x.md").exists());
    assert_eq!(place.only_record().id, record.id, "a mistake removes nothing");
}

#[test]
fn an_id_is_never_a_piece_of_sql() {
    let place = Place::new();
    let record = place.measured();
    for query in [
        "' OR '1'='1",
        "'; DROP TABLE record; --",
        "\" OR 1=1 --",
        "x' UNION SELECT * FROM secret --",
        "model=' OR ''='",
    ] {
        let why = if query.contains(" OR ") && !query.starts_with("model") { "is no query" } else { "no record" };
        run(place.assay(["show", query])).refuses(2, &[why]);
        run(place.assay(["rm", query])).refuses(2, &[why]);
        run(place.assay(["list", &format!("label.{query}=x")])).succeeds();
    }
    assert_eq!(place.only_record().id, record.id);
    // As a label it is only text.
    let text = "'); DROP TABLE label; --";
    place.measured_with(&["--label", &format!("shop={text}")]);
    assert_eq!(place.json(["show", &format!("shop={text}"), "--json"])["labels"]["shop"], text);
}

#[test]
fn standard_output_that_is_full_is_told() {
    let place = Place::new();
    run(place.shell("exec \"$ASSAY\" suite list > /dev/full")).refuses(4, &["standard output", "space"]);
}

// ------------------------------------------------------------------------------------------ helpers

/// A lab and a loop device over a new file `disk.img`.
fn loop_device(test: &str, place: &Place, bytes: u64) -> Option<(Lab, LoopDevice)> {
    let image = place.path().join("disk.img");
    fs::File::create(&image).unwrap().set_len(bytes).unwrap();
    some(test, lab_with(&image))
}

fn lab_with(image: &Path) -> Result<(Lab, LoopDevice), Missing> {
    if !is_root() {
        return Err(Missing("needs root".to_owned()));
    }
    let lab = Lab::share()?;
    let device = LoopDevice::attach(image, false)?;
    Ok((lab, device))
}

/// Gives the device sectors of 4096 bytes, as many disks have: smaller blocks are impossible there.
fn large_sectors(device: &LoopDevice) -> bool {
    let set = std::process::Command::new("losetup").arg("--sector-size").arg("4096").arg(device.path()).status();
    set.is_ok_and(|status| status.success())
}

fn fast_device(test: &str, bytes: u64) -> Option<(Lab, FastDevice)> {
    if !is_root() {
        skip(test, &Missing("needs root".to_owned()));
        return None;
    }
    let lab = some(test, Lab::share())?;
    let device = some(test, FastDevice::new(bytes))?;
    Some((lab, device))
}

fn some<T>(test: &str, result: Result<T, Missing>) -> Option<T> {
    result.map_err(|missing| skip(test, &missing)).ok()
}

#[test]
fn a_confidence_is_refused_where_it_means_nothing() {
    let place = Place::new();
    for (arguments, word) in [
        (&["--suite", "soak", "--confidence", "5%"][..], "soaks"),
        (&["--confidence", "5%", "--repeats", "3"], "--repeats"),
        (&["--confidence", "5"], "5%"),
    ] {
        run(place.assay([&["run"][..], arguments, &["/nowhere"]].concat())).refuses(2, &[word]).at_once();
    }
}
