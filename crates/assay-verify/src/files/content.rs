//! What a check writes to each place, and how it classifies what it reads.

use std::collections::BTreeMap;

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use assay_engine::mix;
use serde::{Deserialize, Serialize};

use crate::probe::Salt;

/// Places are written again in pieces of this size: above 32 KiB, so that a cache for long writes takes
/// them, and small enough for about a thousand of them in 64 MiB.
pub(crate) const PIECE: u64 = 64 << 10;
const SECTOR: usize = SECTOR_BYTES as usize;

/// Format of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// Only of this check: salted, so that no earlier check, no cache and no compression can answer for the medium.
    #[default]
    Salted,
    /// The format of f3 and H2testw, which they read too.
    F3,
}

/// What a check writes to each place, as it generates and compares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    format: FileFormat,
    salt: Salt,
    /// Starts of pieces that were written again, with their generation.
    rewritten: BTreeMap<u64, u16>,
}

/// Classification of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeenContent {
    /// What was written for this place.
    Good,
    /// The same, except for a few bits.
    Changed,
    /// What was written for this other byte offset.
    Overwritten(u64),
    /// An earlier write of this check: a later write was dropped.
    Stale,
    /// Something else.
    Corrupted,
}

impl SeenContent {
    pub(crate) fn class(self) -> SectorClass {
        match self {
            Self::Good => SectorClass::Good,
            Self::Changed => SectorClass::Changed,
            Self::Overwritten(_) => SectorClass::Overwritten,
            Self::Stale | Self::Corrupted => SectorClass::Corrupted,
        }
    }
}

impl Content {
    /// Content of a check with this salt.
    #[must_use]
    pub fn new(format: FileFormat, salt: Salt) -> Self {
        Self { format, salt, rewritten: BTreeMap::new() }
    }

    /// Content of files of f3 or H2testw.
    pub(crate) fn f3() -> Self {
        Self::new(FileFormat::F3, Salt::known(0))
    }

    pub(crate) fn format(&self) -> FileFormat {
        self.format
    }

    pub(crate) fn salt(&self) -> Salt {
        self.salt
    }

    /// Whether the content can come neither from an earlier check nor from a program of the medium.
    pub(crate) fn is_unique(&self) -> bool {
        self.format == FileFormat::Salted
    }

    /// How often pieces were written again, at most.
    pub(crate) fn generations(&self) -> u16 {
        self.rewritten.values().copied().max().unwrap_or(0).min(u16::MAX - 1)
    }

    /// Sets the salted content of a further generation for the piece that begins at `start`.
    pub(crate) fn rewrite(&mut self, start: u64, generation: u16) {
        self.rewritten.insert(start, generation);
    }

    /// Resets everything to the first content.
    pub(crate) fn undo_rewriting(&mut self) {
        self.rewritten.clear();
    }

    /// The generation of the piece that contains a byte; `None` if it was not written again.
    fn generation(&self, offset: u64) -> Option<u16> {
        self.rewritten.get(&(offset / PIECE * PIECE)).copied()
    }

    /// Calls `work` for each part of the bytes from `offset` that has one generation.
    fn parts(&self, offset: u64, bytes: u64, mut work: impl FnMut(usize, usize, Option<u16>)) {
        let end = offset + bytes;
        if self.rewritten.range(offset / PIECE * PIECE..end).next().is_none() {
            return work(0, bytes as usize, None);
        }
        let mut at = offset;
        while at < end {
            let next = ((at / PIECE + 1) * PIECE).min(end);
            work((at - offset) as usize, (next - offset) as usize, self.generation(at));
            at = next;
        }
    }

    /// Fills whole sectors with the content for byte `offset`.
    pub fn fill(&self, buffer: &mut [u8], offset: u64) {
        let key = Key::new(self.salt);
        self.parts(offset, buffer.len() as u64, |from, to, generation| {
            let (part, at) = (&mut buffer[from..to], offset + from as u64);
            match (self.format, generation) {
                (FileFormat::F3, None) => fill(part, at),
                (_, generation) => key.fill(part, at, generation.unwrap_or(0)),
            }
        });
    }

    /// Whether whole sectors hold the content for byte `offset`.
    #[must_use]
    pub fn intact(&self, data: &[u8], offset: u64) -> bool {
        let (key, mut is_intact) = (Key::new(self.salt), true);
        self.parts(offset, data.len() as u64, |from, to, generation| {
            let (part, at) = (&data[from..to], offset + from as u64);
            is_intact &= match (self.format, generation) {
                (FileFormat::F3, None) => intact(part, at),
                (_, generation) => key.intact(part, at, generation.unwrap_or(0)),
            };
        });
        is_intact
    }

    /// The byte offset that a salted sector of this check was written for.
    pub(crate) fn belongs(&self, sector: &[u8]) -> Option<u64> {
        let sector = sector.first_chunk::<SECTOR>()?;
        Key::new(self.salt).origin(sector).map(|origin| origin.offset)
    }

    /// Classifies a sector for byte `offset`. Less than a whole sector is corrupted.
    pub(crate) fn classify(&self, sector: &[u8], offset: u64) -> SeenContent {
        let Some(sector) = sector.first_chunk::<SECTOR>() else { return SeenContent::Corrupted };
        let (key, generation) = (Key::new(self.salt), self.generation(offset));
        let salted = match (self.format, generation) {
            (FileFormat::F3, None) => None,
            (_, generation) => Some(generation.unwrap_or(0)),
        };
        if let Some(generation) = salted {
            if key.intact(sector, offset, generation) {
                return SeenContent::Good;
            }
            if key.nearly(sector, offset, generation) {
                return SeenContent::Changed;
            }
        }
        match key.origin(sector) {
            Some(origin) if origin.offset == offset => return SeenContent::Stale,
            Some(origin) => return SeenContent::Overwritten(origin.offset),
            None if self.format == FileFormat::Salted => return SeenContent::Corrupted,
            None => {}
        }
        match (classify(sector, offset), salted) {
            ((SectorClass::Overwritten, Some(holds)), _) => SeenContent::Overwritten(holds),
            ((SectorClass::Good | SectorClass::Changed, _), Some(_)) => SeenContent::Stale,
            ((SectorClass::Good, _), None) => SeenContent::Good,
            ((SectorClass::Changed, _), None) => SeenContent::Changed,
            _ => SeenContent::Corrupted,
        }
    }
}

// Sectors that only this check could have written, each for one place.
//
// A sector of 512 bytes is 64 words of 64 bits, little-endian. The first word is the number of the sector and its
// generation (how often this place was written), mixed with the salt of the check by a permutation. So the check can
// read from it where a misplaced sector belongs. Each further word is the first word plus a number for its position,
// mixed with the salt, after two steps in the manner of xorshift (Marsaglia 2003). That takes only additions and
// shifts, which processors do on several words at once, so it costs about as much as the sequence of f3. It is also a
// permutation, so no two of these words in a sector are equal. So the content can be neither compressed, nor
// deduplicated, nor known before the check.

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

/// SectorOrigin of an intact sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SectorOrigin {
    /// Byte offset that it was written for.
    pub(super) offset: u64,
    /// How often that place was written before.
    pub(super) generation: u16,
}

impl Key {
    pub(super) fn new(salt: Salt) -> Self {
        let [first, second] = salt.halves();
        Self { first, second, folded: mix(first ^ mix(second)) }
    }

    /// First word of a sector.
    #[inline]
    fn seal(self, offset: u64, generation: u16) -> u64 {
        let number = ((offset / SECTOR_BYTES) % SECTORS) | (u64::from(generation) << 48);
        mix(mix(number ^ self.first) ^ self.second)
    }

    /// Decodes the first word of a sector of this check.
    fn open(self, word: u64) -> SectorOrigin {
        let number = unmix(unmix(word) ^ self.second) ^ self.first;
        SectorOrigin { offset: number % SECTORS * SECTOR_BYTES, generation: (number >> 48) as u16 }
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
    pub(super) fn origin(self, sector: &[u8; SECTOR]) -> Option<SectorOrigin> {
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

// The format of H2testw and f3: every sector of 512 bytes tells where it belongs.
//
// File `N.h2w` holds the bytes from (N-1) GiB on. A sector is 64 words of 64 bits, little-endian:
// the first is its byte offset in the whole, each later one the one before times 4294967311 plus
// 17, modulo 2^64 (format of H2testw 1.4 as f3 documents it; tested against f3's files).

/// Size of every file but the last in bytes.
pub const FILE_BYTES: u64 = 1 << 30;

/// 2^32 + 15: the smallest prime above 2^32.
const FACTOR: u64 = 4_294_967_311;
const ADDEND: u64 = 17;
/// A sector with at most this many wrong words is "slightly changed" (f3read 8.0, seen from
/// outside: three wrong words are "corrupted").
const TOLERATED_F3: usize = 2;
/// Words computed side by side: enough to hide the latency of a multiplication (3 to 5 cycles).
const LANES: usize = 8;

/// Factor and addend of `LANES` steps at once.
const LEAP: (u64, u64) = {
    let (mut factor, mut addend, mut step) = (1u64, 0u64, 0);
    while step < LANES {
        factor = factor.wrapping_mul(FACTOR);
        addend = addend.wrapping_mul(FACTOR).wrapping_add(ADDEND);
        step += 1;
    }
    (factor, addend)
};

#[inline]
fn next(word: u64) -> u64 {
    word.wrapping_mul(FACTOR).wrapping_add(ADDEND)
}

/// A word of a sector, which has 64 of them.
#[inline]
pub(super) fn word(sector: &[u8; SECTOR], index: usize) -> u64 {
    let at = index * 8;
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// Fills whole sectors with the content for byte `offset`.
pub fn fill(buffer: &mut [u8], mut offset: u64) {
    let (sectors, _) = buffer.as_chunks_mut::<SECTOR>();
    for sector in sectors {
        let mut lanes = [offset; LANES];
        for lane in 1..LANES {
            lanes[lane] = next(lanes[lane - 1]);
        }
        let (groups, _) = sector.as_chunks_mut::<{ LANES * 8 }>();
        for group in groups {
            let (words, _) = group.as_chunks_mut::<8>();
            for (word, lane) in words.iter_mut().zip(&mut lanes) {
                *word = lane.to_le_bytes();
                *lane = lane.wrapping_mul(LEAP.0).wrapping_add(LEAP.1);
            }
        }
        offset = offset.wrapping_add(SECTOR_BYTES);
    }
}

/// Whether whole sectors hold the content for byte `offset`.
///
/// Each word is compared with the successor of its neighbour as read, so that words can be computed in parallel; the
/// first one is compared with the offset.
#[must_use]
pub fn intact(buffer: &[u8], mut offset: u64) -> bool {
    let (sectors, rest) = buffer.as_chunks::<SECTOR>();
    let mut wrong = rest.len() as u64;
    for sector in sectors {
        wrong |= difference(sector, offset);
        offset = offset.wrapping_add(SECTOR_BYTES);
    }
    wrong == 0
}

#[inline]
fn difference(sector: &[u8; SECTOR], offset: u64) -> u64 {
    let mut wrong = word(sector, 0) ^ offset;
    for index in 1..WORDS {
        wrong |= next(word(sector, index - 1)) ^ word(sector, index);
    }
    wrong
}

/// Class of a sector for byte `offset`, and the offset that its data belong to, if that is another. Bytes beyond the
/// first 512 are ignored; fewer are corrupted.
#[must_use]
pub fn classify(sector: &[u8], offset: u64) -> (SectorClass, Option<u64>) {
    let Some(sector) = sector.first_chunk::<SECTOR>() else { return (SectorClass::Corrupted, None) };
    if difference(sector, offset) == 0 {
        return (SectorClass::Good, None);
    }
    let found = word(sector, 0);
    let (mut expected, mut wrong) = (found, 0);
    for index in 1..WORDS {
        expected = next(expected);
        wrong += usize::from(word(sector, index) != expected);
    }
    match (wrong <= TOLERATED_F3, found == offset) {
        (false, _) => (SectorClass::Corrupted, None),
        (true, true) => (SectorClass::Changed, None),
        (true, false) => (SectorClass::Overwritten, Some(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn sector(content: &Content, offset: u64) -> Vec<u8> {
        let mut data = vec![0; SECTOR];
        content.fill(&mut data, offset);
        data
    }

    #[test]
    fn every_class_is_told_from_the_others_in_both_formats() {
        for format in [FileFormat::Salted, FileFormat::F3] {
            let content = Content::new(format, Salt::known(3));
            let at = 7 * MIB;
            assert_eq!(content.classify(&sector(&content, at), at), SeenContent::Good);
            assert_eq!(content.classify(&sector(&content, 512), at), SeenContent::Overwritten(512));
            assert_eq!(content.classify(&[0; SECTOR], at), SeenContent::Corrupted);
            let mut flipped = sector(&content, at);
            flipped[300] ^= 8;
            assert_eq!(content.classify(&flipped, at), SeenContent::Changed);
        }
    }

    /// Content of an earlier check is not accepted as content of this one.
    #[test]
    fn content_of_another_check_is_lost_data() {
        let (one, other) =
            (Content::new(FileFormat::Salted, Salt::known(1)), Content::new(FileFormat::Salted, Salt::known(2)));
        assert_eq!(other.classify(&sector(&one, MIB), MIB), SeenContent::Corrupted);
        assert_eq!(other.classify(&sector(&Content::f3(), MIB), MIB), SeenContent::Corrupted);
    }

    #[test]
    fn a_piece_that_was_written_again_holds_the_new_content_alone() {
        for format in [FileFormat::Salted, FileFormat::F3] {
            let before = Content::new(format, Salt::known(3));
            let mut after = before.clone();
            after.rewrite(2 * PIECE, 1);
            let (mut old, mut new) = (vec![0; MIB as usize], vec![0; MIB as usize]);
            before.fill(&mut old, 0);
            after.fill(&mut new, 0);
            let piece = 2 * PIECE as usize..3 * PIECE as usize;
            assert!(old[..piece.start] == new[..piece.start] && old[piece.end..] == new[piece.end..]);
            assert!(after.intact(&new, 0) && !after.intact(&old, 0) && !before.intact(&new, 0));
            let at = 2 * PIECE + 512;
            assert_eq!(after.classify(&old[at as usize..], at), SeenContent::Stale, "{format:?}");
            assert!(after.intact(&new[at as usize..][..512], at), "within a piece");
            after.undo_rewriting();
            assert_eq!(
                after.classify(&new[at as usize..], at),
                SeenContent::Stale,
                "{format:?}: it was to be put back"
            );
            assert!(after.intact(&old, 0));
        }
    }

    fn key(seed: u64) -> Key {
        Key::new(Salt::known(seed))
    }

    fn salted_sector(seed: u64, offset: u64, generation: u16) -> [u8; SECTOR] {
        let mut salted_sector = [0; SECTOR];
        key(seed).fill(&mut salted_sector, offset, generation);
        salted_sector
    }

    #[test]
    fn the_permutation_is_undone() {
        for value in [0, 1, u64::MAX, 0x1234_5678_9abc_def0, 1 << 63] {
            assert_eq!(unmix(mix(value)), value);
        }
    }

    #[test]
    fn a_sector_tells_its_place_its_generation_and_its_check() {
        let data = salted_sector(1, 77 << 20, 3);
        assert_eq!(key(1).origin(&data), Some(SectorOrigin { offset: 77 << 20, generation: 3 }));
        assert_eq!(key(2).origin(&data), None, "of another check");
        assert_eq!(key(1).origin(&[0; SECTOR]), None);
        assert!(key(1).intact(&data, 77 << 20, 3));
        assert!(!key(1).intact(&data, 77 << 20, 2) && !key(1).intact(&data, 76 << 20, 3));
    }

    #[test]
    fn one_bit_anywhere_is_seen_and_two_wrong_words_are_tolerated() {
        let key = key(9);
        let mut data = salted_sector(9, 4096, 0);
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

    fn format_sector(offset: u64) -> [u8; SECTOR] {
        let mut format_sector = [0; SECTOR];
        fill(&mut format_sector, offset);
        format_sector
    }

    #[test]
    fn a_sector_is_the_recurrence_from_its_offset() {
        let data = format_sector(3 << 30);
        let mut expected = 3u64 << 30;
        for index in 0..WORDS {
            assert_eq!(word(&data, index), expected, "word {index}");
            expected = expected.wrapping_mul(4_294_967_311).wrapping_add(17);
        }
    }

    #[test]
    fn every_class_is_told_from_the_others() {
        let at = 7 * SECTOR_BYTES;
        assert_eq!(classify(&format_sector(at), at), (SectorClass::Good, None));
        assert_eq!(classify(&format_sector(512), at), (SectorClass::Overwritten, Some(512)));
        assert_eq!(classify(&[0; SECTOR], at), (SectorClass::Corrupted, None));
        for (wrong, class) in [(1, SectorClass::Changed), (2, SectorClass::Changed), (3, SectorClass::Corrupted)] {
            let mut data = format_sector(at);
            for word in 0..wrong {
                data[100 + word * 80] ^= 4;
            }
            assert_eq!(classify(&data, at), (class, None), "{wrong} wrong words");
        }
        let mut data = format_sector(at);
        data[1] ^= 1;
        assert_eq!(classify(&data, at).0, SectorClass::Corrupted, "a wrong offset word spoils all that follow");
    }

    #[test]
    fn one_bit_anywhere_is_seen() {
        let mut data = vec![0; 4 * SECTOR];
        fill(&mut data, 1 << 40);
        assert!(intact(&data, 1 << 40) && !intact(&data, 0) && !intact(&data[1..], 1 << 40));
        for bit in (0..data.len() * 8).step_by(37) {
            data[bit / 8] ^= 1 << (bit % 8);
            assert!(!intact(&data, 1 << 40), "bit {bit}");
            data[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
