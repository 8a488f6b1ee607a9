//! The quick probe on fakes whose writes land on addresses that were never saved: the owner loses only a handful of
//! sectors, and the probe says so.

use std::path::Path;
use std::sync::Arc;

use assay_core::verification::{FakeKind, Sign, Verdict};
use assay_engine::Control;
use assay_lab::MemoryDisk;
use assay_lab::media::{Cache, DroppedRead, InitialContent, MediumSpec, Misaddress, Operations, Pattern};
use assay_verify::probe::{Device, Identity, Journal, JournalLeft, Probed, Salt, Settings, run};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// With default settings.
fn probe(device: &mut impl Device, seed: u64) -> Probed {
    let identity = Identity { bytes: device.bytes(), name: "model".to_owned(), serial: None, attachment: None };
    let disk = Arc::new(MemoryDisk::default());
    let journal = Journal::create_on(disk, Path::new("journal"), &identity, Salt::known(seed)).unwrap();
    run(device, journal, &Settings::usual(device.bytes()), &Control::default(), &mut |_| {}).unwrap()
}

/// Only writes wrap around after `real` bytes.
fn writes_wrap(announced: u64, real: u64, dropped: DroppedRead, seed: u64) -> MediumSpec {
    let misaddress = Some(Misaddress::Wrap { period_bytes: real, on: Operations::Writes });
    let spec = MediumSpec { misaddress, seed, ..MediumSpec::limbo(announced, real) };
    spec.with_dropped(dropped)
}

/// 5 to 260 MiB of the owner's data were destroyed at addresses that had never been saved. For half of them nothing was
/// reported, and the kind was a limbo.
#[test]
fn writes_that_start_again_where_readings_do_not_cost_a_handful_of_sectors() {
    let mut worst = 0;
    for (index, (announced, real)) in [
        (GIB, 600 * MIB),
        (GIB, 61 * MIB + 512),
        (16 * GIB, 1900 * MIB),
        (64 * GIB, 7580 * MIB),
        (4 * TIB, 128 * GIB),
        (TIB, 999 * GIB),
    ]
    .into_iter()
    .enumerate()
    {
        for dropped in [DroppedRead::Zeros, DroppedRead::Ones, DroppedRead::Noise] {
            let seed = index as u64;
            let spec = writes_wrap(announced, real, dropped, seed);
            let mut medium = spec.build().unwrap();
            let before = medium.snapshot();
            let probed = probe(&mut medium, seed);
            let (found, changed) = (probed.verification, medium.changed_since(&before));
            let case = format!("{announced} {real} {dropped:?}: {}", assay_lab::outline(&found));
            assert_eq!((found.verdict, found.kind), (Verdict::Fake, Some(FakeKind::Wraparound)), "{case}");
            assert_eq!(found.real_bytes, Some(real), "{case}");
            // If addresses without memory read as a constant, the end is known before anything is written.
            let most = if dropped == DroppedRead::Noise { 20 } else { 0 };
            assert!(changed.len() <= most, "{} sectors: {case}", changed.len());
            let stated = match found.sign {
                Some(Sign::OnlyWritesWrap { overwritten_sectors, .. }) => overwritten_sectors as usize,
                _ => 0,
            };
            assert_eq!(changed.is_empty(), stated == 0, "{case}");
            assert!(changed.is_empty() || (probed.journal == JournalLeft::Needed), "{case}");
            assert!(changed.iter().all(|at| *at >= MIB), "the start is saved: {case}");
            worst = worst.max(changed.len());
        }
    }
    println!("{worst} sectors at most");
}

/// The first places are written before caches are evicted, so a few more blocks are lost behind a cache.
#[test]
fn behind_a_small_cache_it_is_a_handful_too() {
    for (cache, dropped) in
        [(64 << 10, DroppedRead::Noise), (2 * MIB, DroppedRead::Zeros), (4 * MIB, DroppedRead::Noise)]
    {
        for seed in 0..3 {
            let spec = writes_wrap(32 * GIB, 3 * GIB + 700 * 512, dropped, seed).with_cache(Cache::with_bytes(cache));
            let mut medium = spec.build().unwrap();
            let before = medium.snapshot();
            let probed = probe(&mut medium, seed);
            let (found, changed) = (probed.verification, medium.changed_since(&before).len());
            assert_eq!(
                (found.verdict, found.kind),
                (Verdict::Fake, Some(FakeKind::Wraparound)),
                "{}",
                assay_lab::outline(&found)
            );
            assert!(
                changed <= 24 && (changed == 0 || (probed.journal == JournalLeft::Needed)),
                "{cache} {changed}: {}",
                assay_lab::outline(&found)
            );
        }
    }
}

/// A genuine medium, partly filled with the owner's data and otherwise with zeros, must not be called a fake.
#[test]
fn a_medium_that_is_used_in_part_is_genuine() {
    for used_bytes in [0, 512, 70 * MIB, GIB + 512, 32 * GIB - 512] {
        let before = InitialContent { pattern: Pattern::Noise, used_bytes };
        let mut medium = MediumSpec { before, ..MediumSpec::genuine(32 * GIB) }.build().unwrap();
        let snapshot = medium.snapshot();
        let probed = probe(&mut medium, used_bytes);
        assert_eq!(probed.verification.verdict, Verdict::Genuine, "{used_bytes}");
        assert!(medium.changed_since(&snapshot).is_empty() && probed.journal != JournalLeft::Needed, "{used_bytes}");
    }
}
