//! Numbers that no run has: below zero, or so large that sums of them are none.

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record, Repeat};

use crate::intake::{Fault, Refusal};

/// Operations or bytes per second: faster than any memory.
const FASTEST: f64 = 1e14;
/// Bytes, operations: beyond any medium and any run.
const MOST: u64 = 1 << 60;
/// Nanoseconds of a year.
const LONGEST_NS: u64 = 366 * 86_400 * 1_000_000_000;
/// Operations in flight.
const DEEPEST: f64 = 1e7;

/// Refuses a record with such a number.
///
/// # Errors
/// [`Refusal`] names the first.
pub(crate) fn check(record: &Record) -> Result<(), Refusal> {
    let medium = [("/medium/capacity_bytes", record.medium.capacity_bytes)];
    let settings = record.settings().map(|settings| {
        [
            ("/settings/span_bytes", settings.span_bytes, MOST),
            ("/settings/written_bytes", settings.written_bytes, MOST),
            ("/settings/read_bytes", settings.read_bytes, MOST),
            ("/settings/elapsed_ns", settings.elapsed_ns, LONGEST_NS),
        ]
    });
    for (pointer, number) in medium {
        at_most(pointer, number.unwrap_or(0), MOST)?;
    }
    for (pointer, number, most) in settings.into_iter().flatten() {
        at_most(pointer, number, most)?;
    }
    if let Some(bus) = &record.medium.bus {
        rate("/medium/bus/ceiling_bytes_per_second", bus.ceiling_bytes_per_second)?;
        rate("/medium/bus/reachable_bytes_per_second", bus.reachable_bytes_per_second)?;
    }
    for (at, measurement) in record.measurements.iter().enumerate() {
        of_measurement(&format!("/measurements/{at}"), measurement)?;
    }
    Ok(())
}

fn of_measurement(pointer: &str, measurement: &Measurement) -> Result<(), Refusal> {
    let workload = &measurement.workload;
    for (name, number) in [("block_bytes", workload.block_bytes), ("span_bytes", workload.span_bytes)] {
        at_most(&format!("{pointer}/workload/{name}"), number, MOST)?;
    }
    estimate(&format!("{pointer}/iops"), measurement.iops.as_ref(), FASTEST)?;
    estimate(&format!("{pointer}/bytes_per_second"), measurement.bytes_per_second.as_ref(), FASTEST)?;
    let durable = measurement.durable_bytes_per_second.as_ref();
    estimate(&format!("{pointer}/durable_bytes_per_second"), durable, FASTEST)?;
    let latency = &measurement.latency_ns;
    let percentiles = [
        ("mean", &latency.mean),
        ("p50", &latency.p50),
        ("p90", &latency.p90),
        ("p99", &latency.p99),
        ("p99_9", &latency.p99_9),
        ("max", &latency.max),
    ];
    for (name, of) in percentiles {
        estimate(&format!("{pointer}/latency_ns/{name}"), of.as_deref(), LONGEST_NS as f64)?;
    }
    for (at, repeat) in measurement.repeats.iter().enumerate() {
        of_repeat(&format!("{pointer}/repeats/{at}"), repeat)?;
    }
    Ok(())
}

fn of_repeat(pointer: &str, repeat: &Repeat) -> Result<(), Refusal> {
    let counts = [("operations", repeat.operations), ("bytes", repeat.bytes), ("issued_bytes", repeat.issued_bytes)];
    for (name, number) in counts {
        at_most(&format!("{pointer}/{name}"), number, MOST)?;
    }
    let times = [
        ("elapsed_ns", repeat.elapsed_ns),
        ("first_done_ns", repeat.first_done_ns),
        ("last_done_ns", repeat.last_done_ns),
        ("histogram/max_ns", repeat.histogram.max_ns),
    ];
    for (name, number) in times {
        at_most(&format!("{pointer}/{name}"), number, LONGEST_NS)?;
    }
    rate(&format!("{pointer}/iops"), Some(repeat.iops))?;
    rate(&format!("{pointer}/bytes_per_second"), Some(repeat.bytes_per_second))?;
    rate(&format!("{pointer}/durable_bytes_per_second"), repeat.durable_bytes_per_second)?;
    within(&format!("{pointer}/in_flight"), repeat.in_flight, DEEPEST)?;
    within(&format!("{pointer}/proof_ratio"), repeat.proof_ratio.unwrap_or(0.0), DEEPEST)?;
    let mut total = 0u64;
    for (at, (_, count)) in repeat.histogram.counts.iter().enumerate() {
        at_most(&format!("{pointer}/histogram/counts/{at}/1"), *count, MOST)?;
        total = total.saturating_add(*count);
    }
    at_most(&format!("{pointer}/histogram/counts"), total, MOST)?;
    for (at, sample) in repeat.samples.iter().enumerate() {
        let pointer = format!("{pointer}/samples/{at}");
        at_most(&format!("{pointer}/operations"), sample.operations, MOST >> 20)?;
        at_most(&format!("{pointer}/bytes"), sample.bytes, MOST >> 8)?;
        at_most(&format!("{pointer}/interval_ns"), sample.interval_ns, LONGEST_NS)?;
        at_most(&format!("{pointer}/t_ns"), sample.t_ns, LONGEST_NS)?;
    }
    Ok(())
}

fn estimate(pointer: &str, estimate: Option<&Estimate>, most: f64) -> Result<(), Refusal> {
    let Some(Estimate { point, low, high, .. }) = estimate else { return Ok(()) };
    within(&format!("{pointer}/point"), *point, most)?;
    within(&format!("{pointer}/low"), low.unwrap_or(0.0), most)?;
    // The end of an interval of few repeats may be far out.
    within(&format!("{pointer}/high"), high.unwrap_or(0.0), f64::MAX)
}

fn rate(pointer: &str, value: Option<f64>) -> Result<(), Refusal> {
    within(pointer, value.unwrap_or(0.0), FASTEST)
}

fn within(pointer: &str, value: f64, most: f64) -> Result<(), Refusal> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(Refusal::at(Fault::OutOfRange, pointer, format!("{value} is not between 0 and {most:e}")))
}

fn at_most(pointer: &str, value: u64, most: u64) -> Result<(), Refusal> {
    if value <= most {
        return Ok(());
    }
    Err(Refusal::at(Fault::OutOfRange, pointer, format!("{value} is above {most}")))
}
