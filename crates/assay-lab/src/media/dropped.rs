//! The data read where writes are dropped.

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;

use super::cells::{PAGE, PAGE_SECTORS};
use super::content::{SECTOR, noise};
use crate::dice::Dice;

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
