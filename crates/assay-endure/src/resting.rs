//! A medium that rests after its last cycle: how old its data are, and what later readings found beside the first.

use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::endurance::{FailureKind, Rest, RestRead, SliceRates};
use assay_core::retention::{Age, NoAge, SameWay};
use assay_stats::{TwoReadings, speed_by_age};
use jiff::Timestamp;

use crate::entry::{RestReadBegun, SliceRead, SliceRested, SliceWritten, Way};
use crate::layout::{Phase, SLICES};

/// A clock that is further off than this after a reading, in seconds, has jumped.
const JUMP: u64 = 60;
/// Most readings that a log holds.
const MOST_READS: usize = 1000;

/// Why what the last cycle wrote cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRest {
    /// It is being worn: not all of the area holds one cycle, or it was not read to its end.
    #[error("its last cycle is not complete; --resume goes on with it")]
    NotWhole,
    /// It died.
    #[error("its test is over: it died, and what is left of its last cycle is no rest")]
    Died,
    /// No clock tells an age.
    #[error(transparent)]
    Clock(#[from] NoAge),
    /// The log holds as many readings as it may.
    #[error("it was read {MOST_READS} times at rest, and no more are kept")]
    TooMany,
}

/// A reading after a rest.
#[derive(Debug, Clone)]
struct Read {
    at: u64,
    age: Option<Age>,
    early: bool,
    same: SameWay,
    cycle: u64,
    /// Each slice with its two readings.
    parts: Vec<(u64, TwoReadings)>,
    elapsed_ns: u128,
    latest: u64,
    lost: [u64; FailureKind::ALL.len()],
    worn: u64,
    transient: u64,
}

/// What a log says of a rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resting {
    /// When the first and the last slice of the last cycle were written.
    written: Option<(u64, u64)>,
    /// Time of the first reading of each slice, in its order.
    first_ns: Vec<u64>,
    /// The way of the first reading; `None` where it changed meanwhile.
    first_way: Option<Way>,
    first_done: u64,
    /// The latest time in the log.
    latest: u64,
    asked: Option<u64>,
    reads: Vec<Read>,
    /// Whether the last reading goes on.
    open: bool,
}

impl Resting {
    pub(crate) fn written(&mut self, written: &SliceWritten) {
        self.latest = self.latest.max(written.at);
        let before = self.written.filter(|_| written.task.index > 0);
        self.written = Some(
            before.map_or((written.at, written.at), |(first, last)| (first.min(written.at), last.max(written.at))),
        );
        (self.asked, self.open) = (None, false);
    }

    pub(crate) fn read(&mut self, read: &SliceRead, way: Option<&Way>) {
        debug_assert_eq!(read.task.phase, Phase::Read);
        self.latest = self.latest.max(read.at);
        self.first_done = read.at;
        if read.task.index == 0 {
            self.first_ns.clear();
            self.first_way = way.cloned();
        }
        self.first_ns.push(read.elapsed_ns);
        if self.first_way.as_ref() != way {
            self.first_way = None;
        }
    }

    /// Asks for a rest; whether its end is a time.
    pub(crate) fn ask(&mut self, seconds: u64) -> bool {
        self.asked = Some(seconds);
        self.until().is_some_and(|until| time(until).is_some())
    }

    pub(crate) fn until(&self) -> Option<u64> {
        self.first_done.checked_add(self.asked?)
    }

    pub(crate) fn age(&self, now: u64) -> Option<Age> {
        let (first, last) = self.written?;
        Age::at(now, first, last).ok().flatten()
    }

    pub(crate) fn is_read(&self) -> bool {
        self.until().is_some_and(|until| self.reads.iter().any(|read| read.at >= until && read.is_complete()))
    }

    /// No slice follows the last one that was read at rest.
    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    pub(crate) fn may_read(&self, now: u64) -> Result<(), NoRest> {
        Age::at(now, self.latest, self.latest)?;
        if self.reads.len() >= MOST_READS || time(now).is_none() {
            return Err(NoRest::TooMany);
        }
        Ok(())
    }

    /// Begins a reading that [`Self::may_read`] allows.
    pub(crate) fn begin_read(&mut self, begun: &RestReadBegun, cycle: u64) {
        let age = self.age(begun.at);
        self.reads.push(Read {
            at: begun.at,
            age,
            early: self.until().is_some_and(|until| begun.at < until),
            same: self.first_way.as_ref().map_or(SameWay::default(), |first| begun.way.same_as(first)),
            cycle,
            parts: Vec::new(),
            elapsed_ns: 0,
            latest: begun.at,
            lost: [0; FailureKind::ALL.len()],
            worn: 0,
            transient: 0,
        });
        (self.latest, self.open) = (begun.at, true);
    }

    /// Takes a slice; whether it follows from what was read before.
    pub(crate) fn rested(&mut self, rested: &SliceRested, slice: u64) -> bool {
        let first_ns = self.first_ns.get(rested.index as usize).copied();
        let (Some(read), Some(first_ns), true) = (self.reads.last_mut(), first_ns, self.open) else { return false };
        if rested.index != read.parts.len() as u64 || rested.index >= SLICES {
            return false;
        }
        read.parts.push((slice, TwoReadings { bytes: rested.bytes, first_ns, later_ns: rested.elapsed_ns }));
        read.elapsed_ns += u128::from(rested.elapsed_ns);
        read.latest = rested.at;
        for (sum, count) in read.lost.iter_mut().zip(rested.lost) {
            *sum = sum.saturating_add(count);
        }
        read.worn = read.worn.saturating_add(rested.worn);
        read.transient = read.transient.saturating_add(rested.transient);
        self.latest = self.latest.max(rested.at);
        true
    }

    pub(crate) fn rest(&self) -> Option<Rest> {
        Some(Rest { seconds: self.asked?, until: time(self.until()?)? })
    }

    pub(crate) fn reads(&self) -> Vec<RestRead> {
        self.reads.iter().map(Read::document).collect()
    }
}

impl Read {
    fn is_complete(&self) -> bool {
        self.parts.len() as u64 == SLICES
    }

    fn document(&self) -> RestRead {
        let passed = i128::from(self.latest) - i128::from(self.at);
        let jump = passed - (self.elapsed_ns / 1_000_000_000) as i128;
        let rate = |bytes: u64, ns: u64| bytes as f64 / ns.max(1) as f64 * 1e9;
        let rates = self.parts.iter().map(|(slice, part)| SliceRates {
            slice: *slice,
            bytes_per_second: rate(part.bytes, part.later_ns),
            first_bytes_per_second: rate(part.bytes, part.first_ns),
        });
        let parts: Vec<TwoReadings> = self.parts.iter().map(|(_, part)| *part).collect();
        let kinds = FailureKind::ALL.into_iter().zip(self.lost);
        RestRead {
            at: time(self.at).unwrap_or_default(),
            age: self.age,
            early: self.early,
            clock_jump_seconds: if jump.unsigned_abs() > u128::from(JUMP) {
                i64::try_from(jump).unwrap_or(0)
            } else {
                0
            },
            cycle: self.cycle,
            slices: self.parts.len() as u32,
            read_bytes: self.parts.iter().fold(0, |sum, (_, part)| part.bytes.saturating_add(sum)),
            lost_sectors: self.lost.iter().fold(0, |sum, count| count.saturating_add(sum)),
            kinds: kinds.filter(|(_, count)| *count > 0).collect(),
            worn_sectors: self.worn,
            transient: self.transient,
            rates: rates.collect(),
            speed: speed_by_age(&parts, self.same),
        }
    }
}

/// A time as documents have it; `None` where it is none.
fn time(seconds: u64) -> Option<String> {
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok().map(|at| at.to_string())
}

// The time of day. It only says how old data are; nothing else depends on it.

/// Where seconds since 1970 come from.
pub struct Clock(Box<dyn Fn() -> u64 + Send>);

impl Clock {
    /// A clock that tells what this returns.
    #[must_use]
    pub fn new(now: impl Fn() -> u64 + Send + 'static) -> Self {
        Self(Box::new(now))
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        (self.0)()
    }
}

impl Default for Clock {
    /// The clock of the host; 0 before 1970.
    fn default() -> Self {
        Self::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Clock").finish()
    }
}
