//! A record and an observer for tests.

use std::path::Path;

use assay_core::arrivals::Process;
use assay_core::blocks::Blocks;
use assay_core::cpus::Cpus;
use assay_core::distribution::Distribution;
use assay_core::draft::Draft;
use assay_core::event::Event;
use assay_core::medium::Medium;
use assay_core::priority::Priorities;
use assay_core::record::{Measurement, OriginalRun, Record, SuiteRef, Tool};
use assay_core::refined::Refined;
use assay_core::suite::{Analysis, SuiteWorkload};
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync};

use crate::emit::Observer;

/// A record under way.
pub(crate) fn record(measurements: Vec<Measurement>) -> Record {
    let tool = Tool::assay("0.1.0", "sync", "asked for");
    let mut draft =
        Draft::begin("0123456789", "2026-01-02T03:04:05Z", tool, SuiteRef::new("quick", 1), Medium::unknown("/mnt"));
    draft.fill().measurements = measurements;
    draft.record().clone()
}

/// A run of a tool.
pub(crate) fn original(tool: &str) -> OriginalRun {
    OriginalRun {
        tool: tool.to_owned(),
        version: "1.0".to_owned(),
        command: format!("{tool} run"),
        input: None,
        text_sha256: "0".repeat(64),
        text: None,
    }
}

/// A workload of a suite: one job, direct.
pub(crate) fn asked(op: Op, pattern: Pattern, block: u64, queue_depth: u32) -> SuiteWorkload {
    SuiteWorkload {
        name: "w".into(),
        op,
        read_percent: None,
        pattern,
        block: Bytes(block),
        queue_depth,
        jobs: 1,
        sync: Sync::End,
        direct: true,
        rate: None,
        process: Process::default(),
        blocks: Blocks::default(),
        distribution: Distribution::default(),
        think: None,
        refined: Refined::default(),
        priorities: Priorities::default(),
        cpus: Cpus::default(),
        poll: false,
        group: None,
        duration: None,
        span: None,
        span_percent: None,
        offset: None,
        offset_percent: None,
        analysis: Analysis::Mean,
        original: None,
    }
}

/// Keeps all samples.
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
