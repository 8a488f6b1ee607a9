//! The sectors that failed at least once, in bounded memory.

use std::ops::Range;

use crate::layout::{CELLS, Layout, PAGE_SECTORS};

/// Bytes of memory for the set. Above it, the largest cells forget which sector of eight it was.
const BUDGET: usize = 12_000_000;

/// Runs of a cell take one in this many more bytes when they need more.
const GROWTH: usize = 4;

/// The sectors of one cell, counted from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    /// Start and length, in order, with gaps between them.
    Runs(Vec<(u32, u32)>),
    /// A bit for each 2^shift sectors.
    Bits { shift: u32, bits: Vec<u64> },
}

/// The sectors that failed at least once.
#[derive(Debug, Clone)]
pub struct FailedSet {
    layout: Layout,
    cells: Vec<Cell>,
    /// Kept apart, as coarse cells do not tell it.
    sectors: u64,
    budget: usize,
    heap: usize,
}

impl FailedSet {
    /// None yet.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self::within(layout, BUDGET)
    }

    fn within(layout: Layout, budget: usize) -> Self {
        Self { layout, cells: vec![Cell::Runs(Vec::new()); CELLS as usize], sectors: 0, budget, heap: 0 }
    }

    /// How many there are.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.heap + self.cells.len() * size_of::<Cell>()
    }

    /// How many of these sectors are in it.
    #[must_use]
    pub fn count(&self, sectors: Range<u64>) -> u64 {
        self.pieces(sectors).map(|(cell, from, to)| self.cells[cell].count(from, to)).sum()
    }

    /// Adds sectors; how many were not in it.
    pub fn insert(&mut self, sectors: Range<u64>) -> u64 {
        let mut new = 0;
        for (number, from, to) in self.pieces(sectors) {
            let length = self.cell_sectors(number);
            let Some(cell) = self.cells.get_mut(number) else { continue };
            let (before, had) = (cell.heap_bytes(), cell.count(from, to));
            cell.insert(from, to, length);
            new += u64::from(to - from) - had;
            self.heap = self.heap + cell.heap_bytes() - before;
        }
        self.sectors += new;
        while self.heap > self.budget && self.coarsen() {}
        new
    }

    /// The parts of a range by cell.
    fn pieces(&self, sectors: Range<u64>) -> impl Iterator<Item = (usize, u32, u32)> + use<> {
        let (layout, mut at) = (self.layout, sectors.start);
        std::iter::from_fn(move || {
            (at < sectors.end).then(|| {
                let cell = layout.cell_of(at / PAGE_SECTORS);
                let pages = layout.cell(cell);
                let (start, end) = (pages.start * PAGE_SECTORS, sectors.end.min(pages.end * PAGE_SECTORS));
                let piece = (cell as usize, (at - start) as u32, (end - start) as u32);
                at = end;
                piece
            })
        })
    }

    fn cell_sectors(&self, cell: usize) -> u32 {
        let pages = self.layout.cell(cell as u64);
        ((pages.end - pages.start) * PAGE_SECTORS) as u32
    }

    /// Makes the largest cell eight times coarser.
    fn coarsen(&mut self) -> bool {
        let largest = self.cells.iter_mut().max_by_key(|cell| cell.heap_bytes());
        let Some(cell) = largest.filter(|cell| cell.heap_bytes() > 64) else { return false };
        let before = cell.heap_bytes();
        cell.coarsen();
        self.heap = self.heap + cell.heap_bytes() - before;
        cell.heap_bytes() < before
    }
}

impl Cell {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.capacity() * 8,
            Self::Bits { bits, .. } => bits.capacity() * 8,
        }
    }

    fn count(&self, from: u32, to: u32) -> u64 {
        match self {
            Self::Runs(runs) => {
                let first = runs.partition_point(|(start, length)| start + length <= from);
                let reached = runs[first..].iter().take_while(|(start, _)| *start < to);
                reached.map(|(start, length)| u64::from((start + length).min(to) - (*start).max(from))).sum()
            }
            Self::Bits { shift, bits } => {
                let of = |unit: u32| u64::from(to.min((unit + 1) << shift) - from.max(unit << shift));
                let set = |unit: &u32| bits.get(*unit as usize / 64).is_some_and(|word| word >> (unit % 64) & 1 == 1);
                ((from >> shift)..to.div_ceil(1 << shift)).filter(set).map(of).sum()
            }
        }
    }

    fn insert(&mut self, from: u32, to: u32, length: u32) {
        match self {
            Self::Runs(runs) => {
                let first = runs.partition_point(|(start, length)| start + length < from);
                let last = runs.partition_point(|(start, _)| *start <= to);
                let start = runs.get(first).filter(|_| first < last).map_or(from, |run| run.0.min(from));
                let end = last.checked_sub(1).filter(|at| *at >= first).and_then(|at| runs.get(at));
                let end = end.map_or(to, |(start, length)| (start + length).max(to));
                if first == last && runs.len() == runs.capacity() {
                    // Twice as much would be empty for the most part.
                    runs.reserve_exact((runs.len() / GROWTH).max(4));
                }
                runs.splice(first..last, [(start, end - start)]);
                if runs.len() * 8 > length.div_ceil(8) as usize {
                    self.become_bits(length);
                }
            }
            Self::Bits { shift, bits } => {
                for unit in (from >> *shift)..to.div_ceil(1 << *shift) {
                    if let Some(word) = bits.get_mut(unit as usize / 64) {
                        *word |= 1 << (unit % 64);
                    }
                }
            }
        }
    }

    fn become_bits(&mut self, length: u32) {
        let Self::Runs(runs) = self else { return };
        let mut bits = vec![0u64; length.div_ceil(64) as usize];
        for (start, length) in runs.iter() {
            for sector in *start..start + length {
                if let Some(word) = bits.get_mut(sector as usize / 64) {
                    *word |= 1 << (sector % 64);
                }
            }
        }
        *self = Self::Bits { shift: 0, bits };
    }

    fn coarsen(&mut self) {
        match self {
            Self::Runs(runs) => {
                let end = runs.last().map_or(0, |(start, length)| start + length);
                // As coarse as it takes to need half of the memory.
                let fits = |shift: &u32| (end >> shift) as usize / 8 + 8 <= runs.capacity() * 4;
                let shift = (3..30).step_by(3).find(fits).unwrap_or(30);
                let mut coarse = Self::Bits { shift, bits: vec![0; ((end >> shift) as usize + 1).div_ceil(64)] };
                for (start, length) in runs.iter() {
                    coarse.insert(*start, start + length, end);
                }
                *self = coarse;
            }
            Self::Bits { shift, bits } => {
                let units = bits.len() * 8;
                let mut coarse = vec![0u64; units.div_ceil(64)];
                for unit in 0..units {
                    let byte = bits[unit / 8] >> (unit % 8 * 8) & 0xff;
                    coarse[unit / 64] |= u64::from(byte != 0) << (unit % 64);
                }
                *self = Self::Bits { shift: *shift + 3, bits: coarse };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::endurance::WearLoad;

    use super::*;
    use crate::stamp::mixed;

    fn layout(pages: u64) -> Layout {
        Layout { unit: 1, pages, load: WearLoad::Whole }
    }

    #[test]
    fn it_counts_like_a_plain_set() {
        for seed in 0..20 {
            let layout = layout(40_000);
            let mut set = FailedSet::new(layout);
            let mut plain = vec![false; layout.sectors() as usize];
            for step in 0..3000 {
                let start = mixed(seed, step) % layout.sectors();
                let end = (start + 1 + mixed(seed + 100, step) % 90).min(layout.sectors());
                let part = &mut plain[start as usize..end as usize];
                let had = part.iter().filter(|failed| **failed).count() as u64;
                assert_eq!(set.count(start..end), had);
                if step % 3 > 0 {
                    part.fill(true);
                    assert_eq!(set.insert(start..end), end - start - had);
                }
            }
            assert_eq!(set.sectors(), plain.iter().filter(|failed| **failed).count() as u64);
        }
    }

    #[test]
    fn memory_is_bounded_and_what_is_forgotten_is_only_the_place_within_a_page() {
        let layout = layout(1_000_000);
        let mut set = FailedSet::within(layout, 300_000);
        let mut most = 0;
        for step in 0..400_000 {
            let sector = mixed(3, step) % layout.sectors();
            set.insert(sector..sector + 1);
            most = most.max(set.heap);
        }
        assert!(most <= 301_000, "{most}");
        assert!((200_000..400_000).contains(&set.sectors()), "{}", set.sectors());
    }
}
