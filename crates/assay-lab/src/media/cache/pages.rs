//! Pages of a cache, in the order of their eviction.

use std::collections::HashMap;

use assay_core::verification::SECTOR_BYTES;
use foldhash::fast::FixedState;

use super::super::content::SECTOR;
use super::spec::Eviction;
use crate::dice::Dice;

/// No page.
const NONE: u32 = u32::MAX;

/// A page with its valid sectors, and the dirty ones of these.
#[derive(Debug, Clone, Copy)]
struct Slot {
    page: u64,
    valid: u128,
    dirty: u128,
    newer: u32,
    older: u32,
}

/// The answer for the sectors from a given one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// This many sectors are cached.
    Holds(u64),
    /// This many sectors are not cached.
    Lacks(u64),
}

/// Ordered pages; finding, adding and evicting one takes constant time.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    eviction: Eviction,
    page_sectors: u64,
    most: usize,
    index: HashMap<u64, u32, FixedState>,
    slots: Vec<Slot>,
    data: Vec<u8>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
    dice: Dice,
}

/// Evicted data to write back: first sector and content.
pub(super) type Unwritten = Vec<(u64, Vec<u8>)>;

impl Pages {
    pub(super) fn new(eviction: Eviction, page_bytes: u32, bytes: u64, seed: u64) -> Self {
        Self {
            eviction,
            page_sectors: u64::from(page_bytes) / SECTOR_BYTES,
            most: (bytes / u64::from(page_bytes)) as usize,
            index: HashMap::default(),
            slots: Vec::new(),
            data: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
            dice: Dice::new(seed),
        }
    }

    /// Whether `sector` is cached, and for how many sectors within its page this holds.
    pub(super) fn answer(&self, sector: u64) -> Answer {
        let inside = sector % self.page_sectors;
        let rest = self.page_sectors - inside;
        let Some(slot) = self.index.get(&(sector / self.page_sectors)) else { return Answer::Lacks(rest) };
        let valid = self.slots[*slot as usize].valid >> inside;
        if valid & 1 == 1 {
            Answer::Holds(u64::from(valid.trailing_ones()).min(rest))
        } else {
            Answer::Lacks(u64::from(valid.trailing_zeros()).min(rest))
        }
    }

    /// Reads sectors of one page that [`Self::answer`] reported as cached.
    pub(super) fn read(&mut self, sector: u64, into: &mut [u8]) {
        let Some(slot) = self.index.get(&(sector / self.page_sectors)).copied() else { return };
        let start = self.start(slot, sector);
        into.copy_from_slice(&self.data[start..start + into.len()]);
        if matches!(self.eviction, Eviction::LeastRecentlyUsed | Eviction::LeastRecentlyUsedFilledByReads) {
            self.renew(slot);
        }
    }

    /// Adds sectors of one page; dirty evicted data are added to `unwritten`.
    pub(super) fn put(&mut self, sector: u64, data: &[u8], dirty: bool, unwritten: &mut Unwritten) {
        if self.most == 0 {
            if dirty {
                unwritten.push((sector, data.to_vec()));
            }
            return;
        }
        let page = sector / self.page_sectors;
        let slot = match self.index.get(&page).copied() {
            Some(slot) => {
                if self.eviction != Eviction::FirstIn {
                    self.renew(slot);
                }
                slot
            }
            None => self.add(page, unwritten),
        };
        let start = self.start(slot, sector);
        self.data[start..start + data.len()].copy_from_slice(data);
        let bits = bits(sector % self.page_sectors, data.len());
        let slot = &mut self.slots[slot as usize];
        slot.valid |= bits;
        slot.dirty = if dirty { slot.dirty | bits } else { slot.dirty & !bits };
    }

    /// Invalidates sectors, also dirty ones.
    pub(super) fn forget(&mut self, sector: u64, sectors: u64) {
        let (mut at, end) = (sector, sector + sectors);
        while at < end {
            let to = ((at / self.page_sectors + 1) * self.page_sectors).min(end);
            if let Some(place) = self.index.get(&(at / self.page_sectors)).copied() {
                let bits = bits(at % self.page_sectors, (to - at) as usize * SECTOR);
                let slot = &mut self.slots[place as usize];
                (slot.valid, slot.dirty) = (slot.valid & !bits, slot.dirty & !bits);
                if slot.valid == 0 {
                    self.remove(place);
                }
            }
            at = to;
        }
    }

    /// Returns all dirty data in the order of eviction, and marks them clean.
    pub(super) fn flush(&mut self) -> Unwritten {
        let mut unwritten = Unwritten::new();
        let mut at = self.oldest;
        while at != NONE {
            self.take_dirty(at, &mut unwritten);
            at = self.slots[at as usize].newer;
        }
        unwritten
    }

    /// Removes all pages.
    pub(super) fn clear(&mut self) {
        self.index.clear();
        self.slots.clear();
        self.data.clear();
        self.free.clear();
        (self.newest, self.oldest) = (NONE, NONE);
    }

    /// Sectors of a page.
    pub(super) fn page_sectors(&self) -> u64 {
        self.page_sectors
    }

    /// Index of the first byte of `sector` in the data.
    fn start(&self, slot: u32, sector: u64) -> usize {
        (slot as usize * self.page_sectors as usize + (sector % self.page_sectors) as usize) * SECTOR
    }

    fn add(&mut self, page: u64, unwritten: &mut Unwritten) -> u32 {
        if self.index.len() >= self.most {
            let leaves = match self.eviction {
                // Every slot is in use while the cache is full.
                Eviction::Random => self.dice.below(self.slots.len() as u64) as u32,
                _ => self.oldest,
            };
            self.take_dirty(leaves, unwritten);
            self.remove(leaves);
        }
        let new = Slot { page, valid: 0, dirty: 0, newer: NONE, older: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = new;
                slot
            }
            None => {
                self.slots.push(new);
                self.data.resize(self.slots.len() * self.page_sectors as usize * SECTOR, 0);
                (self.slots.len() - 1) as u32
            }
        };
        self.index.insert(page, slot);
        self.link(slot);
        slot
    }

    /// Adds the dirty data of a page to `unwritten`, in contiguous pieces, and marks them clean.
    fn take_dirty(&mut self, slot: u32, unwritten: &mut Unwritten) {
        let Slot { page, mut dirty, .. } = self.slots[slot as usize];
        while dirty != 0 {
            let from = dirty.trailing_zeros();
            let length = (dirty >> from).trailing_ones();
            let sector = page * self.page_sectors + u64::from(from);
            let start = self.start(slot, sector);
            unwritten.push((sector, self.data[start..start + length as usize * SECTOR].to_vec()));
            dirty &= !bits(u64::from(from), length as usize * SECTOR);
        }
        self.slots[slot as usize].dirty = 0;
    }

    fn remove(&mut self, slot: u32) {
        self.unlink(slot);
        self.index.remove(&self.slots[slot as usize].page);
        self.free.push(slot);
    }

    fn renew(&mut self, slot: u32) {
        if slot != self.newest {
            self.unlink(slot);
            self.link(slot);
        }
    }

    fn link(&mut self, slot: u32) {
        let before = std::mem::replace(&mut self.newest, slot);
        let new = &mut self.slots[slot as usize];
        (new.newer, new.older) = (NONE, before);
        match before {
            NONE => self.oldest = slot,
            before => self.slots[before as usize].newer = slot,
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}

/// Bits of the sectors of `bytes` from `inside` a page on.
fn bits(inside: u64, bytes: usize) -> u128 {
    let sectors = bytes / SECTOR;
    let ones = if sectors >= 128 { u128::MAX } else { (1 << sectors) - 1 };
    ones << inside
}
