//! What the next operation of a job is.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use assay_core::direction::Direction;
use assay_core::workload::{Op, Workload};

use crate::address::{Addresses, Places};
use crate::data::mix;
use crate::priorities::Priorities;
use crate::sizes::Sizes;

/// One operation that is to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) direction: Direction,
    /// Its own, as the kernel takes it; 0 for that of the thread.
    pub(crate) priority: u16,
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
}

/// The operations of one job, one after the other.
pub(crate) struct Operations {
    directions: Directions,
    sizes: Sizes,
    addresses: Addresses,
    /// Sizes of writes, where they are others than those of reads.
    sizes_of_writes: Option<Sizes>,
    /// Where writes go, where they are a stream of their own.
    places_of_writes: Option<Addresses>,
    /// Which of them have a priority of their own, where some have.
    priorities: Option<Priorities>,
    /// Where the part of the target begins that the workload uses.
    first_byte: u64,
}

impl Operations {
    pub(crate) fn new(workload: &Workload, places: Places, seed: u64) -> Self {
        Self {
            directions: Directions::new(workload, seed),
            sizes: Sizes::new(workload, seed),
            addresses: places.all,
            sizes_of_writes: Sizes::of_writes(workload, seed),
            places_of_writes: places.writes,
            priorities: Priorities::new(workload, seed),
            first_byte: workload.offset_bytes,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Operation {
        let direction = self.directions.next();
        let (mut sizes, mut places) = (&mut self.sizes, &mut self.addresses);
        if direction == Direction::Write {
            sizes = self.sizes_of_writes.as_mut().unwrap_or(sizes);
            places = self.places_of_writes.as_mut().unwrap_or(places);
        }
        let bytes = sizes.next();
        let priority = self.priorities.as_mut().map_or(0, |priorities| priorities.next(direction, bytes));
        Operation { direction, priority, offset: self.first_byte + places.next(bytes), bytes }
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
