//! The load: a fill of the area, then writers that overwrite places until the medium is gone. What is about to be written is
//! in the ledger before, what was acknowledged after.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_endure::{Fault, Medium, SECTOR, Stamp};
use assay_engine::AlignedBuffer;

use crate::layout::{BLOCK, Batch, Draw, GROUP, Piece, SECTORS};
use crate::ledger::{Ledger, LedgerError};
use crate::place::Place;
use crate::round::{LoadEnd, Mode};

/// Bytes of one write of a fill.
const CHUNK: u64 = 1 << 20;
/// Between two looks at the writers.
const LOOK: Duration = Duration::from_millis(20);

/// Why writing ended.
#[derive(Debug)]
pub enum Stop {
    /// The medium.
    Medium(Fault),
    /// The ledger.
    Ledger(LedgerError),
    /// The user, or another writer.
    Asked,
}

impl Stop {
    /// As the ledger has it.
    #[must_use]
    pub fn end(&self) -> LoadEnd {
        match self {
            Self::Medium(Fault::Gone) => LoadEnd::Gone,
            Self::Medium(Fault::Errs) => LoadEnd::Errs,
            Self::Medium(Fault::ReadOnly) => LoadEnd::ReadOnly,
            Self::Medium(Fault::Hung) => LoadEnd::Hung,
            Self::Ledger(_) => LoadEnd::NoLedger,
            Self::Asked => LoadEnd::Stopped,
        }
    }
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

fn locked(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the content of a block.
fn stamp(unit: u64, number: u64, block: u64, bytes: &mut [u8]) {
    for (sector, address) in bytes.chunks_exact_mut(SECTOR).zip(block * SECTORS as u64..) {
        Stamp { unit, round: number, address }.fill(sector);
    }
}

/// Writes the base of a round: one number to all places of the load and to older data that are not known any more, and
/// syncs. Places whose content is not known are written and synced once before, so that a lost base leaves older content
/// of this test. `progress` gets the bytes that were written, and says whether to go on.
///
/// # Errors
/// Where the medium or the ledger fails, or `progress` ends it.
pub fn fill(
    medium: &mut dyn Medium,
    ledger: &Mutex<Ledger>,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Stop> {
    let (unknown, all) = {
        let ledger = locked(ledger);
        (ledger.state().unknown(), ledger.state().to_fill())
    };
    let mut before = 0;
    for runs in [unknown, all] {
        fill_runs(medium, ledger, &runs, &mut |bytes| progress(before + bytes))?;
        before += runs.iter().map(|(_, length)| length * BLOCK).sum::<u64>();
    }
    Ok(())
}

fn fill_runs(
    medium: &mut dyn Medium,
    ledger: &Mutex<Ledger>,
    runs: &[(u64, u64)],
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Stop> {
    if runs.is_empty() {
        return Ok(());
    }
    let (unit, round, number) = {
        let mut ledger = locked(ledger);
        let (unit, round) = (ledger.state().layout().unit, ledger.state().rounds());
        let number = ledger.intend_fill(round, runs.to_vec())?;
        (unit, round, number)
    };
    let mut buffer = vec![0; CHUNK as usize];
    let mut blocks = 0;
    for (start, length) in runs {
        for from in (*start..start + length).step_by((CHUNK / BLOCK) as usize) {
            let count = (CHUNK / BLOCK).min(start + length - from);
            let bytes = &mut buffer[..(count * BLOCK) as usize];
            for (place, block) in bytes.chunks_exact_mut(BLOCK as usize).zip(from..) {
                stamp(unit, number, block, place);
            }
            if let Err(refused) = medium.write(from * BLOCK, bytes) {
                // Writes that were handed over before come to their end: none may meet a later fill.
                let settled = medium.sync().err().map(|refused| refused.fault);
                return Err(Stop::Medium(settled.filter(|fault| *fault == Fault::Hung).unwrap_or(refused.fault)));
            }
            blocks += count;
            if !progress(blocks * BLOCK) {
                return Err(Stop::Asked);
            }
        }
    }
    medium.sync().map_err(|refused| Stop::Medium(refused.fault))?;
    locked(ledger).acknowledge(round, number, 1)?;
    Ok(())
}

/// What a writer does next. `first` is the number of the first block of the batch.
#[derive(Debug)]
enum Stage {
    Draw,
    Write {
        batch: Batch,
        piece: usize,
        first: u64,
    },
    Sync {
        batch: Batch,
        first: u64,
    },
    /// Keeps that these pieces were acknowledged.
    Acknowledge {
        batch: Batch,
        pieces: Range<usize>,
        first: u64,
    },
}

/// One writer. Each step is one operation on the medium or on the ledger.
#[derive(Debug)]
pub struct Writer {
    draw: Draw,
    unit: u64,
    round: u32,
    buffer: AlignedBuffer,
    stage: Stage,
}

impl Writer {
    /// Writer `number` of the round under way.
    ///
    /// # Errors
    /// Where the host has no memory for it.
    pub fn new(ledger: &Ledger, number: u64) -> std::io::Result<Self> {
        let state = ledger.state();
        let (layout, begun, round) = (state.layout(), state.begun(), state.rounds());
        let draw = Draw::new(layout, (number, begun.writers), u64::from(round), &begun.modes);
        let buffer = AlignedBuffer::new((GROUP * BLOCK) as usize)?;
        Ok(Self { draw, unit: layout.unit, round, buffer, stage: Stage::Draw })
    }

    /// Does one operation.
    ///
    /// # Errors
    /// Why the load is over.
    pub fn step(&mut self, place: &dyn Place, ledger: &Mutex<Ledger>) -> Result<(), Stop> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Draw) {
            Stage::Draw => {
                let batch = self.draw.batch();
                let first = locked(ledger).intend(self.round, batch.mode, batch.blocks())?;
                Stage::Write { batch, piece: 0, first }
            }
            Stage::Write { batch, piece, first } => {
                self.write(place, &batch, piece, first)?;
                match batch.mode {
                    Mode::Dsync => Stage::Acknowledge { batch, pieces: piece..piece + 1, first },
                    _ => after(batch, piece + 1, first),
                }
            }
            Stage::Sync { batch, first } => {
                place.sync(batch.mode).map_err(Stop::Medium)?;
                let pieces = 0..batch.pieces.len();
                Stage::Acknowledge { batch, pieces, first }
            }
            Stage::Acknowledge { batch, pieces, first } => {
                let count = blocks(&batch.pieces[pieces.clone()]);
                locked(ledger).acknowledge(self.round, first + blocks(&batch.pieces[..pieces.start]), count)?;
                if pieces.end < batch.pieces.len() { after(batch, pieces.end, first) } else { Stage::Draw }
            }
        };
        Ok(())
    }

    fn write(&mut self, place: &dyn Place, batch: &Batch, piece: usize, first: u64) -> Result<(), Stop> {
        let part = batch.pieces[piece];
        let numbers = first + blocks(&batch.pieces[..piece])..;
        let bytes = &mut self.buffer.as_mut_slice()[..(part.blocks * BLOCK) as usize];
        for ((content, block), number) in bytes.chunks_exact_mut(BLOCK as usize).zip(part.block..).zip(numbers) {
            stamp(self.unit, number, block, content);
        }
        place.write(part.block * BLOCK, bytes, batch.mode).map_err(Stop::Medium)
    }
}

/// What follows when the pieces before this one are written.
fn after(batch: Batch, piece: usize, first: u64) -> Stage {
    if piece < batch.pieces.len() { Stage::Write { batch, piece, first } } else { Stage::Sync { batch, first } }
}

fn blocks(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.blocks).sum()
}

/// Writers at work, one thread each.
#[derive(Debug)]
pub struct Load {
    threads: Vec<JoinHandle<Stop>>,
    halt: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
}

impl Load {
    /// Begins the load of the round under way.
    ///
    /// # Errors
    /// Where the host has no memory or threads.
    pub fn begin(place: &Arc<dyn Place>, ledger: &Arc<Mutex<Ledger>>) -> std::io::Result<Self> {
        let mut load = Self { threads: Vec::new(), halt: Arc::default(), steps: Arc::default() };
        let writers = locked(ledger).state().begun().writers;
        for number in 0..writers {
            let mut writer = Writer::new(&locked(ledger), number)?;
            let (place, ledger) = (Arc::clone(place), Arc::clone(ledger));
            let (halt, steps) = (Arc::clone(&load.halt), Arc::clone(&load.steps));
            let work = move || {
                let stop = loop {
                    if halt.load(Ordering::Relaxed) {
                        break Stop::Asked;
                    }
                    if let Err(stop) = writer.step(&*place, &ledger) {
                        break stop;
                    }
                    steps.fetch_add(1, Ordering::Relaxed);
                };
                // One writer that meets the end is enough.
                halt.store(true, Ordering::Relaxed);
                stop
            };
            load.threads.push(std::thread::Builder::new().name("powercut".to_owned()).spawn(work)?);
        }
        Ok(load)
    }

    /// Waits until the load is over: a writer met an end, none came forward within `hang_after`, or `goes_on` says no. Returns
    /// how it ended, and the writers that are still at work.
    pub fn wait(self, hang_after: Duration, goes_on: &mut dyn FnMut() -> bool) -> (LoadEnd, Leftover) {
        let (mut seen, mut moved) = (0, Instant::now());
        let mut asked = false;
        loop {
            let steps = self.steps.load(Ordering::Relaxed);
            if steps != seen {
                (seen, moved) = (steps, Instant::now());
            }
            let done = self.threads.iter().all(JoinHandle::is_finished);
            if done || moved.elapsed() >= hang_after {
                let (stops, left) = self.stops();
                let first = stops.iter().map(Stop::end).find(|end| *end != LoadEnd::Stopped);
                let end = first.unwrap_or(if done || asked { LoadEnd::Stopped } else { LoadEnd::Hung });
                return (end, left);
            }
            if !asked && !goes_on() {
                asked = true;
                self.halt.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Why the writers that are done are done, and the others.
    fn stops(self) -> (Vec<Stop>, Leftover) {
        self.halt.store(true, Ordering::Relaxed);
        let (done, left): (Vec<_>, Vec<_>) = self.threads.into_iter().partition(JoinHandle::is_finished);
        (done.into_iter().filter_map(|thread| thread.join().ok()).collect(), Leftover(left))
    }
}

/// Writers that wait for an operation that does not end. Until it does, it may still write.
#[derive(Debug, Default)]
pub struct Leftover(Vec<JoinHandle<Stop>>);

impl Leftover {
    /// Whether nothing of the load can write any more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.iter().all(JoinHandle::is_finished)
    }
}
