//! Where the next operation goes.

use std::sync::atomic::Ordering;

use assay_core::refined::Stride;
use assay_core::workload::{Op, Pattern, Workload};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::buffer::mix;
use crate::counters::Turns;
use crate::spread::Spread;

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
    pub(crate) fn new(workload: &Workload, place: JobPlace, turns: Option<[Turns; 2]>) -> Self {
        let [turn, of_writes] = turns.map_or([None, None], |turns| turns.map(Some));
        let apart = workload.refined.apart && workload.op == Op::Mixed;
        let writes = apart.then(|| Addresses::new(workload, place, of_writes));
        Self { all: Addresses::new(workload, place, turn), writes }
    }
}

impl Addresses {
    /// The addresses of one job. `turn` is given where several threads make up its queue.
    pub(crate) fn new(workload: &Workload, place: JobPlace, turn: Option<Turns>) -> Self {
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

// The job and the repeat that offsets are for, and the job's part of the span.

/// The job and the repeat that offsets are for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobPlace {
    pub(crate) job: u32,
    pub(crate) jobs: u32,
    /// Repeat, from 0, and how many are planned: sequential repeats start at different places,
    /// so that a cache in the medium does not see the same blocks first each time.
    pub(crate) repeat: u32,
    pub(crate) repeats: u32,
    pub(crate) seed: u64,
}

impl JobPlace {
    /// A generator of its own for each job of each repeat.
    pub(crate) fn generator(self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(mix(self.seed ^ mix(u64::from(self.job) << 32 | u64::from(self.repeat))))
    }

    /// The region of a sequential job among `all` units of the span, and where in it the repeat starts.
    pub(crate) fn region(self, all: u64) -> Region {
        let jobs = u64::from(self.jobs.max(1));
        let each = (all / jobs).max(1);
        let first = (u64::from(self.job) * each).min(all - 1);
        // The last job takes what the division left over.
        let units = if u64::from(self.job) + 1 == jobs { all - first } else { each };
        let start = (u128::from(units) * u128::from(self.repeat) / u128::from(self.repeats.max(1))) as u64 % units;
        Region { first, units, start }
    }
}

/// A job's part of a sequential stream, in blocks or other units.
pub(crate) struct Region {
    pub(crate) first: u64,
    pub(crate) units: u64,
    pub(crate) start: u64,
}

// Where operations of several sizes go, and those that begin at multiples of something else than their size.

/// Offsets that are multiples of what the workload says, else of the greatest common divisor of all sizes.
#[derive(Debug)]
pub(crate) struct Pieces {
    unit: u64,
    /// The job's part of the span, in bytes.
    first: u64,
    bytes: u64,
    way: PieceWay,
}

#[derive(Debug)]
enum PieceWay {
    /// One after the other from `start` on and around. What does not fit before the end ends there.
    Stream { start: u64, turn: Turns },
    /// Anywhere.
    Random(Xoshiro256PlusPlus),
    /// From a random unit on; some units are more frequent than others.
    Spread(Xoshiro256PlusPlus, Spread),
}

impl Pieces {
    /// `turn` is shared by the threads that make up one queue.
    pub(crate) fn new(workload: &Workload, place: JobPlace, turn: Option<Turns>) -> Self {
        let sizes = workload.blocks.shares().iter().chain(workload.refined.writes.shares());
        let common = sizes.fold(0, |unit, share| gcd(share.block_bytes, unit)).max(1);
        let unit = workload.refined.align_bytes.filter(|_| workload.pattern == Pattern::Random).unwrap_or(common);
        let all = (workload.span_bytes / unit).max(1);
        if workload.pattern == Pattern::Random {
            let generator = place.generator();
            let way = match Spread::new(&workload.distribution, all, place.seed) {
                Some(spread) => PieceWay::Spread(generator, spread),
                None => PieceWay::Random(generator),
            };
            return Self { unit, first: 0, bytes: all * unit, way };
        }
        let Region { first, units, start } = place.region(all);
        let way = PieceWay::Stream { start: start * unit, turn: turn.unwrap_or_default() };
        Self { unit, first: first * unit, bytes: units * unit, way }
    }

    #[inline]
    pub(crate) fn next(&mut self, bytes: u32) -> u64 {
        let room = self.bytes.saturating_sub(u64::from(bytes));
        let at = match &mut self.way {
            PieceWay::Stream { start, turn } => {
                (*start + turn.0.fetch_add(u64::from(bytes), Ordering::Relaxed)) % self.bytes
            }
            PieceWay::Random(generator) => {
                let places = u128::from(room / self.unit + 1);
                ((u128::from(generator.next_u64()) * places) >> 64) as u64 * self.unit
            }
            PieceWay::Spread(generator, spread) => spread.next(generator) * self.unit,
        };
        self.first + at.min(room / self.unit * self.unit)
    }
}

/// Greatest common divisor (Euclid).
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

// Where operations of one size go that are a stream with gaps, a stream backwards, or several streams in turns.

/// Offsets of one job, each of one block; threads that make up its queue take them in turns.
#[derive(Debug)]
pub(crate) struct Strides {
    block: u64,
    /// The job's part of the span, in bytes from its beginning.
    first: u64,
    /// Number of the operation with which the repeat begins.
    start: u64,
    turn: Turns,
    way: StrideWay,
}

#[derive(Debug)]
enum StrideWay {
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
    pub(crate) fn new(workload: &Workload, place: JobPlace, turn: Option<Turns>) -> Option<Self> {
        let block = workload.block_bytes.max(1);
        let Region { first, units, start } = place.region((workload.span_bytes / block).max(1));
        let parts = workload.refined.parts();
        let (way, start) = match workload.refined.stride {
            Some(stride) => {
                let way = runs(stride, units * block, block);
                // In runs as in blocks a repeat begins where the one before it did not.
                let StrideWay::Runs { blocks, runs, .. } = &way else { return None };
                let all = blocks * runs;
                (way, (u128::from(start) * u128::from(all) / u128::from(units.max(1))) as u64)
            }
            None if parts > 1 => (StrideWay::Parts { parts, blocks: (units / parts).max(1) }, start),
            None => return None,
        };
        Some(Self { block, first: first * block, start, turn: turn.unwrap_or_default(), way })
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let number = self.start + self.turn.0.fetch_add(1, Ordering::Relaxed);
        let at = match self.way {
            StrideWay::Runs { blocks, runs, begin, step } => {
                let (run, within) = (number / blocks % runs, number % blocks);
                begin.wrapping_add_signed(run as i64 * step) + within * self.block
            }
            StrideWay::Parts { parts, blocks } => (number % parts * blocks + number / parts % blocks) * self.block,
        };
        self.first + at
    }
}

/// The runs in an area of `bytes`: as many as there is room for, one at least.
fn runs(stride: Stride, bytes: u64, block: u64) -> StrideWay {
    // A run that is longer than the area ends with it.
    let run = stride.run_bytes.clamp(block, bytes.max(block)) / block * block;
    let step = stride.step_bytes.unsigned_abs().max(1);
    let runs = bytes.saturating_sub(run) / step + 1;
    let begin = if stride.step_bytes < 0 { (runs - 1) * step } else { 0 };
    StrideWay::Runs { blocks: run / block, runs, begin, step: stride.step_bytes }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use assay_core::blocks::Blocks;
    use assay_core::distribution::Distribution;
    use assay_core::refined::Refined;
    use assay_core::workload::{Op, Pattern};
    use proptest::prelude::*;

    use super::super::operations::Sizes;
    use super::*;

    fn workload(pattern: Pattern, block: u64, span: u64, jobs: u32) -> Workload {
        Workload { jobs, span_bytes: span, ..Workload::new("t", Op::Read, pattern, block) }
    }

    fn place(job: u32, jobs: u32) -> JobPlace {
        JobPlace { job, jobs, repeat: 0, repeats: 1, seed: 5 }
    }

    proptest! {
        #[test]
        fn sequential_jobs_cover_the_span_and_never_overlap(jobs in 1u32..9, blocks in 9u64..200, repeat in 0u32..3) {
            let w = workload(Pattern::Sequential, 4096, blocks * 4096, jobs);
            let mut seen = HashSet::new();
            for job in 0..jobs {
                let mut a = Addresses::new(&w, JobPlace { repeat, repeats: 3, ..place(job, jobs) }, None);
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
        let second = JobPlace { repeat: 1, repeats: 2, ..place(0, 1) };
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

    fn mixed_sizes(pattern: Pattern, span_bytes: u64) -> Workload {
        let blocks = Blocks::parse("4KiB/50:6KiB/20:16KiB/30").unwrap();
        Workload { span_bytes, blocks, ..Workload::new("w", Op::Read, pattern, 8000) }
    }

    #[test]
    fn all_sizes_stay_inside_and_aligned() {
        for (pattern, distribution) in [
            (Pattern::Random, Distribution::Uniform),
            (Pattern::Random, Distribution::Zipf { theta: 1.1 }),
            (Pattern::Sequential, Distribution::Uniform),
        ] {
            let workload = Workload { distribution, ..mixed_sizes(pattern, 1 << 20) };
            let (mut sizes, mut ends) = (Sizes::new(&workload, 3), [u64::MAX, 0]);
            for job in 0..2 {
                let place = JobPlace { job, jobs: 2, repeat: 0, repeats: 1, seed: 3 };
                let mut pieces = Pieces::new(&workload, place, None);
                for _ in 0..5000 {
                    let bytes = sizes.next();
                    let at = pieces.next(bytes);
                    assert!(at.is_multiple_of(2048) && at + u64::from(bytes) <= 1 << 20, "{pattern:?}: {at} {bytes}");
                    ends = [ends[0].min(at), ends[1].max(at + u64::from(bytes))];
                }
            }
            assert_eq!(ends, [0, 1 << 20], "{pattern:?}");
        }
    }

    #[test]
    fn operations_begin_where_they_may() {
        let refined = assay_core::refined::Refined { align_bytes: Some(8192), ..Default::default() };
        let workload = Workload { refined, ..mixed_sizes(Pattern::Random, 1 << 20) };
        let mut pieces = Pieces::new(&workload, JobPlace { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 3 }, None);
        let mut seen = std::collections::HashSet::new();
        for bytes in [4096, 6144, 16_384].into_iter().cycle().take(6000) {
            let at = pieces.next(bytes);
            assert!(at.is_multiple_of(8192) && at + u64::from(bytes) <= 1 << 20);
            seen.insert(at);
        }
        assert_eq!(seen.len(), 128, "every place, and no other");
    }

    #[test]
    fn a_stream_leaves_nothing_out() {
        let workload = mixed_sizes(Pattern::Sequential, 1 << 20);
        let mut pieces = Pieces::new(&workload, JobPlace { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 3 }, None);
        let at: Vec<u64> = [4096, 6144, 16_384, 4096].map(|bytes| pieces.next(bytes)).into();
        assert_eq!(at, [0, 4096, 10_240, 26_624]);
    }

    const KIB: u64 = 1024;

    fn strides(refined: Refined, block: u64, span: u64, jobs: u32, job: u32) -> Strides {
        let workload =
            Workload { span_bytes: span, jobs, refined, ..Workload::new("w", Op::Read, Pattern::Sequential, block) };
        Strides::new(&workload, JobPlace { job, jobs, repeat: 0, repeats: 1, seed: 3 }, None).unwrap()
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
