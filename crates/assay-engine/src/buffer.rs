//! Memory that direct I/O accepts.

use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Page-aligned, zeroed memory of a fixed size, outside of the heap.
///
/// A mapping of its own is aligned to the page, which satisfies every direct I/O alignment that
/// `statx` reports (at most a page), and it can be registered with a ring.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone; nothing else holds its address.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// Maps `length` bytes, touched so that no page fault falls into the timed part.
    ///
    /// # Errors
    /// The system's error where memory is short.
    pub fn new(length: usize) -> std::io::Result<Self> {
        let length = length.max(1);
        // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )?
        };
        let start = NonNull::new(start.cast::<u8>()).ok_or(std::io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// The memory to read.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping lives as long as `self` and is `length` bytes of initialised memory.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// The memory to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the access exclusive.
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
        // An error would mean a wrong address; there is nothing to do about it here.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Equal slices of one mapping, one a slot of the queue.
#[derive(Debug)]
pub(crate) struct Pool {
    memory: AlignedBuffer,
    /// Bytes used of each slot.
    block: usize,
    /// Bytes from one slot to the next: the block rounded up to a page.
    stride: usize,
}

impl Pool {
    pub(crate) fn new(slots: usize, block: usize) -> std::io::Result<Self> {
        let stride = block.max(1).next_multiple_of(rustix::param::page_size());
        let memory = AlignedBuffer::new(stride.checked_mul(slots).ok_or(std::io::ErrorKind::OutOfMemory)?)?;
        Ok(Self { memory, block, stride })
    }

    #[inline]
    pub(crate) fn slot(&mut self, slot: usize) -> &mut [u8] {
        let start = slot * self.stride;
        &mut self.memory.as_mut_slice()[start..start + self.block]
    }

    #[inline]
    pub(crate) fn slot_ptr(&self, slot: usize) -> *mut u8 {
        self.memory.as_ptr().wrapping_add(slot * self.stride)
    }

    pub(crate) fn fill(&mut self, seed: u64) {
        crate::data::fill_unique(self.memory.as_mut_slice(), seed, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_and_apart() {
        let mut pool = Pool::new(3, 5000).unwrap();
        for slot in 0..3 {
            assert!(pool.slot_ptr(slot).addr().is_multiple_of(rustix::param::page_size()));
            assert_eq!(pool.slot(slot).len(), 5000);
            pool.slot(slot).fill(slot as u8 + 1);
        }
        assert!(pool.slot(0).iter().all(|b| *b == 1) && pool.slot(2).iter().all(|b| *b == 3));
    }
}
