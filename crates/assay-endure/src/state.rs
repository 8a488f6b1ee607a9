//! What came of the entries of a log: entries go in one after the other, and the next task comes out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use assay_core::endurance::{DeathCause, ENDURANCE_SCHEMA, Endurance, FailureKind, LifeEnd, Milestones, Reached};
use assay_core::retention::Age;

use crate::entry::{Attachment, Begin, Entry, RestReadBegun, Run, SliceRead, SliceWritten};
use crate::failed::FailedSet;
use crate::layout::{Layout, PAGE_BYTES, Phase, SLICES, Task};
use crate::map::{Changed, Map};
use crate::medium::Trouble;
use crate::resting::{NoRest, Resting};

/// Bytes of map entries up to which each cycle is mapped; then only each hundredth is, so that a log stays below 1 GB.
const MAP_BYTES: u64 = 400_000_000;
const THINNED: u64 = 100;
/// Slices by which the time of a cycle is foretold.
const RECENT: usize = 2 * SLICES as usize;
/// Most pages of an area, 256 TiB: a log that says more is none, and no sum of its bytes overflows.
const MOST_PAGES: u64 = 1 << 36;

/// A slice that was done, for rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Writing or reading.
    pub phase: Phase,
    /// Bytes.
    pub bytes: u64,
    /// Time that took in nanoseconds.
    pub elapsed_ns: u64,
}

/// The state of a test.
#[derive(Debug, Clone)]
pub struct State {
    begin: Begin,
    layout: Layout,
    task: Task,
    failed: FailedSet,
    map: Map,
    map_bytes: u64,
    kinds: BTreeMap<FailureKind, u64>,
    milestones: Milestones,
    end: LifeEnd,
    cycles: u64,
    written_bytes: u64,
    uncounted_bytes: u64,
    read_bytes: u64,
    healed: u64,
    transient: u64,
    recent: VecDeque<Done>,
    attachment: Option<Attachment>,
    troubled: bool,
    /// Whether something may have been written since the last cycle was read.
    touched: bool,
    resting: Resting,
}

impl State {
    /// The state at the beginning; `None` where the area has no page for each slice or is larger than any, or the id is none.
    #[must_use]
    pub fn begin(begin: Begin) -> Option<Self> {
        let layout = Layout { unit: begin.stamp_unit()?, pages: begin.pages, load: begin.load };
        (SLICES..=MOST_PAGES).contains(&begin.pages).then(|| Self {
            begin,
            layout,
            task: Task::FIRST,
            failed: FailedSet::default(),
            map: Map::default(),
            map_bytes: 0,
            kinds: BTreeMap::new(),
            milestones: Milestones::default(),
            end: LifeEnd::Running,
            cycles: 0,
            written_bytes: 0,
            uncounted_bytes: 0,
            read_bytes: 0,
            healed: 0,
            transient: 0,
            recent: VecDeque::new(),
            attachment: None,
            troubled: false,
            touched: false,
            resting: Resting::default(),
        })
    }

    /// Takes an entry; whether it follows from those before it.
    pub fn apply(&mut self, entry: &Entry) -> bool {
        match entry {
            Entry::Begin(_) => return false,
            Entry::Written(written) => return self.written(written),
            Entry::Read(read) => return self.read(read),
            Entry::Failures(task, runs) => {
                if *task != self.task || task.phase != Phase::Read {
                    return false;
                }
                return self.failures(runs);
            }
            Entry::Attached(attachment) => {
                if matches!(self.end, LifeEnd::Died { .. }) {
                    return false;
                }
                self.end = LifeEnd::Running;
                self.attachment = Some(attachment.clone());
                self.resting.close();
                if attachment.partly {
                    self.touched = true;
                    self.uncount();
                }
            }
            Entry::Incident(incident) => {
                (self.troubled, self.touched) = (true, true);
                // That the log is an older copy is seen before anything is written.
                if incident.trouble != Trouble::LogBehind {
                    self.uncount();
                }
            }
            Entry::Condition(_) => {}
            Entry::End(end) => {
                self.end = *end;
                if matches!(end, LifeEnd::Died { .. }) {
                    self.milestones.death = Some(self.now());
                }
            }
            Entry::Rest(rest) => return self.rested_cycle().is_some() && self.resting.ask(rest.seconds),
            Entry::RestRead(begun) => return self.rest_read(begun),
            Entry::Rested(rested) => {
                let slice = Task { cycle: self.cycles, phase: Phase::Read, index: rested.index };
                return rested.index < SLICES
                    && self.rested_cycle().is_some()
                    && self.resting.rested(rested, slice.slice(self.layout.unit));
            }
        }
        true
    }

    fn rest_read(&mut self, begun: &RestReadBegun) -> bool {
        let fits = self.may_read_rested(begun.at).is_ok();
        if fits {
            self.resting.begin_read(begun, self.cycles);
        }
        fits
    }

    /// Whether what the last cycle wrote can be read now, in seconds since 1970.
    ///
    /// # Errors
    /// Why not.
    pub fn may_read_rested(&self, now: u64) -> Result<(), NoRest> {
        if self.rested_cycle().is_none() {
            let died = matches!(self.end, LifeEnd::Died { .. });
            return Err(if died { NoRest::Died } else { NoRest::NotWhole });
        }
        self.resting.may_read(now)
    }

    /// The cycle whose stamps are on all of the area, untouched since they were read; `None` while the medium is worn.
    #[must_use]
    pub fn rested_cycle(&self) -> Option<u64> {
        let between = self.task.phase == Phase::Write && self.task.index == 0 && self.cycles > 0;
        let ended = matches!(self.end, LifeEnd::Censored { .. });
        (between && ended && !self.touched).then_some(self.cycles)
    }

    /// Whether a cycle is complete, and nothing was written since.
    #[must_use]
    pub fn is_between_cycles(&self) -> bool {
        self.task.phase == Phase::Write && self.task.index == 0 && self.cycles > 0 && !self.touched
    }

    /// Until when it is to rest, in seconds since 1970; `None` where no rest was asked for.
    #[must_use]
    pub fn rests_until(&self) -> Option<u64> {
        self.resting.until()
    }

    /// How old what was written last is at a time, in seconds since 1970; `None` where no clock tells.
    #[must_use]
    pub fn rest_age(&self, now: u64) -> Option<Age> {
        self.resting.age(now)
    }

    /// Whether it was read since the rest that was asked for ended.
    #[must_use]
    pub fn is_rest_read(&self) -> bool {
        self.resting.is_read()
    }

    /// The slice under way may have been written, and does not count.
    fn uncount(&mut self) {
        if self.task.phase == Phase::Write {
            self.uncounted_bytes = self.uncounted_bytes.saturating_add(self.slice_bytes(self.task));
        }
    }

    fn written(&mut self, written: &SliceWritten) -> bool {
        if written.task != self.task || self.task.phase != Phase::Write {
            return false;
        }
        self.written_bytes = self.written_bytes.saturating_add(written.bytes);
        self.resting.written(written);
        self.done(Done { phase: Phase::Write, bytes: written.bytes, elapsed_ns: written.elapsed_ns });
        true
    }

    fn read(&mut self, read: &SliceRead) -> bool {
        if read.task != self.task || self.task.phase != Phase::Read || !self.failures(&read.failures) {
            return false;
        }
        self.map.apply(&read.changes);
        // A cell takes at most three bytes, and three for each count.
        let counts = |change: &Changed| change.counts.iter().filter(|count| **count > 0).count() as u64;
        self.map_bytes += read.changes.iter().map(|change| 3 + 3 * counts(change)).sum::<u64>();
        self.healed = self.healed.saturating_add(read.healed);
        self.transient = self.transient.saturating_add(read.transient);
        self.read_bytes = self.read_bytes.saturating_add(read.bytes);
        self.resting.read(read, self.attachment.as_ref().map(|attachment| &attachment.way));
        self.done(Done { phase: Phase::Read, bytes: read.bytes, elapsed_ns: read.elapsed_ns });
        true
    }

    fn failures(&mut self, runs: &[Run]) -> bool {
        let sectors = self.layout.sectors();
        for run in runs {
            if run.sectors.end > sectors {
                return false;
            }
            let new = self.failed.insert(run.sectors.clone());
            *self.kinds.entry(run.kind).or_default() += new;
        }
        let now = self.now();
        note(&mut self.milestones, self.failed.sectors(), sectors, now);
        if self.milestones.half.is_some() && self.end == LifeEnd::Running {
            self.end = LifeEnd::Died { cause: self.cause() };
            self.milestones.death = Some(self.now());
        }
        true
    }

    fn done(&mut self, done: Done) {
        let next = self.task.next();
        self.cycles += next.cycle - self.task.cycle;
        self.task = next;
        (self.troubled, self.touched) = (false, false);
        self.recent.push_back(done);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    fn now(&self) -> Reached {
        Reached { cycle: self.task.cycle, written_bytes: self.written_bytes }
    }

    /// How a medium died when half of it failed.
    fn cause(&self) -> DeathCause {
        let errors = self.kinds.get(&FailureKind::Unreadable).copied().unwrap_or(0);
        if 2 * errors > self.failed.sectors() { DeathCause::Errors } else { DeathCause::SilentLoss }
    }

    /// Bytes of the slice of a task.
    #[must_use]
    pub fn slice_bytes(&self, task: Task) -> u64 {
        let pages = self.layout.slice(task.slice(self.layout.unit));
        (pages.end - pages.start) * PAGE_BYTES
    }

    /// The next slice.
    #[must_use]
    pub fn task(&self) -> Task {
        self.task
    }

    /// Whether it is over.
    #[must_use]
    pub fn end(&self) -> LifeEnd {
        self.end
    }

    /// Cycles that are complete.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Slices and cells.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What was known at the beginning.
    #[must_use]
    pub fn begun(&self) -> &Begin {
        &self.begin
    }

    /// The sectors that failed at least once.
    #[must_use]
    pub fn failed(&self) -> &FailedSet {
        &self.failed
    }

    /// The map as it was last read.
    #[must_use]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Whether the map of this cycle is logged.
    #[must_use]
    pub fn maps(&self, cycle: u64) -> bool {
        self.map_bytes < MAP_BYTES || cycle.is_multiple_of(THINNED)
    }

    /// Sectors that held only when they were read again at once.
    #[must_use]
    pub fn transient(&self) -> u64 {
        self.transient
    }

    /// Where it was attached last.
    #[must_use]
    pub fn attachment(&self) -> Option<&Attachment> {
        self.attachment.as_ref()
    }

    /// Whether it was in trouble and no slice was done since.
    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.troubled
    }

    /// The slices done last, at most those of a cycle.
    #[must_use]
    pub fn recent(&self) -> &VecDeque<Done> {
        &self.recent
    }

    /// Whether no slice is logged yet.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.task == Task::FIRST
    }

    /// Time to the end of `cycles`, at the speed of the last slices; `None` where nothing was done yet.
    #[must_use]
    pub fn time_to(&self, cycles: u64) -> Option<Duration> {
        let area = self.layout.pages * PAGE_BYTES;
        let rate = |phase: Phase| {
            let of = self.recent.iter().filter(|done| done.phase == phase);
            let (bytes, ns) =
                of.fold((0.0, 0.0), |sum, done| (sum.0 + done.bytes as f64, sum.1 + done.elapsed_ns as f64));
            (bytes > 0.0).then(|| ns / bytes)
        };
        let write = rate(Phase::Write)?;
        let read = rate(Phase::Read).unwrap_or(write);
        let whole = cycles.checked_sub(self.cycles)? as f64 * area as f64 * (write + read);
        let in_cycle = self.task.index as f64 / SLICES as f64 * area as f64;
        let done = match self.task.phase {
            Phase::Write => in_cycle * write,
            Phase::Read => area as f64 * write + in_cycle * read,
        };
        Some(Duration::from_nanos((whole - done).max(0.0) as u64))
    }

    /// The document; `updated` is now (RFC 3339).
    #[must_use]
    pub fn document(&self, updated: String) -> Endurance {
        Endurance {
            schema: ENDURANCE_SCHEMA,
            id: self.begin.id.clone(),
            started: self.begin.started.clone(),
            updated,
            model: self.begin.model.clone(),
            unit: self.begin.unit.clone(),
            capacity_bytes: self.begin.capacity_bytes,
            area_bytes: self.layout.pages * PAGE_BYTES,
            load: self.begin.load,
            cycles: self.cycles,
            written_bytes: self.written_bytes,
            uncounted_bytes: self.uncounted_bytes,
            read_bytes: self.read_bytes,
            failed_sectors: self.failed.sectors(),
            sectors: self.layout.sectors(),
            kinds: self.kinds.clone(),
            healed: self.healed,
            milestones: self.milestones,
            end: self.end,
            rest: self.resting.rest(),
            rest_reads: self.resting.reads(),
            labels: self.begin.labels.clone(),
        }
    }
}

/// Notes what `failed` of `sectors` reach now and did not before.
fn note(milestones: &mut Milestones, failed: u64, sectors: u64, now: Reached) {
    let at_least =
        |thousandths: u64| failed > 0 && u128::from(failed) * 1000 >= u128::from(sectors) * u128::from(thousandths);
    let marks = [
        (&mut milestones.first_error, failed > 0),
        (&mut milestones.per_mille, at_least(1)),
        (&mut milestones.one_percent, at_least(10)),
        (&mut milestones.ten_percent, at_least(100)),
        (&mut milestones.quarter, at_least(250)),
        (&mut milestones.half, at_least(500)),
    ];
    for (mark, reached) in marks {
        if reached && mark.is_none() {
            *mark = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_is_noted_once_when_it_is_reached() {
        let mut milestones = Milestones::default();
        let steps = [
            (0, 0),
            (1, 1),
            (9, 1),
            (10, 2),
            (99, 2),
            (100, 3),
            (999, 3),
            (1000, 4),
            (2499, 4),
            (2500, 5),
            (4999, 5),
            (5000, 6),
        ];
        for (cycle, (failed, reached)) in (1..).zip(steps) {
            note(&mut milestones, failed, 10_000, Reached { cycle, written_bytes: 0 });
            let m = milestones;
            let marks = [m.first_error, m.per_mille, m.one_percent, m.ten_percent, m.quarter, m.half];
            assert_eq!(marks.iter().flatten().count(), reached, "{failed}");
        }
        assert_eq!(milestones.first_error.map(|at| at.cycle), Some(2));
        assert_eq!(milestones.half.map(|at| at.cycle), Some(12));
    }
}
