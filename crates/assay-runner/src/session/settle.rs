//! The loads of a run that begins its repeats together with other hosts: the same on all of them, settled before the
//! first repeat.

use std::sync::Arc;

use assay_core::cluster::{SettledLoad, Settlement};
use assay_core::finding::Finding;
use assay_core::outcome::RunFailure;
use assay_core::suite::SuiteWorkload;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern};

use super::begin::Session;
use super::order::Order;
use super::turn::{Entry, Place, no_room};
use crate::timeout::{NoAnswer, SLOW, SYNC, no_thread, within};
use crate::together::{Ability, AbleLoad, CommonLoad, CommonLoads, timed};

impl Session<'_> {
    /// Tells the other hosts what this one can do, where there are any, and takes over what all are to run; false where the
    /// run ends with that.
    pub(super) fn settle_with_others(&mut self, entries: &mut [Entry], order: &Order) -> bool {
        if self.rendezvous.is_none() || order.repeats.is_empty() {
            return true;
        }
        if !self.first_writes() {
            return false;
        }
        let able = self.ability(entries, order);
        let control = self.control.clone();
        let Some(rendezvous) = self.rendezvous.as_deref_mut() else { return true };
        let (common, waited) = timed(|| rendezvous.settle(&able, &control));
        self.budget.waited(waited);
        self.whole.waited(waited);
        if let Some(common) = common {
            self.take_common(entries, &able, &common);
            self.checkpoint();
        }
        !self.control.stopped()
    }

    /// Writes a few random blocks, to know how fast that is: a stream, which is all that was written by now, does not tell.
    /// A host by itself finds it out as it goes. False where the medium does not answer.
    fn first_writes(&mut self) -> bool {
        let writes = |w: &SuiteWorkload| w.op != Op::Read && w.pattern == Pattern::Random && !w.sync.each();
        if !self.request.suite.workloads.iter().any(writes) {
            return true;
        }
        let limit = self.request.hang_after * SLOW;
        let (target, span, seed) =
            (Arc::clone(&self.area.target), self.record().settings.span_bytes, self.request.seed);
        let mut looking = self.pace.clone();
        let looked = within(limit, move || {
            let written = looking.look_at_writes(&target, span, seed);
            (looking, written)
        });
        match looked {
            Ok((known, written)) => {
                self.pace = known;
                self.budget.wrote(written);
                self.draft.fill().settings.written_bytes += written;
                return true;
            }
            Err(NoAnswer::Late) => {
                let limit = assay_core::units::span(limit);
                self.fail(RunFailure::Hung, format!("a first write was not answered for {limit}"));
            }
            Err(NoAnswer::NoThread(error)) => self.fail(RunFailure::Host, no_thread(&error)),
        }
        false
    }

    /// What this host can do, by what is known of its medium now.
    fn ability(&self, entries: &[Entry], order: &Order) -> Ability {
        let slot = self.slot(&order.repeats, order.usual).map_or(order.usual, |(slot, _)| slot);
        let (pace, area) = (self.pace.usual(), self.record().settings.span_bytes);
        let able = |entry: &Entry| {
            let span = Place::of(&self.request.suite.workloads, entry.index, area).span_bytes;
            let fitted = pace.fit(&entry.asked, slot, span, self.alignment());
            let seconds = pace.expected(&entry.asked);
            AbleLoad {
                block_bytes: fitted.block.0,
                queue_depth: fitted.queue_depth,
                jobs: fitted.jobs,
                seconds: seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0),
            }
        };
        Ability {
            loads: entries.iter().map(able).collect(),
            area_bytes: area,
            budget: self.request.suite.budget,
            mounted: self.record().medium.mounted(),
        }
    }

    /// From now on all repeats are of the loads that all hosts run, in a test area that all have.
    fn take_common(&mut self, entries: &mut [Entry], able: &Ability, common: &CommonLoads) {
        let own_area_bytes = able.area_bytes;
        if common.area_bytes < own_area_bytes {
            self.area.trim(common.area_bytes, self.request.hang_after * SYNC);
            self.draft.fill().settings.span_bytes = common.area_bytes;
            self.draft.fill().warnings.retain(|w| !matches!(w.finding, Finding::SmallerSpan { .. }));
            let (asked_bytes, used_bytes) = (self.request.suite.span.0, common.area_bytes);
            let reason = "all nodes of the run use the same area".to_owned();
            self.warn(Finding::SmallerSpan { asked_bytes, used_bytes, reason });
        }
        for (entry, load) in entries.iter_mut().zip(&common.loads) {
            entry.fitted = Some(common_load(&entry.asked, load));
            entry.common = true;
        }
        let settled = |(entry, load): (&Entry, &CommonLoad)| SettledLoad {
            workload: entry.asked.name.clone(),
            block_bytes: load.block_bytes,
            queue_depth: load.queue_depth,
            jobs: load.jobs,
            to_typical: load.to_typical,
            far_below: load.far_below,
        };
        self.settled = Some(Settlement {
            by: common.by,
            nodes: common.nodes,
            area_bytes: common.area_bytes,
            own_area_bytes,
            loads: entries.iter().zip(&common.loads).map(settled).collect(),
        });
    }

    /// Why a load that all hosts run cannot be run here; `None` where it can.
    pub(super) fn cannot_run_common(&self, entry: &Entry, span: u64) -> Option<&'static str> {
        let fitted = entry.fitted.as_ref().filter(|_| entry.common)?;
        if no_room(fitted, span) || fitted.block.0.saturating_mul(u64::from(fitted.jobs)) > span {
            return Some("the test area is smaller than the blocks that all nodes of the run use");
        }
        if fitted.direct && !fitted.block.0.is_multiple_of(self.alignment()) {
            return Some("direct I/O here cannot do the blocks that all nodes of the run use");
        }
        let in_flight = f64::from(fitted.queue_depth) * f64::from(fitted.jobs);
        let seconds = self.pace.expected(fitted)? * in_flight;
        (seconds > self.budget.left().as_secs_f64())
            .then_some("what all nodes of the run keep in flight takes longer here than is left of the budget")
    }
}

/// What was asked for, no deeper and in no larger blocks than all hosts run.
fn common_load(asked: &SuiteWorkload, load: &CommonLoad) -> SuiteWorkload {
    let mut common = asked.clone();
    common.queue_depth = load.queue_depth.clamp(1, asked.queue_depth.max(1));
    common.jobs = load.jobs.clamp(1, asked.jobs.max(1));
    if !asked.has_sizes() {
        common.block = Bytes(load.block_bytes.clamp(512, asked.block.0.max(512)));
    }
    common
}
