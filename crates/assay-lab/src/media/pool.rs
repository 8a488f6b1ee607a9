//! Thin provisioning: memory that is allocated on writing, and is less than announced.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use assay_core::verification::SECTOR_BYTES;
use assay_verify::probe::ProbeFault;
use foldhash::fast::FixedState;

use super::content::{Cells, Content, PAGE, PAGE_SECTORS, Piece, SECTOR, next_of_sequence, pieces_of};

/// A pool smaller than the announced size: any place holds data until the pool is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// Its size in bytes. The initial content of the medium takes a part of it.
    pub bytes: u64,
    /// What takes memory.
    pub accounting: Accounting,
    /// The outcome of a write without free memory.
    pub when_full: WhenFull,
}

/// What takes memory in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accounting {
    /// Every unit that was ever written, also if the written content was already there.
    Units {
        /// Size of a unit in bytes, a multiple of 4 KiB.
        unit_bytes: u64,
        /// Whether zeros written to an unallocated unit allocate nothing.
        zeros_are_free: bool,
    },
    /// Pages of 4 KiB that compression and deduplication do not remove: neither constant, nor equal to
    /// another page, nor the published sequence of f3 and H2testw.
    Compressed,
}

/// The outcome of a write without free memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It is dropped silently.
    Drops,
    /// It fails.
    Errs,
}

impl Pool {
    /// Checks the parameters; `before` is the initial content of the medium of `announced_bytes`.
    pub(super) fn check(&self, before: &Content, announced_bytes: u64) -> Result<(), &'static str> {
        match self.accounting {
            Accounting::Units { unit_bytes, .. } if unit_bytes == 0 || !unit_bytes.is_multiple_of(PAGE as u64) => {
                Err("a unit of a pool is a multiple of 4 KiB")
            }
            _ if self.used_before(before, announced_bytes) > self.bytes => {
                Err("what a medium held before fits into its pool")
            }
            Accounting::Units { .. } | Accounting::Compressed => Ok(()),
        }
    }

    /// Bytes that the initial content of the medium takes.
    pub(super) fn used_before(&self, before: &Content, announced_bytes: u64) -> u64 {
        match self.accounting {
            Accounting::Units { unit_bytes, .. } => before.used_bytes(announced_bytes).next_multiple_of(unit_bytes),
            Accounting::Compressed => before.incompressible_bytes(announced_bytes),
        }
    }
}

/// State of a [`Pool`].
#[derive(Debug, Clone)]
pub(super) struct Pooled {
    pool: Pool,
    used_bytes: u64,
    /// Whether a write ever found no memory.
    exhausted: bool,
    contents: Contents,
}

#[derive(Debug, Clone)]
enum Contents {
    Units {
        sectors: u64,
        zeros_are_free: bool,
        /// Units below this are allocated from the start.
        used_before: u64,
        allocated: HashSet<u64, FixedState>,
    },
    Compressed(Pages),
}

/// Pages that a compressing controller has stored.
#[derive(Debug, Clone, Default)]
struct Pages {
    /// Hash of each page that was written; `None` if it takes no memory.
    stored: HashMap<u64, Option<u64>, FixedState>,
    /// Number of pages with this hash.
    equal: HashMap<u64, u32, FixedState>,
}

impl Pooled {
    /// A pool with the initial content `before`.
    pub(super) fn new(pool: Pool, before: &Content, announced_bytes: u64) -> Self {
        let used_bytes = pool.used_before(before, announced_bytes);
        let contents = match pool.accounting {
            Accounting::Units { unit_bytes, zeros_are_free } => Contents::Units {
                sectors: unit_bytes / SECTOR_BYTES,
                zeros_are_free,
                used_before: used_bytes / unit_bytes,
                allocated: HashSet::default(),
            },
            Accounting::Compressed => Contents::Compressed(Pages::default()),
        };
        Self { pool, used_bytes, exhausted: false, contents }
    }

    /// Whether a write ever found no memory.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Writes as much as memory can be allocated for.
    ///
    /// # Errors
    /// If there is no memory and the pool returns errors; the data before that place were written.
    pub(super) fn write(&mut self, cells: &mut Cells, sector: u64, data: &[u8]) -> Result<(), ProbeFault> {
        let unit_sectors = match &self.contents {
            Contents::Units { sectors, .. } => *sectors,
            Contents::Compressed(_) => PAGE_SECTORS,
        };
        for piece in pieces_of(unit_sectors, sector, data.len()) {
            let part = &data[piece.from..piece.to];
            if self.makes_room(cells, &piece, part) {
                cells.write(sector + (piece.from / SECTOR) as u64, part);
            } else {
                self.exhausted = true;
                if self.pool.when_full == WhenFull::Errs {
                    return Err(ProbeFault::Medium);
                }
            }
        }
        Ok(())
    }

    /// Allocates the memory for `data`, a part of a unit; returns false if the pool is full.
    fn makes_room(&mut self, cells: &Cells, piece: &Piece, data: &[u8]) -> bool {
        match &mut self.contents {
            Contents::Units { sectors, zeros_are_free, used_before, allocated } => {
                let has_memory = piece.page < *used_before || allocated.contains(&piece.page);
                if has_memory || (*zeros_are_free && data.iter().all(|byte| *byte == 0)) {
                    return true;
                }
                let used_bytes = self.used_bytes + *sectors * SECTOR_BYTES;
                if used_bytes > self.pool.bytes {
                    return false;
                }
                self.used_bytes = used_bytes;
                allocated.insert(piece.page)
            }
            Contents::Compressed(pages) => {
                let mut before = [0; PAGE];
                cells.read(piece.page * PAGE_SECTORS, &mut before);
                let mut content = before;
                content[piece.inside..piece.inside + data.len()].copy_from_slice(data);
                pages.replace(piece.page, &before, &content, &mut self.used_bytes, self.pool.bytes)
            }
        }
    }
}

impl Pages {
    /// Counts `content` instead of `before`. Returns false, and changes nothing, if it does not fit.
    fn replace(&mut self, page: u64, before: &[u8], content: &[u8], used: &mut u64, most: u64) -> bool {
        let new = hash(content);
        let old = match self.stored.get(&page) {
            Some(known) if *known == new => return true,
            Some(known) => *known,
            None => None,
        };
        let freed = match (self.stored.contains_key(&page), old) {
            // No page of the initial content equals another one.
            (false, _) => hash(before).is_some(),
            (true, None) => false,
            (true, Some(hash)) => self.equal.get(&hash) == Some(&1),
        };
        let taken = new.is_some_and(|hash| !self.equal.contains_key(&hash));
        let bytes = |whether: bool| if whether { PAGE as u64 } else { 0 };
        let after = used.saturating_sub(bytes(freed)) + bytes(taken);
        if after > most && after > *used {
            return false;
        }
        *used = after;
        if let Some(hash) = old
            && let Some(count) = self.equal.get_mut(&hash)
        {
            *count -= 1;
            if *count == 0 {
                self.equal.remove(&hash);
            }
        }
        if let Some(hash) = new {
            *self.equal.entry(hash).or_default() += 1;
        }
        self.stored.insert(page, new);
        true
    }
}

/// Hash of a page that has to be stored; `None` if compression reduces it to nothing.
fn hash(page: &[u8]) -> Option<u64> {
    let constant = page.iter().all(|byte| *byte == page[0]);
    let follows = |sector: &[u8]| {
        let mut words = sector.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut last = words.next();
        words.all(|word| last.replace(word).map(next_of_sequence) == Some(word))
    };
    let sequence = || page.chunks_exact(SECTOR).all(follows);
    (!constant && !sequence()).then(|| FixedState::default().hash_one(page))
}
