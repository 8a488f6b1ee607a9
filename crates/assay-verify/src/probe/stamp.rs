//! What the probe writes: blocks that say where they belong and that nobody can foresee.

use assay_core::verification::{SECTOR_BYTES, SectorClass, SectorCounts};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Bytes of a block of the probe.
pub const BLOCK: u64 = 4096;
/// Bytes of it as a length.
pub(crate) const BLOCK_LEN: usize = BLOCK as usize;
/// Bytes of a sector as a length.
pub(crate) const SECTOR_LEN: usize = SECTOR_BYTES as usize;
/// A sector with fewer wrong bits than this is changed, not corrupted: H2testw 1.4 reports
/// "slightly changed (< 8 bit/sector)".
const CHANGED_BITS: u32 = 8;

/// Random number of one probe, in every block that it writes. A device that has seen earlier
/// probes cannot answer for this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salt([u64; 2]);

impl Salt {
    /// A fresh one of the kernel's generator (getrandom(2)).
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0u8; 16];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        let (low, high) = (u128::from_le_bytes(bytes) as u64, (u128::from_le_bytes(bytes) >> 64) as u64);
        Ok(Self([low, high]))
    }

    /// A known one, for tests that can be repeated.
    #[must_use]
    pub fn known(seed: u64) -> Self {
        Self([mix(seed), mix(!seed)])
    }

    /// The number itself.
    pub(crate) fn words(self) -> [u64; 2] {
        self.0
    }

    /// A generator of places that depends on the salt alone.
    pub(crate) fn generator(self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(mix(self.0[0]) ^ self.0[1])
    }

    /// Fills `buffer` of one block for block number `block`, written for the `generation`-th time.
    pub(crate) fn stamp(self, block: u64, generation: u32, buffer: &mut [u8]) {
        let seed = mix(self.0[0] ^ mix(self.0[1] ^ block ^ (u64::from(generation) << 44)));
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(buffer);
        for (index, sector) in buffer.chunks_exact_mut(SECTOR_LEN).enumerate() {
            let offset = block * BLOCK + index as u64 * SECTOR_BYTES;
            let words = [self.0[0], self.0[1], offset, u64::from(generation)];
            for (place, word) in sector.chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
    }

    /// For what place, and the how many-th time, this sector was written by us; `None` where it
    /// was not.
    pub(crate) fn origin(self, sector: &[u8]) -> Option<(u64, u32)> {
        let word = |at: usize| {
            let bytes = sector.get(at * 8..at * 8 + 8)?.first_chunk::<8>()?;
            Some(u64::from_le_bytes(*bytes))
        };
        if word(0)? != self.0[0] || word(1)? != self.0[1] {
            return None;
        }
        Some((word(2)?, u32::try_from(word(3)?).ok()?))
    }
}

/// splitmix64 (Steele, Lea, Flood 2014), the finaliser.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What was read back of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// What was written.
    Holds,
    /// What was written for this other block: both are one memory cell.
    Alias(u64),
    /// Something else.
    Lost(SectorClass),
    /// Nothing: reading or writing failed.
    Unreadable,
}

impl Seen {
    pub(crate) fn holds(self) -> bool {
        self == Self::Holds
    }
}

/// Compares what was `read` of `block` with what was `written` there.
pub(crate) fn compare(salt: Salt, block: u64, written: &[u8], read: &[u8]) -> (Seen, SectorCounts) {
    let mut counts = SectorCounts::default();
    let mut seen = Seen::Holds;
    for (index, (want, got)) in written.chunks_exact(SECTOR_LEN).zip(read.chunks_exact(SECTOR_LEN)).enumerate() {
        let class = if want == got {
            SectorClass::Good
        } else {
            let offset = block * BLOCK + index as u64 * SECTOR_BYTES;
            let other = salt.origin(got).filter(|(origin, _)| *origin != offset);
            if let Some((origin, _)) = other {
                seen = Seen::Alias(origin / BLOCK);
                SectorClass::Overwritten
            } else {
                let wrong: u32 = want.iter().zip(got).map(|(a, b)| (a ^ b).count_ones()).sum();
                if wrong < CHANGED_BITS { SectorClass::Changed } else { SectorClass::Corrupted }
            }
        };
        if class != SectorClass::Good && !matches!(seen, Seen::Alias(_)) {
            seen = Seen::Lost(class);
        }
        counts.add(class, 1);
    }
    (seen, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_tells_its_place_and_nothing_else_does() {
        let salt = Salt::known(1);
        let mut block = vec![0; BLOCK_LEN];
        salt.stamp(77, 3, &mut block);
        assert_eq!(salt.origin(&block[SECTOR_LEN..]), Some((77 * BLOCK + 512, 3)));
        assert_eq!(Salt::known(2).origin(&block), None);
        assert_eq!(salt.origin(&[0; SECTOR_LEN]), None);
    }

    #[test]
    fn classes_of_a_block() {
        let salt = Salt::known(1);
        let (mut mine, mut other) = (vec![0; BLOCK_LEN], vec![0; BLOCK_LEN]);
        salt.stamp(77, 3, &mut mine);
        salt.stamp(99, 3, &mut other);
        assert_eq!(compare(salt, 77, &mine, &mine).0, Seen::Holds);
        assert_eq!(compare(salt, 77, &mine, &other).0, Seen::Alias(99));
        assert_eq!(compare(salt, 77, &mine, &vec![0; BLOCK_LEN]).0, Seen::Lost(SectorClass::Corrupted));
        let mut flipped = mine.clone();
        flipped[700] ^= 1;
        let (seen, counts) = compare(salt, 77, &mine, &flipped);
        assert_eq!(seen, Seen::Lost(SectorClass::Changed));
        assert_eq!((counts.good, counts.changed), (7, 1));
        // Data of an earlier time at the same place are lost data, not an alias.
        salt.stamp(77, 2, &mut other);
        assert_eq!(compare(salt, 77, &mine, &other).0, Seen::Lost(SectorClass::Corrupted));
    }
}
