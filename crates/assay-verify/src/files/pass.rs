//! Passes that write or read all of the area, with several operations in flight.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use assay_core::outcome::RunFailure;
use assay_core::verification::{Pass, SECTOR_BYTES};

use super::content::{Content, FILE_BYTES};
use super::directory::failure_of;
use super::medium::Piece;
use super::pool::{Answer, CHUNK, DEPTH, Part, Pool, Silence, Task};
use super::progress::{CheckPhase, CheckProgress, Meter, Timed};
use super::tally::{ChunkFindings, Tally};

/// Nothing is started farther than this many bytes beyond what is done. So the latest writes lie at the end, even if
/// one operation takes much longer than others.
pub(super) const REACH: u64 = 6 * CHUNK as u64;

/// Why a pass ended early.
#[derive(Debug)]
pub(crate) enum StopReason {
    /// The end was asked for.
    Stopped,
    /// A loss was found, and the pass was to end there.
    FirstError,
    /// The medium does not answer.
    Hung,
    /// The file system is full earlier than it said.
    Full,
    /// The medium failed as a whole.
    Failed(io::Error),
    /// Files that were written before are gone, shorter or replaced, which another program may have done.
    FilesMissing,
}

impl StopReason {
    /// The failure, with its text; `None` if the check counts as complete.
    pub(crate) fn failure(&self) -> Option<(RunFailure, String)> {
        match self {
            Self::FirstError | Self::Full | Self::FilesMissing => None,
            Self::Stopped => Some((RunFailure::Interrupted, String::new())),
            Self::Hung => Some((RunFailure::Hung, "no answer from the medium".to_owned())),
            Self::Failed(error) => Some((failure_of(error), error.to_string())),
        }
    }
}

impl StopReason {
    /// Whether a file was not there.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Failed(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<Silence> for StopReason {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Hung => Self::Hung,
            Silence::Stopped => Self::Stopped,
        }
    }
}

impl From<io::Error> for StopReason {
    fn from(error: io::Error) -> Self {
        if failure_of(&error) == RunFailure::OutOfSpace { Self::Full } else { Self::Failed(error) }
    }
}

/// When progress may be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Within a file: no more often than is worthwhile.
    Within,
    /// A file, or the pass, ended.
    End,
}

/// Saves progress; may block as long as the medium does.
pub(crate) type Save = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// The result of a pass.
pub(crate) struct Ended {
    pub(crate) pass: Pass,
    /// Everything before this byte is done (and durable, where it was written).
    pub(crate) upto: u64,
    /// Starts and ends of what could not be written.
    pub(crate) refused: Vec<(u64, u64)>,
    pub(crate) stop_reason: Option<StopReason>,
}

/// What a pass covers.
#[derive(Clone, Copy)]
pub(crate) struct Area<'a> {
    /// Numbers and sizes of all files.
    pub(crate) files: &'a [(u64, u64)],
    pub(crate) content: &'a Arc<Content>,
    /// First byte.
    pub(crate) from: u64,
    /// Byte behind the last; the end of the files if that comes first.
    pub(crate) upto: u64,
    /// Whether the first loss ends the pass.
    pub(crate) until_first_error: bool,
    /// Nothing from this byte on is started before everything below it is done, and from there on operations run one by
    /// one. So the latest writes lie behind it, in order, however busy the machine is.
    pub(crate) barrier: u64,
    /// What is known beforehand about the time of the check.
    pub(crate) known: Timed,
}

impl<'a> Area<'a> {
    /// All of `files`.
    pub(crate) fn all(files: &'a [(u64, u64)], content: &'a Arc<Content>) -> Self {
        let (from, upto, barrier) = (0, u64::MAX, u64::MAX);
        Self { files, content, from, upto, until_first_error: false, barrier, known: Timed::default() }
    }

    /// The files, with the part of each that belongs to the pass, as bytes of the whole area.
    fn parts(self) -> impl Iterator<Item = (u64, u64, u64, u64)> {
        self.files
            .iter()
            .map(move |&(number, bytes)| {
                let start = start_of(number);
                (number, bytes, start.max(self.from), (start + bytes).min(self.upto))
            })
            .filter(|(_, _, from, end)| from < end)
    }
}

/// Start of a file in the whole area.
pub(crate) fn start_of(number: u64) -> u64 {
    (number - 1).saturating_mul(FILE_BYTES)
}

/// End of the last file in the whole area.
pub(crate) fn extent(files: &[(u64, u64)]) -> u64 {
    files.iter().map(|(number, bytes)| start_of(*number) + bytes).max().unwrap_or(0)
}

/// Writes the area. `saved` is called repeatedly for work that saves that everything up to a byte is durable. The work
/// runs when that is so, while writing goes on.
pub(crate) fn write(
    pool: &Pool,
    area: Area,
    tell: &mut dyn FnMut(CheckProgress),
    saved: &mut dyn FnMut(u64, Moment) -> Option<Save>,
) -> Ended {
    let meter = Meter::new(pool.control(), CheckPhase::Write, extent(area.files), area.from, area.known);
    let mut writing = Writing { pool, area, meter, upto: area.from, refused: Vec::new(), tell, saved };
    let stop_reason = area.parts().find_map(|part| writing.file(part));
    let Writing { meter, upto, mut refused, tell, .. } = writing;
    tell(meter.progress(sectors(&refused)));
    refused.sort_unstable();
    Ended { pass: meter.finish(), upto, refused, stop_reason }
}

/// A pass that writes.
struct Writing<'a> {
    pool: &'a Pool,
    area: Area<'a>,
    meter: Meter,
    /// Everything before this byte is durable.
    upto: u64,
    /// Starts and ends of what could not be written.
    refused: Vec<(u64, u64)>,
    tell: &'a mut dyn FnMut(CheckProgress),
    saved: &'a mut dyn FnMut(u64, Moment) -> Option<Save>,
}

impl Writing<'_> {
    /// Writes one file of [`Area::parts`]. Returns the reason if the pass ends with it.
    fn file(&mut self, (number, bytes, from, end): (u64, u64, u64, u64)) -> Option<StopReason> {
        let piece = match piece(self.pool, Task::Make { number, bytes }) {
            Ok(piece) => piece,
            Err(reason) => return Some(reason),
        };
        let depth = if piece.one_by_one() { 1 } else { DEPTH };
        let mut window = Window::new(start_of(number), from, end, depth);
        window.barrier = self.area.barrier;
        let silence = self.chunks(&piece, &mut window).err();
        let reason = window.reason.take();
        match silence {
            // A sync would not be answered either.
            Some(silence) => reason.or(Some(silence.into())),
            None => {
                let stop_reason = reason.or_else(|| (!window.complete()).then_some(StopReason::Stopped));
                self.close(piece, &window, stop_reason)
            }
        }
    }

    /// Writes the chunks of a file; syncs it and saves progress from time to time.
    fn chunks(&mut self, piece: &Arc<dyn Piece>, window: &mut Window) -> Result<(), Silence> {
        // Everything up to here becomes durable with the sync under way.
        let mut syncing: Option<u64> = None;
        loop {
            while let Some((at, length)) = window.next(self.pool.stopped()) {
                let part = Part { piece: Arc::clone(piece), at, bytes: length, offset: window.start + at };
                self.pool.give(Task::Write { part, content: Arc::clone(self.area.content) });
            }
            if window.in_flight == 0 && syncing.is_none() {
                return Ok(());
            }
            let idle = &mut || self.meter.tell(sectors(&self.refused), &mut *self.tell);
            match self.pool.wait(syncing.is_some(), idle)? {
                Answer::Written { offset, bytes, result: Ok(failed) } => {
                    window.done(offset, bytes);
                    self.meter.done(offset, bytes);
                    if !failed.is_empty() && self.area.until_first_error {
                        window.close(StopReason::FirstError);
                    }
                    self.refused.extend(failed);
                }
                Answer::Written { result: Err(error), .. } => {
                    window.failed();
                    window.close(error.into());
                }
                Answer::Done(Ok(())) => self.upto = syncing.take().unwrap_or(self.upto),
                Answer::Done(Err(error)) => {
                    syncing = None;
                    window.close(StopReason::Failed(error));
                }
                _ => window.failed(),
            }
            if syncing.is_none()
                && window.upto > self.upto
                && !window.complete()
                && let Some(save) = (self.saved)(window.upto, Moment::Within)
            {
                syncing = Some(window.upto);
                let file = Arc::clone(piece);
                self.pool.give(Task::Do(Box::new(move || file.sync().and_then(|()| save()))));
            }
            self.meter.tell(sectors(&self.refused), &mut *self.tell);
        }
    }

    /// Syncs a file and saves that. Returns the reason if the pass ends with it.
    fn close(
        &mut self,
        file: Arc<dyn Piece>,
        window: &Window,
        mut stop_reason: Option<StopReason>,
    ) -> Option<StopReason> {
        let done = window.upto;
        // A file that ends early ends where everything before is written.
        let cut = matches!(stop_reason, Some(StopReason::Full)).then_some(done - window.start);
        let synced = self.pool.run(move || {
            if let Some(bytes) = cut {
                file.cut(bytes)?;
            }
            file.sync()
        });
        match synced {
            Ok(Ok(())) => self.upto = done,
            Ok(Err(error)) => stop_reason = stop_reason.or(Some(StopReason::Failed(error))),
            Err(silence) => stop_reason = Some(silence.into()),
        }
        if matches!(stop_reason, None | Some(StopReason::Stopped | StopReason::Full | StopReason::FirstError))
            && let Some(save) = (self.saved)(self.upto, Moment::End)
            && let Err(silence) = self.pool.run(save)
        {
            stop_reason = stop_reason.or(Some(silence.into()));
        }
        stop_reason
    }
}

fn sectors(parts: &[(u64, u64)]) -> u64 {
    parts.iter().map(|(start, end)| (end - start) / SECTOR_BYTES).sum()
}

/// Reads the area into `tally`. Parts in `refused` cannot hold anything. `saved` works as in [`write`].
pub(crate) fn read(
    pool: &Pool,
    area: Area,
    refused: &[(u64, u64)],
    tally: &mut Tally,
    tell: &mut dyn FnMut(CheckProgress),
    saved: &mut dyn FnMut(u64, &Tally, Moment) -> Option<Save>,
) -> Ended {
    let mut meter = Meter::new(pool.control(), CheckPhase::Read, extent(area.files), area.from, area.known);
    let (mut upto, mut stop_reason) = (area.from, None);
    for (number, _, from, end) in area.parts() {
        let start = start_of(number);
        let piece = match piece(pool, Task::Open { number }) {
            Ok(piece) => piece,
            Err(reason) => {
                stop_reason = Some(reason);
                break;
            }
        };
        let mut window = Window::new(start, from, end, DEPTH);
        // A resumed check reads everything beyond a gap again, so findings are counted in order.
        let mut early: BTreeMap<u64, ChunkFindings> = BTreeMap::new();
        let mut saving = false;
        let reason = loop {
            while let Some((at, length)) = window.next(pool.stopped()) {
                let part = Part { piece: Arc::clone(&piece), at, bytes: length, offset: start + at };
                pool.give(Task::Read { part, content: Arc::clone(area.content) });
            }
            if window.in_flight == 0 && !saving {
                break (!window.complete()).then_some(StopReason::Stopped);
            }
            match pool.wait(saving, &mut || meter.tell(tally.counts.lost(), tell)) {
                Ok(Answer::Read { offset, bytes, result: Ok(mut found) }) => {
                    found.refuse(refused);
                    window.done(offset, bytes);
                    meter.done(offset, bytes);
                    if found.first.is_some() && area.until_first_error {
                        window.close(StopReason::FirstError);
                    }
                    early.insert(offset, found);
                    while early.first_key_value().is_some_and(|(offset, _)| *offset < window.upto) {
                        if let Some((offset, found)) = early.pop_first() {
                            tally.add(offset, &found);
                        }
                    }
                }
                Ok(Answer::Read { result: Err(error), .. }) => {
                    window.failed();
                    window.close(StopReason::Failed(error));
                }
                Ok(Answer::Done(_)) => saving = false,
                Ok(_) => window.failed(),
                Err(silence) => break Some(silence.into()),
            }
            if !saving
                && window.upto > upto
                && let Some(save) = saved(window.upto, tally, Moment::Within)
            {
                saving = true;
                pool.give(Task::Do(save));
            }
            meter.tell(tally.counts.lost(), tell);
        };
        stop_reason = window.reason.take().or(reason);
        upto = window.upto;
        if matches!(stop_reason, None | Some(StopReason::Stopped))
            && let Some(save) = saved(upto, tally, Moment::End)
            && let Err(silence) = pool.run(save)
        {
            stop_reason = stop_reason.or(Some(silence.into()));
        }
        if stop_reason.is_some() {
            break;
        }
    }
    tell(meter.progress(tally.counts.lost()));
    Ended { pass: meter.finish(), upto, refused: Vec::new(), stop_reason }
}

pub(crate) fn piece(pool: &Pool, task: Task) -> Result<Arc<dyn Piece>, StopReason> {
    if pool.stopped() {
        return Err(StopReason::Stopped);
    }
    pool.give(task);
    match pool.wait(false, &mut || {})? {
        Answer::Piece(result) => result.map_err(Into::into),
        _ => Err(StopReason::Failed(io::ErrorKind::Other.into())),
    }
}

/// The chunks of a file that are in flight.
struct Window {
    start: u64,
    /// End of the pass in the file.
    bytes: u64,
    next: u64,
    depth: usize,
    in_flight: usize,
    /// Everything before this byte of the whole is done.
    upto: u64,
    /// As [`Area::barrier`].
    barrier: u64,
    beyond: BTreeMap<u64, u64>,
    reason: Option<StopReason>,
}

impl Window {
    fn new(start: u64, from: u64, end: u64, depth: usize) -> Self {
        let (next, bytes) = (from - start, end - start);
        let (upto, barrier) = (from, u64::MAX);
        Self { start, bytes, next, depth, in_flight: 0, upto, barrier, beyond: BTreeMap::new(), reason: None }
    }

    /// The next chunk to start: its offset in the file, and its length.
    fn next(&mut self, stopped: bool) -> Option<(u64, usize)> {
        if stopped || self.reason.is_some() || self.in_flight >= self.depth || self.next >= self.bytes {
            return None;
        }
        let behind = self.start + self.next >= self.barrier;
        if self.start + self.next >= self.upto + REACH || (behind && (self.in_flight > 0 || self.upto < self.barrier)) {
            return None;
        }
        let at = self.next;
        // Chunks end at multiples of their size, wherever they begin.
        let end = (at / CHUNK as u64 + 1) * CHUNK as u64;
        let end = if behind { end } else { end.min(self.barrier - self.start) };
        self.next = end.min(self.bytes);
        self.in_flight += 1;
        Some((at, (self.next - at) as usize))
    }

    fn done(&mut self, offset: u64, bytes: u64) {
        self.in_flight -= 1;
        self.beyond.insert(offset, bytes);
        while let Some(bytes) = self.beyond.remove(&self.upto) {
            self.upto += bytes;
        }
    }

    fn failed(&mut self) {
        self.in_flight -= 1;
    }

    /// Starts nothing more. Keeps the first reason.
    fn close(&mut self, reason: StopReason) {
        self.reason.get_or_insert(reason);
    }

    fn complete(&self) -> bool {
        self.upto >= self.start + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use assay_core::outcome::RunFailure;
    use assay_core::verification::SectorClass;
    use assay_engine::Control;

    use super::super::content::{Content, FileFormat};
    use super::super::directory::failure_of;
    use super::super::medium::{Medium, Piece};
    use super::super::pool::Pool;
    use super::super::tally::Tally;
    use super::{Area, Ended, StopReason};
    use crate::probe::Salt;

    const MIB: u64 = 1 << 20;
    const FILES: [(u64, u64); 1] = [(1, 24 * MIB)];

    /// One file. Reads of `bad` fail, writes from `full` on fail, and operations from `hangs` on get no answer.
    #[derive(Default)]
    struct Memory {
        data: Mutex<Vec<u8>>,
        bad: std::ops::Range<u64>,
        bad_to_write: std::ops::Range<u64>,
        full: Option<u64>,
        hangs: Option<u64>,
        gone: AtomicBool,
        reads: AtomicU64,
        in_order: AtomicU64,
        ordered: bool,
    }

    #[derive(Clone)]
    struct Shared(Arc<Memory>);

    impl Medium for Shared {
        fn make(&self, _: u64, bytes: u64) -> io::Result<Arc<dyn Piece>> {
            self.0.data.lock().unwrap().resize(bytes as usize, 0);
            Ok(Arc::new(self.clone()))
        }

        fn open(&self, _: u64) -> io::Result<Arc<dyn Piece>> {
            Ok(Arc::new(self.clone()))
        }

        fn gone(&self) -> bool {
            self.0.gone.load(Ordering::Relaxed)
        }
    }

    /// ENOSPC; ERROR_DISK_FULL.
    const FULL: i32 = if cfg!(windows) { 112 } else { 28 };

    impl Piece for Shared {
        fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
            if self.0.hangs.is_some_and(|from| offset >= from) {
                std::thread::sleep(Duration::from_secs(3600));
            }
            let end = offset + data.len() as u64;
            if offset < self.0.bad_to_write.end && end > self.0.bad_to_write.start {
                return Err(io::Error::from_raw_os_error(5));
            }
            if self.0.full.is_some_and(|from| offset + data.len() as u64 > from) {
                return Err(io::Error::from_raw_os_error(FULL));
            }
            if self.0.in_order.swap(offset + data.len() as u64, Ordering::Relaxed) != offset && self.0.ordered {
                return Err(io::Error::other("out of order"));
            }
            self.0.data.lock().unwrap()[offset as usize..][..data.len()].copy_from_slice(data);
            Ok(())
        }

        fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
            self.0.reads.fetch_add(1, Ordering::Relaxed);
            if offset < self.0.bad.end && offset + data.len() as u64 > self.0.bad.start {
                return Err(io::Error::from_raw_os_error(5));
            }
            data.copy_from_slice(&self.0.data.lock().unwrap()[offset as usize..][..data.len()]);
            Ok(data.len())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }

        fn cut(&self, bytes: u64) -> io::Result<()> {
            self.0.data.lock().unwrap().truncate(bytes as usize);
            Ok(())
        }

        fn one_by_one(&self) -> bool {
            self.0.ordered
        }

        fn grain(&self) -> usize {
            512
        }
    }

    fn pool(memory: &Arc<Memory>) -> Pool {
        Pool::new(Arc::new(Shared(Arc::clone(memory))), Duration::from_secs(1), &Control::default()).unwrap()
    }

    fn content() -> Arc<Content> {
        Arc::new(Content::new(FileFormat::Salted, Salt::known(1)))
    }

    fn write(pool: &Pool) -> Ended {
        super::write(pool, Area::all(&FILES, &content()), &mut |_| {}, &mut |_, _| None)
    }

    fn read(pool: &Pool) -> (Ended, Tally) {
        let mut tally = Tally::new(24 * MIB);
        let content = content();
        let ended = super::read(pool, Area::all(&FILES, &content), &[], &mut tally, &mut |_| {}, &mut |_, _, _| None);
        (ended, tally)
    }

    #[test]
    fn a_region_that_errs_is_mapped_to_the_sector_and_the_rest_is_read() {
        let bad = 5 * MIB + 1024..7 * MIB + 512;
        let memory = Arc::new(Memory { bad: bad.clone(), ..Memory::default() });
        let pool = pool(&memory);
        assert!(write(&pool).stop_reason.is_none());
        let (ended, tally) = read(&pool);
        assert!(ended.stop_reason.is_none(), "{:?}", ended.stop_reason);
        assert_eq!(tally.counts.unreadable, (bad.end - bad.start) / 512);
        assert_eq!(tally.counts.total(), 24 * 2048);
        assert_eq!(tally.counts.good, tally.counts.total() - tally.counts.unreadable);
        let first = tally.first.unwrap();
        assert_eq!((first.offset_bytes, first.class), (bad.start, SectorClass::Unreadable));
    }

    #[test]
    fn a_region_without_any_good_sector_is_tried_less_and_less() {
        let memory = Arc::new(Memory { bad: 0..22 * MIB, ..Memory::default() });
        let pool = pool(&memory);
        assert!(write(&pool).stop_reason.is_none());
        let (_, tally) = read(&pool);
        assert_eq!((tally.counts.unreadable, tally.counts.good), (22 * 2048, 2 * 2048));
        // Every part of 22 chunks would be 51 thousand reads.
        let reads = memory.reads.load(Ordering::Relaxed);
        assert!(reads < 13 * 2400, "{reads}");
    }

    #[test]
    fn a_medium_that_has_gone_ends_it_at_once() {
        let memory = Arc::new(Memory { bad: 3 * MIB..24 * MIB, gone: AtomicBool::new(true), ..Memory::default() });
        let pool = pool(&memory);
        assert!(write(&pool).stop_reason.is_none());
        let (ended, tally) = read(&pool);
        match ended.stop_reason {
            Some(StopReason::Failed(error)) => assert_eq!(failure_of(&error), RunFailure::Disappeared),
            other => panic!("{other:?}"),
        }
        assert_eq!((tally.counts.good, tally.counts.lost()), (3 * 2048, 0));
    }

    #[test]
    fn a_file_system_that_is_full_early_ends_the_area_there() {
        let memory = Arc::new(Memory { full: Some(10 * MIB + 5), ..Memory::default() });
        let ended = write(&pool(&memory));
        assert!(matches!(ended.stop_reason, Some(StopReason::Full)));
        assert_eq!((ended.upto, memory.data.lock().unwrap().len() as u64), (10 * MIB, 10 * MIB));
    }

    #[test]
    fn a_medium_that_does_not_answer_is_left_behind() {
        let memory = Arc::new(Memory { hangs: Some(4 * MIB), ..Memory::default() });
        let ended = write(&pool(&memory));
        assert!(matches!(ended.stop_reason, Some(StopReason::Hung)));
        assert_eq!(ended.upto, 0, "what was not synced is not taken as written");
    }

    #[test]
    fn where_order_matters_it_is_kept() {
        let memory = Arc::new(Memory { ordered: true, ..Memory::default() });
        let ended = write(&pool(&memory));
        assert!(ended.stop_reason.is_none() && ended.refused.is_empty());
    }

    /// What could not be written does not count as corrupted: the medium reported an error.
    #[test]
    fn what_could_not_be_written_is_an_error_and_no_corruption() {
        let bad_to_write = 5 * MIB + 1024..5 * MIB + 3072;
        let memory = Arc::new(Memory { bad_to_write: bad_to_write.clone(), ..Memory::default() });
        let pool = pool(&memory);
        let ended = write(&pool);
        let refused: u64 = ended.refused.iter().map(|(start, end)| end - start).sum();
        assert_eq!(refused, bad_to_write.end - bad_to_write.start);
        let (content, mut tally) = (content(), Tally::new(24 * MIB));
        let area = Area::all(&FILES, &content);
        super::read(&pool, area, &ended.refused, &mut tally, &mut |_| {}, &mut |_, _, _| None);
        assert_eq!((tally.counts.unreadable, tally.counts.corrupted), (refused / 512, 0));
        assert_eq!(tally.lost.runs()[0].class, SectorClass::Unreadable);
        let first = tally.first.unwrap();
        assert_eq!((first.offset_bytes, first.class), (bad_to_write.start, SectorClass::Unreadable));
    }
}
