//! What a long repeat has come to so far, saved while it goes on: a soak that is killed after nine
//! minutes has nine minutes to show.

use std::path::Path;

use assay_core::histogram::{Histogram, StoredHistogram};
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
        Self { repeat: Self::empty(started.to_owned()), saved_ns: 0, started_ns }
    }

    fn empty(started: String) -> Repeat {
        Repeat {
            started,
            elapsed_ns: 0,
            operations: 0,
            bytes: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            issued_bytes: 0,
            durable_bytes_per_second: None,
            in_flight: 0.0,
            proof_ratio: None,
            samples: Vec::new(),
            histogram: StoredHistogram::from(&Histogram::default()),
            first_done_ns: 0,
            last_done_ns: 0,
            steady: None,
            outcome: Outcome::Running,
        }
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
        repeats.push(std::mem::replace(repeat, Self::empty(String::new())));
        emitter.checkpoint(record, scratch);
        if let Some(lent) = record.measurements[index].repeats.pop() {
            self.repeat = lent;
        }
        record.settings = settings;
    }
}
