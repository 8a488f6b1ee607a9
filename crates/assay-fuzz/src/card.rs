//! A sparse card in memory, of zeros with noise here and there, which knows what changed.

use std::collections::BTreeMap;

use assay_verify::probe::{Device, Fault};

const SECTOR: u64 = 512;

/// What stands in each sector that is not as it was at first.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) bytes: u64,
    pub(crate) sectors: BTreeMap<u64, [u8; SECTOR as usize]>,
    /// Reads and writes until the plug is pulled; `None` for never.
    pub(crate) left: Option<u64>,
}

impl Card {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, sectors: BTreeMap::new(), left: None }
    }

    /// What stood in a sector at first: every 16th block is noise.
    pub(crate) fn original(sector: u64) -> [u8; SECTOR as usize] {
        let mut content = [0; SECTOR as usize];
        if (sector / 8).is_multiple_of(16) {
            let mut word = sector.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            for place in content.chunks_exact_mut(8) {
                place.copy_from_slice(&word.to_le_bytes());
                word = word.rotate_left(9) ^ 0xd134_2543_de82_ef95;
            }
        }
        content
    }

    pub(crate) fn sector(&self, sector: u64) -> [u8; SECTOR as usize] {
        self.sectors.get(&sector).copied().unwrap_or_else(|| Self::original(sector))
    }
}

impl Device for Card {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.lives()?;
        self.inside(offset, buffer.len());
        for (sector, part) in (offset / SECTOR..).zip(buffer.chunks_mut(SECTOR as usize)) {
            part.copy_from_slice(&self.sector(sector)[..part.len()]);
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.lives()?;
        self.inside(offset, data.len());
        for (sector, part) in (offset / SECTOR..).zip(data.chunks_exact(SECTOR as usize)) {
            let content: [u8; SECTOR as usize] = part.try_into().map_err(|_| Fault::Medium)?;
            if content == Self::original(sector) {
                self.sectors.remove(&sector);
            } else {
                self.sectors.insert(sector, content);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        if self.present() { Ok(()) } else { Err(Fault::Gone) }
    }

    fn present(&mut self) -> bool {
        self.left != Some(0)
    }
}

impl Card {
    /// Counts a read or write.
    fn lives(&mut self) -> Result<(), Fault> {
        match &mut self.left {
            Some(0) => Err(Fault::Gone),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What the contract of a device asks of its caller.
    fn inside(&self, offset: u64, length: usize) {
        let end = offset.checked_add(length as u64);
        let whole = offset.is_multiple_of(SECTOR) && (length as u64).is_multiple_of(SECTOR);
        assert!(whole && end.is_some_and(|end| end <= self.bytes), "{length} bytes at {offset}");
    }
}
