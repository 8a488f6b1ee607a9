//! The job and the repeat that offsets are for, and the job's part of the span.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::mix;

/// The job and the repeat that offsets are for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) job: u32,
    pub(crate) jobs: u32,
    /// Repeat, from 0, and how many are planned: sequential repeats start at different places,
    /// so that a cache in the medium does not see the same blocks first each time.
    pub(crate) repeat: u32,
    pub(crate) repeats: u32,
    pub(crate) seed: u64,
}

impl Place {
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
