//! How large the next operation is.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use assay_core::blocks::Blocks;
use assay_core::workload::Workload;

use crate::data::mix;

/// Keeps sizes independent of offsets and directions, which are drawn from the same seed.
const SALT: u64 = 0x517e_5b10_c4e5;

/// Sizes of the operations of one job in bytes.
#[derive(Debug)]
pub(crate) enum Sizes {
    /// All the same.
    One(u32),
    /// Each drawn by its share.
    Mixed {
        /// The size below each threshold of a draw; the last threshold is the largest number.
        below: Box<[(u64, u32)]>,
        generator: Xoshiro256PlusPlus,
    },
}

impl Sizes {
    /// Those of reads, and of all operations where writes have no others.
    pub(crate) fn new(workload: &Workload, seed: u64) -> Self {
        Self::of(&workload.blocks, workload.block_bytes, seed)
    }

    /// Those of writes; `None` where they are the same.
    pub(crate) fn of_writes(workload: &Workload, seed: u64) -> Option<Self> {
        let writes = &workload.refined.writes;
        (!writes.is_empty()).then(|| Self::of(writes, workload.block_bytes, seed ^ 1))
    }

    fn of(blocks: &Blocks, block_bytes: u64, seed: u64) -> Self {
        let bytes = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        let shares = blocks.shares();
        let Some(last) = shares.last() else { return Self::One(bytes(block_bytes)) };
        if shares.len() == 1 {
            return Self::One(bytes(last.block_bytes));
        }
        let mut sum = 0.0;
        let mut below: Vec<(u64, u32)> = Vec::with_capacity(shares.len());
        for share in &shares[..shares.len() - 1] {
            sum += share.percent / 100.0;
            below.push(((sum * u64::MAX as f64) as u64, bytes(share.block_bytes)));
        }
        below.push((u64::MAX, bytes(last.block_bytes)));
        Self::Mixed { below: below.into(), generator: Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ SALT)) }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u32 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Mixed { below, generator } => {
                let draw = generator.next_u64();
                let found = below.iter().find(|(threshold, _)| draw < *threshold);
                found.or(below.last()).map_or(0, |(_, bytes)| *bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::workload::{Op, Pattern};

    use super::*;

    /// Five standard errors of a share of 100,000 draws are at most 0.008.
    #[test]
    fn sizes_have_the_shares_that_were_asked_for() {
        let blocks = Blocks::parse("4KiB/60:16KiB/10:64KiB/30").unwrap();
        let workload = Workload { blocks, ..Workload::new("w", Op::Read, Pattern::Random, 23_552) };
        let mut sizes = Sizes::new(&workload, 7);
        let drawn: Vec<u32> = (0..100_000).map(|_| sizes.next()).collect();
        for (bytes, share) in [(4096, 0.6), (16_384, 0.1), (65_536, 0.3)] {
            let got = drawn.iter().filter(|size| **size == bytes).count() as f64 / 1e5;
            assert!((got - share).abs() < 0.008, "{bytes}: {got}");
        }
        let one = Workload::new("w", Op::Read, Pattern::Random, 512);
        assert_eq!(Sizes::new(&one, 7).next(), 512);
    }
}
