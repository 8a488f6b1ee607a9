//! Memory so small that all of it is met by reading a few MiB anywhere: its cells are counted.

use std::collections::BTreeSet;

use super::super::contract::Device;
use super::loss_kind::Repeat;
use super::stages::Search;
use super::stamped::{End, SectorRange};

/// Sectors that are written, and read in other places: 16 MiB, of which the cells are half at most.
pub(super) const COUNTED: u64 = (16 << 20) / 512;

impl<D: Device> Search<'_, '_, D> {
    /// The period, where addresses lead to so few cells that two stretches, wherever they lie, show all of them, in
    /// whatever order they are dealt out: each cell bears the stamp of the place that was written there last, and none
    /// bears that of another cell.
    pub(super) fn counted(&mut self) -> Result<Option<Repeat>, End> {
        let length = COUNTED.min(self.device.sectors() / 4);
        let written = self.device.place(0, length);
        self.write_backwards(written)?;
        let parts = [1, 2].map(|part| self.device.place(self.device.sectors() / 4 * part, length));
        let [one, other] = [self.stamps(parts[0])?, self.stamps(parts[1])?];
        let few = |cells: &BTreeSet<(u64, u32)>| cells.len() as u64 * 2 <= length;
        let cells = one.filter(few).filter(|cells| other.as_ref() == Some(cells));
        Ok(cells.map(|cells| cells.len() as u64).map(|real| Repeat {
            protected: 0,
            period: real,
            real,
            exact: true,
            straight: false,
        }))
    }

    /// The stamps that a place shows; `None` where a sector shows none.
    fn stamps(&mut self, place: SectorRange) -> Result<Option<BTreeSet<(u64, u32)>>, End> {
        let origins = self.device.origins(place)?;
        Ok(origins.into_iter().map(|origin| origin.map(|origin| (origin.sector, origin.generation))).collect())
    }
}
