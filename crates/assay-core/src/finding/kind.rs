//! Findings about a number, and their weight.

use serde::{Deserialize, Serialize};

use super::reason::{AreaLimit, FirmwareFlag, Over, Shortfall, Size, Throttling, VoltageSign};
use super::source::{Contradiction, Missing, Untold};
use crate::health::{CounterKind, HealthReadings, HealthSource, NoAnswer};
use crate::medium::MediumKind;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; the number stands.
    Note,
    /// The number may be off.
    Suspect,
    /// The number is not what it says.
    Invalid,
}

/// Whether a test area is another one than was asked for: less than a quarter of it. A card answers half a megabyte out of
/// its buffer; within a factor of four an area misses the buffers and caches that the suite's own would miss, as these are
/// far smaller than either.
#[must_use]
pub fn is_small_area(asked_bytes: u64, used_bytes: u64) -> bool {
    used_bytes < asked_bytes / 4
}

/// What was found. Closed list; a reader that meets a newer one sees `unknown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Direct I/O was refused; cached I/O ran instead, with cache drops where the system has them.
    CachedIo {
        /// Why direct I/O could not be used.
        reason: String,
    },
    /// The suite asked for cached I/O.
    CachedByRequest,
    /// The system could not be made to drop what it had cached before a workload that reads through the cache.
    CacheNotDropped {
        /// What the system said.
        reason: String,
    },
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
    /// The loop device reads its file through the page cache of the host, and direct reads took no longer than reads of memory.
    LoopFromCache {
        /// Median latency of the reads in nanoseconds.
        median_ns: f64,
    },
    /// No counters of a block device could prove anything: none is known, or they cannot be read.
    NoProof {
        /// What kind of path it is.
        medium: MediumKind,
        /// Why the counters of a device that is known cannot be read; absent where none is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The medium is on another machine, whose memory may answer for it.
    ServerCache {
        /// What kind of volume it is.
        medium: MediumKind,
    },
    /// The path is the host's memory.
    MemoryNotMedium {
        /// Which kind of memory.
        medium: MediumKind,
    },
    /// An empty directory where media get mounted, with no medium mounted there.
    NothingMounted,
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
    /// The medium did not keep up with the rate of an open loop.
    RateNotReached {
        /// Operations per second that were offered.
        asked_iops: f64,
        /// Operations per second that were done.
        reached_iops: f64,
        /// Operations that were due and never begun, over all repeats.
        unserved: u64,
    },
    /// A workload among others at the same time was ended by one of them long before its time.
    EndedByNeighbour {
        /// How long the last such repeat was measured, in nanoseconds.
        lasted_ns: u64,
        /// How long it was planned, in nanoseconds.
        planned_ns: u64,
    },
    /// The instrument began operations of an open loop late though nothing was in their way.
    BegunLate {
        /// Mean over all operations, in nanoseconds.
        late_ns: f64,
        /// Share of the mean latency.
        share: f64,
    },
    /// Queue depth was made by threads, because the engine cannot queue.
    DepthByThreads {
        /// How many threads.
        threads: u32,
    },
    /// Operations of one load had several priorities, and latencies are of all of them.
    SeveralPriorities,
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
        /// What kept it smaller.
        limit: AreaLimit,
    },
    /// Block size, queue depth or jobs were reduced so that the medium could finish in the budget.
    ScaledDown {
        /// Name of the program in the suite; absent for a workload, in whose measurement this stands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        /// As the suite has it.
        asked_size: Size,
        /// As it ran.
        used_size: Size,
        /// So that all nodes of a run on a cluster could: this one may have been able to do more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_all: bool,
    },
    /// Fewer repeats ran than were planned.
    FewerRepeats {
        /// Planned repeats.
        planned: u32,
        /// Repeats that ran.
        ran: u32,
        /// Why.
        shortfall: Shortfall,
    },
    /// A program of the suite was left out, or ran less often than planned.
    ProgramLeftOut {
        /// Its name in the suite.
        program: String,
        /// Planned repeats.
        planned: u32,
        /// Repeats that ran.
        ran: u32,
        /// Why.
        shortfall: Shortfall,
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
    /// A job file of fio was read, and runs otherwise than with fio, or without something that fio would do.
    JobFileDiffers {
        /// What is different, each in a sentence without a full stop.
        notes: Vec<String>,
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
    /// The run was interrupted and resumed later.
    Resumed {
        /// Time between in nanoseconds.
        rested_ns: u64,
    },
    /// A soak was interrupted and resumed later.
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
        /// What shows it.
        signs: Vec<Throttling>,
    },
    /// The supply voltage was too low.
    UnderVoltage {
        /// What shows it.
        sign: VoltageSign,
    },
    /// The firmware slowed the processor down at some time before the run.
    PastThrottling {
        /// What it reports.
        flags: Vec<FirmwareFlag>,
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
    /// A counter of the medium's own errors got worse while it was measured or checked.
    HealthWorsened {
        /// What is counted.
        counter: CounterKind,
        /// Before.
        before: i64,
        /// After.
        after: i64,
    },
    /// The medium did not answer in time when its health was read; the run went on.
    HealthTimedOut {
        /// What was asked.
        source: HealthSource,
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
        /// Over what.
        over: Over,
    },
    /// The rates fall into two groups.
    TwoSpeeds {
        /// Mean of the slower group over the mean of the faster one.
        ratio: f64,
        /// Share of the values in the slower group, 0 to 1.
        slow_share: f64,
        /// Among what.
        over: Over,
    },
    /// The few repeats there are differ widely.
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
    /// The figure is the best of several runs.
    BestOf {
        /// How many runs; null where that is not known.
        runs: Option<u32>,
    },
    /// The tool that measured went through the page cache.
    CachedByTool {
        /// Its name.
        tool: String,
    },
    /// The tool that measured does not tell everything of the load.
    NotTold {
        /// Its name.
        tool: String,
        /// What it does not tell.
        untold: Untold,
    },
    /// An imported text says that its run ended with an error: its figures are of what came before.
    ToolFailed {
        /// The tool.
        tool: String,
        /// The job that failed; absent where the tool names none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<String>,
        /// The number of the error.
        error: i64,
        /// What the tool says of it, in its words; absent where it says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// The figures of an imported text contradict each other.
    SourceContradicts {
        /// What contradicts what.
        contradiction: Contradiction,
    },
    /// An imported text is cut off, or some of it could not be read.
    SourceIncomplete {
        /// What is missing.
        missing: Missing,
    },
    /// The user marked an imported figure as doubtful, such as one with a typing error. It stays as it was printed.
    MarkedDoubtful {
        /// Why; empty where it was not said.
        why: String,
    },
    /// The repeats of the record are those of another one to the last digit.
    CopyOf {
        /// Id of the other record.
        record: String,
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

impl Finding {
    /// What the medium's own counters say of a run: errors that got worse, and sources that did not answer in time.
    #[must_use]
    pub fn of_health(readings: &HealthReadings) -> Vec<Self> {
        let worse = readings.failing().map(|(counter, before, after)| Self::HealthWorsened { counter, before, after });
        let late = readings.unread.iter().filter(|unread| unread.why == NoAnswer::TimedOut);
        worse.chain(late.map(|unread| Self::HealthTimedOut { source: unread.source })).collect()
    }

    /// How much the finding weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::ServedFromCache { .. }
            | Self::LittlesLaw { .. }
            | Self::MarkedDoubtful { .. }
            | Self::CopyOf { .. } => Severity::Invalid,
            Self::SmallerSpan { asked_bytes, used_bytes, .. } if is_small_area(*asked_bytes, *used_bytes) => {
                Severity::Suspect
            }
            Self::CachedIo { .. }
            | Self::CachedByRequest
            | Self::CacheNotDropped { .. }
            | Self::OthersUsedDevice { .. }
            | Self::LoopFromCache { .. }
            | Self::MemoryNotMedium { .. }
            | Self::NothingMounted
            | Self::OverlayHidesMedium
            | Self::ShallowQueue { .. }
            | Self::RateNotReached { .. }
            | Self::BegunLate { .. }
            | Self::EndedByNeighbour { .. }
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
            | Self::HealthWorsened { .. }
            | Self::Swapped { .. }
            | Self::Drift { .. }
            | Self::TwoSpeeds { .. }
            | Self::CrosscheckDiffers { .. }
            | Self::SoakPaused { .. }
            | Self::CachedByTool { .. }
            | Self::ToolFailed { .. }
            | Self::SourceContradicts { .. }
            | Self::AnotherRun => Severity::Suspect,
            Self::NoProof { .. }
            | Self::ServerCache { .. }
            | Self::DepthByThreads { .. }
            | Self::SeveralPriorities
            | Self::BusLimited { .. }
            | Self::SmallerSpan { .. }
            | Self::ScaledDown { .. }
            | Self::FewerRepeats { .. }
            | Self::ProgramLeftOut { .. }
            | Self::LeftoversRemoved { .. }
            | Self::FileLeft { .. }
            | Self::Resumed { .. }
            | Self::CheckUnfinished { .. }
            | Self::NotPutBack { .. }
            | Self::SweepStopped { .. }
            | Self::JobFileDiffers { .. }
            | Self::NotSaved { .. }
            | Self::PastThrottling { .. }
            | Self::Suspended { .. }
            | Self::LowClock { .. }
            | Self::UnevenRepeats { .. }
            | Self::SensorDropped { .. }
            | Self::HealthTimedOut { .. }
            | Self::FieldsLeftOut { .. }
            | Self::BestOf { .. }
            | Self::NotTold { .. }
            | Self::SourceIncomplete { .. }
            | Self::Unknown => Severity::Note,
        }
    }

    /// One-line form for places where only a few words fit.
    #[must_use]
    pub fn short(&self) -> &'static str {
        match self {
            Self::BusLimited { .. } => "bus-limited",
            Self::InstrumentLimited { .. } => "instrument-limited",
            Self::ServedFromCache { .. } | Self::LoopFromCache { .. } => "from cache",
            Self::OthersUsedDevice { .. } => "device shared",
            Self::ScaledDown { .. } => "scaled down",
            Self::FewerRepeats { .. } | Self::ProgramLeftOut { .. } => "fewer repeats",
            Self::FewOperations { .. } => "few operations",
            Self::Unsteady { .. } => "erratic",
            Self::NotReached { .. } => "not reached",
            Self::ShallowQueue { .. } => "shallow queue",
            Self::RateNotReached { .. } => "rate not reached",
            Self::BegunLate { .. } => "begun late",
            Self::EndedByNeighbour { .. } => "ended early",
            Self::LittlesLaw { .. } => "contradictory",
            Self::CachedIo { .. }
            | Self::CachedByRequest
            | Self::CacheNotDropped { .. }
            | Self::CachedByTool { .. } => "cached",
            Self::BestOf { .. } => "best of runs",
            Self::ToolFailed { .. } => "failed",
            Self::SourceContradicts { .. } => "contradictory",
            Self::MarkedDoubtful { .. } => "doubtful",
            Self::CopyOf { .. } => "a copy",
            Self::SourceIncomplete { .. } => "cut off",
            Self::SoakPaused { .. } => "paused",
            Self::Throttled { .. } => "throttled",
            Self::UnderVoltage { .. } => "under-voltage",
            Self::LoadOfOthers { .. } => "host busy",
            Self::KernelErrors { .. } => "kernel errors",
            Self::HealthWorsened { .. } => "health worsened",
            Self::Swapped { .. } => "swapping",
            Self::Drift { .. } => "drift",
            Self::TwoSpeeds { .. } => "two speeds",
            Self::CrosscheckDiffers { .. } => "peer disagrees",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{Counter, Unread};

    #[test]
    fn errors_that_grew_and_sources_that_hung_are_found() {
        let counters = vec![
            Counter { after: Some(5), ..Counter::read(CounterKind::MediaErrors, HealthSource::NvmeSmartLog, 3) },
            Counter { after: Some(9), ..Counter::read(CounterKind::PowerOnHours, HealthSource::NvmeSmartLog, 8) },
        ];
        let unread = [NoAnswer::TimedOut, NoAnswer::NeedsRoot]
            .map(|why| Unread::because(HealthSource::NvmeErrorLog, why))
            .into();
        let found = Finding::of_health(&HealthReadings { counters, unread, raw: Vec::new() });
        let worse = Finding::HealthWorsened { counter: CounterKind::MediaErrors, before: 3, after: 5 };
        assert_eq!(found, [worse.clone(), Finding::HealthTimedOut { source: HealthSource::NvmeErrorLog }]);
        assert_eq!(worse.severity(), Severity::Suspect);
        assert_eq!(worse.cause(), "the medium's own counter got worse meanwhile: media error 3 → 5");
    }
}
