//! The quick check of mounted media whose addresses wrap around: it finds them, or says that it does not exclude them.

use assay_core::verification::{Remark, Verdict, Verification};
use assay_engine::Control;
use assay_lab::media::{Cache, Layout, MediumSpec, SharedMedium};
use assay_lab::{FakeCard, FileSystem, Lab, Missing, Mount, SplitMix, lab};
use assay_verify::quick::{Quick, check};

const MIB: u64 = 1 << 20;

/// Result of the quick check; `None` if no file system can be made, mounted or written.
fn judged(spec: &MediumSpec, file_system: FileSystem, past_file_system: bool) -> Result<Option<Verification>, Missing> {
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
        let Some(found) = lab!(TEST, judged(&spec, file_system, as_root)) else {
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
        let Some(found) = lab!(TEST, judged(&spec, file_system, true)) else {
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
