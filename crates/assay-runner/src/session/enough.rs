//! Which repeats are made of a suite that leaves a workload when enough is known of it.
//!
//! All repeats of a workload are alike: as long as the first one, and with as many bytes to write. One that cannot be
//! is not made.

use std::time::Duration;

use assay_core::suite::{LEAST_REPEATS, PARTS, leaders};

use super::begin::Session;
use super::order::Order;
use super::turn::{Entry, Place, RepeatPlan, Turn, completed};
use crate::adaptive;
use crate::budget::weight;

/// A repeat in which fewer operations than this are expected is as long as in a suite with a fixed number of them.
const LEAST_OPERATIONS: f64 = 100.0;

impl Session<'_> {
    /// The repeat at `next`; `None` where it is not made.
    pub(super) fn short_turn(&self, entries: &mut [Entry], order: &Order, next: usize, wish: f64) -> Option<Turn> {
        let to_come = order.repeats.get(next..)?;
        let (&(index, round), suite) = (to_come.first()?, &self.request.suite);
        let settled = *entries[index].settled.get_or_insert(self.settle(&entries[index], order));
        let measurement = &self.record().measurements[index];
        if !settled.has(round, suite) || round >= LEAST_REPEATS && adaptive::known(measurement, wish) {
            return None;
        }
        // The least number of repeats of each workload comes before further ones of any.
        let least = to_come.iter().filter(|(_, round)| *round < LEAST_REPEATS).count();
        let least = u32::try_from(least).unwrap_or(u32::MAX);
        let slot = if round < LEAST_REPEATS {
            settled.slot.min(self.budget.slot(least))
        } else if self.budget.left() >= settled.slot + order.usual * least {
            settled.slot
        } else {
            return None;
        };
        let may_write = measurement.workload.stop.max_bytes.filter(|_| !measurement.repeats.is_empty());
        if may_write.is_some_and(|bytes| bytes > self.budget.write_left()) {
            return None;
        }
        // The first repeat has as many bytes as in a suite with a fixed number of them, and so have the others.
        let planned = to_come.iter().filter(|(_, round)| *round < suite.repeats);
        let weights: u64 = planned.map(|(index, _)| weight(&suite.workloads[*index])).sum();
        let (done, total) = self.short_progress(entries, order, next, wish);
        Some(Turn { round, done, total, slot, weights: weights.max(weight(&suite.workloads[index])), may_write })
    }

    /// How the repeats of a workload are to be made.
    fn settle(&self, entry: &Entry, order: &Order) -> RepeatPlan {
        let settings = &self.record().settings;
        let suite = &self.request.suite;
        let turns = u32::try_from(leaders(&suite.workloads).len()).unwrap_or(u32::MAX).max(1);
        let longest = Duration::from_nanos(settings.budget_ns) / turns.saturating_mul(suite.most_repeats()).max(1);
        if let Some(before) = RepeatPlan::before(&self.record().measurements[entry.index], longest, order.rounds) {
            return before;
        }
        // A medium too slow for what was asked for within a short repeat has long ones.
        let span = Place::of(&suite.workloads, entry.index, settings.span_bytes).span_bytes;
        let fitted = |slot| self.pace.fit(&entry.asked, slot, span, self.alignment());
        let few = self.pace.expected(&entry.asked).is_some_and(|s| s * LEAST_OPERATIONS > order.usual.as_secs_f64());
        let whole = few || fitted(order.usual) != fitted(order.usual * PARTS);
        let slot = if whole { order.usual * PARTS } else { order.usual };
        RepeatPlan { slot, whole, open: !whole && order.rounds > LEAST_REPEATS }
    }

    /// Repeats made when it comes to the one at `next`, and all that may be made by what is known now.
    fn short_progress(&self, entries: &[Entry], order: &Order, next: usize, wish: f64) -> (u32, u32) {
        let (suite, measurements) = (&self.request.suite, &self.record().measurements);
        let done = measurements.iter().map(completed).sum::<u32>();
        let open = order.repeats[next..].iter().filter(|(index, round)| {
            let settled = entries[*index].settled;
            settled.is_none_or(|settled| settled.has(*round, suite))
                && (*round < LEAST_REPEATS || !adaptive::known(&measurements[*index], wish))
        });
        (done, done + u32::try_from(open.count()).unwrap_or(u32::MAX))
    }
}
