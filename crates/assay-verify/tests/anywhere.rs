//! The full and the quick check of a directory, on every system.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::path::Path;

use assay_core::outcome::Outcome;
use assay_core::verification::{Doubt, NoDirect, ReadBack, Verdict};
use assay_engine::Control;
use assay_verify::files::{
    CheckPlan, CheckSettings, Checked, DIRECTORY, FILE_BYTES, FileFormat, check, fill, left, remove,
};
use assay_verify::quick::{Quick, check as quick};

const MIB: u64 = 1 << 20;

fn limited(format: FileFormat, keep: bool) -> CheckSettings {
    CheckSettings { limit_bytes: Some(5 * MIB), format, keep, ..CheckSettings::default() }
}

fn run(target: &Path, settings: &CheckSettings) -> Checked {
    let plan = CheckPlan::new(target, settings).unwrap();
    check(&plan, settings, &Control::default(), &mut |_| {}).unwrap()
}

#[test]
fn a_directory_is_filled_checked_and_left_as_it_was() {
    let target = tempfile::tempdir().unwrap();
    let checked = run(target.path(), &limited(FileFormat::Salted, false));
    assert_eq!(checked.outcome, Outcome::Completed);
    assert_eq!(checked.verification.counts.good * 512, 5 * MIB, "{:?}", checked.verification);
    assert_eq!((checked.verification.counts.lost(), checked.left), (0, None));
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0);
}

/// For f3 and other systems: the layout of the files is that of f3, byte by byte.
#[test]
fn files_that_are_kept_have_the_bytes_of_f3_and_are_read_again() {
    let target = tempfile::tempdir().unwrap();
    let checked = run(target.path(), &limited(FileFormat::F3, true));
    assert_eq!(checked.outcome, Outcome::Completed);
    let file = target.path().join(DIRECTORY).join("1.h2w");
    let content = std::fs::read(&file).unwrap();
    let mut wanted = vec![0; 5 * MIB as usize];
    fill(&mut wanted, 0);
    assert!(content == wanted && FILE_BYTES == 1 << 30, "{} bytes", content.len());

    let again = CheckSettings { only_read: true, ..CheckSettings::default() };
    assert_eq!(run(target.path(), &again).verification.counts.good * 512, 5 * MIB);
    let mut damaged = content;
    damaged[3 * MIB as usize..][..512].fill(0);
    std::fs::write(&file, damaged).unwrap();
    let checked = run(target.path(), &again);
    assert_eq!(checked.verification.verdict, Verdict::Damaged, "{:?}", checked.verification);
    assert_eq!(checked.verification.counts.lost(), 1);

    assert!(left(target.path()).unwrap().unwrap().kept);
    remove(target.path()).unwrap().unwrap();
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0);
}

/// Data that may have come from a cache that cannot be emptied prove nothing about the medium.
#[test]
fn what_a_cache_may_have_answered_is_called_genuine_only_where_it_was_dropped() {
    let target = tempfile::tempdir().unwrap();
    let checked = run(target.path(), &CheckSettings { direct: false, ..limited(FileFormat::Salted, false) });
    let found = checked.verification;
    assert_eq!((checked.outcome, found.counts.good * 512), (Outcome::Completed, 5 * MIB));
    if cfg!(windows) {
        assert_eq!(found.verdict, Verdict::Undecided, "{:?}", found.doubt);
        assert_eq!(found.doubt, Some(Doubt::SystemKeepsData));
        assert!(found.reach.is_none(), "{:?}", found.reach);
    } else {
        assert_eq!(found.verdict, Verdict::Genuine, "{:?}", found.doubt);
    }
    assert_eq!(found.read_back, ReadBack::Cached { because: NoDirect::Asked, dropped: !cfg!(windows) });
}

#[test]
fn a_directory_is_no_place_for_two_checks_and_a_file_is_none() {
    let target = tempfile::tempdir().unwrap();
    let file = target.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    let words = CheckPlan::new(&file, &CheckSettings::default()).unwrap_err().to_string();
    assert!(words.contains("file") && !words.contains('\n'), "{words}");
    let missing = target.path().join("missing");
    let words = CheckPlan::new(&missing, &CheckSettings::default()).unwrap_err().to_string();
    assert!(words.contains("missing") && !words.contains('\n'), "{words}");
    let words = quick(&missing, &Quick::default(), &Control::default(), &mut |_, _| {}).unwrap_err().to_string();
    assert!(words.contains("missing") && !words.contains('\n'), "{words}");
}

/// A path must still lead to the directory that was opened: another medium may have its drive letter by now.
#[cfg(not(windows))] // a directory that is open cannot be renamed there
#[test]
fn another_directory_of_the_same_path_is_not_taken_for_the_one_that_is_open() {
    let above = tempfile::tempdir().unwrap();
    let path = above.path().join("card");
    std::fs::create_dir(&path).unwrap();
    let opened = assay_device::owned::Directory::open(&path).unwrap();
    assert!(opened.is_in_place().unwrap());
    std::fs::rename(&path, above.path().join("pulled")).unwrap();
    assert!(opened.is_in_place().is_err());
    std::fs::create_dir(&path).unwrap();
    assert!(!opened.is_in_place().unwrap());
}
