//! The lost parts of the area: to the sector, or in coarser steps if there are many.

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use serde::{Deserialize, Serialize};

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
pub(crate) struct Run {
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

impl Run {
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
    runs: Vec<Run>,
}

impl Default for Lost {
    fn default() -> Self {
        Self { grain: SECTOR_BYTES, runs: Vec::new() }
    }
}

impl Lost {
    /// The parts, in order.
    pub(crate) fn runs(&self) -> &[Run] {
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
        let counted = self.runs.iter().all(Run::is_sound);
        grain && self.runs.len() <= MOST && are_parts(&parts, end.next_multiple_of(self.grain)) && counted
    }

    /// Whether the byte `offset` lies in a part that is mostly lost.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        let next = self.runs.partition_point(|run| run.end <= offset);
        let within = self.runs.get(next).filter(|run| run.start <= offset);
        within.is_some_and(|run| run.counted().lost() * 2 > run.end - run.start)
    }

    /// Adds a part that was not lost before.
    pub(crate) fn add(&mut self, run: Run) {
        self.put(run);
        if self.runs.len() > MOST {
            self.coarsen();
        }
    }

    /// Adds a part. Whole steps are added as they are; parts of a step are added to its counts.
    fn put(&mut self, run: Run) {
        let grain = self.grain;
        let first = run.start.next_multiple_of(grain).min(run.end);
        let last = (run.end / grain * grain).max(first);
        for (start, end) in [(run.start, first), (first, last), (last, run.end)] {
            if start == end {
                continue;
            }
            let inside = Run { start, end, ..run };
            let step = Run { start: start / grain * grain, end: end.next_multiple_of(grain), ..inside };
            let counted = Some(inside.counted()).filter(|counted| counted.lost() < step.end - step.start);
            self.insert(Run { counted, ..step });
        }
    }

    /// Adds whole steps.
    fn insert(&mut self, run: Run) {
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

    fn run(start: u64, end: u64, class: SectorClass) -> Run {
        Run::new(start * 512, end * 512, class)
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
