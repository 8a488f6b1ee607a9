//! A finding as a record holds it, and what all findings of a record amount to.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::kind::{Finding, Severity};
use super::reason::{AreaLimit, Shortfall};

/// A finding of a record, with its weight. Its sentences are made whenever it is shown or written. Those of a document are
/// read only if a newer version wrote them about a finding that this version does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "WarningDocument", into = "WarningDocument")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "WarningDocument"))]
pub struct Warning {
    /// What was found.
    pub finding: Finding,
    /// How much it weighs.
    pub severity: Severity,
    /// Cause and remedy of a finding that this version does not know.
    newer: Option<Box<(String, String)>>,
}

impl Warning {
    /// A finding of a document, with the weight that the document gives it. That weight counts only if a newer version found
    /// what this version does not know.
    #[must_use]
    pub fn read(finding: Finding, severity: Severity) -> Self {
        let severity = if finding == Finding::Unknown { severity } else { finding.severity() };
        Self { finding, severity, newer: None }
    }

    /// What it means for the number, in pieces that can be merged with those of the same finding elsewhere.
    #[must_use]
    pub fn pieces(&self) -> Cause {
        self.newer.as_ref().map_or_else(|| self.finding.pieces(), |newer| Cause::words(&newer.0))
    }

    /// What it means for the number: a sentence without a full stop.
    #[must_use]
    pub fn cause(&self) -> String {
        self.pieces().to_string()
    }

    /// What mends it; empty where nothing can.
    #[must_use]
    pub fn remedy(&self) -> &str {
        self.newer.as_ref().map_or_else(|| self.finding.remedy(), |newer| &newer.1)
    }
}

impl From<Finding> for Warning {
    fn from(finding: Finding) -> Self {
        Self { severity: finding.severity(), finding, newer: None }
    }
}

/// A finding with its weight and its sentences.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Warning"))]
struct WarningDocument {
    /// What was found.
    finding: Finding,
    /// How much it weighs.
    severity: Severity,
    /// What it means for the number.
    cause: String,
    /// What mends it; empty where nothing can.
    remedy: String,
}

impl From<Warning> for WarningDocument {
    fn from(warning: Warning) -> Self {
        let (cause, remedy) = (warning.cause(), warning.remedy().to_owned());
        Self { finding: warning.finding, severity: warning.severity, cause, remedy }
    }
}

impl From<WarningDocument> for Warning {
    fn from(document: WarningDocument) -> Self {
        let WarningDocument { finding, severity, cause, remedy } = document;
        let newer = (finding == Finding::Unknown).then(|| Box::new((cause, remedy)));
        Self { newer, ..Self::read(finding, severity) }
    }
}

/// What the warnings amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Verdict2"))]
pub enum ValidityVerdict {
    /// Nothing speaks against the numbers.
    Valid,
    /// Something may have changed the numbers.
    Suspect,
    /// At least one number is not what it says.
    Invalid,
}

/// The verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Validity {
    /// The worst of all warnings.
    pub verdict: ValidityVerdict,
    /// Everything worse than a note, each once.
    pub reasons: Vec<Warning>,
}

impl Validity {
    /// Judges by the worst of `warnings`.
    pub fn judge<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Self {
        let mut verdict = ValidityVerdict::Valid;
        let mut reasons: Vec<Warning> = Vec::new();
        for warning in warnings {
            let weight = match warning.severity {
                Severity::Note => continue,
                Severity::Suspect => ValidityVerdict::Suspect,
                Severity::Invalid => ValidityVerdict::Invalid,
            };
            verdict = verdict.max(weight);
            if !reasons.contains(warning) {
                reasons.push(warning.clone());
            }
        }
        Self { verdict, reasons }
    }
}

// What mends what was found.

impl Finding {
    /// What mends it; empty where nothing does.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::CachedIo { .. } => "measure a directory on a file system with direct I/O (ext4, xfs, f2fs, btrfs)",
            Self::CacheNotDropped { .. } => {
                "measure with direct I/O on a file system that has it, or a span several times the size of memory"
            }
            Self::CachedByRequest => "set direct = true in the suite",
            Self::ServedFromCache { .. } => "use direct I/O, or a span several times the size of memory",
            Self::OthersUsedDevice { .. } => "stop what else uses the medium and run again",
            Self::LoopFromCache { .. } => "make the loop device read its file directly: losetup --direct-io=on DEVICE",
            Self::NoProof { .. } => {
                "compare with what the disk itself counts (SMART), or with the counters of the machine that holds it"
            }
            Self::ServerCache { .. } => {
                "to read from its medium, use a span (--size) larger than the memory of its host"
            }
            Self::MemoryNotMedium { .. } | Self::OverlayHidesMedium => {
                "name a directory on the medium: assay run /mnt/card"
            }
            Self::NothingMounted => "mount the medium there and run again; assay rm removes this record",
            Self::LittlesLaw { .. } => "run again; if it stays, report it as a bug with the record",
            Self::RateNotReached { .. } => "offer less, or read it as a rate that the medium cannot sustain",
            Self::EndedByNeighbour { .. } => "let it write more (--max-write), or take fewer repeats",
            Self::BegunLate { .. } => "stop other programs, or offer less",
            Self::ShallowQueue { .. } => "use more jobs, or read the figure as one at the depth shown",
            Self::DepthByThreads { .. } => "if writes are not synced: allow io_uring (see kernel.io_uring_disabled)",
            Self::SeveralPriorities => {
                "to see them apart, run a workload of each priority at the same time (priority, group)"
            }
            Self::InstrumentLimited { .. } => "use more jobs, or read the figure as a lower bound",
            Self::BusLimited { .. } => "use a faster slot or reader to see what the medium itself can do",
            Self::SmallerSpan { limit, .. } => limit.remedy(),
            Self::ScaledDown { .. } => "allow more time: a larger --budget",
            Self::FewOperations { .. } => "allow more time or writes: a larger --budget or --max-write",
            Self::FewerRepeats { shortfall, .. } | Self::ProgramLeftOut { shortfall, .. } => shortfall.remedy(),
            Self::Unsteady { .. } => "run the suite soak to see what happens over time",
            Self::NotReached { .. } => "allow more time and writes (--budget, --max-write), or ask for less",
            Self::AnotherRun => "run one after the other",
            Self::UnwrittenReads => "measure a directory, or write the device full first",
            Self::SwapOnMedium => "swapoff the medium during the run",
            Self::FileLeft { .. } => "the next run in this directory removes it",
            Self::CheckUnfinished { .. } => "resume it: assay verify --resume; a new check removes them",
            Self::NotPutBack { .. } => "plug the device in again, then: assay verify --restore JOURNAL DEVICE",
            Self::SoakPaused { .. } => "let the medium cool down and run the soak again without a pause",
            Self::NotSaved { .. } => "point ASSAY_DATA at a writable directory with a sound store",
            Self::Throttled { .. } => "cool the host (heat sink, fan, pause before the run) and run again",
            Self::UnderVoltage { .. } => "use a stronger power supply and a shorter, thicker cable",
            Self::PastThrottling { .. } => "check power supply and cooling",
            Self::LowClock { .. } => "for latencies at full clock: cpupower frequency-set -g performance",
            Self::LoadOfOthers { .. } => "stop the other programs and run again",
            Self::KernelErrors { .. } => "check plug, cable and power, then whether the medium is dying (dmesg)",
            Self::HealthWorsened { .. } => {
                "save the data, check plug and cable, then check the medium: assay verify; replace it if it goes on"
            }
            Self::HealthTimedOut { .. } => "read it by hand (smartctl, mmc, nvme); a medium that hangs may be dying",
            Self::Swapped { .. } => "free memory, or swapoff during the run",
            Self::Drift { .. } => "measure for longer (--budget), or cold and warm separately",
            Self::TwoSpeeds { .. } | Self::UnevenRepeats { .. } => "raise --repeats; the page shows each second",
            Self::SensorDropped { .. } => {
                "run the command by hand: it must print a number and succeed; if no thread could be started, end other programs"
            }
            Self::CrosscheckDiffers { .. } => "measure with more --repeats; if it stays, report it with the record",
            Self::FieldsLeftOut { .. } => {
                "write the report with the version that made the record, or with --identities"
            }
            Self::CopyOf { .. } => "remove one of the two with assay rm",
            Self::BestOf { .. } => "compare it with other figures that are the best of as many runs",
            Self::ToolFailed { .. } => "find out why it failed, and run it again",
            Self::CachedByTool { .. } => "run the tool with direct I/O, or assay in its place",
            Self::SourceContradicts { .. } | Self::SourceIncomplete { .. } | Self::MarkedDoubtful { .. } => {
                "look at the original text"
            }
            Self::LeftoversRemoved { .. }
            | Self::NotTold { .. }
            | Self::Resumed { .. }
            | Self::Suspended { .. }
            | Self::SweepStopped { .. }
            | Self::JobFileDiffers { .. }
            | Self::Unknown => "",
        }
    }
}

impl AreaLimit {
    /// What mends it; empty where nothing does.
    fn remedy(self) -> &'static str {
        match self {
            Self::OtherNodes => "free some space on the node that has least, or allow more time: a larger --budget",
            Self::WriteLimit => "raise --max-write",
            Self::Time { .. } => "allow more time: a larger --budget",
            Self::FreeSpace | Self::FileSystemFull => "free some space",
            Self::Unknown => "",
        }
    }
}

impl Shortfall {
    /// What mends it; empty where nothing does.
    fn remedy(&self) -> &'static str {
        match self {
            Self::Budget | Self::NothingDone | Self::LongPauses | Self::CommonInFlight => {
                "allow more time or writes: a larger --budget or --max-write"
            }
            Self::TooLittleRoom { .. } => "allow more time or writes (--budget, --max-write), or free some space",
            Self::OtherNodesPast => "allow more time: a larger --budget",
            Self::Suspended => "let the process run without pauses",
            Self::SmallArea | Self::CommonBlocks => "free some space, or use smaller blocks",
            Self::CommonAlignment => "use blocks that are a multiple of the sectors of all media",
            Self::NoRateToShare => "allow more time (--budget), so that the workload it depends on has a figure",
            Self::NoOriginal | Self::NoSuchWork { .. } => "run it with --engine auto",
            Self::FileSystemFull => "free some space",
            Self::RawDevice => "measure a directory on the medium",
            Self::DirectoryReplaced | Self::Refused { .. } | Self::Unknown => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_warning_decides() {
        let warnings: Vec<Warning> = [Finding::BusLimited { share: 0.97 }, Finding::AnotherRun].map(Into::into).into();
        let validity = Validity::judge(warnings.iter());
        assert_eq!(validity.verdict, ValidityVerdict::Suspect);
        assert_eq!(validity.reasons.len(), 1);
        let bad: Warning = Finding::ServedFromCache { proof_ratio: 0.02 }.into();
        assert_eq!(Validity::judge(warnings.iter().chain([&bad])).verdict, ValidityVerdict::Invalid);
        assert!(bad.cause().contains("only 2.00 %"), "{}", bad.cause());
    }

    /// A load that syncs each write runs in threads by design, so that no engine is missing.
    #[test]
    fn a_queue_made_by_threads_blames_no_engine() {
        let found: Warning = Finding::DepthByThreads { threads: 4 }.into();
        assert_eq!(found.cause(), "the queue depth was made by 4 threads with one operation each");
        assert!(found.remedy().starts_with("if writes are not synced: "), "{}", found.remedy());
    }

    #[test]
    fn a_finding_of_a_newer_version_is_read() {
        let text = r#"{"kind":"cosmic_ray","bits":3}"#;
        assert_eq!(serde_json::from_str::<Finding>(text).unwrap(), Finding::Unknown);
        let text = r#"{"finding":{"kind":"cosmic_ray"},"severity":"suspect","cause":"a bit fell","remedy":"lead"}"#;
        let warning = serde_json::from_str::<Warning>(text).unwrap();
        assert_eq!(
            (warning.cause().as_str(), warning.remedy(), warning.severity),
            ("a bit fell", "lead", Severity::Suspect)
        );
    }

    #[test]
    fn sentences_of_a_document_are_not_read() {
        let text = r#"{"finding":{"kind":"another_run"},"severity":"note","cause":"<b>","remedy":"<i>"}"#;
        let warning = serde_json::from_str::<Warning>(text).unwrap();
        // Neither is its weight.
        assert_eq!(warning, Finding::AnotherRun.into());
        let written = serde_json::to_value(&warning).unwrap();
        assert_eq!(written["cause"], Finding::AnotherRun.cause());
    }

    #[test]
    fn a_small_test_area_is_mended_by_what_made_it_small() {
        for (limit, remedy) in [
            (AreaLimit::FreeSpace, "free some space"),
            (AreaLimit::FileSystemFull, "free some space"),
            (AreaLimit::WriteLimit, "raise --max-write"),
            (
                AreaLimit::OtherNodes,
                "free some space on the node that has least, or allow more time: a larger --budget",
            ),
            (AreaLimit::Time { bytes_per_second: 1.2e6 }, "allow more time: a larger --budget"),
        ] {
            let finding = Finding::SmallerSpan { asked_bytes: 2, used_bytes: 1, limit };
            assert_eq!(finding.remedy(), remedy, "{limit:?}");
        }
    }
}
