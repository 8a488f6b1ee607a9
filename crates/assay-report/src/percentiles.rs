//! The latency percentiles that the user asked for, as lines.

use assay_analysis::percentiles::{operations_for, percentile};
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::clean;
use assay_core::units::{grouped, latency, trimmed};

/// An interval whose ends are further apart than this factor is not useful.
const WIDEST: f64 = 100.0;

/// The heading of the percentiles of a record, where there are several records.
#[must_use]
pub fn percentile_heading(record: &Record) -> String {
    format!("{}  {}", clean(&record.id), record.title())
}

/// Each workload of a record with its percentiles, given as shares between 0 and 1.
#[must_use]
pub fn percentile_lines(record: &Record, shares: &[f64]) -> String {
    let mut lines = vec!["latency".to_owned()];
    let names: Vec<String> = shares.iter().map(|share| format!("p{}", trimmed(share * 100.0, 10))).collect();
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    for m in &record.measurements {
        lines.push(clean(&record.load_title(m)));
        if m.repeats.iter().all(|r| r.outcome != Outcome::Completed || r.operations == 0) {
            lines.push("  no completed repeat with recorded latencies".to_owned());
            continue;
        }
        for (share, name) in shares.iter().zip(&names) {
            let words = match percentile(m, *share) {
                None => {
                    let needed = grouped(i64::try_from(operations_for(*share)).unwrap_or(i64::MAX));
                    format!("needs {needed} operations in each repeat")
                }
                Some(e) => match (e.low, e.high) {
                    (Some(low), Some(high)) if high > low * WIDEST => {
                        format!("{:<8}  {} repeats are too few for an interval", latency(e.point), e.n)
                    }
                    (Some(low), Some(high)) => {
                        format!("{:<8}  {} to {}", latency(e.point), latency(low), latency(high))
                    }
                    _ => latency(e.point),
                },
            };
            lines.push(format!("  {name:<widest$}  {words}"));
        }
    }
    lines.join("\n")
}
