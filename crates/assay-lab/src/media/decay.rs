//! Loss of data: after a time, by bit errors, and by writes that fail silently or are dropped.

use std::collections::HashMap;
use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;
use foldhash::fast::FixedState;

use super::content::{Cells, PAGE, PAGE_SECTORS, SECTOR, noise, pieces};
use crate::dice::Dice;

/// Cells that lose their data after a time. Their age is counted for pages of 4 KiB; a write to any part of a page
/// resets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decay {
    /// How long the cells hold data.
    pub retention: Retention,
    /// Affected byte addresses of the memory.
    pub range: Range<u64>,
}

/// How long cells hold data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// For this many read operations (read disturb).
    Reads(u32),
    /// Until this many further bytes were written anywhere; initial content stays.
    WrittenBytes(u64),
}

/// Age of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Age {
    reads: u32,
    /// Bytes written to the medium before the last write of the page; `None`: never written.
    written_at: Option<u64>,
}

/// State of a [`Decay`].
#[derive(Debug, Clone)]
pub(super) struct Decaying {
    decay: Decay,
    written_bytes: u64,
    ages: HashMap<u64, Age, FixedState>,
}

impl Decaying {
    pub(super) fn new(decay: Decay) -> Self {
        Self { decay, written_bytes: 0, ages: HashMap::default() }
    }

    pub(super) fn written(&mut self, sector: u64, sectors: u64) {
        self.written_bytes += sectors * SECTOR_BYTES;
        for page in sector / PAGE_SECTORS..(sector + sectors).div_ceil(PAGE_SECTORS) {
            if self.concerns(page) {
                self.ages.insert(page, Age { reads: 0, written_at: Some(self.written_bytes) });
            }
        }
    }

    /// Counts a read of `page`.
    pub(super) fn read(&mut self, page: u64) {
        if self.concerns(page) {
            let age = self.ages.entry(page).or_default();
            age.reads = age.reads.saturating_add(1);
        }
    }

    /// Whether `page` has lost its data.
    pub(super) fn is_lost(&self, page: u64) -> bool {
        let age = self.ages.get(&page).copied().unwrap_or_default();
        self.concerns(page) && self.lost_at(age)
    }

    /// Pages that have lost their data.
    pub(super) fn lost_pages(&self) -> impl Iterator<Item = u64> {
        self.ages.iter().filter(|(_, age)| self.lost_at(**age)).map(|(page, _)| *page)
    }

    fn lost_at(&self, age: Age) -> bool {
        match self.decay.retention {
            Retention::Reads(most) => age.reads >= most,
            Retention::WrittenBytes(most) => age.written_at.is_some_and(|then| self.written_bytes - then >= most),
        }
    }

    fn concerns(&self, page: u64) -> bool {
        self.decay.range.contains(&(page * PAGE_SECTORS * SECTOR_BYTES))
    }
}

// Bit errors.

/// Bit errors; probabilities are for a sector of 512 bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Flips {
    /// Probability that a sector is stored with one wrong bit.
    pub per_write: f64,
    /// Probability that a sector is read with one wrong bit, a different one each time.
    pub per_read: f64,
    /// Share of the sectors that are permanently bad, 0 to 1.
    pub bad_density: f64,
    /// The behaviour of such a sector.
    pub bad: BadCells,
    /// Stuck data lines.
    pub stuck: Option<StuckBits>,
}

/// The data read from a sector with bad cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadCells {
    /// One byte of it is stuck at a value.
    StuckByte,
    /// The same noise, whatever was written.
    Noise,
}

/// The same bits of each sector of a range always read as 0 or as 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckBits {
    /// The byte of each sector, 0 to 511.
    pub byte: usize,
    /// The bits of that byte.
    pub bits: u8,
    /// Whether they read as 1.
    pub high: bool,
    /// Affected byte addresses of the memory.
    pub range: Range<u64>,
}

impl Flips {
    /// Without bit errors.
    #[must_use]
    pub fn none() -> Self {
        Self { per_write: 0.0, per_read: 0.0, bad_density: 0.0, bad: BadCells::StuckByte, stuck: None }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if ![self.per_write, self.per_read, self.bad_density].iter().all(|share| (0.0..=1.0).contains(share)) {
            return Err("probabilities of flips are from 0 to 1");
        }
        match &self.stuck {
            Some(stuck) if stuck.byte >= SECTOR => Err("a stuck byte is one of 512"),
            Some(_) | None => Ok(()),
        }
    }
}

/// State of [`Flips`].
#[derive(Debug, Clone)]
pub(super) struct Flipping {
    flips: Flips,
    seed: u64,
    dice: Dice,
    /// Sectors until the next one that is stored wrong, and until the next one that is read wrong.
    writes_left: u64,
    reads_left: u64,
}

impl Flipping {
    pub(super) fn new(flips: Flips, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let (writes_left, reads_left) = (dice.failures_before(flips.per_write), dice.failures_before(flips.per_read));
        Self { flips, seed: mix(seed), dice, writes_left, reads_left }
    }

    /// Flips bits of the data just stored from `sector` on.
    pub(super) fn stored(&mut self, cells: &mut Cells, sector: u64, sectors: u64) {
        let mut at = self.writes_left;
        while at < sectors {
            let bit = self.dice.below(SECTOR_BYTES * 8);
            cells.flip(sector + at, bit as usize / 8, 1 << (bit % 8));
            at = at.saturating_add(1).saturating_add(self.dice.failures_before(self.flips.per_write));
        }
        self.writes_left = at - sectors;
    }

    /// Flips bits of data that are being read.
    pub(super) fn read(&mut self, into: &mut [u8]) {
        let sectors = (into.len() / SECTOR) as u64;
        let mut at = self.reads_left;
        while at < sectors {
            let bit = self.dice.below(SECTOR_BYTES * 8) as usize;
            into[at as usize * SECTOR + bit / 8] ^= 1 << (bit % 8);
            at = at.saturating_add(1).saturating_add(self.dice.failures_before(self.flips.per_read));
        }
        self.reads_left = at - sectors;
    }

    /// Applies bad cells to the data read from `sector` on: the same at each read.
    pub(super) fn lay_over(&self, sector: u64, into: &mut [u8]) {
        if self.flips.bad_density > 0.0 {
            // A density of 1 means every sector: the cast saturates.
            let most = (self.flips.bad_density * 2f64.powi(64)) as u64;
            for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
                let drawn = mix(self.seed ^ sector);
                if drawn <= most {
                    let key = mix(drawn);
                    match self.flips.bad {
                        BadCells::StuckByte => part[key as usize % SECTOR] = (key >> 32) as u8,
                        BadCells::Noise => noise(key, part),
                    }
                }
            }
        }
        let Some(stuck) = &self.flips.stuck else { return };
        let concerned = stuck.range.start / SECTOR_BYTES..stuck.range.end / SECTOR_BYTES;
        for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
            if concerned.contains(&sector) {
                let byte = &mut part[stuck.byte];
                *byte = if stuck.high { *byte | stuck.bits } else { *byte & !stuck.bits };
            }
        }
    }
}

// Writes that fail silently now and then, at any address: an unreliable medium of full size.

/// How often writes fail; 0 means never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slips {
    /// One in this many written sectors is dropped.
    pub drops_one_in: u64,
    /// One in this many written pages of 4 KiB is exchanged with the page written before it.
    pub swaps_one_in: u64,
}

impl Slips {
    /// No write fails.
    #[must_use]
    pub fn none() -> Self {
        Self { drops_one_in: 0, swaps_one_in: 0 }
    }

    pub(super) fn is_some(self) -> bool {
        self != Self::none()
    }

    /// Share of the written data that is lost.
    pub(super) fn share(self) -> f64 {
        let each =
            [self.drops_one_in, self.swaps_one_in].map(|times| if times == 0 { 0.0 } else { 1.0 / times as f64 });
        each.into_iter().sum::<f64>().min(1.0)
    }
}

/// State of [`Slips`].
#[derive(Debug, Clone)]
pub(super) struct Slipping {
    slips: Slips,
    dice: Dice,
    /// Place and content of the last written page.
    last: Option<(u64, Vec<u8>)>,
}

impl Slipping {
    pub(super) fn new(slips: Slips, seed: u64) -> Self {
        Self { slips, dice: Dice::new(seed), last: None }
    }

    /// Writes `data` from `cell` on, except for the slips.
    pub(super) fn write(&mut self, cells: &mut Cells, cell: u64, data: &[u8]) {
        for piece in pieces(cell, data.len()) {
            let (at, part) = (cell + (piece.from / SECTOR) as u64, &data[piece.from..piece.to]);
            let swapped = self.slips.swaps_one_in > 0 && self.dice.below(self.slips.swaps_one_in) == 0;
            match self.last.take() {
                Some((before, content)) if swapped && content.len() == part.len() && before != at => {
                    cells.write(before, part);
                    cells.write(at, &content);
                }
                _ => self.write_sectors(cells, at, part),
            }
            self.last = Some((at, part.to_vec()));
        }
    }

    fn write_sectors(&mut self, cells: &mut Cells, cell: u64, data: &[u8]) {
        if self.slips.drops_one_in == 0 {
            return cells.write(cell, data);
        }
        for (at, sector) in (cell..).zip(data.chunks_exact(SECTOR)) {
            if self.dice.below(self.slips.drops_one_in) > 0 {
                cells.write(at, sector);
            }
        }
    }
}

// The data read where writes are dropped.

/// The data read at places that drop writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DroppedRead {
    /// Zeros.
    Zeros,
    /// 0xFF.
    Ones,
    /// Different data at each read.
    Random,
    /// Noise that depends only on the address.
    Noise,
    /// The initial content.
    Stale,
    /// The content of the controller's buffer: the last data transferred over the bus.
    LastOnBus,
    /// The content of a place that holds data: reads wrap around where writes are dropped.
    Elsewhere,
}

/// The controller's transfer buffer: one page.
#[derive(Debug, Clone)]
pub(super) struct Bus(Box<[u8; PAGE]>);

impl Bus {
    pub(super) fn new() -> Self {
        Self(Box::new([0; PAGE]))
    }

    /// Records a transfer of data from `sector` on.
    pub(super) fn carry(&mut self, sector: u64, data: &[u8]) {
        let skipped = data.len().saturating_sub(PAGE) / SECTOR;
        for (at, part) in (sector + skipped as u64..).zip(data[skipped * SECTOR..].chunks_exact(SECTOR)) {
            let place = (at % PAGE_SECTORS) as usize * SECTOR;
            self.0[place..place + SECTOR].copy_from_slice(part);
        }
    }

    /// The content of the buffer at the place of `sector`.
    fn left(&self, sector: u64) -> &[u8] {
        let place = (sector % PAGE_SECTORS) as usize * SECTOR;
        &self.0[place..place + SECTOR]
    }
}

/// The source of the data read at places without memory.
#[derive(Debug, Clone)]
pub(super) struct Filler {
    pub(super) dropped: DroppedRead,
    seed: u64,
    dice: Dice,
}

impl Filler {
    pub(super) fn new(dropped: DroppedRead, seed: u64) -> Self {
        Self { dropped, seed: mix(seed), dice: Dice::new(seed) }
    }

    /// Fills `into` if the data neither depend on the memory nor change; else returns false.
    pub(super) fn constant(&self, sector: u64, into: &mut [u8]) -> bool {
        match self.dropped {
            DroppedRead::Zeros => into.fill(0),
            DroppedRead::Ones => into.fill(0xff),
            DroppedRead::Noise => {
                for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
                    noise(self.seed ^ sector, part);
                }
            }
            DroppedRead::Random | DroppedRead::Stale | DroppedRead::LastOnBus | DroppedRead::Elsewhere => return false,
        }
        true
    }

    /// Fills `into` with different data at each call.
    pub(super) fn random(&mut self, into: &mut [u8]) {
        for part in into.chunks_exact_mut(SECTOR) {
            noise(self.dice.below(u64::MAX), part);
        }
    }

    /// Fills `into` with the last data transferred over the bus.
    pub(super) fn from_bus(bus: &Bus, sector: u64, into: &mut [u8]) {
        for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
            part.copy_from_slice(bus.left(sector));
        }
    }
}

const _: () = assert!(PAGE_SECTORS * SECTOR_BYTES == PAGE as u64);

#[cfg(test)]
mod tests {
    use super::super::content::{Content, InitialContent, Pattern};
    use super::*;

    #[test]
    fn one_in_so_many_is_dropped_or_exchanged() {
        let lost = |slips: Slips| {
            let mut cells = Cells::new(Content::new(InitialContent::full_of(Pattern::Zeros), 1));
            let mut slipping = Slipping::new(slips, 1);
            (0..1000u64).for_each(|page| slipping.write(&mut cells, page * 8, &[(page % 251) as u8 + 1; 4096]));
            let mut sector = [0; SECTOR];
            let mut differs = |at: u64| {
                cells.read(at, &mut sector);
                sector[0] != (at / 8 % 251) as u8 + 1
            };
            (0..8000).filter(|at| differs(*at)).count()
        };
        assert_eq!(lost(Slips::none()), 0);
        let (dropped, swapped) =
            (lost(Slips { drops_one_in: 100, ..Slips::none() }), lost(Slips { swaps_one_in: 100, ..Slips::none() }));
        assert!((50..120).contains(&dropped) && (60..300).contains(&swapped), "{dropped} {swapped}");
    }
}
