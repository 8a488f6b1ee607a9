//! Memory cells, sparse: only written data take memory.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::content::{Content, SECTOR};

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
    use super::super::content::{InitialContent, Pattern};
    use super::*;

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
