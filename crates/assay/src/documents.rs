//! What commands print with `--json`, where that is neither an answer of the analysis nor a record. `schemas/` holds the JSON
//! Schema of each document; a test compares it with these types. `docs/json.md` lists them.

#[cfg(test)]
mod contract;
pub(crate) mod fleet;
pub(crate) mod watch;

use std::collections::BTreeMap;
use std::path::Path;

use assay_core::blocks::Blocks;
use assay_core::cpus::Cpus;
use assay_core::distribution::Distribution;
use assay_core::estimate::Estimate;
use assay_core::medium::Medium;
use assay_core::priority::Priorities;
use assay_core::record::{Host, Source};
use assay_core::refined::Refined;
use assay_core::verification::Verdict;
use assay_core::workload::{Op, Pattern, Sync, Think};
use assay_submit::{Receipt, Refusal, Status, Step};
use serde::Serialize;

/// A path as JSON holds it: a name that is not UTF-8 has replacement characters.
pub(crate) fn path(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

/// Why a command ended without doing its work. It is printed on standard output unless a document stands there already; the
/// same reason is one line on standard error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ErrorDocument {
    /// The error.
    pub(crate) error: ErrorReason,
}

/// An error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ErrorReason {
    /// Name of the exit code, as `usage` or `environment`.
    pub(crate) kind: &'static str,
    /// Exit code of the program; docs/exit-codes.md lists them.
    pub(crate) exit_code: u8,
    /// What is wrong, where, and the mend, in one line for people.
    pub(crate) message: String,
}

/// `assay serve`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ServeDocument {
    /// Address to open; with the secret, unless the user chose a token.
    pub(crate) address: String,
    /// Whether a page asks for the token of `--token-file`.
    pub(crate) asks_for_token: bool,
}

/// `assay endure`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct EndureDocument {
    /// The tests, in the order of the targets; with `--status` in the order of their beginnings.
    pub(crate) tests: Vec<assay_core::endurance::Endurance>,
}

/// `assay powercut`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PowercutDocument {
    /// The test; with `--status` all tests, in the order of their beginnings.
    pub(crate) tests: Vec<assay_powercut::PowerCuts>,
}

/// `assay info`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct InfoDocument {
    /// The medium.
    pub(crate) medium: Medium,
    /// The host.
    pub(crate) host: Host,
    /// Block devices whose counters prove that bytes crossed them.
    pub(crate) proof_devices: Vec<String>,
    /// What killed runs and checks left on the medium.
    pub(crate) left: Vec<LeftDocument>,
    /// Journals of probes that were cut off, whose stamps stand on the device.
    pub(crate) pending_journals: Vec<PendingDocument>,
}

/// `assay info --list`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct InfoListDocument {
    /// The media, mounted ones first.
    pub(crate) media: Vec<SurveyedDocument>,
}

/// A medium of this machine.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SurveyedDocument {
    /// Its mount point, or the device: what other commands take.
    pub(crate) path: String,
    /// Whether it is mounted.
    pub(crate) mounted: bool,
    /// Whether it is removable.
    pub(crate) removable: bool,
    /// The medium.
    pub(crate) medium: Medium,
}

/// Something that was left on a medium.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "snake_case")]
pub(crate) enum LeftDocument {
    /// Test files of killed runs.
    Run {
        /// Always `killed`.
        state: &'static str,
        /// Directories that hold them.
        directories: u32,
        /// Their size in bytes.
        bytes: u64,
    },
    /// The directory of a check.
    Check {
        /// `alive`: at work; `kept`: by wish; `killed`.
        state: &'static str,
        /// The directory.
        path: String,
        /// Its size in bytes.
        bytes: u64,
        /// Whether `--resume` can go on.
        resumable: bool,
    },
    /// A directory with the name of a check's, which is not assay's or cannot be looked at.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// A journal whose stamps stand on a device.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PendingDocument {
    /// File of the journal.
    pub(crate) journal: String,
    /// The device now.
    pub(crate) device: String,
    /// Seconds since 1970 at which the journal was made.
    pub(crate) created_seconds: u64,
    /// Places that it holds.
    pub(crate) places: usize,
    /// The device as it was when it was probed.
    pub(crate) probed: ProbedDocument,
}

/// A device as it was when it was probed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProbedDocument {
    /// Name.
    pub(crate) name: String,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Serial number or CID.
    pub(crate) serial: Option<String>,
}

/// `assay verify --restore`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RestoreDocument {
    /// Bytes that were put back.
    pub(crate) restored_bytes: u64,
    /// Offsets in bytes of places that do not read as before.
    pub(crate) differing_offsets: Vec<u64>,
    /// Whether everything was put back earlier.
    pub(crate) already_restored: bool,
    /// Offsets in bytes of places with newer content, which was kept.
    pub(crate) newer_offsets: Vec<u64>,
    /// Places whose original content the journal has lost.
    pub(crate) missing_places: usize,
    /// Whether it was interrupted.
    pub(crate) stopped: bool,
    /// Whether the journal stays.
    pub(crate) journal_kept: bool,
}

/// `assay run --dry-run`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DryRunDocument {
    /// Always true.
    pub(crate) dry_run: bool,
    /// The suite.
    pub(crate) suite: SuiteName,
    /// Title of the medium.
    pub(crate) medium: String,
    /// Longest time in nanoseconds.
    pub(crate) budget_ns: u64,
    /// Repeats end when the interval of a load is at most this share of its figure wide on either side; null where their number
    /// is fixed.
    pub(crate) enough: Option<f64>,
    /// Most bytes that are written.
    pub(crate) planned_write_bytes: u64,
    /// Test area in bytes, which has to be free.
    pub(crate) area_bytes: u64,
    /// Loads, in their order.
    pub(crate) workloads: Vec<DryRunStep>,
    /// Programs, in their order.
    pub(crate) programs: Vec<DryRunStep>,
}

/// A load or a program of a dry run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DryRunStep {
    /// Name in the suite.
    pub(crate) name: String,
    /// The load in words.
    pub(crate) title: String,
    /// Repeats; at most, where `enough` is set.
    pub(crate) repeats: u32,
    /// Longest time of one repeat in nanoseconds.
    pub(crate) longest_ns: u64,
}

/// Name and version of a suite.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuiteName {
    /// Name.
    pub(crate) name: String,
    /// Version.
    pub(crate) version: u32,
}

/// One of `assay suite list`, or `assay suite show`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuiteDocument {
    /// Name.
    pub(crate) name: String,
    /// Version.
    pub(crate) version: u32,
    /// The question that it answers.
    pub(crate) purpose: String,
    /// Longest time in nanoseconds.
    pub(crate) budget_ns: u64,
    /// Most bytes that are written.
    pub(crate) max_write_bytes: u64,
    /// Repeats of each load; at most, where `enough` is set.
    pub(crate) repeats: u32,
    /// Repeats end when the interval of a load is at most this share of its figure wide on either side; null where their number
    /// is fixed.
    pub(crate) enough: Option<f64>,
    /// Size of the test area in bytes.
    pub(crate) span_bytes: u64,
    /// Loads, in their order.
    pub(crate) workloads: Vec<SuiteLoad>,
    /// Programs that it runs.
    pub(crate) programs: Vec<SuiteProgram>,
}

/// A load of a suite.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuiteLoad {
    /// Name.
    pub(crate) name: String,
    /// What operations do.
    pub(crate) op: Op,
    /// Percent of reads in a mix; null elsewhere.
    pub(crate) read_percent: Option<u8>,
    /// Order of the operations.
    pub(crate) pattern: Pattern,
    /// Mean size of an operation in bytes.
    pub(crate) block_bytes: u64,
    /// Sizes of operations with their shares; empty where all have the same size.
    pub(crate) blocks: Blocks,
    /// Operations in flight for each job.
    pub(crate) queue_depth: u32,
    /// Threads.
    pub(crate) jobs: u32,
    /// When writes are synced.
    pub(crate) sync: Sync,
    /// Whether the page cache is passed by.
    pub(crate) direct: bool,
    /// Size of the load's own test area in bytes; null where it is that of the suite.
    pub(crate) span_bytes: Option<u64>,
    /// What is offered in an open loop, or the most that is done; null where neither is limited.
    pub(crate) rate: Option<String>,
    /// How arrivals follow each other in an open loop.
    pub(crate) arrivals: Option<&'static str>,
    /// How random operations are spread.
    pub(crate) distribution: Distribution,
    /// Pauses between operations.
    pub(crate) think: Option<Think>,
    /// Processors that its threads are bound to; empty for all.
    pub(crate) cpus: Cpus,
    /// Whether completions are polled for.
    pub(crate) poll: bool,
    /// Group of loads that run at the same time.
    pub(crate) group: Option<String>,
    /// What it has beyond pattern, block and queue.
    pub(crate) refined: Refined,
    /// Priorities of its operations before those of others.
    pub(crate) priorities: Priorities,
    /// Length of a repeat in nanoseconds; null where the suite's budget decides.
    pub(crate) duration_ns: Option<u64>,
}

/// A program of a suite.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuiteProgram {
    /// Name.
    pub(crate) name: String,
    /// What it does, in words.
    pub(crate) does: String,
    /// Longest time of one repeat in nanoseconds.
    pub(crate) duration_ns: u64,
}

/// `assay suite import` and `assay suite export` without `-o`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuiteText {
    /// The suite, or the job file.
    pub(crate) text: String,
    /// What differs from what the job file asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notes: Option<Vec<String>>,
}

/// A file that was written.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WrittenFile {
    /// Its path.
    pub(crate) file: String,
    /// Its size in bytes.
    pub(crate) bytes: usize,
}

/// `assay report`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReportDocument {
    /// The file, or the directory.
    pub(crate) file: String,
    /// Names of the files in the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Vec<String>>,
    /// Ids of the records.
    pub(crate) records: Vec<String>,
    /// Bytes that were written.
    pub(crate) bytes: usize,
}

/// Percentiles of a record in `assay show --percentiles`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RecordPercentiles {
    /// Id of the record.
    pub(crate) record: String,
    /// Its loads.
    pub(crate) workloads: Vec<LoadPercentiles>,
}

/// Percentiles of a load.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LoadPercentiles {
    /// Name of the load.
    pub(crate) workload: String,
    /// One for each that was asked for.
    pub(crate) percentiles: Vec<LatencyPercentile>,
}

/// A percentile of the latency.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatencyPercentile {
    /// Share of the operations, 0 to 1.
    pub(crate) share: f64,
    /// Latency in nanoseconds; null where the record has none.
    pub(crate) latency_ns: Option<Estimate>,
}

/// A baseline: `assay baseline set`, and one of `assay baseline list`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BaselineDocument {
    /// Its name.
    pub(crate) baseline: String,
    /// Ids of its records.
    pub(crate) records: Vec<String>,
}

/// `assay baseline rm`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RemovedBaseline {
    /// Name of the baseline.
    pub(crate) removed: String,
}

/// `assay rm`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RemovedRecords {
    /// Whether nothing was removed, and this is what would be.
    pub(crate) dry_run: bool,
    /// Ids of the records.
    pub(crate) removed: Vec<String>,
}

/// `assay login`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LoginDocument {
    /// Address of the public instance.
    pub(crate) site: String,
    /// Name of the account; null where it was forgotten.
    pub(crate) account: Option<String>,
    /// How many records the account has there.
    pub(crate) records: Option<u64>,
}

/// `assay submit`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SubmitDocument {
    /// The records, in the order of their submission.
    pub(crate) records: Vec<SubmittedRecord>,
}

/// A record that was submitted.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SubmittedRecord {
    /// Its id.
    pub(crate) record: String,
    /// Address of the public instance.
    pub(crate) site: String,
    /// When it was submitted, RFC 3339.
    pub(crate) submitted: String,
    /// Whether it is shown at its address alone.
    pub(crate) unlisted: bool,
    /// Where it is on its way.
    pub(crate) state: SubmissionState,
    /// How often it was sent without an answer.
    pub(crate) attempts: Option<u32>,
    /// What the site said last.
    pub(crate) receipt: Option<Receipt>,
    /// Why the site does not take it.
    pub(crate) refusal: Option<Refusal>,
    /// What kept this command from doing more, for people.
    pub(crate) error: Option<String>,
}

/// Where a submitted record is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum SubmissionState {
    /// In the outbox.
    Waiting,
    /// At the site; the receipt has its state there.
    Received,
    /// Not taken by the site.
    Refused,
    /// Taken back.
    Withdrawn,
}

impl SubmittedRecord {
    /// Of an entry as it is after a step.
    pub(crate) fn of(step: &Step) -> Self {
        let (mut attempts, mut receipt, mut refusal) = (None, None, None);
        let error = step.error.as_ref().map(ToString::to_string);
        let state = match &step.entry.status {
            Status::Waiting { attempts: tries, .. } => {
                attempts = Some(*tries);
                SubmissionState::Waiting
            }
            Status::Received { receipt: last, .. } => {
                receipt = Some(last.clone());
                SubmissionState::Received
            }
            Status::Refused { refusal: why } => {
                refusal = Some(why.clone());
                SubmissionState::Refused
            }
            Status::Withdrawn { .. } => SubmissionState::Withdrawn,
        };
        Self {
            record: step.entry.record.clone(),
            site: step.entry.site.to_string(),
            submitted: step.entry.submitted.clone(),
            unlisted: step.entry.unlisted,
            state,
            attempts,
            receipt,
            refusal,
            error,
        }
    }
}

/// `assay label`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LabelDocument {
    /// Whether nothing was changed, and this is what would be.
    pub(crate) dry_run: bool,
    /// Ids of the records that the query finds.
    pub(crate) records: Vec<String>,
    /// Ids of those that changed.
    pub(crate) changed: Vec<String>,
    /// The labels with their new values; null where one was removed.
    pub(crate) labels: BTreeMap<String, Option<String>>,
    /// What the labels of the records that changed were before.
    pub(crate) before: BTreeMap<String, Vec<LabelBefore>>,
}

/// A value of a label before it was changed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LabelBefore {
    /// The value; of a model that no label names, that of the medium; null where there was none.
    pub(crate) value: Option<String>,
    /// How many records had it.
    pub(crate) records: usize,
}

/// `assay export`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExportDocument {
    /// Directory of the new store.
    pub(crate) store: String,
    /// Ids of its records.
    pub(crate) records: Vec<String>,
}

/// One of `assay licences`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LicenceDocument {
    /// Name of the work.
    pub(crate) name: String,
    /// Version; null where it has none.
    pub(crate) version: Option<String>,
    /// SPDX expression.
    pub(crate) licence: String,
}

/// `assay import`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ImportDocument {
    /// Whether nothing was kept.
    pub(crate) dry_run: bool,
    /// Records that are new.
    pub(crate) added: usize,
    /// Records that the store had.
    pub(crate) known: usize,
    /// Records whose id the store has with another content.
    pub(crate) conflicts: usize,
    /// The records.
    pub(crate) records: Vec<ImportedRecord>,
    /// Lines that could not be read in files that hold results.
    pub(crate) problems: Vec<ImportProblem>,
    /// Files and records that could not be read.
    pub(crate) refused: Vec<RefusedFile>,
    /// Files without a result.
    pub(crate) skipped: Vec<String>,
}

/// A record of `assay import`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ImportedRecord {
    /// Id.
    pub(crate) id: String,
    /// What became of it.
    pub(crate) change: ImportChange,
    /// File that it came from; of a member of an archive, the archive.
    pub(crate) file: String,
    /// Where it stood, without the text; null for a record of assay.
    pub(crate) source: Option<Source>,
    /// Model; null where it is not known.
    pub(crate) model: Option<String>,
    /// Labels.
    pub(crate) labels: BTreeMap<String, String>,
    /// Figures of loads.
    pub(crate) measurements: usize,
    /// Figures that a tool prints without saying how they came about.
    pub(crate) scores: usize,
    /// Verdict of a check; null where it is none.
    pub(crate) verification: Option<Verdict>,
    /// Why it was not added; null where it was, or was known.
    pub(crate) reason: Option<String>,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImportChange {
    /// It is new.
    Added,
    /// `--dry-run`: it would be new.
    WouldBeAdded,
    /// The store had it.
    Known,
    /// The store has another record of this id.
    Conflict,
}

/// A line that could not be read.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ImportProblem {
    /// The file.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: u32,
    /// What is wrong with it.
    pub(crate) problem: String,
}

/// A file or a record that could not be read.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RefusedFile {
    /// The file.
    pub(crate) file: String,
    /// Why.
    pub(crate) reason: String,
}

/// `assay import --formats`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FormatsDocument {
    /// Names of the formats.
    pub(crate) formats: Vec<&'static str>,
}

/// `assay compare`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CompareDocument<'a> {
    /// The comparison.
    pub(crate) comparison: &'a assay_analysis::compare::Comparison,
    /// Whether every load has an answer.
    pub(crate) answered: bool,
    /// Limits that were set with `--fail-if`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<&'a assay_analysis::compare::Gate>,
}

/// An answer about units, with what labels and serial numbers of its records contradict each other in.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SettledDocument<'a, T> {
    /// The answer.
    #[serde(flatten)]
    pub(crate) answer: T,
    /// The contradictions.
    pub(crate) contradictions: &'a [assay_analysis::UnitNote],
}
