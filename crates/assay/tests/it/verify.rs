//! `assay verify` as its user meets it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::verification::{FakeKind, Method, Verdict, Verification};
use assay_lab::media::{Cache, CachedWrites, Layout, MediumSpec, SharedMedium};
use assay_lab::{FakeCard, FastDevice, Lab, LoopDevice, RemovableCard, lab};

use crate::common::family::wait_for;
use crate::common::{Place, assert_empty, run};
use crate::documented::{is_printed, printed};

const MIB: u64 = 1 << 20;

/// The record that a command printed.
#[track_caller]
fn record(done: &crate::common::Done) -> Record {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr))
}

fn found(record: &Record) -> &Verification {
    record.verification.as_ref().unwrap()
}

#[test]
fn a_genuine_medium_is_filled_read_and_left_empty() {
    const TEST: &str = "a_genuine_medium_is_filled_read_and_left_empty";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(128 * MIB));
    let place = Place::new();
    let mut command = place.assay(["verify", "--json"]);
    command.arg(card.path());
    let done = run(command);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let record = record(&done);
    let v = found(&record);
    assert_eq!((v.method, v.verdict, v.kind), (Method::Full, Verdict::Genuine, None));
    assert_eq!(v.counts.lost(), 0);
    assert!(v.checked_bytes > 90 * MIB, "{}", v.checked_bytes);
    assert!(v.write.is_some() && v.read.is_some());
    assert!(done.stderr.contains("writes"), "says beforehand how much: {}", done.stderr);
    assert_empty(card.path());
    assert_eq!(place.only_record(), record);
    let shown = run(place.assay(["show", "last"]));
    assert!(shown.stdout.contains("genuine") && shown.stdout.contains("map"), "{}", shown.stdout);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
}

#[test]
fn files_that_were_kept_are_read_again_and_damage_is_found() {
    const TEST: &str = "files_that_were_kept_are_read_again_and_damage_is_found";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(128 * MIB));
    let place = Place::new();
    let mut command = place.assay(["verify", "--keep", "--bytes", "32MiB", "--quiet"]);
    command.arg(card.path());
    assert_eq!(run(command).code, Some(0));
    let file = card.path().join(".assay-verify").join("1.h2w");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[5 * MIB as usize..6 * MIB as usize].fill(0);
    std::fs::write(&file, &bytes).unwrap();
    let mut command = place.assay(["verify", "--only", "read", "--json"]);
    command.arg(card.path());
    let done = run(command);
    assert_eq!(done.code, Some(5), "{}", done.stderr);
    let record = record(&done);
    let v = found(&record);
    assert_eq!(v.verdict, Verdict::Damaged, "{v:?}");
    assert_eq!((v.counts.corrupted, v.counts.total()), (2048, 65536));
    assert_eq!(v.first_error.as_ref().unwrap().offset_bytes, 5 * MIB);
    assert!(file.exists(), "only read");
    // A new check does not take what was to be kept.
    let mut command = place.assay(["verify"]);
    command.arg(card.path());
    let refused = run(command);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("kept by an earlier check"), "{}", refused.stderr);
}

#[test]
fn a_fake_device_is_probed_and_every_byte_put_back() {
    const TEST: &str = "a_fake_device_is_probed_and_every_byte_put_back";
    let _lab = lab!(TEST, Lab::share());
    let cache = |bytes, takes| Cache { takes, ..Cache::with_bytes(bytes) };
    let wrapping = MediumSpec::laid_out(512 * MIB, Layout::wraparound(128 * MIB))
        .with_cache(cache(8 << 10, CachedWrites::Random))
        .with_cache(cache(4 * MIB, CachedWrites::Sequential));
    for (spec, kind, real) in [
        (MediumSpec::limbo(512 * MIB, 64 * MIB), FakeKind::Limbo, 64 * MIB),
        (wrapping, FakeKind::Wraparound, 128 * MIB),
    ] {
        let medium = SharedMedium::new(spec.build().unwrap());
        let before = medium.with(|medium| medium.snapshot());
        let card = lab!(TEST, FakeCard::new(medium.clone()));
        let place = Place::new();
        let mut command = place.assay(["verify", "--quick", "--json"]);
        command.arg(card.path());
        let done = run(command);
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stderr.contains("puts everything back"), "{}", done.stderr);
        let record = record(&done);
        let v = found(&record);
        assert_eq!((v.verdict, v.kind), (Verdict::Fake, Some(kind)), "{v:?}");
        assert_eq!((v.announced_bytes, v.real_bytes), (512 * MIB, Some(real)));
        if kind == FakeKind::Limbo {
            // README shows this very fake.
            let shown = run(place.assay(["show", "last"])).succeeds().stdout.clone();
            let expected = printed("assay verify --quick /dev/sdX");
            assert!(is_printed(&expected, &shown.lines().collect::<Vec<_>>()), "{expected:#?} is not in\n{shown}");
        }
        assert_eq!(medium.with(|medium| medium.changed_since(&before)), [0; 0], "as before");
        assert!(done.stderr.contains("everything is put back; wait a moment before you unplug"), "{}", done.stderr);
        // When the device was attached anew, the journal is not needed any more.
        drop(card);
        let card = lab!(TEST, FakeCard::new(medium.clone()));
        let mut command = place.assay(["info"]);
        command.arg(card.path());
        run(command).succeeds();
        let journals = place.data().join("journals");
        assert_eq!(std::fs::read_dir(journals).unwrap().count(), 0, "nothing left to put back");
    }
}

#[test]
fn a_device_with_a_file_system_may_be_probed_and_a_mounted_one_not() {
    const TEST: &str = "a_device_with_a_file_system_may_be_probed_and_a_mounted_one_not";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(128 * MIB));
    let place = Place::new();
    let mut command = place.assay(["verify", "--quick"]);
    command.arg(card.device().path());
    let refused = run(command);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("in use"), "{}", refused.stderr);

    let image = place.file("card.img", []);
    std::fs::File::options().write(true).open(&image).unwrap().set_len(128 * MIB).unwrap();
    assert!(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image).status().unwrap().success());
    let before = std::fs::read(&image).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    let mut command = place.assay(["verify", "--quick", "--quiet"]);
    command.arg(device.path());
    let done = run(command);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    drop(device);
    assert!(before == std::fs::read(&image).unwrap(), "every byte as before");
}

/// Bytes written so far to the device that is mounted there, as the kernel counts them: the seventh figure of
/// `/sys/block/DEVICE/stat`, in sectors of 512 bytes.
fn bytes_written(mount: &Path) -> u64 {
    let device = std::fs::metadata(mount).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let counters = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).unwrap();
    counters.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
}

#[test]
fn a_check_that_is_interrupted_is_resumed() {
    const TEST: &str = "a_check_that_is_interrupted_is_resumed";
    let _lab = lab!(TEST, Lab::share());
    let limits = assay_lab::Limits { write_bytes: Some(40 << 20), ..assay_lab::Limits::default() };
    let card = lab!(TEST, assay_lab::LimitedCard::new(256 * MIB, limits));
    let place = Place::new();
    let medium = card.path().to_str().unwrap();
    let mut command = card.command(Path::new(crate::common::ASSAY), &["verify", "--json", medium]);
    place.at_home(&mut command);
    let before = bytes_written(card.path());
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_for("a good part", || bytes_written(card.path()) > before + 32 * MIB);
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut text = String::new();
    io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let cut: Record = serde_json::from_str(&text).unwrap();
    assert!(matches!(cut.outcome, Outcome::Failed { failure: RunFailure::Interrupted, .. }), "{:?}", cut.outcome);
    assert!(cut.warnings.iter().any(|w| matches!(w.finding, Finding::CheckUnfinished { .. })));
    let first = cut.settings().unwrap().written_bytes;
    assert!(first > 20 * MIB, "{first}");

    let mut command = place.assay(["verify", "--resume", "--json"]);
    command.arg(card.path());
    let done = run(command);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let record = record(&done);
    assert_eq!(found(&record).verdict, Verdict::Genuine);
    // What drives out caches is written beside it, as in every check.
    assert!(record.settings().unwrap().written_bytes < 256 * MIB - first + 65 * MIB, "nothing twice: {first}");
    assert_empty(card.path());
}

#[test]
fn a_medium_that_vanishes_keeps_what_was_checked() {
    const TEST: &str = "a_medium_that_vanishes_keeps_what_was_checked";
    let _lab = lab!(TEST, Lab::share());
    // So large that it is not full before it is pulled, however busy the machine is.
    let card = lab!(TEST, RemovableCard::formatted(4096 * MIB));
    let place = Place::new();
    let mut command = place.assay(["verify", "--json"]);
    command.arg(card.path());
    let before = bytes_written(card.path());
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_for("its first bytes", || bytes_written(card.path()) > before + 4 * MIB);
    card.pull().unwrap();
    let mut text = String::new();
    io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    let code = child.wait().unwrap().code();
    let record: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(code, Some(3), "{:?}", record.outcome);
    assert!(record.outcome.medium_failed(), "{:?}", record.outcome);
    assert_ne!(found(&record).verdict, Verdict::Genuine);
}

/// Full and quick check sent their user from one to the other and back.
#[test]
fn a_device_too_small_for_any_check_is_told_the_same_by_both() {
    const TEST: &str = "a_device_too_small_for_any_check_is_told_the_same_by_both";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    for (bytes, advice) in [(1536, "name the whole device"), (MIB, "add --quick")] {
        let image = place.file("small.img", vec![0; bytes as usize]);
        let device = lab!(TEST, LoopDevice::attach(&image, false));
        let mut command = place.assay(["verify"]);
        command.arg(device.path());
        run(command).refuses(2, &[advice]);
        if bytes < MIB {
            let mut command = place.assay(["verify", "--quick"]);
            command.arg(device.path());
            run(command).refuses(2, &[advice]);
        }
    }
}

#[test]
fn bad_input_is_one_line() {
    let place = Place::new();
    place.file("plain", "x");
    let cases: [(&[&str], i32, &str); 13] = [
        (&["verify", "-o", "x.svg", "medium"], 2, "no picture of its own"),
        (&["verify", "nowhere"], 2, "nowhere"),
        (&["verify", "--quick", "/nope"], 2, "/nope"),
        (&["verify", "plain"], 2, "not a directory"),
        (&["verify", "--resume", "medium"], 2, "no interrupted check"),
        (&["verify", "--only", "read", "medium"], 2, "no files"),
        (&["verify", "--restore", "x", "medium"], 2, "is not a device"),
        (&["verify", "--quick", "--journal", "j", "medium"], 2, "is not a device"),
        (&["verify", "--quick", "--keep", "medium"], 2, "cannot be used with"),
        // Where the host or its records live, filling asks first; without a directory, too.
        (&["verify", "medium"], 2, "--fill-system"),
        (&["verify"], 2, "--fill-system"),
        (&["verify", "--quick", "medium"], 2, "--fill-system"),
        (&["verify", "--quick", "--content", "f3", "medium"], 2, "cannot be used with"),
    ];
    for (arguments, code, words) in cases {
        let done = run(place.assay(arguments));
        assert_eq!(done.code, Some(code), "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(words), "{arguments:?}: {}", done.stderr);
    }
    assert_empty(&place.medium());
}
