//! Media with a volatile cache, in memory: one that keeps its promise, and others that break it in a known way.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use assay_endure::{Fault, Medium, Refused, SECTOR};
use assay_lab::SplitMix;
use assay_powercut::{BLOCK, Entry, GROUP, Keep, LedgerError, Mode, Place};

/// Blocks of the area: 1 MiB.
pub(crate) const BLOCKS: u64 = 256;

/// What a medium does with what it acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It keeps it.
    Honest,
    /// Flush and FUA do nothing; a cache of this many times 8 KiB is written in order.
    IgnoresFlush(usize),
    /// A flush writes a quarter of what is in the cache.
    Reorders,
    /// A cut tears a block that was acknowledged.
    Tears,
    /// A cut puts garbage into a block beside one that was written.
    DamagesNeighbour,
    /// A cut puts garbage into a block that was acknowledged.
    Garbage,
    /// A cut makes a block unreadable that was acknowledged.
    Unreadable,
}

#[derive(Debug)]
struct Op {
    sequence: u64,
    sector: u64,
    data: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) kind: Kind,
    rng: SplitMix,
    durable: Vec<u8>,
    /// Which operation each durable sector is of.
    sequences: Vec<u64>,
    unreadable: BTreeSet<u64>,
    cache: VecDeque<Op>,
    next: u64,
    /// Acknowledged operations of the load: sector, and the content that was there before.
    history: VecDeque<(u64, Vec<u8>, u64)>,
    /// Operations on medium and ledger until the power is cut.
    pub(crate) cut_in: Option<u64>,
    pub(crate) off: bool,
    /// One of this many reads fails, for no reason that lasts.
    pub(crate) flaky: Option<u64>,
}

/// Shared, so that several writers use it, and that it outlives them.
#[derive(Debug, Clone)]
pub(crate) struct Handle(pub(crate) Arc<Mutex<Disk>>);

impl Disk {
    fn new(kind: Kind, seed: u64, blocks: u64) -> Self {
        let bytes = (blocks * BLOCK) as usize;
        Self {
            kind,
            rng: SplitMix::new(seed),
            durable: vec![0x33; bytes],
            sequences: vec![0; bytes / SECTOR],
            unreadable: BTreeSet::new(),
            cache: VecDeque::new(),
            next: 1,
            history: VecDeque::new(),
            cut_in: None,
            off: false,
            flaky: None,
        }
    }

    /// Whether the power is cut during this operation; `None` where it is off.
    fn now(&mut self) -> Option<bool> {
        if self.off {
            return None;
        }
        if let Some(left) = &mut self.cut_in {
            if *left == 0 {
                self.off = true;
                return Some(true);
            }
            *left -= 1;
        }
        Some(false)
    }

    fn store(&mut self, sector: u64, content: &[u8], sequence: u64) {
        if self.sequences[sector as usize] <= sequence {
            self.sequences[sector as usize] = sequence;
            self.durable[sector as usize * SECTOR..][..SECTOR].copy_from_slice(content);
            self.unreadable.remove(&sector);
        }
    }

    fn apply(&mut self, op: &Op) {
        for (content, sector) in op.data.chunks_exact(SECTOR).zip(op.sector..) {
            self.store(sector, content, op.sequence);
        }
    }

    /// An operation that a cut met: each sector may be there, not there, in part, or spoilt.
    fn apply_in_part(&mut self, op: &Op) {
        let careful = self.rng.below(2) == 0;
        for (content, sector) in op.data.chunks_exact(SECTOR).zip(op.sector..) {
            match self.rng.below(if careful { 4 } else { 8 }) {
                0 | 1 => self.store(sector, content, op.sequence),
                2..=4 => {}
                5 | 6 => {
                    let at = self.rng.below(SECTOR as u64 / 8) as usize * 8;
                    let old = self.durable[sector as usize * SECTOR..][..SECTOR].to_vec();
                    self.store(sector, &[&content[..at], &old[at..]].concat(), op.sequence);
                }
                _ if self.rng.below(2) == 0 => {
                    let garbage: Vec<u8> = (0..SECTOR).map(|_| self.rng.number() as u8).collect();
                    self.store(sector, &garbage, op.sequence);
                }
                _ => {
                    self.store(sector, content, op.sequence);
                    self.unreadable.insert(sector);
                }
            }
        }
    }

    fn drain(&mut self, which: impl Fn(&mut SplitMix) -> bool) {
        for op in std::mem::take(&mut self.cache) {
            if which(&mut self.rng) {
                self.apply(&op);
            } else {
                self.cache.push_back(op);
            }
        }
    }

    fn flush(&mut self) {
        match self.kind {
            Kind::IgnoresFlush(_) => {}
            Kind::Reorders => self.drain(|rng| rng.below(4) == 0),
            _ => self.drain(|_| true),
        }
    }

    fn take(&mut self, offset: u64, data: &[u8], durably: bool, cut: bool) {
        let op = Op { sequence: self.next, sector: offset / SECTOR as u64, data: data.to_vec() };
        self.next += 1;
        let lies = matches!(self.kind, Kind::IgnoresFlush(_) | Kind::Reorders);
        if cut {
            if !lies {
                self.apply_in_part(&op);
            }
        } else if durably && !lies {
            self.apply(&op);
        } else {
            self.cache.push_back(op);
            self.evict();
        }
    }

    /// The cache is written in its own time: by some in order, by others not.
    fn evict(&mut self) {
        match self.kind {
            Kind::IgnoresFlush(most) => {
                let bytes = |cache: &VecDeque<Op>| cache.iter().map(|op| op.data.len()).sum::<usize>();
                while bytes(&self.cache) > most * 8192 {
                    let oldest = self.cache.pop_front();
                    oldest.iter().for_each(|op| self.apply(op));
                }
            }
            Kind::Reorders => {
                while self.cache.front().is_some_and(|oldest| oldest.sequence + 40 < self.next) {
                    let oldest = self.cache.pop_front();
                    oldest.iter().for_each(|op| self.apply(op));
                }
            }
            _ => self.drain(|rng| rng.below(20) == 0),
        }
    }

    /// The power is off, and comes back.
    pub(crate) fn power_cycle(&mut self) {
        let cache = std::mem::take(&mut self.cache);
        if !matches!(self.kind, Kind::IgnoresFlush(_) | Kind::Reorders) {
            for op in &cache {
                match self.rng.below(3) {
                    0 => self.apply(op),
                    1 => self.apply_in_part(op),
                    _ => {}
                }
            }
        }
        // At some cuts it does no harm.
        for _ in 0..3 * self.rng.below(3) {
            self.misbehave();
        }
        self.history.clear();
        (self.off, self.cut_in) = (false, None);
        // What comes later is newer than all that was in flight.
        self.next += 1;
    }

    fn misbehave(&mut self) {
        if self.history.is_empty() {
            return;
        }
        let number = self.rng.below(self.history.len() as u64) as usize;
        let (sector, old, sequence) = self.history[number].clone();
        let blocks = old.len() as u64 / BLOCK;
        let block = sector / 8 + self.rng.below(blocks);
        match self.kind {
            Kind::Tears => {
                // Nothing touched the block since.
                if (0..8).all(|within| self.sequences[(block * 8 + within) as usize] == sequence) {
                    let split = block * 8 + 1 + self.rng.below(7);
                    let (at, end) = (split as usize * SECTOR, (block * 8 + 8) as usize * SECTOR);
                    let from = (split - sector) as usize * SECTOR;
                    self.durable[at..end].copy_from_slice(&old[from..from + (end - at)]);
                }
            }
            Kind::Garbage => self.spoil(block),
            Kind::DamagesNeighbour => {
                let group = block / GROUP;
                let beside = if group == 0 || self.rng.below(2) == 0 { group + 1 } else { group - 1 };
                let block = beside * GROUP + self.rng.below(GROUP);
                self.spoil(block);
            }
            Kind::Unreadable => _ = self.unreadable.insert(block * 8 + self.rng.below(8)),
            Kind::Honest | Kind::IgnoresFlush(_) | Kind::Reorders => {}
        }
    }

    /// Something that was never written there.
    fn spoil(&mut self, block: u64) {
        for within in 0..1 + self.rng.below(8) {
            let at = (block * 8 + within) as usize * SECTOR;
            let kind = self.rng.below(4);
            for byte in 0..SECTOR {
                self.durable[at + byte] = match kind {
                    0 => 0,
                    1 => 0xff,
                    2 => self.durable[byte],
                    _ => self.rng.number() as u8,
                };
            }
            self.durable[at] ^= u8::from(at == 0);
        }
    }
}

impl Handle {
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        Self::sized(kind, seed, BLOCKS)
    }

    pub(crate) fn sized(kind: Kind, seed: u64, blocks: u64) -> Self {
        Self(Arc::new(Mutex::new(Disk::new(kind, seed, blocks))))
    }

    pub(crate) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }
}

impl Medium for Handle {
    fn bytes(&self) -> u64 {
        self.disk().durable.len() as u64
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let mut disk = self.disk();
        if disk.now() != Some(false) {
            return Err(Fault::Gone);
        }
        if let Some(one_of) = disk.flaky
            && disk.rng.below(one_of) == 0
        {
            return Err(Fault::Errs);
        }
        let first = offset / SECTOR as u64;
        let sectors = first..first + (buffer.len() / SECTOR) as u64;
        if disk.unreadable.range(sectors.clone()).next().is_some() {
            return Err(Fault::Errs);
        }
        buffer.copy_from_slice(&disk.durable[offset as usize..][..buffer.len()]);
        for op in &disk.cache {
            for (content, sector) in op.data.chunks_exact(SECTOR).zip(op.sector..) {
                if sectors.contains(&sector) && disk.sequences[sector as usize] <= op.sequence {
                    buffer[(sector - first) as usize * SECTOR..][..SECTOR].copy_from_slice(content);
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        let mut disk = self.disk();
        let cut = disk.now();
        if let Some(cut) = cut {
            disk.take(offset, data, false, cut);
        }
        let refused = Refused { offset, bytes: data.len() as u64, fault: Fault::Gone };
        if cut == Some(false) { Ok(()) } else { Err(refused) }
    }

    fn sync(&mut self) -> Result<(), Refused> {
        Place::sync(self, Mode::Fdatasync).map_err(|fault| Refused { offset: 0, bytes: 0, fault })
    }
}

impl Place for Handle {
    fn write(&self, offset: u64, data: &[u8], mode: Mode) -> Result<(), Fault> {
        let mut disk = self.disk();
        let Some(cut) = disk.now() else { return Err(Fault::Gone) };
        let (sequence, before) = (disk.next, disk.durable[offset as usize..][..data.len()].to_vec());
        disk.take(offset, data, mode == Mode::Dsync, cut);
        if cut {
            return Err(Fault::Gone);
        }
        disk.history.push_back((offset / SECTOR as u64, before, sequence));
        if disk.history.len() > 20 {
            disk.history.pop_front();
        }
        Ok(())
    }

    fn sync(&self, _mode: Mode) -> Result<(), Fault> {
        let mut disk = self.disk();
        match disk.now() {
            None => Err(Fault::Gone),
            Some(false) => {
                disk.flush();
                Ok(())
            }
            Some(true) => {
                // A flush that a cut met wrote some of it.
                if !matches!(disk.kind, Kind::IgnoresFlush(_) | Kind::Reorders) {
                    disk.drain(|rng| rng.below(2) == 0);
                }
                Err(Fault::Gone)
            }
        }
    }
}

/// A ledger in memory. Where the host loses its power too, the last entry may be torn.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) bytes: Arc<Mutex<Vec<u8>>>,
    disk: Handle,
    /// Whether the host loses its power with the medium.
    host: Arc<Mutex<bool>>,
}

impl Memory {
    pub(crate) fn new(first: Vec<u8>, disk: &Handle) -> Self {
        Self { bytes: Arc::new(Mutex::new(first)), disk: disk.clone(), host: Arc::default() }
    }

    pub(crate) fn with_host(&self, loses_power: bool) {
        *self.host.lock().unwrap() = loses_power;
    }
}

impl Keep for Memory {
    fn append(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let mut frame = assay_endure::journal::frame(entry);
        if *self.host.lock().unwrap() {
            let mut disk = self.disk.disk();
            let cut = disk.now();
            if cut != Some(false) {
                let length = if cut.is_some() { disk.rng.below(frame.len() as u64 + 1) as usize } else { 0 };
                frame.truncate(length);
                self.bytes.lock().unwrap().extend(frame);
                return Err(LedgerError::Keeper("the power is off".to_owned()));
            }
        }
        self.bytes.lock().unwrap().extend(frame);
        Ok(())
    }
}

#[cfg(not(windows))]
impl assay_lab::Backing for Handle {
    fn bytes(&self) -> u64 {
        Medium::bytes(self)
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        Medium::read(self, offset, buffer).map_err(|_| std::io::Error::other("no power"))
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        Place::write(self, offset, data, Mode::Fdatasync).map_err(|_| std::io::Error::other("no power"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Place::sync(self, Mode::Fdatasync).map_err(|_| std::io::Error::other("no power"))
    }
}
