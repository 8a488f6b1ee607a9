//! Which operations have a priority of their own.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use assay_core::direction::Direction;
use assay_core::workload::{Op, Workload};

use crate::data::mix;

/// Keeps priorities independent of sizes, offsets and directions, which are drawn from the same seed.
const SALT: u64 = 0x9a10_71f3_0c5d;

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
        Some(Self { kinds: kinds.into(), generator: Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ SALT)) })
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

#[cfg(test)]
mod tests {
    use assay_core::blocks::Blocks;
    use assay_core::priority::{self, Priority};
    use assay_core::workload::Pattern;

    use super::*;

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
}
