//! Everything that can make a number untrue, as data with cause and remedy.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, figures, span};

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
    /// Several repeats of the workload never became steady.
    Unsteady {
        /// Repeats that did not.
        repeats: u32,
        /// Repeats that ran.
        of: u32,
    },
    /// The confidence asked for was not reached.
    NotReached {
        /// Relative half width that was asked for.
        asked: f64,
        /// Relative half width over the repeats; null for fewer than two.
        reached: Option<f64>,
        /// Repeats that ran.
        repeats: u32,
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
    /// The test file of this run is still there.
    FileLeft {
        /// Directory that holds it.
        path: String,
        /// Why it could not be removed.
        reason: String,
    },
    /// A check for genuineness ended early; its files are still there.
    CheckUnfinished {
        /// Directory that holds them.
        path: String,
    },
    /// Not everything that a probe overwrote could be put back.
    NotPutBack {
        /// The journal that holds it.
        journal: String,
        /// Why.
        reason: String,
    },
    /// The run was cut short and gone on with later.
    Resumed {
        /// Time between in nanoseconds.
        rested_ns: u64,
    },
    /// A soak was cut short and gone on with later.
    SoakPaused {
        /// Time it had lasted in nanoseconds.
        after_ns: u64,
        /// Time between in nanoseconds.
        rested_ns: u64,
    },
    /// Larger blocks of a sweep were left out, as smaller ones reach what the bus allows.
    SweepStopped {
        /// The block in bytes that reached it.
        at_block_bytes: u64,
    },
    /// The record could not be saved as it went.
    NotSaved {
        /// Why.
        reason: String,
    },
    /// The processor was slowed down by heat or by its firmware.
    Throttled {
        /// What says so.
        by: String,
    },
    /// The supply voltage was too low.
    UnderVoltage {
        /// What says so.
        by: String,
    },
    /// The firmware slowed the processor down at some time before the run.
    PastThrottling {
        /// What it says.
        what: String,
    },
    /// The processors ran below their maximum clock, as their governor wanted.
    LowClock {
        /// Mean clock over the maximum, 0 to 1.
        share: f64,
        /// Governor, where it is known.
        governor: String,
    },
    /// Other programs used the processors.
    LoadOfOthers {
        /// Share of all processors, 0 to 1.
        share: f64,
        /// Program that used most; empty where it is not known.
        most: String,
    },
    /// The process was stopped (SIGSTOP, Ctrl-Z) while it measured.
    Suspended {
        /// For how long in nanoseconds.
        suspended_ns: u64,
    },
    /// The kernel reported errors of the device.
    KernelErrors {
        /// Lines about it.
        lines: u64,
        /// The first of them.
        first: String,
    },
    /// The host moved memory to or from the medium.
    Swapped {
        /// Pages in both directions.
        pages: u64,
    },
    /// The rate went one way all the time.
    Drift {
        /// Change from the beginning to the end, as a share of the mean.
        change: f64,
        /// Over what: `repeats`, or `seconds` of one repeat.
        over: String,
    },
    /// The rates fall into two groups.
    TwoSpeeds {
        /// Mean of the slower group over the mean of the faster one.
        ratio: f64,
        /// Share of the values in the slower group, 0 to 1.
        slow_share: f64,
        /// Of what: `repeats`, or `seconds` of one repeat.
        over: String,
    },
    /// The few repeats there are lie far apart.
    UnevenRepeats {
        /// Fastest over slowest.
        ratio: f64,
    },
    /// A command that was to read a sensor failed and was not run again.
    SensorDropped {
        /// Name of the sensor.
        sensor: String,
        /// Why.
        reason: String,
    },
    /// Another instrument measured something else.
    CrosscheckDiffers {
        /// The other instrument.
        peer: String,
        /// Operations per second, ours over theirs.
        ratio: f64,
        /// Lower bound of that ratio.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A copy of the record without identities lacks what this version cannot judge.
    FieldsLeftOut {
        /// How many fields.
        fields: u32,
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
            | Self::Unsteady { .. }
            | Self::NotReached { .. }
            | Self::UnwrittenReads
            | Self::SwapOnMedium
            | Self::Throttled { .. }
            | Self::UnderVoltage { .. }
            | Self::LoadOfOthers { .. }
            | Self::KernelErrors { .. }
            | Self::Swapped { .. }
            | Self::Drift { .. }
            | Self::TwoSpeeds { .. }
            | Self::CrosscheckDiffers { .. }
            | Self::SoakPaused { .. }
            | Self::AnotherRun => Severity::Suspect,
            Self::NoProof { .. }
            | Self::DepthByThreads { .. }
            | Self::BusLimited { .. }
            | Self::SmallerSpan { .. }
            | Self::ScaledDown { .. }
            | Self::FewerRepeats { .. }
            | Self::LeftoversRemoved { .. }
            | Self::FileLeft { .. }
            | Self::Resumed { .. }
            | Self::CheckUnfinished { .. }
            | Self::NotPutBack { .. }
            | Self::SweepStopped { .. }
            | Self::NotSaved { .. }
            | Self::PastThrottling { .. }
            | Self::Suspended { .. }
            | Self::LowClock { .. }
            | Self::UnevenRepeats { .. }
            | Self::SensorDropped { .. }
            | Self::FieldsLeftOut { .. }
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
            Self::Unsteady { repeats, of } => {
                format!("erratic: {repeats} of {of} repeats never became steady")
            }
            Self::NotReached { asked, reached, repeats } => {
                let reached = reached.map_or_else(|| "no interval".to_owned(), |r| format!("±{} %", percent(r)));
                format!("±{} % was not reached: {reached} over {repeats} repeats", percent(*asked))
            }
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
            Self::FileLeft { path, reason } => format!("the test file in {path} could not be removed: {reason}"),
            Self::CheckUnfinished { path } => format!("the check ended early; its files are in {path}"),
            Self::NotPutBack { journal, reason } => {
                format!("not everything could be put back: {reason}; what is missing is in {journal}")
            }
            Self::Resumed { rested_ns } => {
                format!("the run was cut short and gone on with {} later", span(Duration::from_nanos(*rested_ns)))
            }
            Self::SoakPaused { after_ns, rested_ns } => format!(
                "the soak was cut short after {} and gone on with {} later: the medium rested and cooled down",
                span(Duration::from_nanos(*after_ns)),
                span(Duration::from_nanos(*rested_ns))
            ),
            Self::SweepStopped { at_block_bytes } => {
                format!("left out: {} blocks already reach what the bus allows", Bytes(*at_block_bytes))
            }
            Self::NotSaved { reason } => format!("the record is not in the store: {reason}"),
            Self::Throttled { by } => format!("the processor was slowed down while it measured: {by}"),
            Self::UnderVoltage { by } => format!("the supply voltage was too low: {by}"),
            Self::PastThrottling { what } => format!("before this run, since the host was started: {what}"),
            Self::LowClock { share, governor } => {
                let by = if governor.is_empty() { String::new() } else { format!(" (governor {governor})") };
                format!("the processors ran at {} % of their maximum clock on average{by}", percent(*share))
            }
            Self::LoadOfOthers { share, most } => {
                let most = if most.is_empty() { String::new() } else { format!(", most of it {most}") };
                format!("other programs used up to {} % of all processors{most}", percent(*share))
            }
            Self::Suspended { suspended_ns } => format!(
                "the process was stopped for {}; what it measured meanwhile does not count",
                span(Duration::from_nanos(*suspended_ns))
            ),
            Self::KernelErrors { lines, first } => {
                let more = if *lines > 1 { format!(" and {} more lines", lines - 1) } else { String::new() };
                format!("the kernel reported errors of the device: {first}{more}")
            }
            Self::Swapped { pages } => format!("the host swapped {pages} pages while the medium was measured"),
            Self::Drift { change, over } => {
                let way = if *change < 0.0 { "fell" } else { "rose" };
                format!("not steady: the rate {way} by {} % over the {over}", percent(change.abs()))
            }
            Self::TwoSpeeds { ratio, slow_share, over } => format!(
                "two speeds: {} % of the {over} ran at {} % of the rate of the others",
                percent(*slow_share),
                percent(*ratio)
            ),
            Self::UnevenRepeats { ratio } => {
                format!("the fastest repeat was {} times as fast as the slowest", figures(*ratio))
            }
            Self::SensorDropped { sensor, reason } => format!("sensor {sensor} was given up: {reason}"),
            Self::CrosscheckDiffers { peer, ratio, low, high } => format!(
                "{peer} disagrees: assay saw {} times its rate ({} to {})",
                figures(*ratio),
                figures(*low),
                figures(*high)
            ),
            Self::FieldsLeftOut { fields } => {
                let (what, they) =
                    if *fields == 1 { ("1 field", "it") } else { (&*format!("{fields} fields"), "they") };
                format!(
                    "this copy lacks {what} of the record: this version of assay does not know whether {they} may identify somebody"
                )
            }
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
            Self::SmallerSpan { .. } => "free some space, or raise --budget or --max-write, whichever the cause names",
            Self::ScaledDown { .. } => "raise --budget",
            Self::FewOperations { .. } | Self::FewerRepeats { .. } => "raise --budget or --max-write",
            Self::Unsteady { .. } => "run the suite soak to see what happens over time",
            Self::NotReached { .. } => "raise --budget and --max-write, or ask for less",
            Self::AnotherRun => "run one after the other",
            Self::UnwrittenReads => "measure a directory, or write the device full first",
            Self::SwapOnMedium => "swapoff the medium for the time of the run",
            Self::FileLeft { .. } => "the next run in this directory removes it",
            Self::CheckUnfinished { .. } => "go on with it: assay verify --resume; a new check removes them",
            Self::NotPutBack { .. } => "plug the device in again, then: assay verify --restore JOURNAL DEVICE",
            Self::SoakPaused { .. } => "let the medium cool down and run the soak again without a pause",
            Self::NotSaved { .. } => "point ASSAY_DATA at a writable directory with a sound store",
            Self::Throttled { .. } => "cool the host (heat sink, fan, pause before the run) and run again",
            Self::UnderVoltage { .. } => "use a stronger power supply and a shorter, thicker cable",
            Self::PastThrottling { .. } => "check power supply and cooling",
            Self::LowClock { .. } => "for latencies at full clock: cpupower frequency-set -g performance",
            Self::LoadOfOthers { .. } => "stop the other programs and run again",
            Self::KernelErrors { .. } => "check plug, cable and power, then whether the medium is dying (dmesg)",
            Self::Swapped { .. } => "free memory, or swapoff for the time of the run",
            Self::Drift { .. } => "measure for longer (--budget), or cold and warm apart",
            Self::TwoSpeeds { .. } | Self::UnevenRepeats { .. } => {
                "raise --repeats and look at the samples in the report"
            }
            Self::SensorDropped { .. } => {
                "run the command by hand: it must print a number and succeed; where there was no thread, end other programs"
            }
            Self::CrosscheckDiffers { .. } => "measure with more --repeats; if it stays, report it with the record",
            Self::FieldsLeftOut { .. } => {
                "write the report with the version that made the record, or with --identities"
            }
            Self::LeftoversRemoved { .. }
            | Self::Resumed { .. }
            | Self::Suspended { .. }
            | Self::SweepStopped { .. }
            | Self::Unknown => "",
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
            Self::Unsteady { .. } => "erratic",
            Self::NotReached { .. } => "not reached",
            Self::ShallowQueue { .. } => "shallow queue",
            Self::LittlesLaw { .. } => "contradictory",
            Self::CachedIo { .. } | Self::CachedByRequest => "cached",
            Self::SoakPaused { .. } => "paused",
            Self::Throttled { .. } => "throttled",
            Self::UnderVoltage { .. } => "under-voltage",
            Self::LoadOfOthers { .. } => "host busy",
            Self::KernelErrors { .. } => "kernel errors",
            Self::Swapped { .. } => "swapping",
            Self::Drift { .. } => "drift",
            Self::TwoSpeeds { .. } => "two speeds",
            Self::CrosscheckDiffers { .. } => "peer disagrees",
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
