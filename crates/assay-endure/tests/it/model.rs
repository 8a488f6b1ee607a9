//! Media with known ends, in compressed time: a sector fails from a stated cycle on, whatever is written again meanwhile.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use assay_core::endurance::FailureKind;
use assay_endure::{Fault, Medium, Refused, SECTOR, Stamp};

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

/// How a sector fails, and in which cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) kind: FailureKind,
}

/// What happens to the medium or to what is between, from an operation on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// This number of operations fail with this fault.
    Fails(Fault, u64),
    /// Everything reads as zeros, and writes go nowhere.
    Blank,
    /// Writes are refused.
    RefusesWrites(Fault),
    /// Writes go nowhere.
    DropsWrites,
    /// One page of this many goes on as before; the others do this.
    KeepsFew(u64, Others),
    /// The last of this many parts goes on as before; writes to the others go nowhere.
    KeepsEnd(u64),
    /// One operation of this many works, the others give errors.
    NowAndThen(u64),
    /// One reading of this many gives zeros.
    ReadsZeros(u64),
    /// One operation of this many gives an error.
    Errs(u64),
    /// At once, another medium is in its place, which holds what the test of this number wrote.
    Exchanged(u64),
}

/// What pages do that a medium lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    ReadAsZeros,
    GiveErrors,
    DropWrites,
    RefuseWrites,
}

/// Whether a medium that keeps one page of this many keeps this one.
fn keeps(one_in: u64, sector: u64) -> bool {
    Rng(sector / 8).below(one_in) == 0
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) sectors: u64,
    /// Sectors that it really has; addresses start again.
    pub(crate) real: u64,
    content: Vec<Vec<u8>>,
    fates: Vec<Fate>,
    /// When something happens, counted in operations, and what.
    pub(crate) event: Option<(u64, Event)>,
    pub(crate) operations: u64,
    /// Old content of sectors that are not flushed.
    unflushed: Vec<(u64, Vec<u8>)>,
    /// What time did to sectors; what is written anew is as new.
    pub(crate) faded: BTreeMap<u64, FailureKind>,
}

/// Shared, so that it outlives the process that tests it.
#[derive(Debug, Clone)]
pub(crate) struct Handle(pub(crate) Rc<RefCell<Model>>);

pub(crate) const NEVER: Fate = Fate { from: u64::MAX, until: u64::MAX, kind: FailureKind::Zeros };

impl Model {
    pub(crate) fn new(sectors: u64, fates: Vec<Fate>) -> Self {
        Self {
            sectors,
            real: sectors,
            content: vec![vec![0; SECTOR]; sectors as usize],
            fates,
            event: None,
            operations: 0,
            unflushed: Vec::new(),
            faded: BTreeMap::new(),
        }
    }

    /// The power fails: of what was not flushed, some is lost.
    pub(crate) fn power_cut(&mut self, rng: &mut Rng) {
        let unflushed = std::mem::take(&mut self.unflushed);
        for (sector, old) in unflushed.into_iter().rev() {
            if rng.below(2) == 0 {
                self.content[sector as usize] = old;
            }
        }
    }

    /// What is the matter now.
    fn event(&mut self) -> Option<Event> {
        self.operations += 1;
        let (from, event) = self.event?;
        let since = self.operations.checked_sub(from)?;
        match event {
            Event::Fails(_, length) if since >= length => {
                self.event = None;
                None
            }
            Event::NowAndThen(one_in) => {
                (Rng(self.operations).below(one_in) > 0).then_some(Event::Fails(Fault::Errs, u64::MAX))
            }
            Event::ReadsZeros(one_in) => (Rng(self.operations).below(one_in) == 0).then_some(Event::Blank),
            Event::Errs(one_in) => {
                (Rng(self.operations).below(one_in) == 0).then_some(Event::Fails(Fault::Errs, u64::MAX))
            }
            Event::Exchanged(unit) => {
                for (address, sector) in (0..).zip(&mut self.content) {
                    Stamp { unit, round: 3, address }.fill(sector);
                }
                self.event = None;
                None
            }
            event => Some(event),
        }
    }

    fn failing(&self, sector: u64, stored: &[u8]) -> Option<FailureKind> {
        let fate = self.fates[sector as usize];
        let round = Stamp::read(stored).map_or(0, |stamp| stamp.round);
        (fate.from <= round && round < fate.until).then_some(fate.kind).or_else(|| self.faded.get(&sector).copied())
    }

    fn read(&self, sector: u64, lost: Option<Others>, out: &mut [u8]) -> Result<(), Fault> {
        match lost {
            Some(Others::ReadAsZeros) => {
                out.fill(0);
                return Ok(());
            }
            Some(Others::GiveErrors) => return Err(Fault::Errs),
            Some(Others::DropWrites | Others::RefuseWrites) | None => {}
        }
        let stored = &self.content[(sector % self.real) as usize];
        out.copy_from_slice(stored);
        let Some(kind) = self.failing(sector, stored) else { return Ok(()) };
        let stamp = Stamp::read(stored).unwrap_or(Stamp { unit: 0, round: 0, address: 0 });
        let mut rng = Rng(sector ^ stamp.round << 32);
        match kind {
            FailureKind::Zeros => out.fill(0),
            FailureKind::Ones => out.fill(0xff),
            FailureKind::StaleRound => Stamp { round: stamp.round - 1, ..stamp }.fill(out),
            FailureKind::OtherAddress => Stamp { address: stamp.address ^ 64, ..stamp }.fill(out),
            FailureKind::OtherDevice => Stamp { unit: !stamp.unit, ..stamp }.fill(out),
            FailureKind::BitFlips => {
                for _ in 0..=2 * rng.below(100) {
                    let bit = rng.below(4096) as usize;
                    out[bit / 8] ^= 1 << (bit % 8);
                }
                if out == stored.as_slice() {
                    out[0] ^= 1;
                }
            }
            FailureKind::Garbage => out.iter_mut().for_each(|byte| *byte = rng.next() as u8),
            FailureKind::Unreadable => return Err(Fault::Errs),
        }
        Ok(())
    }
}

/// What is the matter with a sector of a medium that keeps few.
fn lost(event: Option<Event>, sector: u64) -> Option<Others> {
    match event {
        Some(Event::KeepsFew(one_in, others)) if !keeps(one_in, sector) => Some(others),
        _ => None,
    }
}

impl Medium for Handle {
    fn bytes(&self) -> u64 {
        self.0.borrow().sectors * SECTOR as u64
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let mut model = self.0.borrow_mut();
        let event = model.event();
        match event {
            Some(Event::Fails(fault, _)) => return Err(fault),
            Some(Event::Blank) => {
                buffer.fill(0);
                return Ok(());
            }
            _ => {}
        }
        let first = offset / SECTOR as u64;
        buffer
            .chunks_mut(SECTOR)
            .zip(first..)
            .try_for_each(|(out, sector)| model.read(sector, lost(event, sector), out))
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        let mut model = self.0.borrow_mut();
        let event = model.event();
        match event {
            Some(Event::Fails(fault, _) | Event::RefusesWrites(fault)) => {
                return Err(Refused { offset, bytes: data.len() as u64, fault });
            }
            // Zeros are read, and what is written stays.
            Some(Event::Blank) if matches!(model.event, Some((_, Event::ReadsZeros(_)))) => {}
            Some(Event::Blank | Event::DropsWrites) => return Ok(()),
            Some(_) | None => {}
        }
        let sectors = offset / SECTOR as u64..(offset + data.len() as u64) / SECTOR as u64;
        if sectors.clone().any(|sector| lost(event, sector) == Some(Others::RefuseWrites)) {
            return Err(Refused { offset, bytes: data.len() as u64, fault: Fault::Errs });
        }
        let (real, sectors_of_all) = (model.real, model.sectors);
        for (sector, bytes) in sectors.zip(data.chunks(SECTOR)) {
            let end = matches!(event, Some(Event::KeepsEnd(parts)) if sector < sectors_of_all - sectors_of_all / parts);
            if end || lost(event, sector) == Some(Others::DropWrites) {
                continue;
            }
            let at = sector % real;
            model.faded.remove(&sector);
            let old = std::mem::replace(&mut model.content[at as usize], bytes.to_vec());
            model.unflushed.push((at, old));
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Refused> {
        let mut model = self.0.borrow_mut();
        match model.event() {
            Some(Event::Fails(fault, _)) => Err(Refused { offset: 0, bytes: 0, fault }),
            _ => {
                model.unflushed.clear();
                Ok(())
            }
        }
    }
}
