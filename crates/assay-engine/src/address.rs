//! Where the next operation goes.

use std::sync::atomic::Ordering;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use assay_core::workload::{Op, Pattern, Workload};

use crate::counters::Turns;
use crate::pieces::Pieces;
use crate::place::{Place, Region};
use crate::spread::Spread;
use crate::strides::Strides;

/// Offsets of one job, each a multiple of the block size within the job's part of the span.
#[derive(Debug)]
pub(crate) enum Addresses {
    /// Block after block of a region of its own, from a start on and around.
    Sequential { first: u64, blocks: u64, next: u64, block: u64 },
    /// The same, shared by threads that make up one queue.
    Shared { first: u64, blocks: u64, start: u64, turn: Turns, block: u64 },
    /// Random blocks of the whole span, some more frequent than others.
    Spread { block: u64, generator: Xoshiro256PlusPlus, spread: Box<Spread> },
    /// Operations of several sizes.
    Pieces(Box<Pieces>),
    /// Runs with gaps, backwards, or several streams in turns.
    Strides(Box<Strides>),
    /// Uniformly random blocks of the whole span.
    Random { blocks: u64, block: u64, generator: Xoshiro256PlusPlus },
}

/// Where the operations of a job go: reads and writes alike, or writes as a stream of their own.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) all: Addresses,
    pub(crate) writes: Option<Addresses>,
}

impl From<Addresses> for Places {
    fn from(all: Addresses) -> Self {
        Self { all, writes: None }
    }
}

impl Places {
    /// Those of one job. `turns` are given where several threads make up its queue: those of reads, and of writes.
    pub(crate) fn new(workload: &Workload, place: Place, turns: Option<[Turns; 2]>) -> Self {
        let [turn, of_writes] = turns.map_or([None, None], |turns| turns.map(Some));
        let apart = workload.refined.apart && workload.op == Op::Mixed;
        let writes = apart.then(|| Addresses::new(workload, place, of_writes));
        Self { all: Addresses::new(workload, place, turn), writes }
    }
}

impl Addresses {
    /// The addresses of one job. `turn` is given where several threads make up its queue.
    pub(crate) fn new(workload: &Workload, place: Place, turn: Option<Turns>) -> Self {
        let aligned = workload.refined.align_bytes.is_some_and(|align| align != workload.block_bytes);
        if workload.has_sizes() || (aligned && workload.pattern == Pattern::Random) {
            return Self::Pieces(Box::new(Pieces::new(workload, place, turn)));
        }
        let block = workload.block_bytes.max(1);
        let all = (workload.span_bytes / block).max(1);
        if workload.pattern == Pattern::Random {
            let generator = place.generator();
            // The same blocks are frequent in all jobs and repeats.
            return match Spread::new(&workload.distribution, all, place.seed) {
                Some(spread) => Self::Spread { block, generator, spread: Box::new(spread) },
                None => Self::Random { blocks: all, block, generator },
            };
        }
        if let Some(strides) = Strides::new(workload, place, turn.clone()) {
            return Self::Strides(Box::new(strides));
        }
        let Region { first, units: blocks, start } = place.region(all);
        match turn {
            Some(turn) => Self::Shared { first, blocks, start, turn, block },
            None => Self::Sequential { first, blocks, next: start, block },
        }
    }

    /// Offset of the next operation in bytes, from the beginning of the span.
    #[inline]
    pub(crate) fn next(&mut self, bytes: u32) -> u64 {
        match self {
            Self::Pieces(pieces) => pieces.next(bytes),
            Self::Strides(strides) => strides.next(),
            Self::Sequential { first, blocks, next, block } => {
                let at = *first + *next;
                *next += 1;
                if *next == *blocks {
                    *next = 0;
                }
                at * *block
            }
            Self::Shared { first, blocks, start, turn, block } => {
                (*first + (*start + turn.0.fetch_add(1, Ordering::Relaxed)) % *blocks) * *block
            }
            Self::Spread { block, generator, spread } => spread.next(generator) * *block,
            // Multiply-shift (Lemire 2019) without rejection: the bias is below 2^-32 for any
            // span up to 2^32 blocks, far below what a run could show.
            Self::Random { blocks, block, generator } => {
                ((u128::from(generator.next_u64()) * u128::from(*blocks)) >> 64) as u64 * *block
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn workload(pattern: Pattern, block: u64, span: u64, jobs: u32) -> Workload {
        Workload { jobs, span_bytes: span, ..Workload::new("t", Op::Read, pattern, block) }
    }

    fn place(job: u32, jobs: u32) -> Place {
        Place { job, jobs, repeat: 0, repeats: 1, seed: 5 }
    }

    proptest! {
        #[test]
        fn sequential_jobs_cover_the_span_and_never_overlap(jobs in 1u32..9, blocks in 9u64..200, repeat in 0u32..3) {
            let w = workload(Pattern::Sequential, 4096, blocks * 4096, jobs);
            let mut seen = HashSet::new();
            for job in 0..jobs {
                let mut a = Addresses::new(&w, Place { repeat, repeats: 3, ..place(job, jobs) }, None);
                let Addresses::Sequential { blocks: mine, .. } = a else { panic!() };
                for _ in 0..mine {
                    prop_assert!(seen.insert(a.next(0)));
                }
                // Around again: the same blocks, still no other job's.
                prop_assert!(seen.contains(&a.next(0)));
            }
            prop_assert_eq!(seen.len() as u64, blocks);
        }

        #[test]
        fn random_blocks_stay_inside_and_aligned(blocks in 1u64..1000, block in 1u64..40) {
            let block = block * 512;
            let w = workload(Pattern::Random, block, blocks * block, 1);
            let mut a = Addresses::new(&w, place(0, 1), None);
            for _ in 0..200 {
                let offset = a.next(0);
                prop_assert!(offset.is_multiple_of(block) && offset + block <= blocks * block);
            }
        }
    }

    /// A stream goes forward, also where several threads take its blocks in turns: backwards is another load.
    #[test]
    fn a_stream_goes_from_block_to_block_and_around() {
        let w = workload(Pattern::Sequential, 512, 8 * 512, 1);
        let second = Place { repeat: 1, repeats: 2, ..place(0, 1) };
        let wanted: Vec<u64> = [4, 5, 6, 7, 0, 1, 2, 3, 4].map(|block| block * 512).to_vec();
        let mut alone = Addresses::new(&w, second, None);
        assert_eq!((0..9).map(|_| alone.next(0)).collect::<Vec<_>>(), wanted);
        let turn = Turns::default();
        let mut threads = [0, 1, 2].map(|_| Addresses::new(&w, second, Some(Arc::clone(&turn))));
        assert_eq!((0..9).map(|at| threads[at % 3].next(0)).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn random_blocks_are_uniform_and_differ_between_jobs() {
        let w = workload(Pattern::Random, 1, 64, 2);
        let (mut a, mut b) = (Addresses::new(&w, place(0, 2), None), Addresses::new(&w, place(1, 2), None));
        let mut counts = [0f64; 64];
        let mut same = 0;
        for _ in 0..64_000 {
            let at = a.next(0);
            counts[at as usize] += 1.0;
            same += u32::from(at == b.next(0));
        }
        let chi: f64 = counts.iter().map(|c| (c - 1000.0f64).powi(2) / 1000.0).sum();
        assert!(chi < 110.0, "chi-square {chi} with 63 degrees");
        assert!((700..1300).contains(&same), "{same} of 64000 equal");
    }

    #[test]
    fn threads_that_share_a_stream_leave_no_block_out() {
        let w = workload(Pattern::Sequential, 4096, 40 * 4096, 1);
        let turn = Turns::default();
        let mut all: Vec<Addresses> = (0..4).map(|_| Addresses::new(&w, place(0, 1), Some(turn.clone()))).collect();
        let mut seen: Vec<u64> = (0..40).map(|i| all[i % 4].next(0)).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..40).map(|i| i * 4096).collect::<Vec<_>>());
    }
}
