//! Workloads of a group whose operations are kept in the ratio of their weights.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_core::workload::Workload;

use crate::counters::Turns;

/// A job that is ahead of the others looks again after this time, where the load has no pause of its own.
const LOOK_AGAIN: Duration = Duration::from_micros(20);
/// No single sleep is longer, so that a stop is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Lets the threads of one workload begin operations while they are not ahead of the others. As fio does with `flow`: a
/// job waits while its part of all operations is above its part of all weights.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    own: Turns,
    all: Turns,
    weight: u64,
    weights: u64,
    pause: Duration,
}

impl Gate {
    /// Those of workloads that run at the same time; `None` of one without a weight.
    pub(crate) fn of<'w>(workloads: impl Iterator<Item = &'w Workload> + Clone) -> Vec<Option<Self>> {
        let weights = workloads.clone().filter_map(|w| w.refined.flow).map(|flow| u64::from(flow.weight)).sum();
        let all = Turns::default();
        let gate = |w: &Workload| {
            w.refined.flow.map(|flow| Self {
                own: Turns::default(),
                all: Arc::clone(&all),
                weight: u64::from(flow.weight),
                weights,
                pause: Duration::from_nanos(flow.pause_ns),
            })
        };
        workloads.map(gate).collect()
    }

    /// Whether an operation may begin now, which it then has to.
    #[inline]
    pub(crate) fn admits(&self) -> bool {
        let (own, all) = (self.own.0.load(Ordering::Relaxed), self.all.0.load(Ordering::Relaxed));
        if u128::from(own) * u128::from(self.weights) > u128::from(all) * u128::from(self.weight) {
            return false;
        }
        self.own.0.fetch_add(1, Ordering::Relaxed);
        self.all.0.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Waits a moment for the others.
    pub(crate) fn wait(&self, stop: &AtomicBool) {
        let mut left = self.pause.max(LOOK_AGAIN);
        while !left.is_zero() && !stop.load(Ordering::Relaxed) {
            let sleep = left.min(LONGEST_SLEEP);
            std::thread::sleep(sleep);
            left -= sleep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::refined::{Flow, Refined};
    use assay_core::workload::{Op, Pattern};

    #[test]
    fn operations_are_kept_in_the_ratio_of_the_weights() {
        let of = |weight| {
            let flow = (weight > 0).then_some(Flow { weight, pause_ns: 0 });
            let refined = Refined { flow, ..Refined::default() };
            Workload { refined, ..Workload::new("w", Op::Read, Pattern::Random, 512) }
        };
        let workloads = [of(8), of(1), of(0)];
        let gates = Gate::of(workloads.iter());
        let [Some(much), Some(little), None] = &gates[..] else { panic!("{gates:?}") };
        let (mut of_much, mut of_little) = (0, 0);
        for _ in 0..9000 {
            of_much += u32::from(much.admits());
            of_little += u32::from(little.admits());
        }
        let ratio = f64::from(of_much) / f64::from(of_little);
        assert!((ratio - 8.0).abs() < 0.1 && of_little > 900, "{of_much} {of_little}");
    }
}
