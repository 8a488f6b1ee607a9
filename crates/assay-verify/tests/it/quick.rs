//! The quick check of mounted media.

use std::process::Command;

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::{Method, Remark, Verdict, Verification};
use assay_engine::Control;
use assay_lab::media::{Cache, FoundVerdict, Layout, MediumSpec, Reach, SharedMedium, Truth, catalogue};
use assay_lab::{FakeCard, FastDevice, FileSystem, Lab, LoopDevice, Missing, Mount, RemovableCard, SplitMix, lab};
use assay_verify::quick::{Quick, check};

const MIB: u64 = 1 << 20;

fn genuine(path: &std::path::Path) {
    let foreign = path.join("1.h2w");
    std::fs::write(&foreign, b"not ours").unwrap();
    let checked = check(path, &Quick::default(), &Control::default(), &mut |_, _| {}).unwrap();
    let found = &checked.verification;
    assert_eq!(
        (found.verdict, &checked.outcome),
        (Verdict::Genuine, &Outcome::Completed),
        "{}",
        assay_lab::outline(found)
    );
    assert_eq!((found.method, found.counts.lost(), checked.left), (Method::QuickMounted, 0, None));
    assert!(found.counts.good > 40 * 8 && found.reach.unwrap().loss_found > 0.87, "{found:?}");
    // Spread means that every tenth of the map was reached.
    let tenth = found.map.len().div_ceil(10);
    assert!(found.map[..found.map.len() * 9 / 10].chunks(tenth).all(|part| part.iter().any(|c| c.counts.good > 0)));
    assert!(found.written_bytes < found.announced_bytes / 4);
    assert_eq!(std::fs::read(foreign).unwrap(), b"not ours");
    assert!(!path.join(".assay-verify").exists());
}

#[test]
fn a_genuine_medium_with_ext4_is_not_accused() {
    const TEST: &str = "a_genuine_medium_with_ext4_is_not_accused";
    let _lab = lab!(TEST, Lab::share());
    let device = lab!(TEST, FastDevice::new(256 * MIB));
    genuine(device.path());
}

#[test]
fn a_genuine_medium_with_vfat_is_not_accused() {
    const TEST: &str = "a_genuine_medium_with_vfat_is_not_accused";
    let _lab = lab!(TEST, Lab::share());
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("card.img");
    std::fs::File::create(&image).unwrap().set_len(128 * MIB).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    let made = Command::new("mkfs.vfat").arg(device.path()).output();
    lab!(TEST, made.map_err(|_| Missing("needs mkfs.vfat".to_owned())));
    let mount = lab!(TEST, Mount::existing(device.path(), &directory.path().join("mnt"), "rw"));
    genuine(mount.path());
}

#[test]
fn a_card_that_is_taken_out_and_a_stop_end_it() {
    const TEST: &str = "a_card_that_is_taken_out_and_a_stop_end_it";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, RemovableCard::formatted(128 * MIB));
    let failure = |outcome: &Outcome| match outcome {
        Outcome::Failed { failure, .. } => Some(*failure),
        _ => None,
    };
    let control = Control::default();
    let stopped = check(card.path(), &Quick::default(), &control, &mut |_, _| control.stop()).unwrap();
    assert_eq!(failure(&stopped.outcome), Some(RunFailure::Interrupted));
    assert_eq!((stopped.verification.verdict, stopped.left), (Verdict::Undecided, None));
    let mut pulled = false;
    let gone = check(card.path(), &Quick::default(), &Control::default(), &mut |done, _| {
        if done == 20 && !pulled {
            pulled = true;
            card.pull().unwrap();
        }
    });
    assert_eq!(failure(&gone.unwrap().outcome), Some(RunFailure::Disappeared));
}

// The quick check of media that checks once judged wrongly, as real devices with real file systems.
//
// Includes media made for file systems, and bare devices where a file system can be made and mounted.

/// Larger ones need minutes for a file system, and their kinds are among the smaller ones.
const MOST_BYTES: u64 = 2 << 30;

/// The result of the check, the reach that it states, and the truth as far as the medium had shown it. `None` if no
/// file system can be made on it, or it cannot be written.
fn judged(spec: &MediumSpec, file_system: FileSystem) -> Result<Option<(String, FoundVerdict, Reach, Truth)>, Missing> {
    let medium = SharedMedium::new(spec.clone().blank().build().unwrap());
    let card = FakeCard::new(medium.clone())?;
    let directory = tempfile::tempdir().unwrap();
    let Ok(mount) = Mount::make(file_system, card.path(), &directory.path().join("mnt")) else { return Ok(None) };
    let Ok(checked) = check(mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {}) else {
        return Ok(None);
    };
    let verification = checked.verification;
    let found = FoundVerdict::from(verification.verdict);
    let stated = verification.reach;
    let cache_bytes = stated.and_then(|reach| reach.caches_up_to_bytes).unwrap_or(0);
    let share = stated.map_or(1.0, |reach| reach.loss_share);
    let reach = Reach { cache_bytes, share, ..Reach::least() };
    let shown = medium.with(|medium| Truth::as_shown(spec, medium.has_shown_failure(), medium.is_exhausted()));
    Ok(Some((assay_lab::outline(&verification), found, reach, shown)))
}

/// Rows beyond what a quick check can detect, as it says itself: a larger cache shows the data.
const BEYOND_REACH: [&str; 1] = ["limbo of 61 MiB, LRU cache of 96 MiB"];
/// Some rows can be mounted only by luck of a driver; fewer rows than this mean that most were not mounted.
const LEAST: usize = 15;

#[test]
fn every_row_that_can_be_mounted_is_judged_by_the_quick_check() {
    const TEST: &str = "every_row_that_can_be_mounted_is_judged_by_the_quick_check";
    let bare = catalogue::devices().into_iter().map(|named| (named, FileSystem::Ext4));
    let mut judged_media = 0;
    let mut wrong = Vec::new();
    for (named, file_system) in catalogue::mounted().into_iter().chain(bare) {
        if named.spec.announced_bytes > MOST_BYTES {
            continue;
        }
        // Releases the lab between two media, so that other tests get a turn.
        let _lab = lab!(TEST, Lab::share());
        let Some((said, found, reach, shown)) = lab!(TEST, judged(&named.spec, file_system)) else {
            println!("{:<52}cannot be mounted", named.name);
            continue;
        };
        judged_media += 1;
        println!("{:<52}{said}", named.name);
        let beyond = BEYOND_REACH.contains(&named.name)
            && found == FoundVerdict::Genuine
            && !shown.needs.iter().any(|need| reach.covers(need));
        if !shown.right.contains(&found) && !beyond {
            wrong.push(format!("{}: {:?} is right: {said}", named.name, shown.right));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(judged_media >= LEAST, "{judged_media} could be mounted");
}

// The quick check of mounted media whose addresses wrap around: it finds them, or says that it does not exclude them.

/// Result of the quick check; `None` if no file system can be made, mounted or written.
fn verified(
    spec: &MediumSpec,
    file_system: FileSystem,
    past_file_system: bool,
) -> Result<Option<Verification>, Missing> {
    let card = FakeCard::new(SharedMedium::new(spec.clone().blank().build().unwrap()))?;
    let directory = tempfile::tempdir().unwrap();
    let Ok(mount) = Mount::make(file_system, card.path(), &directory.path().join("mnt")) else { return Ok(None) };
    let checked =
        check(mount.path(), &Quick { past_file_system, ..Quick::default() }, &Control::default(), &mut |_, _| {});
    Ok(checked.ok().map(|checked| checked.verification))
}

/// `ASSAY_WRAPS=16` draws more. Stamps overlapped only by chance: a wrap-around of 59 % was called genuine.
#[test]
fn a_wraparound_is_found_or_the_probe_of_the_device_is_named() {
    const TEST: &str = "a_wraparound_is_found_or_the_probe_of_the_device_is_named";
    let seeds: u64 = std::env::var("ASSAY_WRAPS").map_or(6, |seeds| seeds.parse().unwrap());
    let (mut judged_media, mut fakes) = (0, 0);
    for seed in 0..seeds {
        let _lab = lab!(TEST, Lab::share());
        let mut dice = SplitMix::new(seed ^ 0x5eed);
        let file_system = [FileSystem::Ext2, FileSystem::Ext4, FileSystem::Xfs][(seed % 3) as usize];
        let announced = (310 + dice.below(240)) * MIB;
        let real = announced / 1000 * (450 + dice.below(470)) / 512 * 512;
        let mut spec = MediumSpec::laid_out(announced, Layout::wraparound(real));
        if dice.below(2) == 0 {
            spec = spec.with_cache(Cache::with_bytes(8 * MIB));
        }
        // Users without root cannot read the device itself.
        let as_root = dice.below(2) == 0;
        let what = format!("{seed}: {file_system:?}, root {as_root}, {} of {} MiB", real / MIB, announced / MIB);
        let Some(found) = lab!(TEST, verified(&spec, file_system, as_root)) else {
            println!("{what}: cannot be mounted");
            continue;
        };
        println!("{what}: {}", assay_lab::outline(&found));
        judged_media += 1;
        fakes += u64::from(found.verdict == Verdict::Fake);
        let advised = match found.verdict {
            Verdict::Damaged | Verdict::Failed => found.remarks.contains(&Remark::ProbeDecides),
            // ext2 does not reserve space, so stamps lie at arbitrary places.
            Verdict::Undecided => file_system == FileSystem::Ext2 && found.remarks.contains(&Remark::SpaceNotReserved),
            _ => false,
        };
        assert!(found.verdict == Verdict::Fake || advised, "{what}: {}", assay_lab::outline(&found));
    }
    assert!(judged_media * 2 >= seeds && fakes * 2 >= judged_media, "{fakes} of {judged_media}");
}

/// What is not found is reported as not excluded: a small part of a wrap-around affects only tables.
#[test]
fn a_genuine_medium_is_genuine_and_what_is_not_excluded_is_said() {
    const TEST: &str = "a_genuine_medium_is_genuine_and_what_is_not_excluded_is_said";
    for (file_system, mib) in [(FileSystem::Ext4, 300), (FileSystem::Xfs, 340), (FileSystem::Btrfs, 320)] {
        let _lab = lab!(TEST, Lab::share());
        let spec = MediumSpec::genuine(mib * MIB).with_cache(Cache::with_bytes(4 * MIB));
        let Some(found) = lab!(TEST, verified(&spec, file_system, true)) else {
            println!("{file_system:?} cannot be mounted");
            continue;
        };
        println!("{file_system:?}: {}", assay_lab::outline(&found));
        assert_eq!(found.verdict, Verdict::Genuine, "{file_system:?}: {}", assay_lab::outline(&found));
        let said = found.remarks.contains(&Remark::WraparoundNotExcluded);
        // If the file system reports no addresses, distances are unknown.
        assert_eq!(said, file_system == FileSystem::Btrfs, "{file_system:?}: {}", assay_lab::outline(&found));
    }
}
