//! Attacks on the quick probe: media that it once judged wrongly.

use std::path::Path;
use std::sync::Arc;

use assay_core::verification::{FakeKind, Sign, Verdict, Verification};
use assay_engine::Control;
use assay_lab::MemoryDisk;
use assay_lab::media::{
    Accounting, BlockRule, Blocks, Cache, DroppedRead, Eviction, Failure, InitialContent, Layout, MediumSpec,
    Misaddress, Operations, Order, Pattern, Pool, Slips, Trigger, WhenFull, WritePolicy,
};
use assay_verify::probe::{Device, Journal, JournalIdentity, JournalLeft, ProbeSettings, Probed, Salt, run};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

const QUICK: ProbeSettings = ProbeSettings { cache_limit_bytes: 8 * MIB };

fn probed(device: &mut impl Device, settings: &ProbeSettings, seed: u64) -> Probed {
    let identity = JournalIdentity { bytes: device.bytes(), name: "model".to_owned(), serial: None, attachment: None };
    let disk = Arc::new(MemoryDisk::default());
    let journal = Journal::create_on(disk, Path::new("journal"), &identity, Salt::known(seed)).unwrap();
    run(device, journal, settings, &Control::default(), &mut |_| {}).unwrap()
}

fn found(spec: &MediumSpec, seed: u64) -> Verification {
    probed(&mut spec.build().unwrap(), &QUICK, seed).verification
}

/// Whether the stated size is compatible with the truth.
fn holds(found: &Verification, real: u64) -> bool {
    let exact = found.real_bytes.map(|real| (real, real));
    let between = found.real_low_bytes.zip(found.real_high_bytes);
    exact.or(between).is_none_or(|(low, high)| (low..=high).contains(&real))
}

/// Sizes that were reported as exact were 1.2 to 37 times too large, or 4000 times too small.
#[test]
fn where_laps_lead_to_the_cells_in_another_order_no_size_is_exact() {
    let wraps = |real, order| Layout::wraparound(real).in_order(order);
    for (index, (announced, layout, real)) in [
        (16 * GIB, wraps(1900 * MIB, Order::Turned(64 * KIB)), 1900 * MIB),
        (64 * GIB, wraps(7580 * MIB, Order::Turned(MIB)), 7580 * MIB),
        (2200 * GIB, wraps(800 * GIB, Order::Turned(64 * KIB)), 800 * GIB),
        (100 * MIB, wraps(20 * MIB + 819_200, Order::Reversed), 20 * MIB + 819_200),
        (65 * MIB, wraps(49 * MIB, Order::Xored(MIB)), 49 * MIB),
        (16 * GIB, wraps(3 * GIB, Order::Random(64 * KIB)), 3 * GIB),
        (16 * GIB, Layout::Blocks(Blocks { block_bytes: MIB, group: 4, rule: BlockRule::Shared }), 4 * GIB),
    ]
    .into_iter()
    .enumerate()
    {
        for seed in 0..2 {
            let spec = MediumSpec { seed, ..MediumSpec::laid_out(announced, layout.clone()) };
            let usual = ProbeSettings::usual(announced);
            let said = probed(&mut spec.build().unwrap(), &usual, seed + index as u64).verification;
            assert_eq!(said.verdict, Verdict::Fake, "{layout:?}: {}", assay_lab::outline(&said));
            assert!(holds(&said, real), "{layout:?}: {}", assay_lab::outline(&said));
        }
    }
}

/// The last MiB was tested and holds, but was not counted.
#[test]
fn a_part_at_the_end_is_counted_behind_a_window() {
    let layout = Layout::window(64 * MIB, 1580 * MIB + 1536).with_tail(16 * GIB, MIB);
    for cache in [None, Some(Cache::with_bytes(2 * MIB))] {
        let caches = cache.into_iter().collect();
        let said = found(&MediumSpec { caches, ..MediumSpec::laid_out(16 * GIB, layout.clone()) }, 1);
        assert_eq!(
            (said.verdict, said.real_bytes),
            (Verdict::Fake, Some(1645 * MIB + 1536)),
            "{}",
            assay_lab::outline(&said)
        );
        assert_eq!(said.holds.len(), 2, "{:?}", said.holds);
    }
}

/// The page to which all addresses behind the end lead was counted twice.
#[test]
fn where_all_behind_is_the_last_page_no_page_is_counted_twice() {
    for real in [42 * MIB, 42 * MIB + 1536] {
        let said = found(&MediumSpec::laid_out(600 * MIB, Layout::last_page(real)), 1);
        assert_eq!(said.verdict, Verdict::Fake, "{}", assay_lab::outline(&said));
        assert!(holds(&said, real) || said.real_bytes == Some(real - 4096), "{real}: {}", assay_lab::outline(&said));
    }
}

/// Between one write in a hundred and one in some thousands was lost, and the medium was called a fake with a cache.
#[test]
fn a_medium_that_loses_writes_now_and_then_is_damaged() {
    for slips in [
        Slips { drops_one_in: 100, ..Slips::none() },
        Slips { drops_one_in: 1000, ..Slips::none() },
        Slips { swaps_one_in: 200, ..Slips::none() },
        Slips { swaps_one_in: 1000, ..Slips::none() },
    ] {
        for (bytes, seed) in [(GIB, 1), (64 * GIB, 2), (541 * MIB, 3)] {
            let said = found(&MediumSpec { slips, seed, ..MediumSpec::genuine(bytes) }, seed);
            assert_eq!(said.verdict, Verdict::Damaged, "{slips:?} {bytes}: {}", assay_lab::outline(&said));
            assert_eq!((said.cache_bytes, said.remarks.as_slice()), (None, &[][..]), "{slips:?} {bytes}");
        }
    }
    // The loss may only be seen after everything was restored.
    let rare = Slips { drops_one_in: 20_000, ..Slips::none() };
    for seed in 0..4 {
        let said = found(&MediumSpec { slips: rare, seed, ..MediumSpec::genuine(64 * GIB) }, seed);
        assert!(matches!(said.verdict, Verdict::Damaged | Verdict::Genuine), "{}", assay_lab::outline(&said));
        let seen = said.counts.lost() > 0 || matches!(said.sign, Some(Sign::NotPutBack { .. }));
        assert_eq!(said.verdict == Verdict::Damaged, seen, "{}", assay_lab::outline(&said));
    }
}

/// 6 of 7 blocks of 64 KiB or 1 MiB hold: it was called a fake that drops everything else.
#[test]
fn bad_blocks_all_over_are_damage() {
    for block_bytes in [4 * KIB, 64 * KIB, MIB] {
        for dropped in [DroppedRead::Stale, DroppedRead::LastOnBus, DroppedRead::Elsewhere] {
            let layout = Layout::Blocks(Blocks { block_bytes, group: 7, rule: BlockRule::LastLoses });
            let said = found(&MediumSpec::laid_out(GIB, layout).with_dropped(dropped), 5);
            assert_eq!(said.verdict, Verdict::Damaged, "{block_bytes} {dropped:?}: {}", assay_lab::outline(&said));
        }
    }
}

/// It was called failed, since it dropped the older data.
#[test]
fn a_medium_that_keeps_what_was_written_last_is_a_fake_of_that_size() {
    for (mib, policy) in
        [(10, WritePolicy::Through), (16, WritePolicy::Back { ignores_flush: true }), (30, WritePolicy::Through)]
    {
        let cache =
            Cache { eviction: Eviction::LeastRecentlyWritten, write_policy: policy, ..Cache::with_bytes(mib * MIB) };
        let spec = MediumSpec::laid_out(4 * GIB, Layout::holds([])).with_cache(cache).with_dropped(DroppedRead::Stale);
        let mut medium = spec.build().unwrap();
        let said = probed(&mut medium, &ProbeSettings::usual(4 * GIB), mib).verification;
        assert_eq!(said.verdict, Verdict::Fake, "{mib}: {}", assay_lab::outline(&said));
        assert!(holds(&said, mib * MIB), "{mib}: {}", assay_lab::outline(&said));
        assert_eq!(said.sign, Some(Sign::OldestReplaced), "{}", assay_lab::outline(&said));
    }
}

/// 62 MiB of 6.3 GiB are given to the first writes, and write errors follow: it was called damaged.
#[test]
fn memory_that_is_used_up_and_errs_is_a_fake() {
    let accounting = Accounting::Units { unit_bytes: MIB, zeros_are_free: false };
    for bytes in [2 * MIB, 6 * MIB, 14 * MIB] {
        let pool = Some(Pool { bytes, accounting, when_full: WhenFull::Errs });
        let spec = MediumSpec { pool, ..MediumSpec::genuine(6 * GIB) }.blank();
        let said = found(&spec, 1);
        assert_eq!(said.verdict, Verdict::Fake, "{bytes}: {}", assay_lab::outline(&said));
        assert!(holds(&said, bytes), "{bytes}: {}", assay_lab::outline(&said));
    }
}

/// One sector too many, as some USB bridges announce, was called a fake.
#[test]
fn a_sector_that_is_missing_at_the_end_is_damage() {
    for missing in [512, 64 * KIB] {
        let limbo = MediumSpec::limbo(600 * MIB + missing, 600 * MIB);
        let errs = MediumSpec::genuine(600 * MIB + missing)
            .with_errors(600 * MIB..600 * MIB + missing, assay_lab::media::Operations::Both);
        for spec in [limbo, errs] {
            let said = found(&spec, 1);
            assert_eq!((said.verdict, said.kind), (Verdict::Damaged, None), "{}", assay_lab::outline(&said));
            assert_eq!(said.sign, Some(Sign::MissingAtEnd { bytes: missing }), "{}", assay_lab::outline(&said));
        }
    }
    let said = found(&MediumSpec::limbo(600 * MIB, 600 * MIB - 256 * KIB), 1);
    assert_eq!(said.verdict, Verdict::Fake, "{}", assay_lab::outline(&said));
}

/// It was called damaged, with data that are lost after some readings.
#[test]
fn a_medium_that_fails_while_it_is_put_back_has_failed() {
    let whole = MediumSpec::genuine(GIB);
    let mut medium = whole.build().unwrap();
    probed(&mut medium, &QUICK, 1);
    let written = medium.traffic().written_bytes;
    let mut seen = 0;
    for failure in [Failure::DropsWrites, Failure::WriteErrors, Failure::ReadOnly] {
        for part in [62, 68, 74] {
            let spec = whole.clone().that_fails(Trigger::AfterWritten(written / 100 * part / 512 * 512), failure);
            let mut medium = spec.build().unwrap();
            let probed = probed(&mut medium, &QUICK, 1);
            let said = probed.verification;
            // Data that are written again are already there.
            if !medium.has_shown_failure() {
                continue;
            }
            seen += 1;
            assert!(probed.journal == JournalLeft::Needed, "{failure:?} {part}: {}", assay_lab::outline(&said));
            assert_eq!(said.verdict, Verdict::Failed, "{failure:?} {part}: {}", assay_lab::outline(&said));
        }
    }
    assert!(seen >= 6, "{seen} failed while there was something to put back");
}

/// A loss that could not be detected was reported as detected with a probability of 99 %.
#[test]
fn what_was_not_tested_is_found_with_no_probability() {
    let mut medium = MediumSpec::genuine(GIB).build().unwrap();
    let identity = JournalIdentity { bytes: GIB, name: "model".to_owned(), serial: None, attachment: None };
    let disk = Arc::new(MemoryDisk::default());
    let journal = Journal::create_on(disk, Path::new("journal"), &identity, Salt::known(1)).unwrap();
    let control = Control::default();
    control.stop();
    let said = run(&mut medium, journal, &QUICK, &control, &mut |_| {}).unwrap().verification;
    assert_eq!((said.verdict, said.reach.is_none()), (Verdict::Undecided, true), "{}", assay_lab::outline(&said));
}

/// `0 B to 1 024 MiB` of 1 GiB, and `64 GiB` of 64.0 GiB, were reported.
#[test]
fn a_size_says_something() {
    let said = found(&MediumSpec::limbo(64 * GIB, 64 * GIB - 8 * MIB), 1);
    assert_eq!(said.real_bytes, Some(64 * GIB - 8 * MIB), "{}", assay_lab::outline(&said));
    let layout = Layout::wraparound(300 * MIB).in_order(Order::Random(4 * KIB));
    let said = found(&MediumSpec::laid_out(4 * GIB, layout), 1);
    assert_eq!((said.kind, said.real_bytes), (Some(FakeKind::Wraparound), None), "{}", assay_lab::outline(&said));
}

/// Shows how long some media take with default settings: `-- --ignored --nocapture the_time`.
#[test]
#[ignore = "shows times alone"]
fn the_time_of_media_that_took_minutes() {
    let limbo = MediumSpec::limbo(GIB, 61 * MIB).with_dropped(DroppedRead::LastOnBus);
    for (name, spec) in [
        ("chain of 61 MiB", MediumSpec::laid_out(GIB, Layout::chain(61 * MIB, 40 * MIB))),
        ("chain of 61 in 256 MiB", MediumSpec::laid_out(GIB, Layout::chain(256 * MIB, 61 * MIB))),
        ("limbo that shows the bus", limbo.clone()),
        ("the same behind a cache", limbo.with_cache(Cache::with_bytes(4 * MIB))),
        ("window of 2 KiB", MediumSpec::laid_out(747 * GIB, Layout::window(8 * MIB, 2 * KIB))),
        ("wraparound of 7580 MiB", MediumSpec::laid_out(64 * GIB, Layout::wraparound(7580 * MIB))),
        ("genuine, 2 TiB", MediumSpec::genuine(2048 * GIB)),
    ] {
        let mut medium = spec.build().unwrap();
        let start = std::time::Instant::now();
        let said = probed(&mut medium, &ProbeSettings::usual(spec.announced_bytes), 1).verification;
        let (took, moved) = (start.elapsed(), medium.traffic());
        println!(
            "{name}: {:.1} s, {} MiB written, {} MiB read, {} reads: {}",
            took.as_secs_f64(),
            moved.written_bytes / MIB,
            moved.read_bytes / MIB,
            moved.reads,
            assay_lab::outline(&said)
        );
    }
}

// The quick probe on fakes whose writes land on addresses that were never saved: the owner loses only a handful of
// sectors, and the probe says so.

const TIB: u64 = 1 << 40;

/// With default settings.
fn probe(device: &mut impl Device, seed: u64) -> Probed {
    let identity = JournalIdentity { bytes: device.bytes(), name: "model".to_owned(), serial: None, attachment: None };
    let disk = Arc::new(MemoryDisk::default());
    let journal = Journal::create_on(disk, Path::new("journal"), &identity, Salt::known(seed)).unwrap();
    run(device, journal, &ProbeSettings::usual(device.bytes()), &Control::default(), &mut |_| {}).unwrap()
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
