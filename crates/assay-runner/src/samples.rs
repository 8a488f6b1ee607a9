//! A record and an observer for tests.

use std::collections::BTreeMap;
use std::path::Path;

use assay_core::event::Event;
use assay_core::finding::{Validity, Verdict};
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Record, SCHEMA, Settings, SuiteRef, Tool};

use crate::emit::Observer;

/// A record under way.
pub(crate) fn record(measurements: Vec<Measurement>) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        id: "0123456789".to_owned(),
        created: "2026-01-02T03:04:05Z".to_owned(),
        tool: Tool {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            engine: "sync".to_owned(),
            engine_reason: "asked for".to_owned(),
        },
        host: Host::default(),
        medium: Medium::unknown("/mnt"),
        labels: BTreeMap::new(),
        suite: SuiteRef { name: "quick".to_owned(), version: 1 },
        settings: Settings::default(),
        measurements,
        sensors: Vec::new(),
        crosscheck: Vec::new(),
        verification: None,
        source: None,
        outcome: Outcome::Running,
        validity: Validity { verdict: Verdict::Valid, reasons: Vec::new() },
        warnings: Vec::new(),
    }
}

/// Keeps what it is told.
#[derive(Default)]
pub(crate) struct Listener {
    pub(crate) events: Vec<Event>,
    pub(crate) saved: Vec<Record>,
}

impl Observer for Listener {
    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }

    fn checkpoint(&mut self, record: &Record, _scratch: Option<&Path>) {
        self.saved.push(record.clone());
    }
}
