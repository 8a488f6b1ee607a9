//! The stamp of a sector: what it holds tells the test, the cycle and the address for which it was written.

use assay_core::endurance::FailureKind;

/// Bytes of a sector.
pub const SECTOR: usize = 512;
const WORDS: usize = SECTOR / 8;
/// Places of the two headers, and of the words that hide them.
const HEADERS: [(usize, usize); 2] = [(0, 3), (61, 58)];
/// Words of content.
const CONTENT: std::ops::Range<usize> = 3..61;
/// A sector belongs to a stamp if at most this many of its 4,096 bits differ. Sectors of two stamps differ in 2,048 ± 32
/// (standard deviation), so that another stamp is never taken for this one.
const FLIPS: u32 = 1024;
/// Bits of a word that may differ where it is worn. One that something else wrote differs in 32 ± 4 (standard deviation).
const WORN: u32 = 8;
/// Bits that may differ in a sector of zeros or ones: one in a hundred.
const STRAY: u32 = 40;
/// Earlier cycles that are tried where both headers are damaged.
const EARLIER: u64 = 4;

/// The step and the multipliers of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
/// generators").
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A hash of two values, for orders that each program has to find alike.
#[must_use]
pub fn mixed(one: u64, other: u64) -> u64 {
    mix(mix(one) ^ other)
}

/// What a sector is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Random number of the test: the salt by which neither old content nor another unit passes.
    pub unit: u64,
    /// The cycle, from 1 on.
    pub round: u64,
    /// Number of the sector.
    pub address: u64,
}

impl Stamp {
    /// The unit of other content that is written to a page to see whether it keeps any.
    pub(crate) fn tried(unit: u64) -> u64 {
        mixed(unit, 1)
    }

    fn seed(self) -> u64 {
        mix(mixed(self.unit, self.round) ^ self.address)
    }

    fn words(self) -> [u64; WORDS] {
        let seed = self.seed();
        let mut words = [0; WORDS];
        for (word, number) in words.iter_mut().zip(0..).take(CONTENT.end).skip(CONTENT.start) {
            *word = mix(seed.wrapping_add(STEP.wrapping_mul(number)));
        }
        for (header, hides) in HEADERS {
            for (field, value) in [self.unit, self.round, self.address].into_iter().enumerate() {
                words[header + field] = value ^ words[hides + field];
            }
        }
        words
    }

    /// Writes the content of the sector.
    pub fn fill(self, sector: &mut [u8]) {
        for (bytes, word) in sector.chunks_exact_mut(8).zip(self.words()) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// What the sector holds in place of this stamp; `None` where it holds it.
    #[must_use]
    pub fn failure(self, sector: &[u8]) -> Option<FailureKind> {
        let (found, wanted) = (words_of(sector), self.words());
        if found == wanted {
            return None;
        }
        Some(self.told(&found, &wanted))
    }

    fn told(self, found: &[u64; WORDS], wanted: &[u64; WORDS]) -> FailureKind {
        let ones: u32 = found.iter().map(|word| word.count_ones()).sum();
        if ones <= STRAY {
            return FailureKind::Zeros;
        }
        if ones >= SECTOR as u32 * 8 - STRAY {
            return FailureKind::Ones;
        }
        if distance(found, wanted) <= FLIPS {
            return FailureKind::BitFlips;
        }
        match belongs(found) {
            // The content of a look is there: the write after it was lost.
            Some(stamp) if stamp.unit == Self::tried(self.unit) && stamp.address == self.address => {
                FailureKind::StaleRound
            }
            Some(stamp) if stamp.unit != self.unit => FailureKind::OtherDevice,
            Some(stamp) if stamp.address != self.address => FailureKind::OtherAddress,
            Some(_) => FailureKind::StaleRound,
            None if self.earlier().any(|stamp| distance(found, &stamp.words()) <= FLIPS) => FailureKind::StaleRound,
            None => FailureKind::Garbage,
        }
    }

    fn earlier(self) -> impl Iterator<Item = Self> {
        (1..=EARLIER).filter_map(move |back| {
            let round = self.round.checked_sub(back).filter(|round| *round > 0)?;
            Some(Self { round, ..self })
        })
    }

    /// The stamps that its two headers name, before and behind the content, whatever else the sector holds: of a sector
    /// that was written in part they differ.
    #[must_use]
    pub fn headers(sector: &[u8]) -> [Self; 2] {
        let found = words_of(sector);
        HEADERS.map(|header| named(&found, header))
    }

    /// The stamp whose content the sector holds; `None` if it holds none.
    #[must_use]
    pub fn read(sector: &[u8]) -> Option<Self> {
        belongs(&words_of(sector))
    }
}

/// Makes zeros of what a stamp wrote to a sector. A tool that writes a part of a sector, as the table of an MBR behind its code,
/// leaves the other words as they were: then its own words stay.
pub(crate) fn without_stamp(sector: &mut [u8]) {
    let found = words_of(sector);
    let Some(stamp) = belongs(&found) else { return };
    let wanted = stamp.words();
    let in_part = found.iter().zip(&wanted).filter(|(found, wanted)| found == wanted).count() >= WORDS / 2;
    for ((bytes, found), wanted) in sector.chunks_exact_mut(8).zip(found).zip(wanted) {
        if !in_part || (found ^ wanted).count_ones() <= WORN {
            bytes.fill(0);
        }
    }
}

fn belongs(found: &[u64; WORDS]) -> Option<Stamp> {
    HEADERS.into_iter().map(|header| named(found, header)).find(|stamp| distance(found, &stamp.words()) <= FLIPS)
}

/// What a header says.
fn named(found: &[u64; WORDS], (header, hides): (usize, usize)) -> Stamp {
    let field = |field: usize| found[header + field] ^ found[hides + field];
    Stamp { unit: field(0), round: field(1), address: field(2) }
}

fn words_of(sector: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(sector.chunks_exact(8)) {
        *word = bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    }
    words
}

fn distance(one: &[u64; WORDS], other: &[u64; WORDS]) -> u32 {
    one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Stamp = Stamp { unit: 0xfeed, round: 7, address: 123_456 };

    fn sector(stamp: Stamp) -> Vec<u8> {
        let mut bytes = vec![0; SECTOR];
        stamp.fill(&mut bytes);
        bytes
    }

    /// Flips this many bits, spread by a fixed step.
    fn flipped(mut bytes: Vec<u8>, bits: usize) -> Vec<u8> {
        for bit in (0..bits).map(|number| number * 1021 % (SECTOR * 8)) {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes
    }

    #[test]
    fn each_kind_is_told() {
        assert_eq!(HERE.failure(&sector(HERE)), None);
        let cases = [
            (vec![0; SECTOR], FailureKind::Zeros),
            (vec![0xff; SECTOR], FailureKind::Ones),
            (flipped(vec![0; SECTOR], 40), FailureKind::Zeros),
            (flipped(vec![0; SECTOR], 41), FailureKind::Garbage),
            (sector(Stamp { round: 6, ..HERE }), FailureKind::StaleRound),
            (sector(Stamp { round: 1, ..HERE }), FailureKind::StaleRound),
            (sector(Stamp { address: 9, ..HERE }), FailureKind::OtherAddress),
            (sector(Stamp { address: 9, round: 6, ..HERE }), FailureKind::OtherAddress),
            (sector(Stamp { unit: 1, ..HERE }), FailureKind::OtherDevice),
            (flipped(sector(HERE), 1), FailureKind::BitFlips),
            (flipped(sector(HERE), 1000), FailureKind::BitFlips),
            (flipped(sector(HERE), 1500), FailureKind::Garbage),
            (flipped(sector(Stamp { round: 5, ..HERE }), 400), FailureKind::StaleRound),
            (vec![0x5a; SECTOR], FailureKind::Garbage),
        ];
        for (bytes, kind) in cases {
            assert_eq!(HERE.failure(&bytes), Some(kind));
        }
    }

    #[test]
    fn the_content_is_that_of_the_document() {
        // Computed from docs/endurance.md alone, in another language.
        let words = words_of(&sector(Stamp { unit: 1, round: 2, address: 3 }));
        assert_eq!([words[0], words[3], words[63]], DOCUMENTED);
    }

    const DOCUMENTED: [u64; 3] = [0x814662edbdef0c18, 0x814662edbdef0c19, 0xe0c8b5677f70011f];

    #[test]
    fn a_stamp_is_read_back_with_one_header_destroyed() {
        let mut bytes = sector(HERE);
        bytes[..24].fill(0);
        assert_eq!(Stamp::read(&bytes), Some(HERE));
        assert_eq!(Stamp::read(&[0x5a; SECTOR]), None);
    }
}
