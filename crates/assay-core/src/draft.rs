//! A record while it is made: begun, filled, closed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::finding::{Finding, Validity, Warning};
use crate::medium::Medium;
use crate::outcome::Outcome;
use crate::record::{Host, Origin, Record, SCHEMA, Settings, SuiteRef, Tool};

/// The settings of what is no run.
static NO_SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);

/// A record under way. All records are made through it: of runs, of checks, of published figures.
#[derive(Debug, Clone)]
pub struct Draft {
    record: Record,
}

impl Draft {
    /// Begins a record: under way, with nothing measured. `created` is RFC 3339 in UTC, or empty where it is unknown.
    #[must_use]
    pub fn begin(id: &str, created: &str, tool: Tool, suite: SuiteRef, medium: Medium) -> Self {
        Self {
            record: Record {
                schema: SCHEMA.to_owned(),
                id: id.to_owned(),
                created: created.to_owned(),
                tool,
                host: Host::default(),
                medium,
                labels: BTreeMap::new(),
                suite,
                origin: Origin::default(),
                measurements: Vec::new(),
                scores: Vec::new(),
                sensors: Vec::new(),
                crosscheck: Vec::new(),
                verification: None,
                cluster: None,
                outcome: Outcome::Running,
                validity: Validity::judge([].iter()),
                warnings: Vec::new(),
            },
        }
    }

    /// Opens the record of an interrupted run again: under way, with all that it holds.
    #[must_use]
    pub fn reopen(record: Record) -> Self {
        Self { record: Record { outcome: Outcome::Running, ..record } }
    }

    /// Says where it was measured. The label `slot` is the host's slot.
    #[must_use]
    pub fn on_host(mut self, host: Host) -> Self {
        self.record.host = host;
        self.with_slot()
    }

    /// Adds the user's labels.
    #[must_use]
    pub fn labelled(mut self, labels: BTreeMap<String, String>) -> Self {
        self.record.labels = labels;
        self.with_slot()
    }

    fn with_slot(mut self) -> Self {
        if let Some(slot) = self.record.labels.get("slot") {
            self.record.host.slot = Some(slot.clone());
        }
        self
    }

    /// Says with which settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.record.origin = Origin::run(settings);
        self
    }

    /// Says that the figures are not of a run of assay, and of what else.
    #[must_use]
    pub fn taken_from(mut self, origin: Origin) -> Self {
        self.record.origin = origin;
        self
    }

    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.record.settings().unwrap_or(&NO_SETTINGS)
    }

    /// Changes the settings of the run.
    pub fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        self.record.change_settings(change);
    }

    /// The record as it stands.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The record, to be filled.
    pub fn fill(&mut self) -> &mut Record {
        &mut self.record
    }

    /// Adds a finding about the record as a whole.
    pub fn warn(&mut self, finding: Finding) -> &Warning {
        let at = self.record.warnings.len();
        self.record.warnings.push(Warning::from(finding));
        &self.record.warnings[at]
    }

    /// Says how it ended. The first end stays: what follows from a failure does not hide it.
    pub fn end(&mut self, outcome: Outcome) {
        if !self.ended() {
            self.record.outcome = outcome;
        }
    }

    /// Whether it ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.record.outcome != Outcome::Running
    }

    /// Closes the record with `outcome`, unless it ended before, and judges it by all of its warnings.
    #[must_use]
    pub fn close(mut self, outcome: Outcome) -> Record {
        self.end(outcome);
        self.record.validity = Validity::judge(self.record.all_warnings());
        self.record
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::ValidityVerdict;
    use crate::outcome::RunFailure;

    fn draft() -> Draft {
        Draft::begin("id", "", Tool::assay("1.0", "sync", "asked for"), SuiteRef::new("s", 1), Medium::unknown("/mnt"))
    }

    #[test]
    fn a_record_is_judged_when_it_is_closed() {
        let mut draft = draft();
        assert_eq!(draft.warn(Finding::AnotherRun).severity, Warning::from(Finding::AnotherRun).severity);
        assert_eq!(
            (&draft.record().outcome, draft.record().validity.verdict),
            (&Outcome::Running, ValidityVerdict::Valid)
        );
        let record = draft.close(Outcome::Completed);
        assert_eq!((record.outcome, record.validity.verdict), (Outcome::Completed, ValidityVerdict::Suspect));
    }

    #[test]
    fn the_first_end_stays_until_the_record_is_opened_again() {
        let failed = Outcome::Failed {
            failure: RunFailure::Hung,
            detail: String::new(),
            workload: None,
            elapsed_ns: 1,
            written_bytes: 2,
        };
        let mut draft = draft();
        draft.end(failed.clone());
        assert!(draft.ended());
        let record = draft.close(Outcome::Completed);
        assert_eq!(record.outcome, failed);
        assert_eq!(Draft::reopen(record).close(Outcome::Completed).outcome, Outcome::Completed);
    }

    #[test]
    fn the_label_slot_is_the_hosts_slot_in_either_order() {
        let labels = || BTreeMap::from([("slot".to_owned(), "7".to_owned())]);
        let host = || Host { cores: Some(4), ..Host::default() };
        for draft in [draft().on_host(host()).labelled(labels()), draft().labelled(labels()).on_host(host())] {
            let record = draft.close(Outcome::Completed);
            assert_eq!((record.host.slot.as_deref(), record.host.cores), (Some("7"), Some(4)));
        }
    }
}
