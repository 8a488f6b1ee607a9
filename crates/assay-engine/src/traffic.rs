//! What another program moves while it runs, as the kernel accounts it.
//!
//! fio and its like tell nothing before their end that could be read without disturbing them; the kernel counts
//! what each process moves.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;

use crate::sampler::{LiveSample, OnSample};
use crate::sys::Meter;

/// Reads the counts of one process at intervals.
pub(crate) struct Traffic {
    meter: Meter,
    block: u64,
    every: Duration,
    start: Instant,
    last: Instant,
    bytes: u64,
    /// A program reads its own code and libraries before the first operation.
    begun: bool,
    samples: Vec<LiveSample>,
}

impl Traffic {
    pub(crate) fn new(process: u32, block: u64, every: Duration) -> Self {
        let now = Instant::now();
        let meter = Meter::of(process);
        let bytes = meter.read().unwrap_or(0);
        Self { meter, block: block.max(1), every, start: now, last: now, bytes, begun: false, samples: Vec::new() }
    }

    pub(crate) fn tick(&mut self, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        self.meter.read().map_or(ControlFlow::Continue(()), |bytes| self.moved(bytes, on_sample))
    }

    /// Notes that it has moved `bytes` bytes since its start.
    fn moved(&mut self, bytes: u64, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        if !self.begun {
            self.begun = bytes.saturating_sub(self.bytes) >= self.block || self.last.elapsed() >= self.every;
            if !self.begun {
                return ControlFlow::Continue(());
            }
            (self.last, self.bytes) = (Instant::now(), bytes);
        }
        if self.last.elapsed() >= self.every {
            return self.take(bytes, on_sample);
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, bytes: u64, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        let now = Instant::now();
        let moved = bytes.saturating_sub(self.bytes);
        let sample = LiveSample {
            t_ns: nanoseconds(now - self.start),
            interval_ns: nanoseconds(now - self.last),
            operations: moved / self.block,
            bytes: moved,
            p50_ns: None,
            p99_ns: None,
        };
        (self.last, self.bytes) = (now, bytes);
        let answer = on_sample(&sample);
        self.samples.push(sample);
        answer
    }

    /// All samples; none where the kernel counts nothing for this kind of file.
    pub(crate) fn finish(self) -> Vec<LiveSample> {
        if self.samples.iter().any(|s| s.bytes > 0) { self.samples } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_begin_with_the_first_block_and_count_blocks() {
        let hour = Duration::from_secs(3600);
        let mut traffic = Traffic { bytes: 0, ..Traffic::new(u32::MAX, 4096, hour) };
        let mut seen = Vec::new();
        let mut tick = |traffic: &mut Traffic, bytes: u64| {
            let _ = traffic.moved(bytes, &mut |sample| {
                seen.push((sample.operations, sample.bytes));
                ControlFlow::Continue(())
            });
            seen.len()
        };
        assert_eq!((tick(&mut traffic, 1000), traffic.begun), (0, false), "its own program");
        assert_eq!((tick(&mut traffic, 1000 + 4096), traffic.begun), (0, true));
        traffic.every = Duration::ZERO;
        assert_eq!(tick(&mut traffic, 1000 + 11 * 4096), 1);
        assert_eq!(seen, [(10, 40_960)]);
        assert_eq!(traffic.finish().len(), 1);
    }
}
