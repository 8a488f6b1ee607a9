//! One figure of one record: its repeats, its owner, and the doubts about it.

use assay_core::finding::{Finding, Severity};
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record};
use assay_core::workload::Unknown;
use serde::Serialize;

use crate::exclusion::{Reason, excluded_whole};
use crate::load::Load;
use crate::quantity::{Quantity, estimate, value};

/// Caveats of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The bus was reached: the medium is at least this fast.
    BusLimited,
    /// The instrument was the limit.
    InstrumentLimited,
    /// The best of several runs: on average the medium does less.
    BestOf,
    /// A finding makes the figure doubtful.
    Suspect,
    /// The figure is not what it claims to be; it can win no comparison.
    Invalid,
    /// The medium is not genuine; it can win no comparison.
    Fake,
    /// The medium failed in this run; it can win no comparison.
    Failed,
    /// The run is under way or was killed; it can win no comparison.
    Unfinished,
    /// Published without repeats.
    Published,
}

impl Mark {
    /// Whether a figure with this mark may win no comparison.
    #[must_use]
    pub fn excludes(self) -> bool {
        matches!(self, Self::Invalid | Self::Fake | Self::Failed | Self::Unfinished)
    }
}

/// One figure of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<'a> {
    /// The record.
    pub record: &'a Record,
    /// The measurement in it.
    pub measurement: &'a Measurement,
    /// The values of its completed repeats. A figure without repeats has itself as the only value.
    pub values: Vec<f64>,
    /// Caveats, in order.
    pub marks: Vec<Mark>,
}

impl Reading<'_> {
    /// Whether the figure may win a comparison.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.marks.iter().any(|mark| mark.excludes())
    }
}

/// The loads of these records, each once, in reading order.
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
    reading_of(record, measurement(record, load)?, quantity)
}

/// The figure of a measurement of a record.
pub(crate) fn reading_of<'a>(
    record: &'a Record,
    measurement: &'a Measurement,
    quantity: Quantity,
) -> Option<Reading<'a>> {
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

/// The measurement of a record under a load.
pub(crate) fn measurement<'a>(record: &'a Record, load: &Load) -> Option<&'a Measurement> {
    // The first figure of a load has no variant. It is found without numbering all measurements, which a ranking would
    // do very often.
    if load.variant.is_empty() {
        return record.measurements.iter().find(|measurement| load.is_of(&measurement.workload));
    }
    numbered(record).into_iter().find(|(of, _)| of == load).map(|(_, measurement)| measurement)
}

/// The properties of a load that the source of a figure does not state. The length of the run is left out, because no
/// comparison uses it.
pub(crate) fn lacking(record: &Record, load: &Load) -> Vec<&'static str> {
    let unknown = measurement(record, load).into_iter().flat_map(|measurement| &measurement.workload.unknown);
    unknown.filter(|what| **what != Unknown::Stop).map(|what| what.title()).collect()
}

/// Measurements with their loads. A second measurement of a load is distinguished by its name.
pub(crate) fn numbered(record: &Record) -> Vec<(Load, &Measurement)> {
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

fn figure(measurement: &Measurement, quantity: Quantity) -> Option<f64> {
    estimate(measurement, quantity).map(|e| e.point)
}

fn marks(record: &Record, measurement: &Measurement) -> Vec<Mark> {
    let weighs = |severity| {
        let mut warnings = record.warnings.iter().chain(&measurement.warnings);
        warnings.any(|warning| warning.severity == severity)
    };
    let whole = excluded_whole(record);
    let invalid = weighs(Severity::Invalid) || matches!(whole, Some(Reason::Invalid { .. }));
    let all = [
        (Mark::BusLimited, measurement.bus_limited),
        (Mark::InstrumentLimited, measurement.instrument_limited),
        (Mark::BestOf, measurement.warnings.iter().any(|warning| matches!(warning.finding, Finding::BestOf { .. }))),
        (Mark::Suspect, weighs(Severity::Suspect) && !invalid),
        (Mark::Invalid, invalid),
        (Mark::Fake, matches!(whole, Some(Reason::NotGenuine { .. }))),
        (Mark::Failed, matches!(whole, Some(Reason::MediumFailed { .. }))),
        (Mark::Unfinished, matches!(whole, Some(Reason::Unfinished))),
        (Mark::Published, record.is_published()),
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
        for mark in [Mark::BusLimited, Mark::InstrumentLimited, Mark::BestOf, Mark::Suspect, Mark::Published] {
            assert!(counts(vec![mark]), "{mark:?}");
        }
        for mark in [Mark::Invalid, Mark::Fake, Mark::Failed, Mark::Unfinished] {
            assert!(!counts(vec![mark]) && !counts(vec![Mark::Suspect, mark]), "{mark:?}");
        }
    }
}
