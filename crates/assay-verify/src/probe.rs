//! The quick probe of a raw device: which parts of it hold data, and what kind of fake it is, in minutes.
//!
//! Every place is saved to a [`Journal`] on another disk before it is written, and is restored at the end, or by
//! [`restore`] after a crash. Each sector carries a random salt, its place and the round, so that only the memory
//! behind it can answer.
//!
//! See `docs/decisions/005-probe.md` for the search and its limits.

mod device;
mod journal;
mod places;
mod plan;
mod put_back;
mod restore;
mod search;
mod stamp;

pub use device::{BlockDevice, Device, ProbeFault, ReadDevice, TimedDevice};
pub use journal::{Disk, DiskFile, Journal, JournalError, JournalIdentity, JournalPlace, SystemDisk};
pub use places::{Pending, Stands, Traces, described};
pub use plan::{LEAST_BYTES, ProbePlan, ProbeSettings, plan};
pub use put_back::{Differing, JournalLeft, PlaceStanding, RestoreProgress, RestoreStep, Restored};
pub use restore::{Restoration, RestoreError, restore};
pub use search::{ProbePhase, ProbeProgress};
pub use stamp::{BLOCK, Salt};

use std::time::Duration;

use assay_core::units::Bytes;
use assay_core::verification::{Verdict, Verification};
use assay_engine::Control;

use self::device::Counted;
use self::restore::{Blocks, OwnSession};
use self::search::{Account, End, Search, StampedDevice, Watch, account, verification};

// A probe from the first save to the last restored block.

/// Readings of everything that was put back on a medium that is not genuine.
const LASTING: usize = 3;

/// Why nothing was probed; the device is untouched.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Below [`LEAST_BYTES`].
    #[error(
        "{bytes} are less than the {least} that a probe needs, and hold no file system to check in full; an extended partition announces so little: name the whole device"
    )]
    TooSmall {
        /// Announced size.
        bytes: Bytes,
        /// What is needed.
        least: Bytes,
    },
    /// Blocks larger than those of the probe.
    #[error(
        "blocks of {0} bytes are larger than the probe's {BLOCK}; make a file system on it, mount it, and check the directory with assay verify DIR"
    )]
    LargeBlocks(u32),
    /// The journal was made for a device of another size.
    #[error("the journal is not of this device; begin with a new one")]
    WrongJournal,
}

/// How the search ended.
#[derive(Debug)]
pub enum Ended {
    /// With an answer.
    Complete,
    /// Told to stop.
    Stopped,
    /// The device failed as a whole.
    Device(ProbeFault),
    /// The journal's disk failed, so nothing more could be overwritten.
    Journal(JournalError),
    /// What was announced as the most was used up.
    Spent,
}

/// What a probe came to.
#[derive(Debug)]
pub struct Probed {
    /// The result; undecided where the search did not end.
    pub verification: Verification,
    /// How the search ended.
    pub ended: Ended,
    /// What was put back. After an error, or where any place reads otherwise than before, the
    /// journal is needed, and [`restore`] can be called.
    pub restored: Result<Restored, RestoreError>,
    /// What became of the journal.
    pub journal: JournalLeft,
    /// Bytes read in all, restoring included.
    pub read_bytes: u64,
}

/// Whether a device can be probed, by its size and its blocks; nothing is read.
///
/// # Errors
/// Why not.
pub fn check_suitable<D: Device>(device: &D) -> Result<(), ProbeError> {
    if device.bytes() < LEAST_BYTES {
        return Err(ProbeError::TooSmall { bytes: Bytes(device.bytes()), least: Bytes(LEAST_BYTES) });
    }
    if u64::from(device.block_bytes()) > BLOCK {
        return Err(ProbeError::LargeBlocks(device.block_bytes()));
    }
    Ok(())
}

/// Probes `device`, puts everything back and says what was found. `control` is asked before each
/// operation whether to stop; everything is put back then too.
///
/// # Errors
/// Where the device cannot be probed at all. Everything that happens on the way is in [`Probed`].
pub fn run<D: Device>(
    device: &mut D,
    mut journal: Journal,
    settings: &ProbeSettings,
    control: &Control,
    progress: &mut dyn FnMut(ProbeProgress),
) -> Result<Probed, ProbeError> {
    check_suitable(device)?;
    let announced = device.bytes();
    if journal.device().bytes != announced {
        return Err(ProbeError::WrongJournal);
    }
    let plan = plan(announced, device.block_bytes(), settings);
    let watch = Watch { control, progress: &mut *progress };
    let mut stamped = StampedDevice::new(&mut *device, &mut journal, plan.most_search_bytes, watch);
    let mut search = Search::new(&mut stamped, settings);
    let end = search.work().err();
    let mut account = account(&mut search, end.as_ref());
    // A medium may lose what is only read, and is then not as it was saved although nothing was written.
    let blocks = match (stamped.blocks(), end.as_ref()) {
        (Blocks::None, Some(End::Fault(_))) => Blocks::NeverSeen,
        (blocks, _) => blocks,
    };
    let ended = match end {
        None => Ended::Complete,
        Some(End::Stopped) => Ended::Stopped,
        Some(End::Fault(fault)) => Ended::Device(fault),
        Some(End::Journal(error)) => Ended::Journal(error),
        Some(End::Spent) => Ended::Spent,
    };
    let restored = put_back(device, &journal, blocks, &mut account, progress);
    let journal_left = restored.as_ref().map_or(JournalLeft::Needed, |done| done.journal);
    match &restored {
        Ok(done) => account.was_restored(device, done),
        Err(RestoreError::Device { fault, .. }) => account.fails(*fault),
        Err(_) => {}
    }
    let read_bytes = account.moved.read_bytes;
    Ok(Probed { verification: verification(&account), ended, restored, journal: journal_left, read_bytes })
}

/// Puts everything back. What was saved and not synced was not overwritten, so that the journal is
/// read as it is.
fn put_back<D: Device>(
    device: &mut D,
    journal: &Journal,
    blocks: Blocks,
    account: &mut Account,
    progress: &mut dyn FnMut(ProbeProgress),
) -> Result<Restored, RestoreError> {
    let before = account.moved;
    let mut tell = |now: RestoreProgress| {
        let written_bytes = before.written_bytes + now.written_bytes;
        let read_bytes = before.read_bytes + now.read_bytes;
        progress(ProbeProgress { phase: ProbePhase::Restoring, written_bytes, read_bytes, places: 0, of: 0, lost: 0 });
    };
    // What was put back on a medium that loses data is there only if it lasts.
    let readings = if account.verdict == Verdict::Genuine { 1 } else { LASTING };
    let mut counted = Counted::new(device);
    let restored = Restoration::new(journal.path(), journal.device())
        .on(journal.disk())
        .of_own_session(OwnSession { readings, blocks, doubt: account.doubt(), ends_at: account.writes_end_at() })
        .telling(&mut tell)
        .run(&mut counted);
    account.moved.written_bytes += counted.written_bytes;
    account.moved.read_bytes += counted.read_bytes;
    restored
}

// How long a probe will take, estimated from its first transfers.

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
    last: Option<(ProbeProgress, Duration)>,
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
    pub fn observe(&mut self, progress: &ProbeProgress, at: Duration) {
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
