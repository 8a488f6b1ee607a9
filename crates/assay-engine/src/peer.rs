//! Other programs that run a repeat in place of an engine: watched, and ended where they do not end by themselves.

use std::fs::File;
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::process::Child;
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;

use super::clock::Timeout;
use super::counters::{LiveSample, OnSample};
use super::threads::{RepeatSpec, RepeatTrouble};
use crate::clock::Control;
use crate::sys;
use crate::sys::Meter;

/// More than this is no result.
const MOST_PRINTED: u64 = 64 << 20;
/// How often the process is looked at.
const TICK: Duration = Duration::from_millis(20);
/// After an interrupt a program drains and prints; then it is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// A killed process that the kernel does not let go is left behind.
const LETTING_GO: Duration = Duration::from_secs(2);

/// A file that is nowhere, for what a program prints: whatever kills this process, nothing is left.
///
/// # Errors
/// Where no more files can be open.
pub fn memory(name: &str) -> io::Result<File> {
    sys::nameless_file(name)
}

/// What a program printed into it.
///
/// # Errors
/// The system's.
pub fn read_back(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MOST_PRINTED).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What became of a program.
#[derive(Debug)]
pub struct Watched {
    /// What it moved, as the kernel counts it.
    pub samples: Vec<LiveSample>,
    /// How long it ran, in nanoseconds.
    pub elapsed_ns: u64,
    /// It ended by itself and well, or was interrupted, which programs end in their own ways after.
    pub success: bool,
    /// It did not end in time, or could not be waited for.
    pub trouble: Option<RepeatTrouble>,
}

/// Waits for a program that leads a process group of its own. The group is interrupted where the end is asked for, by
/// `control` or by `on_sample`, and killed where it does not come, or not within `limit`.
pub fn watch(
    child: &mut Child,
    spec: &RepeatSpec,
    limit: Duration,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> Watched {
    let start = Instant::now();
    let mut timeout = Timeout::new(limit);
    let (mut interrupted, mut enough) = (false, false);
    let mut traffic = Traffic::new(child.id(), spec.workload.block_bytes, spec.sample_every);
    let mut trouble = None;
    let status = loop {
        match sys::ended(child) {
            Ok(Some(status)) => break Some(status),
            Ok(None) => {}
            Err(error) => {
                trouble = Some(RepeatTrouble::Setup(format!("waiting for a program: {error}")));
                break None;
            }
        }
        if (control.stopped() || enough) && !interrupted {
            interrupted = true;
            timeout = Timeout::new(GRACE);
            sys::interrupt(child);
        }
        if timeout.expired() {
            if !interrupted {
                trouble = Some(RepeatTrouble::Hung { after: spec.hang_after });
            }
            kill(child);
            break None;
        }
        enough |= traffic.tick(on_sample).is_break();
        std::thread::sleep(TICK);
    };
    Watched {
        samples: traffic.finish(),
        elapsed_ns: nanoseconds(start.elapsed()),
        // An interrupted fio ends with 128.
        success: status.is_some_and(|s| interrupted || s.success()),
        trouble,
    }
}

/// Kills it and waits for its end, for a while.
fn kill(child: &mut Child) {
    sys::kill_all(child);
    let limit = Instant::now() + LETTING_GO;
    while Instant::now() < limit && matches!(sys::ended(child), Ok(None)) {
        std::thread::sleep(TICK);
    }
}

// What another program moves while it runs, as the kernel accounts it.
//
// fio and its like tell nothing before their end that could be read without disturbing them; the kernel counts
// what each process moves.

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
        let meter = Meter::of_process(process);
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
