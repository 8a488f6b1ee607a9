//! Initial content of a medium, before any test.

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;

/// The content left by the owner, the factory or an earlier test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Content that differs from sector to sector and cannot be compressed.
    Noise,
    /// Zeros: a new or a discarded medium.
    Zeros,
    /// 0xFF: erased flash.
    Ones,
    /// Blocks of another probe: salt, own place, generation, noise. One in eight states another place than its own, as
    /// an interrupted probe leaves them where two addresses share a cell.
    Stamps,
    /// The published sequence of f3 and H2testw over the whole medium.
    Sequence,
    /// One of all these patterns for each MiB.
    Mixture,
}

/// Initial content of a medium: a pattern up to an address, zeros behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitialContent {
    /// Content of the used part.
    pub pattern: Pattern,
    /// Length of the used part from the start, in bytes: whole sectors.
    pub used_bytes: u64,
}

impl InitialContent {
    /// A medium full of `pattern`.
    #[must_use]
    pub fn full_of(pattern: Pattern) -> Self {
        Self { pattern, used_bytes: u64::MAX / SECTOR_BYTES * SECTOR_BYTES }
    }
}

pub(super) const SECTOR: usize = SECTOR_BYTES as usize;
const REGION_SECTORS: u64 = (1 << 20) / SECTOR_BYTES;
const BLOCK_SECTORS: u64 = 4096 / SECTOR_BYTES;

/// The [`InitialContent`] of one medium.
#[derive(Debug, Clone)]
pub(super) struct Content {
    before: InitialContent,
    used_sectors: u64,
    seed: u64,
}

impl Content {
    pub(super) fn new(before: InitialContent, seed: u64) -> Self {
        Self { before, used_sectors: before.used_bytes / SECTOR_BYTES, seed: mix(seed) }
    }

    /// Fills whole sectors with the initial content from `sector` on.
    pub(super) fn fill(&self, sector: u64, into: &mut [u8]) {
        for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
            match self.pattern_at(sector) {
                Pattern::Zeros => part.fill(0),
                Pattern::Ones => part.fill(0xff),
                Pattern::Stamps => self.stamp(sector, part),
                Pattern::Sequence => sequence(sector, part),
                Pattern::Noise | Pattern::Mixture => noise(self.seed ^ sector, part),
            }
        }
    }

    fn pattern_at(&self, sector: u64) -> Pattern {
        if sector >= self.used_sectors {
            return Pattern::Zeros;
        }
        match self.before.pattern {
            Pattern::Mixture => match mix(self.seed ^ (sector / REGION_SECTORS)) % 8 {
                0 | 1 => Pattern::Zeros,
                2 => Pattern::Ones,
                3 | 4 => Pattern::Noise,
                5 | 6 => Pattern::Stamps,
                _ => Pattern::Sequence,
            },
            pattern => pattern,
        }
    }

    /// Used bytes of a medium of `total` bytes.
    pub(super) fn used_bytes(&self, total: u64) -> u64 {
        self.before.used_bytes.min(total)
    }

    /// Bytes of the used part that a compressing controller has to store: constant content and the published sequence
    /// cost nothing. `total` is the announced size.
    pub(super) fn incompressible_bytes(&self, total: u64) -> u64 {
        let used = self.used_bytes(total);
        let costs = |pattern| matches!(pattern, Pattern::Noise | Pattern::Stamps | Pattern::Mixture);
        if self.before.pattern != Pattern::Mixture {
            return if costs(self.before.pattern) { used } else { 0 };
        }
        let region = REGION_SECTORS * SECTOR_BYTES;
        let cost = |start: u64| if costs(self.pattern_at(start / SECTOR_BYTES)) { region.min(used - start) } else { 0 };
        (0..used.div_ceil(region)).map(|index| cost(index * region)).sum()
    }

    fn stamp(&self, sector: u64, into: &mut [u8]) {
        let block = sector / BLOCK_SECTORS;
        let drawn = mix(self.seed ^ !block);
        let place = if drawn.is_multiple_of(8) { sector ^ (BLOCK_SECTORS << (drawn >> 8 & 15)) } else { sector };
        noise(self.seed ^ sector.rotate_left(32), into);
        let words = [mix(self.seed), mix(!self.seed), place * SECTOR_BYTES, drawn >> 16 & 3];
        for (place, word) in into.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// Fills a sector with content that depends only on `key`; no two words are equal.
pub(super) fn noise(key: u64, into: &mut [u8]) {
    let base = mix(key);
    for (index, place) in (0u64..).zip(into.chunks_exact_mut(8)) {
        // No word depends on the one before, so the compiler can vectorise the loop.
        let word = base.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        place.copy_from_slice(&(word ^ (word >> 29)).to_le_bytes());
    }
}

/// The next word of the sequence that f3 and H2testw fill files with. The first word of a sector is its byte offset,
/// and each further one is computed from the one before (f3's documentation, "Data format").
pub(super) fn next_of_sequence(word: u64) -> u64 {
    word.wrapping_mul(4_294_967_311).wrapping_add(17)
}

fn sequence(sector: u64, into: &mut [u8]) {
    let mut word = sector * SECTOR_BYTES;
    for place in into.chunks_exact_mut(8) {
        place.copy_from_slice(&word.to_le_bytes());
        word = next_of_sequence(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn sector(before: InitialContent, seed: u64, sector: u64) -> Vec<u8> {
        let mut into = vec![1; SECTOR];
        Content::new(before, seed).fill(sector, &mut into);
        into
    }

    #[test]
    fn content_depends_on_place_and_seed_and_nothing_else() {
        for pattern in [Pattern::Noise, Pattern::Stamps, Pattern::Sequence, Pattern::Mixture] {
            let full = InitialContent::full_of(pattern);
            assert_eq!(sector(full, 1, 77), sector(full, 1, 77), "{pattern:?}");
            let (mut two, content) = (vec![0; 2 * SECTOR], Content::new(full, 1));
            content.fill(76, &mut two);
            assert_eq!(two[SECTOR..], sector(full, 1, 77), "{pattern:?}");
        }
        let noise = InitialContent::full_of(Pattern::Noise);
        assert_ne!(sector(noise, 1, 77), sector(noise, 1, 78));
        assert_ne!(sector(noise, 1, 77), sector(noise, 2, 77));
        assert_eq!(sector(InitialContent::full_of(Pattern::Ones), 1, 77), [0xff; SECTOR]);
    }

    #[test]
    fn behind_what_is_used_are_zeros() {
        let before = InitialContent { pattern: Pattern::Noise, used_bytes: 10 * SECTOR_BYTES };
        assert_ne!(sector(before, 1, 9), [0; SECTOR]);
        assert_eq!(sector(before, 1, 10), [0; SECTOR]);
    }

    #[test]
    fn stamps_say_their_place_but_for_some() {
        let stamps = InitialContent::full_of(Pattern::Stamps);
        let place = |at: u64| u64::from_le_bytes(sector(stamps, 1, at)[16..24].try_into().unwrap());
        let own = (0..8000).filter(|at| place(*at) == at * SECTOR_BYTES).count();
        assert!((6600..7400).contains(&own), "{own}");
        assert_eq!(sector(stamps, 1, 5)[..16], sector(stamps, 1, 5000)[..16]);
        assert_ne!(sector(stamps, 1, 5)[..16], sector(stamps, 2, 5)[..16]);
    }

    #[test]
    fn what_cannot_be_compressed_is_counted() {
        let bytes = |pattern, used_bytes| {
            Content::new(InitialContent { pattern, used_bytes }, 1).incompressible_bytes(64 * MIB)
        };
        assert_eq!((bytes(Pattern::Noise, u64::MAX / 512 * 512), bytes(Pattern::Noise, MIB)), (64 * MIB, MIB));
        assert_eq!((bytes(Pattern::Zeros, MIB), bytes(Pattern::Sequence, MIB)), (0, 0));
        let mixed = bytes(Pattern::Mixture, 64 * MIB);
        assert!((20 * MIB..44 * MIB).contains(&mixed), "{mixed}");
    }
}
