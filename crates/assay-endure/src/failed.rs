//! The sectors that failed at least once, in bounded memory.
//!
//! Sectors are kept by parts of 65,536, so that a number within a part takes two bytes. Most failures are single sectors far from
//! each other, which `roaring` keeps as small, but with up to twice the room, and without a form for the coarse parts.

use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of memory for the set. Above it, the largest parts forget which sector of eight it was.
const BUDGET: usize = 7_000_000;
/// Sectors of a part.
const PART: u32 = 1 << 16;
/// Bytes of a part with a bit for each sector. No other form takes more.
const BITS: usize = PART as usize / 8;
/// A list takes one in this many more places when it needs more: twice as much would be empty for the most part.
const GROWTH: usize = 8;
/// Bytes of a part beside its list: the entry of the map, and its share of the map's nodes.
const ENTRY: usize = 2 * (size_of::<u32>() + size_of::<Part>());

/// The failed sectors of one part, counted from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Each of them, in order.
    Sectors(Vec<u16>),
    /// First and last, in order, with gaps between them.
    Runs(Vec<(u16, u16)>),
    /// A bit for each 2^shift sectors.
    Bits { shift: u32, bits: Vec<u64> },
}

/// The sectors that failed at least once.
#[derive(Debug, Clone)]
pub struct FailedSet {
    parts: BTreeMap<u32, Part>,
    /// Kept apart, as coarse parts do not tell it.
    sectors: u64,
    budget: usize,
    heap: usize,
}

impl Default for FailedSet {
    fn default() -> Self {
        Self::within(BUDGET)
    }
}

impl FailedSet {
    fn within(budget: usize) -> Self {
        Self { parts: BTreeMap::new(), sectors: 0, budget, heap: 0 }
    }

    /// How many there are.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Bytes of memory that it takes, about.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.heap
    }

    /// How many of these sectors are in it.
    #[must_use]
    pub fn count(&self, sectors: Range<u64>) -> u64 {
        let in_part = |(number, from, to)| self.parts.get(&number).map_or(0, |part| part.count(from, to));
        pieces(sectors).map(in_part).sum()
    }

    /// Adds sectors; how many were not in it.
    pub fn insert(&mut self, sectors: Range<u64>) -> u64 {
        let mut new = 0;
        for (number, from, to) in pieces(sectors) {
            let heap = &mut self.heap;
            let part = self.parts.entry(number).or_insert_with(|| {
                *heap += ENTRY;
                Part::Sectors(Vec::new())
            });
            let (before, had) = (part.heap_bytes(), part.count(from, to));
            let added = u64::from(to - from) - had;
            if added > 0 {
                part.insert(from, to);
            }
            new += added;
            self.heap = self.heap + part.heap_bytes() - before;
        }
        self.sectors += new;
        while self.heap > self.budget && self.coarsen() {}
        new
    }

    /// Makes the largest part eight times coarser.
    fn coarsen(&mut self) -> bool {
        let Some(part) = self.parts.values_mut().max_by_key(|part| part.heap_bytes()) else { return false };
        let before = part.heap_bytes();
        if before <= 64 {
            return false;
        }
        part.coarsen();
        self.heap = self.heap + part.heap_bytes() - before;
        part.heap_bytes() < before
    }
}

/// The pieces of a range in each part: its number, and from where to where.
fn pieces(sectors: Range<u64>) -> impl Iterator<Item = (u32, u32, u32)> {
    let part = u64::from(PART);
    let mut at = sectors.start;
    std::iter::from_fn(move || {
        (at < sectors.end).then(|| {
            let (number, from) = (at / part, at % part);
            let to = part.min(from + sectors.end - at);
            at += to - from;
            // An area has at most 2^39 sectors.
            (number as u32, from as u32, to as u32)
        })
    })
}

impl Part {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Sectors(sectors) => sectors.capacity() * 2,
            Self::Runs(runs) => runs.capacity() * 4,
            Self::Bits { bits, .. } => bits.capacity() * 8,
        }
    }

    fn count(&self, from: u32, to: u32) -> u64 {
        match self {
            Self::Sectors(sectors) => {
                let below = |limit: u32| sectors.partition_point(|sector| u32::from(*sector) < limit);
                (below(to) - below(from)) as u64
            }
            Self::Runs(runs) => {
                let first = runs.partition_point(|run| u32::from(run.1) < from);
                let reached = runs[first..].iter().take_while(|run| u32::from(run.0) < to);
                let length = |run: &(u16, u16)| to.min(u32::from(run.1) + 1) - from.max(run.0.into());
                reached.map(|run| u64::from(length(run))).sum()
            }
            Self::Bits { shift, bits } => {
                let of = |unit: u32| u64::from(to.min((unit + 1) << shift) - from.max(unit << shift));
                let set = |unit: &u32| bits.get(*unit as usize / 64).is_some_and(|word| word >> (unit % 64) & 1 == 1);
                ((from >> shift)..to.div_ceil(1 << shift)).filter(set).map(of).sum()
            }
        }
    }

    /// Adds the sectors before `to`; `from` is below it.
    fn insert(&mut self, from: u32, to: u32) {
        match self {
            Self::Sectors(sectors) => {
                let below = |limit: u32| sectors.partition_point(|sector| u32::from(*sector) < limit);
                let (first, last) = (below(from), below(to));
                let more = (to - from) as usize + first - last;
                let all = sectors.len() + more;
                let runs = || sectors.chunk_by(follows).count() + 1;
                // Counted where room is made, so that it costs little for each sector.
                if all > sectors.capacity() && (all * 2 > BITS || runs() * 4 < all * 2) {
                    self.become_runs();
                    return self.insert(from, to);
                }
                make_room(sectors, more);
                sectors.splice(first..last, (from..to).map(|sector| sector as u16));
            }
            Self::Runs(runs) => {
                let first = runs.partition_point(|run| u32::from(run.1) + 1 < from);
                let last = runs.partition_point(|run| u32::from(run.0) <= to);
                let joined = runs.get(first..last).and_then(|joined| Some((joined.first()?.0, joined.last()?.1)));
                let (start, end) = joined.unwrap_or((u16::MAX, 0));
                make_room(runs, usize::from(first == last));
                runs.splice(first..last, [(start.min(from as u16), end.max((to - 1) as u16))]);
                if runs.len() * 4 > BITS {
                    *self = self.as_bits(0);
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

    /// A list of single sectors as runs, or as bits where that takes less.
    fn become_runs(&mut self) {
        let Self::Sectors(sectors) = self else { return };
        let runs = sectors.chunk_by(follows).filter_map(|run| Some((*run.first()?, *run.last()?)));
        let runs: Vec<(u16, u16)> = runs.collect();
        *self = if runs.len() * 4 > BITS { self.as_bits(0) } else { Self::Runs(runs) };
    }

    /// The same sectors as bits for each 2^shift.
    fn as_bits(&self, shift: u32) -> Self {
        let mut bits = Self::Bits { shift, bits: vec![0; (PART >> shift).div_ceil(64) as usize] };
        match self {
            Self::Sectors(sectors) => {
                sectors.iter().for_each(|sector| bits.insert((*sector).into(), u32::from(*sector) + 1))
            }
            Self::Runs(runs) => runs.iter().for_each(|run| bits.insert(run.0.into(), u32::from(run.1) + 1)),
            Self::Bits { shift: finer, bits: units } => {
                let set = |unit: &u32| units.get(*unit as usize / 64).is_some_and(|word| word >> (unit % 64) & 1 == 1);
                for unit in (0..PART >> finer).filter(set) {
                    bits.insert(unit << finer, (unit + 1) << finer);
                }
            }
        }
        bits
    }

    /// Keeps for each eight times as many sectors whether one of them failed; for lists, as coarse as it takes to need half of
    /// the memory.
    fn coarsen(&mut self) {
        let shift = match self {
            Self::Bits { shift, .. } => (*shift + 3).min(PART.ilog2()),
            _ => {
                let fits = |shift: &u32| (BITS >> shift).max(8) * 2 <= self.heap_bytes();
                (3..PART.ilog2()).step_by(3).find(fits).unwrap_or(PART.ilog2())
            }
        };
        *self = self.as_bits(shift);
    }
}

/// Whether two sectors in order have none between them.
fn follows(one: &u16, next: &u16) -> bool {
    one + 1 == *next
}

/// Room for `more` items, and some beyond.
fn make_room<T>(items: &mut Vec<T>, more: usize) {
    if items.len() + more > items.capacity() {
        items.reserve_exact(more + (items.len() / GROWTH).max(4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::mixed;

    const SECTORS: u64 = 320_000;

    /// Ranges as they fail: single sectors, pages, and whole areas; few and many.
    fn ranges(seed: u64) -> impl Iterator<Item = Range<u64>> {
        let longest = [2, 9, 90, 3_000, 70_000][seed as usize % 5];
        let steps = [300, 3_000, 30_000][seed as usize % 3] / longest.min(100) * 10;
        (0..steps).map(move |step| {
            let start = mixed(seed, step) % SECTORS;
            start..(start + 1 + mixed(seed + 100, step) % longest).min(SECTORS)
        })
    }

    #[test]
    fn it_counts_like_a_plain_set() {
        let mut forms = [0; 3];
        for seed in 0..60 {
            let mut set = FailedSet::default();
            let mut plain = vec![false; SECTORS as usize];
            for (step, range) in ranges(seed).enumerate() {
                let part = &mut plain[range.start as usize..range.end as usize];
                let had = part.iter().filter(|failed| **failed).count() as u64;
                assert_eq!(set.count(range.clone()), had);
                if step % 3 > 0 {
                    part.fill(true);
                    assert_eq!(set.insert(range.clone()), range.end - range.start - had);
                }
            }
            assert_eq!(set.sectors(), plain.iter().filter(|failed| **failed).count() as u64);
            assert_eq!(set.count(0..SECTORS), set.sectors());
            let parts = set.parts.values().map(Part::heap_bytes).sum::<usize>() + set.parts.len() * ENTRY;
            assert_eq!(set.heap_bytes(), parts);
            assert!(set.parts.values().all(|part| part.heap_bytes() <= BITS * 9 / 8 + 64));
            for part in set.parts.values() {
                forms[match part {
                    Part::Sectors(_) => 0,
                    Part::Runs(_) => 1,
                    Part::Bits { .. } => 2,
                }] += 1;
            }
        }
        assert!(forms.iter().all(|form| *form > 10), "{forms:?}");
    }

    #[test]
    fn memory_is_bounded_and_what_is_forgotten_is_only_the_place_within_a_page() {
        let sectors = 8_000_000;
        let mut set = FailedSet::within(300_000);
        let mut most = 0;
        for step in 0..400_000 {
            let sector = mixed(3, step) % sectors;
            set.insert(sector..sector + 1);
            most = most.max(set.heap);
        }
        assert!(most <= 301_000, "{most}");
        assert!((200_000..400_000).contains(&set.sectors()), "{}", set.sectors());
    }

    #[test]
    fn failures_far_from_each_other_take_little_more_than_two_bytes_each() {
        let mut set = FailedSet::default();
        let sectors = 250_000_000 / 64;
        for sector in (0..sectors).step_by(100) {
            set.insert(sector..sector + 1);
        }
        assert!(set.heap_bytes() as u64 <= set.sectors() * 5 / 2, "{} of {}", set.heap_bytes(), set.sectors());
    }
}
