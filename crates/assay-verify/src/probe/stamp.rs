//! What the probe writes: sectors that state where they belong, with unpredictable content.

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use assay_engine::mix;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Bytes of the largest logical block that is probed.
pub const BLOCK: u64 = 4096;
/// Bytes of a sector, as a length.
pub(crate) const SECTOR_LEN: usize = SECTOR_BYTES as usize;
/// A sector with fewer wrong bits than this is changed, not corrupted: H2testw 1.4 reports
/// "slightly changed (< 8 bit/sector)".
const CHANGED_BITS: u32 = 8;
/// Bytes that identify a sector: salt, place and round. They are at its start and at its end, so that a stuck cell in
/// one copy does not hide the other.
const NAME: usize = 32;
/// Bits of a salt.
const SALT_BITS: u32 = 128;
/// Bits of the salt that may be wrong if the rest of the sector confirms it.
const TURNED_BITS: u32 = 16;
/// Two different stamps differ in about half of all bits, 2048. Content with fewer wrong bits than this is that stamp.
const WORN_BITS: u32 = SECTOR_LEN as u32;

/// Random number of one probe, part of every block that it writes. A device that has seen earlier probes cannot answer
/// for this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salt([u64; 2]);

impl Salt {
    /// A new random salt from the kernel's generator.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0u8; 16];
        assay_device::random(&mut bytes)?;
        let (low, high) = (u128::from_le_bytes(bytes) as u64, (u128::from_le_bytes(bytes) >> 64) as u64);
        Ok(Self([low, high]))
    }

    /// A known salt, for repeatable tests.
    #[must_use]
    pub fn known(seed: u64) -> Self {
        Self([mix(seed), mix(!seed)])
    }

    /// The number itself.
    pub(crate) fn halves(self) -> [u64; 2] {
        self.0
    }

    /// A generator of places that depends only on the salt.
    pub(crate) fn generator(self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(mix(self.0[0]) ^ self.0[1])
    }

    /// Fills `buffer` with stamps of round `generation`, for whole sectors from number `sector` on. Each sector states
    /// its place and its round; the rest is a sequence of its own. Every second sector is inverted.
    pub(crate) fn stamp(self, sector: u64, generation: u32, buffer: &mut [u8]) {
        for (sector, content) in (sector..).zip(buffer.chunks_exact_mut(SECTOR_LEN)) {
            let seed = mix(self.0[0] ^ mix(self.0[1] ^ sector ^ (u64::from(generation) << 44)));
            Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(content);
            let words = [self.0[0], self.0[1], sector * SECTOR_BYTES, u64::from(generation)];
            for at in [0, SECTOR_LEN - NAME] {
                for (place, word) in content[at..at + NAME].chunks_exact_mut(8).zip(words) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
            // Otherwise a data line stuck at the value that every head has there would go unnoticed.
            if sector % 2 == 1 {
                content.iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
    }

    /// The place and the round for which this sector was written by us; `None` if it was not. Wrong bits do not matter
    /// as long as one of its two names can be read.
    pub(crate) fn origin(self, sector: &[u8]) -> Option<(u64, u32)> {
        let names = [sector.get(..NAME)?, sector.get(sector.len() - NAME..)?];
        let fits = |(offset, generation): (u64, u32)| {
            let mut stamp = [0; SECTOR_LEN];
            self.stamp(offset / SECTOR_BYTES, generation, &mut stamp);
            (wrong_bits(&stamp, sector), offset, generation)
        };
        let [first, last] = names.map(|name| self.named(name));
        // A cell in one of them may be stuck: the one that the rest of the sector confirms better is right.
        let best = [first, last.filter(|_| last != first)].into_iter().flatten().map(fits).min()?;
        (best.0 < WORN_BITS).then_some((best.1, best.2))
    }

    /// Place and round in a name, if its salt is ours except for a few bits.
    fn named(self, name: &[u8]) -> Option<(u64, u32)> {
        let words = name.as_chunks::<8>().0;
        let turned: u32 =
            words.iter().zip(self.0).map(|(word, salt)| (u64::from_le_bytes(*word) ^ salt).count_ones()).sum();
        let inverted = match turned {
            ..=TURNED_BITS => 0,
            _ if turned >= SALT_BITS - TURNED_BITS => !0,
            _ => return None,
        };
        let word = |at: usize| words.get(at).map(|word| u64::from_le_bytes(*word) ^ inverted);
        let offset = word(2).filter(|offset| offset.is_multiple_of(SECTOR_BYTES))?;
        Some((offset, u32::try_from(word(3)?).ok()?))
    }
}

fn wrong_bits(one: &[u8], other: &[u8]) -> u32 {
    // Most sectors are right, and counting bits takes a word at a time.
    if one == other {
        return 0;
    }
    // By words, which is faster than by bytes: sectors are a whole number of words.
    let (one, other) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    one.iter().zip(other).map(|(a, b)| (u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)).count_ones()).sum()
}

/// The stamp that a sector carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The sector that it was written for.
    pub(crate) sector: u64,
    /// The round in which it was written.
    pub(crate) generation: u32,
}

/// State of a written sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeenStamp {
    /// The last write.
    Holds,
    /// The last write, except for a few bits.
    Changed,
    /// The last write, except for more bits; it still differs clearly from all other writes.
    Worn,
    /// A write of an earlier round: the last write was dropped.
    Older,
    /// The content from before the probe: every write was dropped.
    Before,
    /// Data that were written for another sector.
    Foreign(Origin),
    /// Something else.
    Lost,
    /// Reading or writing failed.
    Unreadable,
}

impl SeenStamp {
    /// Whether the medium keeps data here, possibly with wrong bits.
    pub(crate) fn keeps(self) -> bool {
        matches!(self, Self::Holds | Self::Changed | Self::Worn)
    }

    /// Whether what was written is lost without an error.
    pub(crate) fn is_silent_loss(self) -> bool {
        matches!(self, Self::Older | Self::Before | Self::Foreign(_) | Self::Lost)
    }

    pub(crate) fn class(self) -> SectorClass {
        match self {
            Self::Holds => SectorClass::Good,
            Self::Changed => SectorClass::Changed,
            Self::Foreign(_) => SectorClass::Overwritten,
            Self::Worn | Self::Older | Self::Before | Self::Lost => SectorClass::Corrupted,
            Self::Unreadable => SectorClass::Unreadable,
        }
    }
}

/// A digest of a sector's content, to recognise the content from before.
pub(crate) fn digest(content: &[u8]) -> u64 {
    // Each word is mixed with its place and not with the word before, so that words can be computed in parallel.
    let places = (0u64..).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let words = content.as_chunks::<8>().0.iter().zip(places);
    words.fold(0, |sum, (word, place)| sum.wrapping_add(mix(u64::from_le_bytes(*word).wrapping_add(place))))
}

/// Compares content `read` from `sector` with the stamp written there in round `generation`. `before` is the digest of
/// the content from before the probe.
pub(crate) fn compare(salt: Salt, sector: u64, generation: u32, before: Option<u64>, read: &[u8]) -> SeenStamp {
    let mut want = [0; SECTOR_LEN];
    salt.stamp(sector, generation, &mut want);
    if want == read {
        return SeenStamp::Holds;
    }
    if wrong_bits(&want, read) < CHANGED_BITS {
        return SeenStamp::Changed;
    }
    if let Some((offset, stood)) = salt.origin(read) {
        let origin = Origin { sector: offset / SECTOR_BYTES, generation: stood };
        return match origin.sector == sector {
            true if stood == generation => SeenStamp::Worn,
            true => SeenStamp::Older,
            false => SeenStamp::Foreign(origin),
        };
    }
    if before == Some(digest(read)) { SeenStamp::Before } else { SeenStamp::Lost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_tells_its_place_and_nothing_else_does() {
        let salt = Salt::known(1);
        let mut block = [0; 2 * SECTOR_LEN];
        salt.stamp(77, 3, &mut block);
        for (sector, offset) in block.chunks_exact(SECTOR_LEN).zip([77 * SECTOR_BYTES, 78 * SECTOR_BYTES]) {
            assert_eq!(salt.origin(sector), Some((offset, 3)));
            assert_eq!(Salt::known(2).origin(sector), None);
        }
        assert_eq!(salt.origin(&[0; SECTOR_LEN]), None);
        assert_eq!(salt.origin(&[]), None);
    }

    /// A stuck cell neither hides the name of a sector nor makes it name another place. Otherwise the content saved for
    /// that place would be restored here.
    #[test]
    fn a_sector_with_a_stuck_byte_tells_its_place() {
        let salt = Salt::known(1);
        for number in [77, 78] {
            let mut stamp = [0; SECTOR_LEN];
            salt.stamp(number, 3, &mut stamp);
            for at in 0..SECTOR_LEN {
                for stuck in [0, 0x10, 0xff] {
                    let mut sector = stamp;
                    sector[at] = stuck;
                    assert_eq!(salt.origin(&sector), Some((number * SECTOR_BYTES, 3)), "{at} {stuck}");
                }
            }
        }
    }

    /// The name of one sector before the content of another is not a stamp.
    #[test]
    fn a_name_alone_is_no_stamp() {
        let salt = Salt::known(1);
        let mut sector = [7; SECTOR_LEN];
        let mut stamp = [0; SECTOR_LEN];
        salt.stamp(77, 3, &mut stamp);
        sector[..NAME].copy_from_slice(&stamp[..NAME]);
        assert_eq!(salt.origin(&sector), None);
    }

    /// Each way of losing a write is distinguished, since verdicts depend on it.
    #[test]
    fn what_became_of_a_sector() {
        let salt = Salt::known(1);
        let stamp = |sector, generation| {
            let mut content = [0; SECTOR_LEN];
            salt.stamp(sector, generation, &mut content);
            content
        };
        let seen = |read: &[u8]| compare(salt, 77, 3, Some(digest(&[9; SECTOR_LEN])), read);
        assert_eq!(seen(&stamp(77, 3)), SeenStamp::Holds);
        assert_eq!(seen(&stamp(77, 2)), SeenStamp::Older);
        assert_eq!(seen(&stamp(99, 3)), SeenStamp::Foreign(Origin { sector: 99, generation: 3 }));
        assert_eq!(seen(&[9; SECTOR_LEN]), SeenStamp::Before);
        assert_eq!(seen(&[0; SECTOR_LEN]), SeenStamp::Lost);
        let mut flipped = stamp(77, 3);
        flipped[300] ^= 1;
        assert_eq!(seen(&flipped), SeenStamp::Changed);
        flipped[301] ^= 0xff;
        assert_eq!(seen(&flipped), SeenStamp::Worn);
    }
}
