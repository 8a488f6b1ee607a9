//! The cross-check with another instrument, as cells of a table.

use assay_core::estimate::Estimate;
use assay_core::record::Record;
use assay_core::text::clean;
use assay_core::units::fixed;

/// One workload: ratios of assay over the other instrument.
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) rate: String,
    pub(crate) p50: String,
    pub(crate) p99: String,
    /// What went wrong with the other instrument.
    pub(crate) trouble: Option<String>,
}

/// The other instrument, where it is one for all workloads.
pub(crate) fn other(record: &Record) -> String {
    let mut peers: Vec<&str> = record.crosscheck.iter().map(|c| c.peer.as_str()).collect();
    peers.dedup();
    match peers.as_slice() {
        [one] => clean(one),
        _ => "the original".to_owned(),
    }
}

/// Whether tools differ from row to row.
fn several(record: &Record) -> bool {
    record.crosscheck.windows(2).any(|pair| pair[0].peer != pair[1].peer)
}

pub(crate) fn rows(record: &Record) -> Vec<Row> {
    let several = several(record);
    record
        .crosscheck
        .iter()
        .map(|c| Row {
            workload: {
                let load = record.measurement(&c.workload).map_or_else(|| c.workload.clone(), |m| record.load_title(m));
                clean(&if several { format!("{load}, {}", c.peer) } else { load })
            },
            rate: ratio(c.ratio.as_ref()),
            p50: ratio(c.p50_ratio.as_ref()),
            p99: ratio(c.p99_ratio.as_ref()),
            trouble: c.trouble.as_deref().map(clean),
        })
        .collect()
}

/// `1.02 (0.99–1.05)`; a ratio has no unit, and its interval is not symmetric.
fn ratio(estimate: Option<&Estimate>) -> String {
    match estimate {
        None => "–".to_owned(),
        Some(Estimate { point, low: Some(low), high: Some(high), .. }) => {
            format!("{} ({}–{})", fixed(*point, 2), fixed(*low, 2), fixed(*high, 2))
        }
        Some(e) => format!("{} n={}", fixed(e.point, 2), e.n),
    }
}
