//! Reading a chunk. Failing pages are read again, between looks at other places; a sector that fails each time has failed.

use std::ops::Range;
use std::time::Instant;

use assay_core::endurance::FailureKind;

use super::again::{AGAIN, PATIENCE};
use super::{Left, Reading, Wear, push};
use crate::entry::Run;
use crate::layout::{PAGE_BYTES, PAGE_SECTORS, SLICES, Task};
use crate::log::Keep;
use crate::map::column;
use crate::medium::{Fault, Medium};
use crate::sentinel::{self, Readings};
use crate::stamp::{SECTOR, Stamp};

const SECTORS: usize = PAGE_SECTORS as usize;
const KINDS: usize = FailureKind::ALL.len();

/// A page that failed.
#[derive(Debug, Clone)]
struct Failing {
    page: u64,
    /// Whether a sector held in a reading.
    holds: [bool; SECTORS],
    /// In how many readings a sector failed in each way.
    seen: [[u8; KINDS]; SECTORS],
}

impl Failing {
    fn new(page: u64) -> Self {
        Self { page, holds: [false; SECTORS], seen: [[0; KINDS]; SECTORS] }
    }

    fn take(&mut self, sector: usize, failure: Option<FailureKind>) {
        match failure {
            None => self.holds[sector] = true,
            Some(kind) => {
                let count = &mut self.seen[sector][column(kind)];
                *count = count.saturating_add(1);
            }
        }
    }

    fn fails(&self) -> bool {
        self.holds.contains(&false)
    }

    /// The most frequent failure of a sector, since the way may err, too; `None` where it held once. Where two are equally
    /// frequent, zeros count before an error, and any other kind before zeros.
    fn kind(&self, sector: usize) -> Option<FailureKind> {
        let rank = |kind: FailureKind| match kind {
            FailureKind::Unreadable => 0,
            FailureKind::Zeros | FailureKind::Ones => 1,
            _ => 2,
        };
        let most = FailureKind::ALL.into_iter().max_by_key(|kind| (self.seen[sector][column(*kind)], rank(*kind)));
        most.filter(|_| !self.holds[sector])
    }

    fn kinds(&self) -> impl Iterator<Item = (u64, FailureKind)> {
        (0..SECTORS).filter_map(|sector| Some((self.page * PAGE_SECTORS + sector as u64, self.kind(sector)?)))
    }

    fn errs(&self) -> bool {
        self.kinds().any(|(_, kind)| kind == FailureKind::Unreadable)
    }
}

/// How pages are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocks {
    /// Where a page gives an error, its blocks are read.
    Each,
    /// The same, where a sector of the page held before.
    OfHeld,
}

impl<M: Medium, K: Keep> Wear<M, K> {
    /// The sectors of a chunk that do not hold, however often they are read.
    pub(super) fn read_chunk(
        &mut self,
        task: Task,
        pages: Range<u64>,
        ahead: Option<(u64, u64)>,
        goes_on: &mut dyn FnMut() -> bool,
        reading: &mut Reading,
    ) -> Result<Vec<Run>, Left> {
        let bytes = ((pages.end - pages.start) * PAGE_BYTES) as usize;
        let answer = self.medium.read(pages.start * PAGE_BYTES, &mut self.found[..bytes]);
        if let Some((start, end)) = ahead {
            self.medium.ahead(start * PAGE_BYTES, ((end - start) * PAGE_BYTES) as usize);
        }
        self.reread.looked_at(pages.end - pages.start);
        let failing = match answer {
            Ok(()) => self.failing(task, pages.clone(), bytes),
            Err(_) => pages.clone().collect(),
        };
        if failing.is_empty() {
            return Ok(Vec::new());
        }
        let first: Vec<_> = if answer.is_ok() { self.kinds_of(task, &failing, pages.start) } else { Vec::new() };
        match answer {
            Ok(()) if first.contains(&FailureKind::OtherDevice) => self.holds(task, Fault::Errs, Readings::Every)?,
            Ok(()) => self.holds(task, Fault::Errs, Readings::Once)?,
            Err(fault) => self.holds(task, fault, Readings::Several)?,
        }
        let mut runs = Vec::new();
        for page in self.failed_pages(task, &pages, failing, answer.is_err(), goes_on)? {
            page.kinds().for_each(|(sector, kind)| push(&mut runs, sector..sector + 1, kind));
        }
        let lost: u64 = runs.iter().map(|run| run.sectors.end - run.sectors.start).sum();
        reading.transient += match answer {
            Ok(()) => (first.len() as u64).saturating_sub(lost),
            // An error does not say how many sectors it concerns: one at least, unless one is still unreadable.
            Err(_) => u64::from(!runs.iter().any(|run| run.kind == FailureKind::Unreadable)),
        };
        Ok(runs)
    }

    /// Pages of the chunk in `found` that do not hold what was written.
    fn failing(&mut self, task: Task, pages: Range<u64>, bytes: usize) -> Vec<u64> {
        sentinel::fill(self.state.layout(), pages.start, task.cycle, &mut self.wanted[..bytes]);
        let page = PAGE_BYTES as usize;
        let pairs = self.found[..bytes].chunks(page).zip(self.wanted[..bytes].chunks(page));
        pages.zip(pairs).filter(|(_, (found, wanted))| found != wanted).map(|(page, _)| page).collect()
    }

    /// The failing sectors of pages of the chunk in `found`.
    fn kinds_of(&self, task: Task, failing: &[u64], first: u64) -> Vec<FailureKind> {
        let unit = self.state.layout().unit;
        let of_page = |page: &u64| {
            let at = ((page - first) * PAGE_BYTES) as usize;
            let sectors = self.found[at..at + PAGE_BYTES as usize].chunks(SECTOR).zip(page * PAGE_SECTORS..);
            let failed = |(sector, address)| Stamp { unit, round: task.cycle, address }.failure(sector);
            sectors.filter_map(failed).collect::<Vec<_>>()
        };
        failing.iter().flat_map(of_page).collect()
    }

    /// Reads failing pages again, as often as [`Again`](super::again::Again) asks for, then looks at other places and reads once
    /// more: a page has failed where it fails before and after other places hold.
    fn failed_pages(
        &mut self,
        task: Task,
        pages: &Range<u64>,
        failing: Vec<u64>,
        erred: bool,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Failing>, Left> {
        let began = Instant::now();
        let mut left: Vec<Failing> = failing.into_iter().map(Failing::new).collect();
        let of_slice = self.state.layout().pages / SLICES + (pages.end - pages.start);
        for tries in 1.. {
            let late = began.elapsed() > PATIENCE;
            if left.is_empty() || tries > if late { AGAIN } else { self.reread.tries(of_slice) } {
                break;
            }
            let before = left.len();
            // A page whose blocks all err is not read by them again: an error may take a second.
            let blocks = if tries == 1 { Blocks::Each } else { Blocks::OfHeld };
            left = self.still_failing(task, left, blocks, began, goes_on)?;
            // After a transfer that erred, the first reading of a page is this one.
            if let Some(tries) = tries.checked_sub(u32::from(erred)).filter(|tries| *tries > 0) {
                self.reread.passed(before - left.len(), tries);
            }
        }
        let how = |errs: bool| if errs { Readings::Several } else { Readings::Once };
        if !left.is_empty() {
            self.holds(task, Fault::Errs, how(erred || left.iter().any(Failing::errs)))?;
            left = self.still_failing(task, left, Blocks::OfHeld, began, goes_on)?;
        }
        if !left.is_empty() {
            self.holds(task, Fault::Errs, how(left.iter().any(Failing::errs)))?;
        }
        Ok(left)
    }

    /// Reads pages once more; those with sectors that did not hold in any reading.
    fn still_failing(
        &mut self,
        task: Task,
        mut pages: Vec<Failing>,
        blocks: Blocks,
        began: Instant,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Failing>, Left> {
        for page in &mut pages {
            if !goes_on() {
                return Err(Left::Stopped);
            }
            let by_block = began.elapsed() < PATIENCE && (blocks == Blocks::Each || page.holds.contains(&true));
            self.read_page(task, by_block, page)?;
        }
        pages.retain(Failing::fails);
        Ok(pages)
    }

    fn read_page(&mut self, task: Task, by_block: bool, failing: &mut Failing) -> Result<(), Left> {
        let unit = self.state.layout().unit;
        let (offset, bytes) = (failing.page * PAGE_BYTES, PAGE_BYTES as usize);
        let block = if by_block { self.medium.block_bytes() as usize } else { bytes };
        let whole = self.medium.read(offset, &mut self.found[..bytes]);
        let step = if whole.is_ok() { bytes } else { block };
        for at in (0..bytes).step_by(step) {
            let sectors = at / SECTOR..(at + step) / SECTOR;
            if failing.holds[sectors.clone()].iter().all(|holds| *holds) {
                continue;
            }
            let answer = match whole {
                Err(Fault::Errs | Fault::ReadOnly) if step < bytes => {
                    self.medium.read(offset + at as u64, &mut self.found[at..at + step])
                }
                whole => whole,
            };
            match answer {
                Err(fault @ (Fault::Gone | Fault::Hung)) => self.holds(task, fault, Readings::Several)?,
                Err(_) => sectors.for_each(|sector| failing.take(sector, Some(FailureKind::Unreadable))),
                Ok(()) => {
                    for (number, sector) in sectors.zip(self.found[at..at + step].chunks(SECTOR)) {
                        let address = failing.page * PAGE_SECTORS + number as u64;
                        failing.take(number, Stamp { unit, round: task.cycle, address }.failure(sector));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_failed_in_the_way_that_was_seen_most_often() {
        let mut page = Failing::new(3);
        for kind in [FailureKind::Zeros, FailureKind::BitFlips, FailureKind::BitFlips, FailureKind::Unreadable] {
            page.take(1, Some(kind));
        }
        [FailureKind::Unreadable, FailureKind::Zeros].into_iter().for_each(|kind| page.take(2, Some(kind)));
        (3..8).for_each(|sector| page.take(sector, None));
        page.take(0, Some(FailureKind::Ones));
        page.take(0, None);
        assert!(page.fails());
        assert_eq!(page.kinds().collect::<Vec<_>>(), [(25, FailureKind::BitFlips), (26, FailureKind::Zeros)]);
    }
}
