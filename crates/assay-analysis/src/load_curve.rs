//! How the latency of a medium grows with the load that is offered, and where it begins to.

use assay_core::arrivals::{Arrivals, Process};
use assay_core::finding::Finding;
use assay_core::record::{Measurement, Record};
use assay_core::workload::{Stop, Workload};

use crate::load::Load;

/// Fewer loads are no curve.
const LEAST_LOADS: usize = 3;
/// Up to the knee, the 99th percentile is at most this many times that of the lightest load.
pub const KNEE_FACTOR: f64 = 2.0;

/// One offered load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Operations per second that were offered.
    pub iops: f64,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: f64,
    /// Whether the medium kept up.
    pub held: bool,
}

/// The loads of one kind that a record offers, from the lightest on.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCurve {
    /// The kind, without its rate: `random read 4 KiB, QD32`.
    pub title: String,
    /// At least three.
    pub points: Vec<LoadPoint>,
    /// The load of each point.
    pub loads: Vec<Load>,
}

impl LoadCurve {
    /// The heaviest load up to which the medium kept up and the 99th percentile stayed within [`KNEE_FACTOR`] times that
    /// of the lightest load; `None` where it did not keep up with that one.
    #[must_use]
    pub fn knee(&self) -> Option<LoadPoint> {
        let most = self.points.first()?.p99_ns * KNEE_FACTOR;
        self.points.iter().take_while(|point| point.held && point.p99_ns <= most).last().copied()
    }

    /// The first load beyond the knee; `None` where there is none, so that the knee lies beyond all of them.
    #[must_use]
    pub fn beyond(&self) -> Option<LoadPoint> {
        let most = self.points.first()?.p99_ns * KNEE_FACTOR;
        self.points.iter().find(|point| !point.held || point.p99_ns > most).copied()
    }
}

/// What the loads of a curve share.
type Kind = (Workload, Process);

/// The curves of a record, in its order.
#[must_use]
pub fn load_curves(record: &Record) -> Vec<LoadCurve> {
    let mut kinds: Vec<(Kind, Vec<(LoadPoint, Load)>)> = Vec::new();
    for (kind, point) in record.measurements.iter().filter_map(point) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, points)) => points.push(point),
            None => kinds.push((kind, vec![point])),
        }
    }
    let curve = |((kind, _), mut points): (Kind, Vec<(LoadPoint, Load)>)| {
        points.sort_by(|(a, _), (b, _)| a.iops.total_cmp(&b.iops));
        points.dedup_by(|(a, _), (b, _)| a.iops == b.iops);
        let (points, loads): (Vec<LoadPoint>, Vec<Load>) = points.into_iter().unzip();
        (points.len() >= LEAST_LOADS).then(|| LoadCurve { title: kind.title(), points, loads })
    };
    kinds.into_iter().filter_map(curve).collect()
}

/// The kind of load, with what differs from load to load left out, and the point.
fn point(measurement: &Measurement) -> Option<(Kind, (LoadPoint, Load))> {
    let workload = &measurement.workload;
    let Arrivals { iops, process } = workload.arrivals?;
    let p99_ns = measurement.latency_ns.p99.as_ref()?.point;
    let held = !measurement.warnings.iter().any(|w| matches!(w.finding, Finding::RateNotReached { .. }));
    let kind = Workload { name: String::new(), arrivals: None, stop: Stop::OPEN, ..(**workload).clone() };
    let drawn = |value: f64| value.is_finite() && value > 0.0;
    (drawn(iops) && drawn(p99_ns))
        .then(|| ((kind, process), (LoadPoint { iops, p99_ns, held }, Load::from_workload(workload))))
}

#[cfg(test)]
mod tests {
    use assay_core::estimate::Estimate;
    use assay_core::workload::{Op, Pattern};

    use super::*;
    use crate::advise::samples::record;

    fn offered(iops: f64, p99_ns: f64) -> Measurement {
        let arrivals = Some(Arrivals { iops, process: Process::Poisson });
        let workload = Workload { arrivals, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
        let mut m = Measurement::empty(workload, "sync");
        m.latency_ns.p99 = Some(Estimate::bare(p99_ns, 3, "").into());
        m
    }

    fn curves(loads: &[(f64, f64)]) -> Vec<LoadCurve> {
        let mut all = record("Card", "1");
        all.measurements = loads.iter().map(|(iops, p99)| offered(*iops, *p99)).collect();
        load_curves(&all)
    }

    #[test]
    fn the_knee_is_the_last_load_before_the_tail_doubles() {
        let curve = &curves(&[(300.0, 1.9e6), (100.0, 1e6), (200.0, 1.2e6), (400.0, 2.1e6), (500.0, 1.5e6)])[0];
        assert_eq!(curve.title, "random read 4 KiB");
        assert_eq!((curve.knee().map(|k| k.iops), curve.beyond().map(|b| b.iops)), (Some(300.0), Some(400.0)));
        let flat = &curves(&[(100.0, 1e6), (200.0, 1e6), (300.0, 1e6)])[0];
        assert_eq!((flat.knee().map(|k| k.iops), flat.beyond()), (Some(300.0), None));
        assert_eq!(curves(&[(100.0, 1e6), (200.0, 1e6)]), [], "two are no curve");
        assert_eq!(curves(&[(-5.0, 1e6), (200.0, 1e6), (300.0, 1e6), (400.0, f64::NAN)]), [], "nor what is no load");
        let mut all = record("Card", "1");
        all.measurements = [100.0, 200.0, 300.0, 400.0].map(|iops| offered(iops, 1e6)).into();
        let even = Some(Arrivals { iops: 250.0, process: Process::Constant });
        all.measurements[3].workload.arrivals = even;
        assert_eq!(load_curves(&all)[0].points.len(), 3, "another process is another curve");
    }

    #[test]
    fn a_load_that_was_not_held_is_beyond_the_knee() {
        let mut all = record("Card", "1");
        all.measurements = vec![offered(100.0, 1e6), offered(200.0, 1e6), offered(300.0, 1e6)];
        all.measurements[1].warn(Finding::RateNotReached { asked_iops: 200.0, reached_iops: 150.0, unserved: 9 });
        let curve = &load_curves(&all)[0];
        assert_eq!((curve.knee().map(|k| k.iops), curve.beyond().map(|b| b.iops)), (Some(100.0), Some(200.0)));
    }
}
