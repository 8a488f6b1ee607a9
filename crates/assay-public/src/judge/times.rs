//! Times against each other. Clocks of small boards may be wrong by years, and jump forward when they are set: only what no
//! such jump explains is a contradiction.

use assay_core::record::{Record, Repeat};
use jiff::Timestamp;

use crate::states::{Code, Reason};

/// What a clock is adjusted by while a run lasts, in seconds.
const ADJUSTED: f64 = 5.0;
/// The share by which the sum of all repeats may exceed the time of the run.
const SHARE: f64 = 0.01;

pub(super) fn check(record: &Record) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let repeats: Vec<&Repeat> = record.measurements.iter().flat_map(|m| &m.repeats).collect();
    let alone = record.cluster.is_none() && record.measurements.iter().all(|m| m.workload.together.is_none());
    if let (Some(settings), true) = (record.settings(), alone) {
        let measured: f64 = repeats.iter().map(|repeat| repeat.elapsed_ns as f64 / 1e9).sum();
        let whole = settings.elapsed_ns as f64 / 1e9;
        if measured > whole * (1.0 + SHARE) + 1.0 {
            reasons.push(Reason::new(
                Code::Dates,
                format!("the repeats last {measured:.0} s together, and the run lasted {whole:.0} s"),
            ));
        }
    }
    let seconds = |text: &str| text.parse::<Timestamp>().ok().map(|time| time.as_microsecond() as f64 / 1e6);
    let began = seconds(&record.created);
    let first = repeats.iter().filter_map(|repeat| seconds(&repeat.started)).min_by(f64::total_cmp);
    if let (Some(began), Some(first)) = (began, first)
        && first < began - ADJUSTED
    {
        reasons.push(Reason::new(Code::Dates, "a repeat began before the run"));
    }
    let mut started: Vec<(f64, f64)> =
        repeats.iter().filter_map(|repeat| Some((seconds(&repeat.started)?, repeat.elapsed_ns as f64 / 1e9))).collect();
    started.sort_by(|a, b| a.0.total_cmp(&b.0));
    let overlap = |pair: &[(f64, f64)]| pair[0].0 + pair[0].1 > pair[1].0 + ADJUSTED.min(pair[0].1);
    if alone && started.windows(2).any(overlap) {
        reasons.push(Reason::new(Code::Dates, "two repeats of one run went on at the same time"));
    }
    reasons
}
