//! How long a probe will take, estimated from its first transfers.

use std::time::Duration;

use super::plan::ProbePlan;
use super::search::Progress;

/// Transfers of more than a block that are timed in each direction before anything is reported.
const LEAST: u64 = 64;
/// Time constant of the average speed, in seconds.
const MEMORY_S: f64 = 3.0;
/// Transfers of at most this many bytes measure the cost of an operation, larger ones the cost of a byte.
const SMALL: u64 = 4096;

/// Follows the progress of a probe, and tells its speed and the remaining time. The estimate holds for a genuine
/// device; nothing is known about a fake.
#[derive(Debug)]
pub struct Forecast {
    plan: ProbePlan,
    last: Option<(Progress, Duration)>,
    written: Direction,
    read: Direction,
    recent_bytes: f64,
    recent_s: f64,
}

#[derive(Debug, Default)]
struct Direction {
    operations: u64,
    bytes: u64,
    small: u64,
    small_s: f64,
    large: u64,
    large_s: f64,
    large_bytes: u64,
}

impl Direction {
    fn add(&mut self, bytes: u64, seconds: f64) {
        self.operations += 1;
        self.bytes += bytes;
        if bytes <= SMALL {
            self.small += 1;
            self.small_s += seconds;
        } else {
            self.large += 1;
            self.large_s += seconds;
            self.large_bytes += bytes;
        }
    }

    /// Seconds for the rest of `operations` and `bytes`.
    fn left(&self, operations: u64, bytes: u64) -> Option<f64> {
        if self.large < LEAST {
            return None;
        }
        let each = if self.small == 0 { 0.0 } else { self.small_s / self.small as f64 };
        // If noise hides the cost of the bytes, they get a tenth of the time.
        let moving = (self.large_s - each * self.large as f64).max(self.large_s / 10.0);
        let byte = moving / self.large_bytes as f64;
        let rest = |all: u64, done: u64| all.saturating_sub(done) as f64;
        Some(rest(operations, self.operations) * each + rest(bytes, self.bytes) * byte)
    }
}

impl Forecast {
    /// A forecast for a probe that does what `plan` says.
    #[must_use]
    pub fn new(plan: ProbePlan) -> Self {
        let (written, read) = (Direction::default(), Direction::default());
        Self { plan, last: None, written, read, recent_bytes: 0.0, recent_s: 0.0 }
    }

    /// Records the progress; `at` is the time since the probe began.
    pub fn observe(&mut self, progress: &Progress, at: Duration) {
        if let Some((last, then)) = self.last {
            let seconds = at.saturating_sub(then).as_secs_f64();
            let written = progress.written_bytes.saturating_sub(last.written_bytes);
            let read = progress.read_bytes.saturating_sub(last.read_bytes);
            for (direction, bytes) in [(&mut self.written, written), (&mut self.read, read)] {
                if bytes > 0 {
                    direction.add(bytes, seconds * bytes as f64 / (written + read) as f64);
                }
            }
            let kept = (-seconds / MEMORY_S).exp();
            self.recent_bytes = self.recent_bytes * kept + (written + read) as f64;
            self.recent_s = self.recent_s * kept + seconds;
        }
        self.last = Some((*progress, at));
    }

    /// Bytes moved per second, of the last few seconds.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        if self.recent_s > 0.0 { self.recent_bytes / self.recent_s } else { 0.0 }
    }

    /// Time until the end, once enough transfers of both directions were timed.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let written = self.written.left(self.plan.writes, self.plan.written_bytes)?;
        let read = self.read.left(self.plan.reads, self.plan.read_bytes)?;
        Duration::try_from_secs_f64(written + read).ok()
    }
}
