//! The current content at the places of a journal, on which restoring is based.

use assay_core::verification::SECTOR_BYTES;

use super::contract::{Device, Fault};
use super::journal::{ByteRange, JournalError, Log};
use super::places::Places;
use super::stamp::{SECTOR_LEN, Salt};

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
    /// None of these: written since, or another card.
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
    Fault(Fault),
    Journal(JournalError),
}

impl From<Fault> for SurveyError {
    fn from(fault: Fault) -> Self {
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
    pub(super) fn of<D: Device>(
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
) -> Result<bool, Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
