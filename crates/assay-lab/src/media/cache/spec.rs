//! The parameters of a cache.

/// A cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes that are cached and evicted together: a power of two from 512 to 64 KiB.
    pub page_bytes: u32,
    /// Which page is evicted.
    pub eviction: Eviction,
    /// Which writes it admits.
    pub takes: CachedWrites,
    /// When a write reaches the memory.
    pub write_policy: WritePolicy,
}

/// Which page is evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eviction {
    /// The least recently written one.
    LeastRecentlyWritten,
    /// The least recently read or written one.
    LeastRecentlyUsed,
    /// The same, and reads fill the cache too.
    LeastRecentlyUsedFilledByReads,
    /// The oldest one (first in, first out), however often it was written since.
    FirstIn,
    /// A random one.
    Random,
}

/// Which writes a cache admits. Media keep a few KiB for random writes beside a few MiB for sequential ones (f3's issue
/// 50).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachedWrites {
    /// All.
    All,
    /// Writes that begin where the last one ended, and writes longer than 32 KiB.
    Sequential,
    /// All other writes.
    Random,
}

/// When a write reaches the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritePolicy {
    /// At once; the cache keeps a copy.
    Through,
    /// When the page is evicted, or at a flush.
    Back {
        /// Whether a flush has no effect.
        ignores_flush: bool,
    },
}

impl Cache {
    /// A write-through cache of `bytes` for all writes, in pages of 4 KiB, that evicts the least recently
    /// written one.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        Self {
            bytes,
            page_bytes: 4096,
            eviction: Eviction::LeastRecentlyWritten,
            takes: CachedWrites::All,
            write_policy: WritePolicy::Through,
        }
    }

    pub(in crate::media) fn check(&self) -> Result<(), &'static str> {
        if !self.page_bytes.is_power_of_two() || !(512..=65_536).contains(&self.page_bytes) {
            return Err("a page of a cache is a power of two from 512 to 64 KiB");
        }
        Ok(())
    }

    /// Bytes that must be written elsewhere until a given page is evicted. For random replacement this holds with
    /// probability 0.999: after writes of k times the cache size a page survives with probability exp(-k).
    #[must_use]
    pub(crate) fn bytes_to_evict(&self) -> u64 {
        match self.eviction {
            Eviction::Random => self.bytes.saturating_mul(7),
            _ => self.bytes,
        }
    }
}
