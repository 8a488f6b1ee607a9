//! After January 2038, when 32 bits for seconds are used up.

use std::process::Command;

use serde_json::Value;

use crate::common::{Place, is_installed, run, tiny_at_leisure};

/// libfaketime stands between the program and the C library.
#[test]
fn a_run_of_the_year_2040_has_its_time_in_the_record() {
    const TEST: &str = "a_run_of_the_year_2040_has_its_time_in_the_record";
    if !is_installed("faketime", TEST) {
        return;
    }
    let place = Place::new();
    place.file("tiny.toml", tiny_at_leisure());
    let assay = place.assay(["run", "--json", "--suite", "tiny.toml", "medium"]);
    let mut command = Command::new("faketime");
    command.arg("2040-01-15 12:00:00").arg(assay.get_program()).args(assay.get_args());
    place.at_home(&mut command);
    // What is measured is measured by the real time.
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1").env("TZ", "UTC");
    let record: Value = serde_json::from_str(&run(command).measures().stdout).unwrap();
    assert!(record["created"].as_str().unwrap().starts_with("2040-01-15T12:"), "{}", record["created"]);
    assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
    let started = record["measurements"][0]["repeats"][0]["started"].as_str().unwrap();
    assert!(started.starts_with("2040-01-15T12:"), "{started}");
    let listed = place.json(["list", "--json"]);
    assert!(listed[0]["created"].as_str().unwrap().starts_with("2040-01-15"), "{listed}");
    place.assert_clean();
}
