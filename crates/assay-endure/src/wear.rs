//! The loop: each step does one slice and then logs it. Nothing of a slice counts before that, except failures in a slice that
//! is still being read, while other places of the medium could be read.

mod again;
mod keeping;
mod reading;
mod rested;

use std::ops::Range;
use std::time::Instant;

use assay_core::endurance::{FailureKind, LifeEnd, WearLoad};

use crate::entry::{Entry, Run, SliceRead, SliceWritten};
use crate::journal::JournalError;
use crate::layout::{CHUNK, Layout, PAGE_BYTES, PAGE_SECTORS, Phase, SLICES, Task, block_at, chunks};
use crate::log::Keep;
use crate::map::{COLUMNS, HEALED, column};
use crate::medium::{Fault, Medium, Refused, Trouble};
use crate::resting::Clock;
use crate::sentinel::{self, Looked, Readings};
use crate::state::State;
use again::{AGAIN, Again, PATIENCE};

/// Runs of failures that are logged before the slice is done, so that memory stays bounded.
const MOST_RUNS: usize = 10_000;
/// More writes than a medium takes before it answers.
const MOST_REFUSALS: u32 = 16;

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A slice is done.
    Done(Task),
    /// The medium cannot go on; nothing of the slice counts.
    Trouble(Trouble),
    /// The caller stopped it; nothing of the slice counts.
    Stopped,
    /// It is over.
    Ended(LifeEnd),
}

/// Why a slice was left.
enum Left {
    Trouble(Trouble),
    Stopped,
    Log(JournalError),
}

impl Left {
    fn into_step(self) -> Result<Step, JournalError> {
        match self {
            Self::Trouble(trouble) => Ok(Step::Trouble(trouble)),
            Self::Stopped => Ok(Step::Stopped),
            Self::Log(error) => Err(error),
        }
    }
}

impl From<JournalError> for Left {
    fn from(error: JournalError) -> Self {
        Self::Log(error)
    }
}

/// A test under way.
#[derive(Debug)]
pub struct Wear<M, K> {
    medium: M,
    keep: K,
    state: State,
    wanted: Vec<u8>,
    found: Vec<u8>,
    /// A page of the slice under way that took a write, where no other place is known to hold anything.
    accepted: Option<u64>,
    /// Whether the medium was compared with the log since it was attached.
    compared: bool,
    /// Writes that failed and were not written again yet.
    refusals: Vec<Refused>,
    /// Readings and writings that were tried again.
    reread: Again,
    rewrote: Again,
    clock: Clock,
}

/// What reading a slice has found so far.
struct Reading {
    first_cell: u64,
    counts: Vec<[u32; COLUMNS]>,
    failures: Vec<Run>,
    transient: u64,
    healed: u64,
}

impl<M: Medium, K: Keep> Wear<M, K> {
    /// Goes on from a state.
    pub fn new(medium: M, keep: K, state: State) -> Self {
        let buffer = || vec![0; (CHUNK * PAGE_BYTES) as usize];
        Self {
            medium,
            keep,
            state,
            wanted: buffer(),
            found: buffer(),
            accepted: None,
            compared: false,
            refusals: Vec::new(),
            reread: Again::default(),
            rewrote: Again::default(),
            clock: Clock::default(),
        }
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The medium.
    pub fn medium(&mut self) -> &mut M {
        &mut self.medium
    }

    /// The medium and the log, to go on with later.
    pub fn into_parts(self) -> (M, K, State) {
        (self.medium, self.keep, self.state)
    }

    /// Goes on with the medium after it was attached anew.
    pub fn attach(&mut self, medium: M) {
        self.medium = medium;
        self.compared = false;
    }

    /// Logs an entry that is no slice.
    ///
    /// # Errors
    /// Where the log cannot be written.
    pub fn note(&mut self, entry: &Entry) -> Result<(), JournalError> {
        self.keep.append(entry)?;
        self.state.apply(entry);
        Ok(())
    }

    /// Does the next slice. `goes_on` receives the bytes done in it, and returns whether to go on.
    ///
    /// # Errors
    /// Where the log cannot be written.
    pub fn step(&mut self, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<Step, JournalError> {
        if self.state.end() != LifeEnd::Running {
            return Ok(Step::Ended(self.state.end()));
        }
        let task = self.state.task();
        if !self.compared {
            let page = &mut self.found[..PAGE_BYTES as usize];
            if sentinel::holds_later(&mut self.medium, &self.state, task, page) {
                return Ok(Step::Trouble(Trouble::LogBehind));
            }
            if task.phase == Phase::Write && task.index > 0 {
                match self.put_back(task) {
                    Ok(()) => {}
                    Err(left) => return left.into_step(),
                }
            }
            self.compared = true;
        }
        let done = match task.phase {
            Phase::Write => self.write(task, goes_on),
            Phase::Read => self.read(task, goes_on),
        };
        match done {
            Ok(()) if self.state.end() != LifeEnd::Running => Ok(Step::Ended(self.state.end())),
            Ok(()) => Ok(Step::Done(task)),
            Err(left) => left.into_step(),
        }
    }

    /// Whether the medium holds what was written, at places that should.
    pub fn look(&mut self) -> Option<Trouble> {
        let task = self.state.task();
        let page = &mut self.found[..PAGE_BYTES as usize];
        match sentinel::look(&mut self.medium, &self.state, task, Readings::Several, page) {
            Looked::Trouble(trouble) => Some(trouble),
            Looked::Holds => None,
        }
    }

    // Writing.

    fn write(&mut self, task: Task, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<(), Left> {
        let began = Instant::now();
        self.accepted = None;
        self.rewrote.fade();
        self.refusals.clear();
        self.medium.latencies();
        let (bytes, mut refused) = match self.state.layout().load {
            WearLoad::RandomSync { .. } => self.write_blocks(task, goes_on)?,
            WearLoad::Whole | WearLoad::Other => self.write_slice(task, goes_on)?,
        };
        refused += self.synced(task)?;
        let (elapsed_ns, latencies) = (began.elapsed().as_nanos() as u64, self.medium.latencies());
        self.taken(task)?;
        let at = self.clock.now();
        self.finish(&Entry::Written(SliceWritten { task, bytes, elapsed_ns, latencies, refused, at }))
    }

    fn write_slice(&mut self, task: Task, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<(u64, u64), Left> {
        let pages = self.state.layout().slice(task.slice(self.state.layout().unit));
        let mut refused = 0;
        for (start, end) in chunks(&pages) {
            if !goes_on((start - pages.start) * PAGE_BYTES) {
                return Err(Left::Stopped);
            }
            refused += self.write_pages(task, start..end)?;
        }
        Ok(((pages.end - pages.start) * PAGE_BYTES, refused))
    }

    fn write_blocks(&mut self, task: Task, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<(u64, u64), Left> {
        let Layout { unit, pages, .. } = *self.state.layout();
        let places = pages * task.index / SLICES..pages * (task.index + 1) / SLICES;
        let mut refused = 0;
        for place in places.clone() {
            if !goes_on((place - places.start) * PAGE_BYTES) {
                return Err(Left::Stopped);
            }
            let page = block_at(unit, task.cycle, place, pages);
            refused += self.write_pages(task, page..page + 1)?;
            refused += self.synced(task)?;
        }
        Ok(((places.end - places.start) * PAGE_BYTES, refused))
    }

    /// Sectors that were refused.
    fn write_pages(&mut self, task: Task, pages: Range<u64>) -> Result<u64, Left> {
        let bytes = ((pages.end - pages.start) * PAGE_BYTES) as usize;
        self.rewrote.looked_at(pages.end - pages.start);
        let mut refused = 0;
        loop {
            sentinel::fill(self.state.layout(), pages.start, task.cycle, &mut self.wanted[..bytes]);
            let Err(failed) = self.medium.write(pages.start * PAGE_BYTES, &self.wanted[..bytes]) else {
                self.accepted = Some(pages.start);
                return Ok(refused);
            };
            refused += self.refused(task, failed)?;
            if failed.offset == pages.start * PAGE_BYTES && failed.bytes as usize == bytes {
                return Ok(refused);
            }
        }
    }

    /// Waits until all is written; sectors that were refused.
    fn synced(&mut self, task: Task) -> Result<u64, Left> {
        let (mut refused, mut flushes) = (0, 0);
        while let Some(failed) = self.refusals.pop().or_else(|| self.medium.sync().err()) {
            if failed.bytes == 0 {
                flushes += 1;
                self.holds(task, failed.fault, Readings::Several)?;
                if flushes > AGAIN {
                    return Err(Left::Trouble(Trouble::RefusesWrites));
                }
                continue;
            }
            refused += self.refused(task, failed)?;
        }
        Ok(refused)
    }

    /// Writes again what was refused: as a whole, then page by page where the medium takes writes elsewhere.
    fn refused(&mut self, task: Task, failed: Refused) -> Result<u64, Left> {
        self.holds(task, failed.fault, Readings::Several)?;
        // Others that were handed over fail for themselves.
        for _ in 0..MOST_REFUSALS {
            match self.medium.sync() {
                Err(other) if other.bytes > 0 => self.refusals.push(other),
                _ => break,
            }
        }
        let pages = failed.offset / PAGE_BYTES..(failed.offset + failed.bytes).div_ceil(PAGE_BYTES);
        if self.rewritten(task, pages.clone())? {
            return Ok(0);
        }
        let page = &mut self.found[..PAGE_BYTES as usize];
        let takes = sentinel::takes_writes(&mut self.medium, &self.state, task, page);
        let accepted = self.accepted;
        // In the first cycle few places are known, and a medium that takes few writes may refuse those.
        let takes = match (takes, accepted) {
            (Some(true), _) => true,
            (_, Some(page)) if !pages.contains(&page) && self.rewritten(task, page..page + 1)? => true,
            _ => self.takes_elsewhere(task)?,
        };
        if !takes {
            return Err(Left::Trouble(Trouble::RefusesWrites));
        }
        let refused = self.written_by_page(task, pages)?;
        self.holds(task, Fault::Errs, Readings::Several)?;
        Ok(refused)
    }

    /// Writes pages one by one, and refused ones again; returns the number of sectors that were refused each time.
    fn written_by_page(&mut self, task: Task, pages: Range<u64>) -> Result<u64, Left> {
        let (mut left, began) = (pages.collect::<Vec<u64>>(), Instant::now());
        let of_slice = self.state.layout().pages / SLICES + left.len() as u64;
        for tries in 0.. {
            let late = began.elapsed() > PATIENCE;
            if left.is_empty() || tries > if late { AGAIN } else { self.rewrote.tries(of_slice) } {
                break;
            }
            let mut refused = Vec::new();
            for page in &left {
                if !self.rewritten(task, *page..page + 1)? {
                    refused.push(*page);
                }
            }
            if tries > 0 {
                self.rewrote.passed(left.len() - refused.len(), tries);
            }
            left = refused;
        }
        Ok(left.len() as u64 * PAGE_SECTORS)
    }

    /// Whether pages take their content.
    fn rewritten(&mut self, task: Task, pages: Range<u64>) -> Result<bool, Left> {
        let bytes = ((pages.end - pages.start) * PAGE_BYTES) as usize;
        sentinel::fill(self.state.layout(), pages.start, task.cycle, &mut self.wanted[..bytes]);
        let done = self.medium.write(pages.start * PAGE_BYTES, &self.wanted[..bytes]);
        match done.and_then(|()| self.medium.sync()) {
            Ok(()) => Ok(true),
            Err(Refused { fault: Fault::Gone, .. }) => Err(Left::Trouble(Trouble::Gone)),
            Err(Refused { fault: Fault::Hung, .. }) => Err(Left::Trouble(Trouble::Hung)),
            Err(_) => Ok(false),
        }
    }

    /// Leaves the slice if the whole medium fails, not one place.
    fn holds(&mut self, task: Task, fault: Fault, readings: Readings) -> Result<(), Left> {
        match fault {
            Fault::Gone => return Err(Left::Trouble(Trouble::Gone)),
            Fault::Hung => return Err(Left::Trouble(Trouble::Hung)),
            Fault::Errs | Fault::ReadOnly => {}
        }
        let page = &mut self.found[..PAGE_BYTES as usize];
        match sentinel::look(&mut self.medium, &self.state, task, readings, page) {
            Looked::Holds => Ok(()),
            Looked::Trouble(trouble) => Err(Left::Trouble(trouble)),
        }
    }

    // Reading.

    fn read(&mut self, task: Task, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<(), Left> {
        let began = Instant::now();
        self.medium.latencies();
        self.reread.fade();
        let slice = task.slice(self.state.layout().unit);
        let (pages, cells) = (self.state.layout().slice(slice), self.state.layout().cells_of(slice));
        let counts = vec![[0; COLUMNS]; (cells.end - cells.start) as usize];
        let mut reading = Reading { first_cell: cells.start, counts, failures: Vec::new(), transient: 0, healed: 0 };
        self.read_slice(task, goes_on, &mut reading, &mut |wear, reading| {
            if reading.failures.len() > MOST_RUNS {
                let entry = Entry::Failures(task, std::mem::take(&mut reading.failures));
                wear.finish(&entry)?;
            }
            Ok(wear.state.end() == LifeEnd::Running)
        })?;
        if self.state.end() != LifeEnd::Running {
            return Ok(());
        }
        let maps = self.state.maps(task.cycle);
        let changes = if maps { self.state.map().changes(reading.first_cell, &reading.counts) } else { Vec::new() };
        let (elapsed_ns, latencies) = (began.elapsed().as_nanos() as u64, self.medium.latencies());
        self.finish(&Entry::Read(SliceRead {
            task,
            bytes: (pages.end - pages.start) * PAGE_BYTES,
            elapsed_ns,
            latencies,
            transient: reading.transient,
            healed: reading.healed,
            failures: reading.failures,
            changes,
            at: self.clock.now(),
        }))
    }

    /// Counts failures by cell, what fails for the first time, and what holds again.
    fn count(&self, pages: Range<u64>, runs: &[Run], reading: &mut Reading) {
        let (layout, failed) = (self.state.layout(), self.state.failed());
        let mut page = pages.start;
        while page < pages.end {
            let cell = layout.cell_of(page);
            let end = layout.cell(cell).end.min(pages.end);
            let sectors = page * PAGE_SECTORS..end * PAGE_SECTORS;
            let Some(counts) = reading.counts.get_mut((cell - reading.first_cell) as usize) else { return };
            let mut still = 0;
            let inside = |run: &Run| {
                let part = run.sectors.start.max(sectors.start)..run.sectors.end.min(sectors.end);
                (part.start < part.end).then_some((part, run.kind))
            };
            for (part, kind) in runs.iter().filter_map(inside) {
                counts[column(kind)] += (part.end - part.start) as u32;
                still += failed.count(part);
            }
            let healed = failed.count(sectors).saturating_sub(still);
            counts[HEALED] += healed as u32;
            reading.healed += healed;
            page = end;
        }
        for run in runs {
            if failed.count(run.sectors.clone()) == 0 {
                push(&mut reading.failures, run.sectors.clone(), run.kind);
                continue;
            }
            for sector in run.sectors.clone().filter(|sector| failed.count(*sector..sector + 1) == 0) {
                push(&mut reading.failures, sector..sector + 1, run.kind);
            }
        }
    }

    /// Logs a slice, and then counts it.
    fn finish(&mut self, entry: &Entry) -> Result<(), Left> {
        self.keep.append(entry)?;
        self.state.apply(entry);
        Ok(())
    }
}

/// Adds a run, which goes on from the last where it can.
fn push(runs: &mut Vec<Run>, sectors: Range<u64>, kind: FailureKind) {
    match runs.last_mut() {
        Some(last) if last.kind == kind && last.sectors.end == sectors.start => last.sectors.end = sectors.end,
        _ => runs.push(Run { sectors, kind }),
    }
}
