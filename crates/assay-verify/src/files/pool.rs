//! A few threads: some generate or compare while others wait for the medium.
//!
//! All calls that may block are made here. A thread whose medium never answers is abandoned.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assay_core::outcome::RunFailure;
use assay_engine::{AlignedBuffer, Control, Timeout};

use super::content::Content;
use super::directory::failure_of;
use super::medium::{Medium, Piece};
use super::tally::ChunkFindings;

/// Bytes of one operation: at least what a card writes at its best speed, and small enough to stay
/// in a second-level cache between generation and copy.
pub(crate) const CHUNK: usize = 1 << 20;
/// Operations in flight: one is generated or compared while others keep the bus busy.
pub(crate) const DEPTH: usize = 4;
/// After this many consecutive chunks that failed in all their parts, a chunk is only tried as a whole. A region of
/// gibibytes with a second for each error would otherwise take years.
const HOPELESS: u32 = 8;
/// How long a stop waits for operations in flight.
const AFTER_STOP: Duration = Duration::from_secs(10);

/// A sync may have a whole cache to write, so it gets this many times the time of a hang.
const SYNC: u32 = 4;
const SECTOR: usize = assay_core::verification::SECTOR_BYTES as usize;

type Anything = Box<dyn FnOnce() -> io::Result<()> + Send>;

pub(crate) enum Task {
    Make { number: u64, bytes: u64 },
    Open { number: u64 },
    Write { part: Part, content: Arc<Content> },
    Read { part: Part, content: Arc<Content> },
    Do(Anything),
}

/// A part of a file.
pub(crate) struct Part {
    pub(crate) piece: Arc<dyn Piece>,
    /// Byte offset in the file.
    pub(crate) at: u64,
    /// Length in bytes, at most [`CHUNK`].
    pub(crate) bytes: usize,
    /// Byte offset in the whole.
    pub(crate) offset: u64,
}

pub(crate) enum Answer {
    Piece(io::Result<Arc<dyn Piece>>),
    /// Starts and ends of what could not be written after all attempts.
    Written {
        offset: u64,
        bytes: u64,
        result: io::Result<Vec<(u64, u64)>>,
    },
    Read {
        offset: u64,
        bytes: u64,
        result: io::Result<ChunkFindings>,
    },
    Done(io::Result<()>),
}

/// Why waiting ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It took longer than a hang.
    Hung,
    /// A stop was requested, and operations in flight did not end.
    Stopped,
}

pub(crate) struct Pool {
    tasks: Sender<Task>,
    answers: Receiver<Answer>,
    beat: Arc<AtomicU64>,
    read_bytes: Arc<AtomicU64>,
    hang_after: Duration,
    control: Control,
}

impl Pool {
    pub(crate) fn new(medium: Arc<dyn Medium>, hang_after: Duration, control: &Control) -> io::Result<Self> {
        let (tasks, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let (sender, answers) = channel();
        let (beat, hopeless) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU32::new(0)));
        let read_bytes = Arc::new(AtomicU64::new(0));
        for _ in 0..DEPTH {
            let mut worker = Worker {
                buffer: AlignedBuffer::new(CHUNK)?,
                medium: Arc::clone(&medium),
                beat: Arc::clone(&beat),
                read_bytes: Arc::clone(&read_bytes),
                hopeless: Arc::clone(&hopeless),
                control: control.clone(),
            };
            let (receiver, sender) = (Arc::clone(&receiver), sender.clone());
            let begun = std::thread::Builder::new().name("verify".to_owned()).spawn(move || {
                loop {
                    let task = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(task) = task else { return };
                    if sender.send(worker.run(task)).is_err() {
                        return;
                    }
                }
            });
            begun.map_err(|error| io::Error::new(error.kind(), format!("no thread could be made: {error}")))?;
        }
        Ok(Self { tasks, answers, beat, read_bytes, hang_after, control: control.clone() })
    }

    pub(crate) fn give(&self, task: Task) {
        // The workers live as long as the sender.
        let _ = self.tasks.send(task);
    }

    /// Waits for the next answer, and calls `idle` meanwhile. The time limit is longer while a sync may hold up
    /// everything else.
    pub(crate) fn wait(&self, syncing: bool, idle: &mut dyn FnMut()) -> Result<Answer, Silence> {
        self.wait_for(self.hang_after * if syncing { SYNC } else { 1 }, idle)
    }

    fn wait_for(&self, timeout: Duration, idle: &mut dyn FnMut()) -> Result<Answer, Silence> {
        let (mut beat, mut silence) = (self.beat.load(Ordering::Relaxed), Timeout::new(timeout));
        loop {
            match self.answers.recv_timeout(Duration::from_millis(50)) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::Hung),
                Err(RecvTimeoutError::Timeout) => idle(),
            }
            let now = self.beat.load(Ordering::Relaxed);
            if now != beat {
                beat = now;
                silence.restart();
            }
            if silence.expired() {
                return Err(Silence::Hung);
            }
            if self.control.stopped() && silence.waited() > AFTER_STOP {
                return Err(Silence::Stopped);
            }
        }
    }

    /// Runs `work`, which may block, with nothing else in flight.
    pub(crate) fn run(
        &self,
        work: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<io::Result<()>, Silence> {
        self.give(Task::Do(Box::new(work)));
        loop {
            if let Answer::Done(result) = self.wait(true, &mut || {})? {
                return Ok(result);
            }
        }
    }

    /// Total bytes read, counting each reading.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Adds bytes that were read by work of [`Self::run`].
    pub(crate) fn note_read(&self, bytes: u64) {
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.control.stopped()
    }

    /// The control, which knows when the process was stopped.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }
}

struct Worker {
    buffer: AlignedBuffer,
    medium: Arc<dyn Medium>,
    beat: Arc<AtomicU64>,
    read_bytes: Arc<AtomicU64>,
    hopeless: Arc<AtomicU32>,
    control: Control,
}

impl Worker {
    fn run(&mut self, task: Task) -> Answer {
        match task {
            Task::Make { number, bytes } => Answer::Piece(self.medium.make(number, bytes)),
            Task::Open { number } => Answer::Piece(self.medium.open(number)),
            Task::Do(work) => Answer::Done(work()),
            Task::Write { part, content } => {
                let result = self.write(&part, &content);
                Answer::Written { offset: part.offset, bytes: part.bytes as u64, result }
            }
            Task::Read { part, content } => {
                let result = self.read(&part, &content);
                Answer::Read { offset: part.offset, bytes: part.bytes as u64, result }
            }
        }
    }

    fn write(&mut self, part: &Part, content: &Content) -> io::Result<Vec<(u64, u64)>> {
        let Part { piece, at, bytes, offset } = part;
        let (piece, at, bytes, offset) = (piece.as_ref(), *at, *bytes, *offset);
        let grain = self.grain(piece, bytes);
        let (medium, beat) = (Arc::clone(&self.medium), Arc::clone(&self.beat));
        let data = &mut self.buffer.as_mut_slice()[..bytes];
        content.fill(data, offset);
        let mut lost = Vec::new();
        by_pieces(
            bytes,
            grain,
            &beat,
            &self.control,
            &mut |from, length| there(medium.as_ref(), piece.write_at(&data[from..from + length], at + from as u64)),
            &mut |from, length| lost.push((offset + from as u64, offset + (from + length) as u64)),
        )?;
        self.judge(lost.iter().map(|(start, end)| end - start).sum::<u64>() == bytes as u64);
        Ok(lost)
    }

    fn read(&mut self, part: &Part, content: &Content) -> io::Result<ChunkFindings> {
        let Part { piece, at, bytes, offset } = part;
        let (piece, at, bytes, offset) = (piece.as_ref(), *at, *bytes, *offset);
        let mut found = ChunkFindings::default();
        let mut lost = 0;
        let grain = self.grain(piece, bytes);
        let (medium, beat) = (Arc::clone(&self.medium), Arc::clone(&self.beat));
        let read_bytes = Arc::clone(&self.read_bytes);
        let data = self.buffer.as_mut_slice();
        // Direct reads are whole blocks. A file of another tool may end within a block.
        let aligned = bytes.next_multiple_of(piece.grain()).min(data.len());
        let mut work = |from: usize, length: usize| {
            let end = if from + length == bytes { aligned } else { from + length };
            let part = &mut data[from..end];
            read_bytes.fetch_add(length as u64, Ordering::Relaxed);
            let read = there(medium.as_ref(), piece.read_at(part, at + from as u64))?.min(length);
            let (whole, start) = (read / SECTOR * SECTOR, offset + from as u64);
            found.sort(content, &part[..whole], start);
            found.unreadable(start + whole as u64, (length - whole) as u64);
            Ok(())
        };
        let mut bad: Vec<(usize, usize)> = Vec::new();
        by_pieces(bytes, grain, &beat, &self.control, &mut work, &mut |from, length| bad.push((from, length)))?;
        for (from, length) in bad {
            lost += length;
            found.unreadable(offset + from as u64, length as u64);
        }
        self.judge(lost == bytes);
        Ok(found)
    }

    /// Smallest piece to try.
    fn grain(&self, piece: &dyn Piece, bytes: usize) -> usize {
        if self.hopeless.load(Ordering::Relaxed) >= HOPELESS { bytes } else { piece.grain() }
    }

    fn judge(&self, all_lost: bool) {
        if all_lost {
            self.hopeless.fetch_add(1, Ordering::Relaxed);
        } else {
            self.hopeless.store(0, Ordering::Relaxed);
        }
    }
}

/// Replaces any error of a medium that has gone, whatever number the kernel gave it.
fn there<T>(medium: &dyn Medium, result: io::Result<T>) -> io::Result<T> {
    match result {
        // A block device that has lost its capacity answers "no space".
        Err(_) if medium.gone() => Err(crate::sys::gone()),
        other => other,
    }
}

// Maps a part of the medium with errors piece by piece, instead of ending the check.

/// Factor between the sizes of pieces at each step: 1 MiB, 64 KiB, 4 KiB, and finally 512 bytes.
const STEP: usize = 16;
/// Drives retry a bad sector for seconds. What could not be read of a chunk within this time after its first error is
/// lost.
const RETRY_LIMIT: Duration = Duration::from_secs(10);

/// Whether the error concerns only this place.
fn local(error: &io::Error) -> bool {
    failure_of(error) == RunFailure::IoError
}

/// Runs `work` on `bytes` from 0. Where it fails, it runs on ever smaller pieces, down to `grain`, and pieces that
/// still fail are passed to `lost`. Every attempt increments `beat`.
///
/// # Errors
/// The first error that concerns the whole medium.
pub(crate) fn by_pieces(
    bytes: usize,
    grain: usize,
    beat: &AtomicU64,
    control: &Control,
    work: &mut dyn FnMut(usize, usize) -> io::Result<()>,
    lost: &mut dyn FnMut(usize, usize),
) -> io::Result<()> {
    let mut since = None;
    pieces(0, bytes, grain.max(1), &mut |from, length| {
        let result = work(from, length);
        beat.fetch_add(1, Ordering::Relaxed);
        match result {
            Ok(()) => Ok(Tried::Done),
            Err(error) if !local(&error) => Err(error),
            Err(_) => {
                // Time in which this process was stopped does not count for the medium.
                let since = since.get_or_insert_with(|| control.now());
                if length > grain && control.elapsed(since) <= RETRY_LIMIT {
                    return Ok(Tried::Divide);
                }
                lost(from, length);
                Ok(Tried::Done)
            }
        }
    })
}

enum Tried {
    Done,
    Divide,
}

fn pieces(
    from: usize,
    bytes: usize,
    grain: usize,
    work: &mut dyn FnMut(usize, usize) -> io::Result<Tried>,
) -> io::Result<()> {
    if matches!(work(from, bytes)?, Tried::Done) {
        return Ok(());
    }
    let step = (bytes / STEP).next_multiple_of(grain).max(grain);
    let mut at = 0;
    while at < bytes {
        let length = step.min(bytes - at);
        pieces(from + at, length, grain, work)?;
        at += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bad: std::ops::Range<usize>, errno: i32) -> (io::Result<()>, Vec<(usize, usize)>, u64) {
        let (beat, mut lost) = (AtomicU64::new(0), Vec::new());
        let mut work = |from: usize, length: usize| {
            if from < bad.end && from + length > bad.start {
                return Err(io::Error::from_raw_os_error(errno));
            }
            Ok(())
        };
        let result = by_pieces(1 << 20, 512, &beat, &Control::default(), &mut work, &mut |from, length| {
            lost.push((from, length))
        });
        (result, lost, beat.into_inner())
    }

    #[test]
    fn only_the_bad_sectors_are_lost() {
        let (result, lost, tries) = run(70_000..70_001, 5);
        assert!(result.is_ok());
        assert_eq!(lost, [(70_000 / 512 * 512, 512)]);
        assert!(tries < 60, "{tries}");
    }

    #[test]
    fn an_error_of_the_whole_medium_ends_it() {
        // EROFS; ERROR_WRITE_PROTECT.
        let number = if cfg!(windows) { 19 } else { 30 };
        let (result, lost, tries) = run(0..1 << 20, number);
        assert_eq!(result.unwrap_err().raw_os_error(), Some(number));
        assert!(lost.is_empty() && tries == 1);
    }
}
