//! One execution of a workload, from the specification to the report.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use assay_core::histogram::Histogram;
use assay_core::record::OriginalRun;
use assay_core::units::nanoseconds;
use assay_core::workload::{Op, Pattern, Stop, Workload};

use super::clock::Timeout;
use super::counters::{LiveSample, OnSample};
use super::threads::{Gathered, Member, OnSampleOf, RepeatSpec, RepeatTrouble, gather};
use super::work;
use super::work::JobReport;
use crate::batching::Batching;
use crate::clock::{Clock, Control, sleep_until};
use crate::contract::EngineKind;
use crate::counters::{Live, Totals};
use crate::sys::IO_ERROR;
use crate::target::Target;
use crate::threads::{TICK, Threads};

/// The final sync may have a whole cache to write: this many times the time of a hang.
pub const SYNC: u32 = 4;

/// What a repeat found.
#[derive(Debug, Clone, Default)]
pub struct RepeatReport {
    /// Measured window in nanoseconds, mean over the threads.
    pub window_ns: u64,
    /// Operations in the window.
    pub operations: u64,
    /// Bytes in the window.
    pub bytes: u64,
    /// Operations per second: the sum of each thread's operations by its own window.
    pub iops: f64,
    /// Bytes per second, acknowledged.
    pub bytes_per_second: f64,
    /// Latencies in the window.
    pub histogram: Histogram,
    /// Mean operations in flight: the integral over the windows of all threads by the mean window. A thread that
    /// was watched for longer weighs more, as it does in `histogram`, so that Little's law holds between the two
    /// whatever the windows are: `histogram.sum_ns() / window_ns` is this number.
    pub in_flight: f64,
    /// Times from submission to completion, of an open loop, whose latencies count from the planned time.
    pub service: Option<Histogram>,
    /// Operations that were due in the window of an open loop and not begun in time to be waited for.
    pub unserved: u64,
    /// By how much an operation of an open loop was begun late though nothing was in its way: the mean over all, in
    /// nanoseconds.
    pub late_ns: f64,
    /// Bytes read from start to drained.
    pub read_bytes: u64,
    /// Bytes written from start to drained.
    pub written_bytes: u64,
    /// The bytes written in the window by the window and its part of the final sync, which all bytes written share
    /// alike; of mixed work, the writes alone. Never above the rate at which they were acknowledged.
    pub durable_bytes_per_second: Option<f64>,
    /// Samples from the start of the repeat.
    pub samples: Vec<LiveSample>,
    /// When the first thread began to submit, by the monotonic clock in nanoseconds.
    pub began_ns: Option<u64>,
    /// When the first thread was done, from the start, in nanoseconds.
    pub first_done_ns: u64,
    /// When the last thread was done, from the start, in nanoseconds.
    pub last_done_ns: u64,
    /// For how many completions at once it waited, of a closed loop.
    pub batching: Option<Batching>,
    /// The repeat was too short for a window: everything was counted.
    pub whole: bool,
    /// How the tool was called that ran it in place of an engine, and what it printed.
    pub original: Option<OriginalRun>,
    /// What went wrong.
    pub trouble: Option<RepeatTrouble>,
}

/// Runs one repeat by `engine`. `on_sample` is called from this thread, between the sampler's sleeps.
pub fn run_repeat(
    engine: EngineKind,
    spec: &RepeatSpec,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> RepeatReport {
    run_together(&[(engine, spec)], control, &mut |_, sample| on_sample(sample)).pop().unwrap_or_default()
}

/// Runs a repeat of several workloads that begin at the same moment, each by its engine; a report of each. The first
/// that ends, ends all: the others would go on without its load beside them. What goes wrong with one of them is
/// reported of all.
pub fn run_together(
    workloads: &[(EngineKind, &RepeatSpec)],
    control: &Control,
    on_sample: &mut OnSampleOf<'_>,
) -> Vec<RepeatReport> {
    let (sender, answers) = mpsc::channel();
    let mut threads = Vec::with_capacity(workloads.len());
    let gates = work::FlowGate::of_workloads(workloads.iter().map(|(_, spec)| &spec.workload));
    for (number, ((engine, spec), gate)) in workloads.iter().zip(&gates).enumerate() {
        match Threads::begin(*engine, spec, control, (workloads.len() > 1, gate.as_ref()), (number, &sender)) {
            Ok(begun) => threads.push(begun),
            Err(trouble) => {
                // Those that wait are let go, and find that they are to stop.
                threads.iter().for_each(|others: &Threads| (others.end(), others.go()).1);
                let failed = || Gathered { trouble: Some(trouble.clone()), ..Gathered::default() };
                return workloads.iter().map(|_| collect(failed(), Totals::default(), Vec::new(), None)).collect();
            }
        }
    }
    // A thread that ends without an answer is noticed by its end of the channel.
    drop(sender);
    // All are ready before the first begins.
    threads.iter().for_each(Threads::wait_until_ready);
    threads.iter().for_each(Threads::go);
    if let Some(at_ns) = workloads.iter().filter_map(|(_, spec)| spec.begin_at_ns).max() {
        sleep_until(at_ns);
    }
    let clock = Clock::start();
    let mut members: Vec<Member<'_>> =
        threads.iter().zip(workloads).map(|(threads, (_, spec))| Member::new(threads, spec, clock, control)).collect();
    gather(&mut members, &answers, clock, control, on_sample);
    let drained_ns = clock.now();
    for (number, member) in members.iter_mut().enumerate() {
        member.sampler.finish(&mut |sample| on_sample(number, sample));
    }

    let mut trouble = members.iter().find_map(|member| member.all.trouble.clone());
    let mut sync_ns = None;
    let writer = workloads.iter().find(|(_, spec)| spec.workload.writes());
    let all_back = members.iter().all(Member::is_back);
    if let (Some((_, spec)), true, None, false) = (writer, all_back, &trouble, control.stopped()) {
        match sync_within(spec.target.as_ref(), spec.hang_after * SYNC, control) {
            Ok(took_ns) => sync_ns = took_ns,
            Err(failed) => trouble = Some(failed),
        }
    }
    let reports = members.into_iter().zip(&threads).map(|(mut member, threads)| {
        if !member.is_back() {
            // A thread did not come back: what the counters saw of all is what there is.
            member.all.done = vec![from_counters(&threads.lives, drained_ns)];
        }
        member.all.trouble.clone_from(&trouble);
        let report = collect(member.all, member.sampler.totals(), member.sampler.samples, sync_ns);
        RepeatReport { began_ns: threads.began_ns(), ..report }
    });
    reports.collect()
}

/// Syncs in a thread of its own, so that a medium that never answers does not take this one; for how long that took
/// in nanoseconds, `None` where the end was asked for meanwhile.
///
/// # Errors
/// Where the sync fails, or takes longer than `limit`.
pub fn sync_within(
    target: Option<&Arc<Target>>,
    limit: Duration,
    control: &Control,
) -> Result<Option<u64>, RepeatTrouble> {
    let Some(target) = target else { return Ok(Some(0)) };
    let clock = Clock::start();
    let (sender, answer) = mpsc::channel();
    let target = Arc::clone(target);
    std::thread::Builder::new()
        .spawn(move || {
            let _ = sender.send(target.sync());
        })
        .map_err(|error| RepeatTrouble::Setup(format!("no thread for the sync could be made: {error}")))?;
    let mut timeout = Timeout::new(limit);
    loop {
        match answer.recv_timeout(TICK) {
            Ok(Ok(())) => return Ok(Some(clock.now())),
            Ok(Err(error)) => return Err(RepeatTrouble::Sync { errno: error.raw_os_error().unwrap_or(IO_ERROR) }),
            Err(_) if control.stopped() => return Ok(None),
            Err(_) if timeout.expired() => return Err(RepeatTrouble::Hung { after: limit }),
            Err(_) => {}
        }
    }
}

fn from_counters(lives: &[Arc<Live>], elapsed_ns: u64) -> JobReport {
    let mut histogram = Histogram::default();
    let (mut operations, mut bytes) = (0, 0);
    for live in lives {
        histogram.merge(&live.histogram());
        let totals = live.totals();
        operations += totals.operations;
        bytes += totals.bytes;
    }
    JobReport {
        window_ns: elapsed_ns,
        operations,
        bytes,
        in_flight_ns: histogram.sum_ns(),
        histogram,
        service: None,
        unserved: 0,
        late_ns: 0,
        batching: None,
        whole: true,
        failure: None,
    }
}

/// What was acknowledged in the measured window.
#[derive(Debug, Clone, Copy)]
pub struct WindowRate {
    /// Bytes per second, reads and writes.
    pub bytes_per_second: f64,
    /// Bytes.
    pub bytes: u64,
    /// Length in nanoseconds, mean over the threads.
    pub window_ns: f64,
}

impl WindowRate {
    /// The rate at which its writes became durable: the final sync took `sync_ns` for `written_bytes` of `all_bytes`
    /// since the start of the repeat, warm-up included; the window has its part of that by the bytes. `None` where
    /// nothing was written in it.
    #[must_use]
    pub fn durable(&self, written_bytes: u64, all_bytes: u64, sync_ns: u64) -> Option<f64> {
        let writes = written_bytes as f64 / all_bytes as f64;
        let part = (self.bytes as f64 / all_bytes as f64).min(1.0);
        let rate = self.bytes_per_second * writes * self.window_ns / (self.window_ns + sync_ns as f64 * part);
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }
}

fn collect(all: Gathered, totals: Totals, samples: Vec<LiveSample>, sync_ns: Option<u64>) -> RepeatReport {
    let Gathered { done, done_at, trouble } = all;
    let mut histogram = Histogram::default();
    let (mut operations, mut bytes) = (0, 0);
    let (mut iops, mut bytes_per_second) = (0.0, 0.0);
    let (mut windows, mut in_flight_ns) = (0u128, 0u128);
    let mut service: Option<Histogram> = None;
    let (mut unserved, mut late_ns) = (0, 0);
    for job in &done {
        histogram.merge(&job.histogram);
        if let Some(times) = &job.service {
            service.get_or_insert_default().merge(times);
        }
        unserved += job.unserved;
        late_ns += job.late_ns;
        operations += job.operations;
        bytes += job.bytes;
        windows += u128::from(job.window_ns);
        if job.window_ns > 0 {
            iops += job.operations as f64 / (job.window_ns as f64 / 1e9);
            bytes_per_second += job.bytes as f64 / (job.window_ns as f64 / 1e9);
            in_flight_ns += job.in_flight_ns;
        }
    }
    let window_ns = windows as f64 / done.len().max(1) as f64;
    let all_bytes = totals.read_bytes + totals.written_bytes;
    let window = WindowRate { bytes_per_second, bytes, window_ns };
    RepeatReport {
        window_ns: window_ns as u64,
        operations,
        bytes,
        iops,
        bytes_per_second,
        histogram,
        in_flight: if windows > 0 { in_flight_ns as f64 / window_ns } else { 0.0 },
        service,
        unserved,
        late_ns: late_ns as f64 / totals.operations.max(1) as f64,
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        durable_bytes_per_second: sync_ns.and_then(|ns| window.durable(totals.written_bytes, all_bytes, ns)),
        samples,
        began_ns: None,
        first_done_ns: done_at.first().copied().unwrap_or(0),
        last_done_ns: done_at.last().copied().unwrap_or(0),
        whole: done.iter().any(|job| job.whole),
        batching: Batching::of_all(done.into_iter().filter_map(|job| job.batching)),
        original: None,
        trouble,
    }
}

// The instrument's own cost on this host.

/// What the null engine does here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NullCost {
    /// Nanoseconds per operation, histogram and sampling on.
    pub ns_per_operation: f64,
}

/// Runs the null engine for `length`: random 4 KiB reads, 32 in flight, one thread.
#[must_use]
pub fn null_cost(length: Duration) -> NullCost {
    let workload = Workload {
        queue_depth: 32,
        span_bytes: 1 << 30,
        stop: Stop { ramp_ns: 1_000_000, duration_ns: nanoseconds(length), max_bytes: None },
        ..Workload::new("null", Op::Read, Pattern::Random, 4096)
    };
    let report = run_repeat(
        EngineKind::Null,
        &RepeatSpec {
            workload,
            target: None,
            seed: 1,
            repeat: 0,
            repeats: 1,
            hang_after: Duration::from_secs(30),
            sample_every: Duration::from_secs(1),
            wait_for: None,
            begin_at_ns: None,
        },
        &Control::default(),
        &mut |_| std::ops::ControlFlow::Continue(()),
    );
    NullCost { ns_per_operation: 1e9 / report.iops.max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Live;

    /// A thread that completes an operation every `latency_ns` for `window_ns`, one in flight.
    fn job(window_ns: u64, latency_ns: u64) -> JobReport {
        let operations = window_ns / latency_ns;
        let live = Live::new();
        (0..operations).for_each(|_| live.latency(latency_ns));
        live.publish(Totals { operations, ..Totals::default() }, operations * latency_ns);
        JobReport {
            window_ns,
            operations,
            bytes: operations * 4096,
            histogram: live.histogram(),
            in_flight_ns: u128::from(window_ns),
            service: None,
            unserved: 0,
            late_ns: 0,
            batching: None,
            whole: false,
            failure: None,
        }
    }

    /// On a busy host the windows of the threads differ: each edge waits for the end of a pause. Latencies of the
    /// one whose window is longer are more, and so is its part of what was in flight.
    #[test]
    fn littles_law_holds_where_windows_differ() {
        let jobs = [job(100_000_000, 1_000_000), job(300_000_000, 20_000_000)];
        let all = Gathered { done: jobs.into(), done_at: vec![1, 2], trouble: None };
        let report = collect(all, Totals::default(), Vec::new(), None);
        assert_eq!((report.window_ns, report.operations), (200_000_000, 115));
        assert!((report.in_flight - 2.0).abs() < 1e-9, "{}", report.in_flight);
        assert!((report.iops - 1050.0).abs() < 1e-9, "each thread by its own window: {}", report.iops);
        let law = report.histogram.sum_ns() as f64 / report.window_ns as f64 / report.in_flight;
        assert!((law - 1.0).abs() < 1e-9, "{law}");
    }

    /// A nanosecond is beyond any processor, a millisecond beyond any load.
    #[test]
    fn an_operation_of_nothing_takes_between_a_nanosecond_and_a_millisecond() {
        let cost = null_cost(Duration::from_millis(30)).ns_per_operation;
        assert!((1.0..1e6).contains(&cost), "{cost} ns");
    }
}
