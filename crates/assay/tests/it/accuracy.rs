//! Runs of the real binary against media whose truth is known, and that are slower than any machine.
//!
//! Every test here needs root and a lab; where it cannot be made, it says so and is counted.

use std::path::Path;
use std::process::Command;

use assay_core::finding::{Finding, Verdict};
use assay_core::record::Record;
use assay_core::units::MIB;
use assay_lab::{FastDevice, Lab, LimitedCard, Limits, lab};

use crate::common::ASSAY;
use crate::common::known::{arguments, iops, measured, named, suite, workload};

#[test]
fn a_card_of_1500_and_500_iops_is_measured_as_that() {
    const TEST: &str = "a_card_of_1500_and_500_iops_is_measured_as_that";
    // Within a hundredth, which other tests beside it can spoil: then it is measured once more.
    let _lab = lab!(TEST, Lab::enter());
    let limits = Limits { read_iops: Some(1500), write_iops: Some(500), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(256 * MIB, limits));
    let text =
        [workload("read", "read", "random", "4KiB", 32, ""), workload("write", "write", "random", "4KiB", 32, "")]
            .concat();
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "26s", "64MiB", &text);
    let measure = || measured(card.command(Path::new(ASSAY), &arguments(&suite, card.path())));
    let right = |record: &Record| {
        (1485.0..=1515.0).contains(&iops(record, "read")) && (495.0..=505.0).contains(&iops(record, "write"))
    };
    let (mut record, mut code) = measure();
    if !right(&record) {
        (record, code) = measure();
    }
    assert_eq!(code, Some(0), "{:?}", record.validity);
    assert!(right(&record), "{} {}", iops(&record, "read"), iops(&record, "write"));
    for m in &record.measurements {
        let proof = m.proof_ratio.unwrap();
        assert!((0.98..=1.02).contains(&proof), "{}: {proof}", m.workload.name);
        assert!((m.in_flight.unwrap() / 32.0 - 1.0).abs() < 0.02, "{:?}", m.in_flight);
    }
    // Whatever else runs on this machine is seen, and does not change what the card can do.
    let doubts = record.validity.reasons.iter().filter(|reason| !reason.starts_with("other programs used"));
    assert_eq!(doubts.count(), 0, "{:?}", record.validity);
    assert!(std::fs::read_dir(card.path()).unwrap().all(|e| e.unwrap().file_name() == "lost+found"));
}

#[test]
fn a_bus_of_23_megabytes_a_second_is_measured_as_that() {
    const TEST: &str = "a_bus_of_23_megabytes_a_second_is_measured_as_that";
    // Within a hundredth, which other tests beside it can spoil.
    let _lab = lab!(TEST, Lab::enter());
    let limits = Limits { read_bytes: Some(23_000_000), write_bytes: Some(23_000_000), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(256 * MIB, limits));
    let text = [
        workload("read", "read", "sequential", "1MiB", 8, ""),
        workload("write", "write", "sequential", "1MiB", 8, ""),
    ]
    .concat();
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "30s", "64MiB", &text);
    let (record, _) = measured(card.command(Path::new(ASSAY), &arguments(&suite, card.path())));
    for name in ["read", "write"] {
        let rate = named(&record, name).bytes_per_second.as_ref().unwrap().point;
        assert!((rate / 23e6 - 1.0).abs() <= 0.01, "{name}: {rate}");
        let proof = named(&record, name).proof_ratio.unwrap();
        assert!((0.98..=1.02).contains(&proof), "{name}: {proof}");
    }
}

#[test]
fn a_cached_file_is_caught_by_the_proof() {
    const TEST: &str = "a_cached_file_is_caught_by_the_proof";
    let _lab = lab!(TEST, Lab::share());
    let device = lab!(TEST, FastDevice::new(256 * MIB));
    // A stream through the page cache is read once only; random blocks come again and again.
    let text = workload("read", "read", "random", "1MiB", 1, "direct = false");
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "5s", "32MiB", &text);
    let mut command = Command::new(ASSAY);
    command.args(arguments(&suite, device.path()));
    let (record, code) = measured(command);
    assert_eq!(code, Some(1));
    assert_eq!(record.validity.verdict, Verdict::Invalid);
    let m = named(&record, "read");
    assert!(m.proof_ratio.unwrap() < 0.5, "{:?}", m.proof_ratio);
    assert!(m.warnings.iter().any(|w| matches!(w.finding, Finding::ServedFromCache { .. })), "{:?}", m.warnings);
}

#[test]
fn somebody_else_on_the_device_is_noticed() {
    const TEST: &str = "somebody_else_on_the_device_is_noticed";
    let _lab = lab!(TEST, Lab::share());
    let limits = Limits { read_iops: Some(500), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(256 * MIB, limits));
    let other = card.path().join("other");
    std::fs::write(&other, vec![7u8; 64 * MIB as usize]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "8s", "16MiB", &workload("read", "read", "random", "4KiB", 4, ""));
    let mut run = card.command(Path::new(ASSAY), &arguments(&suite, card.path()));
    let run = std::thread::spawn(move || run.output().unwrap());
    // Outside of the group, so without its limits: a few MiB now and then, past the page cache.
    while !run.is_finished() {
        let status = Command::new("dd")
            .args(["bs=1M", "count=8", "iflag=direct", "of=/dev/null", "status=none"])
            .arg(format!("if={}", other.display()))
            .status()
            .unwrap();
        assert!(status.success());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let record: Record = serde_json::from_slice(&run.join().unwrap().stdout).unwrap();
    let m = named(&record, "read");
    assert!(m.warnings.iter().any(|w| matches!(w.finding, Finding::OthersUsedDevice { .. })), "{:?}", m.proof_ratio);
    assert_eq!(record.validity.verdict, Verdict::Suspect);
}

#[test]
fn twenty_kilobytes_a_second_are_measured_within_the_budget() {
    const TEST: &str = "twenty_kilobytes_a_second_are_measured_within_the_budget";
    let _lab = lab!(TEST, Lab::share());
    let limits = Limits { write_bytes: Some(20_000), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(64 * MIB, limits));
    let start = std::time::Instant::now();
    let (record, code) = measured(
        card.command(Path::new(ASSAY), &arguments_with(&["--suite", "quick", "--budget", "40s"], card.path())),
    );
    let elapsed = start.elapsed().as_secs_f64();
    assert!(elapsed < 44.0, "{elapsed} s");
    assert_eq!(code, Some(0));
    let small = record.warnings.iter().any(|w| matches!(w.finding, Finding::SmallerSpan { .. }));
    assert!(small, "{:?}", record.warnings);
    let m = named(&record, "seq-write-1m-q8");
    assert!(m.requested.is_some() && m.warnings.iter().any(|w| matches!(w.finding, Finding::ScaledDown { .. })));
    let rate = m.bytes_per_second.as_ref().unwrap().point;
    assert!((15_000.0..30_000.0).contains(&rate), "{rate}");
    for m in &record.measurements {
        assert!(!m.repeats.is_empty(), "{} has no repeat", m.workload.name);
    }
}

fn arguments_with<'a>(options: &'a [&'a str], target: &'a Path) -> Vec<&'a std::ffi::OsStr> {
    let start: Vec<&std::ffi::OsStr> = ["run", "--json", "--no-save"].into_iter().map(AsRef::as_ref).collect();
    start.into_iter().chain(options.iter().map(AsRef::as_ref)).chain([target.as_os_str()]).collect()
}
