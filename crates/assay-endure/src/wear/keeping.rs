//! Whether a medium keeps what is written to it: where a place does not, other places are tried.

use std::collections::BTreeSet;
use std::time::Instant;

use assay_core::endurance::FailureKind;

use super::again::AGAIN;
use super::{Left, Wear};
use crate::layout::{Layout, PAGE_BYTES, PAGE_SECTORS, SLICES, Task};
use crate::log::Keep;
use crate::medium::{Fault, Medium, Refused, Trouble};
use crate::sentinel::{self, Readings};
use crate::stamp::{SECTOR, Stamp, mixed};

/// Pages of a slice that are tried where what was written last does not hold, and how many times as many are looked at.
const SAMPLES: usize = 8;
const SPREAD: usize = 4;
/// How often a page is written back. A way that fails half of its writes fails 20 in a row once in a million times.
const MOST_BACK: u32 = 20;
/// Draws for each wanted page of the area.
const DRAWS: usize = 8;
/// Most pages at the end of a slice among which one that never failed is looked for.
const MOST_SAMPLES: usize = 1024;

/// What a page does with content that is written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    /// It was accepted, and is not there.
    No,
    Refused,
}

impl<M: Medium, K: Keep> Wear<M, K> {
    /// Leaves the slice where the medium accepts writes and keeps none. One reading of what was written last is enough where
    /// it holds. Else it may be that place alone which fails, so that other places are written and read. Nothing that does not
    /// hold is written again: reading finds it.
    pub(super) fn taken(&mut self, task: Task) -> Result<(), Left> {
        let layout = *self.state.layout();
        let last = self.state.layout().written_by(task).rev().take(MOST_SAMPLES).find(|page| self.is_fine(*page));
        let Some(last) = last else { return Ok(()) };
        for _ in 0..=AGAIN {
            if self.holds_page(layout, last, task.cycle)? {
                return Ok(());
            }
        }
        let mut accepted = false;
        // What is written later in this cycle holds nothing that counts.
        for index in task.index + 1..SLICES {
            for page in self.samples(Task { index, ..task }) {
                match self.keeps(task, page)? {
                    Kept::Yes => return Ok(()),
                    Kept::No => accepted = true,
                    Kept::Refused => {}
                }
            }
        }
        // Then places that hold what was written, of this slice first: it is written again after a kill.
        for index in (0..=task.index).rev() {
            for page in self.samples(Task { index, ..task }) {
                match self.keeps_and_holds(task, page)? {
                    Some(Kept::Yes) => return Ok(()),
                    Some(Kept::No) => accepted = true,
                    Some(Kept::Refused) | None => {}
                }
            }
        }
        // A medium may keep one place in a hundred, anywhere.
        let began = Instant::now();
        for (index, page) in self.anywhere(task) {
            if began.elapsed() > sentinel::PATIENCE {
                break;
            }
            let kept = if index > task.index {
                Some(self.keeps(task, page)?)
            } else {
                self.keeps_and_holds(Task { index, ..task }, page)?
            };
            if kept == Some(Kept::Yes) {
                return Ok(());
            }
        }
        self.holds(task, Fault::Errs, Readings::Several)?;
        Err(Left::Trouble(if accepted { Trouble::DropsWrites } else { Trouble::RefusesWrites }))
    }

    fn is_fine(&self, page: u64) -> bool {
        self.state.failed().count(page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS) == 0
    }

    /// Distinct pages of the whole area that never failed, each with the index of its slice in the order of writing.
    fn anywhere(&self, task: Task) -> impl Iterator<Item = (u64, u64)> + use<M, K> {
        let layout = *self.state.layout();
        let mut pages = BTreeSet::new();
        let mut places = Vec::new();
        for draw in 0..(DRAWS * sentinel::MORE) as u64 {
            let drawn = mixed(layout.unit ^ !draw, task.cycle * SLICES + task.index);
            let slice = Task { index: drawn % SLICES, ..task };
            let numbers = layout.numbers_of(slice);
            let number = numbers.start + drawn / SLICES % (numbers.end - numbers.start);
            let page = layout.page_of(slice, number);
            if self.is_fine(page) && pages.insert(page) {
                places.push((slice.index, page));
            }
            if places.len() == sentinel::MORE {
                break;
            }
        }
        places.into_iter()
    }

    /// Puts back pages of earlier slices in which a look that was killed left other content.
    pub(super) fn put_back(&mut self, task: Task) -> Result<(), Left> {
        let samples = (0..task.index).flat_map(|index| self.samples(Task { index, ..task })).collect::<Vec<_>>();
        let anywhere = self.anywhere(task).filter(|(index, _)| *index < task.index).map(|(_, page)| page);
        let tried = Layout { unit: Stamp::tried(self.state.layout().unit), ..*self.state.layout() };
        let began = Instant::now();
        for page in samples.into_iter().chain(anywhere) {
            if began.elapsed() > sentinel::PATIENCE {
                break;
            }
            if self.holds_page(tried, page, task.cycle)? {
                self.is_back(task, page)?;
            }
        }
        Ok(())
    }

    /// Writes what a page held before; whether it took it.
    fn is_back(&mut self, task: Task, page: u64) -> Result<bool, Left> {
        for _ in 0..MOST_BACK {
            if self.rewritten(task, page..page + 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Some pages of a slice, spread over it, that never failed.
    fn samples(&self, task: Task) -> Vec<u64> {
        self.spread(task, SPREAD * SAMPLES).take(SAMPLES).collect()
    }

    /// Pages of a slice that never failed, of this many to twice as many that are spread over it.
    fn spread(&self, task: Task, count: usize) -> impl Iterator<Item = u64> + use<M, K> {
        let all = self.state.layout().pages / SLICES;
        let step = (all as usize / count).max(1);
        let spread = self.state.layout().written_by(task).step_by(step).take(2 * count);
        spread.filter(|page| self.is_fine(*page)).collect::<Vec<_>>().into_iter()
    }

    /// What a page that holds what was written does with other content. What was written is put back; a page that does not take
    /// it again keeps nothing. `None` where it does not hold.
    fn keeps_and_holds(&mut self, task: Task, page: u64) -> Result<Option<Kept>, Left> {
        let layout = *self.state.layout();
        if !self.holds_page(layout, page, task.cycle)? {
            return Ok(None);
        }
        let kept = self.keeps(task, page)?;
        let back = kept == Kept::Refused || self.is_back(task, page)?;
        Ok(Some(if kept == Kept::Yes && !back { Kept::No } else { kept }))
    }

    /// Whether a page keeps other content, which is left there.
    fn keeps(&mut self, task: Task, page: u64) -> Result<Kept, Left> {
        let layout = *self.state.layout();
        let other = Layout { unit: Stamp::tried(layout.unit), ..layout };
        sentinel::fill(&other, page, task.cycle, &mut self.wanted[..PAGE_BYTES as usize]);
        let written = self.medium.write(page * PAGE_BYTES, &self.wanted[..PAGE_BYTES as usize]);
        match written.and_then(|()| self.medium.sync()) {
            Ok(()) if self.holds_page(other, page, task.cycle)? => Ok(Kept::Yes),
            Ok(()) => Ok(Kept::No),
            Err(Refused { fault: Fault::Gone, .. }) => Err(Left::Trouble(Trouble::Gone)),
            Err(Refused { fault: Fault::Hung, .. }) => Err(Left::Trouble(Trouble::Hung)),
            Err(_) => Ok(Kept::Refused),
        }
    }

    /// Whether the first sector of a page holds its stamp.
    fn holds_page(&mut self, layout: Layout, page: u64, round: u64) -> Result<bool, Left> {
        let found = &mut self.found[..PAGE_BYTES as usize];
        match self.medium.read(page * PAGE_BYTES, found) {
            Err(Fault::Gone) => Err(Left::Trouble(Trouble::Gone)),
            Err(Fault::Hung) => Err(Left::Trouble(Trouble::Hung)),
            Err(_) => Ok(false),
            Ok(()) => {
                let stamp = Stamp { unit: layout.unit, round, address: page * PAGE_SECTORS };
                Ok(matches!(stamp.failure(&found[..SECTOR]), None | Some(FailureKind::BitFlips)))
            }
        }
    }

    /// Whether the medium takes writes where no place is known to hold anything: at pages of slices that come later in the cycle,
    /// else at pages of earlier ones that hold what was written.
    pub(super) fn takes_elsewhere(&mut self, task: Task) -> Result<bool, Left> {
        for index in task.index + 1..SLICES {
            for page in self.samples(Task { index, ..task }) {
                if self.keeps(task, page)? != Kept::Refused {
                    return Ok(true);
                }
            }
        }
        let layout = *self.state.layout();
        for index in 0..task.index {
            for page in self.samples(Task { index, ..task }) {
                if self.holds_page(layout, page, task.cycle)? && self.rewritten(task, page..page + 1)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
