//! Where operations of several sizes go, and those that begin at multiples of something else than their size.

use std::sync::atomic::Ordering;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use assay_core::workload::{Pattern, Workload};

use crate::counters::Turns;
use crate::place::{Place, Region};
use crate::spread::Spread;

/// Offsets that are multiples of what the workload says, else of the greatest common divisor of all sizes.
#[derive(Debug)]
pub(crate) struct Pieces {
    unit: u64,
    /// The job's part of the span, in bytes.
    first: u64,
    bytes: u64,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// One after the other from `start` on and around. What does not fit before the end ends there.
    Stream { start: u64, turn: Turns },
    /// Anywhere.
    Random(Xoshiro256PlusPlus),
    /// From a random unit on; some units are more frequent than others.
    Spread(Xoshiro256PlusPlus, Spread),
}

impl Pieces {
    /// `turn` is shared by the threads that make up one queue.
    pub(crate) fn new(workload: &Workload, place: Place, turn: Option<Turns>) -> Self {
        let sizes = workload.blocks.shares().iter().chain(workload.refined.writes.shares());
        let common = sizes.fold(0, |unit, share| gcd(share.block_bytes, unit)).max(1);
        let unit = workload.refined.align_bytes.filter(|_| workload.pattern == Pattern::Random).unwrap_or(common);
        let all = (workload.span_bytes / unit).max(1);
        if workload.pattern == Pattern::Random {
            let generator = place.generator();
            let way = match Spread::new(&workload.distribution, all, place.seed) {
                Some(spread) => Way::Spread(generator, spread),
                None => Way::Random(generator),
            };
            return Self { unit, first: 0, bytes: all * unit, way };
        }
        let Region { first, units, start } = place.region(all);
        let way = Way::Stream { start: start * unit, turn: turn.unwrap_or_default() };
        Self { unit, first: first * unit, bytes: units * unit, way }
    }

    #[inline]
    pub(crate) fn next(&mut self, bytes: u32) -> u64 {
        let room = self.bytes.saturating_sub(u64::from(bytes));
        let at = match &mut self.way {
            Way::Stream { start, turn } => {
                (*start + turn.0.fetch_add(u64::from(bytes), Ordering::Relaxed)) % self.bytes
            }
            Way::Random(generator) => {
                let places = u128::from(room / self.unit + 1);
                ((u128::from(generator.next_u64()) * places) >> 64) as u64 * self.unit
            }
            Way::Spread(generator, spread) => spread.next(generator) * self.unit,
        };
        self.first + at.min(room / self.unit * self.unit)
    }
}

/// Greatest common divisor (Euclid).
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use assay_core::blocks::Blocks;
    use assay_core::distribution::Distribution;
    use assay_core::workload::Op;

    use super::*;
    use crate::sizes::Sizes;

    fn workload(pattern: Pattern, span_bytes: u64) -> Workload {
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
            let workload = Workload { distribution, ..workload(pattern, 1 << 20) };
            let (mut sizes, mut ends) = (Sizes::new(&workload, 3), [u64::MAX, 0]);
            for job in 0..2 {
                let place = Place { job, jobs: 2, repeat: 0, repeats: 1, seed: 3 };
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
        let workload = Workload { refined, ..workload(Pattern::Random, 1 << 20) };
        let mut pieces = Pieces::new(&workload, Place { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 3 }, None);
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
        let workload = workload(Pattern::Sequential, 1 << 20);
        let mut pieces = Pieces::new(&workload, Place { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 3 }, None);
        let at: Vec<u64> = [4096, 6144, 16_384, 4096].map(|bytes| pieces.next(bytes)).into();
        assert_eq!(at, [0, 4096, 10_240, 26_624]);
    }
}
