//! Sectors that only this check could have written, each for one place.
//!
//! A sector of 512 bytes is 64 words of 64 bits, little-endian. The first word is the number of the sector and its
//! generation (how often this place was written), mixed with the salt of the check by a permutation. So the check can
//! read from it where a misplaced sector belongs. Each further word is the first word plus a number for its position,
//! mixed with the salt, after two steps in the manner of xorshift (Marsaglia 2003). That takes only additions and
//! shifts, which processors do on several words at once, so it costs about as much as the sequence of f3. It is also a
//! permutation, so no two of these words in a sector are equal. So the content can be neither compressed, nor
//! deduplicated, nor known before the check.

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;

use super::format::word;
use crate::probe::Salt;

const SECTOR: usize = SECTOR_BYTES as usize;
const WORDS: usize = SECTOR / 8;
/// The number that is added for each position in a sector; all are different.
static PLACES: [u64; WORDS] = {
    let (mut places, mut index) = ([0; WORDS], 0);
    while index < WORDS {
        places[index] = mix(index as u64);
        index += 1;
    }
    places
};
/// Sectors are numbered below this; the bits above hold the generation. 2^48 sectors are 128 PiB.
const SECTORS: u64 = 1 << 48;
/// A sector with at most this many wrong words is "slightly changed", as in the format of f3.
const TOLERATED: usize = 2;

/// Key of the sectors of a check, derived from its salt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    first: u64,
    second: u64,
    folded: u64,
}

/// Origin of an intact sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// Byte offset that it was written for.
    pub(super) offset: u64,
    /// How often that place was written before.
    pub(super) generation: u16,
}

impl Key {
    pub(super) fn new(salt: Salt) -> Self {
        let [first, second] = salt.words();
        Self { first, second, folded: mix(first ^ mix(second)) }
    }

    /// First word of a sector.
    #[inline]
    fn seal(self, offset: u64, generation: u16) -> u64 {
        let number = ((offset / SECTOR_BYTES) % SECTORS) | (u64::from(generation) << 48);
        mix(mix(number ^ self.first) ^ self.second)
    }

    /// Decodes the first word of a sector of this check.
    fn open(self, word: u64) -> Origin {
        let number = unmix(unmix(word) ^ self.second) ^ self.first;
        Origin { offset: number % SECTORS * SECTOR_BYTES, generation: (number >> 48) as u16 }
    }

    /// Word `index` of a sector whose first word is `first`.
    #[inline]
    fn word(self, first: u64, index: usize) -> u64 {
        let sum = first.wrapping_add(PLACES[index] ^ self.folded);
        let mixed = sum ^ (sum << 13);
        mixed ^ (mixed >> 7)
    }

    /// Fills whole sectors with the content for byte `offset` and this generation.
    pub(super) fn fill(self, buffer: &mut [u8], mut offset: u64, generation: u16) {
        let (sectors, _) = buffer.as_chunks_mut::<SECTOR>();
        for sector in sectors {
            self.fill_sector(sector, self.seal(offset, generation));
            offset = offset.wrapping_add(SECTOR_BYTES);
        }
    }

    #[inline]
    fn fill_sector(self, sector: &mut [u8; SECTOR], first: u64) {
        let (words, _) = sector.as_chunks_mut::<8>();
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.word(first, index).to_le_bytes();
        }
        words[0] = first.to_le_bytes();
    }

    /// Whether whole sectors hold the content for byte `offset`.
    ///
    /// Each sector is generated again, in the nearest cache, and compared as a whole. Both process several words at a
    /// time. A comparison word by word did not, and took seven times as long as generating the content.
    pub(super) fn intact(self, buffer: &[u8], mut offset: u64, generation: u16) -> bool {
        let (sectors, rest) = buffer.as_chunks::<SECTOR>();
        let mut expected = [0; SECTOR];
        let mut intact = rest.is_empty();
        for sector in sectors {
            self.fill_sector(&mut expected, self.seal(offset, generation));
            intact &= *sector == expected;
            offset = offset.wrapping_add(SECTOR_BYTES);
        }
        intact
    }

    /// Whether a sector holds the content for `offset`, except for a few wrong words.
    pub(super) fn nearly(self, sector: &[u8; SECTOR], offset: u64, generation: u16) -> bool {
        self.wrong(sector, self.seal(offset, generation)) <= TOLERATED
    }

    /// The origin of a sector; `None` if it is not of this check.
    pub(super) fn origin(self, sector: &[u8; SECTOR]) -> Option<Origin> {
        let first = word(sector, 0);
        (self.wrong(sector, first) <= TOLERATED).then(|| self.open(first))
    }

    fn wrong(self, sector: &[u8; SECTOR], first: u64) -> usize {
        let later = (1..WORDS).filter(|index| word(sector, *index) != self.word(first, *index)).count();
        later + usize::from(word(sector, 0) != first)
    }
}

/// The inverse of [`mix`], step by step: the factors are the inverses of its factors modulo 2^64.
fn unmix(value: u64) -> u64 {
    let unshift = |value: u64, by: u32| {
        let mut found = value;
        for _ in 0..64 / by {
            found = value ^ (found >> by);
        }
        found
    };
    let z = unshift(value, 31).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let z = unshift(z, 27).wrapping_mul(0x96de_1b17_3f11_9089);
    unshift(z, 30).wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u64) -> Key {
        Key::new(Salt::known(seed))
    }

    fn sector(seed: u64, offset: u64, generation: u16) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        key(seed).fill(&mut sector, offset, generation);
        sector
    }

    #[test]
    fn the_permutation_is_undone() {
        for value in [0, 1, u64::MAX, 0x1234_5678_9abc_def0, 1 << 63] {
            assert_eq!(unmix(mix(value)), value);
        }
    }

    #[test]
    fn a_sector_tells_its_place_its_generation_and_its_check() {
        let data = sector(1, 77 << 20, 3);
        assert_eq!(key(1).origin(&data), Some(Origin { offset: 77 << 20, generation: 3 }));
        assert_eq!(key(2).origin(&data), None, "of another check");
        assert_eq!(key(1).origin(&[0; SECTOR]), None);
        assert!(key(1).intact(&data, 77 << 20, 3));
        assert!(!key(1).intact(&data, 77 << 20, 2) && !key(1).intact(&data, 76 << 20, 3));
    }

    #[test]
    fn one_bit_anywhere_is_seen_and_two_wrong_words_are_tolerated() {
        let key = key(9);
        let mut data = sector(9, 4096, 0);
        for bit in 0..data.len() * 8 {
            data[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.intact(&data, 4096, 0) && key.nearly(&data, 4096, 0), "bit {bit}");
            data[bit / 8] ^= 1 << (bit % 8);
        }
        for word in [5, 20, 63] {
            assert!(key.nearly(&data, 4096, 0));
            data[word * 8] ^= 1;
        }
        assert!(!key.nearly(&data, 4096, 0));
    }

    /// A controller that compresses or deduplicates gains nothing: no two words in a MiB are equal, and byte
    /// frequencies are those of noise.
    #[test]
    fn content_is_incompressible_and_unique() {
        let mut data = vec![0; 1 << 20];
        key(5).fill(&mut data, 3 << 30, 0);
        let words: std::collections::HashSet<&[u8]> = data.chunks(8).collect();
        assert_eq!(words.len(), data.len() / 8);
        let mut counts = [0u32; 256];
        data.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let expected = data.len() as f64 / 256.0;
        let chi: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6.
        assert!((150.0..400.0).contains(&chi), "{chi}");
        let ones: u32 = data.iter().map(|byte| byte.count_ones()).sum();
        assert!(ones.abs_diff(4 << 20) < 12_000, "{ones}");
    }
}
