//! Everything that can make a number untrue, as data with cause and remedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, figures};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; the number stands.
    Note,
    /// The number may be off.
    Suspect,
    /// The number is not what it says.
    Invalid,
}

/// What was found. Closed list; a reader that meets a newer one sees `unknown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Direct I/O was refused; cached I/O with explicit cache drops ran instead.
    CachedIo {
        /// Why direct I/O could not be used.
        reason: String,
    },
    /// The suite asked for cached I/O.
    CachedByRequest,
    /// Less crossed the device than was issued.
    ServedFromCache {
        /// Bytes that crossed the device over bytes issued.
        proof_ratio: f64,
    },
    /// More crossed the device than was issued.
    OthersUsedDevice {
        /// Bytes that crossed the device over bytes issued.
        proof_ratio: f64,
    },
    /// There is no block device whose counters could prove anything.
    NoProof {
        /// What kind of path it is.
        medium: String,
    },
    /// The path is the host's memory.
    MemoryNotMedium {
        /// `tmpfs`, `zram device`.
        medium: String,
    },
    /// An overlay hides which medium is used.
    OverlayHidesMedium,
    /// Mean latency times rate is not the mean number in flight.
    LittlesLaw {
        /// Latency times rate over the mean number in flight.
        ratio: f64,
    },
    /// The queue depth asked for was not reached.
    ShallowQueue {
        /// Mean operations in flight.
        in_flight: f64,
        /// Queue depth times jobs.
        asked: f64,
    },
    /// Queue depth was made by threads, because the engine cannot queue.
    DepthByThreads {
        /// How many threads.
        threads: u32,
    },
    /// The instrument itself limits what was measured.
    InstrumentLimited {
        /// What the null engine does on this host, operations per second.
        null_operations_per_second: f64,
    },
    /// The bus, not the medium, limits what was measured.
    BusLimited {
        /// Share of what the bus reaches, 0 to 1.
        share: f64,
    },
    /// The test area is smaller than the suite asks for.
    SmallerSpan {
        /// What the suite asks for.
        asked_bytes: u64,
        /// What was used.
        used_bytes: u64,
        /// Why.
        reason: String,
    },
    /// Block size, queue depth or jobs were reduced so that the medium could finish in the budget.
    ScaledDown {
        /// Workload as the suite has it.
        asked: String,
        /// Workload as it ran.
        used: String,
    },
    /// Fewer repeats ran than were planned.
    FewerRepeats {
        /// Planned repeats.
        planned: u32,
        /// Repeats that ran.
        ran: u32,
        /// Why: time budget, write budget.
        reason: String,
    },
    /// So few operations that the figure is coarse.
    FewOperations {
        /// Operations over all repeats.
        operations: u64,
    },
    /// Another run of assay is measuring the same file system.
    AnotherRun,
    /// Reads of a raw device may touch areas never written.
    UnwrittenReads,
    /// The device swaps while it is measured.
    SwapOnMedium,
    /// Left-over test files of a killed run were removed.
    LeftoversRemoved {
        /// How many directories.
        directories: u32,
        /// Bytes they held.
        bytes: u64,
    },
    /// The record could not be saved as it went.
    NotSaved {
        /// Why.
        reason: String,
    },
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

/// A finding with its weight and its text, as stored and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// What was found.
    pub finding: Finding,
    /// How much it weighs.
    pub severity: Severity,
    /// What it means for the number.
    pub cause: String,
    /// What mends it; empty where nothing can.
    pub remedy: String,
}

impl From<Finding> for Warning {
    fn from(finding: Finding) -> Self {
        Self { severity: finding.severity(), cause: finding.cause(), remedy: finding.remedy().to_owned(), finding }
    }
}

impl Finding {
    /// How much the finding weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::ServedFromCache { .. } | Self::LittlesLaw { .. } => Severity::Invalid,
            Self::CachedIo { .. }
            | Self::CachedByRequest
            | Self::OthersUsedDevice { .. }
            | Self::MemoryNotMedium { .. }
            | Self::OverlayHidesMedium
            | Self::ShallowQueue { .. }
            | Self::InstrumentLimited { .. }
            | Self::FewOperations { .. }
            | Self::UnwrittenReads
            | Self::SwapOnMedium
            | Self::AnotherRun => Severity::Suspect,
            Self::NoProof { .. }
            | Self::DepthByThreads { .. }
            | Self::BusLimited { .. }
            | Self::SmallerSpan { .. }
            | Self::ScaledDown { .. }
            | Self::FewerRepeats { .. }
            | Self::LeftoversRemoved { .. }
            | Self::NotSaved { .. }
            | Self::Unknown => Severity::Note,
        }
    }

    /// What was found, in a sentence without a full stop.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::CachedIo { reason } => {
                format!("direct I/O is not possible here ({reason}); cached I/O with cache drops was used")
            }
            Self::CachedByRequest => {
                "the suite asks for cached I/O, so the page cache is part of the number".to_owned()
            }
            Self::ServedFromCache { proof_ratio } => {
                format!("served from a cache: only {} % of the bytes crossed the device", percent(*proof_ratio))
            }
            Self::OthersUsedDevice { proof_ratio } => {
                format!("something else used the device: {} % of the bytes issued crossed it", percent(*proof_ratio))
            }
            Self::NoProof { medium } => {
                format!("no block device under this {medium}: nothing proves that the bytes reached a medium")
            }
            Self::MemoryNotMedium { medium } => format!("this is {medium}: memory was measured, not a storage medium"),
            Self::OverlayHidesMedium => "an overlay file system hides which medium is used".to_owned(),
            Self::LittlesLaw { ratio } => format!(
                "latency and rate contradict each other (Little's law off by {} %)",
                percent((ratio - 1.0).abs())
            ),
            Self::ShallowQueue { in_flight, asked } => format!(
                "{} operations were in flight on average, {} were asked for",
                figures(*in_flight),
                figures(*asked)
            ),
            Self::DepthByThreads { threads } => {
                format!("no asynchronous engine here: the queue depth was made by {threads} threads")
            }
            Self::InstrumentLimited { null_operations_per_second } => format!(
                "instrument-limited: this host issues at most {} million operations per second even to no device at all",
                figures(null_operations_per_second / 1e6)
            ),
            Self::BusLimited { share } => format!(
                "bus-limited: {} % of what the bus reaches, so the medium may be faster than this",
                percent(*share)
            ),
            Self::SmallerSpan { asked_bytes, used_bytes, reason } => {
                format!("test area of {} instead of {}: {reason}", Bytes(*used_bytes), Bytes(*asked_bytes))
            }
            Self::ScaledDown { asked, used } => {
                format!("ran {used} instead of {asked}, which this medium could not do within the budget")
            }
            Self::FewerRepeats { planned, ran, reason } => format!("{ran} of {planned} repeats: {reason}"),
            Self::FewOperations { operations } => format!("only {operations} operations: the figure is coarse"),
            Self::AnotherRun => "another run of assay is measuring the same file system".to_owned(),
            Self::UnwrittenReads => {
                "reads of a raw device may touch blocks that were never written, which some media answer without work"
                    .to_owned()
            }
            Self::SwapOnMedium => "the host swaps on the medium under test".to_owned(),
            Self::LeftoversRemoved { directories, bytes } => {
                format!(
                    "removed what {directories} killed {} left here ({})",
                    if *directories == 1 { "run" } else { "runs" },
                    Bytes(*bytes)
                )
            }
            Self::NotSaved { reason } => format!("the record is not in the store: {reason}"),
            Self::Unknown => "a finding of a newer version of assay".to_owned(),
        }
    }

    /// What mends it; empty where nothing does.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::CachedIo { .. } => "measure a directory on a file system with direct I/O (ext4, xfs, f2fs, btrfs)",
            Self::CachedByRequest => "set direct = true in the suite",
            Self::ServedFromCache { .. } => "use direct I/O, or a span several times the size of memory",
            Self::OthersUsedDevice { .. } => "stop what else uses the medium and run again",
            Self::NoProof { .. } => "compare with the counters of the machine that holds the medium",
            Self::MemoryNotMedium { .. } | Self::OverlayHidesMedium => {
                "name a directory on the medium: assay run /mnt/card"
            }
            Self::LittlesLaw { .. } => "run again; if it stays, report it as a bug with the record",
            Self::ShallowQueue { .. } => "use more jobs, or read the figure as one at the depth shown",
            Self::DepthByThreads { .. } => {
                "allow io_uring (sysctl kernel.io_uring_disabled=0, container seccomp profile)"
            }
            Self::InstrumentLimited { .. } => "use more jobs, or read the figure as a lower bound",
            Self::BusLimited { .. } => "use a faster slot or reader to see what the medium itself can do",
            Self::SmallerSpan { .. } => "free some space or raise --budget and --max-write",
            Self::ScaledDown { .. } => "raise --budget",
            Self::FewOperations { .. } | Self::FewerRepeats { .. } => "raise --budget or --max-write",
            Self::AnotherRun => "run one after the other",
            Self::UnwrittenReads => "measure a directory, or write the device full first",
            Self::SwapOnMedium => "swapoff the medium for the time of the run",
            Self::NotSaved { .. } => "point ASSAY_DATA at a writable directory with a sound store",
            Self::LeftoversRemoved { .. } | Self::Unknown => "",
        }
    }

    /// One-line form for places where only a few words fit.
    #[must_use]
    pub fn short(&self) -> &'static str {
        match self {
            Self::BusLimited { .. } => "bus-limited",
            Self::InstrumentLimited { .. } => "instrument-limited",
            Self::ServedFromCache { .. } => "from cache",
            Self::OthersUsedDevice { .. } => "device shared",
            Self::ScaledDown { .. } => "scaled down",
            Self::FewerRepeats { .. } => "fewer repeats",
            Self::FewOperations { .. } => "few operations",
            Self::ShallowQueue { .. } => "shallow queue",
            Self::LittlesLaw { .. } => "contradictory",
            Self::CachedIo { .. } | Self::CachedByRequest => "cached",
            _ => "",
        }
    }
}

/// A share as percent with three figures.
fn percent(share: f64) -> String {
    figures(share * 100.0)
}

/// What the warnings amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing speaks against the numbers.
    Valid,
    /// Something may have changed the numbers.
    Suspect,
    /// At least one number is not what it says.
    Invalid,
}

/// The verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Validity {
    /// The worst of all warnings.
    pub verdict: Verdict,
    /// Causes of everything worse than a note.
    pub reasons: Vec<String>,
}

impl Validity {
    /// Judges by the worst of `warnings`.
    pub fn judge<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Self {
        let mut verdict = Verdict::Valid;
        let mut reasons = Vec::new();
        for warning in warnings {
            let weight = match warning.severity {
                Severity::Note => continue,
                Severity::Suspect => Verdict::Suspect,
                Severity::Invalid => Verdict::Invalid,
            };
            verdict = verdict.max(weight);
            if !reasons.contains(&warning.cause) {
                reasons.push(warning.cause.clone());
            }
        }
        Self { verdict, reasons }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_warning_decides() {
        let warnings: Vec<Warning> = [Finding::BusLimited { share: 0.97 }, Finding::AnotherRun].map(Into::into).into();
        let validity = Validity::judge(warnings.iter());
        assert_eq!(validity.verdict, Verdict::Suspect);
        assert_eq!(validity.reasons.len(), 1);
        let bad: Warning = Finding::ServedFromCache { proof_ratio: 0.02 }.into();
        assert_eq!(Validity::judge(warnings.iter().chain([&bad])).verdict, Verdict::Invalid);
        assert!(bad.cause.contains("only 2.00 %"), "{}", bad.cause);
    }

    #[test]
    fn a_finding_of_a_newer_version_is_read() {
        let text = r#"{"kind":"cosmic_ray","bits":3}"#;
        assert_eq!(serde_json::from_str::<Finding>(text).unwrap(), Finding::Unknown);
    }
}
