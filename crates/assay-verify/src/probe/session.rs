//! The device as the search sees it: each block is saved before it is first written, carries a
//! stamp, and is compared with the stamp written last.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::verification::{SECTOR_BYTES, SectorClass, SectorCounts};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::contract::{Device, Fault};
use super::journal::{Journal, JournalError};
use super::plan::{Plan, UNIT, UNIT_BLOCKS};
use super::stamp::{BLOCK, BLOCK_LEN, SECTOR_LEN, Salt, Seen, compare};

/// Where a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Looks for any loss.
    Discovering,
    /// Looks for the period after which addresses start again.
    FindingPeriod,
    /// Tests places all over.
    Sampling,
    /// Narrows the end of the real part.
    Narrowing,
    /// Puts everything back.
    Restoring,
}

/// How far a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Where it is.
    pub phase: Phase,
    /// Bytes written so far, restoring included.
    pub written_bytes: u64,
    /// Bytes read so far.
    pub read_bytes: u64,
}

/// Why the search ended before its end.
#[derive(Debug)]
pub(crate) enum End {
    Stopped,
    Fault(Fault),
    Journal(JournalError),
    /// What was announced as the most is used up.
    Spent,
    /// A cache of the medium is larger than the settings allow for.
    Hidden,
}

impl From<JournalError> for End {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// Last finding about a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finding {
    pub(crate) seen: Seen,
    pub(crate) counts: SectorCounts,
}

/// Someone to ask whether to go on, and to tell how far it is.
pub(crate) struct Watch<'a> {
    pub(crate) stop: &'a dyn Fn() -> bool,
    pub(crate) progress: &'a mut dyn FnMut(Progress),
}

pub(crate) struct Session<'a, D> {
    pub(crate) device: &'a mut D,
    pub(crate) journal: &'a mut Journal,
    pub(crate) watch: Watch<'a>,
    pub(crate) plan: Plan,
    pub(crate) salt: Salt,
    pub(crate) random: Xoshiro256PlusPlus,
    pub(crate) phase: Phase,
    pub(crate) written_bytes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) generation: u32,
    saved: BTreeSet<u64>,
    written: BTreeMap<u64, u32>,
    pub(crate) findings: BTreeMap<u64, Finding>,
    answered: Option<u64>,
}

fn unreadable() -> Finding {
    let counts = SectorCounts { unreadable: BLOCK / SECTOR_BYTES, ..SectorCounts::default() };
    Finding { seen: Seen::Unreadable, counts }
}

impl<'a, D: Device> Session<'a, D> {
    pub(crate) fn new(device: &'a mut D, journal: &'a mut Journal, plan: Plan, watch: Watch<'a>) -> Self {
        let salt = journal.salt();
        Self {
            device,
            journal,
            watch,
            plan,
            salt,
            random: salt.generator(),
            phase: Phase::Discovering,
            written_bytes: 0,
            read_bytes: 0,
            generation: 0,
            saved: BTreeSet::new(),
            written: BTreeMap::new(),
            findings: BTreeMap::new(),
            answered: None,
        }
    }

    /// Whole blocks of the device.
    pub(crate) fn blocks(&self) -> u64 {
        self.device.bytes() / BLOCK
    }

    fn tell(&mut self) -> Result<(), End> {
        let (phase, written_bytes, read_bytes) = (self.phase, self.written_bytes, self.read_bytes);
        (self.watch.progress)(Progress { phase, written_bytes, read_bytes });
        if (self.watch.stop)() { Err(End::Stopped) } else { Ok(()) }
    }

    /// A medium that errs in one place goes on; one that no longer answers where it did is gone.
    fn bear(&mut self, fault: Fault) -> Result<(), End> {
        if fault != Fault::Medium {
            return Err(End::Fault(fault));
        }
        let answers = |block: u64| {
            let mut buffer = vec![0; BLOCK_LEN];
            self.device.read_at(block * BLOCK, &mut buffer).is_ok()
        };
        let alive = self.answered.is_none_or(answers) && self.device.present();
        if alive { Ok(()) } else { Err(End::Fault(Fault::Gone)) }
    }

    /// Reads a part; false where the medium errs.
    fn read(&mut self, block: u64, buffer: &mut [u8]) -> Result<bool, End> {
        self.tell()?;
        self.read_bytes += buffer.len() as u64;
        match self.device.read_at(block * BLOCK, buffer) {
            Ok(()) => {
                self.answered = Some(block);
                Ok(true)
            }
            Err(fault) => self.bear(fault).map(|()| false),
        }
    }

    /// Writes a part, once more where the medium errs; false where it does so again.
    fn write(&mut self, block: u64, data: &[u8]) -> Result<bool, End> {
        self.tell()?;
        for _ in 0..2 {
            self.written_bytes += data.len() as u64;
            if self.written_bytes > self.plan.most_before_restoring() {
                return Err(End::Spent);
            }
            match self.device.write_at(block * BLOCK, data) {
                Ok(()) => return Ok(true),
                Err(fault) => self.bear(fault)?,
            }
        }
        Ok(false)
    }

    /// Saves what is not yet saved of single blocks; returns when that survives a crash.
    pub(crate) fn save(&mut self, blocks: &[u64]) -> Result<(), End> {
        let mut wanted: Vec<u64> = blocks.iter().copied().filter(|block| !self.saved.contains(block)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut buffer = vec![0; BLOCK_LEN];
        for block in wanted {
            if self.read(block, &mut buffer)? {
                self.journal.save(block * BLOCK, &buffer)?;
                self.saved.insert(block);
            } else {
                self.findings.insert(block, unreadable());
            }
        }
        Ok(self.journal.sync()?)
    }

    /// Saves what is not yet saved of whole units of blocks from `start` on.
    fn save_unit(&mut self, start: u64) -> Result<(), End> {
        let mut buffer = vec![0; UNIT as usize];
        let missing: Vec<u64> = (start..start + UNIT_BLOCKS).filter(|block| !self.saved.contains(block)).collect();
        if missing.is_empty() || !self.read(start, &mut buffer)? {
            return Ok(());
        }
        for part in missing.chunk_by(|a, b| a + 1 == *b) {
            let from = ((part[0] - start) * BLOCK) as usize;
            self.journal.save(part[0] * BLOCK, &buffer[from..from + part.len() * BLOCK_LEN])?;
            self.saved.extend(part);
        }
        Ok(())
    }

    /// Writes stamps into single blocks that were saved, in the order given.
    pub(crate) fn stamp(&mut self, blocks: &[u64]) -> Result<(), End> {
        let mut buffer = vec![0; BLOCK_LEN];
        for &block in blocks {
            if !self.saved.contains(&block) {
                continue; // It could not be read, so it could not be put back.
            }
            self.salt.stamp(block, self.generation, &mut buffer);
            if self.write(block, &buffer)? {
                self.written.insert(block, self.generation);
            } else {
                self.written.remove(&block);
                self.findings.insert(block, unreadable());
            }
        }
        Ok(())
    }

    /// Writes stamps in sequence into `units` units from block `start` on, saving them first.
    pub(crate) fn stamp_run(&mut self, start: u64, units: u64) -> Result<(), End> {
        for unit in 0..units {
            self.save_unit(start + unit * UNIT_BLOCKS)?;
        }
        self.journal.sync()?;
        let mut buffer = vec![0; UNIT as usize];
        for unit in 0..units {
            let from = start + unit * UNIT_BLOCKS;
            if !(from..from + UNIT_BLOCKS).all(|block| self.saved.contains(&block)) {
                continue;
            }
            for (block, part) in (from..).zip(buffer.chunks_exact_mut(BLOCK_LEN)) {
                self.salt.stamp(block, self.generation, part);
            }
            let done = self.write(from, &buffer)?;
            for block in from..from + UNIT_BLOCKS {
                if done {
                    self.written.insert(block, self.generation);
                } else {
                    self.written.remove(&block);
                }
            }
        }
        Ok(())
    }

    /// Returns when the device has what was written.
    pub(crate) fn settle(&mut self) -> Result<(), End> {
        match self.device.sync() {
            Ok(()) => Ok(()),
            Err(fault) => self.bear(fault),
        }
    }

    /// Reads a block back and says what became of it; what was never written is unreadable.
    pub(crate) fn check(&mut self, block: u64) -> Result<Seen, End> {
        let Some(generation) = self.written.get(&block).copied() else {
            return Ok(Seen::Unreadable);
        };
        let (mut read, mut wrote) = (vec![0; BLOCK_LEN], vec![0; BLOCK_LEN]);
        let finding = if self.read(block, &mut read)? {
            self.salt.stamp(block, generation, &mut wrote);
            let (seen, counts) = compare(self.salt, block, &wrote, &read);
            Finding { seen, counts }
        } else {
            unreadable()
        };
        self.findings.insert(block, finding);
        Ok(finding.seen)
    }

    /// Blocks among `count` from `start` that bear the stamp of another place, with that place.
    pub(crate) fn strangers(&mut self, start: u64, count: u64) -> Result<Vec<(u64, u64)>, End> {
        let mut buffer = vec![0; count as usize * BLOCK_LEN];
        if !self.read(start, &mut buffer)? {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (block, content) in (start..).zip(buffer.chunks_exact(BLOCK_LEN)) {
            let mut sectors = content.chunks_exact(SECTOR_LEN).filter_map(|sector| self.salt.origin(sector));
            if let Some((origin, _)) = sectors.find(|(origin, _)| origin / BLOCK != block) {
                let counts = SectorCounts { overwritten: BLOCK / SECTOR_BYTES, ..SectorCounts::default() };
                self.findings.insert(block, Finding { seen: Seen::Alias(origin / BLOCK), counts });
                found.push((block, origin / BLOCK));
            }
        }
        Ok(found)
    }

    /// The first sector of a block, which we did not write: whether it bears the stamp of another
    /// place, and of which.
    pub(crate) fn glance(&mut self, block: u64) -> Result<Option<(u64, u64)>, End> {
        let mut buffer = vec![0; (self.device.block_bytes() as usize).max(SECTOR_LEN)];
        if !self.read(block, &mut buffer)? {
            return Ok(None);
        }
        let stranger = self.salt.origin(&buffer).map(|(origin, _)| origin / BLOCK).filter(|origin| *origin != block);
        if let Some(origin) = stranger {
            let counts = SectorCounts { overwritten: BLOCK / SECTOR_BYTES, ..SectorCounts::default() };
            self.findings.insert(block, Finding { seen: Seen::Alias(origin), counts });
        }
        Ok(stranger.map(|origin| (block, origin)))
    }

    /// First place that is lost, with its class.
    pub(crate) fn first_lost(&self) -> Option<(u64, SectorClass, Option<u64>)> {
        self.findings.iter().find_map(|(block, finding)| match finding.seen {
            Seen::Holds => None,
            Seen::Alias(other) => Some((*block, SectorClass::Overwritten, Some(other))),
            Seen::Lost(class) => Some((*block, class, None)),
            Seen::Unreadable => Some((*block, SectorClass::Unreadable, None)),
        })
    }
}
