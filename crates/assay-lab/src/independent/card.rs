//! A card: a memory behind a map, behind faults, behind a cache.
//!
//! The card stores the written content by cell and knows the owner's content of each, so it can report changes. It also
//! attributes them: cells that a fault changed on its own are *collateral*; sectors whose reading a fault changed
//! before the host wrote there are *misread*.

use super::caches::{Cache, CacheSpec, Given, Pool, PoolRule};
use super::faults::{Bites, Error, Fault, Faults, Front, Stored, flip};
use super::maps::{Map, Op, Side};
use super::numbers::{Content, SECTOR, Sector, Set64, Store, Void, hash};

/// The parts of a card.
#[derive(Debug, Clone, PartialEq)]
pub struct CardSpec {
    /// The announced sectors of 512 bytes.
    pub sectors: u64,
    /// Maps an address to a cell.
    pub map: Map,
    /// The content read at an address without a cell.
    pub void: Void,
    /// The owner's content.
    pub content: Content,
    /// The faults.
    pub faults: Vec<Fault>,
    /// The cache in front.
    pub cache: Option<CacheSpec>,
    /// Seed of all random decisions.
    pub seed: u64,
}

/// The damage to the owner's data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Losses {
    /// Cells with another content, caused only by writes of the host.
    pub changed: u64,
    /// The first of these cells.
    pub first: Vec<u64>,
    /// Cells changed by a fault or an asymmetric map although the host wrote to another address. The host could not
    /// have saved them before.
    pub collateral: u64,
    /// Cells with another content whose reading a passing fault had changed before they were written.
    pub misread: u64,
    /// The same, where reading always returns other places.
    pub elsewhere: u64,
    /// Cells changed by reading.
    pub disturbed: u64,
    /// Sectors whose memory was allocated to others.
    pub evicted: u64,
}

impl Losses {
    /// Whether nothing was changed at all.
    pub fn is_none(&self) -> bool {
        self.changed + self.collateral + self.misread + self.elsewhere + self.disturbed + self.evicted == 0
    }
}

/// A card.
#[derive(Debug)]
pub struct Card {
    spec: CardSpec,
    pool: Option<Pool>,
    faults: Faults,
    cache: Option<Cache>,
    store: Store,
    bus: Sector,
    collateral: Set64,
    misread: Set64,
    /// Cells that were read before they were written; only for asymmetric maps.
    saved: Set64,
    disturbed: Set64,
    unheld: u64,
    lost_in_cache: u64,
}

impl Card {
    /// A card with the owner's content.
    pub fn new(spec: CardSpec) -> Self {
        Self {
            pool: if let Map::Pool(pool) = &spec.map { Some(Pool::new(pool.clone())) } else { None },
            faults: Faults::new(&spec.faults, spec.seed),
            cache: spec.cache.clone().map(|c| Cache::new(c, spec.seed)),
            store: Store::default(),
            bus: [0; SECTOR as usize],
            collateral: Set64::default(),
            misread: Set64::default(),
            saved: Set64::default(),
            disturbed: Set64::default(),
            unheld: 0,
            lost_in_cache: 0,
            spec,
        }
    }

    /// Its parts.
    pub fn spec(&self) -> &CardSpec {
        &self.spec
    }

    /// The announced sectors.
    pub fn sectors(&self) -> u64 {
        self.spec.sectors
    }

    /// The faults, and how often each had an effect that a host could notice.
    pub fn bites(&self) -> &[Bites] {
        self.faults.bites()
    }

    /// How many sectors were written without memory for them, and read differently afterwards.
    pub fn unheld(&self) -> u64 {
        self.unheld
    }

    /// How many sectors a cache lost at power cuts.
    pub fn lost_in_cache(&self) -> u64 {
        self.lost_in_cache
    }

    pub(crate) fn is_gone(&self, now: u64) -> bool {
        self.faults.is_gone(now)
    }

    pub(crate) fn flush_nanos(&self) -> u64 {
        self.faults.flush_nanos()
    }

    /// Ends all faults, as if the reader had caused them and the card were put into another.
    pub fn heal(&mut self) {
        self.faults.heal();
    }

    /// Cuts the power: caches lose their lines.
    pub fn power_cut(&mut self) {
        if let Some(cache) = &mut self.cache {
            self.lost_in_cache += cache.lose();
        }
    }

    /// Cuts and restores the power. A card that hung or had vanished works again.
    pub fn replug(&mut self) {
        self.power_cut();
        self.faults.replug();
    }

    /// Reads sectors.
    pub(crate) fn read(&mut self, at: u64, out: &mut [u8], op: &Op) -> Result<(), Error> {
        let done = match self.faults.front(Some(Side::Read), at, op, &mut || false) {
            Front::Pass(_) => Ok(()),
            Front::Err(error) | Front::DoneErr(error) => Err(error),
        };
        done?;
        self.expire(op)?;
        for (i, chunk) in out.chunks_mut(SECTOR as usize).enumerate() {
            let data: &mut Sector = chunk.try_into().expect("whole sectors");
            self.read_sector(at + i as u64, data, op)?;
            self.bus = *data;
        }
        Ok(())
    }

    fn read_sector(&mut self, at: u64, data: &mut Sector, op: &Op) -> Result<(), Error> {
        if at >= self.spec.sectors {
            return Err(Error::Medium);
        }
        if let Some(cache) = &mut self.cache
            && cache.get(at, data)
        {
            return Ok(());
        }
        self.back_read(at, data, op)?;
        let mut evicted = Vec::new();
        if let Some(cache) = &mut self.cache
            && cache.spec().keeps_reads
        {
            cache.put(at, data, false, op.now, &mut evicted);
        }
        self.pass_on(evicted, op)
    }

    /// Writes sectors.
    pub(crate) fn write(&mut self, at: u64, data: &[u8], op: &Op) -> Result<(), Error> {
        let Self { spec, store, faults, .. } = self;
        let mut puts_back = || {
            data.chunks(SECTOR as usize).enumerate().any(|(i, sector)| {
                let (mut own, mut now) = ([0; SECTOR as usize], [0; SECTOR as usize]);
                let cell = spec.map.cell(spec.sectors, at + i as u64, Side::Write, op);
                cell.is_some_and(|c| {
                    spec.content.sector(c, &mut own);
                    store.get(c, &mut now) && own.as_slice() == sector && now != own
                })
            })
        };
        let (count, result) = match faults.front(Some(Side::Write), at, op, &mut puts_back) {
            Front::Pass(count) => (count, Ok(())),
            Front::DoneErr(error) => (op.sectors, Err(error)),
            Front::Err(error @ Error::Medium) => {
                // A write that fails may be stored in part: every second one is stored by half.
                let stored = hash(spec.seed, op.number) % 2 * (op.sectors / 2);
                (if op.sectors > 1 { stored } else { 0 }, Err(error))
            }
            Front::Err(error) => return Err(error),
        };
        for (i, chunk) in data.chunks(SECTOR as usize).enumerate().skip(count as usize) {
            let (mut now, left) = ([0; SECTOR as usize], at + i as u64);
            if self.spec.map.cell(self.spec.sectors, left, Side::Write, op).is_some_and(|c| {
                self.spec.content.sector(c, &mut now);
                self.store.get(c, &mut now);
                now == chunk
            }) {
                self.faults.left_as_it_was(left);
            }
        }
        self.expire(op)?;
        for (i, chunk) in data.chunks(SECTOR as usize).take(count as usize).enumerate() {
            let sector: &Sector = chunk.try_into().expect("whole sectors");
            self.bus = *sector;
            self.write_sector(at + i as u64, sector, op)?;
        }
        result
    }

    fn write_sector(&mut self, at: u64, data: &Sector, op: &Op) -> Result<(), Error> {
        if at >= self.spec.sectors {
            return Err(Error::Medium);
        }
        let mut evicted = Vec::new();
        let Some(cache) = &mut self.cache else {
            return self.back_write(at, data, op);
        };
        if !cache.admits(op.sectors) {
            cache.forget(at);
            return self.back_write(at, data, op);
        }
        let back = cache.spec().back;
        let kept = cache.put(at, data, back, op.now, &mut evicted);
        self.pass_on(evicted, op)?;
        if kept && back { Ok(()) } else { self.back_write(at, data, op) }
    }

    /// FLUSH.
    pub(crate) fn flush(&mut self, op: &Op) -> Result<(), Error> {
        match self.faults.front(None, 0, op, &mut || false) {
            Front::Pass(_) => {}
            Front::Err(error) | Front::DoneErr(error) => return Err(error),
        }
        if self.cache.as_ref().is_some_and(|c| c.spec().deaf) {
            return Ok(());
        }
        let dirty = self.cache.as_mut().map(Cache::clean).unwrap_or_default();
        self.pass_on(dirty, op)?;
        for (at, data) in self.faults.flushed() {
            self.map_write(at, &data, op)?;
        }
        Ok(())
    }

    fn expire(&mut self, op: &Op) -> Result<(), Error> {
        let mut evicted = Vec::new();
        if let Some(cache) = &mut self.cache {
            cache.expire(op.now, &mut evicted);
        }
        self.pass_on(evicted, op)
    }

    fn pass_on(&mut self, evicted: Vec<(u64, Box<Sector>)>, op: &Op) -> Result<(), Error> {
        evicted.into_iter().try_for_each(|(at, data)| self.back_write(at, &data, op))
    }

    /// Writes a sector to the storage.
    fn back_write(&mut self, at: u64, data: &Sector, op: &Op) -> Result<(), Error> {
        if self.faults.is_empty() {
            return self.map_write(at, data, op);
        }
        let (mut to, mut data) = (at, *data);
        let Self { spec, store, faults, .. } = self;
        let stands = |at: u64, out: &mut Sector| {
            let cell = spec.map.cell(spec.sectors, at, Side::Write, op).unwrap_or(at);
            if !store.get(cell, out) {
                spec.content.sector(cell, out);
            }
        };
        let mut own = [0; SECTOR as usize];
        spec.content.sector(spec.map.cell(spec.sectors, at, Side::Write, op).unwrap_or(at), &mut own);
        let puts_back = own == data;
        match faults.write(spec.sectors, &mut to, &mut data, op, puts_back, &stands) {
            Stored::Dropped | Stored::Waits => Ok(()),
            Stored::Here => {
                if to != at {
                    self.blame(to, op);
                }
                self.map_write(to, &data, op)
            }
            Stored::Also(second) => {
                self.map_write(to, &data, op)?;
                self.blame(second, op);
                self.map_write(second, &data, op)
            }
        }
    }

    /// Marks a cell as changed without a request of the host.
    fn blame(&mut self, at: u64, op: &Op) {
        if !self.faults.has_touched(at)
            && let Some(cell) = self.spec.map.cell(self.spec.sectors, at, Side::Write, op)
        {
            self.collateral.insert(cell);
        }
    }

    fn map_write(&mut self, at: u64, data: &Sector, op: &Op) -> Result<(), Error> {
        let Some(pool) = &mut self.pool else {
            match self.spec.map.cell(self.spec.sectors, at, Side::Write, op) {
                Some(cell) => {
                    let unsaved = || !self.store.has(cell) && !self.saved.contains(&cell);
                    if self.spec.map.is_asymmetric() && unsaved() {
                        self.collateral.insert(cell);
                    }
                    self.store.set(cell, data);
                }
                None => self.drop_sector(at, data, op),
            }
            return Ok(());
        };
        let unit = pool.spec().unit;
        match pool.write(at, data) {
            Given::Memory => self.store.set(at, data),
            Given::MemoryOf(other) => {
                (other * unit..(other + 1) * unit).for_each(|s| self.store.forget(s));
                self.unheld += 1;
                self.store.set(at, data);
            }
            Given::Nothing => self.drop_sector(at, data, op),
            Given::Error => {
                self.unheld += 1;
                return Err(Error::Medium);
            }
            Given::Turn(from) => {
                self.store.addresses().into_iter().filter(|a| *a >= from).for_each(|a| self.store.forget(a));
                self.drop_sector(at, data, op);
            }
        }
        Ok(())
    }

    /// Drops a sector without memory. If the void reads the same, no host can tell.
    fn drop_sector(&mut self, at: u64, data: &Sector, op: &Op) {
        let mut void = [0; SECTOR as usize];
        let is_same = self.void(at, &mut void, op).is_ok() && void == *data;
        self.unheld += u64::from(!is_same);
    }

    /// Reads a sector from the storage.
    fn back_read(&mut self, at: u64, data: &mut Sector, op: &Op) -> Result<(), Error> {
        if self.faults.is_empty() {
            return self.map_read(at, data, op);
        }
        let source = self.faults.source(at);
        self.map_read(source, data, op)?;
        let after = self.faults.read(at, data, op);
        if after.misread
            && let Some(cell) = self.spec.map.cell(self.spec.sectors, at, Side::Write, op)
        {
            self.misread.insert(cell);
        }
        if after.store {
            self.map_write(at, data, op)?;
        }
        if let Some(other) = after.disturbs.filter(|o| *o < self.spec.sectors)
            && let Some(cell) = self.spec.map.cell(self.spec.sectors, other, Side::Write, op)
        {
            let mut now = [0; SECTOR as usize];
            self.map_read(other, &mut now, op)?;
            flip(&mut now, hash(self.spec.seed, op.number));
            self.disturbed.insert(cell);
            self.map_write(other, &now, op)?;
        }
        Ok(())
    }

    fn map_read(&mut self, at: u64, data: &mut Sector, op: &Op) -> Result<(), Error> {
        if let Some(pool) = &mut self.pool {
            pool.read(at);
            if self.store.get(at, data) {
                return Ok(());
            }
            if pool.is_owners(at) {
                self.spec.content.sector(at, data);
                return Ok(());
            }
            return self.void(at, data, op);
        }
        match self.spec.map.cell(self.spec.sectors, at, Side::Read, op) {
            Some(cell) if self.store.get(cell, data) => {}
            Some(cell) => {
                self.spec.content.sector(cell, data);
                if self.spec.map.is_asymmetric() {
                    self.saved.insert(cell);
                }
            }
            None => return self.void(at, data, op),
        }
        Ok(())
    }

    fn void(&mut self, at: u64, data: &mut Sector, op: &Op) -> Result<(), Error> {
        if self.spec.void.sector(at, data).is_some() {
            return Ok(());
        }
        match self.spec.void {
            Void::Error => return Err(Error::Medium),
            Void::Mirror(period) if at % period != at => return self.map_read(at % period, data, op),
            Void::LastOnBus => *data = self.bus,
            _ => data.fill(0),
        }
        Ok(())
    }

    /// Whether a cell held the owner's data and still has memory.
    fn is_owners(&self, cell: u64) -> bool {
        self.pool.as_ref().is_none_or(|p| p.is_owners(cell))
    }

    /// The damage to the owner's data in the memory itself, whatever a cache answers.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        let lower = self.spec.faults.iter().find_map(|f| match f {
            Fault::ReadsLower { from, .. } => Some(*from),
            _ => None,
        });
        for cell in self.changed_cells() {
            let count = match () {
                _ if self.collateral.contains(&cell) => &mut losses.collateral,
                _ if self.disturbed.contains(&cell) => &mut losses.disturbed,
                _ if self.misread.contains(&cell) => &mut losses.misread,
                _ if lower.is_some_and(|from| cell >= from) => &mut losses.elsewhere,
                _ => {
                    if losses.first.len() < 8 {
                        losses.first.push(cell);
                    }
                    &mut losses.changed
                }
            };
            *count += 1;
        }
        if let Some(pool) = self.pool.as_ref().filter(|p| !matches!(p.spec().rule, PoolRule::Turning { .. })) {
            losses.evicted = pool.evicted_sectors();
        }
        losses
    }

    /// The cells whose content differs from the owner's.
    pub fn changed_cells(&self) -> Vec<u64> {
        let (mut own, mut now) = ([0; SECTOR as usize], [0; SECTOR as usize]);
        let mut all = self.store.addresses();
        all.retain(|cell| {
            self.spec.content.sector(*cell, &mut own);
            self.store.get(*cell, &mut now);
            own != now && self.is_owners(*cell)
        });
        all
    }

    /// How many cells were ever written.
    pub fn written_cells(&self) -> u64 {
        self.store.addresses().len() as u64
    }

    /// The present content of a cell.
    pub fn cell(&self, cell: u64) -> Sector {
        let mut data = [0; SECTOR as usize];
        if !self.store.get(cell, &mut data) {
            self.spec.content.sector(cell, &mut data);
        }
        data
    }

    /// The owner's content of a cell.
    pub fn original(&self, cell: u64) -> Sector {
        let mut data = [0; SECTOR as usize];
        self.spec.content.sector(cell, &mut data);
        data
    }

    /// Writes to a cell on behalf of the owner, past map, faults and cache.
    pub fn owner_writes(&mut self, cell: u64, data: &Sector) {
        self.store.set(cell, data);
        if let Some(cache) = &mut self.cache {
            cache.forget(cell);
        }
    }
}
