//! Pools: memory that is allocated by the order of arrival instead of by the address.
//!
//! A pool has units of a fixed number of sectors. Before the first operation, the owner used the units with the lowest
//! addresses. A unit without memory reads as a void. The sector's address serves as its cell.

use std::collections::BTreeMap;

use super::numbers::{Map64, SECTOR, Sector, Set64, hash_bytes};

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
