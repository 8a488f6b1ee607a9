//! The state of a medium as the medium counts it: typed counters before and after a run, and why a source gave none.
//!
//! Names of counters are those of smartctl's JSON where it has one, so that what was read and what was imported can be laid beside
//! each other. A name ends with its unit unless it counts things.

use serde::{Deserialize, Serialize};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CounterKind {
    /// Life used of type A memory (SLC) in tenths, rounded up; 11 is beyond the estimated life.
    LifeUsedATenths,
    /// The same of type B memory (MLC).
    LifeUsedBTenths,
    /// Reserved blocks: 1 is normal, 2 says that 80 % are used, 3 that 90 % are.
    PreEndOfLife,
    /// Share of the estimated life that is used; may exceed 100.
    PercentageUsed,
    /// Share of the estimated life that is left.
    LifeLeftPercent,
    /// Share of the spare blocks that is left.
    AvailableSparePercent,
    /// Share of spare blocks below which the drive warns.
    AvailableSpareThresholdPercent,
    /// Bits of the warning of an NVMe drive.
    CriticalWarning,
    /// Temperature.
    TemperatureCelsius,
    /// Bytes written by hosts over its life.
    WrittenBytes,
    /// Bytes read by hosts over its life.
    ReadBytes,
    /// Bytes written by this file system since it was made.
    FileSystemWrittenBytes,
    /// Time in use.
    PowerOnHours,
    /// Times that it was switched on.
    PowerCycles,
    /// Times that it lost power without notice.
    UnsafeShutdowns,
    /// Data that were not delivered unharmed.
    MediaErrors,
    /// Entries in the drive's error log over its life; refused commands are among them.
    ErrorLogEntries,
    /// Entries of errors of the medium that the drive's error log holds now.
    LoggedMediaErrors,
    /// Sectors that were replaced.
    ReallocatedSectors,
    /// Attempts to replace one.
    ReallocationEvents,
    /// Sectors that wait to be replaced.
    PendingSectors,
    /// Sectors that could not be read when the drive looked by itself.
    UncorrectableSectors,
    /// Errors that the drive reported to the host.
    ReportedUncorrectable,
    /// Errors on the way between host and medium.
    CrcErrors,
    /// Attributes that foretell a failure and are at their threshold.
    FailingAttributes,
    /// Bad blocks that it was made with.
    InitialBadBlocks,
    /// Bad blocks since.
    LaterBadBlocks,
    /// Spare blocks that are left.
    SpareBlocks,
    /// Erase cycles of all blocks together.
    TotalEraseCycles,
    /// Erase cycles of the block with the fewest.
    LeastEraseCycles,
    /// Erase cycles of a block on average.
    MeanEraseCycles,
    /// Erase cycles of the block with most.
    MostEraseCycles,
    /// Erase cycles that a block is made for.
    RatedEraseCycles,
    /// Blocks written anew because reading them had become hard.
    RefreshedBlocks,
    /// Minutes above the temperature at which the drive warns.
    WarningTemperatureMinutes,
    /// Minutes above the critical temperature.
    CriticalTemperatureMinutes,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

/// The unit of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// Percent.
    Percent,
    /// Tenths of the estimated life.
    Tenths,
    /// °C.
    Celsius,
    /// Bytes.
    Bytes,
    /// Hours.
    Hours,
    /// Minutes.
    Minutes,
    /// Bits that mean something each.
    Bits,
    /// A step of a scale.
    Step,
}

/// The direction in which a counter gets worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// More is worse.
    Rising,
    /// Less is worse.
    Falling,
    /// It only tells what happened.
    Neither,
}

/// What is known of a kind.
struct About {
    kind: CounterKind,
    /// What one of them is called.
    words: &'static str,
    unit: Unit,
    bad: Bad,
    /// Whether a step in the bad direction is a sign of failure, and not of use.
    is_error: bool,
    /// Its names in readings of other programs, beside its own.
    names: &'static [&'static str],
}

const fn about(kind: CounterKind, words: &'static str, unit: Unit, bad: Bad) -> About {
    About { kind, words, unit, bad, is_error: false, names: &[] }
}

impl About {
    const fn error(self) -> Self {
        Self { is_error: true, ..self }
    }

    const fn named(self, names: &'static [&'static str]) -> Self {
        Self { names, ..self }
    }
}

/// All kinds, in the order in which they are shown.
const ABOUT: [About; 36] = {
    use Bad::{Falling, Neither, Rising};
    use CounterKind as K;
    use Unit::{Bits, Bytes, Celsius, Count, Hours, Minutes, Percent, Step, Tenths};
    [
        about(K::CriticalWarning, "critical warning", Bits, Rising).error(),
        about(K::PreEndOfLife, "pre-end-of-life step", Step, Rising).error(),
        about(K::LifeUsedATenths, "life used (type A)", Tenths, Rising),
        about(K::LifeUsedBTenths, "life used (type B)", Tenths, Rising),
        about(K::PercentageUsed, "life used", Percent, Rising).named(&["percentage_used"]),
        about(K::LifeLeftPercent, "life left", Percent, Falling),
        about(K::AvailableSparePercent, "spare blocks left", Percent, Falling).named(&["available_spare"]),
        about(K::AvailableSpareThresholdPercent, "spare threshold", Percent, Neither)
            .named(&["available_spare_threshold"]),
        about(K::FailingAttributes, "failing attribute", Count, Rising).error(),
        about(K::MediaErrors, "media error", Count, Rising).error(),
        about(K::LoggedMediaErrors, "logged media error", Count, Rising).error(),
        about(K::ErrorLogEntries, "error log entry", Count, Neither).named(&["num_err_log_entries"]),
        about(K::ReallocatedSectors, "reallocated sector", Count, Rising).error().named(&["Reallocated_Sector_Ct"]),
        about(K::ReallocationEvents, "reallocation event", Count, Rising).error().named(&["Reallocated_Event_Count"]),
        about(K::PendingSectors, "pending sector", Count, Rising).error().named(&["Current_Pending_Sector"]),
        about(K::UncorrectableSectors, "uncorrectable sector", Count, Rising).error().named(&["Offline_Uncorrectable"]),
        about(K::ReportedUncorrectable, "reported uncorrectable error", Count, Rising)
            .error()
            .named(&["Reported_Uncorrect"]),
        about(K::CrcErrors, "CRC error", Count, Rising).error().named(&["UDMA_CRC_Error_Count"]),
        about(K::LaterBadBlocks, "later bad block", Count, Rising).error(),
        about(K::SpareBlocks, "spare block", Count, Falling).error(),
        about(K::InitialBadBlocks, "initial bad block", Count, Neither),
        about(K::TotalEraseCycles, "erase cycle in total", Count, Rising),
        about(K::LeastEraseCycles, "erase cycle at least", Count, Rising),
        about(K::MeanEraseCycles, "erase cycle on average", Count, Rising),
        about(K::MostEraseCycles, "erase cycle at most", Count, Rising),
        about(K::RatedEraseCycles, "rated erase cycle", Count, Neither),
        about(K::RefreshedBlocks, "refreshed block", Count, Rising),
        about(K::WrittenBytes, "written by hosts", Bytes, Neither),
        about(K::ReadBytes, "read by hosts", Bytes, Neither),
        about(K::FileSystemWrittenBytes, "written by the file system", Bytes, Neither),
        about(K::PowerOnHours, "in use", Hours, Neither).named(&["Power_On_Hours"]),
        about(K::PowerCycles, "power cycle", Count, Neither).named(&["Power_Cycle_Count"]),
        about(K::UnsafeShutdowns, "unsafe shutdown", Count, Neither),
        about(K::TemperatureCelsius, "temperature", Celsius, Neither)
            .named(&["Temperature_Celsius", "Airflow_Temperature_Cel"]),
        about(K::WarningTemperatureMinutes, "above the warning temperature", Minutes, Neither)
            .named(&["warning_temp_time"]),
        about(K::CriticalTemperatureMinutes, "above the critical temperature", Minutes, Neither)
            .named(&["critical_comp_time"]),
    ]
};

impl CounterKind {
    /// All kinds that this version knows, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        ABOUT.iter().map(|about| about.kind)
    }

    fn about(self) -> Option<&'static About> {
        ABOUT.iter().find(|about| about.kind == self)
    }

    /// What one of them is called: `media error`.
    #[must_use]
    pub fn words(self) -> &'static str {
        self.about().map_or("a counter of a newer version", |about| about.words)
    }

    /// Its unit.
    #[must_use]
    pub fn unit(self) -> Unit {
        self.about().map_or(Unit::Count, |about| about.unit)
    }

    /// In which direction it gets worse.
    #[must_use]
    pub fn bad(self) -> Bad {
        self.about().map_or(Bad::Neither, |about| about.bad)
    }

    /// Whether a step in the bad direction is a sign of failure, and not only of use.
    #[must_use]
    pub fn is_error(self) -> bool {
        self.about().is_some_and(|about| about.is_error)
    }

    /// Its own name in the record.
    #[must_use]
    pub fn name(self) -> String {
        let value = serde_json::to_value(self).ok();
        value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Its names in readings of other programs, beside its own.
    #[must_use]
    pub fn other_names(self) -> &'static [&'static str] {
        self.about().map_or(&[], |about| about.names)
    }

    /// Whether `later` is worse than `earlier`.
    #[must_use]
    pub fn is_worse(self, earlier: i64, later: i64) -> bool {
        match (self.bad(), self.unit()) {
            // A bit that was not set before.
            (Bad::Rising, Unit::Bits) => later & !earlier != 0,
            (Bad::Rising, _) => later > earlier,
            (Bad::Falling, _) => later < earlier,
            (Bad::Neither, _) => false,
        }
    }
}

/// Where a counter was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HealthSource {
    /// The register EXT_CSD of an eMMC.
    ExtCsd,
    /// The answer of an SD card to CMD56.
    SdCmd56,
    /// The log of health of an NVMe drive.
    NvmeSmartLog,
    /// The error log of an NVMe drive.
    NvmeErrorLog,
    /// SMART attributes and statistics of an ATA disk.
    AtaSmart,
    /// The health descriptor of a UFS device.
    UfsDescriptor,
    /// The file system.
    FileSystem,
    /// None is known for the medium.
    Medium,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

impl HealthSource {
    /// What people call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ExtCsd => "EXT_CSD",
            Self::SdCmd56 => "SD health (CMD56)",
            Self::NvmeSmartLog => "NVMe health log",
            Self::NvmeErrorLog => "NVMe error log",
            Self::AtaSmart => "ATA SMART",
            Self::UfsDescriptor => "UFS health descriptor",
            Self::FileSystem => "file system",
            Self::Medium => "medium",
            Self::Unknown => "a source of a newer version",
        }
    }
}

/// Why a source gave nothing that could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// Commands to the medium need root.
    NeedsRoot,
    /// Behind a reader that hides the card.
    NotNative,
    /// The maker of the card publishes no layout, so it was not asked.
    NoPublicLayout,
    /// The host controller is known to hang on the command.
    HostHangs,
    /// The bridge is known to hang on ATA commands.
    BridgeHangs,
    /// Devices of this kind are not asked.
    NotAsked,
    /// A virtual disk counts nothing.
    Virtual,
    /// Several disks are joined, so one answer would not describe them.
    SeveralDisks,
    /// The medium says that it has no such counters.
    NotSupported,
    /// The medium has them switched off.
    SwitchedOff,
    /// No answer in time; it is not asked again in this run.
    TimedOut,
    /// Not asked again, as it did not answer in time before.
    HungBefore,
    /// The system or the medium refused.
    Refused,
    /// All bytes were 0xFF.
    AllOnes,
    /// All bytes were 0x00.
    AllZeros,
    /// Fewer bytes than the answer has.
    Short,
    /// The bytes do not have the form of an answer.
    Inconsistent,
    /// Not on this system.
    NotHere,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

impl NoAnswer {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NeedsRoot => "needs root",
            Self::NotNative => "the reader hides the card; use a native slot",
            Self::NoPublicLayout => "its maker publishes no layout",
            Self::HostHangs => "this host controller is known to hang on the command",
            Self::BridgeHangs => "this bridge is known to hang on ATA commands",
            Self::NotAsked => "devices of this kind are not asked",
            Self::Virtual => "a virtual disk counts nothing",
            Self::SeveralDisks => "several disks are joined",
            Self::NotSupported => "not supported by the medium",
            Self::SwitchedOff => "switched off in the medium",
            Self::TimedOut => "no answer in time",
            Self::HungBefore => "not asked again, it did not answer in time before",
            Self::Refused => "refused",
            Self::AllOnes => "no answer (all bytes 0xFF)",
            Self::AllZeros => "no answer (all bytes 0x00)",
            Self::Short => "the answer is cut off",
            Self::Inconsistent => "the answer contradicts itself",
            Self::NotHere => "not on this system",
            Self::Unknown => "for a reason that a newer version knows",
        }
    }
}

/// A counter before and after a run. `assay info` reads once, and `after` is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counter {
    /// What is counted.
    pub kind: CounterKind,
    /// Where it was read.
    pub source: HealthSource,
    /// Before the run.
    pub before: Option<i64>,
    /// After it.
    #[serde(default)]
    pub after: Option<i64>,
}

impl Counter {
    /// Read once.
    #[must_use]
    pub fn read(kind: CounterKind, source: HealthSource, value: i64) -> Self {
        Self { kind, source, before: Some(value), after: None }
    }

    /// The last value.
    #[must_use]
    pub fn last(&self) -> Option<i64> {
        self.after.or(self.before)
    }

    /// Both values where the counter moved during the run.
    #[must_use]
    pub fn moved(&self) -> Option<(i64, i64)> {
        self.before.zip(self.after).filter(|(before, after)| before != after)
    }

    /// Both values where it got worse during the run.
    #[must_use]
    pub fn worsened(&self) -> Option<(i64, i64)> {
        self.moved().filter(|(before, after)| self.kind.is_worse(*before, *after))
    }
}

/// A source that gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unread {
    /// The source.
    pub source: HealthSource,
    /// Why.
    pub why: NoAnswer,
    /// More of it, where more is known: the system's error, what contradicts what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Unread {
    /// Without a detail.
    #[must_use]
    pub fn because(source: HealthSource, why: NoAnswer) -> Self {
        Self { source, why, detail: None }
    }

    /// `ATA SMART: refused (Invalid argument)`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let detail = self.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{}: {}{detail}", self.source.title(), self.why.words())
    }
}

/// Bytes of an answer whose meaning is not published, in part or as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RawAnswer {
    /// Where it was read.
    pub source: HealthSource,
    /// Up to 512 bytes in hexadecimal digits, without zeros at the end.
    pub hex: String,
}

/// Most bytes of an answer that are kept.
const MOST_RAW: usize = 512;

impl RawAnswer {
    /// `None` where nothing but zeros is there.
    #[must_use]
    pub fn new(source: HealthSource, bytes: &[u8]) -> Option<Self> {
        let bytes = &bytes[..bytes.len().min(MOST_RAW)];
        let length = bytes.iter().rposition(|byte| *byte != 0)? + 1;
        Some(Self { source, hex: bytes[..length].iter().map(|byte| format!("{byte:02x}")).collect() })
    }
}

/// What was read of a medium's state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthReadings {
    /// Counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counter>,
    /// Sources that gave none, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// Answers in a maker's own form, before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<RawAnswer>,
}

impl HealthReadings {
    /// Whether nothing is known, not even why.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.unread.is_empty() && self.raw.is_empty()
    }

    /// Adds what another source gave. A counter that an earlier source has stays as it is.
    pub fn add(&mut self, other: Self) {
        for counter in other.counters {
            if !self.counters.iter().any(|known| known.kind == counter.kind) {
                self.counters.push(counter);
            }
        }
        self.unread.extend(other.unread);
        self.raw.extend(other.raw);
    }

    /// Takes over what was read after the run.
    pub fn finish(&mut self, later: Self) {
        for counter in later.counters {
            let known =
                self.counters.iter_mut().find(|known| (known.kind, known.source) == (counter.kind, counter.source));
            match known {
                Some(known) => known.after = counter.before,
                None => self.counters.push(Counter { before: None, after: counter.before, ..counter }),
            }
        }
        for unread in later.unread {
            if !self.unread.iter().any(|known| known.source == unread.source) {
                self.unread.push(unread);
            }
        }
    }

    /// Counters of errors that got worse during the run, each with both values.
    pub fn failing(&self) -> impl Iterator<Item = (CounterKind, i64, i64)> {
        let errors = self.counters.iter().filter(|counter| counter.kind.is_error());
        errors.filter_map(|counter| counter.worsened().map(|(before, after)| (counter.kind, before, after)))
    }

    /// The last value of a counter.
    #[must_use]
    pub fn count(&self, kind: CounterKind) -> Option<i64> {
        self.counters.iter().find(|counter| counter.kind == kind)?.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: CounterKind, value: i64) -> HealthReadings {
        let counters = vec![Counter::read(kind, HealthSource::NvmeSmartLog, value)];
        HealthReadings { counters, ..HealthReadings::default() }
    }

    #[test]
    fn every_kind_is_described_once_and_has_its_unit_in_its_name() {
        let mut seen = Vec::new();
        for kind in CounterKind::all() {
            assert!(!seen.contains(&kind), "{kind:?} twice");
            seen.push(kind);
            let end = match kind.unit() {
                Unit::Percent if kind == CounterKind::PercentageUsed => "used",
                Unit::Percent => "_percent",
                Unit::Tenths => "_tenths",
                Unit::Celsius => "_celsius",
                Unit::Bytes => "_bytes",
                Unit::Hours => "_hours",
                Unit::Minutes => "_minutes",
                Unit::Count | Unit::Bits | Unit::Step => "",
            };
            assert!(kind.name().ends_with(end), "{kind:?}: {}", kind.name());
            assert!(!kind.is_error() || kind.bad() != Bad::Neither, "{kind:?}: an error has a bad direction");
            let again: CounterKind = serde_json::from_value(kind.name().into()).unwrap();
            assert_eq!(again, kind);
        }
        assert_eq!(serde_json::from_str::<CounterKind>("\"quarks\"").unwrap(), CounterKind::Unknown);
        assert_eq!(CounterKind::Unknown.bad(), Bad::Neither);
    }

    #[test]
    fn only_a_counter_of_errors_that_gets_worse_is_failing() {
        for (kind, before, after, failing) in [
            (CounterKind::MediaErrors, 3, 4, true),
            (CounterKind::MediaErrors, 4, 3, false),
            (CounterKind::MediaErrors, 3, 3, false),
            (CounterKind::SpareBlocks, 9, 8, true),
            (CounterKind::SpareBlocks, 8, 9, false),
            (CounterKind::PreEndOfLife, 1, 2, true),
            (CounterKind::PercentageUsed, 3, 4, false), // use, not failure
            (CounterKind::PowerOnHours, 3, 4, false),
            (CounterKind::ErrorLogEntries, 3, 4, false), // a refused command is logged, too
            (CounterKind::CriticalWarning, 0b01, 0b10, true),
            (CounterKind::CriticalWarning, 0b10, 0b00, false),
            (CounterKind::CriticalWarning, 0b11, 0b10, false),
        ] {
            let mut readings = read(kind, before);
            readings.finish(read(kind, after));
            let found: Vec<_> = readings.failing().collect();
            assert_eq!(found, Vec::from_iter(failing.then_some((kind, before, after))), "{kind:?} {before} {after}");
        }
    }

    #[test]
    fn what_is_read_once_neither_moved_nor_fails() {
        let mut readings = read(CounterKind::MediaErrors, 3);
        assert_eq!((readings.failing().count(), readings.count(CounterKind::MediaErrors)), (0, Some(3)));
        // Only after the run it answered.
        readings.finish(read(CounterKind::PendingSectors, 8));
        assert_eq!(readings.failing().count(), 0);
        assert_eq!(readings.counters[1].before, None);
        assert_eq!(readings.count(CounterKind::PendingSectors), Some(8));
    }

    #[test]
    fn a_source_without_an_answer_is_named_once() {
        let none = |why| HealthReadings {
            unread: vec![Unread::because(HealthSource::AtaSmart, why)],
            ..HealthReadings::default()
        };
        let mut readings = none(NoAnswer::TimedOut);
        readings.finish(none(NoAnswer::HungBefore));
        assert_eq!(readings, none(NoAnswer::TimedOut));
        assert_eq!(readings.unread[0].sentence(), "ATA SMART: no answer in time");
    }

    #[test]
    fn raw_bytes_are_bounded_and_end_before_their_zeros() {
        let of = |bytes: &[u8]| RawAnswer::new(HealthSource::SdCmd56, bytes).map(|raw| raw.hex);
        assert_eq!(of(&[0x44, 0x57, 0, 1, 0, 0]).as_deref(), Some("44570001"));
        assert_eq!(of(&[0; 512]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0xff; 4096]).map(|hex| hex.len()), Some(1024));
    }
}
