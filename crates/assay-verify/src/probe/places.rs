//! Reading and writing the places of a journal on a device that may err.
//!
//! An error may take seconds. So a place with errors costs a few operations and not one for each block, and a device
//! with errors only is given up after a few places.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_core::verification::SECTOR_BYTES;

use super::device::{Device, ProbeFault};
use super::journal::{ByteRange, JournalError, JournalIdentity, Log, SystemDisk};
use super::stamp::{BLOCK, SECTOR_LEN, Salt};

/// After this many places in a row that could not be read, or written, the device is tested elsewhere.
pub(super) const STREAK: u32 = 3;

/// The content of a place by sector; `None` for sectors that cannot be read.
pub(super) type Sectors = Vec<Option<Vec<u8>>>;

/// A device whose places are read and written.
pub(super) struct Places<'d, D> {
    device: &'d mut D,
    /// Bytes that the device took.
    pub(super) written_bytes: u64,
    /// Places in a row that could not be read at all.
    unread: u32,
    /// Places in a row that could not be written at all.
    pub(super) refused: u32,
    /// A place where at least one block was read.
    answered: Option<u64>,
}

impl<'d, D: Device> Places<'d, D> {
    pub(super) fn new(device: &'d mut D) -> Self {
        Self { device, written_bytes: 0, unread: 0, refused: 0, answered: None }
    }

    pub(super) fn present(&mut self) -> bool {
        self.device.present()
    }

    /// Bytes of a block, at least those of a sector.
    pub(super) fn block_bytes(&self) -> usize {
        (self.device.block_bytes() as usize).max(SECTOR_LEN)
    }

    /// Reads the sectors of a place. On an error it is read in halves. If its first and its last block have errors,
    /// nothing else of it is read.
    ///
    /// # Errors
    /// A fault of the device as a whole. [`ProbeFault::AllErrors`] if several places in a row, and the ends of the device,
    /// cannot be read.
    pub(super) fn read(&mut self, place: ByteRange) -> Result<Sectors, ProbeFault> {
        let mut whole = vec![0; place.length as usize];
        let mut readable = vec![true; whole.len() / SECTOR_LEN];
        let block = self.block_bytes();
        self.read_part(place.offset, &mut whole, &mut readable, block)?;
        if readable.iter().any(|readable| *readable) {
            (self.unread, self.answered) = (0, Some(place.offset));
        } else {
            self.unread += 1;
            if self.unread >= STREAK && !self.reads_anywhere(block)? {
                return Err(ProbeFault::AllErrors);
            }
        }
        let sectors = whole.chunks_exact(SECTOR_LEN).zip(readable);
        Ok(sectors.map(|(sector, readable)| readable.then(|| sector.to_vec())).collect())
    }

    fn read_part(
        &mut self,
        offset: u64,
        buffer: &mut [u8],
        readable: &mut [bool],
        block: usize,
    ) -> Result<(), ProbeFault> {
        if self.took_place(|device| device.read_at(offset, buffer))? {
            return Ok(());
        }
        let blocks = buffer.len() / block;
        if blocks <= 1 {
            readable.fill(false);
            return Ok(());
        }
        let last = (blocks - 1) * block;
        let first_reads = self.took_place(|device| device.read_at(offset, &mut buffer[..block]))?;
        let last_reads = self.took_place(|device| device.read_at(offset + last as u64, &mut buffer[last..]))?;
        let in_block = block / SECTOR_LEN;
        if !first_reads && !last_reads {
            readable.fill(false);
            return Ok(());
        }
        readable[..in_block].fill(first_reads);
        readable[last / SECTOR_LEN..].fill(last_reads);
        if blocks == 2 {
            return Ok(());
        }
        // Between the ends, in halves.
        let middle = (blocks / 2).clamp(1, blocks - 1) * block;
        for (from, to) in [(block, middle), (middle, last)] {
            if from < to {
                let part = &mut readable[from / SECTOR_LEN..to / SECTOR_LEN];
                self.read_part(offset + from as u64, &mut buffer[from..to], part, block)?;
            }
        }
        Ok(())
    }

    /// Whether a block can be read at a place that was read before, or at an end of the device.
    fn reads_anywhere(&mut self, block: usize) -> Result<bool, ProbeFault> {
        let mut buffer = vec![0; block];
        let end = (self.device.bytes() / block as u64).saturating_sub(1) * block as u64;
        for at in self.answered.into_iter().chain([0, end]) {
            if self.took_place(|device| device.read_at(at / block as u64 * block as u64, &mut buffer))? {
                self.unread = 0;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes `data`, whole blocks, at `offset`. If the device refuses, each half is tried, unless it refuses the first
    /// and the last block. Returns whether it took everything.
    ///
    /// # Errors
    /// A fault of the device as a whole.
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> Result<bool, ProbeFault> {
        let before = self.written_bytes;
        let good = self.write_part(offset, data, self.block_bytes())?;
        self.refused = if self.written_bytes > before { 0 } else { self.refused + 1 };
        Ok(good)
    }

    fn write_part(&mut self, offset: u64, data: &[u8], block: usize) -> Result<bool, ProbeFault> {
        if self.took_place(|device| device.write_at(offset, data))? {
            self.written_bytes += data.len() as u64;
            return Ok(true);
        }
        let blocks = data.len() / block;
        if blocks <= 1 {
            return Ok(false);
        }
        let last = (blocks - 1) * block;
        let before = self.written_bytes;
        for (from, to) in [(0, block), (last, data.len())] {
            if self.took_place(|device| device.write_at(offset + from as u64, &data[from..to]))? {
                self.written_bytes += (to - from) as u64;
            }
        }
        if self.written_bytes == before {
            return Ok(false);
        }
        let mut good = self.written_bytes == before + (block + data.len() - last) as u64;
        let middle = (blocks / 2).clamp(1, blocks - 1) * block;
        for (from, to) in [(block, middle), (middle, last)] {
            if from < to {
                good &= self.write_part(offset + from as u64, &data[from..to], block)?;
            }
        }
        Ok(good)
    }

    /// Flushes the device. Returns false if that fails with an error of the medium.
    pub(super) fn settle(&mut self) -> Result<bool, ProbeFault> {
        self.took_place(|device| device.sync())
    }

    /// Whether an operation succeeded; false if the medium errs at this place.
    fn took_place(&mut self, operation: impl FnOnce(&mut D) -> Result<(), ProbeFault>) -> Result<bool, ProbeFault> {
        match operation(self.device) {
            Ok(()) => Ok(true),
            Err(ProbeFault::Medium) if self.device.present() => Ok(false),
            Err(ProbeFault::Medium) => Err(ProbeFault::Gone),
            Err(fault) => Err(fault),
        }
    }
}

// The current content at the places of a journal, on which restoring is based.

/// Bits of a stamp's salt and place, 192 in all, that a worn medium may have flipped. The probability that so few of
/// them differ by chance is 10^-44.
const TURNED_BITS: u32 = 8;
/// Bytes of salt and place at the start of a stamped sector.
const NAMED: usize = 24;

/// Content of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The content from before the probe.
    Original,
    /// A block of the probe.
    Stamped,
    /// The content from before is unknown: the journal is damaged.
    Lost,
    /// Other content: written since, or another card.
    Other,
    /// Different content at each reading: the medium holds nothing here.
    Unsteady,
    /// It cannot be read.
    Unreadable,
}

/// Each sector of each entry of a journal.
#[derive(Debug)]
pub(super) struct Survey {
    /// By entry, then by sector of its place.
    pub(super) classes: Vec<Vec<Class>>,
    /// Places whose saved content is more than one repeated byte.
    varied: usize,
    /// Those of them that hold exactly their saved content.
    recognised: usize,
}

/// Why there is no survey.
#[derive(Debug)]
pub(super) enum SurveyError {
    Stopped,
    Fault(ProbeFault),
    Journal(JournalError),
}

impl From<ProbeFault> for SurveyError {
    fn from(fault: ProbeFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<JournalError> for SurveyError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl Survey {
    /// Reads every place, and reads places with unknown content a second time.
    pub(super) fn take<D: Device>(
        log: &Log,
        places: &mut Places<'_, D>,
        step: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Self, SurveyError> {
        let mut survey = Self { classes: Vec::with_capacity(log.entries.len()), varied: 0, recognised: 0 };
        let mut unknown = Vec::new();
        for (index, entry) in log.entries.iter().enumerate() {
            if step(index) {
                return Err(SurveyError::Stopped);
            }
            let now = places.read(entry.place)?;
            let (original, lost) = log.original(index)?;
            let classes = classify(log.salt(), entry.place, &now, &original, &lost);
            if original.iter().any(|byte| *byte != original[0]) {
                survey.varied += 1;
                survey.recognised += usize::from(classes.iter().all(|class| *class == Class::Original));
            }
            if classes.contains(&Class::Other) {
                unknown.push((index, fingerprint(&now, &classes)));
            }
            survey.classes.push(classes);
        }
        // In reverse order, since a medium that drops writes may answer with what was read before.
        for (index, before) in unknown.into_iter().rev() {
            let place = log.entries[index].place;
            let neighbour = log.entries[(index + 1) % log.entries.len()].place;
            let _ = places.read(neighbour)?;
            let now = places.read(place)?;
            let classes = &mut survey.classes[index];
            if fingerprint(&now, classes) != before {
                classes.iter_mut().filter(|class| **class == Class::Other).for_each(|class| *class = Class::Unsteady);
            }
        }
        Ok(survey)
    }

    /// Entries with a sector of this class.
    pub(super) fn with(&self, class: Class) -> impl Iterator<Item = usize> + '_ {
        let has = move |classes: &Vec<Class>| classes.contains(&class);
        self.classes.iter().enumerate().filter(move |(_, classes)| has(classes)).map(|(index, _)| index)
    }

    /// Whether any place has content that other media do not have.
    pub(super) fn is_distinctive(&self) -> bool {
        self.varied > 0
    }

    /// Whether the content proves that it is the same device: most places with distinctive content hold what was saved
    /// there. Partition tables and the like are the same on many media. On an empty medium, all places must match.
    pub(super) fn is_recognised(&self) -> bool {
        match self.varied {
            0 => self.classes.iter().flatten().all(|class| *class == Class::Original),
            varied => self.recognised * 2 > varied,
        }
    }
}

/// The class of each sector of a place that reads as `now`. `original` is its saved content, except for the sectors
/// `lost`.
pub(super) fn classify(
    salt: Salt,
    place: ByteRange,
    now: &[Option<Vec<u8>>],
    original: &[u8],
    lost: &[usize],
) -> Vec<Class> {
    let mut classes = Vec::with_capacity(now.len());
    for (index, (now, original)) in now.iter().zip(original.chunks_exact(SECTOR_LEN)).enumerate() {
        let offset = place.offset + index as u64 * SECTOR_BYTES;
        classes.push(match now {
            None => Class::Unreadable,
            Some(_) if lost.contains(&index) => Class::Lost,
            Some(now) if now == original => Class::Original,
            Some(now) if is_stamp(salt, offset, now) => Class::Stamped,
            Some(_) => Class::Other,
        });
    }
    classes
}

/// Whether the probe wrote this sector: for any address, since addresses may share a memory cell, or for this one,
/// except for a few bits that a worn medium flipped.
fn is_stamp(salt: Salt, offset: u64, sector: &[u8]) -> bool {
    if salt.origin(sector).is_some() {
        return true;
    }
    let mut stamp = [0; SECTOR_LEN];
    salt.stamp(offset / SECTOR_BYTES, 0, &mut stamp);
    let turned: u32 = stamp[..NAMED].iter().zip(sector).map(|(a, b)| (a ^ b).count_ones()).sum();
    turned <= TURNED_BITS
}

/// Fingerprint of the sectors with unknown content.
fn fingerprint(now: &[Option<Vec<u8>>], classes: &[Class]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (sector, _) in now.iter().zip(classes).filter(|(_, class)| **class == Class::Other) {
        match sector {
            Some(bytes) => hasher.update(&[1]).update(bytes),
            None => hasher.update(&[0]),
        };
    }
    hasher.finalize()
}

/// Whether the probe wrote to a place: any sector carries the stamp of this very address, or cannot be read. A stamp of
/// another address was written through that address, which was saved itself.
pub(super) fn may_be_overwritten<D: Device>(
    salt: Salt,
    places: &mut Places<'_, D>,
    place: ByteRange,
) -> Result<bool, ProbeFault> {
    let own = place.offset..place.offset + place.length;
    let now = places.read(place)?;
    Ok((place.offset..).step_by(SECTOR_LEN).zip(now).any(|(offset, sector)| match sector {
        Some(sector) => match salt.origin(&sector) {
            Some((origin, _)) => own.contains(&origin),
            None => is_stamp(salt, offset, &sector),
        },
        None => true,
    }))
}

// Which journal a device needs: names and readers change, stamps do not.

/// Most places that are read, spread over all places of the journal. A probe stamps thousands, and an interrupted
/// restoration leaves those that were saved first.
const MOST_LOOKS: usize = 512;
/// The same on a device whose size differs from the probed one. Most devices do, since each run reads the disk and all
/// of its partitions.
const MOST_LOOKS_AT_OTHERS: usize = 64;

/// A journal whose stamps are on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The journal.
    pub journal: PathBuf,
    /// What the device was when it was probed.
    pub device: JournalIdentity,
    /// Seconds since 1970 at which the journal was made.
    pub created: u64,
    /// Places that it holds.
    pub places: usize,
}

/// What a journal is for, without a device.
///
/// # Errors
/// Where it cannot be read or is no journal.
pub fn described(path: &Path) -> Result<Pending, JournalError> {
    let log = Log::read(Arc::new(SystemDisk), path)?;
    Ok(about(path, &log))
}

fn about(path: &Path, log: &Log) -> Pending {
    let header = &log.header;
    Pending {
        journal: path.to_owned(),
        device: header.device.clone(),
        created: header.created,
        places: log.entries.len(),
    }
}

/// Where the stamps of a journal are on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stands {
    /// Only at other places, as on the disk whose partition was probed, or on a fake that wraps around.
    Elsewhere,
    /// At least one is at the place that it was written for: the device is the one that was probed.
    AtItsPlace,
}

/// A journal whose stamps are looked for on devices.
#[derive(Debug)]
pub struct Traces {
    log: Log,
    pending: Pending,
}

impl Traces {
    /// Reads the journal at `path`.
    ///
    /// # Errors
    /// Where it cannot be read or is no journal.
    pub fn from_journal(path: &Path) -> Result<Self, JournalError> {
        let log = Log::read(Arc::new(SystemDisk), path)?;
        let pending = about(path, &log);
        Ok(Self { log, pending })
    }

    /// What the journal is for.
    #[must_use]
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Where its stamps are on `device`; `None` if none was found. The size may differ from that at the probe, since a
    /// logical volume, a virtual disk or a partition may have grown. Nothing is written. Unreadable sectors count as
    /// without stamps.
    pub fn on<D: Device>(&self, device: &mut D) -> Option<Stands> {
        let entries = &self.log.entries;
        let same_size = device.bytes() == self.log.header.device.bytes;
        let looks = if same_size { MOST_LOOKS } else { MOST_LOOKS_AT_OTHERS };
        let step = entries.len().div_ceil(looks).max(1);
        let mut best = None;
        for entry in entries.iter().step_by(step).chain(entries.last()) {
            let last = entry.place.length.saturating_sub(1) / BLOCK * BLOCK;
            for from in [0, last] {
                let part =
                    ByteRange { offset: entry.place.offset + from, length: BLOCK.min(entry.place.length - from) };
                if part.offset.saturating_add(part.length) > device.bytes() {
                    continue;
                }
                best = best.max(stamp_at(&self.log, device, part).unwrap_or_default());
                if best == Some(Stands::AtItsPlace) {
                    return best;
                }
            }
        }
        best
    }
}

fn stamp_at<D: Device>(log: &Log, device: &mut D, part: ByteRange) -> Result<Option<Stands>, ProbeFault> {
    let mut now = vec![0; part.length as usize];
    device.read_at(part.offset, &mut now)?;
    let sectors = (part.offset..).step_by(SECTOR_LEN).zip(now.chunks_exact(SECTOR_LEN));
    let stands = sectors.filter_map(|(at, sector)| {
        let (origin, _) = log.salt().origin(sector)?;
        Some(if origin == at { Stands::AtItsPlace } else { Stands::Elsewhere })
    });
    Ok(stands.max())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errs in some blocks, and counts operations.
    struct Errs {
        bytes: u64,
        bad: fn(u64) -> bool,
        operations: u32,
    }

    impl Device for Errs {
        fn bytes(&self) -> u64 {
            self.bytes
        }
        fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
            self.operations += 1;
            let mut sectors = offset / 512..(offset + buffer.len() as u64) / 512;
            buffer.fill(7);
            if sectors.any(self.bad) { Err(ProbeFault::Medium) } else { Ok(()) }
        }
        fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
            self.read_at(offset, &mut data.to_vec())
        }
        fn sync(&mut self) -> Result<(), ProbeFault> {
            Ok(())
        }
    }

    const MIB: u64 = 1 << 20;

    fn place(index: u64) -> ByteRange {
        ByteRange { offset: index * MIB, length: MIB }
    }

    #[test]
    fn a_device_that_only_errs_is_given_up_after_a_few_operations() {
        let mut device = Errs { bytes: 64 * MIB, bad: |_| true, operations: 0 };
        let mut places = Places::new(&mut device);
        let read = (0..64).find_map(|index| places.read(place(index)).err());
        assert_eq!(read, Some(ProbeFault::AllErrors));
        let data = vec![0; MIB as usize];
        (0..STREAK).for_each(|index| assert!(!places.write(u64::from(index) * MIB, &data).unwrap()));
        assert_eq!((places.refused, places.written_bytes), (STREAK, 0));
        assert!(device.operations <= 24, "{}", device.operations);
    }

    #[test]
    fn one_bad_sector_costs_itself_alone() {
        let mut device = Errs { bytes: 64 * MIB, bad: |sector| sector == 3000, operations: 0 };
        let mut places = Places::new(&mut device);
        let read = places.read(place(1)).unwrap();
        let bad: Vec<usize> = (0..read.len()).filter(|sector| read[*sector].is_none()).collect();
        assert_eq!(bad, [3000 - 2048]);
        let good = places.write(MIB, &vec![0; MIB as usize]).unwrap();
        assert_eq!((good, places.written_bytes), (false, MIB - 512));
        assert!(device.operations <= 100, "{}", device.operations);
    }

    #[test]
    fn a_part_that_errs_does_not_give_up_the_rest() {
        let mut device = Errs { bytes: 64 * MIB, bad: |sector| (8 * 2048..40 * 2048).contains(&sector), operations: 0 };
        let mut places = Places::new(&mut device);
        for index in (0..64).rev() {
            let sectors = places.read(place(index)).unwrap();
            assert_eq!(sectors[5].is_none(), (8..40).contains(&index), "{index}");
        }
    }

    /// A worn medium flips bits of the probe's own blocks too; these are not newer data.
    #[test]
    fn a_stamp_with_a_few_turned_bits_is_still_ours() {
        let salt = Salt::known(1);
        let mut block = vec![0; 8 * SECTOR_LEN];
        salt.stamp(77, 3, &mut block);
        let mut sector = block[SECTOR_LEN..2 * SECTOR_LEN].to_vec();
        let offset = 78 * SECTOR_BYTES;
        assert!(is_stamp(salt, offset, &sector));
        sector[3] ^= 0x11;
        sector[17] ^= 0x40;
        assert!(is_stamp(salt, offset, &sector));
        sector[5] ^= 0xff;
        assert!(is_stamp(salt, offset, &sector), "a stuck byte at the start, where the end says the same");
        sector[40..300].iter_mut().for_each(|byte| *byte ^= 0xff);
        assert!(!is_stamp(salt, offset, &sector), "more than a few");
        assert!(!is_stamp(Salt::known(2), offset, &block[SECTOR_LEN..]));
    }
}
