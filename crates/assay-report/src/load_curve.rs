//! The load up to which the latency stays low.

use assay_analysis::load_curve::{KNEE_FACTOR, LoadCurve, load_curves};
use assay_core::record::Record;
use assay_core::units::{figures, latency};

/// Each curve of a record in a sentence.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    load_curves(record).iter().map(line).collect()
}

/// `random read 4 KiB QD32: p99 stays within twice the 1.20 ms of the lightest load up to 24 000 IOPS offered (2.10 ms
/// at 27 000)`.
fn line(curve: &LoadCurve) -> String {
    let Some(lightest) = curve.points.first() else { return String::new() };
    let title = &curve.title;
    let light = latency(lightest.p99_ns);
    let Some(knee) = curve.knee() else {
        return format!("{title}: the medium does not keep up with the lightest load, {} IOPS", figures(lightest.iops));
    };
    let beyond = match curve.beyond() {
        None => ", the heaviest load".to_owned(),
        Some(next) if next.held => format!("; {} at {}", latency(next.p99_ns), figures(next.iops)),
        Some(next) => format!("; it does not keep up with {}", figures(next.iops)),
    };
    format!(
        "{title}: up to {} IOPS offered, p99 is at most {KNEE_FACTOR} times the {light} of the lightest load{beyond}",
        figures(knee.iops)
    )
}
