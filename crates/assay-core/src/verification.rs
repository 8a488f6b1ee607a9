//! Whether a medium holds what is written to it, over the whole capacity it announces.

use serde::{Deserialize, Serialize};

use crate::outcome::RunFailure;
use crate::retention::Retention;

/// Sectors are counted in this size in bytes, whatever the medium's own: that of H2testw and f3.
pub const SECTOR_BYTES: u64 = 512;

/// How it was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Files over all free space, written and read back.
    Full,
    /// Random blocks of a raw device, each restored afterwards.
    QuickProbe,
    /// Blocks of a sparse file over all free space, through the file system.
    QuickMounted,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything that was tested holds what was written.
    Genuine,
    /// It announces more than it has.
    Fake,
    /// It loses data, and not in the way of a fake.
    Damaged,
    /// It failed while it was tested: it turned read-only, vanished, hung, or dropped every write
    /// from some moment on.
    Failed,
    /// The check could not tell: no loss was proven, and it could not be completed.
    Undecided,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl Verdict {
    /// The word for it, the same on every page.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::Fake => "fake",
            Self::Damaged => "damaged",
            Self::Failed => "failed",
            Self::Undecided | Self::Other => "cannot tell",
        }
    }

    /// Whether loss of data was proven.
    #[must_use]
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Fake | Self::Damaged | Self::Failed)
    }
}

/// What a fake does with writes beyond its real size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FakeKind {
    /// Drops them.
    Limbo,
    /// Starts again from the beginning of the memory: later data overwrite earlier ones.
    Wraparound,
    /// Starts again, at first into the good part, then drops them: wrap-around and limbo in one.
    Chain,
    /// Keeps what was written last, at any address: each write takes the place of the oldest.
    Newest,
    /// In a way that could not be told.
    #[serde(other)]
    Unknown,
}

/// The program that checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Checker {
    /// assay.
    Assay,
    /// f3read or f3probe.
    F3,
    /// H2testw.
    H2testw,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// Something that a check found beside its verdict, or could not settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// Only the last sectors are missing. Some USB bridges announce one sector too many.
    LastSectorsMissing,
    /// This file system answers with errors where the device need not.
    FileSystemErrs,
    /// A fake looks the same through its file system. A quick probe of the unmounted device decides.
    ProbeDecides,
    /// Addresses that start again (a wrap-around) need not have been noticed, see [`Reach::wraparounds_from_share`].
    WraparoundNotExcluded,
    /// The file system does not reserve space, so samples need not reach all of it.
    SpaceNotReserved,
    /// A cache larger than what was written to drive it out hides more losses.
    CacheHides,
    /// Not all of what was to be read could be read.
    PartlyUnread,
    /// Only files that were there before were read. Nothing was written.
    OnlyRead,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// What shows what the medium is, where the kind of fake and the counts do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "sign", rename_all = "snake_case")]
pub enum Sign {
    /// The medium stored data at other addresses than it was asked to.
    Misplaced {
        /// From where data are read to where they were sent, in bytes; negative where they are read above. Null where
        /// it is not one distance.
        distance_bytes: Option<i64>,
    },
    /// Places that lost their data hold what is written to them again.
    HoldsLater,
    /// What was written is lost after some readings.
    Decays,
    /// No new data are taken after what was written: the memory is used up.
    MemoryUsedUp,
    /// Writes start again from the beginning of the memory, and reads do not.
    OnlyWritesWrap {
        /// Sectors that were never saved, and were overwritten by the test.
        overwritten_sectors: u64,
        /// Byte offset of the first of them; null where there are none.
        first_overwritten_bytes: Option<u64>,
    },
    /// Places that were only read lost what stood there while others were written.
    TakesMemory {
        /// Places that lost it.
        lost: u64,
        /// Places that were only read.
        of: u64,
    },
    /// Each write takes the place of the oldest data, wherever it is sent.
    OldestReplaced,
    /// All that was tested held, and reads differently than before after it was put back.
    NotPutBack {
        /// Places that read differently.
        places: u64,
    },
    /// Only the end is missing.
    MissingAtEnd {
        /// How much of it, in bytes.
        bytes: u64,
    },
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// Why a check ended before all was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EarlyEnd {
    /// It was to end at the first error.
    FirstError,
    /// Stopped by the user or a signal.
    Interrupted,
    /// No space left.
    OutOfSpace,
    /// The limit of bytes written was reached.
    WriteLimit,
    /// The journal could not be written.
    Journal,
    /// The host lacked what the check needs: a thread, memory.
    Host,
    /// The system denied access.
    Denied,
    /// Another medium took its place, or it lost all that it held.
    Exchanged,
    /// The medium is gone.
    Disappeared,
    /// The medium or its file system turned read-only.
    ReadOnly,
    /// The medium stopped answering.
    Hung,
    /// The medium reported an I/O error.
    IoError,
    /// After some time the medium refused every write.
    RefusesWrites,
    /// After some time the medium returned only errors.
    OnlyErrors,
    /// After some time the medium dropped what was written.
    DropsWrites,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl EarlyEnd {
    /// Whether the medium failed, and not the user, the space, the system or the journal.
    #[must_use]
    pub fn is_failure(self) -> bool {
        match self {
            Self::FirstError | Self::Interrupted | Self::OutOfSpace | Self::WriteLimit => false,
            Self::Journal | Self::Host | Self::Denied | Self::Exchanged => false,
            Self::Disappeared | Self::ReadOnly | Self::Hung | Self::IoError => true,
            Self::RefusesWrites | Self::OnlyErrors | Self::DropsWrites | Self::Other => true,
        }
    }
}

impl From<RunFailure> for EarlyEnd {
    fn from(failure: RunFailure) -> Self {
        match failure {
            RunFailure::Hung => Self::Hung,
            RunFailure::ReadOnly => Self::ReadOnly,
            RunFailure::IoError => Self::IoError,
            RunFailure::Disappeared => Self::Disappeared,
            RunFailure::OutOfSpace => Self::OutOfSpace,
            RunFailure::Interrupted | RunFailure::Suspended | RunFailure::Abandoned => Self::Interrupted,
            RunFailure::Host => Self::Host,
            RunFailure::Other => Self::Other,
        }
    }
}

/// How it was assured that the data that were read back came from the medium and from no cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ReadBack {
    /// Direct I/O.
    Direct,
    /// Through the page cache, as direct I/O was not used.
    Cached {
        /// Why not.
        because: NoDirect,
        /// Whether the system dropped what it held of a file before the file was read.
        dropped: bool,
    },
    /// Direct I/O of sectors whose data no other sector and no other check has.
    Salted {
        /// What had been written elsewhere in between, in bytes, to drive out a cache of the medium.
        elsewhere_bytes: u64,
    },
    /// The check did not say.
    Untold,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// Why a check did without direct I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoDirect {
    /// The user asked for the page cache.
    Asked,
    /// The file system wants larger blocks than the check uses.
    Blocks {
        /// Of how many bytes.
        bytes: u64,
    },
    /// The file system has none.
    Refused {
        /// What the system said.
        said: String,
    },
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// Why a check proves nothing although no loss was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The driver of the file system is a program that keeps data in memory, and its device cannot be opened.
    DriverKeepsData,
    /// The system cannot be made to drop what it has cached of a file.
    SystemKeepsData,
    /// The text of the other program is cut off.
    CutOff,
    /// Files of the check are missing.
    FilesMissing,
    /// A summary leaves out losses that stand beside single files.
    LossesLeftOut,
    /// Counts of sectors cannot be read.
    CountsUnreadable,
    /// Only a small part was tested, without errors.
    PartTested,
    /// The text of the other program says nothing of errors.
    NothingSaid,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// Places that a check by samples read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Places {
    /// Places that were read.
    pub read: u64,
    /// Those that lost what was written.
    pub lost: u64,
}

/// What became of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SectorClass {
    /// Holds what was written.
    Good,
    /// Holds what was written but for a few bits.
    Changed,
    /// Holds what was written for another place.
    Overwritten,
    /// Holds something else.
    Corrupted,
    /// Cannot be read, or could not be written: the medium errs.
    Unreadable,
}

/// What the first error, the map and the speed of a check count their offsets from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Offsets {
    /// From the start of the block device.
    Device,
    /// From the start of the checked area, in the order of its files: where they lie on the device is not known.
    #[serde(other)]
    Files,
}

/// Sectors of [`SECTOR_BYTES`] by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectorCounts {
    /// Hold what was written.
    pub good: u64,
    /// Hold what was written but for a few bits.
    pub changed: u64,
    /// Hold what was written for another place.
    pub overwritten: u64,
    /// Hold something else.
    pub corrupted: u64,
    /// Cannot be read, or could not be written: the medium errs.
    pub unreadable: u64,
}

// Counts of a record from elsewhere may be anything: sums stay at the largest number.
impl SectorCounts {
    /// Counts `sectors` more of a class.
    pub fn add(&mut self, class: SectorClass, sectors: u64) {
        let count = self.count_mut(class);
        *count = count.saturating_add(sectors);
    }

    /// Counts `sectors` less of a class.
    pub fn take(&mut self, class: SectorClass, sectors: u64) {
        let count = self.count_mut(class);
        *count = count.saturating_sub(sectors);
    }

    fn count_mut(&mut self, class: SectorClass) -> &mut u64 {
        match class {
            SectorClass::Good => &mut self.good,
            SectorClass::Changed => &mut self.changed,
            SectorClass::Overwritten => &mut self.overwritten,
            SectorClass::Corrupted => &mut self.corrupted,
            SectorClass::Unreadable => &mut self.unreadable,
        }
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &Self) {
        self.good = self.good.saturating_add(other.good);
        self.changed = self.changed.saturating_add(other.changed);
        self.overwritten = self.overwritten.saturating_add(other.overwritten);
        self.corrupted = self.corrupted.saturating_add(other.corrupted);
        self.unreadable = self.unreadable.saturating_add(other.unreadable);
    }

    /// Sectors whose data are lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        [self.changed, self.overwritten, self.corrupted, self.unreadable].into_iter().fold(0, u64::saturating_add)
    }

    /// All sectors.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.good.saturating_add(self.lost())
    }
}

/// The first place whose data are lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstError {
    /// Byte offset, see [`Verification::offsets`].
    pub offset_bytes: u64,
    /// What became of it.
    pub class: SectorClass,
    /// For an overwritten sector: the byte offset for which its data were written; null if unknown.
    pub holds_offset_bytes: Option<u64>,
}

/// One part of the map of the medium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MapCell {
    /// Byte offset of its start, see [`Verification::offsets`].
    pub offset_bytes: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// What was found in it; all zero where nothing was tested.
    pub counts: SectorCounts,
}

/// Writing or reading all of it, once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pass {
    /// Bytes moved.
    pub bytes: u64,
    /// Time that took in nanoseconds; the final sync of a write included.
    pub elapsed_ns: u64,
    /// Speed over the offset: at most a few hundred parts, in order.
    pub speed: Vec<PassSpeed>,
}

impl Pass {
    /// Mean rate in bytes per second; `None` where no time passed.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.bytes as f64 / (self.elapsed_ns as f64 / 1e9))
    }
}

/// Speed in one part of what was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassSpeed {
    /// Byte offset of its start, see [`Verification::offsets`].
    pub offset_bytes: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time that took in nanoseconds.
    pub elapsed_ns: u64,
}

/// A part of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extent {
    /// Byte offset of its start on the block device; in the checked area where addresses are not known.
    pub offset_bytes: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What a verdict rests on: losses outside of it would not have been seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    /// Share of the announced capacity that was written and read back, 0 to 1.
    pub tested_share: f64,
    /// A loss of this share of the capacity, wherever it is, 0 to 1 …
    pub loss_share: f64,
    /// … would be found with this probability, 0 to 1.
    pub loss_found: f64,
    /// A cache of the medium up to this size in bytes would not hide it; null where all was crowded
    /// out, or where caches were not considered.
    pub caches_up_to_bytes: Option<u64>,
    /// Whether a medium is excluded that shares less memory than was checked among whatever is
    /// written.
    pub thin_excluded: bool,
    /// What the tested share is a share of.
    pub of: Whole,
    /// Wrap-arounds that lack at least this share of the device would have been found, 0 to 1; null where that is not known.
    pub wraparounds_from_share: Option<f64>,
}

/// What a tested share is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// The device.
    Device,
    /// The file system, as the size of its device is not known.
    FileSystem,
    /// The free space, or something this version has no name for.
    #[serde(other)]
    FreeSpace,
}

/// Result of a genuineness check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// How it was checked.
    pub method: Method,
    /// What it came to.
    pub verdict: Verdict,
    /// The program that checked.
    pub checker: Checker,
    /// Id of the check that it comes from, where that is another record of the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_check: Option<String>,
    /// What kind of fake; null where it is none.
    pub kind: Option<FakeKind>,
    /// What shows what the medium is; null where the kind and the counts tell it.
    pub sign: Option<Sign>,
    /// Why the check ended before all was done; null where it did not.
    pub ended: Option<EarlyEnd>,
    /// Why the check proves nothing although no loss was found; null where there is no such reason.
    pub doubt: Option<Doubt>,
    /// Capacity that was announced, in bytes: of the device, or of the checked area where its size is not known.
    pub announced_bytes: u64,
    /// Size of the area that could be checked, in bytes; null where that is what was announced.
    pub area_bytes: Option<u64>,
    /// Capacity that holds data, in bytes; null where it is not known.
    pub real_bytes: Option<u64>,
    /// Where the capacity is known as an interval only: at least this, in bytes.
    pub real_low_bytes: Option<u64>,
    /// Where the capacity is known as an interval only: at most this, in bytes.
    pub real_high_bytes: Option<u64>,
    /// Parts that hold data, in order of the address, with gaps between them, to the sector;
    /// empty where they are not known.
    pub holds: Vec<Extent>,
    /// Bytes that were written and read back.
    pub checked_bytes: u64,
    /// Bytes written in all, restoring included.
    pub written_bytes: u64,
    /// Bytes that the medium refused to write.
    pub refused_bytes: u64,
    /// What became of the sectors that were checked.
    pub counts: SectorCounts,
    /// Places that were read, of a quick check of a mounted medium.
    pub places: Option<Places>,
    /// What the offsets of the first error, the map and the speed count from.
    pub offsets: Offsets,
    /// The first place whose data are lost.
    pub first_error: Option<FirstError>,
    /// The device or the checked area in equal parts.
    pub map: Vec<MapCell>,
    /// Writing; null where nothing was written.
    pub write: Option<Pass>,
    /// Reading back; null where nothing was read.
    pub read: Option<Pass>,
    /// How it was assured that the data came from the medium and from no cache.
    pub read_back: ReadBack,
    /// Size of a cache of the medium that hides losses, in bytes; null where none was found or sought.
    pub cache_bytes: Option<u64>,
    /// What the verdict rests on; null where the check did not say.
    pub reach: Option<Reach>,
    /// What was found beside the verdict, or could not be settled.
    pub remarks: Vec<Remark>,
    /// Where an earlier check wrote what was read: how old it is, and the speed beside that of its own reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
}

impl Verification {
    /// A check with nothing known but its method.
    #[must_use]
    pub fn undecided(method: Method) -> Self {
        Self {
            method,
            verdict: Verdict::Undecided,
            checker: Checker::Assay,
            by_check: None,
            kind: None,
            sign: None,
            ended: None,
            doubt: None,
            announced_bytes: 0,
            area_bytes: None,
            real_bytes: None,
            real_low_bytes: None,
            real_high_bytes: None,
            holds: Vec::new(),
            checked_bytes: 0,
            written_bytes: 0,
            refused_bytes: 0,
            counts: SectorCounts::default(),
            places: None,
            offsets: if method == Method::QuickProbe { Offsets::Device } else { Offsets::Files },
            first_error: None,
            map: Vec::new(),
            write: None,
            read: None,
            read_back: ReadBack::Untold,
            cache_bytes: None,
            reach: None,
            remarks: Vec::new(),
            retention: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_has_a_word_of_its_own() {
        let all = [Verdict::Genuine, Verdict::Fake, Verdict::Damaged, Verdict::Failed, Verdict::Undecided];
        assert_eq!(all.map(Verdict::title), ["genuine", "fake", "damaged", "failed", "cannot tell"]);
        assert_eq!(all.map(Verdict::is_bad), [false, true, true, true, false]);
    }

    #[test]
    fn the_rate_of_a_pass_is_by_the_second() {
        let pass = Pass { bytes: 3_000, elapsed_ns: 1_500_000_000, speed: Vec::new() };
        assert_eq!(pass.bytes_per_second(), Some(2_000.0));
        assert_eq!(Pass { elapsed_ns: 0, ..pass }.bytes_per_second(), None);
    }
}
