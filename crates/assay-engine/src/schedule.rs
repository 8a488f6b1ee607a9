//! When the operations of an open loop are due.

use std::sync::atomic::Ordering;

use assay_core::arrivals::{Arrivals, Process};
use rand_core::SeedableRng;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::counters::Turns;
use crate::data::mix;

/// The planned times of one job. Threads that make up the queue of a job take its times in turns, each the next free
/// one: one queue with several servers.
#[derive(Debug)]
pub(crate) struct Schedule {
    process: Process,
    interval_ns: f64,
    generator: Xoshiro256PlusPlus,
    /// Number of the time that `at_ns` is.
    index: u64,
    at_ns: f64,
    taken: Turns,
}

impl Schedule {
    /// The times of a job of `jobs`, which share the rate alike. All threads of a job give the same `seed` and `taken`.
    pub(crate) fn new(arrivals: Arrivals, jobs: u32, seed: u64, taken: Turns) -> Self {
        let interval_ns = 1e9 * f64::from(jobs.max(1)) / arrivals.iops.max(1e-9);
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ 0x5c4e_d01e));
        // Jobs at equal intervals do not all begin at once.
        let phase = match arrivals.process {
            Process::Poisson => sample(&mut generator),
            Process::Constant => (mix(seed) >> 11) as f64 / (1u64 << 53) as f64,
        };
        Self { process: arrivals.process, interval_ns, generator, index: 0, at_ns: phase * interval_ns, taken }
    }

    /// The next time that no thread has taken, in nanoseconds from the start.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let index = self.taken.0.fetch_add(1, Ordering::Relaxed);
        while self.index < index {
            self.index += 1;
            self.at_ns += match self.process {
                Process::Constant => self.interval_ns,
                Process::Poisson => self.interval_ns * sample(&mut self.generator),
            };
        }
        self.at_ns as u64
    }
}

/// An exponential interval of mean 1.
#[inline]
fn sample(generator: &mut Xoshiro256PlusPlus) -> f64 {
    Exp1.sample(generator)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn times(process: Process, iops: f64, jobs: u32, count: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(Arrivals { iops, process }, jobs, 7, Arc::default());
        (0..count).map(|_| schedule.next()).collect()
    }

    /// Of 100,000 exponential intervals the mean is within five standard errors (1.6 %), and the share of those above
    /// the mean is 1/e.
    #[test]
    fn poisson_arrivals_have_exponential_intervals() {
        let times = times(Process::Poisson, 1000.0, 1, 100_001);
        let intervals: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = intervals.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
        let above = intervals.iter().filter(|i| **i > 1.0).count() as f64 / 1e5;
        assert!((above - (-1f64).exp()).abs() < 0.008, "{above}");
    }

    #[test]
    fn constant_arrivals_are_even_and_jobs_share_the_rate() {
        let times = times(Process::Constant, 1000.0, 4, 1000);
        assert!(times.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(4_000_000) <= 1), "{:?}", &times[..3]);
        assert!(times[0] < 4_000_000);
    }

    #[test]
    fn threads_of_a_job_share_its_times() {
        let taken = Turns::default();
        let arrivals = Arrivals { iops: 500.0, process: Process::Poisson };
        let mut threads = [0, 1, 2].map(|_| Schedule::new(arrivals, 1, 7, Arc::clone(&taken)));
        let shared: Vec<u64> = (0..300).map(|turn| threads[(turn * 7 / 5) % 3].next()).collect();
        assert_eq!(shared, times(Process::Poisson, 500.0, 1, 300));
    }
}
