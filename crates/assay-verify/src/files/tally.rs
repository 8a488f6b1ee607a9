//! What was found so far: counts, map, first loss. It is saved, so that reading can be resumed.

use assay_core::verification::{FirstError, MapCell, SECTOR_BYTES, SectorClass, SectorCounts};
use serde::{Deserialize, Serialize};

use super::format::{classify, intact};

/// Parts of the map: as many as a wide terminal shows in a few lines.
const CELLS: u64 = 256;
const MIB: u64 = 1 << 20;

/// What was found in a chunk, which lies in one cell of the map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) counts: SectorCounts,
    pub(crate) first: Option<FirstError>,
    /// Byte after the last lost sector.
    pub(crate) last_lost_end: u64,
}

impl Found {
    /// Sorts whole sectors that belong at the byte `offset`.
    pub(crate) fn sort(&mut self, data: &[u8], offset: u64) {
        if intact(data, offset) {
            self.counts.add(SectorClass::Good, data.len() as u64 / SECTOR_BYTES);
            return;
        }
        let mut at = offset;
        for sector in data.chunks(SECTOR_BYTES as usize) {
            let (class, holds) = classify(sector, at);
            self.note(class, at, holds);
            at += SECTOR_BYTES;
        }
    }

    /// `bytes` from `offset` cannot be read.
    pub(crate) fn unreadable(&mut self, offset: u64, bytes: u64) {
        for sector in 0..bytes.div_ceil(SECTOR_BYTES) {
            self.note(SectorClass::Unreadable, offset + sector * SECTOR_BYTES, None);
        }
    }

    /// One sector of a class.
    pub(crate) fn note(&mut self, class: SectorClass, offset: u64, holds: Option<u64>) {
        self.counts.add(class, 1);
        if class != SectorClass::Good {
            self.last_lost_end = self.last_lost_end.max(offset + SECTOR_BYTES);
            if self.first.as_ref().is_none_or(|first| first.offset_bytes > offset) {
                self.first = Some(FirstError { offset_bytes: offset, class, holds_offset_bytes: holds });
            }
        }
    }
}

/// All that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    cell_bytes: u64,
    pub(crate) counts: SectorCounts,
    pub(crate) first: Option<FirstError>,
    pub(crate) last_lost_end: u64,
    /// Good sectors since the last lost one, where chunks came in order.
    pub(crate) good_since: u64,
    cells: Vec<SectorCounts>,
    area_bytes: u64,
}

impl Tally {
    /// Nothing found yet in an area of `area_bytes`.
    pub(crate) fn new(area_bytes: u64) -> Self {
        let (cell_bytes, cells) = Self::shape(area_bytes);
        let cells = vec![SectorCounts::default(); cells];
        let counts = SectorCounts::default();
        Self { cell_bytes, counts, first: None, last_lost_end: 0, good_since: 0, cells, area_bytes }
    }

    /// Whether it can have been found on a medium of `whole_bytes`.
    pub(crate) fn is_sound(&self, whole_bytes: u64) -> bool {
        let sectors = |counts: &SectorCounts| {
            let SectorCounts { good, changed, overwritten, corrupted, unreadable } = *counts;
            let all = [good, changed, overwritten, corrupted, unreadable];
            all.into_iter().try_fold(0u64, u64::checked_add)
        };
        let most = self.cell_bytes / SECTOR_BYTES;
        let fits = |cell: &SectorCounts| sectors(cell).is_some_and(|sectors| sectors <= most);
        let area = self.area_bytes;
        area <= whole_bytes
            && (self.cell_bytes, self.cells.len()) == Self::shape(area)
            && self.cells.iter().all(fits)
            && sectors(&self.counts).is_some_and(|sectors| sectors <= area.div_ceil(SECTOR_BYTES))
            && self.last_lost_end <= area.next_multiple_of(SECTOR_BYTES)
            && self.good_since <= area.div_ceil(SECTOR_BYTES)
            && self.first.as_ref().is_none_or(|first| first.offset_bytes < area)
    }

    /// Bytes of a cell and number of cells of an area.
    fn shape(area_bytes: u64) -> (u64, usize) {
        let cell_bytes = area_bytes.div_ceil(CELLS).next_multiple_of(MIB).max(MIB);
        (cell_bytes, area_bytes.div_ceil(cell_bytes) as usize)
    }

    /// Adds a chunk that begins at the byte `offset`.
    pub(crate) fn add(&mut self, offset: u64, found: &Found) {
        self.counts.merge(&found.counts);
        if let Some(cell) = self.cells.get_mut((offset / self.cell_bytes) as usize) {
            cell.merge(&found.counts);
        }
        self.last_lost_end = self.last_lost_end.max(found.last_lost_end);
        let end = offset + found.counts.total() * SECTOR_BYTES;
        self.good_since = match found.last_lost_end {
            0 => self.good_since + found.counts.good,
            lost_end => end.saturating_sub(lost_end) / SECTOR_BYTES,
        };
        if let Some(first) = &found.first
            && self.first.as_ref().is_none_or(|known| known.offset_bytes > first.offset_bytes)
        {
            self.first = Some(first.clone());
        }
    }

    /// Start of the cell of the byte `offset`.
    pub(crate) fn cell_start(&self, offset: u64) -> u64 {
        offset / self.cell_bytes * self.cell_bytes
    }

    /// Starts and ends of the cells of which everything was read and is good.
    pub(crate) fn good_cells(&self) -> impl Iterator<Item = (u64, u64)> {
        let cells: Vec<(u64, u64)> = self
            .map()
            .into_iter()
            .filter(|cell| cell.counts.good * SECTOR_BYTES == cell.bytes)
            .map(|cell| (cell.offset_bytes, cell.offset_bytes + cell.bytes))
            .collect();
        cells.into_iter()
    }

    /// Forgets what was found from the byte `offset` on, the start of a cell.
    pub(crate) fn forget_from(&mut self, offset: u64) {
        self.cells
            .iter_mut()
            .skip((offset / self.cell_bytes) as usize)
            .for_each(|cell| *cell = SectorCounts::default());
        self.counts = SectorCounts::default();
        self.cells.iter().for_each(|cell| self.counts.merge(cell));
        self.first.take_if(|first| first.offset_bytes >= offset);
        if self.last_lost_end > offset {
            // Where in its cell the last loss before lies was not kept.
            let lost = self.cells.iter().rposition(|cell| cell.lost() > 0);
            self.last_lost_end = lost.map_or(0, |cell| (cell as u64 + 1) * self.cell_bytes);
        }
        self.good_since = (offset - self.last_lost_end) / SECTOR_BYTES;
    }

    /// Sectors of the dense run of losses at the end, with nothing but good ones after it: whole
    /// cells of which at least the share `dense` is corrupted.
    pub(crate) fn missing_at_end(&self, dense: f64) -> u64 {
        let share = |cell: &SectorCounts| cell.corrupted as f64 / cell.total() as f64;
        let read = self.cells.iter().rev().skip_while(|cell| cell.lost() == 0);
        // In the last cell, good sectors may follow the losses.
        let (mut missing, mut last) = (0, true);
        for cell in read.filter(|cell| cell.total() > 0) {
            if !last && share(cell) < dense {
                break;
            }
            missing += cell.corrupted;
            last = false;
        }
        missing
    }

    /// The map.
    pub(crate) fn map(&self) -> Vec<MapCell> {
        let starts = (0..).map(|index| index * self.cell_bytes);
        self.cells
            .iter()
            .zip(starts)
            .map(|(counts, start)| MapCell {
                offset_bytes: start,
                bytes: self.cell_bytes.min(self.area_bytes - start),
                counts: *counts,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::fill;

    #[test]
    fn counts_map_and_first_loss_agree() {
        let mut tally = Tally::new(600 * MIB);
        let mut data = vec![0; MIB as usize];
        for chunk in (0..600).rev() {
            let offset = chunk * MIB;
            let mut found = Found::default();
            match chunk {
                300 => found.unreadable(offset, MIB),
                7 => {
                    fill(&mut data, offset);
                    data[1024] ^= 1;
                    data[2048..2560].fill(0);
                    fill(&mut data[4096..4608], 99 * MIB);
                    found.sort(&data, offset);
                }
                _ => found.counts.add(SectorClass::Good, 2048),
            }
            tally.add(offset, &found);
        }
        let expected =
            SectorCounts { good: 599 * 2048 - 3, changed: 0, overwritten: 1, corrupted: 2, unreadable: 2048 };
        assert_eq!(tally.counts, expected);
        let first = tally.first.clone().unwrap();
        assert_eq!((first.offset_bytes, first.class), (7 * MIB + 1024, SectorClass::Corrupted));
        assert_eq!(tally.last_lost_end, 301 * MIB);
        assert_eq!(tally.missing_at_end(0.9), 0, "what errs is not missing");
        let map = tally.map();
        assert_eq!(map.iter().map(|cell| cell.bytes).sum::<u64>(), 600 * MIB);
        assert_eq!(map.iter().map(|cell| cell.counts.total()).sum::<u64>(), tally.counts.total());
        let cell = map.iter().find(|cell| cell.counts.unreadable > 0).unwrap();
        assert_eq!(cell.offset_bytes, 300 * MIB);
    }
}
