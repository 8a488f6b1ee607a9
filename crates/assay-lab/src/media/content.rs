//! Initial content of a medium, before any test.

use std::cell::RefCell;
use std::collections::HashMap;

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;
use foldhash::fast::FixedState;

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

// Memory cells, sparse: only written data take memory.

/// Sectors of a page, the unit of allocation.
pub(super) const PAGE_SECTORS: u64 = 8;
/// Bytes of a page.
pub(super) const PAGE: usize = PAGE_SECTORS as usize * SECTOR;
/// Pages in a chunk: memory is allocated in chunks.
const CHUNK: usize = 256;
/// Chunks that a thread keeps for its next medium: 256 MiB.
const KEPT: usize = 256;

/// Content of all cells. Cells that were never written hold the initial content.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    before: Content,
    /// Maps the number of a page to its place in the chunks.
    index: HashMap<u64, u32, FixedState>,
    chunks: Vec<Chunk>,
}

impl Cells {
    pub(super) fn new(before: Content) -> Self {
        Self { before, index: HashMap::default(), chunks: Vec::new() }
    }

    pub(super) fn before(&self) -> &Content {
        &self.before
    }

    /// Reads whole sectors from `sector` on.
    pub(super) fn read(&self, sector: u64, into: &mut [u8]) {
        for piece in pieces(sector, into.len()) {
            let part = &mut into[piece.from..piece.to];
            match self.index.get(&piece.page) {
                Some(place) => part.copy_from_slice(&self.stored(*place)[piece.inside..][..part.len()]),
                None => self.before.fill(sector + (piece.from / SECTOR) as u64, part),
            }
        }
    }

    /// Writes whole sectors from `sector` on.
    pub(super) fn write(&mut self, sector: u64, data: &[u8]) {
        for piece in pieces(sector, data.len()) {
            let part = &data[piece.from..piece.to];
            let page = self.page_mut(piece.page, part.len() == PAGE);
            page[piece.inside..piece.inside + part.len()].copy_from_slice(part);
        }
    }

    /// Changes bits of one byte of a sector.
    pub(super) fn flip(&mut self, sector: u64, byte: usize, bits: u8) {
        let inside = (sector % PAGE_SECTORS) as usize * SECTOR + byte;
        self.page_mut(sector / PAGE_SECTORS, false)[inside] ^= bits;
    }

    /// Numbers of the pages that were ever written.
    pub(super) fn pages(&self) -> impl Iterator<Item = u64> {
        self.index.keys().copied()
    }

    fn stored(&self, place: u32) -> &[u8] {
        let place = place as usize;
        &self.chunks[place / CHUNK].0[place % CHUNK * PAGE..][..PAGE]
    }

    /// The content of a page, for changes; if `overwritten`, its old content is not needed.
    fn page_mut(&mut self, page: u64, overwritten: bool) -> &mut [u8] {
        let new = self.index.len() as u32;
        let place = *self.index.entry(page).or_insert(new);
        let (chunk, start) = (place as usize / CHUNK, place as usize % CHUNK * PAGE);
        if chunk == self.chunks.len() {
            self.chunks.push(Chunk::new());
        }
        let content = &mut self.chunks[chunk].0[start..start + PAGE];
        if place == new && !overwritten {
            self.before.fill(page * PAGE_SECTORS, content);
        }
        content
    }
}

/// Memory of many pages, with undefined content. The next medium of the thread reuses it. Otherwise page faults would
/// take most of the time of a campaign with thousands of media.
#[derive(Debug)]
struct Chunk(Box<[u8]>);

thread_local! {
    static UNUSED: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

impl Chunk {
    fn new() -> Self {
        let used = UNUSED.with_borrow_mut(Vec::pop);
        Self(used.unwrap_or_else(|| vec![0; CHUNK * PAGE].into_boxed_slice()))
    }
}

impl Clone for Chunk {
    fn clone(&self) -> Self {
        let mut chunk = Self::new();
        chunk.0.copy_from_slice(&self.0);
        chunk
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.0);
        // At the end of a thread there is no next medium.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() < KEPT {
                unused.push(memory);
            }
        });
    }
}

/// Part of an operation within one page.
pub(super) struct Piece {
    /// Number of the page.
    pub(super) page: u64,
    /// First byte within the page.
    pub(super) inside: usize,
    /// First byte of the operation.
    pub(super) from: usize,
    /// Byte of the operation at which it ends.
    pub(super) to: usize,
}

/// The pages that an operation of `bytes` from `sector` on touches.
pub(super) fn pieces(sector: u64, bytes: usize) -> impl Iterator<Item = Piece> {
    pieces_of(PAGE_SECTORS, sector, bytes)
}

/// The same for pages of another size.
pub(super) fn pieces_of(page_sectors: u64, sector: u64, bytes: usize) -> impl Iterator<Item = Piece> {
    let mut from = 0;
    std::iter::from_fn(move || {
        if from >= bytes {
            return None;
        }
        let at = sector + (from / SECTOR) as u64;
        let inside = (at % page_sectors) as usize * SECTOR;
        let to = (from + page_sectors as usize * SECTOR - inside).min(bytes);
        let piece = Piece { page: at / page_sectors, inside, from, to };
        from = to;
        Some(piece)
    })
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

    fn cells() -> Cells {
        Cells::new(Content::new(InitialContent::full_of(Pattern::Noise), 7))
    }

    fn read(cells: &Cells, sector: u64, sectors: usize) -> Vec<u8> {
        let mut into = vec![0; sectors * SECTOR];
        cells.read(sector, &mut into);
        into
    }

    #[test]
    fn what_is_written_is_read_and_its_neighbours_stay() {
        let mut cells = cells();
        let before = read(&cells, 0, 40);
        cells.write(5, &[9; 17 * SECTOR]);
        assert_eq!(read(&cells, 5, 17), [9; 17 * SECTOR]);
        assert_eq!(read(&cells, 0, 5), before[..5 * SECTOR]);
        assert_eq!(read(&cells, 22, 18), before[22 * SECTOR..]);
        let mut pages: Vec<u64> = cells.pages().collect();
        pages.sort_unstable();
        assert_eq!(pages, [0, 1, 2]);
    }

    #[test]
    fn one_bit_is_flipped_also_where_nothing_was_written() {
        let mut cells = cells();
        let mut expected = read(&cells, 3, 1);
        cells.flip(3, 100, 0b100);
        expected[100] ^= 0b100;
        assert_eq!(read(&cells, 3, 1), expected);
    }

    #[test]
    fn the_ends_of_four_tebibytes_take_two_pages() {
        let mut cells = cells();
        let last = (4u64 << 40) / 512 - 1;
        cells.write(0, &[1; SECTOR]);
        cells.write(last, &[2; SECTOR]);
        assert_eq!((read(&cells, 0, 1)[0], read(&cells, last, 1)[511]), (1, 2));
        assert_eq!((cells.pages().count(), cells.chunks.len()), (2, 1));
    }
}
