//! What the next operation of a job is: its kind, its size and its priority.

use assay_core::blocks::Blocks;
use assay_core::workload::{Direction, Op, Workload};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::address::{Addresses, Places};
use crate::buffer::mix;

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

// Which operations have a priority of their own.

/// Keeps priorities independent of sizes, offsets and directions, which are drawn from the same seed.
const PRIORITY_SALT: u64 = 0x9a10_71f3_0c5d;

/// Operations of one direction and size.
#[derive(Debug)]
struct Kind {
    direction: Direction,
    bytes: u32,
    /// The priority below each threshold of a draw, as the kernel takes it; above them there is none.
    below: Box<[(u64, u16)]>,
}

/// Priorities of the operations of one job.
#[derive(Debug)]
pub(crate) struct Priorities {
    kinds: Box<[Kind]>,
    generator: Xoshiro256PlusPlus,
}

impl Priorities {
    /// Those of a workload; `None` where no share of its operations has one.
    pub(crate) fn new(workload: &Workload, seed: u64) -> Option<Self> {
        let shares = &workload.priorities.shares;
        if shares.is_empty() {
            return None;
        }
        let mut kinds = Vec::new();
        for (op, direction) in [(Op::Read, Direction::Read), (Op::Write, Direction::Write)] {
            for bytes in workload.sizes_of(op) {
                let mut sum = 0u64;
                let below = shares.iter().filter(|share| share.is_of(op, bytes)).map(|share| {
                    sum = (sum + u64::from(share.percent)).min(100);
                    let threshold = if sum == 100 { u64::MAX } else { u64::MAX / 100 * sum };
                    (threshold, share.priority.value())
                });
                let below = below.collect();
                kinds.push(Kind { direction, bytes: u32::try_from(bytes).unwrap_or(u32::MAX), below });
            }
        }
        Some(Self { kinds: kinds.into(), generator: Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ PRIORITY_SALT)) })
    }

    /// The priority of the next operation, as the kernel takes it; 0 for that of the thread.
    #[inline]
    pub(crate) fn next(&mut self, direction: Direction, bytes: u32) -> u16 {
        let draw = self.generator.next_u64();
        let kind = self.kinds.iter().find(|kind| kind.direction == direction && kind.bytes == bytes);
        let found = kind.and_then(|kind| kind.below.iter().find(|(threshold, _)| draw <= *threshold));
        found.map_or(0, |(_, priority)| *priority)
    }
}

// How large the next operation is.

/// Keeps sizes independent of offsets and directions, which are drawn from the same seed.
const SIZE_SALT: u64 = 0x517e_5b10_c4e5;

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
        Self::drawn(&workload.blocks, workload.block_bytes, seed)
    }

    /// Those of writes; `None` where they are the same.
    pub(crate) fn of_writes(workload: &Workload, seed: u64) -> Option<Self> {
        let writes = &workload.refined.writes;
        (!writes.is_empty()).then(|| Self::drawn(writes, workload.block_bytes, seed ^ 1))
    }

    fn drawn(blocks: &Blocks, block_bytes: u64, seed: u64) -> Self {
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
        Self::Mixed { below: below.into(), generator: Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ SIZE_SALT)) }
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
    use assay_core::blocks::Blocks;
    use assay_core::priority;
    use assay_core::priority::Priority;
    use assay_core::workload::{Op, Pattern};

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

    /// Shares of the priorities of 100,000 draws; five standard errors of one are at most 0.008.
    fn drawn(shares: &str, direction: Direction, bytes: u32) -> impl Fn(&str) -> f64 {
        let workload = Workload {
            blocks: Blocks::parse("4KiB/50:64KiB/50").unwrap(),
            priorities: priority::Priorities {
                job: Priority::parse("idle").ok(),
                shares: priority::Priorities::parse_shares(shares).unwrap(),
            },
            ..Workload::new("w", Op::Mixed, Pattern::Random, 34_816)
        };
        let mut priorities = Priorities::new(&workload, 7).unwrap();
        let drawn: Vec<u16> = (0..100_000).map(|_| priorities.next(direction, bytes)).collect();
        move |priority| {
            let value = if priority.is_empty() { 0 } else { Priority::parse(priority).unwrap().value() };
            drawn.iter().filter(|drawn| **drawn == value).count() as f64 / 1e5
        }
    }

    #[test]
    fn priorities_have_the_shares_that_were_asked_for() {
        let of = drawn("20 % realtime, 30 % best-effort/7", Direction::Read, 4096);
        for (priority, share) in [("realtime", 0.2), ("best-effort/7", 0.3), ("", 0.5), ("idle", 0.0)] {
            assert!((of(priority) - share).abs() < 0.008, "{priority}: {}", of(priority));
        }
        let split = "25 % of 64KiB reads realtime/1, 75 % of 64KiB reads idle/2, 100 % of writes best-effort";
        let of = drawn(split, Direction::Read, 65_536);
        assert!((of("realtime/1") - 0.25).abs() < 0.008 && of("realtime/1") + of("idle/2") == 1.0);
        assert_eq!(drawn(split, Direction::Read, 4096)(""), 1.0, "other sizes have none");
        assert_eq!(drawn(split, Direction::Write, 4096)("best-effort"), 1.0);
    }

    #[test]
    fn where_none_was_asked_for_nothing_is_drawn() {
        assert!(Priorities::new(&Workload::new("w", Op::Read, Pattern::Random, 4096), 7).is_none());
    }

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
