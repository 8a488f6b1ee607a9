//! Plans and records made up for the tests.

mod design;
mod race;
mod status;

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::suite::Suite;
use assay_core::workload::{Op, Pattern, Workload};

use super::*;

const SUITE: &str = r#"
name = "tiny"
version = 2
purpose = "says \"hi\" \\ there"
budget = "90s"
max_write = "1GiB"
repeats = 1
span = "4MiB"
[[workload]]
name = "write"
op = "write"
pattern = "random"
block = "4KiB"
[[workload]]
name = "read"
op = "read"
pattern = "random"
block = "4KiB"
"#;

fn request<T>(units: &str, slots: &str, rounds: usize, with: impl FnOnce(Request<'_>) -> T) -> T {
    let (roster, slots) = (Roster::inline(units, "--units").unwrap(), Slots::parse(slots, "--slots").unwrap());
    let suite = Suite::parse(SUITE, "tiny.toml").unwrap();
    with(Request {
        roster: &roster,
        slots: &slots,
        rounds,
        moves: Moves::EachRound,
        suite: &suite,
        suite_source: "tiny.toml",
        suite_text: SUITE,
        handling_minutes: 1.0,
        seed: None,
    })
}

pub(super) fn planned(units: &str, slots: &str, rounds: usize) -> ExperimentPlan {
    request(units, slots, rounds, |request| ExperimentPlan::new(&request).unwrap())
}

/// Five models with three units each.
const FIVE: &str = "A=1,2,3;B=1,2,3;C=1,2,3;D=1,2,3;E=1,2,3";

fn workload(op: Op) -> Workload {
    Workload {
        span_bytes: 4 << 20,
        ..Workload::new(if op == Op::Read { "read" } else { "write" }, op, Pattern::Random, 4096)
    }
}

/// A record with one figure and these labels.
fn record(id: &str, labels: &[(&str, &str)], iops: f64) -> Record {
    let mut record = crate::published("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = id.to_owned();
    record.source = None;
    record.suite = assay_core::record::SuiteRef { name: "tiny".to_owned(), version: 2 };
    record.labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut measurement = Measurement::empty(workload(Op::Read), "sync");
    measurement.iops = Some(Estimate::bare(iops, 1, "made up"));
    record.measurements = vec![measurement];
    record
}

fn unit(model: &str, unit: &str, iops: f64) -> Record {
    record(&format!("{model}{unit}"), &[("model", model), ("unit", unit)], iops)
}

fn result(plan: &ExperimentPlan, cell: &Cell) -> Record {
    let (round, label) = (cell.round.to_string(), plan.label());
    let labels = [
        ("model", cell.model.as_str()),
        ("unit", &cell.unit),
        ("slot", &cell.slot),
        ("round", &round),
        ("plan", &label),
    ];
    let mut record = record(&format!("{}{}r{round}", cell.model, cell.unit), &labels, 1000.0);
    record.settings.suite_text = plan.session(cell.order).unwrap().to_text();
    record
}
