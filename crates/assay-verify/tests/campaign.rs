//! The quick probe on media drawn by seed, whose truth is known from their parameters alone.
//!
//! `ASSAY_CAMPAIGN_SEEDS=2000 cargo test -p assay-verify --test campaign -- --nocapture` judges
//! more of them and shows the confusion matrix.
#![cfg(not(windows))] // its media are modelled by a crate for Linux
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and shows on request

use std::path::Path;
use std::sync::Arc;

use assay_engine::Control;
use assay_lab::campaign::{Campaign, CheckResult, Judgement, Report, Size};
use assay_lab::media::{FoundVerdict, MediumSpec, ModelMedium, Reach, catalogue, population};
use assay_lab::{Dying, MemoryDisk};
use assay_verify::probe::{Device, Journal, JournalIdentity, JournalLeft, ProbeError, ProbeSettings, Salt, run};

/// Less than the default, so that hundreds of media take seconds. Media beyond this are judged accordingly.
const SETTINGS: ProbeSettings = ProbeSettings { cache_limit_bytes: 8 << 20 };

/// The quick probe in the form that a campaign calls.
fn quick_probe(medium: &mut impl Device, seed: u64) -> CheckResult {
    probe(medium, seed, &SETTINGS)
}

fn probe(medium: &mut impl Device, seed: u64, settings: &ProbeSettings) -> CheckResult {
    let identity = JournalIdentity { bytes: medium.bytes(), name: "model".to_owned(), serial: None, attachment: None };
    let disk = Arc::new(MemoryDisk::default());
    let journal = Journal::create_on(disk, Path::new("journal"), &identity, Salt::known(seed)).unwrap();
    let probed = match run(medium, journal, settings, &Control::default(), &mut |_| {}) {
        Ok(probed) => probed,
        Err(ProbeError::TooSmall { .. } | ProbeError::LargeBlocks(_)) => return CheckResult::refused(),
        Err(error) => panic!("{error}"),
    };
    let verification = probed.verification;
    let found = FoundVerdict::from(verification.verdict);
    if std::env::var_os("ASSAY_CAMPAIGN_WORDS").is_some() {
        println!("{seed}: {} {:?} {:?}", assay_lab::outline(&verification), probed.ended, verification.cache_bytes);
    }
    // What it claims to detect: losses behind caches, but not pools, and the share of loss that it finds.
    let cache_bytes = verification.reach.and_then(|reach| reach.caches_up_to_bytes).unwrap_or(0);
    // A quarter of the run is read between two readings; a run this short is read back as a whole.
    let reach = Reach { cache_bytes, read_cache_bytes: cache_bytes / 4, share: 0.02, ..Reach::least() };
    let exact = verification.real_bytes.map(|real| real..=real);
    let between = verification.real_low_bytes.zip(verification.real_high_bytes).map(|(low, high)| low..=high);
    CheckResult {
        kind: verification.kind,
        real_bytes: exact.or(between),
        said_written_bytes: Some(verification.written_bytes),
        said_read_bytes: verification.read.map(|pass| pass.bytes),
        journal_kept: (probed.journal == JournalLeft::Needed),
        driven_out_bytes: settings.most_evicting_bytes(medium.bytes()),
        ..CheckResult::from_verdict(found, reach)
    }
}

#[test]
fn genuine_media_are_judged() {
    judged(population::genuine, 40);
}

#[test]
fn fakes_are_judged() {
    judged(population::fake, 100);
}

#[test]
fn failing_media_are_judged() {
    judged(population::failing, 60);
}

/// Fakes whose laps lead to the cells in another order, neighbours that share a cell, parts at the end, and
/// wrap-arounds of only reads or only writes.
#[test]
fn strange_fakes_are_judged() {
    judged(population::strange_fake, 60);
}

/// Media of the full size that drop or exchange writes now and then, and media with bad blocks all over.
#[test]
fn unreliable_media_are_judged() {
    judged(population::unreliable, 40);
}

fn judged(media: fn(u64) -> MediumSpec, usual: u64) {
    let report = Campaign::from_media(media, usual).run(quick_probe);
    println!("{report}");
    inexact(&report, media);
    assert_eq!((report.false_alarms().count(), report.harmed().count()), (0, 0));
}

#[test]
fn what_a_killed_probe_left_accuses_no_genuine_medium() {
    let report = Campaign::from_media(population::genuine, 60).run_on_used(killed_probe, quick_probe);
    println!("{report}");
    assert_eq!((report.false_alarms().count(), report.harmed().count()), (0, 0));
}

/// A probe with another salt that ends after some hundred operations and restores nothing.
fn killed_probe(medium: &mut ModelMedium, seed: u64) {
    quick_probe(&mut Dying::new(medium, 500 + seed % 1000), !seed);
}

/// Seeds of media that earlier versions judged wrongly, gave a wrong size, or left changed.
#[test]
fn what_was_wrong_once_stays_right() {
    for (media, seeds) in [
        (population::genuine as fn(u64) -> MediumSpec, &[800_056, 810_125][..]),
        (
            population::fake,
            &[
                710_906,
                710_978,
                3_000_257,
                3_000_263,
                3_000_287,
                3_000_319,
                3_000_556,
                3_000_636,
                3_000_652,
                3_000_812,
                3_000_859,
                4_000_130,
                11_000_290,
                // Errs when its cache is flushed, and drops what else is in it.
                21_000_159, // Holds two pages, of which the end of the device cuts one.
                21_001_465, // Holds a small part in the middle, most of which errs.
                21_001_770, // Keeps a part of what is written for a time.
                40_000_173, // Memory that is used up, of which a part loses what is written after a time.
                50_000_622, // Starts again near the end, behind a cache of three quarters of the run.
                50_000_487, // A single cell, of which a cache shows what was written in sequence.
                51_005_145, // Shows what crossed the bus, in front of which a cache lies.
                51_005_218, // Starts again, and reads land elsewhere in a part of the period.
                60_000_522, // Memory that is used up, some of which is given to what does not last.
                51_000_083,
                60_000_036,  // A period behind a larger cache, of which some places had been written before.
                90_000_221,  // A buffer of the controller behind the end, and a larger cache for writes in sequence.
                90_000_151,  // Holds both ends, and reads in between show these.
                140_000_262, // Holds a part in the middle, in which writes land beside where they were sent.
                140_002_277, // Errs when its memory is used up, a part of which does not last.
                140_001_352, // A chain that errs in its first lap.
                140_001_635, // Hold a small part, in which reads land elsewhere.
                140_005_164,
                140_005_703, // Blocks in another order each lap, most of which keep it in one.
                140_006_110,
            ],
        ),
        (
            population::failing,
            &[
                200_122, 800_179, 810_003, 810_039, 3_100_365, 3_100_460,
                // Reads that land elsewhere, in a part that keeps its data.
                20_000_002, // Behind the end, too.
                44_000_882, // Single bad sectors in blocks of 4 KiB.
                41_000_076, 44_000_120, 44_000_217, 44_000_555, 44_001_376,
                // Operations that land beside where they were sent, behind a large cache.
                44_000_779, 44_001_103, 56_000_106, // Those that land at the other state of an address line.
                64_001_199, // Drops every write, which a large cache shows.
                44_001_556, // Refuse writes from some moment of the last reading on.
                44_000_605, 44_001_580, // Drops every write, which a cache shows that is replaced at random.
                54_000_464, // Drops every write from some moment of the search on, and writes land elsewhere.
                54_000_771,
            ],
        ),
    ] {
        for seed in seeds {
            let report = Campaign::over(media, *seed..seed + 1).run(quick_probe);
            let bad = [report.wrong().count(), report.wrong_sizes().count(), report.harmed().count()];
            assert_eq!(bad, [0; 3], "{report}");
        }
    }
}

/// Seeds of fakes whose size earlier versions knew only as an interval.
#[test]
fn what_was_an_interval_once_is_exact() {
    for seed in [
        // Blocks in another order in each lap; a few of them keep their order by chance.
        160_000_143,
        160_000_184,
        // A cache larger than what is evicted without a known canary, in front of blocks in another order, and in front
        // of a window with errors below it.
        160_000_044,
        160_000_052,
        // A cache that needs more writes to evict for each test than a probe may write.
        160_000_210,
    ] {
        let report = Campaign::over(population::fake, seed..seed + 1).run(quick_probe);
        assert_eq!(report.cases[0].size, Some(Size::Exact), "{report}");
    }
}

/// An address line that fails in a wrap-around with a known period: places changed that were never saved.
#[test]
fn the_journal_is_kept_where_writes_landed_elsewhere() {
    let report = Campaign::over(population::fake, 160_000_273..160_000_274).run(quick_probe);
    let case = &report.cases[0];
    assert!(case.changed_sectors > 0 && !case.lost(), "{report}");
}

#[test]
fn the_catalogue_is_judged() {
    let rows = catalogue::devices().len() as u64;
    let campaign = Campaign::over(|row| catalogue::devices().swap_remove(row as usize).spec, 0..rows);
    // With the settings that users get.
    let report = campaign.run(|medium, row| probe(medium, row, &ProbeSettings::usual(medium.bytes())));
    for (named, case) in catalogue::devices().iter().zip(&report.cases) {
        let said = case.result.as_ref().unwrap();
        let kept = if said.journal_kept { ", journal kept" } else { "" };
        println!(
            "{:<55}{:<12} {:?} {:?} {:?}, {} sectors changed{kept}",
            named.name,
            format!("{:?}", case.judgement),
            said.found,
            said.kind,
            said.real_bytes,
            case.changed_sectors
        );
    }
    assert_eq!((report.false_alarms().count(), report.harmed().count()), (0, 0));
    for (named, case) in catalogue::devices().iter().zip(&report.cases) {
        let expected = match named.name {
            "limbo of 61 MiB, LRU cache of 96 MiB" => Judgement::BeyondReach,
            _ => Judgement::Right,
        };
        // For a thin medium an interval is stated.
        let sized =
            case.size.is_none_or(|size| size == Size::Exact || (size == Size::Inside && named.spec.pool.is_some()));
        let kind = case.kind_is_right != Some(false);
        assert!(case.judgement == expected && sized && kind, "{}: {case:#?}", named.name);
    }
}

/// Right results that could be more exact, with their seeds: `ASSAY_CAMPAIGN_WORDS=1`.
fn inexact(report: &Report, media: fn(u64) -> MediumSpec) {
    if std::env::var_os("ASSAY_CAMPAIGN_WORDS").is_none() {
        return;
    }
    for case in &report.cases {
        let Ok(said) = &case.result else { continue };
        let vague = case.size.is_some_and(|size| size != Size::Exact);
        if vague
            || case.kind_is_right == Some(false)
            || case.lost()
            || case.elapsed_ns > 300_000_000_000
            || case.traffic.writes > 20_000
        {
            println!(
                "{:>6} {:?} {:?}: {:?} {:?} {:?}, {:?}, {} s, {} writes, {} reads, {} sectors changed",
                case.seed,
                case.truth.class,
                case.truth.real_bytes,
                said.found,
                said.kind,
                said.real_bytes,
                case.size,
                case.elapsed_ns / 1_000_000_000,
                case.traffic.writes,
                case.traffic.reads,
                case.changed_sectors
            );
            let spec = media(case.seed);
            println!(
                "       {} bytes, {:?}, dropped {:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}",
                spec.announced_bytes,
                spec.layout,
                spec.dropped,
                spec.caches,
                spec.pool,
                spec.misaddress,
                spec.failure,
                spec.decay,
                spec.flips,
                spec.errors
            );
        }
    }
}
