//! Rates that only a machine without other work gives so exactly. These media are slow, so that several are measured
//! beside each other.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_core::estimate::Estimate;
use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::soak::{SoakCause, SteadyStatus};
use assay_core::units::MIB;
use assay_lab::{Lab, LimitedCard, Limits, lab};

use crate::common::known::{arguments, measured, record_of, suite, text, workload};
use crate::common::{ASSAY, Place, Running, assert_empty, run};

fn soak() -> String {
    let more = "duration = \"24s\"\nanalysis = \"soak\"";
    text("40s", 1, "64MiB", &workload("soak", "write", "sequential", "128KiB", 4, more))
}

#[test]
fn a_steady_card_is_measured_no_longer_than_it_takes() {
    const TEST: &str = "a_steady_card_is_measured_no_longer_than_it_takes";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, LimitedCard::new(256 * MIB, Limits { read_iops: Some(1500), ..Limits::default() }));
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "10s", "64MiB", &workload("w", "read", "random", "4KiB", 8, ""));
    let start = Instant::now();
    let mut command = card.command(Path::new(ASSAY), &arguments(&suite, card.path()));
    command.args(["--quiet", "--confidence", "5%", "--budget", "90s"]);
    let (record, _) = measured(command);
    assert!(start.elapsed() < Duration::from_secs(70), "{:?}", start.elapsed());
    assert_eq!((record.settings().unwrap().confidence, record.outcome.clone()), (Some(0.05), Outcome::Completed));
    let m = &record.measurements[0];
    let iops = m.iops.as_ref().unwrap();
    assert!((1455.0..=1545.0).contains(&iops.point), "{iops:?}");
    assert!(iops.relative_half_width().unwrap() <= 0.05, "{iops:?}");
    assert!(!m.warnings.iter().any(|w| matches!(w.finding, Finding::NotReached { .. })), "{:?}", m.warnings);
    assert!(m.repeats.len() >= 3);
    let steady =
        m.repeats.iter().filter(|r| r.steady.as_ref().is_some_and(|s| s.status == SteadyStatus::Steady)).count();
    assert!(steady >= 2, "{:?}", m.repeats.iter().map(|r| &r.steady).collect::<Vec<_>>());
}

#[test]
fn a_soak_that_was_killed_keeps_its_samples_and_goes_on() {
    const TEST: &str = "a_soak_that_was_killed_keeps_its_samples_and_goes_on";
    let _lab = lab!(TEST, Lab::share());
    let limits = Limits { write_bytes: Some(8 * MIB), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(256 * MIB, limits));
    let place = Place::new();
    place.file("soak.toml", soak());
    let medium = card.path().to_str().unwrap();
    let mut command = card.command(Path::new(ASSAY), &["run", "--events", "--suite", "soak.toml", medium]);
    place.at_home(&mut command);
    let mut running = Running::start(command);
    for _ in 0..13 {
        running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
    }
    running.kill();

    let mut command = card.command(Path::new(ASSAY), &["run", "--resume", "--quiet"]);
    place.at_home(&mut command);
    let done = run(command);
    done.measures();
    let record = place.only_record();
    assert_eq!(record.outcome, Outcome::Completed);
    let soak = &record.measurements[0];
    assert_eq!(soak.repeats.len(), 2);
    assert!((10..=13).contains(&soak.repeats[0].samples.len()), "{}", soak.repeats[0].samples.len());
    let lasted: u64 = soak.repeats.iter().flat_map(|r| &r.samples).map(|s| s.interval_ns).sum();
    assert!((23.0..26.0).contains(&(lasted as f64 / 1e9)), "{lasted}");
    assert!(soak.warnings.iter().any(|w| matches!(w.finding, Finding::SoakPaused { .. })), "{:?}", soak.warnings);
    let shown = soak.soak.as_ref().unwrap();
    let truth = 8.0 * MIB as f64;
    for rate in [&shown.burst_bytes_per_second, &shown.sustained_bytes_per_second] {
        assert!((rate.point / truth - 1.0).abs() < 0.1, "{rate:?}");
    }
    assert_empty(card.path());
}

#[test]
fn a_card_that_slows_down_in_mid_soak_is_seen_with_time_and_rates() {
    const TEST: &str = "a_card_that_slows_down_in_mid_soak_is_seen_with_time_and_rates";
    const FALL: f64 = 24.0;
    let _lab = lab!(TEST, Lab::share());
    let fast = Limits { write_bytes: Some(40_000_000), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(512 * MIB, fast));
    let mut run = card.command(Path::new(ASSAY), &arguments("soak", card.path()));
    run.args(["--quiet", "--budget", "70s", "--max-write", "2GiB"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The soak begins right after its directory is made.
    let start = Instant::now();
    while !std::fs::read_dir(card.path())
        .unwrap()
        .any(|e| e.unwrap().file_name().to_string_lossy().starts_with(".assay-"))
    {
        assert!(start.elapsed() < Duration::from_secs(30), "the soak did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs_f64(FALL));
    card.change(Limits { write_bytes: Some(12_000_000), ..Limits::default() }).unwrap();
    let record = record_of(&run.wait_with_output().unwrap());

    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.settings().unwrap().layout.is_none(), "a soak begins on a medium that was not just written");
    let m = &record.measurements[0];
    let soak = m.soak.as_ref().unwrap_or_else(|| panic!("{:?}", m.warnings));
    let megabytes = |e: &Estimate| e.point / 1e6;
    let (burst, sustained) = (megabytes(&soak.burst_bytes_per_second), megabytes(&soak.sustained_bytes_per_second));
    assert!((38.0..=42.0).contains(&burst), "{burst}");
    assert!((11.4..=12.6).contains(&sustained), "{sustained}");
    let cliff = soak.cliff.as_ref().unwrap_or_else(|| panic!("{soak:?}"));
    let at = cliff.time_ns as f64 / 1e9;
    assert!((at - FALL).abs() <= 3.0, "{at}");
    assert!((cliff.bytes_at as f64 / (at * 40e6) - 1.0).abs() < 0.1, "{cliff:?}");
    assert!((0.65..=0.75).contains(&cliff.drop) && cliff.p_value <= 0.01, "{cliff:?}");
    assert_eq!(cliff.cause, SoakCause::TemperatureUnknown, "a loop device has no sensor");
    assert!(m.proof_ratio.unwrap() > 0.98, "{:?}", m.proof_ratio);
}

#[test]
fn what_cannot_become_steady_says_that_it_was_not_reached_and_keeps_the_budget() {
    const TEST: &str = "what_cannot_become_steady_says_that_it_was_not_reached_and_keeps_the_budget";
    let _lab = lab!(TEST, Lab::share());
    let fast = Limits { read_iops: Some(2000), ..Limits::default() };
    let slow = Limits { read_iops: Some(200), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(256 * MIB, fast));
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "10s", "64MiB", &workload("w", "read", "random", "4KiB", 8, ""));
    let mut run = card.command(Path::new(ASSAY), &arguments(&suite, card.path()));
    run.args(["--quiet", "--confidence", "2%", "--budget", "30s"]);
    let start = Instant::now();
    // In a thread of its own, so that the record does not wait in a full pipe.
    let run = std::thread::spawn(move || run.output().unwrap());
    let mut turn = 0u32;
    while !run.is_finished() {
        // Uneven times, so that no number of batches makes them alike.
        std::thread::sleep(Duration::from_millis(700 + u64::from(turn * 389 % 1500)));
        card.change(if turn.is_multiple_of(2) { slow } else { fast }).unwrap();
        turn += 1;
        assert!(start.elapsed() < Duration::from_secs(60), "far over its budget");
    }
    let record = record_of(&run.join().unwrap());
    assert!(record.settings().unwrap().elapsed_ns < 35_000_000_000, "{}", record.settings().unwrap().elapsed_ns);
    let m = &record.measurements[0];
    let not_reached = m.warnings.iter().any(|w| matches!(w.finding, Finding::NotReached { asked: 0.02, .. }));
    assert!(not_reached, "{:?}", m.warnings);
    assert!(m.repeats.iter().all(|r| r.steady.is_some()));
}
