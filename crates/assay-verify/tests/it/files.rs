//! The full check on directories and real devices, and against f3.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::{SectorClass, SectorCounts, Verdict};
use assay_engine::Control;
use assay_lab::{FastDevice, Lab, Missing, RemovableCard, lab, skip};
use assay_verify::files::{CheckPlan, Checked, DIRECTORY, Format, Phase, Settings, VerifyError, check, fill};

const MIB: u64 = 1 << 20;

fn limited(mib: u64) -> Settings {
    Settings { limit_bytes: Some(mib * MIB), ..Settings::default() }
}

fn run(target: &Path, settings: &Settings) -> Checked {
    let plan = CheckPlan::new(target, settings).unwrap();
    check(&plan, settings, &Control::default(), &mut |_| {}).unwrap()
}

/// Stops soon after a phase has begun.
fn stopped_in(target: &Path, settings: &Settings, phase: Phase) -> Checked {
    let control = Control::default();
    let plan = CheckPlan::new(target, settings).unwrap();
    check(&plan, settings, &control, &mut |progress| {
        if progress.phase == phase {
            control.stop();
        }
    })
    .unwrap()
}

fn failure(checked: &Checked) -> Option<RunFailure> {
    match &checked.outcome {
        Outcome::Failed { failure, .. } => Some(*failure),
        _ => None,
    }
}

/// The counts of f3read, or the missing requirement.
fn f3read(directory: &Path) -> Result<SectorCounts, Missing> {
    let output = Command::new("f3read").arg(directory).output();
    let output = output.map_err(|_| Missing("needs f3read (package f3)".to_owned()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut counts = SectorCounts::default();
    for line in text.lines().filter(|line| line.starts_with("Validating file")) {
        let last = line.rsplit('\r').next().unwrap().rsplit("...").next().unwrap();
        let numbers: Vec<u64> = last.split('/').filter_map(|n| n.split_whitespace().next()?.parse().ok()).collect();
        assert_eq!(numbers.len(), 4, "{line}");
        counts.good += numbers[0];
        counts.corrupted += numbers[1];
        counts.changed += numbers[2];
        counts.overwritten += numbers[3];
    }
    assert!(counts.total() > 0, "{text}");
    Ok(counts)
}

fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "lost+found")
        .collect();
    names.sort();
    names
}

#[test]
fn a_good_medium_is_genuine_and_clean_afterwards() {
    let target = tempfile::tempdir().unwrap();
    let checked = run(target.path(), &limited(20));
    let found = &checked.verification;
    assert_eq!((found.verdict, checked.outcome.clone(), checked.left), (Verdict::Genuine, Outcome::Completed, None));
    assert_eq!(found.counts, SectorCounts { good: 20 * 2048, ..SectorCounts::default() });
    assert_eq!((found.checked_bytes, found.written_bytes), (20 * MIB, 30 * MIB));
    assert_eq!(found.real_bytes, None, "a part tells nothing of the whole");
    for pass in [&found.write, &found.read] {
        let pass = pass.as_ref().unwrap();
        assert_eq!((pass.bytes, pass.speed.iter().map(|part| part.bytes).sum()), (20 * MIB, 20 * MIB));
    }
    assert!(found.announced_bytes > found.checked_bytes, "{}", found.announced_bytes);
    assert_eq!(entries(target.path()), Vec::<String>::new());
}

#[test]
fn through_the_page_cache_it_says_how_the_data_came_from_the_medium() {
    let target = tempfile::tempdir().unwrap();
    let checked = run(target.path(), &Settings { direct: false, ..limited(20) });
    let found = checked.verification;
    assert_eq!((found.verdict, found.counts.good), (Verdict::Genuine, 20 * 2048));
    assert!(found.read_back.contains("POSIX_FADV_DONTNEED"), "{}", found.read_back);
}

#[test]
fn kept_files_are_read_by_f3_and_damaged_ones_count_the_same() {
    const TEST: &str = "kept_files_are_read_by_f3_and_damaged_ones_count_the_same";
    let target = tempfile::tempdir().unwrap();
    std::fs::write(target.path().join("7.h2w"), b"not ours").unwrap();
    let keep = Settings { keep: true, format: Format::F3, ..limited(8) };
    assert_eq!(CheckPlan::new(target.path(), &keep).unwrap().foreign, ["7.h2w"]);
    let checked = run(target.path(), &keep);
    let directory = checked.left.unwrap();
    assert_eq!(directory, target.path().canonicalize().unwrap().join(DIRECTORY));
    assert!(matches!(CheckPlan::new(target.path(), &limited(8)), Err(VerifyError::Kept(_))));
    let ours = lab!(TEST, f3read(&directory));
    assert_eq!(ours, checked.verification.counts);

    let file = File::options().read(true).write(true).open(directory.join("1.h2w")).unwrap();
    let put = |sector: u64, of: u64, wrong_words: &[u64]| {
        let mut data = [0; 512];
        fill(&mut data, of);
        for word in wrong_words {
            data[*word as usize * 8 + 3] ^= 0x40;
        }
        file.write_all_at(&data, sector * 512).unwrap();
    };
    put(3, 3 * 512, &[1]); // slightly changed
    put(4, 4 * 512, &[5, 63]); // slightly changed
    put(5, 5 * 512, &[5, 6, 63]); // corrupted
    put(6, 6 * 512, &[0]); // corrupted
    put(7, 99 * 512, &[]); // overwritten
    put(8, 99 * 512, &[1, 2]); // overwritten
    put(9, 99 * 512, &[1, 2, 3]); // corrupted
    put(10, 1, &[]); // overwritten, by what never was
    put(11, 1 << 50, &[]); // overwritten, from beyond
    file.write_all_at(&[0; 4096], 0x10_0000).unwrap(); // 8 corrupted
    file.write_all_at(&[0xff; 512], 0x20_0000).unwrap(); // corrupted
    file.sync_all().unwrap();
    drop(file);

    let read = Settings { only_read: true, ..Settings::default() };
    let again = run(target.path(), &read);
    let theirs = f3read(&directory).unwrap();
    assert_eq!(again.verification.counts, theirs);
    let expected =
        SectorCounts { good: 8 * 2048 - 18, changed: 2, overwritten: 4, corrupted: 12, ..SectorCounts::default() };
    assert_eq!(theirs, expected);
    let first = again.verification.first_error.clone().unwrap();
    assert_eq!((first.offset_bytes, first.class), (3 * 512, SectorClass::Changed));
    assert_eq!(again.verification.verdict, Verdict::Damaged);
    assert_eq!(again.verification.written_bytes, 0);

    let until = Settings { until_first_error: true, ..read };
    let until = run(target.path(), &until);
    assert!(until.verification.checked_bytes < 8 * MIB, "{}", until.verification.checked_bytes);
    assert_eq!(until.verification.first_error, again.verification.first_error);
    assert_eq!(std::fs::read(target.path().join("7.h2w")).unwrap(), b"not ours");
}

#[test]
fn a_whole_device_filled_by_f3_is_the_same_byte_for_byte() {
    const TEST: &str = "a_whole_device_filled_by_f3_is_the_same_byte_for_byte";
    let _lab = lab!(TEST, Lab::share());
    // Also smaller than 64 MiB.
    let device = lab!(TEST, FastDevice::new(48 * MIB));
    let whole = run(device.path(), &Settings { keep: true, format: Format::F3, ..Settings::default() });
    assert_eq!((whole.verification.verdict, &whole.outcome), (Verdict::Genuine, &Outcome::Completed));
    let ours = std::fs::read(whole.left.unwrap().join("1.h2w")).unwrap();
    assert!(ours.len() as u64 > 24 * MIB && (ours.len() as u64).is_multiple_of(MIB));
    std::fs::remove_dir_all(device.path().join(DIRECTORY)).unwrap();
    let wrote = Command::new("f3write").arg(device.path()).output();
    lab!(TEST, wrote.map_err(|_| Missing("needs f3write (package f3)".to_owned())));
    let theirs = std::fs::read(device.path().join("1.h2w")).unwrap();
    let both = ours.len().min(theirs.len());
    assert!(both > 20 << 20 && ours[..both] == theirs[..both]);

    // f3 left no free space; its files are read and kept.
    assert!(matches!(CheckPlan::new(device.path(), &Settings::default()), Err(VerifyError::Full { .. })));
    let read = Settings { only_read: true, ..Settings::default() };
    let checked = run(device.path(), &read);
    assert_eq!(checked.verification.counts.good, theirs.len() as u64 / 512);
    assert_eq!(checked.verification.read_back, "direct I/O: reads go past the page cache to the medium");
    assert_eq!(entries(device.path()), ["1.h2w"]);

    device_refuses(device.path());
}

/// On a device that is mounted read-only, only existing files can be checked.
fn device_refuses(path: &Path) {
    let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(path).status().unwrap();
    assert!(mounted.success());
    assert!(matches!(CheckPlan::new(path, &Settings::default()), Err(VerifyError::ReadOnly(_))));
    let read = Settings { only_read: true, ..limited(4) };
    assert_eq!(run(path, &read).verification.checked_bytes, 4 * MIB);
}

#[test]
fn an_interrupted_check_goes_on_where_it_was() {
    let target = tempfile::tempdir().unwrap();
    let size = 96;
    let first = stopped_in(target.path(), &limited(size), Phase::Write);
    assert_eq!(failure(&first), Some(RunFailure::Interrupted));
    let written = first.verification.written_bytes;
    assert!(written > 0 && written < size * MIB, "{written}");
    assert_eq!(first.verification.verdict, Verdict::Undecided);
    assert!(first.left.is_some());

    let resume = Settings { resume: true, ..Settings::default() };
    assert_eq!(CheckPlan::new(target.path(), &resume).unwrap().write_bytes, size * MIB - written);
    let second = stopped_in(target.path(), &resume, Phase::Read);
    assert_eq!(second.verification.written_bytes, size * MIB - written, "nothing is written twice");
    let read = second.verification.checked_bytes;
    assert!(read > 0 && read < size * MIB, "{read}");

    let third = run(target.path(), &resume);
    // The writes that evict caches are repeated in each case.
    assert_eq!((third.verification.written_bytes, third.verification.write.clone()), (size / 2 * MIB, None));
    assert_eq!(third.verification.read.clone().unwrap().bytes, size * MIB - read, "nothing is read twice");
    assert_eq!(third.verification.counts.good, size * 2048, "what was found before is remembered");
    assert_eq!((third.verification.verdict, third.left), (Verdict::Genuine, None));
    assert!(matches!(CheckPlan::new(target.path(), &resume), Err(VerifyError::NothingToResume(_))));
}

#[test]
fn what_an_interrupted_check_left_is_recognised_and_removed() {
    let target = tempfile::tempdir().unwrap();
    let first = stopped_in(target.path(), &limited(64), Phase::Write);
    assert!(first.left.unwrap().join("1.h2w").exists());
    assert_eq!(run(target.path(), &limited(4)).verification.counts.good, 4 * 2048);
    assert_eq!(entries(target.path()), Vec::<String>::new());
}

#[test]
fn a_target_that_cannot_be_checked_says_so() {
    let target = tempfile::tempdir().unwrap();
    let file = target.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let settings = Settings::default();
    assert!(matches!(CheckPlan::new(&file, &settings), Err(VerifyError::NotDirectory(_))));
    let missing = CheckPlan::new(&target.path().join("nowhere"), &settings).unwrap_err();
    assert!(missing.to_string().contains("No such file"), "{missing}");
    let read = Settings { only_read: true, ..Settings::default() };
    assert!(matches!(CheckPlan::new(target.path(), &read), Err(VerifyError::NothingToRead(_))));
    std::fs::create_dir(target.path().join(DIRECTORY)).unwrap();
    std::fs::write(target.path().join(DIRECTORY).join("diary"), b"").unwrap();
    let foreign = CheckPlan::new(target.path(), &settings).unwrap_err();
    assert!(matches!(foreign, VerifyError::Owned(_)), "{foreign:?}");
    assert!(foreign.to_string().contains("diary") && foreign.to_string().contains("move it away"), "{foreign}");
}

#[test]
fn no_permission_is_said_before_anything_is_written() {
    const TEST: &str = "no_permission_is_said_before_anything_is_written";
    if let Some(target) = std::env::var_os("ASSAY_TEST_UNPRIVILEGED") {
        let refused = CheckPlan::new(Path::new(&target), &Settings::default());
        assert!(matches!(refused, Err(VerifyError::Permission(_))), "{refused:?}");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return skip(TEST, &Missing("needs root".to_owned()));
    }
    // The directory can be read but not written.
    let target = tempfile::tempdir().unwrap();
    Command::new("chmod").arg("755").arg(target.path()).status().unwrap();
    let program = target.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(["--exact", &format!("files::{TEST}")]).env("ASSAY_TEST_UNPRIVILEGED", target.path());
    let output = command.current_dir("/").output();
    let output = lab!(TEST, output.map_err(|_| Missing("needs setpriv".to_owned())));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Runs `act` on the card while it is written.
fn in_the_middle(card: &RemovableCard, act: impl Fn()) -> Checked {
    let settings = Settings { hang_after: Duration::from_secs(20), ..limited(160) };
    let plan = CheckPlan::new(card.path(), &settings).unwrap();
    let mut acted = false;
    check(&plan, &settings, &Control::default(), &mut |progress| {
        if progress.phase == Phase::Write && !acted {
            acted = true;
            act();
        }
    })
    .unwrap()
}

#[test]
fn a_card_that_is_taken_out_has_disappeared() {
    const TEST: &str = "a_card_that_is_taken_out_has_disappeared";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, RemovableCard::formatted(256 * MIB));
    let checked = in_the_middle(&card, || {
        card.pull().unwrap();
        // Writes in flight extended the image again; afterwards nothing does.
        std::thread::sleep(Duration::from_millis(200));
        card.pull().unwrap();
    });
    assert_eq!(failure(&checked), Some(RunFailure::Disappeared), "{:?}", checked.outcome);
    assert!(checked.verification.written_bytes < 160 * MIB);
    assert_eq!(checked.verification.verdict, Verdict::Failed, "{}", assay_lab::outline(&checked.verification));
}

#[test]
fn a_card_that_turns_read_only_is_read_as_far_as_it_was_written() {
    const TEST: &str = "a_card_that_turns_read_only_is_read_as_far_as_it_was_written";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, RemovableCard::formatted(256 * MIB));
    let checked = in_the_middle(&card, || card.turn_read_only().unwrap());
    assert_eq!(failure(&checked), Some(RunFailure::ReadOnly), "{:?}", checked.outcome);
    assert!(checked.verification.written_bytes < 160 * MIB);
    assert_eq!(checked.verification.counts.lost(), 0);
}
