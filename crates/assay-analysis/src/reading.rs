//! One figure of one record: its repeats, its owner, the doubts about it, and the steps in which it was printed.

use assay_core::arrivals::{Arrivals, Process};
use assay_core::finding::{Finding, Severity};
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::Outcome;
use assay_core::workload::{Stop, Unknown, Workload};
use assay_stats::rank::SlotCeiling;
use serde::Serialize;

use crate::exclusion::{Reason, excluded_whole};
use crate::load::Load;
use crate::quantity::{Quantity, estimate, value};

/// Caveats of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The bus was reached: the medium is at least this fast.
    BusLimited,
    /// The instrument was the limit.
    InstrumentLimited,
    /// The best of several runs: on average the medium does less.
    BestOf,
    /// A finding makes the figure doubtful.
    Suspect,
    /// The figure is not what it claims to be; it can win no comparison.
    Invalid,
    /// The medium is not genuine; it can win no comparison.
    Fake,
    /// The medium failed in this run; it can win no comparison.
    Failed,
    /// The run is under way or was killed; it can win no comparison.
    Unfinished,
    /// Published without repeats.
    Published,
}

impl Mark {
    /// Whether a figure with this mark may win no comparison.
    #[must_use]
    pub fn excludes(self) -> bool {
        matches!(self, Self::Invalid | Self::Fake | Self::Failed | Self::Unfinished)
    }
}

/// One figure of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<'a> {
    /// The record.
    pub record: &'a Observation,
    /// The measurement in it.
    pub measurement: &'a ObservedMeasurement,
    /// The values of its completed repeats. A figure without repeats has itself as the only value.
    pub values: Vec<f64>,
    /// Caveats, in order.
    pub marks: Vec<Mark>,
}

impl Reading<'_> {
    /// Whether the figure may win a comparison.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.marks.iter().any(|mark| mark.excludes())
    }
}

/// The loads of these records, each once, in reading order.
#[must_use]
pub fn loads<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Vec<Load> {
    let mut all: Vec<Load> = records.into_iter().flat_map(|r| numbered(r).into_iter().map(|(load, _)| load)).collect();
    all.sort();
    all.dedup();
    all
}

/// The figure of a record under a load; `None` where it has none.
#[must_use]
pub fn reading<'a>(record: &'a Observation, load: &Load, quantity: Quantity) -> Option<Reading<'a>> {
    reading_of(record, measurement(record, load)?, quantity)
}

/// The figure of a measurement of a record.
pub(crate) fn reading_of<'a>(
    record: &'a Observation,
    measurement: &'a ObservedMeasurement,
    quantity: Quantity,
) -> Option<Reading<'a>> {
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0);
    let mut values: Vec<f64> = completed.filter_map(|r| value(r, quantity)).collect();
    if measurement.repeats.is_empty() {
        values.extend(figure(measurement, quantity));
    }
    if values.is_empty() {
        return None;
    }
    Some(Reading { record, measurement, values, marks: marks(record, measurement) })
}

/// The measurement of a record under a load.
pub(crate) fn measurement<'a>(record: &'a Observation, load: &Load) -> Option<&'a ObservedMeasurement> {
    // The first figure of a load has no variant. It is found without numbering all measurements, which a ranking would
    // do very often.
    if load.variant.is_empty() {
        return record.measurements.iter().find(|measurement| load.is_of(&measurement.workload));
    }
    numbered(record).into_iter().find(|(of, _)| of == load).map(|(_, measurement)| measurement)
}

/// The properties of a load that the source of a figure does not state. The length of the run is left out, because no
/// comparison uses it.
pub(crate) fn lacking(record: &Observation, load: &Load) -> Vec<&'static str> {
    let unknown = measurement(record, load).into_iter().flat_map(|measurement| &measurement.workload.unknown);
    unknown.filter(|what| **what != Unknown::Stop).map(|what| what.title()).collect()
}

/// Measurements with their loads. A second measurement of a load is distinguished by its name.
pub(crate) fn numbered(record: &Observation) -> Vec<(Load, &ObservedMeasurement)> {
    let mut seen: Vec<(Load, &ObservedMeasurement)> = Vec::with_capacity(record.measurements.len());
    for measurement in &record.measurements {
        let mut load = Load::from_workload(&measurement.workload);
        if seen.iter().any(|(before, _)| *before == load) {
            load.variant.clone_from(&measurement.workload.name);
        }
        seen.push((load, measurement));
    }
    seen
}

fn figure(measurement: &ObservedMeasurement, quantity: Quantity) -> Option<f64> {
    estimate(measurement, quantity).map(|e| e.point)
}

fn marks(record: &Observation, measurement: &ObservedMeasurement) -> Vec<Mark> {
    let weighs = |severity| {
        let mut warnings = record.warnings.iter().chain(&measurement.warnings);
        warnings.any(|warning| warning.severity == severity)
    };
    let whole = excluded_whole(record);
    let invalid = weighs(Severity::Invalid) || matches!(whole, Some(Reason::Invalid { .. }));
    let all = [
        (Mark::BusLimited, measurement.bus_limited),
        (Mark::InstrumentLimited, measurement.instrument_limited),
        (Mark::BestOf, measurement.warnings.iter().any(|warning| matches!(warning.finding, Finding::BestOf { .. }))),
        (Mark::Suspect, weighs(Severity::Suspect) && !invalid),
        (Mark::Invalid, invalid),
        (Mark::Fake, matches!(whole, Some(Reason::NotGenuine { .. }))),
        (Mark::Failed, matches!(whole, Some(Reason::MediumFailed { .. }))),
        (Mark::Unfinished, matches!(whole, Some(Reason::Unfinished))),
        (Mark::Published, record.is_published()),
    ];
    all.into_iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).collect()
}

// Whether a figure was held by the bus of its medium.

/// Whether the bus was reached, so that the medium is at least this fast: the run saw it, or the record knows what the
/// bus lets through, and half of the repeats or more are near it.
#[must_use]
pub fn held_by_bus(record: &Observation, measurement: &ObservedMeasurement) -> bool {
    measurement.bus_limited || reach(record).is_some_and(|ceiling| ceiling.holds_unit(&rates(measurement)))
}

/// What the bus of a record lets through.
pub(crate) fn reach(record: &Observation) -> Option<SlotCeiling> {
    SlotCeiling::new(record.medium.reachable()?)
}

/// Bytes per second of the repeats of a measurement: what a ceiling is compared with.
pub(crate) fn rates(measurement: &ObservedMeasurement) -> Vec<f64> {
    if measurement.repeats.is_empty() {
        return measurement.bytes_per_second.iter().map(|e| e.point).collect();
    }
    let done = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0);
    done.map(|r| r.bytes_per_second).collect()
}

// In which steps a tool printed a figure.
//
// Three cards of 22.6 to 23.4 MB/s are all 23 where whole MB/s are printed: they agree, and are off by up to half a step
// together, which no number of units averages out. So a step is an error of its own, uniform: step² / 12.

/// What figures are printed in, in bytes per second.
const UNITS: [f64; 5] = [1_048_576.0, 1e6, 1024.0, 1e3, 1.0];
/// Most decimals that are looked for.
const DECIMALS: i32 = 3;
/// Finer steps, as a share of the figure, are lost in how units and days differ.
const LEAST: f64 = 0.005;

/// The step in which a figure was printed, as a share of it; 0 of what assay measured itself, and of fine steps.
pub(crate) fn resolution(record: &Observation, measurement: &ObservedMeasurement) -> f64 {
    if !record.is_printed() {
        return 0.0;
    }
    let bytes =
        |measurement: &ObservedMeasurement| measurement.bytes_per_second.as_ref().map(|estimate| estimate.point);
    let iops = |measurement: &ObservedMeasurement| measurement.iops.as_ref().map(|estimate| estimate.point);
    // A rate of 20.0 alone looks like whole ones; other figures of the same text tell.
    let of_bytes = step(&record.measurements.iter().filter_map(bytes).collect::<Vec<_>>(), &UNITS);
    let of_iops = step(&record.measurements.iter().filter_map(iops).collect::<Vec<_>>(), &[1.0]);
    let share = |step: Option<f64>, value: Option<f64>| step.zip(value).map_or(0.0, |(step, value)| step / value);
    let found = share(of_bytes, bytes(measurement)).max(share(of_iops, iops(measurement)));
    if found >= LEAST { found } else { 0.0 }
}

/// Squared error of the logarithm of a figure that was printed in such steps.
pub(crate) fn uniform(step: f64) -> f64 {
    step.powi(2) / 12.0
}

/// The largest step that divides all values.
fn step(values: &[f64], units: &[f64]) -> Option<f64> {
    let is_multiple = |step: f64| {
        values.iter().all(|value| {
            let steps = value / step;
            (steps - steps.round()).abs() <= 1e-9 * steps.max(1.0)
        })
    };
    let mut steps: Vec<f64> =
        units.iter().flat_map(|unit| (0..=DECIMALS).map(move |decimals| unit / 10f64.powi(decimals))).collect();
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.into_iter().find(|step| !values.is_empty() && is_multiple(*step))
}

// How a host executed a load, where the same load can be executed in several ways. The figures are still compared, and
// a note reports the difference.

/// The manner as text: the number of completions awaited at once, the processors that threads were pinned to, and
/// whether completions were polled. `None` where the source of a figure does not say.
pub(crate) fn manner(record: &Observation, measurement: &ObservedMeasurement) -> Option<String> {
    if record.is_printed() {
        return None;
    }
    let waits = match measurement.batching.as_ref().map(|batching| batching.wait_for) {
        None | Some(0 | 1) => "waits for one completion at a time".to_owned(),
        Some(several) => format!("waits for {several} completions at once"),
    };
    let parts: Vec<String> = std::iter::once(waits).chain(measurement.workload.manner()).collect();
    Some(parts.join(", "))
}

// How the latency of a medium grows with the load that is offered, and where it begins to.

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
pub fn load_curves(record: &Observation) -> Vec<LoadCurve> {
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
fn point(measurement: &ObservedMeasurement) -> Option<(Kind, (LoadPoint, Load))> {
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
    use assay_core::cpus::Cpus;
    use assay_core::estimate::Estimate;
    use assay_core::record::{Batching, Source};
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;
    use crate::advise::samples::record;

    /// A fake is fast: it writes nothing. It wins no comparison and no place in a picture.
    #[test]
    fn only_invalid_figures_and_those_of_fakes_do_not_count() {
        let record = crate::published::published("samsung-evo-plus-64gb").unwrap().remove(0);
        let measurement = &record.measurements[0];
        let counts = |marks: Vec<Mark>| Reading { record: &record, measurement, values: vec![1.0], marks }.counts();
        assert!(counts(vec![]));
        for mark in [Mark::BusLimited, Mark::InstrumentLimited, Mark::BestOf, Mark::Suspect, Mark::Published] {
            assert!(counts(vec![mark]), "{mark:?}");
        }
        for mark in [Mark::Invalid, Mark::Fake, Mark::Failed, Mark::Unfinished] {
            assert!(!counts(vec![mark]) && !counts(vec![Mark::Suspect, mark]), "{mark:?}");
        }
    }

    fn printed(rates: &[f64]) -> Observation {
        let measured = |rate: &f64| {
            let workload = Workload::new("w", Op::Read, Pattern::Sequential, 1 << 20);
            let bytes = Some(Estimate::bare(*rate, 1, "printed"));
            let iops = Some(Estimate::bare(rate / 1_048_576.0, 1, "printed"));
            ObservedMeasurement { bytes_per_second: bytes, iops, ..ObservedMeasurement::new(workload) }
        };
        let mut record = crate::samples::record("z", "A", "1", rates.iter().map(measured).collect());
        record.origin =
            assay_core::observation::ObservedOrigin::Imported(Source { format: "dd".to_owned(), ..Source::default() });
        record
    }

    fn of(rates: &[f64]) -> f64 {
        let record = printed(rates);
        resolution(&record, &record.measurements[0])
    }

    #[test]
    fn the_step_is_that_of_the_last_digit_that_any_figure_has() {
        assert!((of(&[23e6]) - 1.0 / 23.0).abs() < 1e-9);
        assert!((of(&[23.0 * 1_048_576.0, 80.0 * 1_048_576.0]) - 1.0 / 23.0).abs() < 1e-9);
        assert!((of(&[5e6, 12.3e6]) - 0.1 / 5.0).abs() < 1e-9, "the other figure has a decimal");
        assert_eq!(of(&[22.9e6, 23.1e6]), 0.0, "0.4 %");
        assert_eq!(of(&[22_912_345.67]), 0.0);
        let own = Observation { origin: assay_core::observation::ObservedOrigin::default(), ..printed(&[23e6]) };
        assert_eq!(resolution(&own, &own.measurements[0]), 0.0);
    }

    #[test]
    fn a_manner_is_told_of_what_assay_ran_and_of_nothing_else() {
        let published = crate::published("sandisk-extreme-a2").unwrap().remove(0);
        assert_eq!(manner(&published, &published.measurements[0]), None);
        let own = Observation { origin: assay_core::observation::ObservedOrigin::default(), ..published };
        let mut measurement = own.measurements[0].clone();
        assert_eq!(manner(&own, &measurement).unwrap(), "waits for one completion at a time");
        let batching = |wait_for| Batching { wait_for, tried: 8, iops_ratio: 1.1, p50_ratio: None, p99_ratio: None };
        measurement.batching = Some(batching(1).into());
        assert_eq!(manner(&own, &measurement).unwrap(), "waits for one completion at a time", "tried and left");
        measurement.batching = Some(batching(8).into());
        measurement.workload.cpus = Cpus::parse("0-3").unwrap();
        measurement.workload.poll = true;
        let words = "waits for 8 completions at once, one processor a thread of 0-3, completions polled";
        assert_eq!(manner(&own, &measurement).unwrap(), words);
    }

    fn offered(iops: f64, p99_ns: f64) -> ObservedMeasurement {
        let arrivals = Some(Arrivals { iops, process: Process::Poisson });
        let workload = Workload { arrivals, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
        let mut m = ObservedMeasurement::new(workload);
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
        all.measurements[1]
            .warnings
            .push(Finding::RateNotReached { asked_iops: 200.0, reached_iops: 150.0, unserved: 9 }.into());
        let curve = &load_curves(&all)[0];
        assert_eq!((curve.knee().map(|k| k.iops), curve.beyond().map(|b| b.iops)), (Some(100.0), Some(200.0)));
    }
}
