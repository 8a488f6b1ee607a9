//! The full check of media drawn by seed, as real devices with real file systems. Their truth is known from their
//! parameters alone.
//!
//! `ASSAY_CAMPAIGN_SEEDS=500 cargo test -p assay-verify --test it mounted_campaign:: -- --nocapture` judges more of
//! them and shows the confusion matrix; each takes seconds.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_core::verification::{Remark, Verification};
use assay_engine::Control;
use assay_lab::media::{
    Accounting, Cache, Class, Failure, Flips, FoundVerdict, Layout, MediumSpec, Pool, SharedMedium, Trigger, Truth,
    WhenFull,
};
use assay_lab::{FakeCard, FileSystem, Lab, Missing, Mount, SplitMix, skip};
use assay_verify::files::{CheckPlan, CheckSettings, check};

const MIB: u64 = 1 << 20;
/// Cache size that the check assumes; the media have caches up to this size.
const CACHE: u64 = 8 * MIB;
const SYSTEMS: [FileSystem; 4] = [FileSystem::Ext2, FileSystem::Ext4, FileSystem::Exfat, FileSystem::Xfs];

/// A multiple of the sector size between two hundredths of `bytes`.
fn part(dice: &mut SplitMix, bytes: u64, low: u64, high: u64) -> u64 {
    (bytes / 100 * low + dice.below(bytes / 100 * (high - low))) / 512 * 512
}

/// A medium, and the file system to make on it.
fn drawn(seed: u64) -> (MediumSpec, FileSystem) {
    let mut dice = SplitMix::new(seed);
    let file_system = SYSTEMS[dice.below(16).min(12) as usize / 4];
    let size = if file_system == FileSystem::Xfs { 310 * MIB } else { (64 + dice.below(32)) * MIB };
    let genuine = MediumSpec { seed, ..MediumSpec::genuine(size).blank() };
    let laid_out = |layout| MediumSpec { layout, ..genuine.clone() };
    // File systems keep their tables at the beginning, and need them.
    let real = part(&mut dice, size, 30, 98);
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
            genuine.clone().that_fails(Trigger::AfterWritten(part(&mut dice, size, 40, 90)), failure)
        }
        _ => MediumSpec { flips: Flips { per_write: 1e-4, ..Flips::none() }, ..genuine.clone() },
    };
    match dice.below(2) {
        0 => (spec.with_cache(Cache::with_bytes(MIB << dice.below(4))), file_system),
        _ => (spec, file_system),
    }
}

/// The result for a medium, and the truth.
struct Judged {
    found: FoundVerdict,
    verification: Verification,
    /// The truth as far as the medium had shown it at the end of the check.
    shown: Truth,
}

/// Missing share of a fake's announced size; `None` if nothing is missing, or that is not its defect.
fn lacks(spec: &MediumSpec) -> Option<f64> {
    let announced = spec.announced_bytes;
    let reliable: u64 = spec.layout.reliable(announced).iter().map(|part| part.end - part.start).sum();
    let real = spec.pool.map_or(reliable, |pool| pool.bytes.min(reliable));
    (real < announced).then(|| (announced - real) as f64 / announced as f64)
}

/// `None` if its file system cannot be made or written, which is so for many fakes.
fn judged(spec: &MediumSpec, file_system: FileSystem) -> Result<Option<Judged>, Missing> {
    let medium = SharedMedium::new(spec.build().unwrap());
    let card = FakeCard::new(medium.clone())?;
    let directory = tempfile::tempdir().unwrap();
    let Ok(mount) = Mount::make(file_system, card.path(), &directory.path().join("mnt")) else { return Ok(None) };
    // If a medium fails after some writing, nothing may be written after the last reading.
    let keep = spec.failure.is_some();
    let hang_after = Duration::from_secs(60);
    let settings = CheckSettings { cache_bytes: CACHE, hang_after, keep, ..CheckSettings::default() };
    let Ok(plan) = CheckPlan::new(mount.path(), &settings) else { return Ok(None) };
    let Ok(checked) = check(&plan, &settings, &Control::default(), &mut |_| {}) else { return Ok(None) };
    let verification = checked.verification;
    let found = FoundVerdict::from(verification.verdict);
    let (failed, exhausted) = medium.with(|medium| (medium.has_failed(), medium.is_exhausted()));
    let mut shown = Truth::as_shown(spec, failed, exhausted);
    if lacks(spec).is_some_and(|share| verification.reach.is_some_and(|reach| reach.loss_share >= share)) {
        // Less is missing than is certainly found: the file system's own space, and the space left free.
        shown.right.push(FoundVerdict::Genuine);
    }
    Ok(Some(Judged { found, verification, shown }))
}

/// Whether the size matches the medium, or is within the stated interval; `None` if no size is to be stated.
fn size_is_right(judged_case: &Judged, device_bytes: u64) -> Option<bool> {
    let real = &judged_case.shown.real_bytes;
    let (least, most) = (*real.first()?, *real.last()?);
    if judged_case.found != FoundVerdict::Fake {
        return None;
    }
    let v = &judged_case.verification;
    Some(match (v.real_bytes, v.real_low_bytes, v.real_high_bytes) {
        // If addresses are not reported, sizes are those of the free space.
        (Some(bytes), ..) => (least.saturating_sub(device_bytes - v.announced_bytes)..=most).contains(&bytes),
        (None, Some(low), Some(high)) => low <= most && least <= high,
        _ => false,
    })
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
    let mut sizes: BTreeMap<(Class, bool), u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in seeds() {
        // Releases the lab between two media, so that other tests get a turn.
        let _lab = match Lab::share() {
            Ok(lab) => lab,
            Err(missing) => return skip(TEST, &missing),
        };
        let (spec, file_system) = drawn(seed);
        let class = Truth::about_medium(&spec).class;
        let judged_case = match judged(&spec, file_system) {
            Ok(judged_case) => judged_case,
            Err(missing) => return skip(TEST, &missing),
        };
        let column = match judged_case.as_ref().map(|judged_case| judged_case.found) {
            None => "refused",
            Some(FoundVerdict::Genuine) => "genuine",
            Some(FoundVerdict::Fake) => "fake",
            Some(FoundVerdict::Damaged) => "damaged",
            Some(FoundVerdict::Failed) => "failed",
            Some(FoundVerdict::Undecided) => "cannot tell",
        };
        *matrix.entry(class).or_default().entry(column).or_default() += 1;
        let Some(judged_case) = judged_case else { continue };
        let words = format!("{seed} {class:?} on {file_system:?}: {}", assay_lab::outline(&judged_case.verification));
        // A driver that finds its tables dropped refuses to write, so nothing of the check reached the missing part.
        let v = &judged_case.verification;
        let advised = v.remarks.contains(&Remark::ProbeDecides);
        if judged_case.found == FoundVerdict::Damaged
            && judged_case.shown.right.contains(&FoundVerdict::Fake)
            && advised
        {
            println!("refused by its file system: {words}");
        } else if !judged_case.shown.right.contains(&judged_case.found) {
            println!("{words}");
            wrong.push(words);
        } else if let Some(right) = size_is_right(&judged_case, spec.announced_bytes) {
            *sizes.entry((class, right)).or_default() += 1;
            if !right {
                println!("size of {words}; {:?}", judged_case.shown.real_bytes);
            }
        }
    }
    const COLUMNS: [&str; 6] = ["genuine", "fake", "damaged", "failed", "cannot tell", "refused"];
    println!("{:<14}{}", "truth", COLUMNS.map(|column| format!("{column:>13}")).concat());
    for (class, row) in &matrix {
        let row = COLUMNS.map(|column| format!("{:>13}", row.get(column).copied().unwrap_or(0))).concat();
        println!("{:<14}{row}", format!("{class:?}").to_lowercase());
    }
    println!("sizes: {sizes:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
