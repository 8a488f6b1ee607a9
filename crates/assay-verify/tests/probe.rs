//! The quick probe against models whose truth is known.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::path::Path;

use assay_core::verification::{FakeKind, Verdict};
use assay_verify::fakes::{Counting, Damage, Dying, Geometry, Memory, Model, Stack};
use assay_verify::probe::{
    Device, Ended, Identity, Journal, LEAST_BYTES, Phase, ProbeError, Probed, Salt, Settings, UNIT, plan, restore, run,
};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Announced sizes, odd ones among them: decimal gigabytes, whole MiB, not a power of two.
const SIZES: [u64; 16] = [
    64 * MIB,
    100 * MIB,
    256 * MIB,
    500_000_256,
    GIB,
    2_003_828_736,
    4 * GIB,
    7_990_149_120,
    16 * GIB,
    31_914_983_424,
    64 * GIB,
    128_043_712_512,
    256 * GIB,
    500_107_862_016,
    1 << 40,
    2 << 40,
];

/// Twice the sequential cache that was seen in the field: the tests need not write more.
const QUICK: Settings = Settings { cache_limit_bytes: 8 * MIB };

/// In memory where that is, since each save is synced.
fn place() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn identity(device: &impl Device) -> Identity {
    Identity { bytes: device.bytes(), name: "model".to_owned(), serial: None }
}

fn probe<D: Device>(device: &mut D, settings: &Settings, seed: u64) -> Probed {
    let directory = place();
    let journal = Journal::create(&directory.path().join("journal"), &identity(device), Salt::known(seed)).unwrap();
    let probed = run(device, journal, settings, &|| false, &mut |_| {}).unwrap();
    assert_eq!(directory.path().join("journal").exists(), probed.journal_kept);
    probed
}

/// Numbers that repeat from run to run (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low).max(1)
    }

    /// Whole MiB from a part of `bytes` to another, in thousandths.
    fn part(&mut self, bytes: u64, low: u64, high: u64) -> u64 {
        (self.from(bytes / 1000 * low, bytes / 1000 * high) / MIB * MIB).max(2 * MIB)
    }

    /// A power of two from a 64th of `bytes` to below it.
    fn power(&mut self, bytes: u64) -> u64 {
        let top = 63 - u64::from((bytes - 2 * MIB).leading_zeros());
        1 << self.from(top.saturating_sub(6).max(22), top + 1)
    }
}

/// The `index`-th medium of a population of fakes and damaged ones.
fn bad_medium(index: u64) -> Model {
    let mut dice = Dice(index);
    let size = SIZES[(index / 8) as usize % SIZES.len()];
    let mut model = match index % 4 {
        0 => Model::of(Geometry::limbo(size / 4096 * 4096, dice.part(size, 10, 980))),
        1 => {
            // A period that is no power of two needs the comb, which is fine enough up to here.
            let odd = index.is_multiple_of(3) && size <= 64 * GIB;
            let wrap = if odd { dice.part(size, 50, 900) } else { dice.power(size) };
            let geometry = Geometry::wraparound(size / 4096 * 4096, wrap);
            Model::of(if index.is_multiple_of(5) { geometry.shuffled() } else { geometry })
        }
        2 => {
            let wrap = dice.power(size);
            let real = dice.part(wrap, 60, 950).min(wrap - MIB);
            Model::of(Geometry::chain(size / 4096 * 4096, real, wrap))
        }
        _ => {
            let damage = if dice.next().is_multiple_of(2) { Damage::Errs } else { Damage::Corrupts };
            let mut model = Model::of(Geometry::genuine(size));
            for _ in 0..dice.from(1, 4) {
                let start = dice.from(0, size / 10 * 8) / 4096 * 4096;
                model = model.with_damage(start..start + size / 20 / 4096 * 4096, damage);
            }
            model
        }
    };
    model.dropped = if dice.next().is_multiple_of(2) { 0 } else { 0xff };
    model.seed = index;
    if index / 4 % 2 == 1 {
        let random = [8 << 10, 64 << 10, MIB][dice.next() as usize % 3];
        model = model.with_caches(random, 4 * MIB);
    }
    model
}

fn judged(model: &Model, settings: &Settings, seed: u64) -> Result<(), String> {
    let mut device = Counting::new(model.build().unwrap());
    let probed = probe(&mut device, settings, seed);
    let found = &probed.verification;
    let expected = model.expected();
    let near = match expected.real_bytes {
        Some(real) => found.real_bytes.is_some_and(|found| found.abs_diff(real) <= UNIT),
        None => true,
    };
    let most = plan(device.bytes(), settings);
    let inside = device.written_bytes <= most.most_written_bytes && device.read_bytes <= most.most_read_bytes;
    let as_before = model.is_as_before(device.inner());
    let right = found.verdict == expected.verdict && found.kind == expected.kind && near;
    if right && inside && as_before && !probed.journal_kept && matches!(probed.ended, Ended::Complete) {
        return Ok(());
    }
    Err(format!(
        "seed {seed}: {model:?}\n  expected {expected:?}, found {:?} {:?} {:?} ({:?})\n  inside the plan: {inside} ({} {} of {most:?}), as before: {as_before}, journal kept: {}",
        found.verdict,
        found.kind,
        found.real_bytes,
        probed.ended,
        device.written_bytes,
        device.read_bytes,
        probed.journal_kept
    ))
}

/// Seeds of the population: `ASSAY_TEST_SEEDS=10000..12000` judges others than the usual ones.
fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("ASSAY_TEST_SEEDS") else { return usual };
    let (from, to) = asked.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

/// Judges all, on both processors, and shows every miss.
fn all_judged(models: &[(Model, Settings)]) {
    let (left, right) = models.split_at(models.len() / 2);
    let judge = |part: &[(Model, Settings)], from: usize| -> Vec<String> {
        (from as u64..)
            .zip(part)
            .filter_map(|(seed, (model, settings))| judged(model, settings, seed.max(model.seed)).err())
            .collect()
    };
    let misses = std::thread::scope(|scope| {
        let other = scope.spawn(|| judge(right, left.len()));
        let mut misses = judge(left, 0);
        misses.extend(other.join().unwrap());
        misses
    });
    assert!(misses.is_empty(), "{} of {} wrong\n{}", misses.len(), models.len(), misses.join("\n"));
}

#[test]
fn fakes_and_damaged_media_of_every_kind_and_size_are_told() {
    let models: Vec<_> = seeds(0..240).map(|index| (bad_medium(index), QUICK)).collect();
    all_judged(&models);
}

#[test]
fn no_genuine_medium_is_accused() {
    let models: Vec<_> = (0..500)
        .map(|index| {
            let mut dice = Dice(index);
            let size = dice.from(64 * MIB, SIZES[index as usize % SIZES.len()].max(65 * MIB)) / 512 * 512;
            let mut model = Model::of(Geometry::genuine(size));
            model.seed = index;
            if index % 2 == 1 {
                model = model.with_caches(8 << 10, 4 * MIB);
            }
            // What is driven out of caches hides nothing here; less of it keeps the tests quick.
            let limit = if index % 10 == 0 { 4 * MIB } else { MIB / 4 };
            (model, Settings { cache_limit_bytes: limit })
        })
        .collect();
    all_judged(&models);
}

#[test]
fn the_ends_of_the_range_are_told() {
    let genuine = 64 * GIB;
    let models = [
        // The last MiB is missing, and all but the first four MiB.
        Geometry::limbo(genuine, genuine - MIB),
        Geometry::limbo(2 << 40, 4 * MIB),
        Geometry::wraparound(64 * MIB, 32 * MIB),
        Geometry::wraparound(2 << 40, 64 * MIB),
        Geometry::wraparound(3 * GIB, 2 * GIB),
        Geometry::chain(2 << 40, 8 * MIB, GIB),
        // Not a power of two, found by the comb.
        Geometry::wraparound(10 * GIB, 3 * 1000 * MIB),
        Geometry::wraparound(64 * GIB, 7 * GIB).shuffled(),
        Geometry::chain(8 * GIB, 1200 * MIB, 3 * 700 * MIB),
        // Nothing holds.
        Geometry::limbo(genuine, 0),
    ];
    let models: Vec<_> = models.into_iter().map(|geometry| (Model::of(geometry), QUICK)).collect();
    all_judged(&models);
}

#[test]
fn a_probe_of_a_fake_terabyte_moves_at_most_two_gibibytes() {
    // The worst: a cache as large as is still seen through, so that every round drives it out.
    let settings = Settings::default();
    let cases = [
        Model::of(Geometry::limbo(1 << 40, 29 * GIB)),
        Model::of(Geometry::limbo(1 << 40, 29 * GIB)).with_caches(MIB, 60 * MIB),
        Model::of(Geometry::wraparound(1 << 40, 32 * GIB)).with_caches(8 << 10, 4 * MIB),
        Model::of(Geometry::chain(1 << 40, 29 * GIB, 32 * GIB)).with_caches(MIB, 4 * MIB),
    ];
    for (seed, model) in (0..).zip(cases) {
        let mut device = Counting::new(model.build().unwrap());
        let found = probe(&mut device, &settings, seed).verification;
        assert_eq!(found.verdict, Verdict::Fake);
        assert!(device.written_bytes + device.read_bytes <= 2 * GIB, "{} {}", device.written_bytes, device.read_bytes);
        eprintln!(
            "{:?}: written {} MiB, read {} MiB, cache {:?}",
            found.kind,
            device.written_bytes >> 20,
            device.read_bytes >> 20,
            found.cache_bytes
        );
    }
    // And whatever the device does.
    let most = plan(1 << 40, &settings);
    assert!(most.most_written_bytes + most.most_read_bytes <= 2 * GIB, "{most:?}");
}

#[test]
fn a_cache_is_measured() {
    let model = Model::of(Geometry::limbo(16 * GIB, 4 * GIB)).with_caches(8 << 10, 4 * MIB);
    let found = probe(&mut model.build().unwrap(), &QUICK, 5).verification;
    // Two blocks of 4 KiB are driven out by the first step, of eight.
    assert_eq!(found.cache_bytes, Some(32 << 10));
    let without = Model::of(Geometry::limbo(16 * GIB, 4 * GIB));
    assert_eq!(probe(&mut without.build().unwrap(), &QUICK, 5).verification.cache_bytes, None);
}

#[test]
fn pulled_at_any_moment_everything_comes_back() {
    let models = [
        Model::of(Geometry::wraparound(2 * GIB, 256 * MIB)).with_caches(8 << 10, 4 * MIB),
        Model::of(Geometry::chain(2 * GIB, 200 * MIB, 256 * MIB)),
        Model::of(Geometry::limbo(2 * GIB, 300 * MIB)).with_caches(MIB, 4 * MIB),
        Model::of(Geometry::genuine(2 * GIB)).with_caches(8 << 10, 4 * MIB),
        Model::of(Geometry::wraparound(2 * GIB, 256 * MIB).shuffled()),
    ];
    let mut dice = Dice(50);
    let (mut cut, mut cut_again) = (0, 0);
    for moment in 0..50 {
        let model = &models[moment % models.len()];
        let mut whole = Counting::new(model.build().unwrap());
        probe(&mut whole, &QUICK, moment as u64);

        let directory = place();
        let path = directory.path().join("journal");
        let mut dying = Dying::new(model.build().unwrap(), dice.from(0, whole.operations));
        let journal = Journal::create(&path, &identity(&dying), Salt::known(moment as u64)).unwrap();
        let probed = run(&mut dying, journal, &QUICK, &|| false, &mut |_| {}).unwrap();
        assert!(probed.journal_kept && probed.restored.is_err());
        let mut stack: Stack = dying.revive();
        cut += u64::from(!Model::memory(&stack).changed().is_empty());

        // The restore is cut too, then begun again.
        let mut once_more = Dying::new(stack, dice.from(0, 200));
        let identity = identity(&once_more);
        cut_again += u64::from(restore(&path, &mut once_more, &identity).is_err());
        stack = once_more.revive();
        if !path.exists() {
            // Pulled before anything was saved, there was nothing to do.
            assert_eq!(Model::memory(&stack).changed(), [0; 0]);
            continue;
        }
        let restored = restore(&path, &mut stack, &identity).unwrap();
        assert_eq!(Model::memory(&stack).changed(), [0; 0], "moment {moment}, {model:?}");
        assert_eq!(restored.differing, [0; 0]);
        // Pulled before its first write, nothing proves that it is the same device.
        assert!((!restored.journal_kept || restored.untouched) && restored.journal_kept == path.exists());
    }
    // The moments have to be such that there was something to put back.
    assert!(cut > 25 && cut_again > 25, "{cut} {cut_again}");
}

#[test]
fn told_to_stop_it_puts_everything_back() {
    let model = Model::of(Geometry::wraparound(2 * GIB, 256 * MIB));
    for limit in [1, 100, 600, 900] {
        let mut stack = model.build().unwrap();
        let directory = place();
        let journal =
            Journal::create(&directory.path().join("journal"), &identity(&stack), Salt::known(limit)).unwrap();
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > limit
        };
        let mut phases = Vec::new();
        let probed = run(&mut stack, journal, &QUICK, &stop, &mut |progress| phases.push(progress.phase)).unwrap();
        assert!(matches!(probed.ended, Ended::Stopped) && !probed.journal_kept);
        assert_eq!(probed.verification.verdict, Verdict::Undecided);
        assert_eq!(Model::memory(&stack).changed(), [0; 0]);
        // What was saved and not synced was not overwritten.
        assert!(limit <= 100 || phases.last() == Some(&Phase::Restoring));
    }
}

#[test]
fn a_region_that_errs_is_mapped_and_ends_nothing() {
    let model = Model::of(Geometry::genuine(8 * GIB)).with_damage(3 * GIB..4 * GIB, Damage::Errs);
    let found = probe(&mut model.build().unwrap(), &QUICK, 3).verification;
    assert_eq!(found.verdict, Verdict::Damaged);
    for cell in &found.map {
        let (start, end) = (cell.offset_bytes, cell.offset_bytes + cell.bytes);
        let bad = 3 * GIB <= start && end <= 4 * GIB;
        assert_eq!(cell.counts.unreadable > 0, bad, "{cell:?}");
    }
    // Errors up to the end: the part that holds is given, and nobody is accused.
    let model = Model::of(Geometry::genuine(8 * GIB)).with_damage(3 * GIB..8 * GIB, Damage::Errs);
    let found = probe(&mut model.build().unwrap(), &QUICK, 3).verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Damaged, None));
    assert!(found.real_bytes.unwrap().abs_diff(3 * GIB) <= UNIT);
}

#[test]
fn what_cannot_be_probed_is_refused_untouched() {
    let mut small = Counting::new(Memory::new(LEAST_BYTES - 512, 1));
    let directory = place();
    let path = directory.path().join("journal");
    let journal = Journal::create(&path, &identity(&small), Salt::known(1)).unwrap();
    let refused = run(&mut small, journal, &QUICK, &|| false, &mut |_| {});
    assert!(matches!(refused, Err(ProbeError::TooSmall { .. })));
    assert_eq!(small.operations, 0);
    // A journal that is there belongs to a probe that was not restored.
    assert!(Journal::create(&path, &identity(&small), Salt::known(2)).is_err());
}

#[test]
fn a_journal_is_taken_for_its_own_device_alone_and_with_a_torn_end() {
    let model = Model::of(Geometry::genuine(256 * MIB));
    let directory = place();
    let path = directory.path().join("journal");
    let mut dying = Dying::new(model.build().unwrap(), 800);
    let journal = Journal::create(&path, &identity(&dying), Salt::known(1)).unwrap();
    run(&mut dying, journal, &QUICK, &|| false, &mut |_| {}).unwrap();
    let mut stack = dying.revive();
    assert!(!Model::memory(&stack).changed().is_empty());

    let mut other = Memory::new(256 * MIB - 512, 9);
    let error = restore(&path, &mut other, &identity(&stack)).unwrap_err();
    assert!(error.to_string().contains("another device"), "{error}");

    // A record that was being written when the power went.
    let mut text = std::fs::read(&path).unwrap();
    let whole = text.len();
    text.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 9, 9, 9]);
    std::fs::write(&path, &text).unwrap();
    let identity = identity(&stack);
    assert_eq!(restore(&path, &mut stack, &identity).unwrap().differing, [0; 0]);
    assert_eq!(Model::memory(&stack).changed(), [0; 0]);

    std::fs::write(&path, &text[..whole.min(30)]).unwrap();
    assert!(restore(&path, &mut stack, &identity).unwrap_err().to_string().contains("is no journal"));
    std::fs::remove_file(&path).unwrap();
    assert!(restore(&path, &mut stack, &identity).unwrap_err().to_string().contains("no such journal"));
}

#[test]
fn a_missing_part_is_described_for_people() {
    let model = Model::of(Geometry::limbo(64 * GIB, 8 * GIB));
    let found = probe(&mut model.build().unwrap(), &QUICK, 1).verification;
    assert_eq!(found.kind, Some(FakeKind::Limbo));
    assert!(found.sentence.starts_with("fake: it announces "), "{}", found.sentence);
    let first = found.first_error.unwrap();
    assert!(first.offset_bytes >= 8 * GIB && first.offset_bytes <= 8 * GIB + UNIT);
    assert_eq!(found.counts.total() * 512, found.checked_bytes);
}
