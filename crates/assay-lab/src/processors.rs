//! Work by seed, on every processor.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `work` for each seed, as many at a time as there are processors, and returns the results in the order of the
/// seeds. A panic of `work` becomes that of the caller, after the other threads have finished their calls.
pub fn on_all_processors<T: Send>(seeds: Range<u64>, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(seeds.start);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return done;
            }
            done.push((seed, work(seed)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = worker();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::on_all_processors;

    #[test]
    fn each_seed_is_worked_off_once_and_stands_in_its_place() {
        assert_eq!(on_all_processors(3..40, |seed| seed * seed), (3..40).map(|seed| seed * seed).collect::<Vec<_>>());
        assert_eq!(on_all_processors(5..5, |seed| seed), [0u64; 0]);
    }

    #[test]
    #[should_panic(expected = "seed 7")]
    fn a_panic_is_that_of_the_caller() {
        on_all_processors(0..20, |seed| assert!(seed != 7, "seed {seed}"));
    }
}
