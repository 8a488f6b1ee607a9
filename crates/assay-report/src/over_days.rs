//! The intervals over many days of the figures that represent a record. The intervals beside the figures are those of
//! the run.

use assay_analysis::{ASSUMED_DAYS, Load, Quantity, over_days};
use assay_core::finding::ValidityVerdict;
use assay_core::record::{Measurement, Record};
use assay_core::units::percent;

use crate::figure::{MB, interval};
use crate::headline::Headline;

/// `reads 20.5–23.3 MB/s, writes …, 1 508–1 909 random reads and … random writes a second (95 %; …)`; `None` where the
/// record does not speak for the medium, or has no interval.
pub(crate) fn sentence(record: &Record) -> Option<String> {
    if record.validity.verdict == ValidityVerdict::Invalid || record.outcome.medium_failed() {
        return None;
    }
    let headline = Headline::of(record);
    let rate = |m: Option<&Measurement>, verb: &str| {
        let m = m?;
        let durable = m.durable_bytes_per_second.as_ref().map(|_| Quantity::DurableBytesPerSecond);
        Some(format!("{verb} {} MB/s", range(record, m, durable.unwrap_or(Quantity::BytesPerSecond), MB)?))
    };
    let operations =
        |m: Option<&Measurement>, what: &str| Some(format!("{} {what}", range(record, m?, Quantity::Iops, 1.0)?));
    let random = [operations(headline.random_read, "random reads"), operations(headline.random_write, "random writes")];
    let random: Vec<String> = random.into_iter().flatten().collect();
    let mut parts: Vec<String> = [rate(headline.sequential_read, "reads"), rate(headline.sequential_write, "writes")]
        .into_iter()
        .flatten()
        .collect();
    if !random.is_empty() {
        parts.push(format!("{} a second", random.join(" and ")));
    }
    let assumed = percent(ASSUMED_DAYS, 1);
    (!parts.is_empty())
        .then(|| format!("{} (95 %; day-to-day variation unknown from one run; {assumed} assumed)", parts.join(", ")))
}

fn range(record: &Record, m: &Measurement, quantity: Quantity, unit: f64) -> Option<String> {
    let estimate = over_days(record, &Load::of(&m.workload), quantity)?;
    let (low, high) = estimate.low.zip(estimate.high)?;
    // What the bus lets through it does not exceed on another day, either.
    let each = if quantity == Quantity::Iops { m.workload.block_bytes as f64 } else { 1.0 };
    let most = record.medium.reachable().map(|reachable| reachable / each).filter(|most| *most > estimate.point);
    Some(interval(low / unit, high.min(most.unwrap_or(f64::INFINITY)) / unit))
}
