//! Where operations of one size go that are a stream with gaps, a stream backwards, or several streams in turns.

use std::sync::atomic::Ordering;

use assay_core::refined::Stride;
use assay_core::workload::Workload;

use crate::counters::Turns;
use crate::place::{Place, Region};

/// Offsets of one job, each of one block; threads that make up its queue take them in turns.
#[derive(Debug)]
pub(crate) struct Strides {
    block: u64,
    /// The job's part of the span, in bytes from its beginning.
    first: u64,
    /// Number of the operation with which the repeat begins.
    start: u64,
    turn: Turns,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// Run after run.
    Runs {
        /// Blocks of a run, and runs until the first begins again.
        blocks: u64,
        runs: u64,
        /// Where the first run begins, and how far it is to the next, in bytes.
        begin: u64,
        step: i64,
    },
    /// Parts one behind the other, each a stream of its own.
    Parts {
        parts: u64,
        /// Blocks of a part.
        blocks: u64,
    },
}

impl Strides {
    /// Of a workload that has a stride or parts; `None` of any other.
    pub(crate) fn new(workload: &Workload, place: Place, turn: Option<Turns>) -> Option<Self> {
        let block = workload.block_bytes.max(1);
        let Region { first, units, start } = place.region((workload.span_bytes / block).max(1));
        let parts = workload.refined.parts();
        let (way, start) = match workload.refined.stride {
            Some(stride) => {
                let way = runs(stride, units * block, block);
                // In runs as in blocks a repeat begins where the one before it did not.
                let Way::Runs { blocks, runs, .. } = &way else { return None };
                let all = blocks * runs;
                (way, (u128::from(start) * u128::from(all) / u128::from(units.max(1))) as u64)
            }
            None if parts > 1 => (Way::Parts { parts, blocks: (units / parts).max(1) }, start),
            None => return None,
        };
        Some(Self { block, first: first * block, start, turn: turn.unwrap_or_default(), way })
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let number = self.start + self.turn.0.fetch_add(1, Ordering::Relaxed);
        let at = match self.way {
            Way::Runs { blocks, runs, begin, step } => {
                let (run, within) = (number / blocks % runs, number % blocks);
                begin.wrapping_add_signed(run as i64 * step) + within * self.block
            }
            Way::Parts { parts, blocks } => (number % parts * blocks + number / parts % blocks) * self.block,
        };
        self.first + at
    }
}

/// The runs in an area of `bytes`: as many as there is room for, one at least.
fn runs(stride: Stride, bytes: u64, block: u64) -> Way {
    // A run that is longer than the area ends with it.
    let run = stride.run_bytes.clamp(block, bytes.max(block)) / block * block;
    let step = stride.step_bytes.unsigned_abs().max(1);
    let runs = bytes.saturating_sub(run) / step + 1;
    let begin = if stride.step_bytes < 0 { (runs - 1) * step } else { 0 };
    Way::Runs { blocks: run / block, runs, begin, step: stride.step_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::refined::Refined;
    use assay_core::workload::{Op, Pattern};

    const KIB: u64 = 1024;

    fn strides(refined: Refined, block: u64, span: u64, jobs: u32, job: u32) -> Strides {
        let workload =
            Workload { span_bytes: span, jobs, refined, ..Workload::new("w", Op::Read, Pattern::Sequential, block) };
        Strides::new(&workload, Place { job, jobs, repeat: 0, repeats: 1, seed: 3 }, None).unwrap()
    }

    fn stride(run: u64, step: i64) -> Refined {
        Refined { stride: Some(Stride { run_bytes: run, step_bytes: step }), ..Refined::default() }
    }

    /// `zonesize=8k zoneskip=24k` and `read:28k` of fio, by its manual.
    #[test]
    fn runs_have_gaps_between_them_and_begin_again() {
        let mut zones = strides(stride(8 * KIB, 32 * KIB as i64), 4 * KIB, 70 * KIB, 1, 0);
        let at: Vec<u64> = (0..7).map(|_| zones.next() / KIB).collect();
        assert_eq!(at, [0, 4, 32, 36, 0, 4, 32], "the third run would end behind the area");
        let mut skips = strides(stride(4 * KIB, 32 * KIB as i64), 4 * KIB, 100 * KIB, 1, 0);
        assert_eq!((0..5).map(|_| skips.next() / KIB).collect::<Vec<_>>(), [0, 32, 64, 96, 0]);
    }

    #[test]
    fn a_stream_goes_backwards_to_the_beginning() {
        let mut back = strides(stride(4 * KIB, -4 * KIB as i64), 4 * KIB, 16 * KIB, 1, 0);
        assert_eq!((0..6).map(|_| back.next() / KIB).collect::<Vec<_>>(), [12, 8, 4, 0, 12, 8]);
    }

    #[test]
    fn parts_are_taken_in_turns_and_jobs_have_areas_of_their_own() {
        let refined = Refined { files: 3, ..Refined::default() };
        let mut first = strides(refined.clone(), 4 * KIB, 48 * KIB, 1, 0);
        let at: Vec<u64> = (0..13).map(|_| first.next() / 4 / KIB).collect();
        assert_eq!(at, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 0]);
        let mut second = strides(refined, 4 * KIB, 48 * KIB, 2, 1);
        assert_eq!((0..3).map(|_| second.next() / 4 / KIB).collect::<Vec<_>>(), [6, 8, 10]);
    }
}
