//! The quick probe on single media whose truth is known.

use std::path::Path;
use std::time::Duration;

use assay_core::verification::{EarlyEnd, Extent, FakeKind, Sign, Verdict};
use assay_engine::Control;
use assay_lab::media::{
    Accounting, BadCells, Cache, CachedWrites, Decay, DroppedRead, Eviction, Failure, Flips, Hang, InitialContent,
    Layout, LineFault, MediumSpec, Misaddress, ModelMedium, Operations, Pattern, Pool, Retention, Snapshot, Trigger,
    Truth, WhenFull, WritePolicy, population,
};
use assay_verify::probe::{
    Device, Ended, Journal, JournalIdentity, JournalLeft, LEAST_BYTES, ProbeError, ProbeFault, ProbePhase,
    ProbeSettings, Probed, Salt, TimedDevice, restore, run,
};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Twice the sequential cache that was seen in the field: the tests need not write more.
const QUICK: ProbeSettings = ProbeSettings { cache_limit_bytes: 8 * MIB };

/// In memory if possible, since each save is synced.
fn place() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn identity(device: &impl Device) -> JournalIdentity {
    JournalIdentity { bytes: device.bytes(), name: "model".to_owned(), serial: None, attachment: None }
}

/// The same, with the name of an attachment.
fn attached(device: &impl Device, attachment: &str) -> JournalIdentity {
    JournalIdentity { attachment: Some(attachment.to_owned()), ..identity(device) }
}

fn probe(device: &mut impl Device, settings: &ProbeSettings, seed: u64) -> Probed {
    let directory = place();
    let journal = Journal::create(&directory.path().join("journal"), &identity(device), Salt::known(seed)).unwrap();
    let probed = run(device, journal, settings, &Control::default(), &mut |_| {}).unwrap();
    assert_eq!(directory.path().join("journal").exists(), probed.journal != JournalLeft::Removed);
    probed
}

fn build(spec: &MediumSpec) -> (ModelMedium, Snapshot) {
    let medium = spec.build().unwrap();
    let before = medium.snapshot();
    (medium, before)
}

#[test]
fn every_part_that_holds_is_given_to_the_sector() {
    let holds = [0..100 * MIB + 512, 300 * MIB - 1024..700 * MIB, 1023 * MIB..GIB];
    let (mut medium, before) = build(&MediumSpec::laid_out(GIB, Layout::holds(holds.clone())));
    let found = probe(&mut medium, &QUICK, 4).verification;
    let extents = holds.map(|part| Extent { offset_bytes: part.start, bytes: part.end - part.start });
    assert_eq!((found.verdict, &found.holds[..]), (Verdict::Fake, &extents[..]), "{}", assay_lab::outline(&found));
    assert_eq!(medium.changed_since(&before), [0; 0]);
}

/// A cache held back the run as far as it is searched for, so that almost nothing of it reached the memory. Single
/// reads at distances of three quarters of its length missed that.
#[test]
fn addresses_that_start_again_near_the_end_are_met_behind_a_cache_that_is_nearly_as_large_as_the_run() {
    let policy = WritePolicy::Back { ignores_flush: true };
    for (bytes, eviction) in [
        (6 * MIB, Eviction::LeastRecentlyUsed),
        (7 * MIB, Eviction::LeastRecentlyWritten),
        (6 * MIB, Eviction::FirstIn),
    ] {
        // The beginning of the run, which alone reached the memory, lies between two readings.
        for lacks in [905, 907] {
            let real = 64 * GIB - lacks * MIB - 512;
            let cache = Cache { eviction, write_policy: policy, ..Cache::with_bytes(bytes) };
            let (mut medium, _) = build(&MediumSpec::laid_out(64 * GIB, Layout::wraparound(real)).with_cache(cache));
            let found = probe(&mut medium, &QUICK, lacks).verification;
            assert_eq!(
                (found.verdict, found.real_bytes),
                (Verdict::Fake, Some(real)),
                "{lacks}: {}",
                assay_lab::outline(&found)
            );
        }
    }
}

/// Writes against a cache larger than a seventh of the device stayed in that cache.
#[test]
fn a_small_device_is_written_in_several_places_against_a_cache() {
    let spec = MediumSpec::laid_out(84 * MIB, Layout::wraparound(4 * MIB)).with_cache(Cache::with_bytes(20 * MIB));
    let (mut medium, before) = build(&spec);
    let found = probe(&mut medium, &QUICK, 3).verification;
    assert_eq!((found.verdict, found.real_bytes), (Verdict::Fake, Some(4 * MIB)), "{}", assay_lab::outline(&found));
    assert_eq!(medium.changed_since(&before), [0; 0]);
}

#[test]
fn pulled_at_any_moment_everything_comes_back() {
    let cache = Cache::with_bytes(4 * MIB);
    let specs = [
        MediumSpec::laid_out(2 * GIB, Layout::wraparound(256 * MIB)).with_cache(cache),
        MediumSpec::laid_out(2 * GIB, Layout::chain(256 * MIB, 200 * MIB)),
        MediumSpec::limbo(2 * GIB, 300 * MIB).with_cache(cache),
        MediumSpec::genuine(2 * GIB).with_cache(cache),
        MediumSpec::laid_out(2 * GIB, Layout::wraparound(256 * MIB).shuffled()),
    ];
    let mut cut = 0;
    for moment in 0..40u64 {
        let spec = &specs[moment as usize % specs.len()];
        let operations = 300 + moment * 97;
        let (mut medium, before) = build(&spec.clone().that_fails(Trigger::AfterOperations(operations), Failure::Gone));
        let directory = place();
        let path = directory.path().join("journal");
        let journal = Journal::create(&path, &identity(&medium), Salt::known(moment)).unwrap();
        let probed = run(&mut medium, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
        assert_eq!(probed.journal == JournalLeft::Needed, medium.has_failed(), "{moment}");
        medium.power_cycle();
        cut += u64::from(!medium.changed_since(&before).is_empty());
        if path.exists() {
            let identity = identity(&medium);
            let restored = restore(&path, &mut medium, &identity).unwrap();
            assert!(restored.differing.is_empty(), "{moment}");
        }
        assert_eq!(medium.changed_since(&before), [0; 0], "moment {moment}, {spec:?}");
    }
    assert!(cut > 20, "{cut} were pulled where there was something to put back");
}

/// The journal's name may be removed, lead elsewhere, or be taken by another file during a probe. All saved content is
/// in the open file.
#[test]
fn what_was_saved_is_put_back_though_the_journal_has_lost_its_name() {
    for what in ["removed", "moved", "taken"] {
        let (mut medium, before) = build(&MediumSpec::genuine(GIB).with_cache(Cache::with_bytes(4 * MIB)));
        let directory = place();
        let path = directory.path().join("journal");
        let journal = Journal::create(&path, &attached(&medium, "first"), Salt::known(3)).unwrap();
        let moved = directory.path().join("moved");
        match what {
            "removed" => std::fs::remove_file(&path).unwrap(),
            _ => std::fs::rename(&path, &moved).unwrap(),
        }
        if what == "taken" {
            std::fs::write(&path, "dear").unwrap();
        }
        let probed = run(&mut medium, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
        assert!(probed.restored.is_ok() && probed.journal != JournalLeft::Needed, "{what}: {:?}", probed.restored);
        assert_eq!(medium.changed_since(&before), [0; 0], "{what}");
        if what == "taken" {
            assert_eq!(std::fs::read(&path).unwrap(), b"dear");
        }
        if moved.exists() {
            // The journal itself is marked as fully restored, and is removed after the device was attached anew.
            let [first, second] = ["first", "second"].map(|attachment| attached(&medium, attachment));
            assert!(!restore(&moved, &mut medium, &first).unwrap().already, "{what}");
            let done = restore(&moved, &mut medium, &second).unwrap();
            assert!(done.already && !moved.exists(), "{what}: {done:?}");
        }
    }
}

#[test]
fn told_to_stop_it_puts_everything_back() {
    for limit in [1, 100, 800, 1500] {
        let (mut medium, before) = build(&MediumSpec::laid_out(2 * GIB, Layout::wraparound(256 * MIB)));
        let directory = place();
        let journal =
            Journal::create(&directory.path().join("journal"), &identity(&medium), Salt::known(limit)).unwrap();
        let (control, mut asked) = (Control::default(), 0);
        let mut phases = Vec::new();
        let probed = run(&mut medium, journal, &QUICK, &control, &mut |progress| {
            phases.push(progress.phase);
            asked += 1;
            if asked > limit {
                control.stop();
            }
        })
        .unwrap();
        assert!(matches!(probed.ended, Ended::Stopped) && probed.journal != JournalLeft::Needed);
        assert_ne!(probed.verification.verdict, Verdict::Genuine);
        assert_eq!(medium.changed_since(&before), [0; 0]);
        // Places that were saved but not synced were not overwritten.
        assert!(limit <= 100 || phases.last() == Some(&ProbePhase::Restoring));
    }
}

/// Only one in six readings of each sample reached the cells.
#[test]
fn cells_that_reading_wears_out_are_seen_behind_a_cache_that_reading_fills() {
    for reads in 1..5 {
        let decay = Some(Decay { retention: Retention::Reads(reads), range: 0..GIB });
        let cache = Cache { eviction: Eviction::LeastRecentlyUsedFilledByReads, ..Cache::with_bytes(2 * MIB) };
        let spec = MediumSpec { decay, ..MediumSpec::genuine(GIB) }.with_cache(cache);
        let found = probe(&mut build(&spec).0, &QUICK, 1).verification;
        // Cells that one or two readings wear out look like another card.
        let undecided = reads <= 2 && found.verdict == Verdict::Undecided;
        assert!(
            undecided || matches!(found.verdict, Verdict::Fake | Verdict::Damaged),
            "{reads}: {}",
            assay_lab::outline(&found)
        );
    }
}

/// A cache within the limit is evicted, however long that takes, and its size is reported.
#[test]
fn a_cache_within_the_limit_hides_nothing() {
    for cache in [256 << 10, 6 * MIB] {
        let spec = MediumSpec::limbo(2 * GIB, 300 * MIB).with_cache(Cache::with_bytes(cache));
        let found = probe(&mut build(&spec).0, &QUICK, 1).verification;
        let real = (found.kind, found.real_bytes);
        assert_eq!(real, (Some(FakeKind::Limbo), Some(300 * MIB)), "{cache}: {}", assay_lab::outline(&found));
        let driven = found.cache_bytes.unwrap();
        assert!((cache..=4 * cache).contains(&driven), "{driven} of {cache}");
    }
}

/// Data that were only at another address counted as lost, and the medium was called failed, or a limbo.
#[test]
fn a_medium_that_reads_elsewhere_is_damaged() {
    let line = Misaddress::Line { bit: 20, fault: LineFault::Inverted, range: 0..GIB, on: Operations::Reads };
    let shift = Misaddress::Shift { from_bytes: 0, by_sectors: -700, on: Operations::Writes };
    // Within a block, which is always written as a whole.
    let near = Misaddress::Line { bit: 1, fault: LineFault::Inverted, range: 700 * MIB..GIB, on: Operations::Reads };
    for wrong in [line, shift, near] {
        let spec = MediumSpec { misaddress: Some(wrong.clone()), block_bytes: 4096, ..MediumSpec::genuine(GIB) };
        let found = probe(&mut build(&spec).0, &QUICK, 1).verification;
        assert_eq!(found.verdict, Verdict::Damaged, "{wrong:?}: {}", assay_lab::outline(&found));
    }
}

/// Data sent to one address overwrite another one, which is read correctly: it was called a limbo.
#[test]
fn a_medium_whose_writes_land_on_other_addresses_is_damaged() {
    let range = 100 * MIB..300 * MIB;
    let line = Misaddress::Line { bit: 20, fault: LineFault::Inverted, range, on: Operations::Writes };
    let spec = MediumSpec { misaddress: Some(line), ..MediumSpec::genuine(GIB) };
    let found = probe(&mut build(&spec).0, &QUICK, 1).verification;
    assert_eq!(found.verdict, Verdict::Damaged, "{}", assay_lab::outline(&found));
    let distance = match found.sign {
        Some(Sign::Misplaced { distance_bytes }) => distance_bytes.map(i64::unsigned_abs),
        _ => None,
    };
    assert_eq!(distance, Some(512 * MIB), "{}", assay_lab::outline(&found));
}

/// Behind a cache larger than what was written against it, nothing is lost, but places show data sent to others: it was
/// called a fake.
#[test]
fn what_lands_elsewhere_behind_a_large_cache_is_no_fake() {
    let bytes = 159_991_238_656;
    let shift = Misaddress::Shift { from_bytes: 98_511_689_728, by_sectors: -104, on: Operations::Writes };
    let cache = Cache { page_bytes: 16_384, ..Cache::with_bytes(23_543_808) };
    let shifted = MediumSpec { misaddress: Some(shift), block_bytes: 4096, ..MediumSpec::genuine(bytes) };
    let range = 296_562_176..577_142_272;
    let line = Misaddress::Line { bit: 15, fault: LineFault::Inverted, range, on: Operations::Reads };
    let swapped = MediumSpec { misaddress: Some(line), ..MediumSpec::genuine(880 * MIB) };
    for spec in
        [shifted.with_cache(cache), swapped.with_cache(Cache { page_bytes: 512, ..Cache::with_bytes(18 * MIB) })]
    {
        for seed in 0..3 {
            let found = probe(&mut build(&spec).0, &QUICK, seed).verification;
            assert!(
                matches!(found.verdict, Verdict::Damaged | Verdict::Genuine),
                "{seed}: {}",
                assay_lab::outline(&found)
            );
        }
    }
}

/// A saved sector with the stamp of another address and a stuck byte was not recognised as a stamp, and was restored as
/// original content.
#[test]
fn bad_cells_under_two_addresses_cost_the_owner_nothing() {
    let flips = Flips { bad_density: 0.1, bad: BadCells::StuckByte, ..Flips::none() };
    for seed in 0..6 {
        let layout = Layout::wraparound((64 + seed) * MIB);
        let spec = MediumSpec { flips: flips.clone(), seed, ..MediumSpec::laid_out(2 * GIB, layout) };
        let (mut medium, before) = build(&spec);
        let probed = probe(&mut medium, &QUICK, seed);
        assert_eq!(medium.changed_since(&before), [0; 0], "{seed}: {}", assay_lab::outline(&probed.verification));
        assert!(probed.journal != JournalLeft::Needed, "{seed}");
    }
}

/// Bytes moved while a device failed were not counted.
#[test]
fn no_less_is_said_to_be_moved_than_was() {
    for operations in [900, 1100, 1300, 1500] {
        for failure in [Failure::Gone, Failure::WriteErrors, Failure::AllErrors] {
            let spec = MediumSpec::genuine(64 * MIB).that_fails(Trigger::AfterOperations(operations), failure);
            let mut medium = build(&spec).0;
            let probed = probe(&mut medium, &QUICK, 1);
            let moved = (probed.verification.written_bytes, probed.read_bytes);
            let traffic = medium.traffic();
            assert_eq!(moved.0, traffic.written_bytes, "{operations} {failure:?}");
            // The verdict may read once more to test whether the device answers.
            assert!((moved.1..=moved.1 + 3 * 512).contains(&traffic.read_bytes), "{operations} {failure:?}");
        }
    }
}

/// Bad cells with a stuck byte were taken for losing places, used as canaries, and never died.
#[test]
fn cells_with_wrong_bits_hide_nothing_and_end_no_period() {
    let bad = Flips { bad_density: 0.02, bad: BadCells::StuckByte, ..Flips::none() };
    for seed in 0..6 {
        let spec = MediumSpec { flips: bad.clone(), seed, ..MediumSpec::genuine(64 * MIB) };
        let found = probe(&mut build(&spec.with_cache(Cache::with_bytes(48 << 10))).0, &QUICK, seed).verification;
        assert_eq!(found.verdict, Verdict::Damaged, "{seed}: {}", assay_lab::outline(&found));
    }
    let bad = Flips { bad: BadCells::Noise, ..bad };
    for seed in 0..6 {
        let layout = Layout::wraparound(300 * MIB);
        let spec = MediumSpec { flips: bad.clone(), seed, ..MediumSpec::laid_out(2 * GIB, layout) };
        let found = probe(&mut build(&spec).0, &QUICK, seed).verification;
        let real = (found.kind, found.real_bytes);
        assert_eq!(real, (Some(FakeKind::Wraparound), Some(300 * MIB)), "{seed}: {}", assay_lab::outline(&found));
    }
}

/// Behind a cache larger than what was written against it, the end of a protected part, and of a period that holds,
/// could not be determined.
#[test]
fn where_addresses_start_again_shows_behind_a_cache_that_nothing_drives_out() {
    for (announced, layout, real) in [
        (GIB, Layout::window(134 * MIB, 30 * MIB + 512), 164 * MIB + 512),
        (16 * GIB, Layout::chain(900 * MIB, 850 * MIB - 512), 850 * MIB - 512),
        (64 * GIB, Layout::wraparound(16_896), 16_896),
    ] {
        let spec = MediumSpec::laid_out(announced, layout.clone()).with_cache(Cache::with_bytes(40 * MIB));
        let (mut medium, before) = build(&spec);
        let found = probe(&mut medium, &QUICK, 1).verification;
        assert_eq!(
            (found.verdict, found.real_bytes),
            (Verdict::Fake, Some(real)),
            "{layout:?}: {}",
            assay_lab::outline(&found)
        );
        assert_eq!(medium.changed_since(&before), [0; 0]);
    }
}

/// The space near the end of the device, and the available part of a period, were too small to determine it.
#[test]
fn a_period_is_known_though_there_is_little_room_for_it() {
    for seed in [
        // Two laps in stripes, and less than a stripe of a third one: the known pair lies at both ends.
        120_000_191,
        120_000_160,
        51_000_917,
        51_005_354,
        // Almost nothing of a period holds, and there are less than three periods.
        120_000_127,
        // Less than two laps behind a protected part.
        120_000_189,
    ] {
        let spec = population::fake(seed);
        let real = Truth::about_medium(&spec).real_bytes.pop();
        let found = probe(&mut build(&spec).0, &QUICK, seed).verification;
        assert_eq!((found.verdict, found.real_bytes), (Verdict::Fake, real), "{seed}: {}", assay_lab::outline(&found));
    }
}

/// A buffer of the controller behind the end was added to the real size as a period of one page.
#[test]
fn what_crosses_the_bus_is_no_page_behind_the_end() {
    let random = Cache { takes: CachedWrites::Random, ..Cache::with_bytes(3 * MIB) };
    let eviction = Eviction::LeastRecentlyUsedFilledByReads;
    let sequential = Cache { eviction, takes: CachedWrites::Sequential, ..Cache::with_bytes(54 * MIB) };
    for seed in 0..3 {
        let spec = MediumSpec { seed, ..MediumSpec::limbo(GIB + 7 * MIB, 9 * MIB + 512) };
        let spec = spec.with_dropped(DroppedRead::LastOnBus).with_cache(random).with_cache(sequential);
        let found = probe(&mut build(&spec).0, &QUICK, seed).verification;
        let size = found.real_bytes.is_none_or(|real| real == 9 * MIB + 512);
        assert!(found.verdict == Verdict::Fake && size, "{seed}: {}", assay_lab::outline(&found));
    }
}

/// Memory that was only used up by the run, which is written after all samples, was called damaged.
#[test]
fn memory_that_is_used_up_by_the_run_is_a_fake() {
    let units = Accounting::Units { unit_bytes: 4096, zeros_are_free: false };
    // Writes over the owner's data take no memory.
    let half = InitialContent { pattern: Pattern::Noise, used_bytes: 2 * GIB };
    let none = InitialContent { used_bytes: 0, ..half };
    for (accounting, before, left) in
        [(units, none, 14 * MIB), (Accounting::Compressed, none, 14 * MIB), (Accounting::Compressed, half, 8 * MIB)]
    {
        for cache in [None, Some(Cache::with_bytes(2 * MIB))] {
            for seed in 0..3 {
                let pool = Some(Pool { bytes: before.used_bytes + left, accounting, when_full: WhenFull::Drops });
                let caches = cache.into_iter().collect();
                let spec = MediumSpec { pool, before, caches, seed, ..MediumSpec::genuine(4 * GIB) };
                let mut medium = build(&spec).0;
                let found = probe(&mut medium, &QUICK, seed).verification;
                assert!(medium.is_exhausted());
                assert_eq!(
                    found.verdict,
                    Verdict::Fake,
                    "{accounting:?} {cache:?} {seed}: {}",
                    assay_lab::outline(&found)
                );
            }
        }
    }
}

/// A part of a period with errors in one lap was taken for a dropped one, and the real size was said to end there.
#[test]
fn errors_in_one_lap_end_no_period() {
    let wraps = MediumSpec::laid_out(237 * MIB, Layout::wraparound(32 * MIB));
    for on in [Operations::Writes, Operations::Both] {
        let spec = wraps.clone().with_errors(26 * MIB..41 * MIB, on);
        let found = probe(&mut build(&spec).0, &QUICK, 1).verification;
        let real = (found.kind, found.real_bytes);
        assert_eq!(real, (Some(FakeKind::Wraparound), Some(32 * MIB)), "{on:?}: {}", assay_lab::outline(&found));
        // Errors in all laps at the end, or where the first lap begins: it remains open whether that part is dropped,
        // or protected.
        let laps = (0..8).fold(wraps.clone(), |spec, lap| {
            spec.with_errors((32 * lap + 20) * MIB..((32 * lap + 32) * MIB).min(237 * MIB), on)
        });
        for spec in [laps, wraps.clone().with_errors(0..3 * MIB, on)] {
            let found = probe(&mut build(&spec).0, &QUICK, 1).verification;
            let exact = found.real_bytes.map(|real| (real, real));
            let (low, high) = exact.or(found.real_low_bytes.zip(found.real_high_bytes)).unwrap();
            assert_eq!(found.verdict, Verdict::Fake, "{on:?}: {}", assay_lab::outline(&found));
            assert!((low..=high).contains(&(32 * MIB)), "{on:?}: {}", assay_lab::outline(&found));
        }
    }
}

/// A place that only a cache showed was read before each other one, which renewed it, and it was added to the real
/// size.
#[test]
fn what_a_cache_shows_is_nothing_to_clear_the_bus_with() {
    let random = Cache {
        eviction: Eviction::LeastRecentlyUsedFilledByReads,
        takes: CachedWrites::Random,
        ..Cache::with_bytes(148 << 10)
    };
    for seed in 0..3 {
        let spec = MediumSpec { seed, ..MediumSpec::limbo(2 * GIB, 2 * MIB) };
        let spec = spec.with_dropped(DroppedRead::LastOnBus).with_cache(random);
        let (mut medium, before) = build(&spec);
        let found = probe(&mut medium, &QUICK, seed).verification;
        let real = (found.kind, found.real_bytes);
        assert_eq!(real, (Some(FakeKind::Limbo), Some(2 * MIB)), "{seed}: {}", assay_lab::outline(&found));
        assert_eq!(medium.changed_since(&before), [0; 0]);
    }
}

/// If memory is used up before all samples are written, the size was called a limbo if some samples erred. Behind a
/// large cache, more was reported than the memory holds.
#[test]
fn memory_that_is_used_up_is_never_less_than_what_is_said_to_hold() {
    let units = Accounting::Units { unit_bytes: 4096, zeros_are_free: false };
    let pool = Some(Pool { bytes: 7 * MIB, accounting: units, when_full: WhenFull::Drops });
    let thin = MediumSpec { pool, ..MediumSpec::genuine(2 * GIB).blank() };
    let erring = (1..20)
        .fold(thin.clone(), |spec, part| spec.with_errors(part * 100 * MIB..(part * 100 + 5) * MIB, Operations::Both));
    let sequential = Cache { takes: CachedWrites::Sequential, ..Cache::with_bytes(48 * MIB) };
    let hidden = MediumSpec { pool: pool.map(|pool| Pool { bytes: 13 * MIB, ..pool }), ..thin }.with_cache(sequential);
    for spec in [erring, hidden] {
        for seed in 0..4 {
            let found = probe(&mut build(&spec).0, &QUICK, seed).verification;
            let real = spec.pool.unwrap().bytes;
            // The cache hides everything if no sample was lost.
            if found.verdict == Verdict::Genuine && !spec.caches.is_empty() {
                continue;
            }
            let (low, high) = found.real_low_bytes.zip(found.real_high_bytes).unwrap();
            assert_eq!(found.verdict, Verdict::Fake, "{seed}: {}", assay_lab::outline(&found));
            assert!((low..=high).contains(&real), "{seed}: {}", assay_lab::outline(&found));
        }
    }
}

/// A cache larger than can be evicted showed all samples, no losing place was known, and the size was an interval
/// around what the cache showed.
#[test]
fn a_cache_that_nothing_drives_out_makes_no_size() {
    let pages =
        Cache { page_bytes: 65_536, eviction: Eviction::LeastRecentlyUsedFilledByReads, ..Cache::with_bytes(20 * MIB) };
    for seed in 0..3 {
        let spec = MediumSpec { seed, ..MediumSpec::laid_out(112 * MIB, Layout::wraparound(17 * MIB + 512 * seed)) };
        let found = probe(&mut build(&spec.with_cache(pages)).0, &QUICK, seed).verification;
        let exact = found.real_bytes.map(|real| (real, real));
        let said = exact.or(found.real_low_bytes.zip(found.real_high_bytes));
        assert_eq!(found.verdict, Verdict::Fake, "{seed}: {}", assay_lab::outline(&found));
        assert!(
            said.is_none_or(|(low, high)| (low..=high).contains(&(17 * MIB + 512 * seed))),
            "{}",
            assay_lab::outline(&found)
        );
    }
}

/// Everything is restored in two rounds of writes. A device that refused the second round was called genuine.
#[test]
fn a_device_that_refuses_writes_at_the_very_end_is_not_genuine() {
    let mut failed = 0;
    for written in [28, 32, 36, 40] {
        let spec = MediumSpec::genuine(64 * MIB).that_fails(Trigger::AfterWritten(written * MIB), Failure::WriteErrors);
        let mut medium = build(&spec).0;
        let found = probe(&mut medium, &QUICK, 1).verification;
        assert!(found.verdict != Verdict::Genuine || !medium.has_failed(), "{written}: {}", assay_lab::outline(&found));
        failed += usize::from(medium.has_failed());
    }
    assert!(failed > 2, "{failed}");
}

/// Nothing was written after everything was read back, and a device that had begun to refuse writes by then was called
/// genuine.
#[test]
fn a_device_that_refuses_writes_while_it_is_read_back_is_not_genuine() {
    let spec = MediumSpec::genuine(64 * MIB);
    let mut medium = build(&spec).0;
    probe(&mut medium, &QUICK, 1);
    let operations = medium.traffic().reads + medium.traffic().writes;
    for (before, failure) in [(2, Failure::ReadOnly), (2, Failure::WriteErrors), (150, Failure::ReadOnly)] {
        let failing = spec.clone().that_fails(Trigger::AfterOperations(operations - before), failure);
        let (mut medium, held) = build(&failing);
        let directory = place();
        let path = directory.path().join("journal");
        let journal = Journal::create(&path, &identity(&medium), Salt::known(1)).unwrap();
        let probed = run(&mut medium, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
        let found = probed.verification;
        assert!(
            medium.has_failed() && found.verdict == Verdict::Failed,
            "{before} {failure:?}: {}",
            assay_lab::outline(&found)
        );
        assert_eq!(probed.journal, JournalLeft::Needed, "{before} {failure:?}");
        // The block that was used to test whether the device still stores may hold the stamp written for that.
        let changed = medium.changed_since(&held);
        assert!(changed.len() <= 1, "{before} {failure:?}: {changed:?}");
        // The same content on a working medium.
        let (mut mended, held) = build(&spec);
        for at in changed {
            let mut content = [0; 512];
            medium.read_at(at, &mut content).unwrap();
            mended.write_at(at, &content).unwrap();
        }
        let identity = identity(&mended);
        let restored = restore(&path, &mut mended, &identity).unwrap();
        assert!(restored.is_complete() && mended.changed_since(&held).is_empty(), "{before} {failure:?}: {restored:?}");
    }
}

/// Everything read as before, because a cache showed it or writes landed elsewhere, and the journal was removed
/// although the owner's data had changed.
#[test]
fn where_reading_back_proves_nothing_the_journal_is_kept() {
    let shift = Misaddress::Shift { from_bytes: 500 * MIB, by_sectors: 1014, on: Operations::Writes };
    let shifted =
        MediumSpec { misaddress: Some(shift), ..MediumSpec::genuine(GIB) }.with_cache(Cache::with_bytes(60 * MIB));
    let worn = Decay { retention: Retention::Reads(3), range: 300 * MIB..GIB };
    let worn = MediumSpec { decay: Some(worn), ..MediumSpec::genuine(GIB) }.with_cache(Cache::with_bytes(64 << 10));
    for (spec, why) in [(shifted, "land elsewhere"), (worn, "may not last")] {
        let (mut medium, before) = build(&spec);
        let probed = probe(&mut medium, &QUICK, 1);
        let said = probed.restored.unwrap().to_string();
        let changed = medium.changed_since(&before).len();
        assert!(
            changed > 0 && (probed.journal == JournalLeft::Needed),
            "{changed}: {}, {said}",
            assay_lab::outline(&probed.verification)
        );
        assert!(said.contains(why), "{}: {said}", assay_lab::outline(&probed.verification));
    }
}

/// A probe of a second, stopped for an hour, did not end after that hour.
#[test]
fn time_in_which_the_process_was_stopped_is_not_counted() {
    let mut medium = build(&MediumSpec::genuine(GIB)).0;
    let directory = place();
    let journal = Journal::create(&directory.path().join("journal"), &identity(&medium), Salt::known(1)).unwrap();
    let control = Control::default();
    let probed = run(&mut medium, journal, &QUICK, &control, &mut |_| {
        if !control.stopped() {
            let stopped = Duration::from_millis(1200);
            std::thread::sleep(stopped);
            control.beat(stopped);
            control.stop();
        }
    })
    .unwrap();
    assert_eq!(probed.verification.ended, Some(EarlyEnd::Interrupted));
}

#[test]
fn a_region_that_errs_is_mapped_and_ends_nothing() {
    let spec = MediumSpec::genuine(8 * GIB).with_errors(3 * GIB..4 * GIB, Operations::Both);
    let found = probe(&mut build(&spec).0, &QUICK, 3).verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Damaged, None));
    let part = |offset_bytes, bytes| Extent { offset_bytes, bytes };
    assert_eq!(found.holds, [part(0, 3 * GIB), part(4 * GIB, 4 * GIB)]);
    for cell in &found.map {
        let bad = 3 * GIB <= cell.offset_bytes && cell.offset_bytes + cell.bytes <= 4 * GIB;
        assert!(!bad || cell.counts.unreadable > 0, "{cell:?}");
    }
    // Finding 7: errors at the very first block caused a refusal.
    let spec = MediumSpec::genuine(GIB).with_errors(0..4096, Operations::Both);
    assert_eq!(probe(&mut build(&spec).0, &QUICK, 3).verification.verdict, Verdict::Damaged);
}

#[test]
fn what_cannot_be_probed_is_refused_untouched() {
    let (mut small, _) = build(&MediumSpec::genuine(LEAST_BYTES - 512));
    let directory = place();
    let path = directory.path().join("journal");
    let journal = Journal::create(&path, &identity(&small), Salt::known(1)).unwrap();
    let refused = run(&mut small, journal, &QUICK, &Control::default(), &mut |_| {});
    assert!(matches!(refused, Err(ProbeError::TooSmall { .. })));
    assert_eq!((small.traffic().reads, small.traffic().writes), (0, 0));
    // An existing journal belongs to a probe that was not restored.
    assert!(Journal::create(&path, &identity(&small), Salt::known(2)).is_err());
}

#[test]
fn a_missing_part_is_described() {
    let found = probe(&mut build(&MediumSpec::limbo(64 * GIB, 8 * GIB)).0, &QUICK, 1).verification;
    let share = found.checked_bytes as f64 / found.announced_bytes as f64;
    let tested = found.reach.as_ref().unwrap().tested_share;
    assert!(tested > 0.0 && tested < 0.5 && (tested - share).abs() < 1e-9, "{tested} {share}");
    assert_eq!((found.kind, found.real_bytes), (Some(FakeKind::Limbo), Some(8 * GIB)));
    assert_eq!((found.announced_bytes, found.sign), (64 * GIB, None));
    assert_eq!(found.first_error.unwrap().offset_bytes, 8 * GIB);
    assert_eq!(found.counts.total() * 512, found.checked_bytes);
}

/// The probe waited for a hang without end, and ignored `--hang-after`.
#[test]
fn a_device_that_hangs_ends_the_probe_as_failed_with_its_journal() {
    let spec = MediumSpec::genuine(GIB).that_fails(Trigger::AfterOperations(1000), Failure::Hangs(Hang::Blocks));
    let medium = build(&spec).0;
    let gate = medium.gate();
    let mut device = TimedDevice::new(medium, Duration::from_millis(300)).unwrap();
    let probed = probe(&mut device, &QUICK, 1);
    assert_eq!(probed.verification.verdict, Verdict::Failed, "{}", assay_lab::outline(&probed.verification));
    assert!((probed.journal == JournalLeft::Needed) && matches!(probed.ended, Ended::Device(ProbeFault::Hung)));
    gate.open();
}
