//! Data loss after a time.

use std::collections::HashMap;
use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;
use foldhash::fast::FixedState;

use super::cells::PAGE_SECTORS;

/// Cells that lose their data after a time. Their age is counted for pages of 4 KiB; a write to any part of a page
/// resets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decay {
    /// How long the cells hold data.
    pub retention: Retention,
    /// Affected byte addresses of the memory.
    pub range: Range<u64>,
}

/// How long cells hold data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// For this many read operations (read disturb).
    Reads(u32),
    /// Until this many further bytes were written anywhere; initial content stays.
    WrittenBytes(u64),
}

/// Age of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Age {
    reads: u32,
    /// Bytes written to the medium before the last write of the page; `None`: never written.
    written_at: Option<u64>,
}

/// State of a [`Decay`].
#[derive(Debug, Clone)]
pub(super) struct Decaying {
    decay: Decay,
    written_bytes: u64,
    ages: HashMap<u64, Age, FixedState>,
}

impl Decaying {
    pub(super) fn new(decay: Decay) -> Self {
        Self { decay, written_bytes: 0, ages: HashMap::default() }
    }

    pub(super) fn written(&mut self, sector: u64, sectors: u64) {
        self.written_bytes += sectors * SECTOR_BYTES;
        for page in sector / PAGE_SECTORS..(sector + sectors).div_ceil(PAGE_SECTORS) {
            if self.concerns(page) {
                self.ages.insert(page, Age { reads: 0, written_at: Some(self.written_bytes) });
            }
        }
    }

    /// Counts a read of `page`.
    pub(super) fn read(&mut self, page: u64) {
        if self.concerns(page) {
            let age = self.ages.entry(page).or_default();
            age.reads = age.reads.saturating_add(1);
        }
    }

    /// Whether `page` has lost its data.
    pub(super) fn is_lost(&self, page: u64) -> bool {
        let age = self.ages.get(&page).copied().unwrap_or_default();
        self.concerns(page) && self.lost_at(age)
    }

    /// Pages that have lost their data.
    pub(super) fn lost_pages(&self) -> impl Iterator<Item = u64> {
        self.ages.iter().filter(|(_, age)| self.lost_at(**age)).map(|(page, _)| *page)
    }

    fn lost_at(&self, age: Age) -> bool {
        match self.decay.retention {
            Retention::Reads(most) => age.reads >= most,
            Retention::WrittenBytes(most) => age.written_at.is_some_and(|then| self.written_bytes - then >= most),
        }
    }

    fn concerns(&self, page: u64) -> bool {
        self.decay.range.contains(&(page * PAGE_SECTORS * SECTOR_BYTES))
    }
}
