//! A first look at a medium: some single operations, and what they tell of its usual pace.

use std::time::{Duration, Instant};

use assay_core::cluster::Look;
use assay_stats::middle;

/// The chance that the usual operation is quicker than `least_seconds`: 28 nodes with four looks each are wrong in one of 900
/// runs, 250 nodes in one of 100. The first 17 operations reach it.
const CHANCE: f64 = 1e-5;
/// Operations of a look by a host alone, which is compared with no other.
const FEW: u32 = 8;
/// Operations of a look beside others.
const MANY: u32 = 64;
/// The longest look.
const LONGEST: Duration = Duration::from_secs(1);
/// A look takes this part of the time of the suite at most, once there are [`FEW`] operations.
const PART: u32 = 40;

/// How many operations to look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    most: u32,
    within: Duration,
}

impl Looks {
    /// For a host that is alone.
    pub(crate) const ALONE: Self = Self { most: FEW, within: LONGEST };

    /// For a host that is compared with others in a suite of this time.
    pub(crate) fn beside_others(budget: Duration) -> Self {
        Self { most: MANY, within: (budget / PART).min(LONGEST) }
    }

    /// Times operations one by one, until one fails, there are enough, or the time is over.
    pub(crate) fn take(self, mut operation: impl FnMut(u64) -> bool) -> Vec<Duration> {
        let (begun, mut looks) = (Instant::now(), Vec::new());
        for number in 0..self.most {
            let before = Instant::now();
            if !operation(u64::from(number)) {
                break;
            }
            looks.push(before.elapsed());
            let limit = if number + 1 < FEW { LONGEST } else { self.within };
            if begun.elapsed() > limit {
                break;
            }
        }
        looks
    }
}

/// What operations with these durations in seconds tell. The bound is by order statistics, so that it holds for heavy tails too;
/// it takes operations to be independent of each other. `None` without an operation.
#[must_use]
pub fn look_of(seconds: &[f64]) -> Option<Look> {
    let middle = middle(seconds, 1.0 - 2.0 * CHANCE)?;
    Some(Look {
        seconds: middle.median,
        operations: u32::try_from(seconds.len()).unwrap_or(u32::MAX),
        least_seconds: middle.interval.map(|(least, _)| least),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_operations_bound_nothing() {
        let of = |count: usize| look_of(&vec![0.001; count]);
        assert_eq!(of(0), None);
        assert_eq!(of(16).map(|look| (look.operations, look.least_seconds)), Some((16, None)));
        assert_eq!(of(17).map(|look| (look.seconds, look.least_seconds)), Some((0.001, Some(0.001))));
    }

    /// Of 50 operations ten or fewer are below the median in 1.2 of 100,000 cases, nine or fewer in 2.8 of a million: the tenth is
    /// the bound.
    #[test]
    fn the_bound_is_the_order_statistic_by_hand() {
        let seconds: Vec<f64> = (1..=50).map(f64::from).collect();
        assert_eq!(look_of(&seconds).and_then(|look| look.least_seconds), Some(10.0));
    }

    #[test]
    fn a_look_ends_with_enough_operations_or_a_failure() {
        assert_eq!(Looks::ALONE.take(|_| true).len(), 8);
        assert_eq!(Looks::beside_others(Duration::from_secs(3600)).take(|_| true).len(), 64);
        assert_eq!(Looks::beside_others(Duration::ZERO).take(|_| true).len(), 8, "no time for more");
        assert_eq!(Looks::ALONE.take(|number| number < 3).len(), 3);
    }
}
