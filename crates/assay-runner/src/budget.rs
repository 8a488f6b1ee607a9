//! Time and bytes: what is left, and what the next repeat may take of it.

use std::time::Duration;

use assay_core::suite::{Suite, SuiteWorkload, leaders};
use assay_core::workload::{Op, Pattern};
use assay_engine::{Control, Moment};

/// Share of the time budget that writing the test area may take.
const LAYOUT_SHARE: f64 = 0.2;
/// Share of the write budget that the test area may take where the suite writes more afterwards.
const LAYOUT_BYTES_SHARE: u64 = 4;
/// Kept back for draining, syncing and cleaning up at the end.
const RESERVE_SHARE: f64 = 0.05;
/// Warm-up at most, and its share of a repeat.
const RAMP: Duration = Duration::from_millis(500);
const RAMP_SHARE: f64 = 0.15;
/// A repeat shorter than this says nothing.
const LEAST_REPEAT: Duration = Duration::from_millis(100);

/// Least slot of time that makes such a repeat, its warm-up included: 100 ms / (1 - 15 %), rounded up.
const LEAST_SLOT: Duration = Duration::from_millis(118);
/// What is planned for it, with what is done before and after a repeat: files are opened, a queue drains, writes are synced.
pub(crate) const PLANNED_SLOT: Duration = Duration::from_millis(250);

/// The least time budget in which `repeats` repeats fit one after the other, in whole seconds.
pub(crate) fn least_budget(repeats: u32) -> Duration {
    let seconds = PLANNED_SLOT.as_secs_f64() * f64::from(repeats) / (1.0 - LAYOUT_SHARE - RESERVE_SHARE);
    Duration::from_secs(seconds.ceil() as u64)
}

/// What is planned for a repeat of a workload whose length the suite does not say, where programs share its time.
const USUAL_REPEAT: Duration = Duration::from_secs(5);

/// The time of a suite that its workloads have; programs have the rest. It is shared by how long they would take, but a
/// repeat of each workload has its time.
pub(crate) fn workloads_time(suite: &Suite) -> Duration {
    if suite.programs.is_empty() {
        return suite.budget;
    }
    let leaders = leaders(&suite.workloads);
    let programs: Duration = suite.programs.iter().map(|p| p.duration).sum();
    let workloads: Duration = leaders.iter().map(|at| suite.workloads[*at].duration.unwrap_or(USUAL_REPEAT)).sum();
    let share = workloads.as_secs_f64() / (programs + workloads).as_secs_f64().max(1e-9);
    let least = least_budget(u32::try_from(leaders.len()).unwrap_or(u32::MAX / 2));
    suite.budget.mul_f64(share.min(1.0)).max(least).min(suite.budget)
}

/// The bytes of a suite that its workloads may write: half, where programs write too.
pub(crate) fn workloads_bytes(suite: &Suite) -> u64 {
    if suite.programs_write() { suite.max_write.0 / 2 } else { suite.max_write.0 }
}

/// The longest that a repeat of a workload takes, its warm-up included, where the repeats of the suite share its time
/// alike and its test area is there at once.
#[must_use]
pub fn longest_repeat(suite: &Suite, workload: &SuiteWorkload) -> Duration {
    let turns = leaders(&suite.workloads).len();
    let repeats = suite.repeats.saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX));
    let share = workloads_time(suite).mul_f64(1.0 - RESERVE_SHARE) / repeats.max(1);
    workload.duration.map_or(share, |wanted| wanted.min(share))
}

/// Time and bytes of one run.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    start: Moment,
    time: Duration,
    /// Time in which nothing was done but to wait: it is no part of the budget.
    waited: Duration,
    max_write: u64,
    /// Bytes written before the run was interrupted: reported, but not counted against the limit.
    before: u64,
    written: u64,
    /// Knows the time for which the process was stopped, which does not count.
    control: Control,
}

/// What one repeat may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) ramp: Duration,
    pub(crate) duration: Duration,
    pub(crate) max_bytes: Option<u64>,
}

impl Budget {
    pub(crate) fn new(time: Duration, max_write: u64) -> Self {
        let waited = Duration::ZERO;
        Self {
            start: Control::default().now(),
            time,
            waited,
            max_write,
            before: 0,
            written: 0,
            control: Control::default(),
        }
    }

    /// The same for a resumed run that wrote `before` bytes already.
    pub(crate) fn after(self, before: u64) -> Self {
        Self { before, ..self }
    }

    /// The same without time for which `control` says that the process was stopped.
    pub(crate) fn under(self, control: &Control) -> Self {
        Self { start: control.now(), control: control.clone(), ..self }
    }

    /// Most bytes that the test area may have.
    pub(crate) fn area_bytes(&self, suite_writes: bool) -> u64 {
        if suite_writes { self.max_write / LAYOUT_BYTES_SHARE } else { self.max_write }
    }

    /// When writing the test area must end.
    pub(crate) fn layout_time(&self) -> Duration {
        self.time.mul_f64(LAYOUT_SHARE)
    }

    /// Time in which the run waited for others does not count.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.waited += time;
    }

    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Bytes written by the run, parts before an interruption included.
    pub(crate) fn written(&self) -> u64 {
        self.before + self.written
    }

    /// Bytes written by this part of the run.
    pub(crate) fn written_now(&self) -> u64 {
        self.written
    }

    /// Bytes that may yet be written.
    pub(crate) fn write_left(&self) -> u64 {
        self.max_write.saturating_sub(self.written)
    }

    /// Time left for repeats.
    pub(crate) fn left(&self) -> Duration {
        (self.time.mul_f64(1.0 - RESERVE_SHARE) + self.waited).saturating_sub(self.control.elapsed(&self.start))
    }

    /// How many rounds the time left allows, where each workload has made some of the `most` repeats that are
    /// planned; a repeat takes `least` or longer. One at least, however little time is left.
    pub(crate) fn rounds(&self, done: &[u32], most: u32, least: Duration) -> u32 {
        let missing = |rounds: u32| done.iter().map(|done| rounds.saturating_sub(*done)).sum::<u32>();
        let left = self.left();
        (1..=most).rev().find(|rounds| least.saturating_mul(missing(*rounds)) <= left).unwrap_or(1)
    }

    /// Time for one of `repeats_left` equal repeats; as long as there is time, enough for a repeat.
    pub(crate) fn slot(&self, repeats_left: u32) -> Duration {
        let left = self.left();
        (left / repeats_left.max(1)).max(LEAST_SLOT.min(left))
    }

    /// The same for the first repeat of one of `workloads`: it has the least time even where the others took more than was
    /// planned, so that none is left out. All of them together may go over the time by what is planned for as many.
    pub(crate) fn first_slot(&self, slot: Duration, workloads: usize) -> Duration {
        let over = PLANNED_SLOT.saturating_mul(u32::try_from(workloads).unwrap_or(u32::MAX));
        let time = self.time.saturating_add(self.waited);
        let is_late = self.control.elapsed(&self.start) > time.saturating_add(over);
        if is_late { slot } else { slot.max(LEAST_SLOT) }
    }

    /// The share of the next repeat: its slot of time, and its weight of the bytes left.
    /// `weights_left` is the sum over all repeats still to come, this one included. `None` where
    /// nothing worth measuring is left.
    pub(crate) fn share(&self, workload: &SuiteWorkload, slot: Duration, weights_left: u64) -> Option<Share> {
        let slot = workload.duration.map_or(slot, |wanted| wanted.min(slot));
        let ramp = RAMP.min(slot.mul_f64(RAMP_SHARE));
        let duration = slot.saturating_sub(ramp);
        if duration < LEAST_REPEAT {
            return None;
        }
        let max_bytes = match workload.op {
            Op::Read => None,
            Op::Write | Op::Mixed => {
                let share =
                    u128::from(self.write_left()) * u128::from(weight(workload)) / u128::from(weights_left.max(1));
                let bytes = share as u64;
                if bytes < workload.block.0 * u64::from(workload.queue_depth) * u64::from(workload.jobs) {
                    return None;
                }
                Some(bytes)
            }
        };
        Some(Share { ramp, duration, max_bytes })
    }
}

/// How much of the write budget a repeat of this workload gets, relative to the others: a
/// sequential stream needs more bytes than single synced blocks for the same time.
pub(crate) fn weight(workload: &SuiteWorkload) -> u64 {
    match (workload.op, workload.pattern) {
        (Op::Read, _) => 0,
        _ if workload.sync.each() => 1,
        (_, Pattern::Sequential) => 8,
        (_, Pattern::Random) if workload.queue_depth > 1 || workload.jobs > 1 => 4,
        (_, Pattern::Random) => 2,
    }
}

#[cfg(test)]
mod tests {
    use assay_core::units::{GIB, MIB};

    use super::*;
    use crate::samples::asked;

    fn workload(op: Op, pattern: Pattern) -> SuiteWorkload {
        asked(op, pattern, 4096, 1)
    }

    /// A node that waited for others had no least slot left for its last workloads.
    #[test]
    fn time_waited_for_others_leaves_the_first_repeats_their_time() {
        let mut budget = Budget::new(Duration::ZERO, GIB);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(budget.first_slot(Duration::ZERO, 0), Duration::ZERO, "the time is over");
        budget.waited(Duration::from_secs(3600));
        assert_eq!(budget.first_slot(Duration::ZERO, 0), LEAST_SLOT);
    }

    #[test]
    fn shares_never_add_up_to_more_than_was_allowed() {
        let mut budget = Budget::new(Duration::from_secs(90), GIB);
        assert_eq!(budget.area_bytes(true), 256 * MIB);
        budget.wrote(256 * MIB);
        let all = [workload(Op::Write, Pattern::Sequential), workload(Op::Write, Pattern::Random)];
        let mut weights: u64 = all.iter().map(weight).sum::<u64>() * 3;
        for _ in 0..3 {
            for w in &all {
                let share = budget.share(w, Duration::from_secs(4), weights).unwrap();
                budget.wrote(share.max_bytes.unwrap());
                weights -= weight(w);
            }
        }
        assert!(budget.written() <= GIB && budget.written() > GIB * 9 / 10, "{}", budget.written());
        assert_eq!(budget.share(&all[0], Duration::from_secs(4), 1), None, "nothing left");
        assert!(budget.share(&workload(Op::Read, Pattern::Random), Duration::from_secs(4), 1).is_some());
    }

    /// What was written before an interruption is reported, and not planned for twice.
    #[test]
    fn bytes_of_a_resumed_run_are_reported_and_do_not_count() {
        let mut budget = Budget::new(Duration::from_secs(90), GIB).after(3 * GIB);
        budget.wrote(5);
        assert_eq!(budget.written(), 3 * GIB + 5);
        let random = workload(Op::Write, Pattern::Random);
        let share = budget.share(&random, Duration::from_secs(4), weight(&random)).unwrap();
        assert_eq!(share.max_bytes, Some(GIB - 5));
    }

    #[test]
    fn stopped_time_is_not_in_the_budget() {
        let control = Control::default();
        let budget = Budget::new(Duration::from_secs(90), GIB).under(&control);
        let before = budget.left();
        control.beat(Duration::from_secs(60));
        assert!(budget.left() >= before, "{:?}", budget.left());
    }

    /// Nodes wait for each other before each repeat, in sum longer than a short suite takes.
    #[test]
    fn what_a_run_waited_for_others_takes_nothing_of_its_time() {
        let mut budget = Budget::new(Duration::from_secs(5), GIB);
        let (whole, wait) = (budget.left(), Duration::from_secs(60));
        budget.waited(wait);
        assert!(budget.left() > whole + wait.mul_f64(0.999), "{:?} of {whole:?}", budget.left());
        assert_eq!(budget.layout_time(), Duration::from_secs(1), "nor is it time for the test area");
    }

    /// Seven workloads of three repeats in 2 s: one round is made whole, and none is skipped for the last ones.
    #[test]
    fn short_budgets_have_fewer_rounds_and_every_workload_in_each() {
        let budget = |seconds| Budget::new(Duration::from_secs(seconds), GIB);
        assert_eq!(budget(3).rounds(&[0; 7], 3, PLANNED_SLOT), 1);
        assert_eq!(budget(4).rounds(&[0; 7], 3, PLANNED_SLOT), 2);
        assert_eq!(budget(90).rounds(&[0; 7], 3, PLANNED_SLOT), 3);
        assert_eq!(budget(1).rounds(&[0; 7], 3, PLANNED_SLOT), 1);
        assert_eq!(budget(1).rounds(&[2, 2, 2, 2, 2, 1, 1], 3, PLANNED_SLOT), 2, "what was done is not made again");
        assert_eq!([1, 4, 7].map(|repeats| least_budget(repeats).as_secs()), [1, 2, 3]);
        let slot = budget(1).slot(21);
        let least = budget(1).share(&workload(Op::Read, Pattern::Random), slot, 1);
        assert!(least.is_some_and(|share| share.duration >= LEAST_REPEAT));
    }

    /// Where earlier repeats or the test area took longer than planned, the last workload is not skipped.
    #[test]
    fn every_workload_has_a_first_repeat_though_the_time_is_over() {
        let late = Budget::new(Duration::ZERO, GIB);
        std::thread::sleep(Duration::from_millis(5));
        let read = workload(Op::Read, Pattern::Random);
        assert_eq!(late.left(), Duration::ZERO);
        let slot = late.first_slot(late.slot(1), 700);
        assert!(late.share(&read, slot, 1).is_some(), "{slot:?}");
        assert_eq!(late.first_slot(Duration::from_secs(4), 700), Duration::from_secs(4), "no shorter than it is");
        assert_eq!(late.first_slot(Duration::ZERO, 0), Duration::ZERO, "what is over by more than planned is left out");
    }

    #[test]
    fn too_little_time_is_no_repeat() {
        let budget = Budget::new(Duration::from_secs(90), GIB);
        assert_eq!(budget.share(&workload(Op::Read, Pattern::Random), Duration::from_millis(50), 1), None);
    }
}
