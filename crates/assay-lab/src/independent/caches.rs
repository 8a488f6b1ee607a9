//! Caches: memory in front of a map that serves the sectors written or read last.
//!
//! A line is a sector. A write-back cache passes on a line when it evicts it. An honest cache passes on everything at a
//! FLUSH, a deaf cache passes on nothing. At a power cut a cache loses all its lines.

use super::numbers::{Map64, Rng, SECTOR, Sector};

/// Which line is evicted when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Policy {
    /// The least recently used line.
    Lru,
    /// The oldest line (first in, first out).
    Fifo,
    /// A random line.
    Random,
    /// The most recently used line.
    Mru,
    /// Segmented: lines that were used again are protected, up to three quarters of the cache.
    Segmented,
    /// Lines are evicted after this many nanoseconds, and the oldest when the cache is full.
    Timed(u64),
    /// No line: a full cache is bypassed.
    FirstCome,
}

/// Which writes a cache admits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Admits {
    /// All.
    All,
    /// Operations of up to this many sectors.
    Small(u64),
    /// Operations of this many sectors or more.
    Large(u64),
}

/// A cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheSpec {
    /// Which line is evicted.
    pub policy: Policy,
    /// Its capacity.
    pub bytes: u64,
    /// Whether a write is passed on later (write-back) or at once.
    pub back: bool,
    /// Whether it ignores FLUSH.
    pub deaf: bool,
    /// Which writes it admits.
    pub admits: Admits,
    /// Whether it also keeps sectors that were read.
    pub keeps_reads: bool,
}

impl CacheSpec {
    /// Whether a power cut after a FLUSH loses earlier writes.
    pub fn lies(&self) -> bool {
        self.back && self.deaf
    }

    /// Whether writing its capacity elsewhere evicts all its lines.
    pub fn is_plain(&self) -> bool {
        matches!(self.policy, Policy::Lru | Policy::Fifo) && self.admits == Admits::All
    }
}

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Line {
    at: u64,
    before: u32,
    after: u32,
    list: u8,
    dirty: bool,
    since: u64,
    data: Box<Sector>,
}

/// The state of a cache. List 0 has the lines on probation (all lines, except for [`Policy::Segmented`]), list 1 the
/// protected ones.
#[derive(Debug)]
pub(crate) struct Cache {
    spec: CacheSpec,
    index: Map64<u32>,
    lines: Vec<Line>,
    free: Vec<u32>,
    newest: [u32; 2],
    oldest: [u32; 2],
    counts: [u64; 2],
    dirtied: Vec<u64>,
    room: u64,
    rng: Rng,
}

/// A dirty line that was evicted.
pub(crate) type Evicted = (u64, Box<Sector>);

impl Cache {
    pub(crate) fn new(spec: CacheSpec, seed: u64) -> Self {
        Self {
            room: (spec.bytes / SECTOR).max(1),
            spec,
            index: Map64::default(),
            lines: Vec::new(),
            free: Vec::new(),
            newest: [NONE; 2],
            oldest: [NONE; 2],
            counts: [0; 2],
            dirtied: Vec::new(),
            rng: Rng::new(seed),
        }
    }

    pub(crate) fn spec(&self) -> &CacheSpec {
        &self.spec
    }

    /// Whether it admits a write that is part of an operation of `sectors` sectors.
    pub(crate) fn admits(&self, sectors: u64) -> bool {
        match self.spec.admits {
            Admits::All => true,
            Admits::Small(most) => sectors <= most,
            Admits::Large(least) => sectors >= least,
        }
    }

    /// Copies a line to `out`, and marks it as used.
    pub(crate) fn get(&mut self, at: u64, out: &mut Sector) -> bool {
        let Some(&slot) = self.index.get(&at) else { return false };
        out.copy_from_slice(&*self.lines[slot as usize].data);
        self.touch(slot);
        true
    }

    /// Keeps a sector; returns false if the cache is full and evicts nothing. Dirty evicted lines are added to `out`.
    pub(crate) fn put(&mut self, at: u64, data: &Sector, dirty: bool, now: u64, out: &mut Vec<Evicted>) -> bool {
        if let Some(&slot) = self.index.get(&at) {
            let line = &mut self.lines[slot as usize];
            line.data.copy_from_slice(data);
            if !line.dirty && dirty {
                self.dirtied.push(at);
            }
            line.dirty |= dirty;
            line.since = now;
            self.touch(slot);
            return true;
        }
        if self.index.len() as u64 >= self.room {
            let victim = match self.spec.policy {
                Policy::FirstCome => return false,
                Policy::Random => self.rng.below(self.lines.len() as u64) as u32,
                Policy::Mru => self.newest[0],
                _ if self.oldest[0] != NONE => self.oldest[0],
                _ => self.oldest[1],
            };
            self.give_up(victim, out);
        }
        let line = Line { at, before: NONE, after: NONE, list: 0, dirty, since: now, data: Box::new(*data) };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.lines[slot as usize] = line;
                slot
            }
            None => {
                self.lines.push(line);
                (self.lines.len() - 1) as u32
            }
        };
        if dirty {
            self.dirtied.push(at);
        }
        self.index.insert(at, slot);
        self.link(slot, 0);
        true
    }

    /// Drops a line after a write that bypassed the cache.
    pub(crate) fn forget(&mut self, at: u64) {
        if let Some(&slot) = self.index.get(&at) {
            self.lines[slot as usize].dirty = false;
            self.give_up(slot, &mut Vec::new());
        }
    }

    /// Evicts lines whose time has expired.
    pub(crate) fn expire(&mut self, now: u64, out: &mut Vec<Evicted>) {
        let Policy::Timed(keep) = self.spec.policy else { return };
        while self.oldest[0] != NONE && self.lines[self.oldest[0] as usize].since + keep <= now {
            self.give_up(self.oldest[0], out);
        }
    }

    /// Marks all lines as clean. Returns the lines that were dirty, in the order in which they became dirty.
    pub(crate) fn clean(&mut self) -> Vec<Evicted> {
        let mut out = Vec::new();
        for at in std::mem::take(&mut self.dirtied) {
            let Some(&slot) = self.index.get(&at) else { continue };
            let line = &mut self.lines[slot as usize];
            if std::mem::take(&mut line.dirty) {
                out.push((at, line.data.clone()));
            }
        }
        out
    }

    /// Loses all lines; returns the number of dirty ones.
    pub(crate) fn lose(&mut self) -> u64 {
        let lost = self.index.values().filter(|s| self.lines[**s as usize].dirty).count() as u64;
        *self = Self::new(self.spec.clone(), self.rng.next());
        lost
    }

    fn touch(&mut self, slot: u32) {
        match self.spec.policy {
            Policy::Lru | Policy::Mru => {
                self.unlink(slot);
                self.link(slot, 0);
            }
            Policy::Timed(_) => {
                // The time counts from the last write, so only a line with a renewed time moves.
                let newest = self.newest[0];
                if self.lines[slot as usize].since > self.lines[newest as usize].since {
                    self.unlink(slot);
                    self.link(slot, 0);
                }
            }
            Policy::Segmented => {
                self.unlink(slot);
                self.link(slot, 1);
                if self.counts[1] > self.room * 3 / 4 {
                    let demoted = self.oldest[1];
                    self.unlink(demoted);
                    self.link(demoted, 0);
                }
            }
            Policy::Fifo | Policy::Random | Policy::FirstCome => {}
        }
    }

    fn give_up(&mut self, slot: u32, out: &mut Vec<Evicted>) {
        self.unlink(slot);
        let line = &mut self.lines[slot as usize];
        self.index.remove(&line.at);
        if line.dirty {
            out.push((line.at, line.data.clone()));
        }
        self.free.push(slot);
    }

    fn unlink(&mut self, slot: u32) {
        let Line { before, after, list, .. } = self.lines[slot as usize];
        let list = list as usize;
        match before {
            NONE => self.oldest[list] = after,
            b => self.lines[b as usize].after = after,
        }
        match after {
            NONE => self.newest[list] = before,
            a => self.lines[a as usize].before = before,
        }
        self.counts[list] -= 1;
    }

    /// Makes a line the newest of a list. `before` is the next older line, `after` the next newer one.
    fn link(&mut self, slot: u32, list: u8) {
        let l = list as usize;
        let newest = self.newest[l];
        let line = &mut self.lines[slot as usize];
        (line.before, line.after, line.list) = (newest, NONE, list);
        match newest {
            NONE => self.oldest[l] = slot,
            n => self.lines[n as usize].after = slot,
        }
        self.newest[l] = slot;
        self.counts[l] += 1;
    }
}
