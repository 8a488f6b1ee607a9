//! A run takes as long as it was given.

use std::time::Duration;

use crate::common::{Place, run};

#[test]
fn a_run_ends_within_its_budget() {
    let place = Place::new();
    let record = place.measured_with(&["--repeats", "2", "--budget", "3s"]);
    assert_eq!(record.settings().unwrap().budget_ns, 3_000_000_000);
    assert!(record.settings().unwrap().elapsed_ns < 3_500_000_000, "{}", record.settings().unwrap().elapsed_ns);
    let done = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    assert!(done.measures().elapsed < Duration::from_secs(6), "took {:?} of 2 s", done.elapsed);
}

/// The least budget that is not refused leaves no workload out. Without I/O, so that the disk does not take the time.
#[test]
fn the_least_budget_leaves_no_workload_out() {
    let place = Place::new();
    let suite = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/quick.toml")).unwrap();
    place.file("quick.toml", suite.replace("256MiB", "1MiB").replace("1GiB", "64MiB"));
    let arguments = ["run", "--suite", "quick.toml", "--budget", "3s", "--engine", "null", "--no-save", "--json"];
    let json = place.json(arguments.iter().chain(&["medium"]));
    let record: assay_core::record::Record = serde_json::from_value(json).unwrap();
    assert_eq!(record.measurements.len(), 7);
    for measurement in &record.measurements {
        assert!(!measurement.repeats.is_empty(), "{} was left out", measurement.workload.name);
    }
}
