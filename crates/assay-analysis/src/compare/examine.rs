//! One record under one load: its values, or why it has none.

use assay_core::finding::{self, Severity};
use assay_core::record::{Measurement, Record};

use super::reason::Reason;
use super::report::Run;
use crate::load::{Load, Quantity};
use crate::reading::{Mark, identity, reading};

/// What a record has under a load, and what of it is left out.
pub(super) fn examine(record: &Record, load: &Load, quantity: Quantity) -> (Option<Run>, Vec<Reason>) {
    let Some(measurement) = measurement(record, load) else { return (None, vec![nearest(record, load)]) };
    let Some(reading) = reading(record, load, quantity) else {
        let other = [Quantity::Iops, Quantity::BytesPerSecond].iter().any(|q| reading(record, load, *q).is_some());
        let reason =
            if other { Reason::NoQuantity { quantity } } else { Reason::NoFigure { cause: cause(measurement) } };
        return (None, vec![reason]);
    };
    let mut reasons = Vec::new();
    let planned = measurement.repeats.len();
    if planned > reading.values.len() {
        reasons.push(Reason::Repeats { left_out: planned - reading.values.len(), of: planned });
    }
    let (points, bad): (Vec<f64>, Vec<f64>) = reading.values.iter().partition(|v| v.is_finite() && **v > 0.0);
    reasons.extend(bad.iter().map(|value| Reason::BadValue { value: value.to_string() }));
    if points.is_empty() {
        return (None, reasons);
    }
    let mut marks = reading.marks;
    // Records from elsewhere may say it without a finding.
    if record.validity.verdict == finding::Verdict::Invalid
        && !record.all_warnings().any(|w| w.severity == Severity::Invalid)
        && !marks.contains(&Mark::Invalid)
    {
        marks.retain(|mark| *mark != Mark::Suspect);
        marks.push(Mark::Invalid);
        marks.sort();
    }
    let of = identity(record);
    let until_narrow = record.settings.confidence.is_some();
    (Some(Run { record: record.id.clone(), unit: (of.model, of.unit), points, until_narrow, marks }), reasons)
}

/// Why a record may not win, in the words of the record.
pub(super) fn unsound(record: &Record, load: &Load, marks: &[Mark]) -> Option<Reason> {
    if marks.contains(&Mark::Fake) {
        let cause = record.verification.as_ref().map(|v| v.sentence.clone()).unwrap_or_default();
        return Some(Reason::Fake { cause });
    }
    marks.contains(&Mark::Invalid).then(|| Reason::Invalid { cause: invalid_because(record, load) })
}

fn invalid_because(record: &Record, load: &Load) -> String {
    let own = measurement(record, load).into_iter().flat_map(|m| &m.warnings);
    let warning = record.warnings.iter().chain(own).find(|w| w.severity == Severity::Invalid);
    let said = warning.map(|w| w.cause.clone()).or_else(|| record.validity.reasons.first().cloned());
    said.unwrap_or_else(|| "the record says so".to_owned())
}

/// The measurement that [`reading`] looks at.
fn measurement<'a>(record: &'a Record, load: &Load) -> Option<&'a Measurement> {
    let mut plain = load.clone();
    plain.variant.clear();
    record
        .measurements
        .iter()
        .filter(|m| Load::of(&m.workload) == plain)
        .find(|m| load.variant.is_empty() || m.workload.name == load.variant)
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
