//! Bit errors.

use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;

use super::cells::Cells;
use super::content::{SECTOR, noise};
use crate::dice::Dice;

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
