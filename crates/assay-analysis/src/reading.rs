//! One figure of one record: its repeats, whose it is, and what stands against using it.

use assay_core::finding::Severity;
use assay_core::histogram::Histogram;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use serde::Serialize;

use crate::load::{Load, Quantity};

/// Whose figures a record holds. Text as the medium or the user gave it: make it harmless before
/// it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Identity {
    /// The product: label `model`, or what the medium says of itself.
    pub model: String,
    /// The physical piece: label `unit`, or its serial number; empty where neither is known. All
    /// such records of a model count as one unit.
    pub unit: String,
    /// Where it sat: label `slot`, or the host's.
    pub slot: Option<String>,
    /// Round of a plan: label `round`.
    pub round: Option<String>,
}

/// Whose figures these are.
#[must_use]
pub fn identity(record: &Record) -> Identity {
    let label = |key: &str| record.labels.get(key).filter(|value| !value.is_empty()).cloned();
    Identity {
        model: record.model(),
        unit: label("unit").or_else(|| record.medium.unit.clone()).unwrap_or_default(),
        slot: label("slot").or_else(|| record.host.slot.clone()),
        round: label("round"),
    }
}

/// A name for a column or a row: model, and unit where there is one.
#[must_use]
pub fn short_name(identity: &Identity) -> String {
    if identity.unit.is_empty() { identity.model.clone() } else { format!("{} {}", identity.model, identity.unit) }
}

/// What a figure has to be read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The bus was reached: the medium is at least this fast.
    BusLimited,
    /// The instrument was reached.
    InstrumentLimited,
    /// Something makes it doubtful.
    Suspect,
    /// It is not what it says; it can win no comparison.
    Invalid,
    /// The medium is a fake; it can win no comparison.
    Fake,
    /// Published without repeats.
    Published,
}

/// One figure of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<'a> {
    /// The record.
    pub record: &'a Record,
    /// The measurement in it.
    pub measurement: &'a Measurement,
    /// The values of its completed repeats; of a figure without repeats, the figure.
    pub values: Vec<f64>,
    /// What it has to be read with, in order.
    pub marks: Vec<Mark>,
}

impl Reading<'_> {
    /// Whether it may win a comparison.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.marks.iter().any(|mark| matches!(mark, Mark::Invalid | Mark::Fake))
    }
}

/// The loads of these records, each once, in the order people read them.
#[must_use]
pub fn loads<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Load> {
    let mut all: Vec<Load> = records.into_iter().flat_map(|r| numbered(r).into_iter().map(|(load, _)| load)).collect();
    all.sort();
    all.dedup();
    all
}

/// The figure of a record under a load; `None` where it has none.
#[must_use]
pub fn reading<'a>(record: &'a Record, load: &Load, quantity: Quantity) -> Option<Reading<'a>> {
    let (_, measurement) = numbered(record).into_iter().find(|(of, _)| of == load)?;
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0);
    let mut values: Vec<f64> = completed.filter_map(|r| value(r, quantity)).collect();
    if measurement.repeats.is_empty() {
        values.extend(figure(measurement, quantity));
    }
    if values.is_empty() {
        return None;
    }
    Some(Reading { record, measurement, values, marks: marks(record, measurement) })
}

/// Measurements with their loads; the second of a load is told apart by its name.
fn numbered(record: &Record) -> Vec<(Load, &Measurement)> {
    let mut seen: Vec<(Load, &Measurement)> = Vec::with_capacity(record.measurements.len());
    for measurement in &record.measurements {
        let mut load = Load::of(&measurement.workload);
        if seen.iter().any(|(before, _)| *before == load) {
            load.variant.clone_from(&measurement.workload.name);
        }
        seen.push((load, measurement));
    }
    seen
}

fn value(repeat: &Repeat, quantity: Quantity) -> Option<f64> {
    let quantile = |share: f64| Histogram::from(&repeat.histogram).quantile(share);
    match quantity {
        Quantity::Iops => Some(repeat.iops),
        Quantity::BytesPerSecond => Some(repeat.bytes_per_second),
        Quantity::DurableBytesPerSecond => repeat.durable_bytes_per_second,
        Quantity::P50Ns => quantile(0.5),
        Quantity::P99Ns => quantile(0.99),
    }
}

fn figure(measurement: &Measurement, quantity: Quantity) -> Option<f64> {
    let estimate = match quantity {
        Quantity::Iops => &measurement.iops,
        Quantity::BytesPerSecond => &measurement.bytes_per_second,
        Quantity::DurableBytesPerSecond => &measurement.durable_bytes_per_second,
        Quantity::P50Ns => &measurement.latency_ns.p50,
        Quantity::P99Ns => &measurement.latency_ns.p99,
    };
    estimate.as_ref().map(|e| e.point)
}

fn marks(record: &Record, measurement: &Measurement) -> Vec<Mark> {
    let weighs = |severity| {
        let mut warnings = record.warnings.iter().chain(&measurement.warnings);
        warnings.any(|warning| warning.severity == severity)
    };
    let fake = record.verification.as_ref().is_some_and(|v| v.verdict.is_bad());
    let all = [
        (Mark::BusLimited, measurement.bus_limited),
        (Mark::InstrumentLimited, measurement.instrument_limited),
        (Mark::Suspect, weighs(Severity::Suspect) && !weighs(Severity::Invalid)),
        (Mark::Invalid, weighs(Severity::Invalid)),
        (Mark::Fake, fake),
        (Mark::Published, record.source.as_ref().is_some_and(|s| s.format == crate::published::FORMAT)),
    ];
    all.into_iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fake is fast: it writes nothing. It wins no comparison and no place in a picture.
    #[test]
    fn only_invalid_figures_and_those_of_fakes_do_not_count() {
        let record = crate::published::published("samsung-evo-plus-64gb").unwrap().remove(0);
        let measurement = &record.measurements[0];
        let counts = |marks: Vec<Mark>| Reading { record: &record, measurement, values: vec![1.0], marks }.counts();
        assert!(counts(vec![]));
        for mark in [Mark::BusLimited, Mark::InstrumentLimited, Mark::Suspect, Mark::Published] {
            assert!(counts(vec![mark]), "{mark:?}");
        }
        for mark in [Mark::Invalid, Mark::Fake] {
            assert!(!counts(vec![mark]) && !counts(vec![Mark::Suspect, mark]), "{mark:?}");
        }
    }
}
