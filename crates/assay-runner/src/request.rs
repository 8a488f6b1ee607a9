//! What a run is asked to do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_core::draft::Draft;
use assay_core::finding::Finding;
use assay_core::medium::{Medium, MediumKind};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record, Settings};
use assay_core::sensor::{SensorCommand, SensorNote};
use assay_core::suite::{Suite, SuiteWorkload};
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_programs::SourceTree;
use jiff::Timestamp;

use crate::choose::EngineChoice;
use crate::error::RunError;

/// Whether a raw device may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RawMode {
    /// It may not.
    #[default]
    Refused,
    /// It may, unless it holds data.
    Allowed,
    /// It may, and what it holds may be overwritten: the user named it twice.
    Overwrite,
}

/// What to do.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// Directory or raw device.
    pub path: PathBuf,
    /// By which suite.
    pub suite: Suite,
    /// How the suite differs from the job file of fio that it was read from; empty where it was read from none.
    pub translated: Vec<String>,
    /// Identity of the record to be.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Commit of its source; none where it is not known.
    pub commit: Option<String>,
    /// What runs the workloads.
    pub engine: EngineChoice,
    /// Whether a raw device may be used.
    pub raw: RawMode,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
    /// Seed of data and offsets.
    pub seed: u64,
    /// Relative half width over the repeats to measure for; the suite's repeats are then the most.
    pub confidence: Option<f64>,
    /// Without a completion for this long, the medium hangs ([`crate::HANG_AFTER`] by
    /// default).
    pub hang_after: Duration,
    /// Sensors that commands read.
    pub sensors: Vec<SensorCommand>,
    /// What was read by eye.
    pub notes: Vec<SensorNote>,
    /// The source tree of programs that need one.
    pub source_tree: Arc<SourceTree>,
    /// The interrupted run to resume; `suite`, `id` and `seed` are then those of its record.
    pub resume: Option<Box<Resumption>>,
}

impl RunRequest {
    /// The path, for messages.
    pub(crate) fn shown(&self) -> String {
        harmless(&self.path.to_string_lossy())
    }
}

// Resuming an interrupted run.

/// An interrupted run, and what it takes to resume it.
#[derive(Debug, Clone)]
pub struct Resumption {
    record: Record,
    suite: Suite,
    /// Where the run's own directory was found, which only the medium that it measured has.
    trace: Option<PathBuf>,
}

impl Resumption {
    /// Looks whether the run of this record can be resumed: it was interrupted or killed, or the host lacked
    /// something, and it says by which suite it ran. A medium that failed is a result, which stays.
    ///
    /// # Errors
    /// [`RunError::NotResumable`] with the reason.
    pub fn from_record(record: Record) -> Result<Self, RunError> {
        let refuse = |reason: &str| Err(RunError::NotResumable { id: harmless(&record.id), reason: reason.to_owned() });
        match &record.outcome {
            Outcome::Failed { failure: RunFailure::Interrupted | RunFailure::Abandoned | RunFailure::Host, .. } => {}
            Outcome::Completed => return refuse("it was completed"),
            Outcome::Running => return refuse("it is still under way"),
            Outcome::Failed { failure: RunFailure::OutOfSpace, .. } => {
                return refuse("there was no space left for it; free some and begin anew");
            }
            Outcome::Failed { .. } => return refuse("the medium failed, and that is its result"),
        }
        let text = record.settings().map(|settings| &settings.suite_text).filter(|text| !text.is_empty());
        let Some(text) = text else { return refuse("it does not say by which suite it ran") };
        match Suite::parse(text, "the suite of the record") {
            Ok(suite) => Ok(Self { record, suite, trace: None }),
            Err(error) => refuse(&harmless(&error.to_string())),
        }
    }

    /// The same, with the directory `.assay-ID` that the killed run left on its medium and that was
    /// found there now.
    #[must_use]
    pub fn with_trace(self, scratch: Option<&Path>) -> Self {
        Self { trace: scratch.and_then(Path::parent).map(Path::to_owned), ..self }
    }

    /// The record as it was left.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The suite with what is left of its budgets. The test area has to be written once more, which
    /// neither time nor bytes were planned for.
    #[must_use]
    pub fn suite(&self) -> Suite {
        let Some(settings) = self.record.settings() else { return self.suite.clone() };
        let layout = settings.layout.as_ref();
        let again = Duration::from_nanos(layout.map_or(0, |l| l.elapsed_ns));
        let left = self.suite.budget.saturating_sub(Duration::from_nanos(settings.elapsed_ns)) + again;
        let bytes = settings.max_write_bytes.saturating_sub(settings.written_bytes);
        Suite {
            budget: left.max(Duration::from_secs(1)),
            max_write: Bytes(bytes + layout.map_or(0, |l| l.bytes)),
            span: self.area_bytes().map_or(self.suite.span, Bytes),
            ..self.suite.clone()
        }
    }

    /// Bytes of the test area, where it came as far as a repeat: all repeats of an estimate are made on an area of
    /// one size, because a larger one is slower where a medium looks addresses up in a small cache.
    pub(crate) fn area_bytes(&self) -> Option<u64> {
        let measured = self.record.measurements.iter().any(|m| !m.repeats.is_empty());
        self.record.settings().filter(|_| measured).map(|settings| settings.span_bytes)
    }

    /// Refuses an area of another size.
    pub(crate) fn refuse_smaller(&self, available: u64) -> Result<(), RunError> {
        let Some(area) = self.area_bytes().filter(|area| *area > available) else { return Ok(()) };
        let (area, there) = (Bytes(area), Bytes(available));
        Err(RunError::NotResumable {
            id: harmless(&self.record.id),
            reason: format!("its test area had {area}, and there is room for {there}; free some space"),
        })
    }

    /// Whether `now`, at `path`, is the medium that was measured.
    pub(crate) fn check(&self, now: &Medium, path: &Path) -> Result<(), RunError> {
        let traced = self.trace.as_deref() == Some(path);
        refuse_another(&self.record.medium, now, traced)
            .map_err(|reason| RunError::NotResumable { id: harmless(&self.record.id), reason: harmless(&reason) })
    }

    /// The record, under way again: with what was measured, and with what is planned now on top of what was done.
    pub(crate) fn begin(&self, planned: &Settings) -> Draft {
        let mut draft = Draft::reopen(self.record.clone());
        let record = draft.fill();
        record.change_settings(|done| {
            done.budget_ns = done.elapsed_ns.saturating_add(planned.budget_ns);
            done.max_write_bytes = done.written_bytes.saturating_add(planned.max_write_bytes);
            done.planned_write_bytes = done.written_bytes.saturating_add(planned.planned_write_bytes);
            done.hang_after_ns = planned.hang_after_ns;
        });
        for repeat in record.measurements.iter_mut().flat_map(|m| &mut m.repeats) {
            // A run that was killed had no time to say so of its last repeat.
            if repeat.outcome == Outcome::Running {
                repeat.outcome = self.record.outcome.clone();
            }
        }
        let rested_ns = self.rested_ns();
        for measurement in &mut record.measurements {
            if measurement.soak.is_some() || is_soak(&self.suite, &measurement.workload.name) {
                let after_ns = lasted_ns(measurement);
                if after_ns > 0 {
                    measurement.warn(Finding::SoakPaused { after_ns, rested_ns });
                }
            }
        }
        draft.warn(Finding::Resumed { rested_ns });
        draft
    }

    /// Time since it was interrupted, by the wall clock.
    fn rested_ns(&self) -> u64 {
        let began: Option<Timestamp> = self.record.created.parse().ok();
        let since = began.map_or(0, |began| Timestamp::now().as_nanosecond() - began.as_nanosecond());
        u64::try_from(since)
            .unwrap_or(0)
            .saturating_sub(self.record.settings().map_or(0, |settings| settings.elapsed_ns))
    }
}

/// Says why `now` is not taken for the medium that `then` was. Equal descriptions are not enough:
/// cards of one model without a serial number have the same. `traced`: what the run left is on it.
fn refuse_another(then: &Medium, now: &Medium, traced: bool) -> Result<(), String> {
    let same = (then.kind, &then.vendor, &then.model, &then.unit, then.capacity_bytes)
        == (now.kind, &now.vendor, &now.model, &now.unit, now.capacity_bytes);
    if !same {
        return Err(format!("it measured another medium ({}), here is {}", then.title(), now.title()));
    }
    let attached = now.attached.is_some() && now.attached == then.attached;
    if has_own_serial(now) || now.stack.is_empty() || attached || traced {
        return Ok(());
    }
    Err(format!(
        "nothing shows that {} is the one it measured, as it has no serial number of its own, and it was taken out or \
         the system restarted since then; only what stays attached can be resumed",
        now.title()
    ))
}

/// Whether the serial number is the medium's: that of a USB stick may be its reader's, in which any
/// card can be.
fn has_own_serial(medium: &Medium) -> bool {
    medium.unit.is_some() && medium.kind != MediumKind::UsbStick
}

fn is_soak(suite: &Suite, name: &str) -> bool {
    suite.workloads.iter().any(|w| w.name == name && w.analysis == assay_core::suite::Analysis::Soak)
}

/// How long the interrupted repeats of a measurement lasted, in nanoseconds.
pub(crate) fn lasted_ns(measurement: &Measurement) -> u64 {
    let cut = measurement.repeats.iter().filter(|r| r.outcome != Outcome::Completed);
    cut.flat_map(|r| &r.samples).map(|s| s.interval_ns).sum()
}

/// The workload as its first repeats ran, so that all are alike.
pub(crate) fn as_before(asked: &SuiteWorkload, measurement: &Measurement) -> Option<SuiteWorkload> {
    let workload = &measurement.workload;
    (!measurement.repeats.is_empty()).then(|| SuiteWorkload {
        block: if asked.has_sizes() { asked.block } else { Bytes(workload.largest_block()) },
        queue_depth: workload.queue_depth,
        jobs: workload.jobs,
        ..asked.clone()
    })
}

#[cfg(test)]
mod tests {
    use assay_core::medium::BlockNode;

    use super::*;

    fn medium(kind: MediumKind, unit: Option<&str>, attached: Option<&str>) -> Medium {
        let disk = BlockNode { name: "sdb".to_owned(), role: "disk".to_owned() };
        Medium {
            kind,
            unit: unit.map(str::to_owned),
            attached: attached.map(str::to_owned),
            capacity_bytes: Some(1 << 30),
            stack: vec![disk],
            ..Medium::unknown("/mnt")
        }
    }

    /// Threat 22: two cards without serial numbers were mixed in one record.
    #[test]
    fn a_medium_without_identity_is_resumed_only_where_it_is_shown_to_be_the_same() {
        use MediumKind::{Sd, UsbStick};
        let cases = [
            (Sd, Some("0xa1"), None, None, true, "a serial number of its own"),
            (Sd, None, Some("boot:7"), Some("boot:7"), true, "not taken out"),
            (Sd, None, Some("boot:7"), Some("boot:8"), false, "taken out"),
            (Sd, None, None, None, false, "the kernel does not tell"),
            (UsbStick, Some("reader"), Some("boot:7"), Some("boot:8"), false, "the reader's number"),
            (UsbStick, Some("reader"), Some("boot:7"), Some("boot:7"), true, "not taken out of the reader"),
        ];
        for (kind, unit, then, now, resumes, what) in cases {
            let (then, now) = (medium(kind, unit, then), medium(kind, unit, now));
            let answer = refuse_another(&then, &now, false);
            assert_eq!(answer.is_ok(), resumes, "{what}: {answer:?}");
            assert_eq!(refuse_another(&then, &now, true), Ok(()), "{what}");
        }
    }

    /// A run whose file system was full was refused as one whose medium had failed.
    #[test]
    fn a_record_that_cannot_be_gone_on_with_says_why() {
        let ended = |failure| Outcome::Failed {
            failure,
            detail: String::new(),
            workload: None,
            elapsed_ns: 1,
            written_bytes: 2,
        };
        for (outcome, reason) in [
            (ended(RunFailure::OutOfSpace), "no space left"),
            (ended(RunFailure::IoError), "the medium failed"),
            (Outcome::Completed, "it was completed"),
        ] {
            let mut record = crate::samples::record(Vec::new());
            record.outcome = outcome;
            let said = Resumption::from_record(record).unwrap_err().to_string();
            assert!(said.contains(reason), "{said}");
        }
    }

    #[test]
    fn what_was_under_way_was_cut_short_and_what_was_completed_stays() {
        let mut cut = crate::samples::record(vec![crate::evidence::measurement(&[&[100.0], &[101.0]])]);
        cut.measurements[0].repeats[1].outcome = Outcome::Running;
        let suite_text = "name = \"s\"\nversion = 1\npurpose = \"p\"\nbudget = \"9s\"\nmax_write = \"1GiB\"\n\
             repeats = 2\nspan = \"64MiB\"\n[[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\n\
             block = \"4KiB\"\n"
            .to_owned();
        cut.change_settings(|settings| settings.suite_text = suite_text);
        cut.outcome = Outcome::Failed {
            failure: RunFailure::Abandoned,
            detail: String::new(),
            workload: None,
            elapsed_ns: 1,
            written_bytes: 2,
        };
        cut.change_settings(|settings| settings.written_bytes = 2);
        let killed = cut.outcome.clone();
        let planned = Settings { max_write_bytes: 5, ..Settings::default() };
        let resumed = Resumption::from_record(cut).unwrap().begin(&planned);
        let resumed = resumed.record();
        assert_eq!(resumed.settings().unwrap().max_write_bytes, 7, "what is planned comes on top of what was written");
        assert_eq!(resumed.outcome, Outcome::Running);
        let outcomes: Vec<&Outcome> = resumed.measurements[0].repeats.iter().map(|r| &r.outcome).collect();
        assert_eq!(outcomes, [&Outcome::Completed, &killed]);
    }

    #[test]
    fn another_serial_number_or_capacity_is_another_medium() {
        let card = medium(MediumKind::Sd, Some("a"), Some("boot:7"));
        for other in [
            medium(MediumKind::Sd, Some("b"), Some("boot:7")),
            Medium { capacity_bytes: Some(2 << 30), ..card.clone() },
        ] {
            let reason = refuse_another(&card, &other, true).unwrap_err();
            assert!(reason.contains("another medium"), "{reason}");
        }
    }
}
