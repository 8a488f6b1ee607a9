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
    cells: Vec<SectorCounts>,
    area_bytes: u64,
}

impl Tally {
    /// Nothing found yet in an area of `area_bytes`.
    pub(crate) fn new(area_bytes: u64) -> Self {
        let cell_bytes = area_bytes.div_ceil(CELLS).next_multiple_of(MIB).max(MIB);
        let cells = vec![SectorCounts::default(); area_bytes.div_ceil(cell_bytes) as usize];
        Self { cell_bytes, counts: SectorCounts::default(), first: None, last_lost_end: 0, cells, area_bytes }
    }

    /// Adds a chunk that begins at the byte `offset`.
    pub(crate) fn add(&mut self, offset: u64, found: &Found) {
        self.counts.merge(&found.counts);
        if let Some(cell) = self.cells.get_mut((offset / self.cell_bytes) as usize) {
            cell.merge(&found.counts);
        }
        self.last_lost_end = self.last_lost_end.max(found.last_lost_end);
        if let Some(first) = &found.first
            && self.first.as_ref().is_none_or(|known| known.offset_bytes > first.offset_bytes)
        {
            self.first = Some(first.clone());
        }
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
        let map = tally.map();
        assert_eq!(map.iter().map(|cell| cell.bytes).sum::<u64>(), 600 * MIB);
        assert_eq!(map.iter().map(|cell| cell.counts.total()).sum::<u64>(), tally.counts.total());
        let cell = map.iter().find(|cell| cell.counts.unreadable > 0).unwrap();
        assert_eq!(cell.offset_bytes, 300 * MIB);
    }
}
