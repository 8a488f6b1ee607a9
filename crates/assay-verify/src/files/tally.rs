//! The findings so far: counts, map, first loss. They are saved, so that reading can be resumed.

use assay_core::verification::{FirstError, MapCell, SECTOR_BYTES, SectorClass, SectorCounts};
use serde::{Deserialize, Serialize};

use super::content::{Content, Seen};
use super::lost::{Lost, Run, are_parts};

/// Parts of the map: as many as a wide terminal shows in a few lines.
const CELLS: u64 = 256;
const MIB: u64 = 1 << 20;
/// Most overwritten places for which the offset of their data is kept: enough to find a period.
const ALIASES: usize = 1024;
/// Largest sampling step for such places: twice as many sectors as on any medium.
const MOST_EVERY: u64 = 1 << 56;
/// Most such places of one chunk.
const ALIASES_OF_CHUNK: usize = 4;

/// A place that holds the data of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Alias {
    /// Byte offset of the place.
    pub(crate) at: u64,
    /// Byte offset that its data were written for.
    pub(crate) holds: u64,
}

/// Findings in a chunk, which lies in one cell of the map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) counts: SectorCounts,
    pub(crate) first: Option<FirstError>,
    /// Sectors that hold an earlier write of this check.
    pub(crate) stale: u64,
    runs: Vec<Run>,
    aliases: Vec<Alias>,
}

impl Found {
    /// Classifies whole sectors for the byte `offset`.
    pub(crate) fn sort(&mut self, content: &Content, data: &[u8], offset: u64) {
        if content.intact(data, offset) {
            self.counts.add(SectorClass::Good, data.len() as u64 / SECTOR_BYTES);
            return;
        }
        let mut at = offset;
        for sector in data.chunks(SECTOR_BYTES as usize) {
            let seen = content.classify(sector, at);
            self.stale += u64::from(seen == Seen::Stale);
            let holds = if let Seen::Overwritten(holds) = seen { Some(holds) } else { None };
            self.note(seen.class(), at, holds);
            at += SECTOR_BYTES;
        }
    }

    /// Counts `bytes` from `offset` as unreadable.
    pub(crate) fn unreadable(&mut self, offset: u64, bytes: u64) {
        for sector in 0..bytes.div_ceil(SECTOR_BYTES) {
            self.note(SectorClass::Unreadable, offset + sector * SECTOR_BYTES, None);
        }
    }

    /// Marks losses in these parts as write errors: the medium refused the writes.
    pub(crate) fn refuse(&mut self, refused: &[(u64, u64)]) {
        if self.runs.is_empty() || refused.is_empty() {
            return;
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in std::mem::take(&mut self.runs) {
            let mut at = run.start;
            for &(start, end) in refused.iter().filter(|(start, end)| *start < run.end && *end > run.start) {
                let (start, end) = (start.max(at), end.min(run.end));
                if at < start {
                    runs.push(Run::new(at, start, run.class));
                }
                if start < end {
                    runs.push(Run::new(start, end, SectorClass::Unreadable));
                    self.counts.take(run.class, (end - start) / SECTOR_BYTES);
                    self.counts.add(SectorClass::Unreadable, (end - start) / SECTOR_BYTES);
                }
                at = at.max(end);
            }
            if at < run.end {
                runs.push(Run::new(at, run.end, run.class));
            }
        }
        self.runs = runs;
        if let (Some(first), Some(run)) = (&mut self.first, self.runs.first())
            && run.start == first.offset_bytes
            && run.class == SectorClass::Unreadable
        {
            *first = FirstError { offset_bytes: run.start, class: run.class, holds_offset_bytes: None };
        }
    }

    /// Counts one sector.
    pub(crate) fn note(&mut self, class: SectorClass, offset: u64, holds: Option<u64>) {
        self.counts.add(class, 1);
        if class == SectorClass::Good {
            return;
        }
        if self.first.as_ref().is_none_or(|first| first.offset_bytes > offset) {
            self.first = Some(FirstError { offset_bytes: offset, class, holds_offset_bytes: holds });
        }
        match self.runs.last_mut() {
            Some(last) if last.end == offset && last.class == class => last.end += SECTOR_BYTES,
            _ => self.runs.push(Run::new(offset, offset + SECTOR_BYTES, class)),
        }
        if let Some(holds) = holds {
            let distance = |alias: &Alias| alias.at.wrapping_sub(alias.holds);
            let alias = Alias { at: offset, holds };
            let known = self.aliases.last().is_some_and(|last| distance(last) == distance(&alias));
            if !known && self.aliases.len() < ALIASES_OF_CHUNK {
                self.aliases.push(alias);
            }
        }
    }
}

/// All findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    cell_bytes: u64,
    pub(crate) counts: SectorCounts,
    pub(crate) first: Option<FirstError>,
    cells: Vec<SectorCounts>,
    area_bytes: u64,
    /// Ranges that were read, as starts and ends.
    tested: Vec<(u64, u64)>,
    pub(crate) lost: Lost,
    pub(crate) aliases: Vec<Alias>,
    /// One in this many aliases is kept.
    alias_every: u64,
    aliases_seen: u64,
}

impl Tally {
    /// Without findings, for an area of `area_bytes`.
    pub(crate) fn new(area_bytes: u64) -> Self {
        let (cell_bytes, cells) = Self::shape(area_bytes);
        Self {
            cell_bytes,
            counts: SectorCounts::default(),
            first: None,
            cells: vec![SectorCounts::default(); cells],
            area_bytes,
            tested: Vec::new(),
            lost: Lost::default(),
            aliases: Vec::new(),
            alias_every: 1,
            aliases_seen: 0,
        }
    }

    /// Whether data are at other places than they were written to, without being overwritten: data found at a wrong
    /// place are not at their own place too.
    pub(super) fn is_misaddressed(&self) -> bool {
        let moved = self.aliases.iter().filter(|alias| self.lost.contains(alias.holds)).count();
        self.counts.overwritten > 0 && moved * 2 > self.aliases.len()
    }

    /// Whether it is possible on a medium of `whole_bytes`.
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
            && are_parts(&self.tested, area.next_multiple_of(SECTOR_BYTES))
            && self.lost.is_sound(area.next_multiple_of(SECTOR_BYTES))
            && self.aliases.len() <= ALIASES
            && self.aliases.iter().all(|alias| alias.at < area)
            && (1..=MOST_EVERY).contains(&self.alias_every)
            && self.first.as_ref().is_none_or(|first| first.offset_bytes < area)
    }

    /// Bytes of a cell and number of cells of an area.
    fn shape(area_bytes: u64) -> (u64, usize) {
        let cell_bytes = area_bytes.div_ceil(CELLS).next_multiple_of(MIB).max(MIB);
        (cell_bytes, area_bytes.div_ceil(cell_bytes) as usize)
    }

    /// Adds the findings of a chunk that begins at the byte `offset`.
    pub(crate) fn add(&mut self, offset: u64, found: &Found) {
        let end = offset + found.counts.total() * SECTOR_BYTES;
        match self.tested.last_mut() {
            Some(last) if last.1 == offset => last.1 = end,
            _ => self.tested.push((offset, end)),
        }
        self.merge(offset, found);
    }

    /// Adds the findings of a part that was good before, and was written and read again.
    pub(crate) fn again(&mut self, offset: u64, found: &Found) {
        let sectors = found.counts.total();
        self.counts.good = self.counts.good.saturating_sub(sectors);
        if let Some(cell) = self.cells.get_mut((offset / self.cell_bytes) as usize) {
            cell.good = cell.good.saturating_sub(sectors);
        }
        self.merge(offset, found);
    }

    fn merge(&mut self, offset: u64, found: &Found) {
        self.counts.merge(&found.counts);
        if let Some(cell) = self.cells.get_mut((offset / self.cell_bytes) as usize) {
            cell.merge(&found.counts);
        }
        found.runs.iter().for_each(|run| self.lost.add(*run));
        for alias in &found.aliases {
            self.aliases_seen += 1;
            if self.aliases_seen.is_multiple_of(self.alias_every) {
                self.aliases.push(*alias);
            }
            if self.aliases.len() >= ALIASES {
                let mut index = 0;
                self.aliases.retain(|_| {
                    index += 1;
                    index % 2 == 0
                });
                self.alias_every = self.alias_every.saturating_mul(2).min(MOST_EVERY);
            }
        }
        if let Some(first) = &found.first
            && self.first.as_ref().is_none_or(|known| known.offset_bytes > first.offset_bytes)
        {
            self.first = Some(first.clone());
        }
    }

    /// Ranges that were read, as starts and ends.
    pub(crate) fn tested(&self) -> &[(u64, u64)] {
        &self.tested
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
                    found.sort(&Content::f3(), &data, offset);
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
        let runs: Vec<(u64, u64)> = tally.lost.runs().iter().map(|run| (run.start, run.end)).collect();
        let at = 7 * MIB;
        assert_eq!(
            runs,
            [(at + 1024, at + 1536), (at + 2048, at + 2560), (at + 4096, at + 4608), (300 * MIB, 301 * MIB)]
        );
        assert_eq!(tally.aliases, [Alias { at: at + 4096, holds: 99 * MIB }]);
        let map = tally.map();
        assert_eq!(map.iter().map(|cell| cell.bytes).sum::<u64>(), 600 * MIB);
        assert_eq!(map.iter().map(|cell| cell.counts.total()).sum::<u64>(), tally.counts.total());
        let cell = map.iter().find(|cell| cell.counts.unreadable > 0).unwrap();
        assert_eq!(cell.offset_bytes, 300 * MIB);
    }
}
