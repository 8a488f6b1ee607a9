//! What another program moves while it runs, as the kernel accounts it.
//!
//! fio and its like tell nothing before their end that could be read without disturbing them; the kernel counts
//! what each process hands to the block layer (`read_bytes` and `write_bytes` of
//! `/proc/PID/io`, Documentation/filesystems/proc.rst).

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;

use crate::sampler::{LiveSample, OnSample};

/// Reads the counts of one process at intervals.
pub(crate) struct Traffic {
    file: String,
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
        let file = format!("/proc/{process}/io");
        let bytes = read(&file).unwrap_or(0);
        Self { file, block: block.max(1), every, start: now, last: now, bytes, begun: false, samples: Vec::new() }
    }

    pub(crate) fn tick(&mut self, on_sample: &mut OnSample<'_>) -> ControlFlow<()> {
        let Some(bytes) = read(&self.file) else { return ControlFlow::Continue(()) };
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

/// Bytes handed to the block layer so far, read and written; `None` once the process is gone.
fn read(file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let value = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok())
    };
    Some(value("read_bytes")?.saturating_add(value("write_bytes")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_begin_with_the_first_block_and_count_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("io");
        let moved = |read: u64, written: u64| {
            std::fs::write(&file, format!("rchar: 7\nread_bytes: {read}\nwrite_bytes: {written}\n")).unwrap();
        };
        let hour = Duration::from_secs(3600);
        let mut traffic = Traffic { file: file.display().to_string(), ..Traffic::new(u32::MAX, 4096, hour) };
        let mut seen = Vec::new();
        let mut tick = |traffic: &mut Traffic| {
            let _ = traffic.tick(&mut |sample| {
                seen.push((sample.operations, sample.bytes));
                ControlFlow::Continue(())
            });
            seen.len()
        };
        moved(1000, 0);
        assert_eq!((tick(&mut traffic), traffic.begun), (0, false), "its own program");
        moved(1000, 4096);
        assert_eq!((tick(&mut traffic), traffic.begun), (0, true));
        traffic.every = Duration::ZERO;
        moved(1000 + 6 * 4096, 5 * 4096);
        assert_eq!(tick(&mut traffic), 1);
        assert_eq!(seen, [(10, 40_960)]);
        assert_eq!(traffic.finish().len(), 1);
    }
}
