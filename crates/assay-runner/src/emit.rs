//! What the runner tells its observer.

use std::path::Path;
use std::time::{Duration, Instant};

use assay_core::event::{Event, EventKind};
use assay_core::outcome::Outcome;
use assay_core::record::{Record, Repeat};
use assay_core::units::nanoseconds;
use assay_engine::{LiveSample, wall_clock};

use crate::summary::sample_of_second;

/// Who listens to a run: terminal, event log, store.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// The record as it stands; called at the start and after every repeat. `scratch` is the
    /// directory that a later run has to remove if this one is killed.
    fn checkpoint(&mut self, record: &Record, scratch: Option<&Path>);
}

/// Stamps events with both clocks.
pub(crate) struct Emitter<'a> {
    observer: &'a mut dyn Observer,
    /// What the run lasted before it was interrupted.
    before: Duration,
    start: Instant,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer, before: Duration) -> Self {
        Self { observer, before, start: Instant::now() }
    }

    /// Nanoseconds since the start of the run.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.before + self.start.elapsed())
    }

    pub(crate) fn emit(&mut self, event: EventKind) {
        let event = Event { at: wall_clock(), elapsed_ns: self.elapsed_ns(), event };
        self.observer.event(&event);
    }

    pub(crate) fn phase(&mut self, phase: &str) {
        self.emit(EventKind::Phase { phase: phase.to_owned() });
    }

    pub(crate) fn checkpoint(&mut self, record: &Record, scratch: Option<&Path>) {
        self.observer.checkpoint(record, scratch);
    }
}

// What a long repeat has come to so far, saved while it goes on: a soak that is killed after nine
// minutes has nine minutes to show.

/// Between two saves. A save is a few KiB and a sync, which the medium notices where the store
/// lies on it, and a crash costs no more than this.
const EVERY_NS: u64 = 10_000_000_000;

/// The repeat under way.
pub(crate) struct Journal {
    repeat: Repeat,
    saved_ns: u64,
    started_ns: u64,
}

impl Journal {
    pub(crate) fn new(started: &str, started_ns: u64) -> Self {
        Self { repeat: Repeat::empty(started, Outcome::Running), saved_ns: 0, started_ns }
    }

    /// Takes a sample, and saves what there is when it is time.
    pub(crate) fn sample(
        &mut self,
        live: &LiveSample,
        index: usize,
        record: &mut Record,
        scratch: Option<&Path>,
        emitter: &mut Emitter<'_>,
    ) {
        let repeat = &mut self.repeat;
        repeat.samples.push(sample_of_second(live, self.started_ns));
        repeat.operations += live.operations;
        repeat.bytes += live.bytes;
        repeat.issued_bytes = repeat.bytes;
        repeat.elapsed_ns = live.t_ns;
        if live.t_ns < self.saved_ns + EVERY_NS {
            return;
        }
        self.saved_ns = live.t_ns;
        let seconds = live.t_ns as f64 / 1e9;
        repeat.iops = repeat.operations as f64 / seconds;
        repeat.bytes_per_second = repeat.bytes as f64 / seconds;
        let origin = record.origin.clone();
        record.change_settings(|settings| settings.written_bytes += repeat.bytes);
        record.change_settings(|settings| settings.elapsed_ns = emitter.elapsed_ns());
        // Lent to the record, not copied: after a week it has 600,000 samples.
        let repeats = &mut record.measurements[index].repeats;
        repeats.push(std::mem::replace(repeat, Repeat::empty("", Outcome::Running)));
        emitter.checkpoint(record, scratch);
        if let Some(lent) = record.measurements[index].repeats.pop() {
            self.repeat = lent;
        }
        record.origin = origin;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::samples::{Listener, record};

    /// The clock of a run that goes on is that of the run, not of the process.
    #[test]
    fn what_a_run_lasted_before_it_was_interrupted_counts() {
        let before = Duration::from_secs(3600);
        let mut listener = Listener::default();
        let mut emitter = Emitter::new(&mut listener, before);
        std::thread::sleep(Duration::from_millis(1));
        emitter.phase("measure");
        let elapsed = Duration::from_nanos(listener.events[0].elapsed_ns);
        assert!(elapsed > before && elapsed < before + Duration::from_secs(600), "{elapsed:?}");
    }

    #[test]
    fn a_long_repeat_is_saved_every_ten_seconds() {
        const SECOND: u64 = 1_000_000_000;
        let mut record = record(vec![crate::evidence::measurement(&[])]);
        record.change_settings(|settings| settings.written_bytes = 7);
        let before = record.clone();
        let mut listener = Listener::default();
        let mut emitter = Emitter::new(&mut listener, Duration::ZERO);
        let mut journal = Journal::new("now", 5 * SECOND);
        for second in 1..=35 {
            let live = LiveSample {
                t_ns: second * SECOND,
                interval_ns: SECOND,
                operations: 100,
                bytes: 409_600,
                p50_ns: None,
                p99_ns: None,
            };
            journal.sample(&live, 0, &mut record, None, &mut emitter);
        }
        assert_eq!(record, before, "the repeat under way is only lent");
        let saved: Vec<_> = listener.saved.iter().map(|saved| (&saved.measurements[0].repeats[0], saved)).collect();
        let seconds: Vec<u64> = saved.iter().map(|(repeat, _)| repeat.elapsed_ns / SECOND).collect();
        assert_eq!(seconds, [10, 20, 30]);
        let (repeat, saved) = saved[1];
        assert_eq!((repeat.operations, repeat.samples.len(), repeat.samples[0].t_ns), (2000, 20, 6 * SECOND));
        assert_eq!((repeat.iops, repeat.bytes_per_second), (100.0, 409_600.0));
        assert_eq!(repeat.outcome, Outcome::Running);
        assert_eq!(saved.settings().unwrap().written_bytes, 7 + 20 * 409_600);
    }
}
