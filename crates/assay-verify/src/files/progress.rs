//! How far a check is, and how fast the medium was where.

use std::time::{Duration, Instant};

use assay_core::verification::{Pass, PassSpeed};

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Writing.
    Write,
    /// Reading back.
    Read,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Bytes done of this phase, those of an earlier interrupted check included.
    pub done_bytes: u64,
    /// Bytes of this phase in all.
    pub total_bytes: u64,
    /// Rate in bytes per second over the last few seconds.
    pub bytes_per_second: f64,
    /// Time until the end of this phase at that rate; `None` before there is a rate.
    pub remaining: Option<Duration>,
    /// Time until the end of the check, as far as the speed of what follows is known.
    pub whole_remaining: Option<Duration>,
    /// Sectors found lost so far.
    pub lost_sectors: u64,
}

/// Parts of the curve of speed over the address.
const PARTS: u64 = 256;
/// Progress is told this often.
const TOLD_EVERY: Duration = Duration::from_millis(200);
/// Weight of what is new in the rate: it forgets within about 3 s.
const NEW: f64 = 0.07;

/// Until then the rate is the mean of all.
const BEGINNING: Duration = Duration::from_secs(3);

/// Counts bytes as they are done.
pub(crate) struct Meter {
    phase: Phase,
    total: u64,
    done: u64,
    moved: u64,
    start: Instant,
    part_bytes: u64,
    part: u64,
    part_since: Instant,
    part_moved: u64,
    speed: Vec<PassSpeed>,
    /// The first chunk is told at once.
    told: Option<Instant>,
    told_moved: u64,
    rate: f64,
    then_seconds: Option<f64>,
}

impl Meter {
    /// Of an area of `total` bytes, `done` are done already; `then_seconds` follow this phase.
    pub(crate) fn new(phase: Phase, total: u64, done: u64, then_seconds: Option<f64>) -> Self {
        let now = Instant::now();
        Self {
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
            told: None,
            told_moved: 0,
            rate: 0.0,
            then_seconds,
        }
    }

    /// `bytes` from `offset` on are done. Chunks end nearly in order; one that is late counts to
    /// the part under way.
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
                elapsed_ns: nanoseconds(self.part_since.elapsed()),
            });
        }
        (self.part_since, self.part_moved) = (Instant::now(), 0);
    }

    /// Tells how far it is, where it is time to.
    pub(crate) fn tell(&mut self, lost_sectors: u64, tell: &mut dyn FnMut(Progress)) {
        let since = self.told.unwrap_or(self.start).elapsed();
        if self.moved == 0 || (self.told.is_some() && since < TOLD_EVERY) {
            return;
        }
        let now = (self.moved - self.told_moved) as f64 / since.as_secs_f64().max(1e-9);
        let begun = self.start.elapsed();
        // The first chunks come out of the caches on the way: they are no beginning for a mean that
        // forgets slowly.
        self.rate = if begun < BEGINNING {
            self.moved as f64 / begun.as_secs_f64().max(1e-9)
        } else {
            self.rate + NEW * (now - self.rate)
        };
        (self.told, self.told_moved) = (Some(Instant::now()), self.moved);
        tell(self.progress(lost_sectors));
    }

    pub(crate) fn progress(&self, lost_sectors: u64) -> Progress {
        let left = self.total.saturating_sub(self.done) as f64 / self.rate;
        Progress {
            phase: self.phase,
            done_bytes: self.done,
            total_bytes: self.total,
            bytes_per_second: self.rate,
            remaining: Duration::try_from_secs_f64(left).ok(),
            whole_remaining: self.then_seconds.and_then(|then| Duration::try_from_secs_f64(left + then).ok()),
            lost_sectors,
        }
    }

    pub(crate) fn finish(mut self) -> Pass {
        self.close_part();
        Pass { bytes: self.moved, elapsed_ns: nanoseconds(self.start.elapsed()), speed: self.speed }
    }
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_covers_all_that_moved() {
        let mut meter = Meter::new(Phase::Read, 1 << 30, 0, None);
        for chunk in 0..1024u64 {
            // Two of a pair change places, as with several in flight.
            meter.done((chunk ^ 1) << 20, 1 << 20);
        }
        let pass = meter.finish();
        assert_eq!((pass.bytes, pass.speed.len()), (1 << 30, 256));
        assert_eq!(pass.speed.iter().map(|part| part.bytes).sum::<u64>(), 1 << 30);
        assert!(pass.speed.windows(2).all(|pair| pair[0].offset_bytes < pair[1].offset_bytes));
        let elapsed: u64 = pass.speed.iter().map(|part| part.elapsed_ns).sum();
        assert!(elapsed <= pass.elapsed_ns);
    }
}
