//! Which repeat comes next, and how long it may take.

use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::suite::{LEAST_REPEATS, SuiteWorkload, leaders, members, together};
use assay_core::workload::{Op, Workload};

use super::begin::Session;
use super::turn::{Entry, Next, Place, Turn, complete, completed, no_room, reported_at_end};
use crate::adaptive;
use crate::budget::{PLANNED_SLOT, weight};
use crate::offered::offered;
use crate::proof::Proof;
use crate::resume::as_before;
use crate::sweep::bus_reached;

/// A repeat in which the process was stopped is made again this often: where it is stopped over and over
/// (cpulimit(1) does that, ten times a second) there is no figure.
const MOST_AGAIN: u32 = 3;

/// Longer pauses may not fit into a repeat.
const SHORT_PAUSE_NS: u64 = 10_000_000;

/// The repeats to be made.
pub(super) struct Order {
    /// Index of the workload and round of each.
    pub(super) repeats: Vec<(usize, u32)>,
    /// Repeats made before an interruption.
    before: u32,
    /// Time of a repeat where their number is open and all workloads share the time alike.
    pub(super) usual: Duration,
    /// Most repeats of a workload.
    pub(super) rounds: u32,
}

/// Rounds of the reading workloads, then rounds of the writing ones, so that no read follows a write that the medium
/// is still busy with. What was `done` is not made again. Workloads that run at the same time stand under the first of
/// them.
pub(super) fn in_order(workloads: &[SuiteWorkload], rounds: u32, done: &[u32]) -> Vec<(usize, u32)> {
    let group = |writes: bool| {
        let write = |index: &usize| workloads[members(workloads, *index)].iter().any(|w| w.op != Op::Read);
        let indices: Vec<usize> = leaders(workloads).into_iter().filter(|index| write(index) == writes).collect();
        (0..rounds).flat_map(move |round| indices.clone().into_iter().map(move |index| (index, round)))
    };
    group(false).chain(group(true)).filter(|&(index, round)| round >= done[index]).collect()
}

impl Session<'_> {
    /// Runs all workloads of the suite.
    pub(crate) fn measure(&mut self) {
        let mut entries = self.entries();
        let order = self.order();
        let (mut next, mut again) = (0, 0);
        let settled = self.settle_with_others(&mut entries, &order);
        while settled && next < order.repeats.len() && !self.control.stopped() {
            let Some((index, turn)) = self.turn(&mut entries, &order, next) else {
                next += 1;
                continue;
            };
            match self.repeat(&mut entries, index, turn) {
                Next::Again if again < MOST_AGAIN => again += 1,
                Next::Go | Next::Again => (next, again) = (next + 1, 0),
                Next::End => break,
            }
            self.checkpoint();
        }
        self.conclude(&entries);
        self.checkpoint();
    }

    /// The workloads with what earlier parts of the run came to; begins the measurements where there are none.
    pub(super) fn entries(&mut self) -> Vec<Entry> {
        let (workloads, direct) = (&self.request.suite.workloads, self.area.target.direct());
        let record = self.draft.fill();
        if record.measurements.is_empty() {
            let area = record.settings.span_bytes;
            let empty = |(index, w)| {
                Measurement::empty(
                    Workload {
                        together: together(workloads, index),
                        ..complete(w, Place::of(workloads, index, area), direct, None)
                    },
                    "none",
                )
            };
            record.measurements = workloads.iter().enumerate().map(empty).collect();
        }
        let entry = |(index, (asked, before)): (usize, (&SuiteWorkload, &Measurement))| Entry {
            asked: asked.clone(),
            fitted: as_before(asked, before),
            common: false,
            passed: 0,
            cannot: None,
            index,
            proof: Proof::of(before),
            left_out: false,
            settled: None,
        };
        workloads.iter().zip(&record.measurements).enumerate().map(entry).collect()
    }

    pub(super) fn order(&self) -> Order {
        let (workloads, measurements) = (&self.request.suite.workloads, &self.record().measurements);
        // Workloads that run at the same time have made as many repeats as the one of them that has the fewest.
        let fewest = |index| measurements[members(workloads, index)].iter().map(completed).min();
        let done: Vec<u32> = (0..workloads.len()).map(|index| fewest(index).unwrap_or(0)).collect();
        let turns: Vec<u32> = leaders(workloads).into_iter().map(|index| done[index]).collect();
        let most = self.request.suite.most_repeats();
        // As many rounds as were asked for, or fewer where a repeat of each workload would be too short. Where a
        // confidence is asked for, each workload has as many as it takes.
        let rounds = match self.request.confidence {
            None => self.budget.rounds(&turns, most, PLANNED_SLOT * self.sides()),
            Some(_) => most,
        };
        let repeats = in_order(workloads, rounds, &done);
        let sharing = match self.request.suite.enough {
            Some(_) => repeats.len(),
            None => LEAST_REPEATS as usize * turns.len(),
        };
        Order {
            repeats,
            before: turns.iter().map(|done| (*done).min(rounds)).sum(),
            usual: self.budget.slot(u32::try_from(sharing).unwrap_or(u32::MAX)),
            rounds,
        }
    }

    /// Instruments that run each repeat.
    fn sides(&self) -> u32 {
        if self.request.crosscheck.is_some() { 2 } else { 1 }
    }

    /// The repeat at `next` with its workload; `None` where it is not made.
    pub(super) fn turn(&mut self, entries: &mut [Entry], order: &Order, next: usize) -> Option<(usize, Turn)> {
        let to_come = order.repeats.get(next..)?;
        let &(index, round) = to_come.first()?;
        let measurements = &mut self.draft.fill().measurements;
        if let Some(at) = bus_reached(&self.request.suite.workloads, index, measurements) {
            entries[index].left_out = true;
            measurements[index].warn(Finding::SweepStopped { at_block_bytes: at });
            return None;
        }
        if let Some(wish) = self.request.suite.enough {
            return Some((index, self.short_turn(entries, order, next, wish)?));
        }
        let (slot, weights) = self.slot(to_come, order.usual)?;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (done, total) = (order.before + count(next), order.before + count(order.repeats.len()));
        Some((index, Turn { round, done, total, slot, weights, may_write: None }))
    }

    /// Time for the first of the repeats `to_come`, and the weights of all of them in the write budget; `None` where
    /// it is not made.
    pub(super) fn slot(&self, to_come: &[(usize, u32)], usual: Duration) -> Option<(Duration, u64)> {
        let (&(index, round), confidence) = (to_come.first()?, self.request.confidence);
        let workload = |index: usize| &self.request.suite.workloads[index];
        // Repeats beyond the least number are planned for only when it comes to them.
        let least = |round: u32| round < LEAST_REPEATS;
        let extra = confidence.is_some() && !least(round);
        let planned = || to_come.iter().filter(|(_, round)| confidence.is_none() || extra || least(*round));
        let left = u32::try_from(planned().count()).unwrap_or(u32::MAX);
        let group = |index: usize| members(&self.request.suite.workloads, index);
        let weights: u64 = planned().flat_map(|(index, _)| group(*index)).map(|index| weight(workload(index))).sum();
        let slot = match confidence {
            None => self.budget.slot(left),
            Some(wish)
                if extra && self.record().measurements[group(index)].iter().all(|m| adaptive::reached(m, wish)) =>
            {
                return None;
            }
            Some(_) if extra => {
                let first = to_come.iter().filter(|(_, round)| least(*round));
                let reserved = first.map(|(index, _)| usual.min(adaptive::longest(workload(*index)))).sum();
                adaptive::extra_slot(workload(index), self.budget.left(), reserved, usual)?
            }
            Some(_) => adaptive::slot(workload(index), self.budget.left(), left),
        };
        // Both instruments get the same share.
        Some((slot / self.sides(), weights * u64::from(self.sides())))
    }

    /// Says of each measurement what only its last repeat decides.
    fn conclude(&mut self, entries: &[Entry]) {
        let (repeats, confidence) = (self.request.suite.repeats, self.request.confidence);
        let open = confidence.or(self.request.suite.enough);
        let planned = open.map_or(repeats, |_| repeats.min(LEAST_REPEATS));
        let record = self.draft.fill();
        for entry in entries {
            let without = self.engines.are_originals() && entry.asked.original.is_none();
            let none = || entry.cannot.or_else(|| why_none(&self.request.suite.workloads, entry, record));
            let why = if without { Some("the suite names no original for it") } else { none() };
            let measurement = &mut record.measurements[entry.index];
            if !entry.left_out {
                note_missing(measurement, planned, (why, entry), &record.outcome);
            }
            if let (Some(wish), Outcome::Running) = (confidence, &record.outcome) {
                adaptive::conclude(measurement, wish);
            }
            for warning in measurement.warnings.iter().filter(|w| reported_at_end(&w.finding)) {
                self.emitter.emit(EventKind::warning(&measurement.workload, warning));
            }
        }
    }
}

/// Why a workload can have no repeat at all, where that is not for time or bytes.
fn why_none(workloads: &[SuiteWorkload], entry: &Entry, record: &Record) -> Option<&'static str> {
    let group = members(workloads, entry.index);
    let asked = entry.fitted.as_ref().unwrap_or(&entry.asked);
    let room = |index: usize| Place::of(workloads, index, record.settings.span_bytes).span_bytes;
    if offered(&entry.asked, &record.measurements, entry.index).is_err() {
        return Some("the workload that its rate is a share of has no figure");
    }
    if no_room(asked, room(entry.index))
        || group.clone().any(|i| workloads[i].has_sizes() && no_room(&workloads[i], room(i)))
    {
        return Some("the test area is smaller than its blocks");
    }
    let thinks = group.clone().any(|index| workloads[index].think.is_some_and(|think| think.pause_ns > SHORT_PAUSE_NS));
    thinks.then_some("a repeat has no room for ten of its pauses, or the budget was used up")
}

/// Says why a workload has fewer repeats than planned.
fn note_missing(measurement: &mut Measurement, planned: u32, (why, entry): (Option<&str>, &Entry), outcome: &Outcome) {
    let ran = completed(measurement);
    // Where the run did not finish, its outcome says why.
    if ran >= planned || matches!(outcome, Outcome::Failed { .. }) {
        return;
    }
    let suspended = |r: &Repeat| matches!(r.outcome, Outcome::Failed { failure: RunFailure::Suspended, .. });
    let reason = match measurement.repeats.last() {
        None if why.is_some() => why.unwrap_or_default(),
        Some(last) if suspended(last) => "the process was stopped again and again",
        _ if entry.passed > 0 => "the other nodes of the run were past them, as this one takes longer",
        _ if entry.cannot.is_some() => entry.cannot.unwrap_or_default(),
        _ => "the time or write budget was used up",
    };
    measurement.warn(Finding::FewerRepeats { planned, ran, reason: reason.to_owned() });
}
