//! Progress of a check, and the speed of the medium by place.

use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;
use assay_core::verification::{Pass, PassSpeed};
use assay_engine::{Control, Moment};

/// What the check does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckPhase {
    /// Writing.
    Write,
    /// Reading back.
    Read,
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckProgress {
    /// What the check does now.
    pub phase: CheckPhase,
    /// Bytes of this phase that are done, including those of an earlier, interrupted check.
    pub done_bytes: u64,
    /// Bytes of this phase in total.
    pub total_bytes: u64,
    /// Rate in bytes per second over the last few seconds.
    pub bytes_per_second: f64,
    /// Time until the end of this phase at that rate; `None` before there is a rate.
    pub remaining: Option<Duration>,
    /// Time until the end of the check, if the speed of what follows is known.
    pub whole_remaining: Option<Duration>,
    /// Sectors found lost so far.
    pub lost_sectors: u64,
}

/// What is known about the time of a check before a pass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Timed {
    /// Bytes that were moved in the same way just before; durable if they were written.
    pub(crate) bytes: u64,
    /// Time that took in nanoseconds.
    pub(crate) elapsed_ns: u64,
    /// Time that the check takes after the pass, in seconds.
    pub(crate) then_seconds: Option<f64>,
}

/// Parts of the curve of speed by address.
const PARTS: u64 = 256;
/// Interval between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);
/// Weight of new samples in the rate: a time constant of about 3 s.
const NEW: f64 = 0.07;

/// Before this the rate is the overall mean.
const BEGINNING: Duration = Duration::from_secs(3);

/// Counts bytes as they are done, and the time in which the process was not stopped.
pub(crate) struct Meter {
    control: Control,
    phase: CheckPhase,
    total: u64,
    done: u64,
    moved: u64,
    start: Moment,
    part_bytes: u64,
    part: u64,
    part_since: Moment,
    part_moved: u64,
    speed: Vec<PassSpeed>,
    /// `None` until the first report, which comes with the first chunk.
    reported: Option<Moment>,
    /// By a clock that is cheap to read.
    looked: Option<Instant>,
    reported_moved: u64,
    rate: f64,
    known: Timed,
}

impl Meter {
    /// A meter for an area of `total` bytes, with `done` bytes already done.
    pub(crate) fn new(control: &Control, phase: CheckPhase, total: u64, done: u64, known: Timed) -> Self {
        let now = control.now();
        Self {
            control: control.clone(),
            phase,
            total,
            done,
            moved: 0,
            start: now,
            part_bytes: total.div_ceil(PARTS).next_multiple_of(1 << 20).max(1),
            part: 0,
            part_since: now,
            part_moved: 0,
            speed: Vec::new(),
            reported: None,
            looked: None,
            reported_moved: 0,
            rate: 0.0,
            known,
        }
    }

    /// Counts `bytes` from `offset` as done. Chunks end nearly in order; a late one counts towards the current part.
    pub(crate) fn done(&mut self, offset: u64, bytes: u64) {
        let part = offset / self.part_bytes;
        if part > self.part {
            self.close_part();
            self.part = part;
        }
        self.done += bytes;
        self.moved += bytes;
        self.part_moved += bytes;
    }

    fn close_part(&mut self) {
        if self.part_moved > 0 {
            self.speed.push(PassSpeed {
                offset_bytes: self.part * self.part_bytes,
                bytes: self.part_moved,
                elapsed_ns: nanoseconds(self.control.elapsed(&self.part_since)),
            });
        }
        (self.part_since, self.part_moved) = (self.control.now(), 0);
    }

    /// Reports progress if it is time to.
    pub(crate) fn tell(&mut self, lost_sectors: u64, tell: &mut dyn FnMut(CheckProgress)) {
        if self.moved == 0 || self.looked.is_some_and(|looked| looked.elapsed() < REPORT_INTERVAL) {
            return;
        }
        self.looked = Some(Instant::now());
        let since = self.control.elapsed(&self.reported.unwrap_or(self.start));
        let now = (self.moved - self.reported_moved) as f64 / since.as_secs_f64().max(1e-9);
        let begun = self.control.elapsed(&self.start);
        // The first chunks come from caches on the way, so they must not start a mean that forgets slowly.
        self.rate = if begun < BEGINNING {
            let before = self.known.elapsed_ns as f64 / 1e9;
            (self.moved + self.known.bytes) as f64 / (begun.as_secs_f64() + before).max(1e-9)
        } else {
            self.rate + NEW * (now - self.rate)
        };
        (self.reported, self.reported_moved) = (Some(self.control.now()), self.moved);
        tell(self.progress(lost_sectors));
    }

    pub(crate) fn progress(&self, lost_sectors: u64) -> CheckProgress {
        let left = self.total.saturating_sub(self.done) as f64 / self.rate;
        CheckProgress {
            phase: self.phase,
            done_bytes: self.done,
            total_bytes: self.total,
            bytes_per_second: self.rate,
            remaining: Duration::try_from_secs_f64(left).ok(),
            whole_remaining: self.known.then_seconds.and_then(|then| Duration::try_from_secs_f64(left + then).ok()),
            lost_sectors,
        }
    }

    pub(crate) fn finish(mut self) -> Pass {
        self.close_part();
        let elapsed = self.control.elapsed(&self.start);
        Pass { bytes: self.moved, elapsed_ns: nanoseconds(elapsed), speed: self.speed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_covers_all_that_moved() {
        let mut meter = Meter::new(&Control::default(), CheckPhase::Read, 1 << 30, 0, Timed::default());
        for chunk in 0..1024u64 {
            // Swaps two neighbours, as with several operations in flight.
            meter.done((chunk ^ 1) << 20, 1 << 20);
        }
        let pass = meter.finish();
        assert_eq!((pass.bytes, pass.speed.len()), (1 << 30, 256));
        assert_eq!(pass.speed.iter().map(|part| part.bytes).sum::<u64>(), 1 << 30);
        assert!(pass.speed.windows(2).all(|pair| pair[0].offset_bytes < pair[1].offset_bytes));
        let elapsed: u64 = pass.speed.iter().map(|part| part.elapsed_ns).sum();
        assert!(elapsed <= pass.elapsed_ns);
    }

    /// The first chunk of a pass ends when all chunks in flight are nearly done, or comes from a cache. The total time
    /// was estimated from it, several times too long or too short.
    #[test]
    fn what_was_timed_before_counts_in_the_first_estimate() {
        let known = Timed { bytes: 40 << 20, elapsed_ns: 2_000_000_000, then_seconds: Some(10.0) };
        let mut meter = Meter::new(&Control::default(), CheckPhase::Write, 240 << 20, 40 << 20, known);
        meter.done(40 << 20, 1 << 20);
        let mut reported = None;
        meter.tell(0, &mut |progress| reported = Some(progress));
        let progress = reported.unwrap();
        // 20 MiB/s, however long this chunk took; a busy host makes it less.
        let mib = progress.bytes_per_second / f64::from(1 << 20);
        assert!(mib <= 41.0 / 2.0, "{mib}");
        let left = progress.whole_remaining.unwrap().as_secs_f64();
        assert!(left >= 10.0 + 199.0 / 20.5, "{left}");
    }

    #[test]
    fn time_in_which_the_process_was_stopped_slows_nothing_down() {
        let control = Control::default();
        let start = Instant::now();
        let mut meter = Meter::new(&control, CheckPhase::Write, 1 << 30, 0, Timed::default());
        std::thread::sleep(Duration::from_millis(60));
        meter.done(0, 1 << 20);
        control.beat(Duration::from_millis(50));
        let mut reported = None;
        meter.tell(0, &mut |progress| reported = Some(progress));
        // This much of the time does not count for the check; a busy host adds to the rest.
        let most = (start.elapsed() - Duration::from_millis(50)).as_secs_f64();
        let rate = reported.unwrap().bytes_per_second;
        assert!(rate >= (1 << 20) as f64 / most, "{rate} over at most {most} s");
        meter.done(512 << 20, 1 << 20);
        let pass = meter.finish();
        let most = nanoseconds(start.elapsed() - Duration::from_millis(50));
        assert!((10_000_000..=most).contains(&pass.elapsed_ns), "{} of {most}", pass.elapsed_ns);
        assert!(pass.speed.iter().map(|part| part.elapsed_ns).sum::<u64>() <= pass.elapsed_ns);
    }
}
