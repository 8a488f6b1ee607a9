//! All caches of a medium, in front of its memory.

use assay_core::verification::SECTOR_BYTES;
use assay_verify::probe::Fault;

use super::super::content::SECTOR;
use super::super::flash::Flash;
use super::pages::{Answer, Pages};
use super::spec::{Cache, CachedWrites, Eviction, WritePolicy};

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
    pub(in crate::media) fn read(&mut self, flash: &mut Flash, sector: u64, into: &mut [u8]) -> Result<(), Fault> {
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
    pub(in crate::media) fn write(&mut self, flash: &mut Flash, sector: u64, data: &[u8]) -> Result<(), Fault> {
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
        put(pages, flash, sector, data, dirty)
    }

    /// A flush, which some caches ignore.
    ///
    /// # Errors
    /// Errors of the memory.
    pub(in crate::media) fn flush(&mut self, flash: &mut Flash) -> Result<(), Fault> {
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
    pub(in crate::media) fn settle(&mut self, flash: &mut Flash) -> Result<(), Fault> {
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
    fn fill(&mut self, flash: &mut Flash, sector: u64, data: &[u8]) -> Result<(), Fault> {
        let fills = |cache: &Cache| cache.eviction == Eviction::LeastRecentlyUsedFilledByReads;
        match self.each.iter_mut().find(|(cache, _)| fills(cache)) {
            Some((_, pages)) => put(pages, flash, sector, data, false),
            None => Ok(()),
        }
    }
}

/// Adds `data`, page by page.
fn put(pages: &mut Pages, flash: &mut Flash, sector: u64, data: &[u8], dirty: bool) -> Result<(), Fault> {
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

fn write_out(pages: &mut Pages, flash: &mut Flash) -> Result<(), Fault> {
    for (sector, data) in pages.flush() {
        flash.write(sector, &data)?;
    }
    Ok(())
}
