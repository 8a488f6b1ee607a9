//! What the runner tells its observer.

use std::path::Path;
use std::time::{Duration, Instant};

use assay_core::event::{Event, EventKind};
use assay_core::record::Record;
use assay_core::units::nanoseconds;
use assay_engine::wall_clock;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Listener;

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
}
