//! Runs of the real binary against media whose truth is known, and that are slower than any machine.
//!
//! Every test here needs root and a lab; where it cannot be made, it says so and is counted.

use std::path::Path;
use std::process::Command;

use assay_core::finding::{Finding, ValidityVerdict};
use assay_core::record::Record;
use assay_core::units::MIB;
use assay_lab::{FastDevice, Lab, LimitedCard, Limits, lab};

use crate::common::ASSAY;
use crate::common::known::{arguments, measured, named, suite, workload};

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
    assert_eq!(record.validity.verdict, ValidityVerdict::Invalid);
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
    assert_eq!(record.validity.verdict, ValidityVerdict::Suspect);
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
