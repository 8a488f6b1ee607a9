//! The full check of media drawn by seed, as real devices with real file systems, whose truth is known from
//! their parameters alone.
//!
//! `ASSAY_CAMPAIGN_SEEDS=500 cargo test -p assay-verify --test mounted_campaign -- --nocapture` judges more of
//! them and shows the confusion matrix; each takes seconds.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::BTreeMap;
use std::time::Duration;

use assay_core::verification::{Verdict, Verification};
use assay_engine::Control;
use assay_lab::media::{
    Accounting, Cache, Class, Failure, Flips, Found, Layout, MediumSpec, Pool, SharedMedium, Trigger, Truth, WhenFull,
};
use assay_lab::{FakeCard, FileSystem, Lab, Missing, Mount, skip};
use assay_verify::files::{Plan, Settings, check};

const MIB: u64 = 1 << 20;
/// What the check assumes of caches, and the largest ones that the media have.
const CACHE: u64 = 8 * MIB;
const SYSTEMS: [FileSystem; 4] = [FileSystem::Ext2, FileSystem::Ext4, FileSystem::Exfat, FileSystem::Xfs];

/// Numbers that repeat from run to run (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end.max(1)
    }

    /// Whole sectors between two hundredths of `bytes`.
    fn part(&mut self, bytes: u64, low: u64, high: u64) -> u64 {
        (bytes / 100 * low + self.below(bytes / 100 * (high - low))) / 512 * 512
    }
}

/// A medium, and the file system that is made on it.
fn drawn(seed: u64) -> (MediumSpec, FileSystem) {
    let mut dice = Dice(seed);
    let file_system = SYSTEMS[dice.below(16).min(12) as usize / 4];
    let size = if file_system == FileSystem::Xfs { 310 * MIB } else { (64 + dice.below(32)) * MIB };
    let genuine = MediumSpec { seed, ..MediumSpec::genuine(size).blank() };
    let laid_out = |layout| MediumSpec { layout, ..genuine.clone() };
    // File systems keep their tables at the beginning, and need them.
    let real = dice.part(size, 30, 98);
    let spec = match dice.below(10) {
        0..3 => genuine.clone(),
        3..5 => laid_out(Layout::first(real)),
        5 => laid_out(Layout::wraparound(real)),
        6 => laid_out(Layout::window(real, 4 * MIB)),
        7 => {
            let compressed = dice.below(2) == 0;
            let units = Accounting::Units { unit_bytes: 64 << 10, zeros_are_free: false };
            let accounting = if compressed { Accounting::Compressed } else { units };
            MediumSpec { pool: Some(Pool { bytes: real, accounting, when_full: WhenFull::Drops }), ..genuine.clone() }
        }
        8 => {
            let failure = [Failure::DropsWrites, Failure::ReadOnly, Failure::WriteErrors][dice.below(3) as usize];
            genuine.clone().that_fails(Trigger::AfterWritten(dice.part(size, 40, 90)), failure)
        }
        _ => MediumSpec { flips: Flips { per_write: 1e-4, ..Flips::none() }, ..genuine.clone() },
    };
    match dice.below(2) {
        0 => (spec.with_cache(Cache::of(MIB << dice.below(4))), file_system),
        _ => (spec, file_system),
    }
}

fn found(found: &Verification) -> Found {
    match found.verdict {
        Verdict::Genuine => Found::Genuine,
        Verdict::Fake => Found::Fake,
        Verdict::Damaged => Found::Damaged,
        Verdict::Failed => Found::Failed,
        Verdict::Undecided | Verdict::Other => Found::Undecided,
    }
}

/// What is said of a medium, and the sentence; `None` where its file system cannot be made or written, which
/// many a fake's cannot.
fn judged(spec: &MediumSpec, file_system: FileSystem) -> Result<Option<(Found, String)>, Missing> {
    let medium = SharedMedium::new(spec.build().unwrap());
    let card = FakeCard::new(medium)?;
    let directory = tempfile::tempdir().unwrap();
    let Ok(mount) = Mount::make(file_system, card.path(), &directory.path().join("mnt")) else { return Ok(None) };
    let settings = Settings { cache_bytes: CACHE, hang_after: Duration::from_secs(60), ..Settings::default() };
    let Ok(plan) = Plan::new(mount.path(), &settings) else { return Ok(None) };
    match check(&plan, &settings, &Control::default(), &mut |_| {}) {
        Ok(checked) => Ok(Some((found(&checked.verification), checked.verification.sentence))),
        Err(_) => Ok(None),
    }
}

fn seeds() -> std::ops::Range<u64> {
    let text = std::env::var("ASSAY_CAMPAIGN_SEEDS").unwrap_or("8".to_owned());
    match text.split_once("..") {
        Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        None => 0..text.parse().unwrap(),
    }
}

#[test]
fn media_with_file_systems_are_judged() {
    const TEST: &str = "media_with_file_systems_are_judged";
    let mut matrix: BTreeMap<Class, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in seeds() {
        // Others may have their turn between two media.
        let _lab = match Lab::enter() {
            Ok(lab) => lab,
            Err(missing) => return skip(TEST, &missing),
        };
        let (spec, file_system) = drawn(seed);
        let truth = Truth::of(&spec);
        let said = match judged(&spec, file_system) {
            Ok(said) => said,
            Err(missing) => return skip(TEST, &missing),
        };
        let column = match &said {
            None => "refused",
            Some((found, _)) => match found {
                Found::Genuine => "genuine",
                Found::Fake => "fake",
                Found::Damaged => "damaged",
                Found::Failed => "failed",
                Found::Undecided => "cannot tell",
            },
        };
        *matrix.entry(truth.class).or_default().entry(column).or_default() += 1;
        if let Some((found, sentence)) = said {
            // A medium that never came to fail is as good as genuine, and one that destroys its own file
            // system errs in many ways.
            let accused = truth.class == Class::Genuine && found != Found::Genuine;
            let never_failed = matches!(truth.class, Class::Failing | Class::Thin | Class::Compressing);
            let believed = found == Found::Genuine && !truth.right.contains(&Found::Genuine) && !never_failed;
            if accused || believed || !truth.right.contains(&found) {
                println!("{seed} {:?} on {file_system:?}: {sentence}", truth.class);
            }
            if accused || believed {
                wrong.push((seed, truth.class, sentence));
            }
        }
    }
    const COLUMNS: [&str; 6] = ["genuine", "fake", "damaged", "failed", "cannot tell", "refused"];
    println!("{:<14}{}", "truth", COLUMNS.map(|column| format!("{column:>13}")).concat());
    for (class, row) in &matrix {
        let row = COLUMNS.map(|column| format!("{:>13}", row.get(column).copied().unwrap_or(0))).concat();
        println!("{:<14}{row}", format!("{class:?}").to_lowercase());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
