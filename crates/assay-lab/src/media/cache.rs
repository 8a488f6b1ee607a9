//! Caches of a medium, which hide what its memory loses.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;
use assay_verify::probe::ProbeFault;
use foldhash::fast::FixedState;

use super::address::{AddressMap, Direction};
use super::content::{Cells, Content, PAGE, PAGE_SECTORS, SECTOR, pieces};
use super::decay::{Bus, Decaying, DroppedRead, Filler, Flipping, Slipping};
use super::layout::CellPlace;
use super::pool::Pooled;
use super::spec::{Cache, CachedWrites, Eviction, MediumSpec, WritePolicy};
use crate::dice::Dice;

// All caches of a medium, in front of its memory.

/// Longer writes are sequential, whatever the write before.
const LONG_SECTORS: u64 = (32 << 10) / SECTOR_BYTES;

/// The caches; a sector is in at most one of them.
#[derive(Debug, Clone)]
pub(in crate::media) struct Caches {
    each: Vec<(Cache, Pages)>,
    /// End of the last write.
    write_end: u64,
}

impl Caches {
    pub(in crate::media) fn new(caches: &[Cache], seed: u64) -> Self {
        let pages =
            |(seed, cache): (u64, &Cache)| (*cache, Pages::new(cache.eviction, cache.page_bytes, cache.bytes, seed));
        Self { each: (seed..).zip(caches).map(pages).collect(), write_end: u64::MAX }
    }

    /// Reads whole sectors, from the caches if they hold them.
    ///
    /// # Errors
    /// If a page that the read evicts cannot be written back.
    pub(in crate::media) fn read(&mut self, flash: &mut Flash, sector: u64, into: &mut [u8]) -> Result<(), ProbeFault> {
        if self.each.is_empty() {
            flash.read(sector, into);
            return Ok(());
        }
        let end = sector + (into.len() / SECTOR) as u64;
        let part = |from: u64, to: u64| (from - sector) as usize * SECTOR..(to - sector) as usize * SECTOR;
        let mut at = sector;
        while at < end {
            if let Some((cache, held)) = self.holder(at) {
                let to = (at + held).min(end);
                self.each[cache].1.read(at, &mut into[part(at, to)]);
                flash.carry(at, &into[part(at, to)]);
                at = to;
            } else {
                let mut to = at;
                while to < end && self.holder(to).is_none() {
                    to = to.saturating_add(self.lacking(to)).min(end);
                }
                flash.read(at, &mut into[part(at, to)]);
                self.fill(flash, at, &into[part(at, to)])?;
                at = to;
            }
        }
        Ok(())
    }

    /// Writes whole sectors, to the cache that admits them.
    ///
    /// # Errors
    /// Errors of the memory, also for evicted pages.
    pub(in crate::media) fn write(&mut self, flash: &mut Flash, sector: u64, data: &[u8]) -> Result<(), ProbeFault> {
        let sectors = (data.len() / SECTOR) as u64;
        let sequential = sector == self.write_end || sectors > LONG_SECTORS;
        self.write_end = sector + sectors;
        let takes = |cache: &Cache| match cache.takes {
            CachedWrites::All => true,
            CachedWrites::Sequential => sequential,
            CachedWrites::Random => !sequential,
        };
        let taker = self.each.iter().position(|(cache, _)| takes(cache));
        for (index, (_, pages)) in self.each.iter_mut().enumerate() {
            // The other caches hold older data of these sectors.
            if Some(index) != taker {
                pages.forget(sector, sectors);
            }
        }
        let Some((cache, pages)) = taker.and_then(|taker| self.each.get_mut(taker)) else {
            return flash.write(sector, data);
        };
        let dirty = cache.write_policy != WritePolicy::Through;
        if !dirty {
            flash.write(sector, data)?;
        }
        put_sectors(pages, flash, sector, data, dirty)
    }

    /// A flush, which some caches ignore.
    ///
    /// # Errors
    /// Errors of the memory.
    pub(in crate::media) fn flush(&mut self, flash: &mut Flash) -> Result<(), ProbeFault> {
        let heeds = |cache: &Cache| cache.write_policy != WritePolicy::Back { ignores_flush: true };
        for (_, pages) in self.each.iter_mut().filter(|(cache, _)| heeds(cache)) {
            write_out(pages, flash)?;
        }
        Ok(())
    }

    /// Whether any of the caches writes back.
    pub(in crate::media) fn write_back(&self) -> bool {
        self.each.iter().any(|(cache, _)| cache.write_policy != WritePolicy::Through)
    }

    /// Writes everything back, as happens in time anyway.
    ///
    /// # Errors
    /// Errors of the memory.
    pub(in crate::media) fn settle(&mut self, flash: &mut Flash) -> Result<(), ProbeFault> {
        for (_, pages) in &mut self.each {
            write_out(pages, flash)?;
        }
        Ok(())
    }

    /// Drops all content, also dirty data.
    pub(in crate::media) fn lose_power(&mut self) {
        for (_, pages) in &mut self.each {
            pages.clear();
        }
        self.write_end = u64::MAX;
    }

    /// The cache that holds `sector`, and how many sectors it holds from there.
    fn holder(&self, sector: u64) -> Option<(usize, u64)> {
        self.each.iter().enumerate().find_map(|(index, (_, pages))| match pages.answer(sector) {
            Answer::Holds(held) => Some((index, held)),
            Answer::Lacks(_) => None,
        })
    }

    /// The number of sectors from `sector` on that no cache holds; at least one.
    fn lacking(&self, sector: u64) -> u64 {
        let lacks = self.each.iter().filter_map(|(_, pages)| match pages.answer(sector) {
            Answer::Holds(_) => None,
            Answer::Lacks(lacked) => Some(lacked),
        });
        lacks.min().unwrap_or(u64::MAX).max(1)
    }

    /// Adds data to a cache that reads fill.
    fn fill(&mut self, flash: &mut Flash, sector: u64, data: &[u8]) -> Result<(), ProbeFault> {
        let fills = |cache: &Cache| cache.eviction == Eviction::LeastRecentlyUsedFilledByReads;
        match self.each.iter_mut().find(|(cache, _)| fills(cache)) {
            Some((_, pages)) => put_sectors(pages, flash, sector, data, false),
            None => Ok(()),
        }
    }
}

/// Adds `data`, page by page.
fn put_sectors(pages: &mut Pages, flash: &mut Flash, sector: u64, data: &[u8], dirty: bool) -> Result<(), ProbeFault> {
    let (mut at, end) = (sector, sector + (data.len() / SECTOR) as u64);
    while at < end {
        let to = ((at / pages.page_sectors() + 1) * pages.page_sectors()).min(end);
        let mut unwritten = Vec::new();
        pages.put(at, &data[(at - sector) as usize * SECTOR..(to - sector) as usize * SECTOR], dirty, &mut unwritten);
        for (sector, data) in unwritten {
            flash.write(sector, &data)?;
        }
        at = to;
    }
    Ok(())
}

fn write_out(pages: &mut Pages, flash: &mut Flash) -> Result<(), ProbeFault> {
    for (sector, data) in pages.flush() {
        flash.write(sector, &data)?;
    }
    Ok(())
}

// Pages of a cache, in the order of their eviction.

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
enum Answer {
    /// This many sectors are cached.
    Holds(u64),
    /// This many sectors are not cached.
    Lacks(u64),
}

/// Ordered pages; finding, adding and evicting one takes constant time.
#[derive(Debug, Clone)]
struct Pages {
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
type Unwritten = Vec<(u64, Vec<u8>)>;

impl Pages {
    fn new(eviction: Eviction, page_bytes: u32, bytes: u64, seed: u64) -> Self {
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
    fn answer(&self, sector: u64) -> Answer {
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
    fn read(&mut self, sector: u64, into: &mut [u8]) {
        let Some(slot) = self.index.get(&(sector / self.page_sectors)).copied() else { return };
        let start = self.start(slot, sector);
        into.copy_from_slice(&self.data[start..start + into.len()]);
        if matches!(self.eviction, Eviction::LeastRecentlyUsed | Eviction::LeastRecentlyUsedFilledByReads) {
            self.renew(slot);
        }
    }

    /// Adds sectors of one page; dirty evicted data are added to `unwritten`.
    fn put(&mut self, sector: u64, data: &[u8], dirty: bool, unwritten: &mut Unwritten) {
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
    fn forget(&mut self, sector: u64, sectors: u64) {
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
    fn flush(&mut self) -> Unwritten {
        let mut unwritten = Unwritten::new();
        let mut at = self.oldest;
        while at != NONE {
            self.take_dirty(at, &mut unwritten);
            at = self.slots[at as usize].newer;
        }
        unwritten
    }

    /// Removes all pages.
    fn clear(&mut self) {
        self.index.clear();
        self.slots.clear();
        self.data.clear();
        self.free.clear();
        (self.newest, self.oldest) = (NONE, NONE);
    }

    /// Sectors of a page.
    fn page_sectors(&self) -> u64 {
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

// Everything below the caches: from addresses to cells, with the faults in between.

/// The memory of a medium and the way to it.
#[derive(Debug, Clone)]
pub(super) struct Flash {
    map: AddressMap,
    cells: Cells,
    filler: Filler,
    flipping: Flipping,
    slipping: Option<Slipping>,
    decaying: Option<Decaying>,
    pooled: Option<Pooled>,
    bus: Bus,
    /// Whether writes have no effect any more.
    pub(super) drops_writes: bool,
    /// Whether a write was dropped that would have changed the content.
    lost_writes: bool,
}

impl Flash {
    pub(super) fn new(spec: &MediumSpec) -> Self {
        let before = Content::new(spec.before, spec.seed);
        let pooled = spec.pool.map(|pool| Pooled::new(pool, &before, spec.announced_bytes));
        Self {
            map: AddressMap::new(spec.announced_bytes, spec.misaddress.clone(), spec.layout.clone()),
            cells: Cells::new(before),
            filler: Filler::new(spec.dropped, spec.seed ^ 1),
            flipping: Flipping::new(spec.flips.clone(), spec.seed ^ 2),
            slipping: spec.slips.is_some().then(|| Slipping::new(spec.slips, spec.seed ^ 4)),
            decaying: spec.decay.clone().map(Decaying::new),
            pooled,
            bus: Bus::new(),
            drops_writes: false,
            lost_writes: false,
        }
    }

    /// Whether a write ever found no memory.
    pub(super) fn is_exhausted(&self) -> bool {
        self.pooled.as_ref().is_some_and(Pooled::is_exhausted)
    }

    /// Whether [`Self::drops_writes`] ever made a difference.
    pub(super) fn has_lost_writes(&self) -> bool {
        self.lost_writes
    }

    /// Reads whole sectors.
    pub(super) fn read(&mut self, sector: u64, into: &mut [u8]) {
        let Ok(()) = self.each_run::<Infallible>(sector, into.len(), Direction::Read, |flash, at, place, part| {
            let part = &mut into[part];
            match place {
                CellPlace::Cell(cell) => flash.read_cells(at, cell, part),
                CellPlace::Dropped => flash.read_dropped(at, part),
            }
            flash.carry(at, part);
            Ok(())
        });
    }

    /// Writes whole sectors.
    ///
    /// # Errors
    /// If a pool is full and returns errors.
    pub(super) fn write(&mut self, sector: u64, data: &[u8]) -> Result<(), ProbeFault> {
        if self.drops_writes {
            return self.each_run(sector, data.len(), Direction::Write, |flash, _, place, part| {
                if let CellPlace::Cell(cell) = place {
                    let mut now = vec![0; part.len()];
                    flash.cells.read(cell, &mut now);
                    flash.lost_writes |= now != data[part];
                }
                Ok(())
            });
        }
        self.each_run(sector, data.len(), Direction::Write, |flash, _, place, part| {
            let CellPlace::Cell(cell) = place else { return Ok(()) };
            let (part, sectors) = (&data[part.clone()], (part.len() / SECTOR) as u64);
            match (&mut flash.pooled, &mut flash.slipping) {
                (Some(pooled), _) => pooled.write(&mut flash.cells, cell, part)?,
                (None, Some(slipping)) => slipping.write(&mut flash.cells, cell, part),
                (None, None) => flash.cells.write(cell, part),
            }
            flash.flipping.stored(&mut flash.cells, cell, sectors);
            if let Some(decaying) = &mut flash.decaying {
                decaying.written(cell, sectors);
            }
            Ok(())
        })
    }

    /// Records a transfer from or to the host, if reads can show it again.
    pub(super) fn carry(&mut self, sector: u64, data: &[u8]) {
        if self.filler.dropped == DroppedRead::LastOnBus {
            self.bus.carry(sector, data);
        }
    }

    /// Calls `act` with each part of an operation that lies in one piece.
    fn each_run<E>(
        &mut self,
        sector: u64,
        bytes: usize,
        direction: Direction,
        mut act: impl FnMut(&mut Self, u64, CellPlace, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut at, end) = (sector, sector + (bytes / SECTOR) as u64);
        while at < end {
            let run = self.map.locate(at, direction, end - at);
            let from = (at - sector) as usize * SECTOR;
            act(self, at, run.place, from..from + run.sectors as usize * SECTOR)?;
            at += run.sectors;
        }
        Ok(())
    }

    /// Reads `cell` and the following cells for the address `sector`.
    fn read_cells(&mut self, sector: u64, cell: u64, into: &mut [u8]) {
        self.cells.read(cell, into);
        if self.decaying.is_some() {
            for piece in pieces(cell, into.len()) {
                if self.decaying.as_ref().is_some_and(|decaying| decaying.is_lost(piece.page)) {
                    let at = sector + (piece.from / SECTOR) as u64;
                    self.read_dropped(at, &mut into[piece.from..piece.to]);
                }
                if let Some(decaying) = &mut self.decaying {
                    decaying.read(piece.page);
                }
            }
        }
        self.flipping.lay_over(cell, into);
        self.flipping.read(into);
    }

    fn read_dropped(&mut self, sector: u64, into: &mut [u8]) {
        if self.steady_dropped(sector, into) {
            return;
        }
        match self.filler.dropped {
            DroppedRead::Random => self.filler.random(into),
            // All others are the same at each read.
            _ => Filler::from_bus(&self.bus, sector, into),
        }
    }

    /// Fills `into` with the data of a place without memory if they are the same at each read; else returns false.
    fn steady_dropped(&self, sector: u64, into: &mut [u8]) -> bool {
        match self.filler.dropped {
            DroppedRead::Stale => self.cells.before().fill(sector, into),
            DroppedRead::Elsewhere => {
                let cells = self.map.layout().cells().max(1);
                for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
                    // Data lost from a cell must not read as that cell.
                    let cell = |nth| self.map.layout().nth_cell(nth);
                    match cell(sector % cells).filter(|cell| *cell != sector).or_else(|| cell((sector + 1) % cells)) {
                        Some(cell) => self.cells.read(cell, part),
                        None => part.fill(0),
                    }
                }
            }
            _ => return self.filler.constant(sector, into),
        }
        true
    }

    /// Whether the cells of a page differ from those in `before`. Most were restored, and need no comparison by
    /// address.
    fn differs(&self, before: &Self, page: u64) -> bool {
        let [mut now, mut then] = [[0; PAGE]; 2];
        self.cells.read(page * PAGE_SECTORS, &mut now);
        before.cells.read(page * PAGE_SECTORS, &mut then);
        now != then
    }

    /// The content of one sector as it reads, without side effects; `None` if it differs at each read.
    fn owners(&self, sector: u64) -> Option<[u8; SECTOR]> {
        let mut content = [0; SECTOR];
        let steady = match self.map.locate(sector, Direction::Read, 1).place {
            CellPlace::Cell(cell) => {
                let lost = self.decaying.as_ref().is_some_and(|decaying| decaying.is_lost(cell / PAGE_SECTORS));
                if !lost {
                    self.cells.read(cell, &mut content);
                }
                let steady = !lost || self.steady_dropped(sector, &mut content);
                self.flipping.lay_over(cell, &mut content);
                steady
            }
            CellPlace::Dropped => self.steady_dropped(sector, &mut content),
        };
        steady.then_some(content)
    }

    /// Sectors that read differently than in `before`, ascending. All cells that were ever written are compared, at one
    /// of the addresses that read them.
    pub(super) fn changed_since(&self, before: &Self) -> Vec<u64> {
        let lost = self.decaying.iter().flat_map(Decaying::lost_pages);
        let written = self.cells.pages().chain(before.cells.pages());
        let mut pages: Vec<u64> = written.filter(|page| self.differs(before, *page)).chain(lost).collect();
        pages.sort_unstable();
        pages.dedup();
        let cells = pages.into_iter().flat_map(|page| page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS);
        let mut changed: Vec<u64> = cells
            .filter_map(|cell| self.map.reader_of(cell))
            .filter(|sector| self.owners(*sector).is_some_and(|now| before.owners(*sector) != Some(now)))
            .collect();
        changed.sort_unstable();
        changed
    }
}
