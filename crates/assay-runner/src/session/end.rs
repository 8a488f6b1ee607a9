//! The end of a run: the test file is removed and the record closed.

use std::time::Duration;

use assay_core::cluster::ClusterPart;
use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;

use super::begin::{Session, warn};
use super::outcome::failed;
use crate::timeout::{AFTER_STOP, HUNG_ALREADY, SYNC};

impl Session<'_> {
    /// Removes the test file, closes the record and gives it back.
    pub(crate) fn finish(mut self) -> Record {
        self.watch.collect(&mut self.draft.fill().sensors, &self.emitter);
        let record = self.record();
        let sensors = self.watch.findings(&record.sensors, record.host.governor.as_deref());
        for finding in sensors.into_iter().chain(self.host_monitor.at_end()) {
            self.warn(finding);
        }
        self.emitter.phase("cleanup");
        let part = self.rendezvous.as_deref_mut().and_then(|rendezvous| rendezvous.part());
        let settled = self.settled.take();
        self.draft.fill().cluster = part.map(|part| Box::new(ClusterPart { settled, ..part }));
        let limit = self.clean_up_limit();
        let Self { request, area, control, mut draft, budget, mut emitter, .. } = self;
        if let Err(reason) = area.clean_up(limit) {
            warn(&mut draft, Finding::FileLeft { path: request.shown(), reason }, &mut emitter);
        }
        let outcome = if control.stopped() {
            failed(RunFailure::Interrupted, String::new(), None, &budget, &emitter)
        } else {
            Outcome::Completed
        };
        draft.fill().settings.elapsed_ns = emitter.elapsed_ns();
        let record = draft.close(outcome);
        emitter.checkpoint(&record, None);
        emitter.emit(EventKind::Finished {
            id: record.id.clone(),
            outcome: record.outcome.clone(),
            validity: record.validity.clone(),
            written_bytes: record.settings.written_bytes,
        });
        record
    }

    /// How long removing the test file may take.
    fn clean_up_limit(&self) -> Duration {
        match &self.record().outcome {
            Outcome::Failed { failure: RunFailure::Hung, .. } => HUNG_ALREADY,
            _ if self.control.stopped() => AFTER_STOP,
            _ => self.request.hang_after * SYNC,
        }
    }
}
