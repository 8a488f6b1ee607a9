//! What the next operation of a job is.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use assay_core::direction::Direction;
use assay_core::workload::{Op, Workload};

use crate::address::Addresses;
use crate::data::mix;
use crate::sizes::Sizes;

/// One operation that is to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) direction: Direction,
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
}

/// The operations of one job, one after the other.
pub(crate) struct Operations {
    directions: Directions,
    sizes: Sizes,
    addresses: Addresses,
    /// Where the part of the target begins that the workload uses.
    first_byte: u64,
}

impl Operations {
    pub(crate) fn new(workload: &Workload, addresses: Addresses, seed: u64) -> Self {
        Self {
            directions: Directions::new(workload, seed),
            sizes: Sizes::new(workload, seed),
            addresses,
            first_byte: workload.offset_bytes,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Operation {
        let bytes = self.sizes.next();
        Operation { direction: self.directions.next(), offset: self.first_byte + self.addresses.next(bytes), bytes }
    }
}

/// Chooses reads and writes.
enum Directions {
    Only(Direction),
    Mixed { read_below: u64, generator: Xoshiro256PlusPlus },
}

impl Directions {
    fn new(workload: &Workload, seed: u64) -> Self {
        match (workload.op, workload.read_percent) {
            (Op::Read, _) => Self::Only(Direction::Read),
            (Op::Write, _) => Self::Only(Direction::Write),
            (Op::Mixed, percent) => Self::Mixed {
                read_below: (u64::MAX / 100).saturating_mul(u64::from(percent.unwrap_or(50).min(100))),
                generator: Xoshiro256PlusPlus::seed_from_u64(mix(seed)),
            },
        }
    }

    #[inline]
    fn next(&mut self) -> Direction {
        match self {
            Self::Only(direction) => *direction,
            Self::Mixed { read_below, generator } => {
                if generator.next_u64() < *read_below {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::workload::Pattern;

    use super::*;

    fn read_share(op: Op, read_percent: Option<u8>) -> f64 {
        let workload = Workload { read_percent, ..Workload::new("w", op, Pattern::Random, 4096) };
        let mut directions = Directions::new(&workload, 7);
        let draws = 100_000;
        let reads = (0..draws).filter(|_| directions.next() == Direction::Read).count();
        reads as f64 / f64::from(draws)
    }

    /// Five standard errors of the share of 100,000 draws are 0.008.
    #[test]
    fn the_mix_is_the_one_that_was_asked_for() {
        for (percent, share) in [(Some(0), 0.0), (Some(1), 0.01), (Some(70), 0.7), (Some(99), 0.99), (None, 0.5)] {
            let got = read_share(Op::Mixed, percent);
            assert!((got - share).abs() < 0.008, "{percent:?}: {got}");
        }
        assert_eq!((read_share(Op::Mixed, Some(100)), read_share(Op::Mixed, Some(0))), (1.0, 0.0));
        assert_eq!((read_share(Op::Read, None), read_share(Op::Write, None)), (1.0, 0.0));
    }
}
