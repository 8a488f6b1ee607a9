//! Memory that is handed out as it is needed, and is less than was announced.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use assay_core::verification::SECTOR_BYTES;
use assay_verify::probe::Fault;
use foldhash::fast::FixedState;

use super::before::{SECTOR, next_of_sequence};
use super::cells::{Cells, PAGE, PAGE_SECTORS, pieces};

/// A pool smaller than the announced size: any place holds data until it is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// What it has, in bytes. What the medium held before counts.
    pub bytes: u64,
    /// What is counted.
    pub counting: Counting,
    /// What becomes of a write that finds no room.
    pub when_full: WhenFull,
}

/// What takes room in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// Every unit that was ever written, also with what stood there.
    Units {
        /// Its size in bytes, a multiple of 4 KiB.
        unit_bytes: u64,
        /// Whether zeros to a unit that has no memory take none.
        zeros_are_free: bool,
    },
    /// Pages of 4 KiB that a controller cannot make again from less: neither constant, nor equal to
    /// another page, nor the published sequence of f3 and H2testw.
    Compressed,
}

/// What becomes of a write that finds no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It is dropped without a word.
    Drops,
    /// It fails.
    Errs,
}

impl Pool {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self.counting {
            Counting::Units { unit_bytes, .. } if unit_bytes == 0 || !unit_bytes.is_multiple_of(PAGE as u64) => {
                Err("a unit of a pool is a multiple of 4 KiB")
            }
            Counting::Units { .. } | Counting::Compressed => Ok(()),
        }
    }
}

/// [`Pool`] in use.
#[derive(Debug, Clone)]
pub(super) struct Pooled {
    pool: Pool,
    used_bytes: u64,
    contents: Contents,
}

#[derive(Debug, Clone)]
enum Contents {
    Units {
        sectors: u64,
        zeros_are_free: bool,
        /// Units below this had memory from the start.
        used_before: u64,
        allocated: HashSet<u64, FixedState>,
    },
    Compressed(Pages),
}

/// What a controller that compresses knows of its pages.
#[derive(Debug, Clone, Default)]
struct Pages {
    /// Hash of each page that was written; `None` where it costs nothing.
    stored: HashMap<u64, Option<u64>, FixedState>,
    /// How many pages have this hash.
    equal: HashMap<u64, u32, FixedState>,
}

impl Pooled {
    /// `used_bytes` of the addresses, from the start, hold the owner's data.
    pub(super) fn new(pool: Pool, used_bytes: u64, cells: &Cells, announced_bytes: u64) -> Self {
        match pool.counting {
            Counting::Units { unit_bytes, zeros_are_free } => {
                let used_before = used_bytes.min(announced_bytes).div_ceil(unit_bytes);
                let allocated = HashSet::default();
                let sectors = unit_bytes / SECTOR_BYTES;
                let contents = Contents::Units { sectors, zeros_are_free, used_before, allocated };
                Self { pool, used_bytes: used_before * unit_bytes, contents }
            }
            Counting::Compressed => {
                let used_bytes = cells.before().incompressible_bytes(announced_bytes);
                Self { pool, used_bytes, contents: Contents::Compressed(Pages::default()) }
            }
        }
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    /// Where there is none and the pool says so; what came before it was written.
    pub(super) fn write(&mut self, cells: &mut Cells, sector: u64, data: &[u8]) -> Result<(), Fault> {
        let most = self.pool.bytes;
        let full = self.pool.when_full;
        let store = |cells: &mut Cells, fits: bool, sector: u64, data: &[u8]| match full {
            _ if fits => {
                cells.write(sector, data);
                Ok(())
            }
            WhenFull::Drops => Ok(()),
            WhenFull::Errs => Err(Fault::Medium),
        };
        match &mut self.contents {
            Contents::Units { sectors, zeros_are_free, used_before, allocated } => {
                let (mut at, end) = (sector, sector + (data.len() / SECTOR) as u64);
                while at < end {
                    let (unit, to) = (at / *sectors, ((at / *sectors + 1) * *sectors).min(end));
                    let part = &data[(at - sector) as usize * SECTOR..(to - sector) as usize * SECTOR];
                    let has_memory = unit < *used_before || allocated.contains(&unit);
                    let needs_none = has_memory || (*zeros_are_free && part.iter().all(|byte| *byte == 0));
                    let fits = needs_none || self.used_bytes + *sectors * SECTOR_BYTES <= most;
                    if fits && !needs_none {
                        self.used_bytes += *sectors * SECTOR_BYTES;
                        allocated.insert(unit);
                    }
                    store(cells, fits, at, part)?;
                    at = to;
                }
                Ok(())
            }
            Contents::Compressed(pages) => {
                for piece in pieces(sector, data.len()) {
                    let mut page = [0; PAGE];
                    cells.read(piece.page * PAGE_SECTORS, &mut page);
                    let before = page;
                    let part = &data[piece.from..piece.to];
                    page[piece.inside..piece.inside + part.len()].copy_from_slice(part);
                    let fits = pages.replace(piece.page, &before, &page, &mut self.used_bytes, most);
                    store(cells, fits, sector + (piece.from / SECTOR) as u64, part)?;
                }
                Ok(())
            }
        }
    }
}

impl Pages {
    /// Counts `content` in place of `before`; false, and nothing changed, where it does not fit.
    fn replace(&mut self, page: u64, before: &[u8], content: &[u8], used: &mut u64, most: u64) -> bool {
        let old = self.stored.get(&page).copied();
        let freed = match old {
            // What was there before is taken to be unlike every other page.
            None if hash(before).is_some() => PAGE as u64,
            None | Some(None) => 0,
            Some(Some(hash)) if self.equal.get(&hash) == Some(&1) => PAGE as u64,
            Some(Some(_)) => 0,
        };
        let new = hash(content);
        let stays = old == Some(new);
        let taken = if new.is_some_and(|hash| !self.equal.contains_key(&hash)) { PAGE as u64 } else { 0 };
        if stays {
            return true;
        }
        if *used - freed.min(*used) + taken > most {
            return false;
        }
        *used = *used - freed.min(*used) + taken;
        if let Some(Some(hash)) = old
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

/// Hash of a page that has to be stored; `None` where it can be made again from less.
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
