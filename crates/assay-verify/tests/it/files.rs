//! The full check on directories and real devices, and against f3.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::{Doubt, FakeKind, NoDirect, Offsets, ReadBack, SectorClass, SectorCounts, Verdict};
use assay_engine::Control;
use assay_lab::media::{Layout, MediumSpec, SharedMedium};
use assay_lab::{FakeCard, FastDevice, Lab, Missing, Mount, RemovableCard, lab, skip};
use assay_verify::files::{
    CheckPhase, CheckPlan, CheckSettings, Checked, DIRECTORY, FileFormat, VerifyError, check, fill, remove,
};
use assay_verify::quick::{self, Quick};

const MIB: u64 = 1 << 20;

fn limited(mib: u64) -> CheckSettings {
    CheckSettings { limit_bytes: Some(mib * MIB), ..CheckSettings::default() }
}

fn run(target: &Path, settings: &CheckSettings) -> Checked {
    let plan = CheckPlan::new(target, settings).unwrap();
    check(&plan, settings, &Control::default(), &mut |_| {}).unwrap()
}

/// Stops soon after a phase has begun.
fn stopped_in(target: &Path, settings: &CheckSettings, phase: CheckPhase) -> Checked {
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
    let checked = run(target.path(), &CheckSettings { direct: false, ..limited(20) });
    let found = checked.verification;
    assert_eq!((found.verdict, found.counts.good), (Verdict::Genuine, 20 * 2048));
    assert_eq!(found.read_back, ReadBack::Cached { because: NoDirect::Asked, dropped: true });
}

#[test]
fn kept_files_are_read_by_f3_and_damaged_ones_count_the_same() {
    const TEST: &str = "kept_files_are_read_by_f3_and_damaged_ones_count_the_same";
    let target = tempfile::tempdir().unwrap();
    std::fs::write(target.path().join("7.h2w"), b"not ours").unwrap();
    let keep = CheckSettings { keep: true, format: FileFormat::F3, ..limited(8) };
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

    let read = CheckSettings { only_read: true, ..CheckSettings::default() };
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

    let until = CheckSettings { until_first_error: true, ..read };
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
    let whole = run(device.path(), &CheckSettings { keep: true, format: FileFormat::F3, ..CheckSettings::default() });
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
    assert!(matches!(CheckPlan::new(device.path(), &CheckSettings::default()), Err(VerifyError::Full { .. })));
    let read = CheckSettings { only_read: true, ..CheckSettings::default() };
    let checked = run(device.path(), &read);
    assert_eq!(checked.verification.counts.good, theirs.len() as u64 / 512);
    assert_eq!(checked.verification.read_back, ReadBack::Direct);
    assert_eq!(entries(device.path()), ["1.h2w"]);

    device_refuses(device.path());
}

/// On a device that is mounted read-only, only existing files can be checked.
fn device_refuses(path: &Path) {
    let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(path).status().unwrap();
    assert!(mounted.success());
    assert!(matches!(CheckPlan::new(path, &CheckSettings::default()), Err(VerifyError::ReadOnly(_))));
    let read = CheckSettings { only_read: true, ..limited(4) };
    assert_eq!(run(path, &read).verification.checked_bytes, 4 * MIB);
}

#[test]
fn an_interrupted_check_goes_on_where_it_was() {
    let target = tempfile::tempdir().unwrap();
    let size = 96;
    let first = stopped_in(target.path(), &limited(size), CheckPhase::Write);
    assert_eq!(failure(&first), Some(RunFailure::Interrupted));
    let written = first.verification.written_bytes;
    assert!(written > 0 && written < size * MIB, "{written}");
    assert_eq!(first.verification.verdict, Verdict::Undecided);
    assert!(first.left.is_some());

    let resume = CheckSettings { resume: true, ..CheckSettings::default() };
    let plan = CheckPlan::new(target.path(), &resume).unwrap();
    assert_eq!(plan.write_bytes, size * MIB - written);
    assert!(plan.whole_bytes > size * MIB, "what the limit left out is not forgotten: {}", plan.whole_bytes);
    let second = stopped_in(target.path(), &resume, CheckPhase::Read);
    assert_eq!(second.verification.written_bytes, size * MIB - written, "nothing is written twice");
    let read = second.verification.checked_bytes;
    assert!(read > 0 && read < size * MIB, "{read}");

    let third = run(target.path(), &resume);
    // The writes that evict caches are repeated in each case.
    assert_eq!((third.verification.written_bytes, third.verification.write.clone()), (size / 2 * MIB, None));
    assert_eq!(third.verification.read.clone().unwrap().bytes, size * MIB - read, "nothing is read twice");
    assert_eq!(third.verification.counts.good, size * 2048, "what was found before is remembered");
    assert_eq!((third.verification.verdict, third.left), (Verdict::Genuine, None));
    let all = third.verification.area_bytes.unwrap_or(third.verification.announced_bytes);
    assert!(all > size * MIB, "a part is not called all of the free space: {all}");
    assert!(matches!(CheckPlan::new(target.path(), &resume), Err(VerifyError::NothingToResume(_))));
}

fn only_read() -> CheckSettings {
    CheckSettings { only_read: true, ..CheckSettings::default() }
}

/// What was not written yet is no loss, and a place that was to be written again may hold either content.
#[test]
fn files_of_a_check_that_has_not_ended_are_not_judged() {
    for phase in [CheckPhase::Write, CheckPhase::Read] {
        let target = tempfile::tempdir().unwrap();
        let first = stopped_in(target.path(), &limited(64), phase);
        assert_eq!(failure(&first), Some(RunFailure::Interrupted));
        for path in [target.path().to_owned(), target.path().join(DIRECTORY)] {
            let refused = CheckPlan::new(&path, &only_read()).unwrap_err();
            assert!(matches!(refused, VerifyError::Unfinished(_)), "{phase:?}: {refused}");
        }
        let resumed = run(target.path(), &CheckSettings { resume: true, ..CheckSettings::default() });
        assert_eq!(resumed.verification.verdict, Verdict::Genuine);
    }
}

#[test]
fn files_of_a_check_under_way_are_not_read() {
    let target = tempfile::tempdir().unwrap();
    let settings = limited(64);
    let plan = CheckPlan::new(target.path(), &settings).unwrap();
    let mut refused = Vec::new();
    check(&plan, &settings, &Control::default(), &mut |_| {
        refused.extend(CheckPlan::new(target.path(), &only_read()).err());
    })
    .unwrap();
    assert!(!refused.is_empty() && refused.iter().all(|why| matches!(why, VerifyError::Busy(_))), "{refused:?}");
}

/// Without the salt nobody knows what was written.
#[test]
fn kept_files_are_not_judged_without_their_state() {
    let target = tempfile::tempdir().unwrap();
    run(target.path(), &CheckSettings { keep: true, ..limited(8) });
    let state = target.path().join(DIRECTORY).join("state.json");
    let whole = std::fs::read(&state).unwrap();
    for text in [&whole[..100], b""] {
        std::fs::write(&state, text).unwrap();
        for path in [target.path().to_owned(), target.path().join(DIRECTORY)] {
            let refused = CheckPlan::new(&path, &only_read()).unwrap_err().to_string();
            assert!(refused.contains("state.json: with content that assay does not write"), "{refused}");
        }
    }
    std::fs::remove_file(&state).unwrap();
    for path in [target.path().to_owned(), target.path().join(DIRECTORY)] {
        let refused = CheckPlan::new(&path, &only_read()).unwrap_err();
        assert!(matches!(refused, VerifyError::NoState(_)), "{refused}");
    }
    assert!(matches!(remove(target.path()), Err(VerifyError::NoState(_))));
    std::fs::write(&state, whole).unwrap();
    assert_eq!(run(target.path(), &only_read()).verification.verdict, Verdict::Genuine);
}

/// As a user does, or a repair of the file system after a power cut.
#[test]
fn files_that_went_between_two_sessions_are_in_doubt_and_no_loss() {
    type Act = fn(&Path);
    let acts: [(&str, Act); 3] = [
        ("removed", |file| std::fs::remove_file(file).unwrap()),
        ("cut", |file| File::options().write(true).open(file).unwrap().set_len(MIB).unwrap()),
        ("replaced", |file| {
            let bytes = std::fs::metadata(file).unwrap().len();
            // Creation times of less than 20 ms apart are taken for one.
            std::thread::sleep(Duration::from_millis(50));
            std::fs::remove_file(file).unwrap();
            File::create(file).unwrap().set_len(bytes).unwrap();
        }),
    ];
    for (phase, (what, does)) in
        [CheckPhase::Write, CheckPhase::Read].into_iter().flat_map(|phase| acts.map(|act| (phase, act)))
    {
        let target = tempfile::tempdir().unwrap();
        if what == "replaced" && std::fs::metadata(target.path()).unwrap().created().is_err() {
            continue;
        }
        let first = stopped_in(target.path(), &limited(64), phase);
        assert!(first.verification.written_bytes > MIB, "{phase:?}");
        let file = target.path().join(DIRECTORY).join("1.h2w");
        let aside = std::fs::read(&file).unwrap();
        does(&file);
        let resume = CheckSettings { resume: true, ..CheckSettings::default() };
        let found = run(target.path(), &resume);
        assert_eq!(
            (found.outcome.clone(), found.verification.counts.lost()),
            (Outcome::Completed, 0),
            "{phase:?} {what}"
        );
        let judged = (found.verification.verdict, found.verification.doubt);
        assert_eq!(judged, (Verdict::Undecided, Some(Doubt::FilesMissing)), "{phase:?} {what}");
        assert!(found.resumable && found.verification.written_bytes == 0, "{phase:?} {what}");
        if what == "cut" {
            std::fs::write(&file, aside).unwrap();
            assert_eq!(run(target.path(), &resume).verification.verdict, Verdict::Genuine, "as it was");
        }
    }
}

#[test]
fn kept_files_that_are_missing_leave_a_doubt_and_their_bytes_unread() {
    let target = tempfile::tempdir().unwrap();
    let size = 8 * MIB;
    run(target.path(), &CheckSettings { keep: true, ..limited(8) });
    let file = target.path().join(DIRECTORY).join("1.h2w");
    let whole = std::fs::read(&file).unwrap();
    File::options().write(true).open(&file).unwrap().set_len(size / 2).unwrap();
    let found = run(target.path(), &only_read()).verification;
    assert_eq!((found.verdict, found.doubt), (Verdict::Undecided, Some(Doubt::FilesMissing)));
    let all = found.area_bytes.unwrap_or(found.announced_bytes);
    assert_eq!((found.checked_bytes, all, found.counts.lost()), (size / 2, size, 0));
    // What is there and lost is a loss all the same.
    let mut half = whole[..size as usize / 2].to_vec();
    half[4096..8192].fill(0);
    std::fs::write(&file, &half).unwrap();
    let found = run(target.path(), &only_read()).verification;
    assert_eq!((found.verdict, found.counts.corrupted), (Verdict::Damaged, 8));
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(CheckPlan::new(target.path(), &only_read()), Err(VerifyError::NothingToRead(_))));
    // A copy holds what was written; other content is not the medium's doing.
    std::thread::sleep(Duration::from_millis(50));
    std::fs::write(&file, &whole).unwrap();
    assert_eq!(run(target.path(), &only_read()).verification.verdict, Verdict::Genuine);
    if std::fs::metadata(&file).unwrap().created().is_ok() {
        std::fs::write(&file, vec![0; whole.len()]).unwrap();
        let found = run(target.path(), &only_read()).verification;
        assert_eq!((found.verdict, found.doubt), (Verdict::Undecided, Some(Doubt::FilesMissing)));
    }
}

#[test]
fn what_an_interrupted_check_left_is_recognised_and_removed() {
    let target = tempfile::tempdir().unwrap();
    let first = stopped_in(target.path(), &limited(64), CheckPhase::Write);
    assert!(first.left.unwrap().join("1.h2w").exists());
    assert_eq!(run(target.path(), &limited(4)).verification.counts.good, 4 * 2048);
    assert_eq!(entries(target.path()), Vec::<String>::new());
}

#[test]
fn a_target_that_cannot_be_checked_says_so() {
    let target = tempfile::tempdir().unwrap();
    let file = target.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let settings = CheckSettings::default();
    assert!(matches!(CheckPlan::new(&file, &settings), Err(VerifyError::NotDirectory(_))));
    let missing = CheckPlan::new(&target.path().join("nowhere"), &settings).unwrap_err();
    assert!(missing.to_string().contains("No such file"), "{missing}");
    let read = CheckSettings { only_read: true, ..CheckSettings::default() };
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
        let refused = CheckPlan::new(Path::new(&target), &CheckSettings::default());
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
    let settings = CheckSettings { hang_after: Duration::from_secs(20), ..limited(160) };
    let plan = CheckPlan::new(card.path(), &settings).unwrap();
    let mut acted = false;
    check(&plan, &settings, &Control::default(), &mut |progress| {
        if progress.phase == CheckPhase::Write && !acted {
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

// Full and quick check of mounted fakes: vfat and ext4 on devices that announce four times their real size.

const ANNOUNCED: u64 = 96 * MIB;
const REAL: u64 = ANNOUNCED / 4;

fn card(spec: &MediumSpec) -> Result<FakeCard, Missing> {
    FakeCard::new(SharedMedium::new(spec.build().unwrap()))
}

/// The fake, formatted and mounted below `directory`; dropped in order.
fn mounted(directory: &Path) -> Result<(Mount, FakeCard), Missing> {
    let card = card(&MediumSpec::limbo(ANNOUNCED, REAL).blank())?;
    let made = Command::new("mkfs.vfat").arg(card.path()).output();
    made.map_err(|_| Missing("needs mkfs.vfat (package dosfstools)".to_owned()))?;
    Ok((Mount::existing(card.path(), &directory.join("mnt"), "rw")?, card))
}

#[test]
fn a_full_check_finds_the_real_capacity_of_a_mounted_fake() {
    const TEST: &str = "a_full_check_finds_the_real_capacity_of_a_mounted_fake";
    let _lab = lab!(TEST, Lab::share());
    let directory = tempfile::tempdir().unwrap();
    let (mount, _card) = lab!(TEST, mounted(directory.path()));
    let plan = CheckPlan::new(mount.path(), &CheckSettings::default()).unwrap();
    let checked = check(&plan, &CheckSettings::default(), &Control::default(), &mut |_| {}).unwrap();
    let found = checked.verification;
    assert_eq!(
        (found.verdict, found.kind, &checked.outcome),
        (Verdict::Fake, Some(FakeKind::Limbo), &Outcome::Completed)
    );
    // The tables of the file system take less than 1 MiB of the real part.
    let real = found.real_bytes.unwrap();
    assert!((REAL - MIB..=REAL).contains(&real), "{real}");
    assert_eq!(found.first_error.unwrap().offset_bytes, real);
}

#[test]
fn a_quick_check_finds_a_mounted_fake_with_little_writing() {
    const TEST: &str = "a_quick_check_finds_a_mounted_fake_with_little_writing";
    let _lab = lab!(TEST, Lab::share());
    let directory = tempfile::tempdir().unwrap();
    let (mount, _card) = lab!(TEST, mounted(directory.path()));
    let checked = quick::check(mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {}).unwrap();
    let found = checked.verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{}", assay_lab::outline(&found));
    assert!(found.written_bytes <= 8 * 4096, "stopped at the first proof: {}", found.written_bytes);
    assert_eq!(checked.left, None);
}

/// File systems by the commands that make them. The last one keeps its tables at its beginning, so that it can be
/// mounted on a fake. Those of the others may be destroyed while they are made.
const SYSTEMS: [&[&str]; 3] = [
    &["mkfs.vfat"],
    &["mkfs.ext4", "-q", "-F", "-m0", "-Elazy_itable_init=0,lazy_journal_init=0"],
    &["mkfs.ext4", "-q", "-F", "-m0", "-b4096", "-O^has_journal,^resize_inode", "-N64"],
];

/// Runs `work` on a mounted fake of each kind that destroys its own file system. In any case it must end in time and
/// never be genuine. If the tables survive until they are no longer read, `judge` also examines the result.
fn on_destroyed(test: &str, work: fn(&Path) -> Result<Checked, VerifyError>, judge: fn(&str, FakeKind, &Checked)) {
    let _lab = lab!(test, Lab::share());
    for (layout, kind) in [
        (Layout::wraparound(REAL), FakeKind::Wraparound),
        (Layout::chain(REAL, REAL / 2), FakeKind::Chain),
        (Layout::first(REAL), FakeKind::Limbo),
    ] {
        for (index, command) in SYSTEMS.into_iter().enumerate() {
            let directory = tempfile::tempdir().unwrap();
            let card = lab!(test, card(&MediumSpec::laid_out(ANNOUNCED, layout.clone())));
            let made = Command::new(command[0]).args(&command[1..]).arg(card.path()).output();
            lab!(test, made.map_err(|_| Missing(format!("needs {}", command[0]))));
            let lasting = index == SYSTEMS.len() - 1;
            let mount = match Mount::existing(card.path(), &directory.path().join("mnt"), "rw") {
                Ok(mount) => mount,
                Err(missing) if lasting => return skip(test, &missing),
                // Destroyed already, or a file system that this kernel does not support.
                Err(_) => continue,
            };
            let (start, what) = (Instant::now(), format!("{kind:?}, {command:?}"));
            match work(mount.path()) {
                Ok(checked) => {
                    assert_ne!(checked.verification.verdict, Verdict::Genuine, "{what}: {checked:?}");
                    if lasting {
                        judge(&what, kind, &checked);
                    }
                }
                Err(error) => assert!(!lasting, "{what}: {error}"),
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{what}: {:?}", start.elapsed());
        }
    }
}

#[test]
fn a_full_check_of_a_fake_that_destroys_its_file_system_ends_with_an_answer() {
    on_destroyed(
        "a_full_check_of_a_fake_that_destroys_its_file_system_ends_with_an_answer",
        |path| {
            let settings = CheckSettings { hang_after: Duration::from_secs(10), ..CheckSettings::default() };
            check(&CheckPlan::new(path, &settings)?, &settings, &Control::default(), &mut |_| {})
        },
        |what, kind, checked| {
            let found = &checked.verification;
            assert_eq!(
                (found.verdict, found.kind),
                (Verdict::Fake, Some(kind)),
                "{what}: {}",
                assay_lab::outline(found)
            );
            // Later laps overwrite the tables too, so that all of the memory is counted. In a limbo this leaves out the
            // tables, less than 1 MiB, and the space left free, 1.5 MiB of a 64th, which ext4 leaves at the beginning.
            let (expected, less) = match kind {
                FakeKind::Chain => (REAL / 2, MIB),
                FakeKind::Limbo => (REAL, 3 * MIB),
                _ => (REAL, MIB),
            };
            let within = match (found.real_bytes, found.real_low_bytes, found.real_high_bytes) {
                (Some(real), ..) => (expected - less..=expected + MIB).contains(&real),
                (None, Some(low), Some(high)) => (low..=high).contains(&expected),
                _ => false,
            };
            assert!(within, "{what}: {}", assay_lab::outline(found));
            assert_eq!(found.offsets, Offsets::Device, "{what}: the file system tells addresses");
            let mut mapped = SectorCounts::default();
            found.map.iter().for_each(|cell| mapped.merge(&cell.counts));
            assert_eq!(mapped, found.counts, "{what}");
            let lost = found.map.iter().find(|cell| cell.counts.lost() > 0).unwrap();
            let first = found.first_error.as_ref().unwrap().offset_bytes;
            assert!((lost.offset_bytes..lost.offset_bytes + lost.bytes).contains(&first), "{what}: {first}, {lost:?}");
            assert_eq!(checked.outcome, Outcome::Completed, "{what}");
        },
    );
}

#[test]
fn a_quick_check_of_a_fake_that_destroys_its_file_system_ends_with_an_answer() {
    on_destroyed(
        "a_quick_check_of_a_fake_that_destroys_its_file_system_ends_with_an_answer",
        |path| quick::check(path, &Quick::default(), &Control::default(), &mut |_, _| {}),
        |what, _, checked| {
            let found = &checked.verification;
            assert_eq!(found.verdict, Verdict::Fake, "{what}: {}", assay_lab::outline(found));
        },
    );
}

// Full checks that are killed and resumed.

const AREA: u64 = 384 * MIB;
/// The end of it, which is read after caches were evicted; everything before is one pass.
const TAIL: u64 = 64 * MIB;
/// Instead of half a minute.
const EVERY: Duration = Duration::from_millis(20);

fn resume() -> CheckSettings {
    CheckSettings { resume: true, save_every: EVERY, ..CheckSettings::default() }
}

/// Runs this test in a process of its own, which performs a check until it is killed.
fn child(test: &str, target: &Path, resumed: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("files::{test}"), "--nocapture"])
        .env("CHECKED_TARGET", target)
        .env("CHECK_RESUMED", if resumed { "1" } else { "0" })
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Bytes written and bytes read, according to the state on the medium.
fn saved(target: &Path) -> Option<(u64, u64)> {
    let text = std::fs::read(target.join(DIRECTORY).join("state.json")).ok()?;
    let state: serde_json::Value = serde_json::from_slice(&text).ok()?;
    Some((state["written_bytes"].as_u64()?, state["read"][0].as_u64().unwrap_or(0)))
}

/// Kills the child, `late` after the state meets `when`. Returns the state.
fn killed(mut child: Child, target: &Path, when: impl Fn((u64, u64)) -> bool, late: Duration) -> Option<(u64, u64)> {
    let start = Instant::now();
    while !saved(target).is_some_and(&when) && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was saved");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(late);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    saved(target)
}

#[test]
fn killed_at_any_moment_it_goes_on_from_what_was_saved() {
    const TEST: &str = "killed_at_any_moment_it_goes_on_from_what_was_saved";
    if let Some(target) = std::env::var_os("CHECKED_TARGET") {
        let new = CheckSettings { limit_bytes: Some(AREA), save_every: EVERY, ..CheckSettings::default() };
        run(Path::new(&target), &if std::env::var_os("CHECK_RESUMED").unwrap() == "1" { resume() } else { new });
        return;
    }
    let (mut in_write, mut in_read) = (0, 0);
    for moment in 0..4u64 {
        let target = tempfile::tempdir().unwrap();
        let path = target.path();
        let late = Duration::from_millis(moment * 17);
        let Some((written, 0)) = killed(child(TEST, path, false), path, |(written, _)| written > 0, late) else {
            continue;
        };
        in_write += u64::from(written < AREA);
        // Data that count as written are not written again, so damage there is found.
        let spoiled = moment == 3 && written > 0;
        if spoiled {
            let file = std::fs::File::options().write(true).open(path.join(DIRECTORY).join("1.h2w")).unwrap();
            file.write_all_at(&[0; 4096], written - 8192).unwrap();
        }
        assert_eq!(CheckPlan::new(path, &resume()).unwrap().write_bytes, AREA - written);

        // A second time, while it reads.
        let (again, read) = killed(child(TEST, path, true), path, |(_, read)| read > 0, late).unwrap_or((AREA, AREA));
        if read == AREA {
            continue;
        }
        in_read += u64::from(read < AREA - TAIL);
        assert!(again == AREA && read > 0, "{again} {read}");
        let last = run(path, &resume());
        let found = &last.verification;
        // Only the writes that evict caches; if something is lost, they are repeated after the retry.
        let out = if spoiled { 2 * TAIL } else { TAIL };
        assert_eq!((found.written_bytes, last.outcome, last.left), (out, Outcome::Completed, None));
        assert_eq!(found.read.as_ref().map_or(0, |pass| pass.bytes), AREA - read, "nothing is read twice");
        assert_eq!(found.checked_bytes, AREA);
        assert_eq!(found.counts.lost(), if spoiled { 8 } else { 0 });
        assert_eq!(
            found.verdict,
            if spoiled { Verdict::Damaged } else { Verdict::Genuine },
            "{}",
            assay_lab::outline(found)
        );
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0, "files are removed at the end");
    }
    // On a fast host some children end before they are killed, but not all.
    assert!(in_write > 0 && in_read > 0, "{in_write} {in_read}");
}
