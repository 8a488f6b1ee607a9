//! Pools: memory that is given to what comes, by the order of arrival instead of by the address.
//!
//! A pool has units of a fixed number of sectors. The owner used the units of the lowest addresses before the first operation.
//! A unit without memory reads as a void. The sector's address serves as its cell.

use super::numbers::{Map64, SECTOR, Sector, Set64, hash_bytes};
use std::collections::BTreeMap;

/// To what a pool gives memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PoolRule {
    /// To what comes first; when it is used up, writes to new units are dropped.
    FirstCome,
    /// To what comes first; when it is used up, writes to new units err.
    FirstComeErrs,
    /// To what was written last: a new unit takes the memory of the one that was written the longest ago.
    Newest,
    /// To what was read or written last.
    Lru,
    /// To what comes first, after compression: sectors of one word, or of one line repeated, take almost nothing.
    Compressing,
    /// To what comes first, and equal sectors share.
    Deduplicating,
    /// Addresses from `real` on have spare memory until that is used up. Then all of them lose what they have, and drop
    /// what they get.
    Turning {
        /// Sectors with cells of their own.
        real: u64,
    },
}

/// Memory that is given to what comes.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolSpec {
    /// To what.
    pub rule: PoolRule,
    /// Sectors of a unit (1 for those that compress or deduplicate).
    pub unit: u64,
    /// Units of the memory; for [`PoolRule::Turning`] sectors of the spare memory.
    pub units: u64,
    /// Units, from the lowest address on, that the owner used. No more than `units`.
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

/// What becomes of a sector that is written.
#[derive(Debug, PartialEq)]
pub(crate) enum Given {
    /// It has memory.
    Memory,
    /// It has memory that this unit had until now.
    MemoryOf(u64),
    /// It is dropped.
    Nothing,
    /// The medium says so.
    Error,
    /// It is dropped, and all sectors from this address on lose theirs.
    Turn(u64),
}

/// The state of a pool.
#[derive(Debug)]
pub(crate) struct Pool {
    spec: PoolSpec,
    /// When a unit was given memory or, where that counts, was used last.
    ticks: Map64<u64>,
    order: BTreeMap<u64, u64>,
    tick: u64,
    /// The owner's units that lost their memory.
    evicted: Set64,
    /// The owner's units that were not used since.
    untouched: u64,
    next_owned: u64,
    /// Bytes (compressing) or sectors (deduplicating, turning) that are used, beside the owner's.
    used: i64,
    costs: Map64<u64>,
    /// For each content the sectors that share it; for each sector its content.
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

    /// Whether the owner's content of a sector is still there, unless something was written over it.
    pub(crate) fn is_owners(&self, at: u64) -> bool {
        self.spec.is_owned(at) && !self.evicted.contains(&(at / self.spec.unit))
    }

    /// Sectors of the owner that lost their memory.
    pub(crate) fn evicted_sectors(&self) -> u64 {
        self.evicted.len() as u64 * self.spec.unit
    }

    /// Notes that a unit was read.
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

    /// Gives memory to a sector, or does not.
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
                // What the owner had was stored as it is.
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

    /// Takes the memory of the oldest unit where there are more units than memory.
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
