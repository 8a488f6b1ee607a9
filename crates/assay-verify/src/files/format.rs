//! The format of H2testw and f3: every sector of 512 bytes tells where it belongs.
//!
//! File `N.h2w` holds the bytes from (N-1) GiB on. A sector is 64 words of 64 bits, little-endian:
//! the first is its byte offset in the whole, each later one the one before times 4294967311 plus
//! 17, modulo 2^64 (format of H2testw 1.4 as f3 documents it; tested against f3's files).

use assay_core::verification::{SECTOR_BYTES, SectorClass};

/// Size of every file but the last in bytes.
pub const FILE_BYTES: u64 = 1 << 30;

const SECTOR: usize = SECTOR_BYTES as usize;
const WORDS: usize = SECTOR / 8;
/// 2^32 + 15: the smallest prime above 2^32.
const FACTOR: u64 = 4_294_967_311;
const ADDEND: u64 = 17;
/// A sector with at most this many wrong words is "slightly changed" (f3read 8.0, seen from
/// outside: three wrong words are "corrupted").
const TOLERATED: usize = 2;
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
    match (wrong <= TOLERATED, found == offset) {
        (false, _) => (SectorClass::Corrupted, None),
        (true, true) => (SectorClass::Changed, None),
        (true, false) => (SectorClass::Overwritten, Some(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sector(offset: u64) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        fill(&mut sector, offset);
        sector
    }

    #[test]
    fn a_sector_is_the_recurrence_from_its_offset() {
        let data = sector(3 << 30);
        let mut expected = 3u64 << 30;
        for index in 0..WORDS {
            assert_eq!(word(&data, index), expected, "word {index}");
            expected = expected.wrapping_mul(4_294_967_311).wrapping_add(17);
        }
    }

    #[test]
    fn every_class_is_told_from_the_others() {
        let at = 7 * SECTOR_BYTES;
        assert_eq!(classify(&sector(at), at), (SectorClass::Good, None));
        assert_eq!(classify(&sector(512), at), (SectorClass::Overwritten, Some(512)));
        assert_eq!(classify(&[0; SECTOR], at), (SectorClass::Corrupted, None));
        for (wrong, class) in [(1, SectorClass::Changed), (2, SectorClass::Changed), (3, SectorClass::Corrupted)] {
            let mut data = sector(at);
            for word in 0..wrong {
                data[100 + word * 80] ^= 4;
            }
            assert_eq!(classify(&data, at), (class, None), "{wrong} wrong words");
        }
        let mut data = sector(at);
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
