//! Sparse memory: terabytes, of which only what is written takes room.

use std::collections::HashMap;

use crate::probe::{BLOCK, Device, Fault};

const PAGE: usize = BLOCK as usize;
const SECTOR: usize = 512;

/// An honest device. What was never written reads as noise that depends on the place, so that a
/// wrong restore is seen.
#[derive(Debug, Clone)]
pub struct Memory {
    bytes: u64,
    seed: u64,
    pages: HashMap<u64, Box<[u8]>>,
}

impl Memory {
    /// A device of `bytes`; `seed` determines the noise.
    #[must_use]
    pub fn new(bytes: u64, seed: u64) -> Self {
        Self { bytes, seed, pages: HashMap::new() }
    }

    /// What stood in whole sectors of page number `page`, from byte `inside` of it on, at first.
    fn noise(&self, page: u64, inside: usize, into: &mut [u8]) {
        for (sector, part) in (inside / SECTOR..).zip(into.chunks_mut(SECTOR)) {
            let mut word = ((page * 8 + sector as u64) ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            for place in part.chunks_exact_mut(8) {
                place.copy_from_slice(&word.to_le_bytes());
                word = word.rotate_left(9) ^ 0xd134_2543_de82_ef95;
            }
        }
    }

    /// Byte offsets of the pages that are not as they were at first.
    #[must_use]
    pub fn changed(&self) -> Vec<u64> {
        let mut first = vec![0; PAGE];
        let mut changed = Vec::new();
        for (page, content) in &self.pages {
            self.noise(*page, 0, &mut first);
            if content[..] != first[..] {
                changed.push(page * BLOCK);
            }
        }
        changed.sort_unstable();
        changed
    }
}

impl Device for Memory {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let (page, inside) = (at / BLOCK, (at % BLOCK) as usize);
            let length = (PAGE - inside).min(buffer.len() - done);
            let into = &mut buffer[done..done + length];
            match self.pages.get(&page) {
                Some(content) => into.copy_from_slice(&content[inside..inside + length]),
                None if inside.is_multiple_of(SECTOR) && length.is_multiple_of(SECTOR) => {
                    self.noise(page, inside, into)
                }
                None => {
                    let mut whole = [0; PAGE];
                    self.noise(page, 0, &mut whole);
                    into.copy_from_slice(&whole[inside..inside + length]);
                }
            }
            done += length;
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let (page, inside) = (at / BLOCK, (at % BLOCK) as usize);
            let length = (PAGE - inside).min(data.len() - done);
            if !self.pages.contains_key(&page) {
                let mut whole = vec![0; PAGE];
                self.noise(page, 0, &mut whole);
                self.pages.insert(page, whole.into_boxed_slice());
            }
            if let Some(content) = self.pages.get_mut(&page) {
                content[inside..inside + length].copy_from_slice(&data[done..done + length]);
            }
            done += length;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}
