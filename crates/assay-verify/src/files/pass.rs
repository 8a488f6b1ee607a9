//! Writing all of the area, and reading all of it, with several operations in flight.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use assay_core::outcome::Failure;
use assay_core::verification::{Pass, SECTOR_BYTES};

use super::content::Content;
use super::format::FILE_BYTES;
use super::medium::Piece;
use super::place::failure_of;
use super::pool::{Answer, CHUNK, DEPTH, Part, Pool, Silence, Task};
use super::progress::{Meter, Phase, Progress};
use super::tally::{Found, Tally};

/// Nothing is started so far, in bytes, beyond what is not done: what was written last lies at the
/// end, even where one operation takes much longer than others.
pub(super) const REACH: u64 = 6 * CHUNK as u64;

/// Why a pass ended before its end.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The end was asked for.
    Stopped,
    /// A loss was found, and nothing more was wanted.
    FirstError,
    /// The medium does not answer.
    Hung,
    /// The file system is full earlier than it said.
    Full,
    /// The medium failed as a whole.
    Failed(io::Error),
}

impl From<Silence> for Halt {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Hung => Self::Hung,
            Silence::Stopped => Self::Stopped,
        }
    }
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        if failure_of(&error) == Failure::OutOfSpace { Self::Full } else { Self::Failed(error) }
    }
}

/// When progress may be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Within a file: no more often than is worth it.
    Within,
    /// A file, or the pass, ended.
    End,
}

/// Saves progress; may block as long as the medium does.
pub(crate) type Save = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// What a pass came to.
pub(crate) struct Ended {
    pub(crate) pass: Pass,
    /// Everything before this byte is done (and durable, where it was written).
    pub(crate) upto: u64,
    /// Starts and ends of what could not be written.
    pub(crate) refused: Vec<(u64, u64)>,
    pub(crate) halt: Option<Halt>,
}

/// What a pass goes over.
#[derive(Clone, Copy)]
pub(crate) struct Area<'a> {
    /// Numbers and sizes of all files.
    pub(crate) files: &'a [(u64, u64)],
    pub(crate) content: &'a Arc<Content>,
    /// First byte.
    pub(crate) from: u64,
    /// Byte behind the last; the end of the files where that comes first.
    pub(crate) upto: u64,
    /// Whether the first loss ends the pass.
    pub(crate) until_first_error: bool,
    /// Time that follows the pass, in seconds, where it is known.
    pub(crate) then_seconds: Option<f64>,
}

impl<'a> Area<'a> {
    /// All of `files`.
    pub(crate) fn all(files: &'a [(u64, u64)], content: &'a Arc<Content>) -> Self {
        Self { files, content, from: 0, upto: u64::MAX, until_first_error: false, then_seconds: None }
    }

    /// The files with what of each belongs to the pass, as bytes of the whole.
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

/// Where a file begins in the whole.
pub(crate) fn start_of(number: u64) -> u64 {
    (number - 1).saturating_mul(FILE_BYTES)
}

/// Where the last file ends in the whole.
pub(crate) fn extent(files: &[(u64, u64)]) -> u64 {
    files.iter().map(|(number, bytes)| start_of(*number) + bytes).max().unwrap_or(0)
}

/// Writes the area. `saved` is asked again and again for what saves that
/// all up to a byte is durable; it is run when that is so, while writing goes on.
pub(crate) fn write(
    pool: &Pool,
    area: Area,
    tell: &mut dyn FnMut(Progress),
    saved: &mut dyn FnMut(u64, Moment) -> Option<Save>,
) -> Ended {
    let mut meter = Meter::new(pool.control(), Phase::Write, extent(area.files), area.from, area.then_seconds);
    let (mut upto, mut refused, mut halt) = (area.from, Vec::new(), None);
    for (number, bytes, from, end) in area.parts() {
        let start = start_of(number);
        let piece = match piece(pool, Task::Make { number, bytes }) {
            Ok(piece) => piece,
            Err(reason) => {
                halt = Some(reason);
                break;
            }
        };
        let mut window = Window::new(start, from, end, if piece.one_by_one() { 1 } else { DEPTH });
        // Up to where a sync under way makes everything durable.
        let mut syncing: Option<u64> = None;
        let (reason, silent) = loop {
            while let Some((at, length)) = window.next(pool.stopped()) {
                let part = Part { piece: Arc::clone(&piece), at, bytes: length, offset: start + at };
                pool.give(Task::Write { part, content: Arc::clone(area.content) });
            }
            if window.in_flight == 0 && syncing.is_none() {
                break ((!window.complete()).then_some(Halt::Stopped), false);
            }
            match pool.wait(syncing.is_some(), &mut || meter.tell(sectors(&refused), tell)) {
                Ok(Answer::Written { offset, bytes, result: Ok(failed) }) => {
                    window.done(offset, bytes);
                    meter.done(offset, bytes);
                    if !failed.is_empty() && area.until_first_error {
                        window.close(Halt::FirstError);
                    }
                    refused.extend(failed);
                }
                Ok(Answer::Written { result: Err(error), .. }) => {
                    window.failed();
                    window.close(error.into());
                }
                Ok(Answer::Done(Ok(()))) => upto = syncing.take().unwrap_or(upto),
                Ok(Answer::Done(Err(error))) => {
                    syncing = None;
                    window.close(Halt::Failed(error));
                }
                Ok(_) => window.failed(),
                Err(silence) => break (Some(silence.into()), true),
            }
            if syncing.is_none()
                && window.upto > upto
                && !window.complete()
                && let Some(save) = saved(window.upto, Moment::Within)
            {
                syncing = Some(window.upto);
                let file = Arc::clone(&piece);
                pool.give(Task::Do(Box::new(move || file.sync().and_then(|()| save()))));
            }
            meter.tell(sectors(&refused), tell);
        };
        halt = window.reason.take().or(reason);
        if silent {
            break;
        }
        let done = window.upto;
        let file = Arc::clone(&piece);
        // A file that ends early ends where all before is written.
        let cut = matches!(halt, Some(Halt::Full)).then_some(done - start);
        let synced = pool.run(move || {
            if let Some(bytes) = cut {
                file.cut(bytes)?;
            }
            file.sync()
        });
        match synced {
            Ok(Ok(())) => upto = done,
            Ok(Err(error)) => halt = halt.or(Some(Halt::Failed(error))),
            Err(silence) => halt = Some(silence.into()),
        }
        if matches!(halt, None | Some(Halt::Stopped | Halt::Full | Halt::FirstError))
            && let Some(save) = saved(upto, Moment::End)
            && let Err(silence) = pool.run(save)
        {
            halt = halt.or(Some(silence.into()));
        }
        if halt.is_some() {
            break;
        }
    }
    tell(meter.progress(sectors(&refused)));
    refused.sort_unstable();
    Ended { pass: meter.finish(), upto, refused, halt }
}

fn sectors(parts: &[(u64, u64)]) -> u64 {
    parts.iter().map(|(start, end)| (end - start) / SECTOR_BYTES).sum()
}

/// Reads the area into `tally`, where what was `refused` cannot hold anything; `saved` as with [`write`].
pub(crate) fn read(
    pool: &Pool,
    area: Area,
    refused: &[(u64, u64)],
    tally: &mut Tally,
    tell: &mut dyn FnMut(Progress),
    saved: &mut dyn FnMut(u64, &Tally, Moment) -> Option<Save>,
) -> Ended {
    let mut meter = Meter::new(pool.control(), Phase::Read, extent(area.files), area.from, area.then_seconds);
    let (mut upto, mut halt) = (area.from, None);
    for (number, _, from, end) in area.parts() {
        let start = start_of(number);
        let piece = match piece(pool, Task::Open { number }) {
            Ok(piece) => piece,
            Err(reason) => {
                halt = Some(reason);
                break;
            }
        };
        let mut window = Window::new(start, from, end, DEPTH);
        // What is beyond a gap is found again by a resumed check, and so is counted in order.
        let mut early: BTreeMap<u64, Found> = BTreeMap::new();
        let mut saving = false;
        let reason = loop {
            while let Some((at, length)) = window.next(pool.stopped()) {
                let part = Part { piece: Arc::clone(&piece), at, bytes: length, offset: start + at };
                pool.give(Task::Read { part, content: Arc::clone(area.content) });
            }
            if window.in_flight == 0 && !saving {
                break (!window.complete()).then_some(Halt::Stopped);
            }
            match pool.wait(saving, &mut || meter.tell(tally.counts.lost(), tell)) {
                Ok(Answer::Read { offset, bytes, result: Ok(mut found) }) => {
                    found.refuse(refused);
                    window.done(offset, bytes);
                    meter.done(offset, bytes);
                    if found.first.is_some() && area.until_first_error {
                        window.close(Halt::FirstError);
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
                    window.close(Halt::Failed(error));
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
        halt = window.reason.take().or(reason);
        upto = window.upto;
        if matches!(halt, None | Some(Halt::Stopped))
            && let Some(save) = saved(upto, tally, Moment::End)
            && let Err(silence) = pool.run(save)
        {
            halt = halt.or(Some(silence.into()));
        }
        if halt.is_some() {
            break;
        }
    }
    tell(meter.progress(tally.counts.lost()));
    Ended { pass: meter.finish(), upto, refused: Vec::new(), halt }
}

pub(crate) fn piece(pool: &Pool, task: Task) -> Result<Arc<dyn Piece>, Halt> {
    if pool.stopped() {
        return Err(Halt::Stopped);
    }
    pool.give(task);
    match pool.wait(false, &mut || {})? {
        Answer::Piece(result) => result.map_err(Into::into),
        _ => Err(Halt::Failed(io::ErrorKind::Other.into())),
    }
}

/// The chunks of a file that are in flight.
struct Window {
    start: u64,
    /// Where the pass ends in the file.
    bytes: u64,
    next: u64,
    depth: usize,
    in_flight: usize,
    /// Everything before this byte of the whole is done.
    upto: u64,
    beyond: BTreeMap<u64, u64>,
    reason: Option<Halt>,
}

impl Window {
    fn new(start: u64, from: u64, end: u64, depth: usize) -> Self {
        let (next, bytes) = (from - start, end - start);
        Self { start, bytes, next, depth, in_flight: 0, upto: from, beyond: BTreeMap::new(), reason: None }
    }

    /// The next chunk to start: where it begins in the file, and its length.
    fn next(&mut self, stopped: bool) -> Option<(u64, usize)> {
        if stopped || self.reason.is_some() || self.in_flight >= self.depth || self.next >= self.bytes {
            return None;
        }
        if self.start + self.next >= self.upto + REACH {
            return None;
        }
        let at = self.next;
        // Chunks end at multiples of their size, whatever they began at.
        let end = (at / CHUNK as u64 + 1) * CHUNK as u64;
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

    /// Starts nothing more, for the first such reason.
    fn close(&mut self, reason: Halt) {
        self.reason.get_or_insert(reason);
    }

    fn complete(&self) -> bool {
        self.upto >= self.start + self.bytes
    }
}
