//! Memory so small that reading a few MiB anywhere meets all of its cells: they are counted.

use std::collections::BTreeSet;

use rand_core::Rng;

use super::super::contract::Device;
use super::super::stamp::Origin;
use super::loss_kind::Repeat;
use super::stages::Search;
use super::stamped::{End, SectorRange};

/// Sectors that are written, and read in other places: 16 MiB. The memory has at most half as many cells.
pub(super) const COUNTED: u64 = (16 << 20) / 512;

impl<D: Device> Search<'_, '_, D> {
    /// The period of a device whose memory is so small that each of four stretches shows all of its cells, in any order. Each cell
    /// shows the stamp that was written to it last. The written stretch is one of the four: addresses in it with cells of their own
    /// would show further stamps.
    pub(super) fn counted(&mut self) -> Result<Option<Repeat>, End> {
        let length = COUNTED.min(self.device.sectors() / 4);
        let written = self.device.place(0, length);
        self.write_backwards(written)?;
        // At random, as lines of the address may be the same at all multiples of a large power of two.
        let quarter = self.device.sectors() / 4;
        let parts = [1, 2, 3].map(|part| {
            let beside = self.device.random.next_u64() % (quarter - length + 1);
            self.device.place(quarter * part + beside, length)
        });
        let few = |cells: &BTreeSet<Origin>| cells.len() as u64 * 2 <= length;
        let Some(cells) = self.stamps(parts[0])?.filter(few) else { return Ok(None) };
        for place in [parts[1], parts[2], written] {
            if self.stamps(place)?.as_ref() != Some(&cells) {
                return Ok(None);
            }
        }
        let real = cells.len() as u64;
        Ok(Some(Repeat { protected: 0, period: real, real, exact: true, straight: false }))
    }

    /// The stamps that a place shows; `None` where a sector shows none.
    fn stamps(&mut self, place: SectorRange) -> Result<Option<BTreeSet<Origin>>, End> {
        Ok(self.device.origins(place)?.into_iter().collect())
    }
}
