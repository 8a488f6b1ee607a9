//! What the figures of a workload say about themselves.

use assay_core::finding::Finding;
use assay_core::histogram::Histogram;
use assay_core::medium::Bus;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_engine::NullCost;
use assay_stats::rank::Ceiling;

use crate::proof::Proof;
use crate::summary::replace_findings;

/// Within this factor of the null engine's rate a result is instrument-limited.
const INSTRUMENT_FACTOR: f64 = 3.0;
/// Latency times rate may differ from the mean number in flight by this share.
const LITTLE_TOLERANCE: f64 = 0.05;
/// Least share of the queue depth that must be in flight on average.
const DEPTH_SHARE: f64 = 0.9;
/// Operations per one in flight below which the edges of the window blur both laws.
pub(crate) const EDGE_OPERATIONS: u64 = 40;
/// Fewer operations than this make a coarse figure (Poisson error above 14 %).
const FEW_OPERATIONS: u64 = 50;

/// Judges a measurement from its estimates and repeats; replaces what was judged before.
pub(crate) fn judge(measurement: &mut Measurement, bus: Option<&Bus>, null: Option<NullCost>, proof: Proof) {
    let completed = || measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
    let (operations, latency_ns, window_ns) = completed().fold((0u64, 0u128, 0u128), |(o, l, w), r| {
        (o + r.operations, l + Histogram::from(&*r.histogram).sum_ns(), w + u128::from(r.elapsed_ns))
    });
    let slowest_ns: u128 = completed().map(|r| u128::from(r.histogram.max_ns)).sum();
    let depth = measurement.workload.depth();
    let steady = operations >= depth * EDGE_OPERATIONS;

    measurement.proof_ratio = proof.ratio();
    let workload = &measurement.workload;
    let proof_finding = proof.finding(workload.op, workload.sync.each());
    replace_findings(
        measurement,
        |f| matches!(f, Finding::ServedFromCache { .. } | Finding::OthersUsedDevice { .. }),
        proof_finding,
    );

    let ceiling = bus.and_then(Bus::reachable).and_then(Ceiling::new).zip(measurement.bytes_per_second.as_ref());
    let held = ceiling.filter(|(ceiling, rate)| ceiling.holds(rate.point));
    measurement.bus_limited = held.is_some();
    let finding = held.map(|(ceiling, rate)| Finding::BusLimited { share: rate.point / ceiling.rate() });
    replace_findings(measurement, |f| matches!(f, Finding::BusLimited { .. }), finding);

    let ceiling = null.map(|n| 1e9 / n.ns_per_operation * f64::from(measurement.workload.jobs));
    measurement.instrument_limited = match (ceiling, &measurement.iops) {
        (Some(ceiling), Some(iops)) => iops.point * INSTRUMENT_FACTOR >= ceiling,
        _ => false,
    };
    let finding = measurement
        .instrument_limited
        .then(|| Finding::InstrumentLimited { null_operations_per_second: ceiling.unwrap_or(0.0) });
    replace_findings(measurement, |f| matches!(f, Finding::InstrumentLimited { .. }), finding);

    replace_findings(measurement, |f| matches!(f, Finding::RateNotReached { .. }), not_reached(measurement));
    if measurement.workload.arrivals.is_some() {
        // Neither does an open loop fill its queue, nor is its latency the time in flight.
        return few(measurement, operations);
    }

    // Little's law: the time that operations spent is the time for which they were in flight, over the same
    // windows. Those of several threads overlap; their mean times the mean in flight is the integral.
    let in_flight = measurement.in_flight.unwrap_or(0.0);
    let integral = window_ns as f64 * in_flight;
    // Tools that only print a rate tell no latency.
    let law = (integral > 0.0 && latency_ns > 0).then(|| latency_ns as f64 / integral);
    // An operation in flight at an edge of a window may have spent all of its time outside of it.
    let blur = if integral > 0.0 { slowest_ns as f64 * depth as f64 / integral } else { 0.0 };
    let finding = law
        .filter(|ratio| steady && (ratio - 1.0).abs() > LITTLE_TOLERANCE + blur)
        .map(|ratio| Finding::LittlesLaw { ratio });
    replace_findings(measurement, |f| matches!(f, Finding::LittlesLaw { .. }), finding);

    let asked = depth as f64;
    // Pauses between operations empty the queue.
    let full = measurement.workload.think.is_none();
    let finding =
        (steady && full && in_flight < asked * DEPTH_SHARE).then_some(Finding::ShallowQueue { in_flight, asked });
    replace_findings(measurement, |f| matches!(f, Finding::ShallowQueue { .. }), finding);

    few(measurement, operations);
}

/// Says where there are so few operations that the figure is coarse.
fn few(measurement: &mut Measurement, operations: u64) {
    let finding = (operations > 0 && operations < FEW_OPERATIONS).then_some(Finding::FewOperations { operations });
    replace_findings(measurement, |f| matches!(f, Finding::FewOperations { .. }), finding);
}

/// Says where the medium did not keep up with the rate of an open loop: where operations were never begun, or where
/// fewer were done than chance explains. The number of Poisson arrivals has the standard deviation of its root; five
/// of them, and a hundredth for the edges of the window, are allowed.
fn not_reached(measurement: &Measurement) -> Option<Finding> {
    let asked_iops = measurement.workload.arrivals?.iops;
    let completed = || measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
    let unserved = completed().filter_map(|r| r.unserved).sum::<u64>();
    let (seconds, done) = completed().fold((0.0, 0u64), |(s, n), r| (s + r.elapsed_ns as f64 / 1e9, n + r.operations));
    let expected = asked_iops * seconds;
    let missing = expected - done as f64;
    let chance = 5.0 * expected.sqrt() + 0.01 * expected;
    (unserved > 0 || missing > chance).then(|| Finding::RateNotReached {
        asked_iops,
        reached_iops: if seconds > 0.0 { done as f64 / seconds } else { 0.0 },
        unserved,
    })
}
