//! A record and a histogram for tests of all questions.

use std::collections::BTreeMap;

use assay_core::draft::Draft;
use assay_core::finding::Validity;
use assay_core::histogram::StoredHistogram;
use assay_core::medium::{Medium, MediumKind};
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::Outcome;
use assay_core::record::{SuiteRef, Tool};
use assay_core::shared::Shared;

/// A finished record of a card, one unit of a model.
pub(crate) fn record(id: &str, model: &str, unit: &str, measurements: Vec<ObservedMeasurement>) -> Observation {
    let mut labels = BTreeMap::from([("model".to_owned(), model.to_owned())]);
    if !unit.is_empty() {
        labels.insert("unit".to_owned(), unit.to_owned());
    }
    let (tool, suite) = (Tool::assay("0.1.0", "sync", "asked for"), SuiteRef::new("quick", 1));
    let medium = Medium { kind: MediumKind::Sd, ..Medium::unknown("/mnt") };
    let draft = Draft::begin(id, "2026-01-02T03:04:05Z", tool, suite, medium).labelled(labels);
    let mut observation = Observation::from(draft.close(Outcome::Completed));
    observation.measurements = measurements;
    observation.validity = Validity::judge(observation.all_warnings());
    observation
}

/// A histogram of `operations` operations, each with the same latency. It is built in stored form: a full histogram is
/// large, and tests make many.
pub(crate) fn histogram(latency_ns: u64, operations: u64) -> Shared<StoredHistogram> {
    if operations == 0 {
        return Shared::default();
    }
    StoredHistogram {
        sum_ns: latency_ns * operations,
        min_ns: latency_ns,
        max_ns: latency_ns,
        counts: vec![(latency_ns, operations)],
        ..StoredHistogram::default()
    }
    .into()
}
