//! A record and a generator for tests of all questions.

use std::collections::BTreeMap;

use assay_core::draft::Draft;
use assay_core::histogram::StoredHistogram;
use assay_core::medium::{Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, SuiteRef, Tool};
use assay_core::shared::Shared;

/// A finished record of a card, one unit of a model.
pub(crate) fn record(id: &str, model: &str, unit: &str, measurements: Vec<Measurement>) -> Record {
    let mut labels = BTreeMap::from([("model".to_owned(), model.to_owned())]);
    if !unit.is_empty() {
        labels.insert("unit".to_owned(), unit.to_owned());
    }
    let (tool, suite) = (Tool::assay("0.1.0", "sync", "asked for"), SuiteRef::new("quick", 1));
    let medium = Medium { kind: MediumKind::Sd, ..Medium::unknown("/mnt") };
    let mut draft = Draft::begin(id, "2026-01-02T03:04:05Z", tool, suite, medium).labelled(labels);
    draft.fill().measurements = measurements;
    draft.close(Outcome::Completed)
}

/// Numbers from a seed: splitmix64 (Steele, Lea and Flood 2014).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal around 0 with deviation 1: the sum of twelve uniforms.
    pub(crate) fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

/// Of so many operations, each of which took as long. Made as it is stored: a histogram is large, and tests make many.
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
