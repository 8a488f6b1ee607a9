//! The record of a check: begun before it, and closed with its result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_core::draft::Draft;
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Record, SuiteRef, Tool};
use assay_core::text::harmless;
use assay_core::units::nanoseconds;
use assay_core::verification::Verification;
use assay_device::health::HealthReader;
use assay_device::{DeviceError, Sysroot, TargetInfo};
use assay_engine::{Control, wall_clock};

use crate::files::Checked;
use crate::probe::{Ended, JournalLeft, ProbeFault, Probed};

/// The subject of a check, for its record.
#[derive(Debug, Clone)]
pub struct CheckSubject {
    /// Identity of the future record.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Commit of its source; none where it is not known.
    pub commit: Option<String>,
    /// Method of the check.
    pub method: &'static str,
    /// Directory or device.
    pub target: PathBuf,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
}

/// The record of a check in progress.
#[derive(Debug)]
pub struct CheckRecord {
    draft: Draft,
    health: HealthReader,
}

impl CheckRecord {
    /// Examines the medium, and begins the record of its check.
    ///
    /// # Errors
    /// Where the target cannot be examined.
    pub fn begin(subject: CheckSubject) -> Result<(Self, TargetInfo), DeviceError> {
        let sysroot = Sysroot::real();
        let path = std::fs::canonicalize(&subject.target).unwrap_or(subject.target);
        let seen = assay_device::look(&sysroot, &path)?;
        let tool = Tool::assay(&subject.version, subject.method, "as asked");
        let tool = Tool { commit: subject.commit.clone(), ..tool };
        let suite = SuiteRef::new("verify", 1);
        let mut draft = Draft::begin(&subject.id, &wall_clock(), tool, suite, seen.medium.clone())
            .on_host(assay_device::host(&sysroot))
            .labelled(subject.labels);
        draft.change_settings(|settings| settings.raw_device = seen.raw);
        let mut health = HealthReader::new(&sysroot, &seen);
        draft.fill().medium.readings = health.read();
        Ok((Self { draft, health }, seen))
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.draft.record().id
    }

    /// Closes the record of a check of files. `kept` says whether the files are to stay.
    #[must_use]
    pub fn close_files(mut self, checked: Checked, kept: bool, control: &Control, elapsed: Duration) -> Record {
        self.note_suspended(control);
        if let Some(left) = checked.left.filter(|_| checked.resumable && !kept) {
            self.draft.warn(Finding::CheckUnfinished { path: shown(&left) });
        }
        self.close(checked.verification, checked.outcome, checked.read_bytes, elapsed)
    }

    /// Closes the record of a probe with this journal.
    #[must_use]
    pub fn close_probe(mut self, probed: Probed, journal: &Path, control: &Control, elapsed: Duration) -> Record {
        self.note_suspended(control);
        if probed.journal == JournalLeft::Needed {
            let reason = match &probed.restored {
                Err(error) => harmless(&error.to_string()),
                Ok(done) => harmless(&done.to_string()),
            };
            self.draft.warn(Finding::NotPutBack { journal: shown(journal), reason });
        }
        let outcome = outcome(&probed.ended, probed.verification.written_bytes, elapsed);
        self.close(probed.verification, outcome, probed.read_bytes, elapsed)
    }

    fn note_suspended(&mut self, control: &Control) {
        let suspended = control.suspended();
        if !suspended.is_zero() {
            self.draft.warn(Finding::Suspended { suspended_ns: nanoseconds(suspended) });
        }
    }

    fn close(mut self, verification: Verification, outcome: Outcome, read_bytes: u64, elapsed: Duration) -> Record {
        let record = self.draft.fill();
        record.change_settings(|settings| {
            settings.elapsed_ns = nanoseconds(elapsed);
            settings.written_bytes = verification.written_bytes;
            settings.planned_write_bytes = verification.written_bytes;
            settings.read_bytes = read_bytes;
            settings.span_bytes = verification.announced_bytes;
        });
        record.verification = Some(verification);
        // A medium that hung or is gone would not answer.
        if !matches!(outcome, Outcome::Failed { failure: RunFailure::Hung | RunFailure::Disappeared, .. }) {
            record.medium.readings.finish(self.health.read());
        }
        for finding in Finding::of_health(&self.draft.record().medium.readings) {
            self.draft.warn(finding);
        }
        self.draft.close(outcome)
    }
}

/// The outcome of a probe for its record.
fn outcome(ended: &Ended, written_bytes: u64, elapsed: Duration) -> Outcome {
    let (failure, detail) = match ended {
        Ended::Complete | Ended::Spent => return Outcome::Completed,
        Ended::Stopped => (RunFailure::Interrupted, String::new()),
        Ended::Device(fault) => {
            let failure = match fault {
                ProbeFault::Gone => RunFailure::Disappeared,
                ProbeFault::ReadOnly => RunFailure::ReadOnly,
                ProbeFault::Hung => RunFailure::Hung,
                // The medium under test did not fail.
                ProbeFault::Exchanged => RunFailure::Host,
                _ => RunFailure::IoError,
            };
            (failure, fault.to_string())
        }
        Ended::Journal(error) if error.is_full() => (RunFailure::OutOfSpace, error.to_string()),
        // A failure of the journal's disk is not a failure of the medium.
        Ended::Journal(error) => (RunFailure::Host, error.to_string()),
    };
    Outcome::Failed {
        failure,
        detail: harmless(&detail),
        workload: None,
        elapsed_ns: nanoseconds(elapsed),
        written_bytes,
    }
}

fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use assay_core::finding::ValidityVerdict;
    use assay_core::verification::{Method, Verdict};

    use super::*;

    fn begun(directory: &Path) -> CheckRecord {
        let labels = BTreeMap::from([("slot".to_owned(), "3".to_owned())]);
        let (id, version) = ("0123456789".to_owned(), "1.0".to_owned());
        let target = directory.to_owned();
        CheckRecord::begin(CheckSubject { id, version, commit: None, method: "fill and check", target, labels })
            .unwrap()
            .0
    }

    fn checked(left: Option<&Path>) -> Checked {
        let verification = Verification {
            verdict: Verdict::Genuine,
            announced_bytes: 4096,
            real_bytes: Some(4096),
            checked_bytes: 4096,
            written_bytes: 4096,
            ..Verification::undecided(Method::Full)
        };
        Checked {
            verification,
            outcome: Outcome::Completed,
            left: left.map(Path::to_owned),
            resumable: true,
            refused_bytes: 0,
            read_bytes: 5000,
        }
    }

    #[test]
    fn the_record_of_a_check_has_what_was_moved_and_when_the_process_was_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let control = Control::default();
        control.beat(Duration::from_secs(2));
        let record = begun(dir.path()).close_files(checked(None), false, &control, Duration::from_secs(7));
        assert_eq!(record.host.slot.as_deref(), Some("3"));
        assert_eq!(
            (record.settings().unwrap().elapsed_ns, record.settings().unwrap().read_bytes),
            (7_000_000_000, 5000)
        );
        assert_eq!((record.settings().unwrap().written_bytes, record.settings().unwrap().span_bytes), (4096, 4096));
        assert_eq!(record.verification.map(|v| v.verdict), Some(Verdict::Genuine));
        assert_eq!((record.outcome, record.validity.verdict), (Outcome::Completed, ValidityVerdict::Valid));
        assert_eq!(record.warnings.len(), 1);
        assert_eq!(record.warnings[0].finding, Finding::Suspended { suspended_ns: 2_000_000_000 });
    }

    #[test]
    fn files_that_are_left_are_named_unless_they_were_to_stay() {
        let dir = tempfile::tempdir().unwrap();
        for (kept, findings) in [(false, 1), (true, 0)] {
            let checked = checked(Some(dir.path()));
            let record = begun(dir.path()).close_files(checked, kept, &Control::default(), Duration::ZERO);
            assert_eq!(record.warnings.len(), findings, "{:?}", record.warnings);
        }
    }

    #[test]
    fn a_probe_that_ended_early_says_whose_fault_that_was() {
        let of = |ended| match outcome(&ended, 512, Duration::from_secs(1)) {
            Outcome::Failed { failure, written_bytes: 512, elapsed_ns: 1_000_000_000, .. } => Some(failure),
            Outcome::Completed => None,
            other => panic!("{other:?}"),
        };
        assert_eq!([of(Ended::Complete), of(Ended::Spent)], [None, None]);
        assert_eq!(of(Ended::Stopped), Some(RunFailure::Interrupted));
        for (fault, failure) in [
            (ProbeFault::Gone, RunFailure::Disappeared),
            (ProbeFault::ReadOnly, RunFailure::ReadOnly),
            (ProbeFault::Hung, RunFailure::Hung),
            (ProbeFault::Exchanged, RunFailure::Host),
        ] {
            assert_eq!(of(Ended::Device(fault)), Some(failure));
        }
    }
}
