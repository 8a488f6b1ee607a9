//! A first look at a medium: some single operations, and what they tell of its usual pace.

use std::time::{Duration, Instant};

use assay_core::cluster::Look;
use assay_stats::middle;

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

/// What operations with these durations in seconds tell: their median. `None` without an operation.
pub(crate) fn look_of(seconds: &[f64]) -> Option<Look> {
    let operations = u32::try_from(seconds.len()).unwrap_or(u32::MAX);
    middle(seconds, 0.95).map(|middle| Look { seconds: middle.median, operations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_the_median_of_its_operations() {
        assert_eq!(look_of(&[]), None);
        assert_eq!(look_of(&[0.1, 0.001, 0.002]), Some(Look { seconds: 0.002, operations: 3 }));
    }

    #[test]
    fn a_look_ends_with_enough_operations_or_a_failure() {
        assert_eq!(Looks::ALONE.take(|_| true).len(), 8);
        assert_eq!(Looks::beside_others(Duration::from_secs(3600)).take(|_| true).len(), 64);
        assert_eq!(Looks::beside_others(Duration::ZERO).take(|_| true).len(), 8, "no time for more");
        assert_eq!(Looks::ALONE.take(|number| number < 3).len(), 3);
    }
}
