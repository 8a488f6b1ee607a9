//! Memory that direct I/O accepts.

use std::ptr::NonNull;

use assay_core::workload::Workload;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::sys;

/// Page-aligned, zeroed memory of a fixed size, outside of the heap.
///
/// A mapping of its own is aligned to the page, which satisfies every direct I/O alignment that
/// `statx` reports (at most a page), and it can be registered with a ring.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone, is bound to no thread, and any thread may unmap it.
// The kernel alone holds its address beside this value, while an operation is in flight. The caller that hands the
// address over keeps the value until then (`drop` of the engines).
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// Maps `length` bytes, touched so that no page fault falls into the timed part.
    ///
    /// # Errors
    /// The system's error where memory is short.
    pub fn new(length: usize) -> std::io::Result<Self> {
        let length = length.max(1);
        Ok(Self { start: sys::map(length)?, length })
    }

    /// The memory to read.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `length` bytes of memory, initialised by the kernel with zeros, mapped until `self` is dropped,
        // which the lifetime of the slice forbids. Writers need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// The memory to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the access exclusive in this process. Users of a whole buffer
        // hand it to the kernel only in system calls that return when the kernel is done with it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// Address of the memory, for the kernel.
    #[must_use]
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this address and length and is dropped once.
        unsafe { sys::unmap(self.start, self.length) };
    }
}

/// Equal slices of one mapping, one a slot of the queue.
#[derive(Debug)]
pub(crate) struct Pool {
    memory: AlignedBuffer,
    slots: usize,
    /// Bytes used of each slot.
    block: usize,
    /// Bytes from one slot to the next: the block rounded up to a page.
    stride: usize,
}

/// Bytes of memory for `slots` buffers of `block` bytes.
#[must_use]
pub fn buffer_bytes(slots: u64, block: u64) -> u64 {
    bytes_in_pages(slots, block, sys::page_bytes())
}

fn bytes_in_pages(slots: u64, block: u64, page: usize) -> u64 {
    slots.saturating_mul(block.max(1).checked_next_multiple_of(page as u64).unwrap_or(u64::MAX))
}

impl Pool {
    pub(crate) fn new(slots: usize, block: usize) -> std::io::Result<Self> {
        Self::in_pages(slots, block, sys::page_bytes())
    }

    fn in_pages(slots: usize, block: usize, page: usize) -> std::io::Result<Self> {
        let stride = block.max(1).checked_next_multiple_of(page).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let memory = AlignedBuffer::new(stride.checked_mul(slots).ok_or(std::io::ErrorKind::OutOfMemory)?)?;
        Ok(Self { memory, slots, block, stride })
    }

    /// Memory of a slot that is not in flight. The others may be: the kernel writes them at any time, so
    /// that a reference to the whole mapping must not exist here, not even for a moment.
    #[inline]
    pub(crate) fn slot(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: `block` bytes within the mapping, which lives as long as the borrow of `self`. Slots do not
        // overlap, `&mut self` keeps this process from a second reference to one, and the kernel has no
        // operation on a slot that is not in flight.
        unsafe { std::slice::from_raw_parts_mut(self.slot_ptr(slot), self.block) }
    }

    /// Where a slot begins, for the kernel; forms no reference.
    #[inline]
    pub(crate) fn slot_ptr(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "no slot {slot} of {}", self.slots);
        self.memory.as_ptr().wrapping_add(slot * self.stride)
    }

    /// Fills all slots; none may be in flight.
    pub(crate) fn fill(&mut self, seed: u64) {
        fill_unique(self.memory.as_mut_slice(), seed, 0);
    }
}

// What is written: incompressible, and no 4 KiB twice.
//
// The test area is filled with the output of xoshiro256++ keyed by seed and offset. Writes inside
// the timed part reuse random buffers and stamp every 4 KiB with a number of its own (16 bytes
// from seed, offset and a counter), so that no block of a file system or flash page is ever a
// copy of another, at a cost of nanoseconds per operation.

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
    fn slots_are_aligned_and_apart() {
        let mut pool = Pool::new(3, 5000).unwrap();
        for slot in 0..3 {
            assert!(pool.slot_ptr(slot).addr().is_multiple_of(sys::page_bytes()));
            assert_eq!(pool.slot(slot).len(), 5000);
            pool.slot(slot).fill(slot as u8 + 1);
        }
        assert!(pool.slot(0).iter().all(|b| *b == 1) && pool.slot(2).iter().all(|b| *b == 3));
    }

    /// The mapping begins at a page of the machine, whatever that is; from there on all slots are as far as they have to be.
    #[test]
    fn slots_begin_at_pages_of_any_size() {
        for page in [4096, 16_384, 65_536] {
            for block in [1, 512, 4096, 4097, 16_384, 65_535, 65_536, 65_537] {
                let mut pool = Pool::in_pages(3, block, page).unwrap();
                let first = pool.slot_ptr(0).addr();
                for slot in 0..3 {
                    assert!((pool.slot_ptr(slot).addr() - first).is_multiple_of(page), "{block} in pages of {page}");
                    pool.slot(slot).fill(slot as u8 + 1);
                }
                for slot in 0..3 {
                    assert!(pool.slot(slot).iter().all(|byte| *byte == slot as u8 + 1), "{block} in pages of {page}");
                }
                let bytes = pool.memory.as_slice().len();
                assert_eq!(bytes as u64, bytes_in_pages(3, block as u64, page), "{block} in pages of {page}");
                assert!(bytes < 3 * (block + page) && bytes.is_multiple_of(page), "{block} in pages of {page}");
            }
        }
    }

    /// A thread stands in for the kernel. Only Miri sees a violation: `cargo +nightly miri test -p
    /// assay-engine buffer`.
    #[test]
    fn a_slot_is_borrowed_while_another_is_in_flight() {
        struct InFlight(*mut u8);
        // SAFETY: the thread is joined before the pool is dropped, and writes a slot that nothing else uses.
        unsafe impl Send for InFlight {}

        let mut pool = Pool::new(2, 4096).unwrap();
        let other = InFlight(pool.slot_ptr(1));
        let kernel = std::thread::spawn(move || {
            let other = other;
            for at in 0..16 {
                // SAFETY: within slot 1, which is mapped and not borrowed.
                unsafe { other.0.wrapping_add(at).write(7) };
            }
        });
        pool.slot(0).fill(1);
        kernel.join().unwrap();
        assert!(pool.slot(0).iter().all(|b| *b == 1));
        assert_eq!(pool.slot(1)[..16], [7; 16]);
    }

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
