//! What kind of cache a medium has.

/// A cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes that are kept and evicted together: a power of two from 512 to 64 KiB.
    pub page_bytes: u32,
    /// Which page makes room.
    pub policy: Policy,
    /// Which writes it takes.
    pub takes: Takes,
    /// When the memory learns of a write.
    pub writing: Writing,
}

/// Which page makes room for a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The one that was written the longest time ago.
    LeastRecentlyWritten,
    /// The one that was read or written the longest time ago.
    LeastRecentlyUsed,
    /// The same, and what is read is taken in too.
    LeastRecentlyUsedFilledByReads,
    /// The one that came first, however often it was written since.
    FirstIn,
    /// Any.
    Random,
}

/// Which writes a cache takes. Media keep a few KiB for random writes beside a few MiB for
/// sequential ones (f3's issue 50).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// All.
    All,
    /// Those that begin where the last one ended, and those above 32 KiB.
    Sequential,
    /// The others.
    Random,
}

/// When the memory learns of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// At once; the cache keeps a copy.
    Through,
    /// When the page is evicted, or at a flush.
    Back {
        /// Whether a flush does nothing.
        ignores_flush: bool,
    },
}

impl Cache {
    /// A cache of `bytes` that takes every write, writes through, and evicts what was written the
    /// longest time ago, in pages of 4 KiB.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        Self {
            bytes,
            page_bytes: 4096,
            policy: Policy::LeastRecentlyWritten,
            takes: Takes::All,
            writing: Writing::Through,
        }
    }

    pub(in crate::media) fn check(&self) -> Result<(), &'static str> {
        if !self.page_bytes.is_power_of_two() || !(512..=65_536).contains(&self.page_bytes) {
            return Err("a page of a cache is a power of two from 512 to 64 KiB");
        }
        Ok(())
    }

    /// Bytes that have to be written elsewhere until a given page is gone; for replacement at
    /// random, with probability 0.999: after k times its size a page survives by exp(-k).
    #[must_use]
    pub fn crowded_out_by_bytes(&self) -> u64 {
        match self.policy {
            Policy::Random => self.bytes.saturating_mul(7),
            _ => self.bytes,
        }
    }
}
