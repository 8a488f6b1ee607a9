//! The findings so far: counts, map, first loss. They are saved, so that reading can be resumed.

use assay_core::verification::{FirstError, MapCell, SECTOR_BYTES, SectorClass, SectorCounts};
use serde::{Deserialize, Serialize};

use super::content::{Content, SeenContent};

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
pub(crate) struct ChunkFindings {
    pub(crate) counts: SectorCounts,
    pub(crate) first: Option<FirstError>,
    /// Sectors that hold an earlier write of this check.
    pub(crate) stale: u64,
    runs: Vec<LostPart>,
    aliases: Vec<Alias>,
}

impl ChunkFindings {
    /// Classifies whole sectors for the byte `offset`.
    pub(crate) fn sort(&mut self, content: &Content, data: &[u8], offset: u64) {
        if content.intact(data, offset) {
            self.counts.add(SectorClass::Good, data.len() as u64 / SECTOR_BYTES);
            return;
        }
        let mut at = offset;
        for sector in data.chunks(SECTOR_BYTES as usize) {
            let seen = content.classify(sector, at);
            self.stale += u64::from(seen == SeenContent::Stale);
            let holds = if let SeenContent::Overwritten(holds) = seen { Some(holds) } else { None };
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
                    runs.push(LostPart::new(at, start, run.class));
                }
                if start < end {
                    runs.push(LostPart::new(start, end, SectorClass::Unreadable));
                    self.counts.take(run.class, (end - start) / SECTOR_BYTES);
                    self.counts.add(SectorClass::Unreadable, (end - start) / SECTOR_BYTES);
                }
                at = at.max(end);
            }
            if at < run.end {
                runs.push(LostPart::new(at, run.end, run.class));
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
            _ => self.runs.push(LostPart::new(offset, offset + SECTOR_BYTES, class)),
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
    pub(crate) fn add(&mut self, offset: u64, found: &ChunkFindings) {
        let end = offset + found.counts.total() * SECTOR_BYTES;
        match self.tested.last_mut() {
            Some(last) if last.1 == offset => last.1 = end,
            _ => self.tested.push((offset, end)),
        }
        self.merge(offset, found);
    }

    /// Adds the findings of a part that was good before, and was written and read again.
    pub(crate) fn again(&mut self, offset: u64, found: &ChunkFindings) {
        let sectors = found.counts.total();
        self.counts.good = self.counts.good.saturating_sub(sectors);
        if let Some(cell) = self.cells.get_mut((offset / self.cell_bytes) as usize) {
            cell.good = cell.good.saturating_sub(sectors);
        }
        self.merge(offset, found);
    }

    fn merge(&mut self, offset: u64, found: &ChunkFindings) {
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

// The lost parts of the area: to the sector, or in coarser steps if there are many.

/// Most runs that are kept. A fake has a few. A medium with errors all over has no useful map, and is described in
/// coarser steps.
const MOST: usize = 4096;
/// No medium needs coarser steps than these.
const MOST_GRAIN: u64 = 1 << 40;

/// Whether these are starts and ends in order, within `end`.
pub(super) fn are_parts(parts: &[(u64, u64)], end: u64) -> bool {
    let ordered = parts.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    ordered && parts.iter().all(|(start, stop)| start < stop && *stop <= end)
}

/// Whether a medium returns other data than were written, without an error.
pub(super) fn is_silent(class: SectorClass) -> bool {
    matches!(class, SectorClass::Corrupted | SectorClass::Overwritten)
}

/// Lost bytes in a part that is not lost as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Lost without an error of the medium, see [`is_silent`].
    pub(crate) silent: u64,
    /// Lost otherwise.
    pub(crate) other: u64,
}

impl Counted {
    fn all(class: SectorClass, bytes: u64) -> Self {
        if is_silent(class) { Self { silent: bytes, other: 0 } } else { Self { silent: 0, other: bytes } }
    }

    pub(super) fn plus(self, more: Self) -> Self {
        Self { silent: self.silent.saturating_add(more.silent), other: self.other.saturating_add(more.other) }
    }

    pub(crate) fn lost(self) -> u64 {
        self.silent.saturating_add(self.other)
    }
}

/// A part of the area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostPart {
    /// Byte offset of its start.
    pub(crate) start: u64,
    /// Byte offset of its end.
    pub(crate) end: u64,
    /// Class of the part. In a step that is only partly lost, the class of most of its losses.
    pub(crate) class: SectorClass,
    /// What is lost in it; `None` if all of it is of its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counted: Option<Counted>,
}

impl LostPart {
    /// A part that is all of one class.
    pub(crate) fn new(start: u64, end: u64, class: SectorClass) -> Self {
        Self { start, end, class, counted: None }
    }

    /// Whether all of it is of its class.
    pub(crate) fn is_whole(&self) -> bool {
        self.counted.is_none()
    }

    /// What is lost in it.
    pub(crate) fn counted(&self) -> Counted {
        match (self.counted, self.class) {
            (Some(counted), _) => counted,
            (None, SectorClass::Good) => Counted::default(),
            (None, class) => Counted::all(class, self.end - self.start),
        }
    }

    /// What is lost in the bytes `from..to` of it: a proportional share, if not all of it is lost.
    pub(crate) fn counted_in(&self, from: u64, to: u64) -> Counted {
        let whole = u128::from(self.end.saturating_sub(self.start).max(1));
        let upto = |bytes: u64, at: u64| {
            let share = u128::from(bytes) * u128::from(at.saturating_sub(self.start)) / whole;
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let part = |bytes: u64| (upto(bytes, to) - upto(bytes, from)).min(to - from);
        let Counted { silent, other } = self.counted();
        let silent = part(silent);
        Counted { silent, other: part(other).min(to - from - silent) }
    }

    /// Adds the counts of `other`, which lies within it.
    fn with(self, other: &Self) -> Self {
        let counted = self.counted().plus(other.counted());
        let class = if other.counted().lost() > self.counted().lost() { other.class } else { self.class };
        let bytes = self.end - self.start;
        let whole = counted == Counted::all(class, bytes);
        Self { class, counted: (!whole).then_some(counted), ..self }
    }

    fn is_sound(&self) -> bool {
        self.counted.is_none_or(|counted| (1..=self.end.saturating_sub(self.start)).contains(&counted.lost()))
    }
}

/// Lost parts in order. Adjacent parts of one class are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// Starts and ends are multiples of this many bytes. A part of this length may contain good sectors too; lost bytes
    /// are counted then.
    grain: u64,
    runs: Vec<LostPart>,
}

impl Default for Lost {
    fn default() -> Self {
        Self { grain: SECTOR_BYTES, runs: Vec::new() }
    }
}

impl Lost {
    /// The parts, in order.
    pub(crate) fn runs(&self) -> &[LostPart] {
        &self.runs
    }

    /// Whether starts and ends are known to the sector.
    pub(crate) fn is_exact(&self) -> bool {
        self.grain == SECTOR_BYTES
    }

    /// Whether it is possible for an area of `end` bytes.
    pub(crate) fn is_sound(&self, end: u64) -> bool {
        let parts: Vec<(u64, u64)> = self.runs.iter().map(|run| (run.start, run.end)).collect();
        let grain = self.grain.is_power_of_two() && (SECTOR_BYTES..=MOST_GRAIN).contains(&self.grain);
        let counted = self.runs.iter().all(LostPart::is_sound);
        grain && self.runs.len() <= MOST && are_parts(&parts, end.next_multiple_of(self.grain)) && counted
    }

    /// Whether the byte `offset` lies in a part that is mostly lost.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        let next = self.runs.partition_point(|run| run.end <= offset);
        let within = self.runs.get(next).filter(|run| run.start <= offset);
        within.is_some_and(|run| run.counted().lost() * 2 > run.end - run.start)
    }

    /// Adds a part that was not lost before.
    pub(crate) fn add(&mut self, run: LostPart) {
        self.put(run);
        if self.runs.len() > MOST {
            self.coarsen();
        }
    }

    /// Adds a part. Whole steps are added as they are; parts of a step are added to its counts.
    fn put(&mut self, run: LostPart) {
        let grain = self.grain;
        let first = run.start.next_multiple_of(grain).min(run.end);
        let last = (run.end / grain * grain).max(first);
        for (start, end) in [(run.start, first), (first, last), (last, run.end)] {
            if start == end {
                continue;
            }
            let inside = LostPart { start, end, ..run };
            let step = LostPart { start: start / grain * grain, end: end.next_multiple_of(grain), ..inside };
            let counted = Some(inside.counted()).filter(|counted| counted.lost() < step.end - step.start);
            self.insert(LostPart { counted, ..step });
        }
    }

    /// Adds whole steps.
    fn insert(&mut self, run: LostPart) {
        let at = self.runs.partition_point(|other| other.end <= run.start);
        match self.runs.get_mut(at) {
            // A lost part is not counted twice.
            Some(there) if there.start < run.end && there.is_whole() => return,
            Some(there) if there.start < run.end => *there = there.with(&run),
            _ => self.runs.insert(at, run),
        }
        self.join(at.saturating_sub(1), at + 2);
    }

    /// Joins adjacent runs of one class in `from..to`.
    fn join(&mut self, from: usize, to: usize) {
        let mut at = from;
        let mut left = to.min(self.runs.len()).saturating_sub(from);
        while left > 1 {
            let (this, next) = (self.runs[at], self.runs[at + 1]);
            if next.start == this.end && next.class == this.class && this.is_whole() && next.is_whole() {
                self.runs[at].end = next.end;
                self.runs.remove(at + 1);
            } else {
                at += 1;
            }
            left -= 1;
        }
    }

    fn coarsen(&mut self) {
        while self.runs.len() > MOST / 2 && self.grain < MOST_GRAIN {
            self.grain *= 2;
            std::mem::take(&mut self.runs).into_iter().for_each(|run| self.put(run));
        }
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
            let mut found = ChunkFindings::default();
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

    fn run(start: u64, end: u64, class: SectorClass) -> LostPart {
        LostPart::new(start * 512, end * 512, class)
    }

    #[test]
    fn runs_are_joined_whatever_the_order() {
        let mut lost = Lost::default();
        let (corrupted, changed) = (SectorClass::Corrupted, SectorClass::Changed);
        for (start, end, class) in [(4, 5, corrupted), (8, 9, corrupted), (5, 8, corrupted), (9, 10, changed)] {
            lost.add(run(start, end, class));
        }
        assert_eq!(lost.runs(), [run(4, 9, corrupted), run(9, 10, changed)]);
        lost.add(run(0, 4, corrupted));
        assert_eq!(lost.runs(), [run(0, 9, corrupted), run(9, 10, changed)]);
        assert!(lost.contains(0) && lost.contains(10 * 512 - 1) && !lost.contains(10 * 512));
    }

    #[test]
    fn memory_is_bounded_and_what_is_lost_is_counted() {
        let mut lost = Lost::default();
        for at in 0..100_000 {
            lost.add(run(at * 7, at * 7 + 1, SectorClass::Corrupted));
        }
        assert!(lost.runs().len() <= MOST && lost.is_sound(700_000 * 512));
        let within = |at: u64| lost.runs().iter().any(|run| run.start <= at && at < run.end);
        assert!((0..100_000).all(|at| within(at * 7 * 512)));
        assert!(lost.runs().windows(2).all(|pair| pair[0].end <= pair[1].start));
        // Six in seven are good in any part, and no more is called lost than was.
        let counted: u64 = lost.runs().iter().map(|run| run.counted().silent).sum();
        assert_eq!(counted, 100_000 * 512);
        assert!(lost.runs().iter().all(|run| run.counted().lost() * 6 < run.end - run.start));
        assert!(!lost.contains(0));
    }

    /// A long part remains exact to a step, however many small ones there are beside it, and each class is counted.
    #[test]
    fn a_long_part_beside_many_small_ones_is_told_to_the_step() {
        let mut lost = Lost::default();
        lost.add(run(700_001, 900_000, SectorClass::Corrupted));
        for at in 0..100_000 {
            let class = if at % 2 == 0 { SectorClass::Corrupted } else { SectorClass::Unreadable };
            lost.add(run(at * 7, at * 7 + 1, class));
        }
        let last = lost.runs().iter().max_by_key(|run| run.end - run.start).unwrap();
        assert!(last.is_whole() && last.start - 700_001 * 512 < lost.grain && last.end > 900_000 * 512 - lost.grain);
        let (silent, other) = lost.runs().iter().fold((0, 0), |(silent, other), run| {
            let counted = run.counted();
            (silent + counted.silent, other + counted.other)
        });
        assert_eq!((silent / 512, other / 512), (50_000 + 199_999, 50_000));
        assert!(lost.contains(800_000 * 512) && lost.is_sound(900_000 * 512));
    }
}
