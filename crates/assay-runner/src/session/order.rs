//! Which repeat comes next, and how long it may take.

use std::sync::Arc;
use std::time::Duration;

use assay_core::cluster::{SettledLoad, Settlement};
use assay_core::event::EventKind;
use assay_core::finding::{AreaLimit, Finding, Shortfall};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::suite::{LEAST_REPEATS, PARTS, SuiteWorkload, leaders, members, together};
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Workload};

use super::plan::{LoadEntry, MeasuredPart, Next, RepeatPlan, Turn, complete, completed, no_room, reported_at_end};
use super::run::Session;
use crate::budget::{PLANNED_SLOT, bus_reached, weight};
use crate::judge::Proof;
use crate::look::Looks;
use crate::pace::offered;
use crate::request::as_before;
use crate::timeout::{NoAnswer, SLOW, SYNC, no_thread, within};
use crate::together::{Ability, AbleLoad, CommonLoad, CommonLoads, timed};
use crate::{budget, scratch};

/// A full queue may take this long even where no time is left: the last load of a short suite is worth it.
const LONGEST_DRAIN: Duration = Duration::from_secs(1);
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
    /// Runs all workloads of the suite; false where the run ended before the last repeat was made.
    pub(crate) fn measure(&mut self) -> bool {
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
            if self.is_shared(index) {
                self.look_for_another_run();
            }
            self.checkpoint();
        }
        self.look_for_another_run();
        // Between two repeats none is there that ends with the run. What is missing then is not for the budget.
        let whole = settled && next >= order.repeats.len();
        if !whole && self.control.stopped() {
            self.fail(RunFailure::Interrupted, String::new());
        }
        self.conclude(&entries);
        if self.request.suite.programs.is_empty() && !self.draft.ended() && nothing_for_the_budget(self.record()) {
            self.fail(RunFailure::Host, NO_BUDGET.to_owned());
        }
        self.checkpoint();
        !self.draft.ended()
    }

    /// Whether something else was seen to use the device in the workload at `index`.
    fn is_shared(&self, index: usize) -> bool {
        let warnings = &self.record().measurements[index].warnings;
        warnings.iter().any(|warning| matches!(warning.finding, Finding::OthersUsedDevice { .. }))
    }

    /// Says that another run measures in the same directory, where that began after this one.
    fn look_for_another_run(&mut self) {
        let known = self.record().warnings.iter().any(|warning| warning.finding == Finding::AnotherRun);
        let Some(own) = self.area.scratch_path().filter(|_| !known && !self.draft.ended()) else { return };
        let own = own.to_owned();
        if within(self.request.hang_after * SYNC, move || scratch::has_another(&own)).unwrap_or(false) {
            self.warn(Finding::AnotherRun);
        }
    }

    /// The workloads with what earlier parts of the run came to; begins the measurements where there are none.
    pub(super) fn entries(&mut self) -> Vec<LoadEntry> {
        let (workloads, direct) = (&self.request.suite.workloads, self.area.target.direct());
        let record = self.draft.fill();
        if record.measurements.is_empty() {
            let area = record.settings().map_or(0, |settings| settings.span_bytes);
            let empty = |(index, w)| {
                Measurement::empty(
                    Workload {
                        together: together(workloads, index),
                        ..complete(w, MeasuredPart::for_workload(workloads, index, area), direct, None)
                    },
                    "none",
                )
            };
            record.measurements = workloads.iter().enumerate().map(empty).collect();
        }
        let entry = |(index, (asked, before)): (usize, (&SuiteWorkload, &Measurement))| LoadEntry {
            asked: asked.clone(),
            fitted: as_before(asked, before),
            common: false,
            passed: 0,
            cannot: None,
            index,
            proof: Proof::from_measurement(before),
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

    /// The time of the first repeat of a workload, which all of them have.
    fn first_slot(&self, slot: Duration) -> Duration {
        let turns = leaders(&self.request.suite.workloads).len() * self.sides() as usize;
        self.budget.first_slot(slot / self.sides(), turns) * self.sides()
    }

    /// Instruments that run each repeat.
    fn sides(&self) -> u32 {
        if self.request.engine.crosscheck().is_some() { 2 } else { 1 }
    }

    /// The repeat at `next` with its workload; `None` where it is not made.
    pub(super) fn turn(&mut self, entries: &mut [LoadEntry], order: &Order, next: usize) -> Option<(usize, Turn)> {
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
                if extra && self.record().measurements[group(index)].iter().all(|m| budget::reached(m, wish)) =>
            {
                return None;
            }
            Some(_) if extra => {
                let first = to_come.iter().filter(|(_, round)| least(*round));
                let reserved = first.map(|(index, _)| usual.min(budget::longest(workload(*index)))).sum();
                budget::extra_slot(workload(index), self.budget.left(), reserved, usual)?
            }
            Some(_) => budget::slot(workload(index), self.budget.left(), left),
        };
        let slot = if round == 0 { self.first_slot(slot) } else { slot };
        // Both instruments get the same share.
        Some((slot / self.sides(), weights * u64::from(self.sides())))
    }

    /// Says of each measurement what only its last repeat decides.
    fn conclude(&mut self, entries: &[LoadEntry]) {
        let (repeats, confidence) = (self.request.suite.repeats, self.request.confidence);
        let open = confidence.or(self.request.suite.enough);
        let planned = open.map_or(repeats, |_| repeats.min(LEAST_REPEATS));
        let record = self.draft.fill();
        for entry in entries {
            let without = self.engines.are_originals() && entry.asked.original.is_none();
            let none = || entry.cannot.clone().or_else(|| why_none(&self.request.suite.workloads, entry, record));
            let why = if without { Some(Shortfall::NoOriginal) } else { none() };
            let measurement = &mut record.measurements[entry.index];
            if !entry.left_out {
                note_missing(measurement, planned, (why, entry), &record.outcome);
            }
            if let (Some(wish), Outcome::Running) = (confidence, &record.outcome) {
                budget::conclude(measurement, wish);
            }
            for warning in measurement.warnings.iter().filter(|w| reported_at_end(&w.finding)) {
                self.emitter.emit(EventKind::warning(&measurement.workload, warning));
            }
        }
    }
}

/// Why a run ended that measured nothing, as one may that was resumed.
const NO_BUDGET: &str =
    "the time or write budget was used up before any workload; begin anew with a larger --budget or --max-write";

/// Whether no workload has a repeat, and each of them for want of time or bytes.
fn nothing_for_the_budget(record: &Record) -> bool {
    let spent = |f: &Finding| matches!(f, Finding::FewerRepeats { ran: 0, shortfall: Shortfall::Budget, .. });
    let none = |m: &Measurement| m.warnings.iter().any(|warning| spent(&warning.finding));
    !record.measurements.is_empty() && record.measurements.iter().all(none)
}

/// Why a workload can have no repeat at all, where that is not for time or bytes.
fn why_none(workloads: &[SuiteWorkload], entry: &LoadEntry, record: &Record) -> Option<Shortfall> {
    let group = members(workloads, entry.index);
    let asked = entry.fitted.as_ref().unwrap_or(&entry.asked);
    let area = record.settings().map_or(0, |settings| settings.span_bytes);
    let room = |index: usize| MeasuredPart::for_workload(workloads, index, area).span_bytes;
    if offered(&entry.asked, &record.measurements, entry.index).is_err() {
        return Some(Shortfall::NoRateToShare);
    }
    if no_room(asked, room(entry.index))
        || group.clone().any(|i| workloads[i].has_sizes() && no_room(&workloads[i], room(i)))
    {
        return Some(Shortfall::SmallArea);
    }
    let thinks = group.clone().any(|index| workloads[index].think.is_some_and(|think| think.pause_ns > SHORT_PAUSE_NS));
    thinks.then_some(Shortfall::LongPauses)
}

/// Says why a workload has fewer repeats than planned.
fn note_missing(
    measurement: &mut Measurement,
    planned: u32,
    (why, entry): (Option<Shortfall>, &LoadEntry),
    outcome: &Outcome,
) {
    let ran = completed(measurement);
    // Where the run did not finish, its outcome says why.
    if ran >= planned || matches!(outcome, Outcome::Failed { .. }) {
        return;
    }
    let suspended = |r: &Repeat| matches!(r.outcome, Outcome::Failed { failure: RunFailure::Suspended, .. });
    let shortfall = match (measurement.repeats.last(), why) {
        (None, Some(why)) => why,
        (Some(last), _) if suspended(last) => Shortfall::Suspended,
        _ if entry.passed > 0 => Shortfall::OtherNodesPast,
        _ => entry.cannot.clone().unwrap_or(Shortfall::Budget),
    };
    measurement.warn(Finding::FewerRepeats { planned, ran, shortfall });
}

// Which repeats are made of a suite that leaves a workload when enough is known of it.
//
// All repeats of a workload are alike: as long as the first one, and with as many bytes to write. One that cannot be
// is not made.

/// A repeat in which fewer operations than this are expected is as long as in a suite with a fixed number of them.
const LEAST_OPERATIONS: f64 = 100.0;

impl Session<'_> {
    /// The repeat at `next`; `None` where it is not made.
    fn short_turn(&self, entries: &mut [LoadEntry], order: &Order, next: usize, wish: f64) -> Option<Turn> {
        let to_come = order.repeats.get(next..)?;
        let (&(index, round), suite) = (to_come.first()?, &self.request.suite);
        let settled = *entries[index].settled.get_or_insert(self.settle(&entries[index], order));
        let measurement = &self.record().measurements[index];
        if !settled.has(round, suite) || round >= LEAST_REPEATS && budget::known(measurement, wish) {
            return None;
        }
        // The least number of repeats of each workload comes before further ones of any.
        let least = to_come.iter().filter(|(_, round)| *round < LEAST_REPEATS).count();
        let least = u32::try_from(least).unwrap_or(u32::MAX);
        let slot = if round == 0 {
            self.first_slot(settled.slot.min(self.budget.slot(least)))
        } else if round < LEAST_REPEATS {
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
    fn settle(&self, entry: &LoadEntry, order: &Order) -> RepeatPlan {
        let settings = self.draft.settings();
        let suite = &self.request.suite;
        let turns = u32::try_from(leaders(&suite.workloads).len()).unwrap_or(u32::MAX).max(1);
        let longest = Duration::from_nanos(settings.budget_ns) / turns.saturating_mul(suite.most_repeats()).max(1);
        if let Some(before) = RepeatPlan::before(&self.record().measurements[entry.index], longest, order.rounds) {
            return before;
        }
        // A medium too slow for what was asked for within a short repeat has long ones.
        let span = MeasuredPart::for_workload(&suite.workloads, entry.index, settings.span_bytes).span_bytes;
        let fitted = |slot| self.pace.fit(&entry.asked, slot, span, self.alignment());
        let few = self.pace.expected(&entry.asked).is_some_and(|s| s * LEAST_OPERATIONS > order.usual.as_secs_f64());
        let whole = few || fitted(order.usual) != fitted(order.usual * PARTS);
        let slot = if whole { order.usual * PARTS } else { order.usual };
        RepeatPlan { slot, whole, open: !whole && order.rounds > LEAST_REPEATS }
    }

    /// Repeats made when it comes to the one at `next`, and all that may be made by what is known now.
    fn short_progress(&self, entries: &[LoadEntry], order: &Order, next: usize, wish: f64) -> (u32, u32) {
        let (suite, measurements) = (&self.request.suite, &self.record().measurements);
        let done = measurements.iter().map(completed).sum::<u32>();
        let open = order.repeats[next..].iter().filter(|(index, round)| {
            let settled = entries[*index].settled;
            settled.is_none_or(|settled| settled.has(*round, suite))
                && (*round < LEAST_REPEATS || !budget::known(&measurements[*index], wish))
        });
        (done, done + u32::try_from(open.count()).unwrap_or(u32::MAX))
    }
}

// The loads of a run that begins its repeats together with other hosts: the same on all of them, settled before the
// first repeat.

impl Session<'_> {
    /// Tells the other hosts what this one can do, where there are any, and takes over what all are to run; false where the
    /// run ends with that.
    fn settle_with_others(&mut self, entries: &mut [LoadEntry], order: &Order) -> bool {
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
        self.waited_for_others(waited);
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
        let (target, span, seed) = (Arc::clone(&self.area.target), self.draft.settings().span_bytes, self.request.seed);
        let (mut looking, looks) = (self.pace.clone(), self.looks());
        let looked = within(limit, move || {
            let written = looking.look_at_writes(&target, span, seed, looks);
            (looking, written)
        });
        match looked {
            Ok((known, written)) => {
                self.pace = known;
                self.budget.wrote(written);
                self.draft.change_settings(|settings| settings.written_bytes += written);
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

    /// How much to look at before the first repeat.
    pub(super) fn looks(&self) -> Looks {
        self.rendezvous.as_ref().map_or(Looks::ALONE, |_| Looks::beside_others(self.request.suite.budget))
    }

    /// What this host can do, by what is known of its medium now.
    fn ability(&self, entries: &[LoadEntry], order: &Order) -> Ability {
        let slot = self.slot(&order.repeats, order.usual).map_or(order.usual, |(slot, _)| slot);
        let (pace, area) = (self.pace.usual(), self.draft.settings().span_bytes);
        let able = |entry: &LoadEntry| {
            let span = MeasuredPart::for_workload(&self.request.suite.workloads, entry.index, area).span_bytes;
            let fitted = pace.fit(&entry.asked, slot, span, self.alignment());
            AbleLoad {
                block_bytes: fitted.block.0,
                queue_depth: fitted.queue_depth,
                jobs: fitted.jobs,
                look: pace.usual_of(&entry.asked),
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
    fn take_common(&mut self, entries: &mut [LoadEntry], able: &Ability, common: &CommonLoads) {
        let own_area_bytes = able.area_bytes;
        if common.area_bytes < own_area_bytes {
            self.area.trim(common.area_bytes, self.request.hang_after * SYNC);
            self.draft.change_settings(|settings| settings.span_bytes = common.area_bytes);
            self.draft.fill().warnings.retain(|w| !matches!(w.finding, Finding::SmallerSpan { .. }));
            let (asked_bytes, used_bytes) = (self.request.suite.span.0, common.area_bytes);
            self.warn(Finding::SmallerSpan { asked_bytes, used_bytes, limit: AreaLimit::OtherNodes });
        }
        for (entry, load) in entries.iter_mut().zip(&common.loads) {
            entry.fitted = Some(common_load(&entry.asked, load));
            entry.common = true;
        }
        let settled = |((entry, load), own): ((&LoadEntry, &CommonLoad), &AbleLoad)| SettledLoad {
            workload: entry.asked.name.clone(),
            block_bytes: load.block_bytes,
            queue_depth: load.queue_depth,
            jobs: load.jobs,
            to_typical: load.to_typical,
            operations: own.look.map(|look| look.operations),
            standing: load.standing,
        };
        self.settled = Some(Settlement {
            by: common.by,
            nodes: common.nodes,
            area_bytes: common.area_bytes,
            own_area_bytes,
            loads: entries.iter().zip(&common.loads).zip(&able.loads).map(settled).collect(),
        });
    }

    /// Why a load that all hosts run cannot be run here in a repeat of `slot`; `None` where it can. Where no time is left, the
    /// first repeat of each workload has some all the same ([`crate::budget::Budget::first_slot`]).
    pub(super) fn cannot_run_common(&self, entry: &LoadEntry, span: u64, slot: Duration) -> Option<Shortfall> {
        let fitted = entry.fitted.as_ref().filter(|_| entry.common)?;
        if no_room(fitted, span) || fitted.block.0.saturating_mul(u64::from(fitted.jobs)) > span {
            return Some(Shortfall::CommonBlocks);
        }
        if fitted.direct && !fitted.block.0.is_multiple_of(self.alignment()) {
            return Some(Shortfall::CommonAlignment);
        }
        let in_flight = f64::from(fitted.queue_depth) * f64::from(fitted.jobs);
        let seconds = self.pace.expected(fitted)? * in_flight;
        let longest = self.budget.left().max(slot).max(LONGEST_DRAIN);
        (seconds > longest.as_secs_f64()).then_some(Shortfall::CommonInFlight)
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
