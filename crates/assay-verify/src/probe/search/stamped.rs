//! The device as the search sees it. Each place is saved before its first write, carries a stamp of the round, and is
//! compared with the stamp written last.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use assay_core::verification::SECTOR_BYTES;
use assay_engine::Control;
use foldhash::fast::FixedState;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::device::{Device, ProbeFault};
use super::super::journal::{Journal, JournalError};
use super::super::restore::Blocks;
use super::super::stamp::{Origin, SECTOR_LEN, Salt, SeenStamp, compare, digest};

/// Most bytes of one record of the journal.
const PART: u64 = 1 << 20;
/// Most sectors of a page of a cache: 64 KiB.
pub(super) const PAGE_OF_CACHE: u64 = (64 << 10) / SECTOR_BYTES;

/// The phase of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePhase {
    /// Searches for any loss.
    Discovering,
    /// Searches for the address where addresses wrap around.
    FindingPeriod,
    /// Determines which parts hold, to the sector.
    Mapping,
    /// Puts everything back.
    Restoring,
}

/// How far a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeProgress {
    /// Where it is.
    pub phase: ProbePhase,
    /// Bytes written so far, restoring included.
    pub written_bytes: u64,
    /// Bytes read so far.
    pub read_bytes: u64,
    /// Places that were read back so far.
    pub places: u64,
    /// Places that are read back on a genuine device; 0 before they are chosen.
    pub of: u64,
    /// Those of `places` where a loss was seen.
    pub lost: u64,
}

/// Why the search ended early.
#[derive(Debug)]
pub(crate) enum End {
    Stopped,
    /// The device as a whole no longer does what it did before.
    Fault(ProbeFault),
    Journal(JournalError),
    /// The limit of bytes written was reached.
    Spent,
}

impl From<JournalError> for End {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// Observer of a probe, which may end it.
pub(crate) struct Watch<'a> {
    pub(crate) control: &'a Control,
    pub(crate) progress: &'a mut dyn FnMut(ProbeProgress),
}

/// Consecutive sectors, in whole logical blocks of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SectorRange {
    /// Number of its first sector.
    pub(crate) at: u64,
    /// Number of sectors.
    pub(crate) sectors: u64,
}

impl SectorRange {
    pub(crate) fn end(self) -> u64 {
        self.at + self.sectors
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.at < other.end() && other.at < self.end()
    }

    pub(crate) fn numbers(self) -> std::ops::Range<u64> {
        self.at..self.end()
    }

    pub(super) fn bytes(self) -> u64 {
        self.sectors * SECTOR_BYTES
    }

    pub(super) fn offset(self) -> u64 {
        self.at * SECTOR_BYTES
    }

    /// In parts of at most `sectors`.
    pub(super) fn parts(self, sectors: u64) -> impl Iterator<Item = Self> {
        let end = self.end();
        (self.at..end).step_by(sectors as usize).map(move |at| Self { at, sectors: sectors.min(end - at) })
    }
}

/// What crosses the bus before a reading.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BusFlush {
    /// A place that holds is read.
    Read(SectorRange),
    /// A place is written, if none is known to hold; the second one is written before the first one itself is read.
    Write(SectorRange, SectorRange),
}

/// Counters of what a probe moved.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moved {
    pub(crate) written_bytes: u64,
    pub(crate) read_bytes: u64,
}

/// Content of a place that is never written.
pub(super) struct Glance {
    pub(super) content: Vec<u8>,
    /// All of it was read elsewhere before, so an address without memory may show it.
    pub(super) is_known: bool,
}

pub(crate) struct StampedDevice<'a, D> {
    pub(super) device: &'a mut D,
    journal: &'a mut Journal,
    watch: Watch<'a>,
    pub(super) salt: Salt,
    announced: u64,
    most_written_bytes: u64,
    pub(crate) random: Xoshiro256PlusPlus,
    pub(crate) phase: ProbePhase,
    pub(crate) moved: Moved,
    generation: u32,
    /// Digests of the original content of the saved sectors.
    pub(super) saved: HashMap<u64, u64, FixedState>,
    /// The round in which each sector was written last.
    pub(super) written: HashMap<u64, u32, FixedState>,
    /// Pieces of [`PAGE_OF_CACHE`] sectors that were read or written.
    touched: HashSet<u64, FixedState>,
    /// Sectors that could not be read or written.
    bad: BTreeSet<u64>,
    /// Those of them that could be read but not written.
    refused: BTreeSet<u64>,
    /// The last finding for each written sector.
    pub(crate) findings: BTreeMap<u64, SeenStamp>,
    /// Places that were read back, by first sector, and whether a loss was seen there.
    places: BTreeMap<u64, bool>,
    lost: u64,
    /// Places that are read back if nothing is lost.
    pub(crate) expected: u64,
    /// Stamps of other sectors, found where nothing was written yet.
    pub(crate) foreign_stamps: Vec<(u64, Origin)>,
    /// What crosses the bus before each reading, if places without memory read as what crossed it last.
    pub(crate) bus: Option<BusFlush>,
    /// A place that was read without an error.
    answered: Option<SectorRange>,
    /// The first block of the place that was written last without an error.
    pub(super) took: Option<SectorRange>,
    /// The same of the place before, and the place that was written last. If the medium is exchanged between a check
    /// and the write that follows, it carries the stamps of that write alone.
    pub(super) before: Option<SectorRange>,
    pub(super) last: SectorRange,
    /// First sectors of blocks that showed a stamp before the next write.
    pub(super) shown: BTreeSet<u64>,
    /// Whether a stamp was ever read back.
    pub(super) seen_stamp: bool,
    /// Whether any write was sent to the device. A write with an error may have been done in part.
    sent: bool,
    /// Sectors that were tested for their saved content.
    pub(super) asked: HashSet<u64, FixedState>,
    /// Digests of all saved content, except for sectors of one repeated byte.
    pub(super) contents: HashSet<u64, FixedState>,
    /// The first sector that was saved.
    first_saved: Option<u64>,
    /// Sectors of a block that is not written, and proves nothing.
    left: BTreeSet<u64>,
}

impl<'a, D: Device> StampedDevice<'a, D> {
    pub(crate) fn new(device: &'a mut D, journal: &'a mut Journal, most_written_bytes: u64, watch: Watch<'a>) -> Self {
        let salt = journal.salt();
        Self {
            announced: device.bytes(),
            device,
            journal,
            watch,
            salt,
            most_written_bytes,
            random: salt.generator(),
            phase: ProbePhase::Discovering,
            moved: Moved::default(),
            generation: 0,
            saved: HashMap::default(),
            written: HashMap::default(),
            touched: HashSet::default(),
            bad: BTreeSet::new(),
            refused: BTreeSet::new(),
            findings: BTreeMap::new(),
            places: BTreeMap::new(),
            lost: 0,
            expected: 0,
            foreign_stamps: Vec::new(),
            bus: None,
            answered: None,
            took: None,
            before: None,
            last: SectorRange { at: 0, sectors: 0 },
            shown: BTreeSet::new(),
            seen_stamp: false,
            sent: false,
            asked: HashSet::default(),
            contents: HashSet::default(),
            first_saved: None,
            left: BTreeSet::new(),
        }
    }

    /// Whether stamps were sent, and read back.
    pub(crate) fn blocks(&self) -> Blocks {
        match (self.sent, self.seen_stamp) {
            (false, _) => Blocks::None,
            (true, false) => Blocks::NeverSeen,
            (true, true) => Blocks::Seen,
        }
    }

    /// Sectors of the device.
    pub(crate) fn sectors(&self) -> u64 {
        self.announced / SECTOR_BYTES
    }

    /// Sectors of a logical block.
    pub(crate) fn unit(&self) -> u64 {
        (u64::from(self.device.block_bytes()) / SECTOR_BYTES).max(1)
    }

    /// The logical blocks inside of the device that contain `sectors` from `at` on.
    pub(crate) fn place(&self, at: u64, sectors: u64) -> SectorRange {
        let unit = self.unit();
        let start = at / unit * unit;
        let end = (at + sectors).next_multiple_of(unit).min(self.sectors() / unit * unit);
        SectorRange { at: start, sectors: end.saturating_sub(start) }
    }

    /// Begins a new round: what is written from now on differs from everything before.
    pub(crate) fn begin_round(&mut self) {
        self.generation += 1;
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    pub(super) fn tell(&mut self) -> Result<(), End> {
        let progress = ProbeProgress {
            phase: self.phase,
            written_bytes: self.moved.written_bytes,
            read_bytes: self.moved.read_bytes,
            places: self.places.len() as u64,
            of: self.expected,
            lost: self.lost,
        };
        (self.watch.progress)(progress);
        if self.watch.control.stopped() { Err(End::Stopped) } else { Ok(()) }
    }

    /// A medium with an error in one place continues. A medium has failed if it no longer works where it worked before.
    fn bear(&mut self, fault: ProbeFault, writing: bool) -> Result<(), End> {
        if fault != ProbeFault::Medium {
            return Err(End::Fault(fault));
        }
        if !self.device.present() || self.device.bytes() != self.announced {
            return Err(End::Fault(ProbeFault::Gone));
        }
        if let Some(place) = self.answered {
            let mut buffer = vec![0; place.bytes() as usize];
            self.moved.read_bytes += place.bytes();
            if let Err(fault) = self.device.read_at(place.offset(), &mut buffer) {
                return Err(End::Fault(if fault == ProbeFault::Medium { ProbeFault::AllErrors } else { fault }));
            }
        }
        if writing && let Some(place) = self.took {
            // What it wrote before it must write again, else it takes no writes any more.
            self.is_still_ours(place)?;
            let mut buffer = vec![0; place.bytes() as usize];
            self.fill(place, &mut buffer);
            self.moved.written_bytes += place.bytes();
            if let Err(fault) = self.device.write_at(place.offset(), &buffer) {
                return Err(End::Fault(if fault == ProbeFault::Medium { ProbeFault::WriteErrors } else { fault }));
            }
        }
        Ok(())
    }

    fn trouble(&mut self, place: SectorRange) {
        self.bad.extend(place.numbers());
        for sector in place.numbers() {
            self.findings.insert(sector, SeenStamp::Unreadable);
        }
    }

    /// A place that no longer reads as it was saved is not written, and counts as bad. Only the first saved place
    /// proves nothing: a place without memory reads as what crossed the bus before, and nothing had crossed it then.
    fn leave(&mut self, place: SectorRange) {
        if self.first_saved == Some(place.at) && place.sectors <= self.unit() {
            self.left.extend(place.numbers());
        } else {
            self.trouble(place);
        }
    }

    /// The first and the last block of a place, and the blocks between.
    fn ends(&self, place: SectorRange) -> (SectorRange, SectorRange, SectorRange) {
        let unit = self.unit();
        let first = SectorRange { sectors: unit, ..place };
        let last = SectorRange { at: place.end() - unit, sectors: unit };
        (first, last, SectorRange { at: first.end(), sectors: place.sectors.saturating_sub(2 * unit) })
    }

    /// Fills `buffer` with the stamp of each sector for the round in which it was written last.
    fn fill(&self, place: SectorRange, buffer: &mut [u8]) {
        for (sector, content) in place.numbers().zip(buffer.chunks_exact_mut(SECTOR_LEN)) {
            let generation = self.written.get(&sector).copied().unwrap_or(self.generation);
            self.salt.stamp(sector, generation, content);
        }
    }

    fn read_once(&mut self, place: SectorRange, buffer: &mut [u8]) -> Result<bool, End> {
        self.tell()?;
        self.touch(place);
        self.moved.read_bytes += place.bytes();
        match self.device.read_at(place.offset(), buffer) {
            Ok(()) => {
                if place.sectors <= 64 {
                    self.answered = Some(place);
                }
                Ok(true)
            }
            Err(fault) => self.bear(fault, false).map(|()| false),
        }
    }

    /// Reads a place; if the medium errs, in smaller parts. Bad sectors are left unchanged in `buffer` and are noted.
    /// If both ends of a place err, all of it counts as bad, since an error may take seconds.
    fn read(&mut self, place: SectorRange, buffer: &mut [u8]) -> Result<(), End> {
        if place.sectors == 0 || self.read_once(place, buffer)? {
            return Ok(());
        }
        let unit = self.unit();
        if place.sectors <= unit {
            self.trouble(place);
            return Ok(());
        }
        let (first, last, between) = self.ends(place);
        let length = buffer.len();
        let block = first.bytes() as usize;
        for (end, at) in [(first, 0), (last, length - block)] {
            if !self.read_once(end, &mut buffer[at..at + block])? {
                self.trouble(end);
            }
        }
        if self.bad.contains(&first.at) && self.bad.contains(&last.at) {
            self.trouble(between);
            return Ok(());
        }
        let half = (between.sectors / 2).next_multiple_of(unit).min(between.sectors);
        let (left, right) = buffer[block..length - block].split_at_mut((half * SECTOR_BYTES) as usize);
        self.read(SectorRange { sectors: half, ..between }, left)?;
        self.read(SectorRange { at: between.at + half, sectors: between.sectors - half }, right)
    }

    /// Saves what is not yet saved of these places. Returns when that survives a crash.
    pub(crate) fn save(&mut self, places: &[SectorRange]) -> Result<(), End> {
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        for place in sorted {
            for part in place.parts(PART / SECTOR_BYTES) {
                self.save_part(part)?;
            }
        }
        Ok(self.journal.sync()?)
    }

    fn save_part(&mut self, part: SectorRange) -> Result<(), End> {
        let missing: Vec<u64> =
            part.numbers().filter(|sector| !self.saved.contains_key(sector) && !self.bad.contains(sector)).collect();
        self.first_saved = self.first_saved.or(missing.first().copied());
        for row in missing.chunk_by(|a, b| a + 1 == *b) {
            let place = SectorRange { at: row[0], sectors: row.len() as u64 };
            let mut buffer = vec![0; place.bytes() as usize];
            self.read(place, &mut buffer)?;
            let good: Vec<u64> = place.numbers().filter(|sector| !self.bad.contains(sector)).collect();
            for run in good.chunk_by(|a, b| a + 1 == *b) {
                let from = ((run[0] - place.at) * SECTOR_BYTES) as usize;
                let content = &buffer[from..from + run.len() * SECTOR_LEN];
                self.journal.save(run[0] * SECTOR_BYTES, content)?;
                for (sector, content) in run.iter().zip(content.chunks_exact(SECTOR_LEN)) {
                    self.saved.insert(*sector, digest(content));
                    self.note_content(content);
                    if let Some((offset, generation)) = self.salt.origin(content) {
                        self.foreign_stamps.push((*sector, Origin { sector: offset / SECTOR_BYTES, generation }));
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes stamps of this round into a place that was saved. Leaves out sectors that could not be saved or are bad.
    pub(crate) fn write(&mut self, place: SectorRange) -> Result<(), End> {
        let good: Vec<u64> =
            place.numbers().filter(|sector| self.saved.contains_key(sector) && !self.bad.contains(sector)).collect();
        for run in good.chunk_by(|a, b| a + 1 == *b) {
            self.write_run(SectorRange { at: run[0], sectors: run.len() as u64 })?;
        }
        Ok(())
    }

    fn write_run(&mut self, place: SectorRange) -> Result<(), End> {
        let mut buffer = vec![0; place.bytes() as usize];
        self.salt.stamp(place.at, self.generation, &mut buffer);
        self.touch(place);
        for _ in 0..2 {
            if !self.is_still_ours(place)? {
                self.leave(place);
                return Ok(());
            }
            self.tell()?;
            self.moved.written_bytes += place.bytes();
            if self.moved.written_bytes > self.most_written_bytes {
                return Err(End::Spent);
            }
            self.sent = true;
            match self.device.write_at(place.offset(), &buffer) {
                Ok(()) => {
                    for sector in place.numbers() {
                        self.written.insert(sector, self.generation);
                    }
                    self.before =
                        self.took.filter(|took| !took.meets(place)).or(self.before.filter(|took| !took.meets(place)));
                    self.took = Some(SectorRange { sectors: self.unit(), ..place });
                    self.last = place;
                    return Ok(());
                }
                Err(fault) => self.bear(fault, true)?,
            }
        }
        // A part of it may have been written.
        let unit = self.unit();
        if place.sectors <= unit {
            self.trouble(place);
            self.refused.extend(place.numbers());
            return Ok(());
        }
        let (first, last, between) = self.ends(place);
        self.write_run(first)?;
        if last.at > first.at {
            self.write_run(last)?;
        }
        if self.bad.contains(&first.at) && self.bad.contains(&last.at) {
            self.refused.extend(between.numbers());
            self.trouble(between);
            return Ok(());
        }
        let half = (between.sectors / 2).next_multiple_of(unit).min(between.sectors);
        for part in [
            SectorRange { sectors: half, ..between },
            SectorRange { at: between.at + half, sectors: between.sectors - half },
        ] {
            if part.sectors > 0 {
                self.write_run(part)?;
            }
        }
        Ok(())
    }

    /// Notes the content of a sector, which a sector without memory may show later. Constant content is common, and is
    /// not noted.
    fn note_content(&mut self, content: &[u8]) {
        if content.iter().any(|byte| *byte != content[0]) {
            self.contents.insert(digest(content));
        }
    }

    /// The content of a place that is never written; `None` if it errs.
    pub(super) fn glance(&mut self, place: SectorRange) -> Result<Option<Glance>, End> {
        self.touch(place);
        let mut buffer = vec![0; place.bytes() as usize];
        if !self.read_once(place, &mut buffer)? {
            self.trouble(place);
            return Ok(None);
        }
        let is_known = buffer.chunks_exact(SECTOR_LEN).all(|content| self.contents.contains(&digest(content)));
        buffer.chunks_exact(SECTOR_LEN).for_each(|content| self.note_content(content));
        Ok(Some(Glance { content: buffer, is_known }))
    }

    /// Flushes the device.
    pub(crate) fn settle(&mut self) -> Result<(), End> {
        match self.device.sync() {
            Ok(()) => Ok(()),
            Err(fault) => self.bear(fault, false),
        }
    }

    /// Reads a place back and returns the finding for each of its sectors. Sectors that were never written carry the
    /// stamp of another sector, or are lost.
    pub(crate) fn check(&mut self, place: SectorRange) -> Result<Vec<SeenStamp>, End> {
        let mut buffer = vec![0; place.bytes() as usize];
        let good = place.numbers().any(|sector| !self.bad.contains(&sector));
        self.flush_bus(place)?;
        if good {
            self.read(place, &mut buffer)?;
        }
        let mut all = Vec::with_capacity(place.sectors as usize);
        for (sector, content) in place.numbers().zip(buffer.chunks_exact(SECTOR_LEN)) {
            let before = self.saved.get(&sector).copied();
            let seen = match self.written.get(&sector) {
                _ if self.bad.contains(&sector) => SeenStamp::Unreadable,
                _ if self.left.contains(&sector) => SeenStamp::Holds,
                Some(generation) => {
                    let seen = match compare(self.salt, sector, *generation, before, content) {
                        SeenStamp::Foreign(origin) if self.is_of_flush(origin.sector) => SeenStamp::Lost,
                        seen => seen,
                    };
                    self.seen_stamp |= seen.keeps();
                    self.findings.insert(sector, seen);
                    seen
                }
                None => match self.salt.origin(content) {
                    Some((offset, generation)) => {
                        SeenStamp::Foreign(Origin { sector: offset / SECTOR_BYTES, generation })
                    }
                    None => SeenStamp::Lost,
                },
            };
            all.push(seen);
        }
        if self.written.contains_key(&place.at) || self.bad.contains(&place.at) {
            let lost = self.places.entry(place.at).or_default();
            if !*lost && all.iter().any(|seen| *seen != SeenStamp::Holds) {
                *lost = true;
                self.lost += 1;
            }
        }
        Ok(all)
    }

    /// Whether a stamp of `sector` shows what crossed the bus last, and not the memory.
    fn is_of_flush(&self, sector: u64) -> bool {
        match self.bus {
            None => false,
            Some(BusFlush::Read(place)) => place.numbers().contains(&sector),
            Some(BusFlush::Write(one, other)) => one.numbers().chain(other.numbers()).any(|flushed| flushed == sector),
        }
    }

    /// Makes data other than `looked` cross the bus.
    fn flush_bus(&mut self, looked: SectorRange) -> Result<(), End> {
        match self.bus {
            None => Ok(()),
            Some(BusFlush::Read(place)) => {
                let mut buffer = vec![0; place.bytes() as usize];
                self.read_once(place, &mut buffer).map(|_| ())
            }
            Some(BusFlush::Write(one, other)) => self.write(if one.meets(looked) { other } else { one }),
        }
    }

    /// The stamp that a sector carries, whether or not it was written.
    pub(crate) fn origin_at(&mut self, sector: u64) -> Result<Option<Origin>, End> {
        let place = self.place(sector, 1);
        self.flush_bus(place)?;
        let mut buffer = vec![0; place.bytes() as usize];
        if self.bad.contains(&sector) {
            return Ok(None);
        }
        if !self.read_once(place, &mut buffer)? {
            self.trouble(place);
            return Ok(None);
        }
        let from = ((sector - place.at) * SECTOR_BYTES) as usize;
        let origin = self.salt.origin(&buffer[from..from + SECTOR_LEN]);
        let origin = origin.map(|(offset, generation)| Origin { sector: offset / SECTOR_BYTES, generation });
        Ok(origin.filter(|origin| origin.sector == place.at || !self.is_of_flush(origin.sector)))
    }

    /// The stamps that the sectors of a place carry, whether or not they were written.
    pub(crate) fn origins(&mut self, place: SectorRange) -> Result<Vec<Option<Origin>>, End> {
        let mut all = Vec::with_capacity(place.sectors as usize);
        for part in place.parts(PART / SECTOR_BYTES) {
            self.flush_bus(part)?;
            let mut buffer = vec![0; part.bytes() as usize];
            self.read(part, &mut buffer)?;
            all.extend(part.numbers().zip(buffer.chunks_exact(SECTOR_LEN)).map(|(sector, content)| {
                let origin = self.salt.origin(content).filter(|_| !self.bad.contains(&sector))?;
                Some(Origin { sector: origin.0 / SECTOR_BYTES, generation: origin.1 })
            }));
        }
        Ok(all)
    }

    /// Discards the findings for a place.
    pub(crate) fn forget(&mut self, place: SectorRange) {
        self.findings.retain(|sector, _| !place.numbers().contains(sector));
    }

    /// Sectors with errors.
    pub(super) fn bad_sectors(&self) -> impl Iterator<Item = u64> {
        self.bad.iter().copied()
    }

    pub(crate) fn is_bad(&self, sector: u64) -> bool {
        self.bad.contains(&sector)
    }

    /// Whether a sector could be read but not written.
    pub(super) fn is_refused(&self, sector: u64) -> bool {
        self.refused.contains(&sector)
    }

    /// Whether writes failed at places that could be read.
    pub(super) fn refuses_some(&self) -> bool {
        !self.refused.is_empty()
    }

    fn touch(&mut self, place: SectorRange) {
        self.touched.extend(place.at / PAGE_OF_CACHE..place.end().div_ceil(PAGE_OF_CACHE));
    }

    /// Whether nothing was read or written in the largest page of a cache around a sector.
    pub(crate) fn is_fresh(&self, sector: u64) -> bool {
        !self.touched.contains(&(sector / PAGE_OF_CACHE))
    }

    /// Whether both may be in one page of a cache.
    pub(crate) fn is_beside(&self, one: u64, other: u64) -> bool {
        one / PAGE_OF_CACHE == other / PAGE_OF_CACHE
    }

    /// Digest of the original content of a sector, if it was saved.
    pub(super) fn digest_before(&self, sector: u64) -> Option<u64> {
        self.saved.get(&sector).copied()
    }

    /// Sectors that were sent a stamp.
    pub(super) fn written_sectors(&self) -> impl Iterator<Item = u64> {
        self.written.keys().copied()
    }

    pub(crate) fn was_written(&self, sector: u64) -> bool {
        self.written.contains_key(&sector)
    }
}
