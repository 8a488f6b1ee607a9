//! Full and quick check of mounted fakes: vfat and ext4 on devices that announce four times their real size.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_core::verification::{FakeKind, Offsets, SectorCounts, Verdict};
use assay_engine::Control;
use assay_lab::media::{Layout, MediumSpec, SharedMedium};
use assay_lab::{FakeCard, Lab, Missing, Mount, lab, skip};
use assay_verify::files::{CheckPlan, Checked, Settings, VerifyError, check};
use assay_verify::quick::{self, Quick};

const MIB: u64 = 1 << 20;
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
    let plan = CheckPlan::new(mount.path(), &Settings::default()).unwrap();
    let checked = check(&plan, &Settings::default(), &Control::default(), &mut |_| {}).unwrap();
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
            let settings = Settings { hang_after: Duration::from_secs(10), ..Settings::default() };
            check(&CheckPlan::new(path, &settings)?, &settings, &Control::default(), &mut |_| {})
        },
        |what, kind, checked| {
            let found = &checked.verification;
            assert_eq!(
                (found.verdict, found.kind),
                (Verdict::Fake, Some(kind)),
                "{what}: {}",
                assay_lab::outline(&found)
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
            assert!(within, "{what}: {}", assay_lab::outline(&found));
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
            assert_eq!(found.verdict, Verdict::Fake, "{what}: {}", assay_lab::outline(&found));
        },
    );
}
