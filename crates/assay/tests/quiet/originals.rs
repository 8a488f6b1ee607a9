//! The tools that workloads were taken from, in turns with assay.

use std::path::Path;

use assay_core::units::MIB;
use assay_lab::{Lab, LimitedCard, Limits, lab};

use crate::common::known::record_of;
use crate::common::originals::{ratio, suite, workload};
use crate::common::{ASSAY, assert_empty, is_installed};

/// A tool in turns with assay on a card that lets through 8 MiB/s both ways: `workloads` as operation, pattern, block and
/// what else they say.
fn agrees(test: &str, tool: &str, tolerance: f64, workloads: &[(&str, &str, &str, &str)]) {
    let _lab = lab!(test, Lab::share());
    if !is_installed(tool, test) {
        return;
    }
    let rate = Some(8 * MIB);
    let limits = Limits { read_bytes: rate, write_bytes: rate, ..Limits::default() };
    let card = lab!(test, LimitedCard::new(256 * MIB, limits));
    let workloads: Vec<_> = workloads
        .iter()
        .map(|(op, pattern, block, more)| workload(tool, op, pattern, block, &format!("{more}\nduration = \"3s\"")))
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pair.toml");
    std::fs::write(&file, suite("5min", "32MiB", &workloads)).unwrap();
    let arguments = ["run", "--json", "--no-save", "--crosscheck", "reference", "--suite"].map(AsRef::as_ref);
    let arguments = [&arguments[..], &[file.as_os_str(), card.path().as_os_str()]].concat();
    let output = card.command(Path::new(ASSAY), &arguments).output().unwrap();
    let record = record_of(&output);
    assert_eq!(record.crosscheck.len(), workloads.len(), "{tool}: {:?}", record.crosscheck);
    for check in &record.crosscheck {
        assert_eq!((check.peer.as_str(), check.pairs.len(), &check.trouble), (tool, 4, &None), "{check:?}");
        assert_eq!(check.pairs.iter().map(|p| p.peer_first).collect::<Vec<_>>(), [false, true, false, true]);
        assert!(check.pairs.iter().all(|p| p.original.as_ref().is_some_and(|run| run.tool == tool)));
        let seen = ratio(check);
        eprintln!("{}: ratio of medians {seen:.4}", check.workload);
        assert!((seen - 1.0).abs() <= tolerance, "{}: {seen}: {:?}", check.workload, check.pairs);
    }
    assert_empty(card.path());
}

#[test]
fn hdparm_agrees_on_a_card_held_to_a_rate() {
    let workloads = [("read", "sequential", "2MiB", "")];
    agrees("hdparm_agrees_on_a_card_held_to_a_rate", "hdparm", 0.03, &workloads);
}

#[test]
fn dd_agrees_on_a_card_held_to_a_rate() {
    let workloads = [("read", "sequential", "1MiB", ""), ("write", "sequential", "1MiB", "")];
    agrees("dd_agrees_on_a_card_held_to_a_rate", "dd", 0.03, &workloads);
}

#[test]
fn fio_agrees_on_a_card_held_to_a_rate() {
    let workloads = [("read", "random", "16KiB", "queue_depth = 16")];
    agrees("fio_agrees_on_a_card_held_to_a_rate", "fio", 0.02, &workloads);
}

#[test]
fn iozone_agrees_on_a_card_held_to_a_rate() {
    let workloads = [("read", "random", "1MiB", ""), ("write", "sequential", "1MiB", "")];
    agrees("iozone_agrees_on_a_card_held_to_a_rate", "iozone", 0.05, &workloads);
}
