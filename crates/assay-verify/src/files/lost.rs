//! Which parts of the area are lost, to the sector.

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use serde::{Deserialize, Serialize};

/// Runs that are kept. A fake has a few; a medium that errs all over has no map that anybody reads, and is
/// described in coarser steps.
const MOST: usize = 4096;
/// Coarser steps than these are not needed on any medium.
const MOST_GRAIN: u64 = 1 << 40;

/// Whether these are starts and ends in order, none beyond `end`.
pub(super) fn are_parts(parts: &[(u64, u64)], end: u64) -> bool {
    let ordered = parts.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    ordered && parts.iter().all(|(start, stop)| start < stop && *stop <= end)
}

/// A part of the area that is all of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Byte offset of its start.
    pub(crate) start: u64,
    /// Byte offset of its end.
    pub(crate) end: u64,
    /// What became of it.
    pub(crate) class: SectorClass,
}

/// Lost parts in order, none touching another of its class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// Starts and ends are multiples of this many bytes.
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

    /// Whether it can have been found in an area of `end` bytes.
    pub(crate) fn is_sound(&self, end: u64) -> bool {
        let parts: Vec<(u64, u64)> = self.runs.iter().map(|run| (run.start, run.end)).collect();
        let grain = self.grain.is_power_of_two() && (SECTOR_BYTES..=MOST_GRAIN).contains(&self.grain);
        grain && self.runs.len() <= MOST && are_parts(&parts, end.next_multiple_of(self.grain))
    }

    /// Whether the byte `offset` lies in a lost part.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        let next = self.runs.partition_point(|run| run.end <= offset);
        self.runs.get(next).is_some_and(|run| run.start <= offset)
    }

    /// Adds a part that was not lost so far.
    pub(crate) fn add(&mut self, run: Run) {
        let grain = self.grain;
        let start = run.start / grain * grain;
        let run = Run { start, end: run.end.next_multiple_of(grain), class: run.class };
        let at = self.runs.partition_point(|other| other.end <= run.start);
        self.runs.insert(at, run);
        self.join(at.saturating_sub(1), at + 2);
        if self.runs.len() > MOST {
            self.coarsen();
        }
    }

    /// Joins those of `from..to` that overlap, or touch and are of one class.
    fn join(&mut self, from: usize, to: usize) {
        let mut at = from;
        let mut left = to.min(self.runs.len()).saturating_sub(from);
        while left > 1 {
            let (this, next) = (self.runs[at], self.runs[at + 1]);
            if next.start < this.end || (next.start == this.end && next.class == this.class) {
                let larger = if next.end - next.start > this.end - this.start { next } else { this };
                self.runs[at] =
                    Run { start: this.start.min(next.start), end: this.end.max(next.end), class: larger.class };
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
            let runs = std::mem::take(&mut self.runs);
            for run in runs {
                let start = run.start / self.grain * self.grain;
                let run = Run { start, end: run.end.next_multiple_of(self.grain), class: run.class };
                match self.runs.last_mut() {
                    Some(last) if run.start < last.end || (run.start == last.end && run.class == last.class) => {
                        last.end = last.end.max(run.end);
                    }
                    _ => self.runs.push(run),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u64, end: u64, class: SectorClass) -> Run {
        Run { start: start * 512, end: end * 512, class }
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
    fn memory_is_bounded_and_nothing_lost_is_forgotten() {
        let mut lost = Lost::default();
        for at in 0..100_000 {
            lost.add(run(at * 7, at * 7 + 1, SectorClass::Corrupted));
        }
        assert!(lost.runs().len() <= MOST);
        assert!((0..100_000).all(|at| lost.contains(at * 7 * 512)));
        assert!(lost.runs().windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}
