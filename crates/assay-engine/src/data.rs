//! What is written: incompressible, and no 4 KiB twice.
//!
//! The test area is filled with the output of xoshiro256++ keyed by seed and offset. Writes inside
//! the timed part reuse random buffers and stamp every 4 KiB with a number of its own (16 bytes
//! from seed, offset and a counter), so that no block of a file system or flash page is ever a
//! copy of another, at a cost of nanoseconds per operation.

use assay_core::workload::Workload;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Distance of stamps in bytes: the page of most file systems and flash translation layers.
const STAMP_STEP: usize = 4096;

/// Fills `buffer` with random bytes that depend on `seed` and the absolute `offset` only.
pub fn fill_unique(buffer: &mut [u8], seed: u64, offset: u64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ mix(offset)));
    generator.fill_bytes(buffer);
}

/// Makes the random `buffer` unlike any other: `turn` counts the writes of a job.
#[inline]
pub fn stamp(buffer: &mut [u8], seed: u64, offset: u64, turn: u64) {
    let mut at = offset;
    for page in buffer.chunks_mut(STAMP_STEP) {
        let first = mix(seed ^ at);
        let second = first ^ turn;
        if let Some(head) = page.first_chunk_mut::<16>() {
            head[..8].copy_from_slice(&first.to_le_bytes());
            head[8..].copy_from_slice(&mix(second).to_le_bytes());
        }
        at += STAMP_STEP as u64;
    }
}

/// Pages, some of them copies of each other or with zeros that compress.
pub(crate) struct Content {
    duplicate_percent: u64,
    /// Bytes of a page before its zeros.
    filled: usize,
    /// The page that copies are of.
    copy: Box<[u8; STAMP_STEP]>,
}

impl Content {
    /// What a workload writes, where it is not the usual.
    pub(crate) fn of_workload(workload: &Workload, seed: u64) -> Option<Self> {
        let (duplicates, zeros) = (workload.refined.duplicate_percent, usize::from(workload.refined.zero_percent));
        if duplicates == 0 && zeros == 0 {
            return None;
        }
        let filled = STAMP_STEP - STAMP_STEP * zeros.min(100) / 100;
        // All jobs and repeats write the same copies.
        let mut copy = Box::new([0; STAMP_STEP]);
        fill_unique(&mut copy[..filled], mix(seed & 0xffff_ffff), 0);
        Some(Self { duplicate_percent: u64::from(duplicates), filled, copy })
    }

    /// Makes the pages of a write: each is a copy by its share, else unlike any other.
    pub(crate) fn make(&self, buffer: &mut [u8], seed: u64, offset: u64, turn: u64) {
        let mut at = offset;
        for page in buffer.chunks_mut(STAMP_STEP) {
            let drawn = mix(mix(seed ^ at) ^ turn);
            let length = page.len();
            if drawn % 100 < self.duplicate_percent {
                page.copy_from_slice(&self.copy[..length]);
            } else {
                let (head, tail) = page.split_at_mut(self.filled.min(length));
                fill_unique(head, drawn, at);
                tail.fill(0);
            }
            at += STAMP_STEP as u64;
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit.
#[inline]
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_page_is_written_twice() {
        let mut seen = HashSet::new();
        let mut buffer = vec![0u8; 64 * 1024];
        fill_unique(&mut buffer, 7, 0);
        for turn in 0..50u64 {
            stamp(&mut buffer, 7, (turn % 3) * 65_536, turn);
            for page in buffer.chunks(4096) {
                assert!(seen.insert(page.to_vec()), "turn {turn}");
            }
        }
    }

    /// Five standard errors of a share of 6,400 pages are 0.031.
    #[test]
    fn copies_and_zeros_have_their_shares() {
        use assay_core::refined::Refined;
        use assay_core::workload::{Op, Pattern};
        let refined = Refined { duplicate_percent: 30, zero_percent: 50, ..Refined::default() };
        let workload = Workload { refined, ..Workload::new("w", Op::Write, Pattern::Random, 65_536) };
        let content = Content::of_workload(&workload, 5).unwrap();
        let (mut seen, mut copies, mut buffer) = (HashSet::new(), 0, vec![1u8; 65_536]);
        for turn in 0..400u64 {
            content.make(&mut buffer, 7, (turn % 3) * 65_536, turn);
            for page in buffer.chunks(4096) {
                assert!(page[2048..].iter().all(|byte| *byte == 0) && page[..2048].iter().any(|byte| *byte != 0));
                copies += u32::from(!seen.insert(page.to_vec()));
            }
        }
        let share = f64::from(copies) / 6400.0;
        assert!((share - 0.3).abs() < 0.031, "{share}");
        assert!(Content::of_workload(&Workload::new("w", Op::Write, Pattern::Random, 512), 5).is_none());
    }

    #[test]
    fn data_does_not_compress() {
        // Every byte value about equally often: chi-square of 65,536 bytes stays near 255.
        let mut buffer = vec![0u8; 65_536];
        fill_unique(&mut buffer, 1, 4096);
        stamp(&mut buffer, 1, 4096, 0);
        let mut counts = [0f64; 256];
        buffer.iter().for_each(|b| counts[*b as usize] += 1.0);
        let chi: f64 = counts.iter().map(|c| (c - 256.0f64).powi(2) / 256.0).sum();
        assert!((150.0..400.0).contains(&chi), "{chi}");
    }

    #[test]
    fn the_same_place_gets_the_same_data() {
        let (mut a, mut b) = (vec![0u8; 512], vec![0u8; 512]);
        fill_unique(&mut a, 3, 8192);
        fill_unique(&mut b, 3, 8192);
        assert_eq!(a, b);
        fill_unique(&mut b, 3, 4096);
        assert_ne!(a, b);
    }
}
