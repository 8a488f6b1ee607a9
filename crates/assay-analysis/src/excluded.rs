//! What decides nothing, and why: the one answer that comparison, ranking, plan and advice give.

use std::fmt;

use assay_core::finding::{self, Severity};
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record};
use assay_core::units::{Bytes, grouped};
use assay_core::verification::Verdict;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::load::{Load, Quantity};
use crate::reading::{Mark, Reading, identity, measurement, reading, unit_name};

/// A record, a figure of it or a part of one that takes no part. Text is as medium and user gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Excluded {
    /// Id of the record.
    pub record: String,
    /// Its model.
    pub model: String,
    /// Its unit; empty where it is not known.
    pub unit: String,
    /// Title of the load; null where it is about the whole record.
    pub load: Option<String>,
    /// Why.
    pub reason: Reason,
}

impl Excluded {
    /// Of a record, or of its figure under a load.
    #[must_use]
    pub fn new(record: &Record, load: Option<&Load>, reason: Reason) -> Self {
        let whose = identity(record);
        Self { record: record.id.clone(), model: whose.model, unit: whose.unit, load: load.map(Load::title), reason }
    }

    /// Model, and unit where it is known.
    #[must_use]
    pub fn name(&self) -> String {
        unit_name(&self.model, &self.unit)
    }

    pub(crate) fn line(&self) -> String {
        let load = self.load.as_ref().map(|l| format!(", {l}")).unwrap_or_default();
        format!("{}{load}: {}", self.name(), self.reason)
    }
}

/// With the reason also in words, as `text`.
impl Serialize for Excluded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_struct("Excluded", 6)?;
        all.serialize_field("record", &self.record)?;
        all.serialize_field("model", &self.model)?;
        all.serialize_field("unit", &self.unit)?;
        all.serialize_field("load", &self.load)?;
        all.serialize_field("reason", &self.reason)?;
        all.serialize_field("text", &self.reason.to_string())?;
        all.end()
    }
}

/// Why a figure takes no part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// The load was measured at other depths only.
    OtherDepths {
        /// What was measured, like `QD 1`.
        measured: Vec<String>,
    },
    /// This kind of load was measured with other blocks only.
    OtherBlocks {
        /// Their sizes in bytes.
        block_bytes: Vec<u64>,
    },
    /// Nothing like it was measured.
    NotMeasured,
    /// The workload has no completed repeat.
    NoFigure {
        /// Why, as far as the record says it.
        cause: String,
    },
    /// It was measured, but not this figure of it.
    NoQuantity {
        /// Which.
        quantity: Quantity,
    },
    /// A value that is not positive and finite was left out.
    BadValue {
        /// The value.
        value: String,
    },
    /// Repeats were left out.
    Repeats {
        /// So many.
        left_out: usize,
        /// Of so many.
        of: usize,
    },
    /// It is not what it says.
    Invalid {
        /// Why it is invalid.
        cause: String,
    },
    /// The unit, in this record or another one, was found to be fake, damaged or failing.
    NotGenuine {
        /// What was found.
        cause: String,
    },
    /// The medium failed while it was measured: what it did until then is not what it does.
    MediumFailed {
        /// How.
        cause: String,
    },
    /// The run is under way, or was killed.
    Unfinished,
    /// It was not measured under a load that the question is about.
    NoLoadAsked,
    /// A mixed load crosses the wire in both directions, which no share of it is about.
    Mixed,
    /// The network volume was not measured under this load.
    NotOnVolume,
    /// It cannot be bought without a price.
    NoPrice,
}

impl Reason {
    /// Whether it only says that there is no such figure, which advice tells once for all loads of a question.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::OtherDepths { .. }
                | Self::OtherBlocks { .. }
                | Self::NotMeasured
                | Self::NoFigure { .. }
                | Self::NoQuantity { .. }
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherDepths { measured } => write!(f, "not measured at this depth, but at {}", measured.join(", ")),
            Self::OtherBlocks { block_bytes } => {
                let sizes: Vec<String> = block_bytes.iter().map(|b| Bytes(*b).to_string()).collect();
                write!(f, "not measured at this block size, but at {}", sizes.join(", "))
            }
            Self::NotMeasured => f.write_str("not measured"),
            Self::NoFigure { cause } => write!(f, "no figure: {cause}"),
            Self::NoQuantity { quantity: Quantity::DurableBytesPerSecond } => {
                f.write_str("no durable rate; only writes have one")
            }
            Self::NoQuantity { quantity } if quantity.least_operations() > 1 => {
                let least = grouped(quantity.least_operations().cast_signed());
                write!(f, "no {}: it takes {least} operations in a repeat", quantity.name())
            }
            Self::NoQuantity { quantity } => write!(f, "no {} was kept", quantity.name()),
            Self::BadValue { value } => write!(f, "left out a value of {value}: not a positive finite number"),
            Self::Repeats { left_out, of } => write!(f, "left out {left_out} of {of} repeats: not completed"),
            Self::Invalid { cause } => write!(f, "invalid: {cause}"),
            Self::NotGenuine { cause } => f.write_str(cause),
            Self::MediumFailed { cause } => write!(f, "the medium failed: {cause}"),
            Self::Unfinished => f.write_str("the run is under way, or was killed"),
            Self::NoLoadAsked => f.write_str("not measured under a load that is judged"),
            Self::Mixed => f.write_str("a mixed load: its reads and writes cross the wire in both directions"),
            Self::NoPrice => {
                f.write_str("no label price; give --price 'MODEL=12.90USD', or measure with --label price=12.90USD")
            }
            Self::NotOnVolume => f.write_str("the NAS was not measured under this load"),
        }
    }
}

/// Why a record decides nothing, whatever the load; `None` where it may.
#[must_use]
pub fn excluded_whole(record: &Record) -> Option<Reason> {
    if let Some(verification) = record.verification.as_ref().filter(|v| v.verdict.is_bad()) {
        let cause = match verification.verdict {
            Verdict::Fake => "a fake: it announces more than it has",
            Verdict::Failed => "failed: it stopped working while it was checked",
            _ => "damaged: it loses data",
        };
        return Some(Reason::NotGenuine { cause: cause.to_owned() });
    }
    match &record.outcome {
        Outcome::Running => return Some(Reason::Unfinished),
        Outcome::Failed { failure, .. } if record.outcome.medium_failed() => {
            return Some(Reason::MediumFailed { cause: failure.title().to_owned() });
        }
        _ => {}
    }
    let warned = record.warnings.iter().any(|w| w.severity == Severity::Invalid);
    // Records from elsewhere may say it without a finding; findings of one workload speak for that one.
    let said = record.validity.verdict == finding::Verdict::Invalid
        && !record.all_warnings().any(|w| w.severity == Severity::Invalid);
    (warned || said).then(|| invalid(record, None))
}

/// Why a figure decides nothing; `None` where it may.
#[must_use]
pub fn excluded(reading: &Reading<'_>) -> Option<Reason> {
    excluded_whole(reading.record)
        .or_else(|| reading.marks.contains(&Mark::Invalid).then(|| invalid(reading.record, Some(reading.measurement))))
}

fn invalid(record: &Record, measurement: Option<&Measurement>) -> Reason {
    let own = measurement.into_iter().flat_map(|m| &m.warnings);
    let warning = record.warnings.iter().chain(own).find(|w| w.severity == Severity::Invalid);
    let said = warning.map(|w| w.cause.clone()).or_else(|| record.validity.reasons.first().cloned());
    Reason::Invalid { cause: said.unwrap_or_else(|| "the record says so".to_owned()) }
}

/// The figure of a record under a load, each of its values positive and finite, and what of it is left out.
#[must_use]
pub fn examine<'a>(record: &'a Record, load: &Load, quantity: Quantity) -> (Option<Reading<'a>>, Vec<Reason>) {
    let Some(measured) = measurement(record, load) else {
        let nothing = record.measurements.is_empty();
        let bare = || Reason::NoFigure { cause: format!("nothing measured, {}", record.outcome.sentence()) };
        return (None, vec![if nothing { bare() } else { nearest(record, load) }]);
    };
    let Some(mut reading) = reading(record, load, quantity) else {
        let other = [Quantity::Iops, Quantity::BytesPerSecond].iter().any(|q| reading(record, load, *q).is_some());
        let reason = if other { Reason::NoQuantity { quantity } } else { Reason::NoFigure { cause: cause(measured) } };
        return (None, vec![reason]);
    };
    let mut reasons = Vec::new();
    let planned = measured.repeats.len();
    if planned > reading.values.len() {
        reasons.push(Reason::Repeats { left_out: planned - reading.values.len(), of: planned });
    }
    let (good, bad): (Vec<f64>, Vec<f64>) = reading.values.iter().partition(|v| v.is_finite() && **v > 0.0);
    reasons.extend(bad.iter().map(|value| Reason::BadValue { value: value.to_string() }));
    reading.values = good;
    (Some(reading).filter(|r| !r.values.is_empty()), reasons)
}

/// The figure of a record under a load where it may decide something, and what is left out of it or why there is none.
#[must_use]
pub fn admit<'a>(record: &'a Record, load: &Load, quantity: Quantity) -> (Option<Reading<'a>>, Vec<Reason>) {
    let (reading, reasons) = examine(record, load, quantity);
    match reading.as_ref().map_or_else(|| excluded_whole(record), excluded) {
        Some(barred) => (None, vec![barred]),
        None => (reading, reasons),
    }
}

fn cause(measurement: &Measurement) -> String {
    let fewer = measurement.warnings.iter().find_map(|w| match &w.finding {
        finding::Finding::FewerRepeats { reason, .. } => Some(format!("skipped: {reason}")),
        _ => None,
    });
    match measurement.repeats.len() {
        _ if fewer.is_some() => fewer.unwrap_or_default(),
        0 => "the run ended before it".to_owned(),
        n => format!("none of {n} repeats completed"),
    }
}

/// What was measured in place of a load.
fn nearest(record: &Record, load: &Load) -> Reason {
    let kind = |other: &Load| (other.op(), other.pattern(), other.synced, other.read_percent);
    let mut alike: Vec<Load> = record.measurements.iter().map(|m| Load::of(&m.workload)).collect();
    alike.retain(|other| kind(other) == kind(load));
    alike.sort();
    alike.dedup();
    let same_block: Vec<String> = alike.iter().filter(|l| l.block_bytes == load.block_bytes).map(depth).collect();
    if !same_block.is_empty() {
        return Reason::OtherDepths { measured: same_block };
    }
    let mut block_bytes: Vec<u64> = alike.iter().map(|l| l.block_bytes).collect();
    block_bytes.dedup();
    if block_bytes.is_empty() { Reason::NotMeasured } else { Reason::OtherBlocks { block_bytes } }
}

fn depth(load: &Load) -> String {
    let depth = format!("QD {}", load.queue_depth);
    if load.jobs > 1 { format!("{depth} × {} jobs", load.jobs) } else { depth }
}

/// Whoever was found to be fake, damaged or failing in one record or check is so in all records of that unit, and
/// what a check found genuine is shown with all of them. Units without a name are told by their own records alone.
pub fn share_verdicts(records: &mut [Record], checks: &[Record]) {
    let known: Vec<_> = checks
        .iter()
        .chain(records.iter())
        .filter_map(|r| r.verification.clone().map(|v| (identity(r), r.created.clone(), v)))
        .filter(|(whose, _, _)| !whose.unit.is_empty())
        .collect();
    for record in records.iter_mut().filter(|record| record.verification.is_none()) {
        let whose = identity(record);
        let mut same: Vec<_> =
            known.iter().filter(|(k, _, _)| (&k.model, &k.unit) == (&whose.model, &whose.unit)).collect();
        // A loss that was proven once is not taken back by a later check that saw none.
        same.sort_by_key(|(_, created, v)| (v.verdict.is_bad(), created));
        record.verification = same.last().map(|(_, _, v)| v.clone());
    }
}
