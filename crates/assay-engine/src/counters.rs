//! What the hot loop tells the sampler: plain counters with a single writer.
//!
//! Each counter is written by one thread and read by another, so a relaxed load and store are
//! enough: no read-modify-write, no lock. A reader may see an operation a moment before its
//! latency; the totals are exact once the job has ended.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use assay_core::histogram::{BUCKETS, Histogram, bucket_of};
use assay_core::units::nanoseconds;

use crate::clock::{Clock, Control};

/// Something on cache lines of its own, so that who writes it does not slow down who uses its neighbours: two lines of 64
/// bytes, which processors fetch in pairs, or one of 128.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct CacheAligned<T>(pub(crate) T);

/// What threads take in turns that make up the queue of one job.
pub(crate) type Turns = Arc<CacheAligned<AtomicU64>>;

/// Counters of one job, on cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Live {
    operations: AtomicU64,
    bytes: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    counts: [AtomicU64; BUCKETS],
}

/// Totals of a job at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    /// Bytes issued, done or not.
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

impl Totals {
    /// Bytes issued, done or not.
    #[inline]
    pub(crate) fn issued(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }
}

impl Live {
    pub(crate) fn new() -> Self {
        Self {
            operations: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
            counts: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }

    /// Counts the latency of one completion. Only the job's own thread calls this.
    #[inline]
    pub(crate) fn latency(&self, nanoseconds: u64) {
        let count = &self.counts[bucket_of(nanoseconds)];
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.extremes(nanoseconds);
    }

    /// Widens minimum and maximum to hold a latency.
    #[inline]
    pub(crate) fn extremes(&self, nanoseconds: u64) {
        if nanoseconds > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.store(nanoseconds, Ordering::Relaxed);
        }
        if nanoseconds < self.min_ns.load(Ordering::Relaxed) {
            self.min_ns.store(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Starts minimum and maximum afresh: called when the measured window opens.
    pub(crate) fn reset_extremes(&self) {
        self.min_ns.store(u64::MAX, Ordering::Relaxed);
        self.max_ns.store(0, Ordering::Relaxed);
    }

    /// Publishes totals, once a batch.
    #[inline]
    pub(crate) fn publish(&self, totals: Totals, sum_ns: u64) {
        self.operations.store(totals.operations, Ordering::Relaxed);
        self.bytes.store(totals.bytes, Ordering::Relaxed);
        self.read_bytes.store(totals.read_bytes, Ordering::Relaxed);
        self.written_bytes.store(totals.written_bytes, Ordering::Relaxed);
        self.sum_ns.store(sum_ns, Ordering::Relaxed);
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals {
            operations: self.operations.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
        }
    }

    /// Copies the state of the latency counts into `into` without allocating.
    pub(crate) fn snapshot(&self, into: &mut Snapshot) {
        for (to, from) in into.counts.iter_mut().zip(&self.counts) {
            *to = from.load(Ordering::Relaxed);
        }
        into.sum_ns = self.sum_ns.load(Ordering::Relaxed);
        into.min_ns = self.min_ns.load(Ordering::Relaxed);
        into.max_ns = self.max_ns.load(Ordering::Relaxed);
    }

    /// All latencies so far.
    pub(crate) fn histogram(&self) -> Histogram {
        Histogram::from_parts(
            self.counts.iter().map(|c| c.load(Ordering::Relaxed)).collect(),
            u128::from(self.sum_ns.load(Ordering::Relaxed)),
            self.min_ns.load(Ordering::Relaxed),
            self.max_ns.load(Ordering::Relaxed),
        )
    }
}

/// Latency counts at one moment, in memory taken beforehand.
#[derive(Debug)]
pub(crate) struct Snapshot {
    counts: Box<[u64]>,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Snapshot {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into(), sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one latency in a histogram of its own.
    #[inline]
    pub(crate) fn add(&mut self, nanoseconds: u64) {
        self.counts[bucket_of(nanoseconds)] += 1;
        self.sum_ns += nanoseconds;
        self.min_ns = self.min_ns.min(nanoseconds);
        self.max_ns = self.max_ns.max(nanoseconds);
    }

    /// Takes a latency out of the counts that it is among.
    pub(crate) fn take_back(&mut self, nanoseconds: u64) {
        self.counts[bucket_of(nanoseconds)] -= 1;
        self.sum_ns -= nanoseconds;
    }

    /// All that was counted by [`Self::add`].
    pub(crate) fn histogram(&self) -> Histogram {
        Histogram::from_parts(self.counts.to_vec(), u128::from(self.sum_ns), self.min_ns, self.max_ns)
    }

    /// What came between `start` and this later moment; the extremes were reset at `start`.
    pub(crate) fn since(&self, start: &Self) -> Histogram {
        let counts = self.counts.iter().zip(&start.counts).map(|(end, begin)| end - begin).collect();
        Histogram::from_parts(counts, u128::from(self.sum_ns - start.sum_ns), self.min_ns, self.max_ns)
    }
}

// The counters of all threads, read at intervals.

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two jobs, or a job and what the main thread keeps beside their counters, write no cache line in common.
    #[test]
    fn counters_of_jobs_share_no_cache_line() {
        let lives: Vec<Arc<Live>> = (0..8).map(|_| Arc::new(Live::new())).collect();
        let turns: Vec<Turns> = (0..8).map(|_| Arc::default()).collect();
        let lines = |start: usize, length: usize| (start / 128)..(start + length).div_ceil(128);
        let of_lives = lives.iter().map(|live| lines(std::ptr::from_ref(&**live).addr(), size_of::<Live>()));
        let of_turns =
            turns.iter().map(|turn| lines(std::ptr::from_ref(&**turn).addr(), size_of::<CacheAligned<AtomicU64>>()));
        let counts = std::ptr::from_ref(&lives[0].counts[0]).addr();
        assert!(lines(std::ptr::from_ref(&*lives[0]).addr(), size_of::<Live>()).contains(&(counts / 128)));
        let mut seen = std::collections::HashSet::new();
        assert!(of_lives.chain(of_turns).flatten().all(|line| seen.insert(line)));
    }

    /// The slowest operation of the warm-up is not the slowest of the measurement.
    #[test]
    fn extremes_are_those_of_the_window() {
        let live = Live::new();
        let (mut start, mut end) = (Snapshot::new(), Snapshot::new());
        live.latency(5);
        live.latency(9_000_000);
        live.publish(Totals { operations: 2, ..Totals::default() }, 9_000_005);
        live.snapshot(&mut start);
        live.reset_extremes();
        live.latency(1000);
        live.latency(3000);
        live.publish(Totals { operations: 4, ..Totals::default() }, 9_004_005);
        live.snapshot(&mut end);
        let window = end.since(&start);
        assert_eq!((window.total(), window.sum_ns()), (2, 4000));
        assert_eq!((window.min(), window.max()), (Some(1000), Some(3000)));
    }

    /// Values below 256 ns are exact; of a hundred values each is one of the percentiles.
    #[test]
    fn a_sample_has_the_median_and_the_99th_percentile_of_what_is_new() {
        let (lives, control) = ([Arc::new(Live::new()), Arc::new(Live::new())], Control::default());
        let mut sampler = Sampler::new(&lives, Clock::start(), Duration::from_secs(3600), &control);
        for base in [0, 100] {
            (1..=100).for_each(|latency| lives[latency % 2].latency(base + latency as u64));
            let mut seen = None;
            let go_on = sampler.take(&mut |sample| {
                seen = Some((sample.p50_ns, sample.p99_ns));
                ControlFlow::Continue(())
            });
            let [p50, p99] = [50, 99].map(|rank| Some((base + rank) as f64));
            assert_eq!((seen, go_on), (Some((p50, p99)), ControlFlow::Continue(())));
        }
    }
}
