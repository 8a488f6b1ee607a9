//! What is read where writes are dropped.

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;

use super::cells::{PAGE, PAGE_SECTORS};
use super::content::{SECTOR, noise};
use crate::dice::Dice;

/// What places that drop writes read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DroppedRead {
    /// Zeros.
    Zeros,
    /// 0xFF.
    Ones,
    /// Something else at each reading.
    Random,
    /// Noise that depends on the address alone.
    Noise,
    /// What stood there before anything was written.
    Stale,
    /// What is left in the controller's buffer: the last data that crossed the bus.
    LastOnBus,
    /// The content of a place that holds data: reads start again where writes are dropped.
    Elsewhere,
}

/// The controller's transfer buffer: one page.
#[derive(Debug, Clone)]
pub(super) struct Bus(Box<[u8; PAGE]>);

impl Bus {
    pub(super) fn new() -> Self {
        Self(Box::new([0; PAGE]))
    }

    /// Data from `sector` on are transferred.
    pub(super) fn carry(&mut self, sector: u64, data: &[u8]) {
        let skipped = data.len().saturating_sub(PAGE) / SECTOR;
        for (at, part) in (sector + skipped as u64..).zip(data[skipped * SECTOR..].chunks_exact(SECTOR)) {
            let place = (at % PAGE_SECTORS) as usize * SECTOR;
            self.0[place..place + SECTOR].copy_from_slice(part);
        }
    }

    /// What the buffer holds at the place of `sector`.
    fn left(&self, sector: u64) -> &[u8] {
        let place = (sector % PAGE_SECTORS) as usize * SECTOR;
        &self.0[place..place + SECTOR]
    }
}

/// What fills reads of places without memory.
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

    /// Fills with what neither depends on the memory nor changes; false where it would.
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

    /// Fills with something else at each call.
    pub(super) fn random(&mut self, into: &mut [u8]) {
        for part in into.chunks_exact_mut(SECTOR) {
            noise(self.dice.below(u64::MAX), part);
        }
    }

    /// Fills with what the bus carried last.
    pub(super) fn from_bus(bus: &Bus, sector: u64, into: &mut [u8]) {
        for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
            part.copy_from_slice(bus.left(sector));
        }
    }
}

const _: () = assert!(PAGE_SECTORS * SECTOR_BYTES == PAGE as u64);
