//! What a long repeat has come to so far, saved while it goes on: a soak that is killed after nine
//! minutes has nine minutes to show.

use std::path::Path;

use assay_core::outcome::Outcome;
use assay_core::record::{Record, Repeat};
use assay_engine::LiveSample;

use crate::emit::Emitter;
use crate::summary::sample;

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
        repeat.samples.push(sample(live, self.started_ns));
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
        let settings = record.settings.clone();
        record.settings.written_bytes += repeat.bytes;
        record.settings.elapsed_ns = emitter.elapsed_ns();
        // Lent to the record, not copied: after a week it has 600,000 samples.
        let repeats = &mut record.measurements[index].repeats;
        repeats.push(std::mem::replace(repeat, Repeat::empty("", Outcome::Running)));
        emitter.checkpoint(record, scratch);
        if let Some(lent) = record.measurements[index].repeats.pop() {
            self.repeat = lent;
        }
        record.settings = settings;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::samples::{Listener, record};

    #[test]
    fn a_long_repeat_is_saved_every_ten_seconds() {
        const SECOND: u64 = 1_000_000_000;
        let mut record = record(vec![crate::evidence::measurement(&[])]);
        record.settings.written_bytes = 7;
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
        assert_eq!(saved.settings.written_bytes, 7 + 20 * 409_600);
    }
}
