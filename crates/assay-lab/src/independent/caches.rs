//! Caches: memory in front of a map that serves the sectors written or read last.
//!
//! A line is a sector. A write-back cache passes on a line when it evicts it. An honest cache passes on everything at a
//! FLUSH, a deaf cache passes on nothing. At a power cut a cache loses all its lines.

use std::collections::BTreeMap;

use super::numbers::{Map64, Rng, SECTOR, Sector, Set64, hash_bytes};

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

// Pools: memory that is allocated by the order of arrival instead of by the address.
//
// A pool has units of a fixed number of sectors. Before the first operation, the owner used the units with the lowest
// addresses. A unit without memory reads as a void. The sector's address serves as its cell.

/// The rule by which a pool allocates memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PoolRule {
    /// First come; when the memory is exhausted, writes to new units are dropped.
    FirstCome,
    /// First come; when the memory is exhausted, writes to new units fail.
    FirstComeErrs,
    /// Last written: a new unit takes the memory of the least recently written one.
    Newest,
    /// Last read or written: a new unit takes the memory of the least recently used one.
    Lru,
    /// First come, after compression: sectors of one word, or of one repeated line, take almost nothing.
    Compressing,
    /// First come, and equal sectors share memory.
    Deduplicating,
    /// Addresses from `real` on have spare memory until that is exhausted. Then all of them lose their data, and drop
    /// writes.
    Turning {
        /// Sectors with their own cells.
        real: u64,
    },
}

/// The parameters of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolSpec {
    /// The rule.
    pub rule: PoolRule,
    /// Sectors of a unit (1 for the rules that compress or deduplicate).
    pub unit: u64,
    /// Units of the memory; for [`PoolRule::Turning`] sectors of the spare memory.
    pub units: u64,
    /// Units that the owner used, from the lowest address on. At most `units`.
    pub owned: u64,
}

impl PoolSpec {
    /// Whether the owner used the unit of a sector.
    pub fn is_owned(&self, at: u64) -> bool {
        match self.rule {
            PoolRule::Turning { real } => at < real,
            _ => at / self.unit < self.owned,
        }
    }
}

/// The outcome of a write of a sector.
#[derive(Debug, PartialEq)]
pub(crate) enum Given {
    /// It has memory.
    Memory,
    /// It gets the memory of this unit, which loses its data.
    MemoryOf(u64),
    /// It is dropped.
    Nothing,
    /// The medium reports an error.
    Error,
    /// It is dropped, and all sectors from this address on lose their data.
    Turn(u64),
}

/// The state of a pool.
#[derive(Debug)]
pub(crate) struct Pool {
    spec: PoolSpec,
    /// When a unit got its memory or, for a rule by use, was used last.
    ticks: Map64<u64>,
    order: BTreeMap<u64, u64>,
    tick: u64,
    /// The owner's units that lost their memory.
    evicted: Set64,
    /// The owner's units that were not used since the start.
    untouched: u64,
    next_owned: u64,
    /// Bytes (compressing) or sectors (deduplicating, turning) in use, without the owner's.
    used: i64,
    costs: Map64<u64>,
    /// For each content the number of sectors that share it; for each sector its content.
    shared: Map64<u64>,
    contents: Map64<u64>,
    turned: bool,
}

impl Pool {
    pub(crate) fn new(spec: PoolSpec) -> Self {
        Self {
            untouched: spec.owned,
            spec,
            ticks: Map64::default(),
            order: BTreeMap::new(),
            tick: 0,
            evicted: Set64::default(),
            next_owned: 0,
            used: 0,
            costs: Map64::default(),
            shared: Map64::default(),
            contents: Map64::default(),
            turned: false,
        }
    }

    pub(crate) fn spec(&self) -> &PoolSpec {
        &self.spec
    }

    /// Whether the memory of the owner's sector was not taken away. The sector may have been overwritten.
    pub(crate) fn is_owners(&self, at: u64) -> bool {
        self.spec.is_owned(at) && !self.evicted.contains(&(at / self.spec.unit))
    }

    /// Sectors of the owner that lost their memory.
    pub(crate) fn evicted_sectors(&self) -> u64 {
        self.evicted.len() as u64 * self.spec.unit
    }

    /// Records that a unit was read.
    pub(crate) fn read(&mut self, at: u64) {
        let unit = at / self.spec.unit;
        if self.spec.rule == PoolRule::Lru && (self.ticks.contains_key(&unit) || self.is_owners(at)) {
            self.use_now(unit);
        }
    }

    fn use_now(&mut self, unit: u64) {
        self.tick += 1;
        match self.ticks.insert(unit, self.tick) {
            Some(old) => drop(self.order.remove(&old)),
            None if unit < self.spec.owned && !self.evicted.contains(&unit) => self.untouched -= 1,
            None => {}
        }
        self.order.insert(self.tick, unit);
    }

    /// Allocates memory for a sector if there is any.
    pub(crate) fn write(&mut self, at: u64, data: &Sector) -> Given {
        let unit = at / self.spec.unit;
        match self.spec.rule {
            PoolRule::FirstCome | PoolRule::FirstComeErrs => {
                if self.spec.is_owned(at) || self.ticks.contains_key(&unit) {
                    return Given::Memory;
                }
                if self.spec.owned + self.ticks.len() as u64 >= self.spec.units {
                    return if self.spec.rule == PoolRule::FirstCome { Given::Nothing } else { Given::Error };
                }
                self.ticks.insert(unit, 0);
                Given::Memory
            }
            PoolRule::Newest | PoolRule::Lru => {
                let has = self.ticks.contains_key(&unit) || self.is_owners(at);
                self.use_now(unit);
                if has { Given::Memory } else { self.evict_for(unit) }
            }
            PoolRule::Compressing => {
                let cost = packed(data);
                // The owner's data were stored without compression.
                let before = self.costs.get(&at).copied().unwrap_or(if self.spec.is_owned(at) { SECTOR } else { 0 });
                let used = self.used + cost as i64 - before as i64;
                if used > ((self.spec.units - self.spec.owned) * SECTOR) as i64 && cost > before {
                    return Given::Nothing;
                }
                self.used = used;
                self.costs.insert(at, cost);
                Given::Memory
            }
            PoolRule::Deduplicating => {
                let content = hash_bytes(data);
                let known = self.shared.contains_key(&content);
                let before = self.contents.get(&at).copied();
                let frees = before.map_or(self.spec.is_owned(at), |b| self.shared.get(&b) == Some(&1));
                let used = self.used + i64::from(!known) - i64::from(frees);
                if !known && !frees && used > (self.spec.units - self.spec.owned) as i64 {
                    return Given::Nothing;
                }
                self.used = used;
                if let Some(b) = before
                    && let Some(count) = self.shared.get_mut(&b)
                {
                    *count -= 1;
                    if *count == 0 {
                        self.shared.remove(&b);
                    }
                }
                *self.shared.entry(content).or_insert(0) += 1;
                self.contents.insert(at, content);
                Given::Memory
            }
            PoolRule::Turning { real } => match at < real {
                true => Given::Memory,
                false if self.turned => Given::Nothing,
                false if self.used as u64 >= self.spec.units => {
                    self.turned = true;
                    Given::Turn(real)
                }
                false => {
                    self.used += 1;
                    Given::Memory
                }
            },
        }
    }

    /// Takes the memory of the oldest unit if there are more units than memory.
    fn evict_for(&mut self, unit: u64) -> Given {
        if self.untouched + self.ticks.len() as u64 <= self.spec.units {
            return Given::Memory;
        }
        while self.untouched > 0 && self.next_owned < self.spec.owned {
            let oldest = self.next_owned;
            self.next_owned += 1;
            if !self.ticks.contains_key(&oldest) && self.evicted.insert(oldest) {
                self.untouched -= 1;
                return Given::MemoryOf(oldest);
            }
        }
        while let Some((_, oldest)) = self.order.pop_first() {
            if oldest != unit {
                self.ticks.remove(&oldest);
                if oldest < self.spec.owned {
                    self.evicted.insert(oldest);
                }
                return Given::MemoryOf(oldest);
            }
        }
        Given::Memory
    }
}

/// The bytes that a sector takes after compression.
fn packed(data: &Sector) -> u64 {
    match data {
        d if d.iter().all(|b| *b == d[0]) => 0,
        d if d.chunks(32).all(|c| c == &d[..32]) => 32,
        _ => SECTOR,
    }
}
