//! Runs against media whose truth is known: suites of three repeats, and their records.

use std::path::Path;
use std::process::{Command, Output};

use assay_core::finding::Finding;
use assay_core::record::{Measurement, Record};

use super::ASSAY;

/// A suite with so many repeats of each workload.
pub fn text(budget: &str, repeats: u32, span: &str, workloads: &str) -> String {
    format!(
        "name = \"lab\"\nversion = 1\npurpose = \"test\"\nbudget = \"{budget}\"\nmax_write = \"1GiB\"\nrepeats = {repeats}\nspan = \"{span}\"\n{workloads}"
    )
}

/// One of three repeats, as a file in this directory.
pub fn suite(directory: &Path, budget: &str, span: &str, workloads: &str) -> String {
    let path = directory.join("suite.toml");
    std::fs::write(&path, text(budget, 3, span, workloads)).unwrap();
    path.to_string_lossy().into_owned()
}

pub fn workload(name: &str, op: &str, pattern: &str, block: &str, depth: u32, more: &str) -> String {
    format!(
        "[[workload]]\nname = \"{name}\"\nop = \"{op}\"\npattern = \"{pattern}\"\nblock = \"{block}\"\nqueue_depth = {depth}\n{more}\n"
    )
}

/// Runs to the end and reads the record; the exit code comes with it.
pub fn measured(mut command: Command) -> (Record, Option<i32>) {
    let output = command.output().unwrap();
    (record_of(&output), output.status.code())
}

/// The record that a run printed.
pub fn record_of(output: &Output) -> Record {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// One read of 4 KiB after the other for so long, without a store.
pub fn read_for(target: &Path, budget: &str, more: &[&str]) -> Record {
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), budget, "8MiB", &workload("read", "read", "random", "4KiB", 1, ""));
    let mut command = Command::new(ASSAY);
    command.args(arguments(&suite, target)).args(["--repeats", "1"]).args(more);
    measured(command).0
}

pub fn findings(record: &Record) -> Vec<&Finding> {
    record.all_warnings().map(|w| &w.finding).collect()
}

pub fn arguments<'a>(suite: &'a str, target: &'a Path) -> Vec<&'a std::ffi::OsStr> {
    ["run", "--json", "--no-save", "--suite", suite]
        .into_iter()
        .map(AsRef::as_ref)
        .chain([target.as_os_str()])
        .collect()
}

pub fn iops(record: &Record, name: &str) -> f64 {
    named(record, name).iops.as_ref().unwrap().point
}

pub fn named<'a>(record: &'a Record, name: &str) -> &'a Measurement {
    record.measurement(name).unwrap_or_else(|| panic!("no {name}"))
}
