//! The parameters of a medium, and of a cache in it.

use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;

use super::address::{Misaddress, Operations};
use super::content::{Content, InitialContent, Pattern};
use super::decay::{Decay, DroppedRead, Flips, Slips};
use super::failure::{Failure, FailurePlan, Timing, Trigger};
use super::layout::Layout;
use super::pool::Pool;

/// Largest announced size: 4 TiB.
const MOST_BYTES: u64 = 4 << 40;

/// All parameters of a medium. [`MediumSpec::genuine`] returns one without any fault, and each field adds one;
/// [`MediumSpec::build`] makes the medium. Offsets and sizes are bytes, in whole sectors of 512.
#[derive(Debug, Clone, PartialEq)]
pub struct MediumSpec {
    /// Announced size, at least three sectors and at most 4 TiB, in whole blocks.
    pub announced_bytes: u64,
    /// Its logical block: 512 or 4096.
    pub block_bytes: u32,
    /// The memory under the addresses.
    pub layout: Layout,
    /// The data read at places that drop writes.
    pub dropped: DroppedRead,
    /// Operations that land at another address than the requested one.
    pub misaddress: Option<Misaddress>,
    /// Thin provisioning.
    pub pool: Option<Pool>,
    /// Data loss after a time.
    pub decay: Option<Decay>,
    /// Wrong bits.
    pub flips: Flips,
    /// Writes that are dropped or exchanged now and then.
    pub slips: Slips,
    /// Addresses that return `EIO`.
    pub errors: Vec<(Range<u64>, Operations)>,
    /// Caches; a write goes to the first one that admits it.
    pub caches: Vec<Cache>,
    /// A failure during operation.
    pub failure: Option<FailurePlan>,
    /// The initial content.
    pub before: InitialContent,
    /// Duration of operations.
    pub timing: Timing,
    /// Seed of all random choices.
    pub seed: u64,
}

/// An impossible medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("impossible medium: {0}")]
pub struct SpecError(pub(super) &'static str);

impl MediumSpec {
    /// A card of `bytes` that holds all data, full of noise.
    #[must_use]
    pub fn genuine(bytes: u64) -> Self {
        Self {
            announced_bytes: bytes,
            block_bytes: 512,
            layout: Layout::whole(bytes),
            dropped: DroppedRead::Zeros,
            misaddress: None,
            pool: None,
            decay: None,
            flips: Flips::none(),
            slips: Slips::none(),
            errors: Vec::new(),
            caches: Vec::new(),
            failure: None,
            before: InitialContent::full_of(Pattern::Noise),
            timing: Timing::card(),
            seed: 0,
        }
    }

    /// A medium of `announced` bytes; only the first `real` bytes hold data.
    #[must_use]
    pub fn limbo(announced: u64, real: u64) -> Self {
        Self::laid_out(announced, Layout::first(real))
    }

    /// A medium of `announced` bytes with this `layout`.
    #[must_use]
    pub fn laid_out(announced: u64, layout: Layout) -> Self {
        Self { layout, ..Self::genuine(announced) }
    }

    /// The medium without initial content: file systems rely on zeros where they wrote nothing.
    #[must_use]
    pub fn blank(self) -> Self {
        Self { before: InitialContent { pattern: Pattern::Zeros, used_bytes: 0 }, ..self }
    }

    /// The medium with one more cache.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.caches.push(cache);
        self
    }

    /// The medium, where places without memory read as `dropped`.
    #[must_use]
    pub fn with_dropped(self, dropped: DroppedRead) -> Self {
        Self { dropped, ..self }
    }

    /// The medium with errors at these addresses.
    #[must_use]
    pub fn with_errors(mut self, range: Range<u64>, on: Operations) -> Self {
        self.errors.push((range, on));
        self
    }

    /// The medium with a failure during operation.
    #[must_use]
    pub fn that_fails(self, trigger: Trigger, failure: Failure) -> Self {
        Self { failure: Some(FailurePlan { trigger, failure }), ..self }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if ![512, 4096].contains(&self.block_bytes) {
            return Err("a logical block is 512 or 4096 bytes");
        }
        if !self.announced_bytes.is_multiple_of(u64::from(self.block_bytes)) {
            return Err("the announced size is a multiple of the logical block");
        }
        if !(3 * SECTOR_BYTES..=MOST_BYTES).contains(&self.announced_bytes) {
            return Err("the announced size is from 1.5 KiB to 4 TiB");
        }
        self.layout.check(self.announced_bytes)?;
        self.misaddress.as_ref().map_or(Ok(()), Misaddress::check)?;
        if let Some(pool) = &self.pool {
            pool.check(&Content::new(self.before, self.seed), self.announced_bytes)?;
        }
        self.flips.check()?;
        self.caches.iter().try_for_each(Cache::check)?;
        self.timing.check()
    }
}

// The parameters of a cache.

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
    pub fn with_bytes(bytes: u64) -> Self {
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
