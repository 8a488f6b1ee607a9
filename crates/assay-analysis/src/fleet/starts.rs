//! How well nodes began together.

use assay_core::record::Record;
use serde::Serialize;

/// How well nodes began together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Starts {
    /// Repeats that were begun together, over all nodes.
    pub n: usize,
    /// By how much they were late, at the 95th percentile, in nanoseconds.
    pub p95_late_ns: i64,
    /// The widest bound of a clock, in nanoseconds.
    pub bound_ns: u64,
}

/// The deviation of starts from their planned times, over all repeats of all records; `None` where no repeats began
/// together by compared clocks.
#[must_use]
pub fn starts<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Starts> {
    let repeats = records.into_iter().flat_map(|record| &record.measurements).flat_map(|m| &m.repeats);
    let common: Vec<_> = repeats.filter_map(|repeat| repeat.common_start.as_deref()).collect();
    let mut late: Vec<i64> =
        common.iter().map(|start| start.began_ns.saturating_sub(start.planned_ns).saturating_abs()).collect();
    late.sort_unstable();
    // The smallest that at least 95 % do not exceed.
    let at = (late.len() * 95).div_ceil(100).checked_sub(1)?;
    let bound_ns = common.iter().filter_map(|start| start.bound_ns).max()?;
    Some(Starts { n: late.len(), p95_late_ns: late[at], bound_ns })
}
