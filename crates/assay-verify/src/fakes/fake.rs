//! A device that announces more than it has.
//!
//! The parameters are those of the published model of f3's documentation: announced size, real
//! size, the period after which addresses start again, and the size of a block. There the period
//! is a power of two; here it may be any multiple of a block.

use assay_core::verification::FakeKind;

use crate::probe::{Device, Fault};

/// How a lap of addresses beyond the first lies on the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Block by block as in the first lap.
    Straight,
    /// Blocks of each MiB exchanged with one another, in each lap otherwise.
    Shuffled,
}

/// Announced and real size, and what lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// What it says it has, in bytes.
    pub announced_bytes: u64,
    /// What it has, in bytes, at the beginning of its addresses.
    pub real_bytes: u64,
    /// Period in bytes after which the addresses start again; `None` where they do not.
    pub wrap_bytes: Option<u64>,
    /// Bytes of a block, which is held or dropped as a whole.
    pub block_bytes: u32,
    /// How later laps lie on the memory.
    pub order: Order,
}

/// A geometry that no device can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a real size up to the announced one and up to the period, and all in whole blocks of at most 1 MiB, are needed"
)]
pub struct GeometryError;

/// Stripe within which [`Order::Shuffled`] exchanges blocks.
const STRIPE: u64 = 1 << 20;

impl Geometry {
    /// As large as it says.
    #[must_use]
    pub fn genuine(bytes: u64) -> Self {
        Self { announced_bytes: bytes, real_bytes: bytes, wrap_bytes: None, block_bytes: 512, order: Order::Straight }
    }

    /// Drops what is written beyond `real` bytes.
    #[must_use]
    pub fn limbo(announced: u64, real: u64) -> Self {
        Self { real_bytes: real, ..Self::genuine(announced) }
    }

    /// Starts again after `real` bytes.
    #[must_use]
    pub fn wraparound(announced: u64, real: u64) -> Self {
        Self { real_bytes: real, wrap_bytes: Some(real), ..Self::genuine(announced) }
    }

    /// Drops what is written beyond `real` bytes, and starts again after `wrap` bytes.
    #[must_use]
    pub fn chain(announced: u64, real: u64, wrap: u64) -> Self {
        Self { real_bytes: real, wrap_bytes: Some(wrap), ..Self::genuine(announced) }
    }

    /// The same with later laps in another order.
    #[must_use]
    pub fn shuffled(self) -> Self {
        Self { order: Order::Shuffled, block_bytes: 4096, ..self }
    }

    /// What kind of fake it is; `None` where it is none.
    #[must_use]
    pub fn kind(&self) -> Option<FakeKind> {
        let wrap = self.wrap_bytes.filter(|wrap| *wrap < self.announced_bytes);
        match wrap {
            Some(wrap) if self.real_bytes < wrap => Some(FakeKind::Chain),
            Some(_) => Some(FakeKind::Wraparound),
            None if self.real_bytes < self.announced_bytes => Some(FakeKind::Limbo),
            None => None,
        }
    }

    /// Bytes from the start that hold data, each in a cell of its own.
    #[must_use]
    pub fn holds_bytes(&self) -> u64 {
        self.real_bytes.min(self.wrap_bytes.unwrap_or(u64::MAX)).min(self.announced_bytes)
    }

    fn check(&self) -> Result<(), GeometryError> {
        let block = u64::from(self.block_bytes);
        let whole = |bytes: u64| block > 0 && bytes.is_multiple_of(block);
        let wrap = self.wrap_bytes.unwrap_or(self.announced_bytes);
        let sound = whole(self.announced_bytes)
            && whole(self.real_bytes)
            && whole(wrap)
            && wrap > 0
            && self.real_bytes <= self.announced_bytes
            && self.real_bytes <= wrap
            && block.is_power_of_two()
            && (512..=STRIPE).contains(&block)
            && (self.order == Order::Straight
                || (wrap.is_multiple_of(STRIPE) && self.real_bytes.is_multiple_of(STRIPE)));
        if sound { Ok(()) } else { Err(GeometryError) }
    }

    /// The memory under an address, both in bytes; `None` where there is none.
    fn cell(&self, address: u64) -> Option<u64> {
        let wrap = self.wrap_bytes.unwrap_or(self.announced_bytes);
        let (lap, place) = (address / wrap, address % wrap);
        let place = match self.order {
            Order::Straight => place,
            // Exclusive or with a number below the blocks of a stripe exchanges blocks in pairs.
            Order::Shuffled => {
                let blocks = STRIPE / u64::from(self.block_bytes);
                place ^ ((lap.wrapping_mul(0x9e37_79b9) % blocks) * u64::from(self.block_bytes))
            }
        };
        (place < self.real_bytes).then_some(place)
    }
}

/// The lie, over a device of at least the real size.
#[derive(Debug, Clone)]
pub struct Fake<D> {
    inner: D,
    geometry: Geometry,
    dropped: u8,
}

impl<D: Device> Fake<D> {
    /// Reads of what was dropped answer with the byte `dropped` (0x00 or 0xff in the field).
    ///
    /// # Errors
    /// Where the geometry is impossible, or larger than `inner`.
    pub fn new(inner: D, geometry: Geometry, dropped: u8) -> Result<Self, GeometryError> {
        geometry.check()?;
        if inner.bytes() < geometry.real_bytes {
            return Err(GeometryError);
        }
        Ok(Self { inner, geometry, dropped })
    }

    /// The memory itself.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// Runs `act` on each part of `length` bytes at `offset` that lies in one piece of memory, with
    /// the place in the memory and the range of the caller's buffer.
    fn pieces(
        &mut self,
        offset: u64,
        length: usize,
        mut act: impl FnMut(&mut D, Option<u64>, std::ops::Range<usize>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let block = u64::from(self.geometry.block_bytes);
        let mut start = 0;
        while start < length {
            let first = self.geometry.cell(offset + start as u64);
            let mut end = start;
            loop {
                let step = block - (offset + end as u64) % block;
                end = (end + step as usize).min(length);
                let next = self.geometry.cell(offset + end as u64);
                let follows = match (first, next) {
                    (Some(first), Some(next)) => next == first + (end - start) as u64,
                    (None, None) => true,
                    _ => false,
                };
                if end == length || !follows {
                    break;
                }
            }
            act(&mut self.inner, first, start..end)?;
            start = end;
        }
        Ok(())
    }
}

impl<D: Device> Device for Fake<D> {
    fn bytes(&self) -> u64 {
        self.geometry.announced_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let dropped = self.dropped;
        self.pieces(offset, buffer.len(), |inner, cell, part| match cell {
            Some(cell) => inner.read_at(cell, &mut buffer[part]),
            None => {
                buffer[part].fill(dropped);
                Ok(())
            }
        })
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.pieces(offset, data.len(), |inner, cell, part| match cell {
            Some(cell) => inner.write_at(cell, &data[part]),
            None => Ok(()),
        })
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.inner.sync()
    }

    fn present(&mut self) -> bool {
        self.inner.present()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::Memory;

    const MIB: u64 = 1 << 20;

    fn fake(geometry: Geometry) -> Fake<Memory> {
        Fake::new(Memory::new(geometry.real_bytes, 1), geometry, 0).unwrap()
    }

    fn at(device: &mut Fake<Memory>, offset: u64) -> u8 {
        let mut sector = [0; 512];
        device.read_at(offset, &mut sector).unwrap();
        assert!(sector.iter().all(|byte| *byte == sector[0]));
        sector[0]
    }

    #[test]
    fn each_kind_does_what_it_is_named_for() {
        let mut limbo = fake(Geometry::limbo(8 * MIB, 2 * MIB));
        limbo.write_at(2 * MIB - 512, &[7; 1024]).unwrap();
        assert_eq!((at(&mut limbo, 2 * MIB - 512), at(&mut limbo, 2 * MIB)), (7, 0));

        let mut wrap = fake(Geometry::wraparound(8 * MIB, 2 * MIB));
        wrap.write_at(4 * MIB - 512, &[7; 1024]).unwrap();
        assert_eq!((at(&mut wrap, 0), at(&mut wrap, 2 * MIB - 512), at(&mut wrap, 6 * MIB)), (7, 7, 7));

        let mut chain = fake(Geometry::chain(8 * MIB, MIB, 4 * MIB));
        chain.write_at(5 * MIB - 512, &[7; 1024]).unwrap();
        assert_eq!((at(&mut chain, MIB - 512), at(&mut chain, MIB), at(&mut chain, 5 * MIB)), (7, 0, 0));
    }

    #[test]
    fn a_shuffled_lap_is_a_permutation_of_the_first() {
        let geometry = Geometry::wraparound(8 * MIB, 2 * MIB).shuffled();
        for lap in 0..4 {
            let mut cells: Vec<u64> =
                (0..512).map(|block| geometry.cell(lap * 2 * MIB + block * 4096).unwrap()).collect();
            assert_eq!(lap == 0, cells.is_sorted());
            cells.sort_unstable();
            assert!(cells.iter().enumerate().all(|(index, cell)| *cell == index as u64 * 4096));
        }
    }

    #[test]
    fn kinds_and_impossible_geometries() {
        assert_eq!(Geometry::genuine(MIB).kind(), None);
        assert_eq!(Geometry::limbo(8 * MIB, MIB).kind(), Some(FakeKind::Limbo));
        assert_eq!(Geometry::wraparound(8 * MIB, MIB).kind(), Some(FakeKind::Wraparound));
        assert_eq!(Geometry::chain(8 * MIB, MIB, 2 * MIB).kind(), Some(FakeKind::Chain));
        let memory = || Memory::new(64 * MIB, 1);
        assert!(Fake::new(memory(), Geometry::limbo(MIB, 2 * MIB), 0).is_err());
        assert!(Fake::new(memory(), Geometry::chain(8 * MIB, 4 * MIB, 2 * MIB), 0).is_err());
        assert!(Fake::new(memory(), Geometry::limbo(8 * MIB, MIB + 1), 0).is_err());
    }
}
