//! The counters of all threads, read at intervals.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use assay_core::histogram::Histogram;
use assay_core::units::nanoseconds;

use crate::clock::Clock;
use crate::control::Control;
use crate::counters::{Live, Totals};

/// One interval, as the live view and the record see it.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSample {
    /// End of the interval since the start of the repeat in nanoseconds.
    pub t_ns: u64,
    /// Its length in nanoseconds, without time for which the process was stopped.
    pub interval_ns: u64,
    /// Operations completed in it.
    pub operations: u64,
    /// Bytes moved in it.
    pub bytes: u64,
    /// Median latency in nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the latency in nanoseconds.
    pub p99_ns: Option<f64>,
}

/// Called with every sample; may end the repeat, which then drains what is in flight and counts.
pub type OnSample<'a> = dyn FnMut(&LiveSample) -> ControlFlow<()> + 'a;

/// Reads the counters at intervals.
pub(crate) struct Sampler<'a> {
    lives: &'a [Arc<Live>],
    clock: Clock,
    control: &'a Control,
    every_ns: u64,
    last_ns: u64,
    suspended: Duration,
    last: Totals,
    last_latency: Histogram,
    pub(crate) samples: Vec<LiveSample>,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(lives: &'a [Arc<Live>], clock: Clock, every: Duration, control: &'a Control) -> Self {
        Self {
            lives,
            clock,
            control,
            every_ns: nanoseconds(every).max(1),
            last_ns: 0,
            suspended: control.suspended(),
            last: Totals::default(),
            last_latency: Histogram::default(),
            samples: Vec::new(),
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        self.lives.iter().map(|live| live.totals()).fold(Totals::default(), |sum, t| Totals {
            operations: sum.operations + t.operations,
            bytes: sum.bytes + t.bytes,
            read_bytes: sum.read_bytes + t.read_bytes,
            written_bytes: sum.written_bytes + t.written_bytes,
        })
    }

    pub(crate) fn operations(&self) -> u64 {
        self.lives.iter().map(|live| live.totals().operations).sum()
    }

    pub(crate) fn tick(&mut self, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        if self.clock.now() - self.last_ns >= self.every_ns {
            return self.take(on_sample);
        }
        ControlFlow::Continue(())
    }

    /// The rest of the last interval, unless it is too short to say anything.
    pub(crate) fn finish(&mut self, on_sample: &mut OnSample<'_>) {
        if self.samples.is_empty() || self.clock.now() - self.last_ns >= self.every_ns / 4 {
            // It is over anyway.
            let _ = self.take(on_sample);
        }
    }

    fn take(&mut self, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        let suspended = self.control.suspended();
        let now = self.clock.now();
        // The medium had nothing to do while the process was stopped.
        let idle_ns = nanoseconds(suspended - self.suspended);
        let totals = self.totals();
        let mut latency = Histogram::default();
        for live in self.lives {
            latency.merge(&live.histogram());
        }
        let fresh = latency.since(&self.last_latency);
        let sample = LiveSample {
            t_ns: now,
            interval_ns: (now - self.last_ns).saturating_sub(idle_ns).max(1),
            operations: totals.operations - self.last.operations,
            bytes: totals.bytes - self.last.bytes,
            p50_ns: fresh.quantile(0.5),
            p99_ns: fresh.quantile(0.99),
        };
        let answer = on_sample(&sample);
        self.samples.push(sample);
        (self.last_ns, self.suspended, self.last, self.last_latency) = (now, suspended, totals, latency);
        answer
    }
}
