//! A figure of a model under a load: over its units, or over the repeats of the one there is.

use assay_core::record::Record;
use assay_core::workload::Op;
use assay_stats::decide::{About, Posterior};
use assay_stats::{LEVEL, geometric};
use serde::Serialize;

use super::error::AdviseError;
use super::evidence::{Excluded, Subject};
use crate::{Load, Mark, Quantity, identity, reading};

/// What the interval of a figure is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The means of several units: it speaks for the model.
    Units,
    /// The repeats on one unit: it speaks for that unit.
    Repeats,
}

/// A figure with what is known of its certainty.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Load it was measured with.
    pub load: Load,
    /// The same in words.
    pub title: String,
    /// What it is: operations or bytes per second.
    pub quantity: Quantity,
    /// Geometric mean, in operations or bytes per second.
    pub value: f64,
    /// Interval of the mean; `None` for one value.
    pub interval: Option<(f64, f64)>,
    /// Confidence of the interval.
    pub level: Option<f64>,
    /// Values it rests on: units or repeats.
    pub n: usize,
    /// Which of them.
    pub basis: Basis,
    /// How it was computed.
    pub method: &'static str,
    /// What it has to be read with.
    pub marks: Vec<Mark>,
    #[serde(skip)]
    pub(super) posterior: Posterior,
}

impl Figure {
    /// What a decision can be about: the next unit where units are known, else what was measured.
    pub(super) fn about(&self) -> About {
        if self.posterior.knows(About::NextUnit) { About::NextUnit } else { About::Mean }
    }
}

/// Repeats of one unit under a load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnitValues {
    pub(super) unit: String,
    pub(super) values: Vec<f64>,
    pub(super) marks: Vec<Mark>,
}

/// The values of each unit; figures that cannot count are named.
pub(super) fn units(
    records: &[&Record],
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Vec<UnitValues> {
    let mut found: Vec<UnitValues> = Vec::new();
    for record in records {
        let Some(reading) = reading(record, load, quantity) else { continue };
        let reason = if !reading.counts() {
            Some("invalid: it is not what it says")
        } else if reading.values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
            Some("a value is not above zero")
        } else {
            None
        };
        if let Some(reason) = reason {
            let entry = Excluded::new(record, Some(load.title()), reason);
            if !excluded.contains(&entry) {
                excluded.push(entry);
            }
            continue;
        }
        let unit = identity(record).unit;
        match found.iter_mut().find(|u| u.unit == unit) {
            Some(known) => {
                known.values.extend(reading.values);
                known.marks.extend(reading.marks);
            }
            None => found.push(UnitValues { unit, values: reading.values, marks: reading.marks }),
        }
    }
    found
}

/// The figure of a model; `None` where nothing that counts was measured.
pub(super) fn figure(
    subject: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<Figure>, AdviseError> {
    let mut units = units(&subject.records, load, quantity, excluded);
    let mut marks: Vec<Mark> = units.iter().flat_map(|u| u.marks.clone()).collect();
    marks.sort();
    marks.dedup();
    let (values, basis) = match units.len() {
        0 => return Ok(None),
        1 => (units.remove(0).values, Basis::Repeats),
        _ => (units.iter().filter_map(|u| geometric(&u.values)).map(|e| e.point).collect(), Basis::Units),
    };
    let posterior = match basis {
        Basis::Units => Posterior::of_units(&values)?,
        Basis::Repeats => Posterior::of_runs(&values)?,
    };
    let interval = geometric(&values).and_then(|e| e.low.zip(e.high));
    let method = match (values.len(), basis) {
        (1, _) => "one value, no interval",
        (_, Basis::Units) => "geometric mean of units, t interval on logarithms",
        (_, Basis::Repeats) => "geometric mean of repeats of one unit, t interval on logarithms",
    };
    Ok(Some(Figure {
        load: load.clone(),
        title: load.title(),
        quantity,
        value: posterior.value(),
        interval,
        level: interval.map(|_| LEVEL),
        n: values.len(),
        basis,
        method,
        marks,
        posterior,
    }))
}

/// Whether all records with a figure under this load know the rate with the final sync in the clock.
pub(super) fn durable(records: &[&Record], load: &Load) -> bool {
    let has = |quantity| records.iter().filter(|r| reading(r, load, quantity).is_some()).count();
    load.op() != Op::Read && has(Quantity::DurableBytesPerSecond) > 0 && {
        has(Quantity::DurableBytesPerSecond) == has(Quantity::BytesPerSecond)
    }
}

/// The rate that counts: durable where all figures of a write have it.
pub(super) fn rate(
    subject: &Subject<'_>,
    load: &Load,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<Figure>, AdviseError> {
    let quantity =
        if durable(&subject.records, load) { Quantity::DurableBytesPerSecond } else { Quantity::BytesPerSecond };
    figure(subject, load, quantity, excluded)
}
