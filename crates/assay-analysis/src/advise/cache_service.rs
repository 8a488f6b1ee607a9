//! A flash medium as read cache before a slow volume (ZFS L2ARC and its like): service times.
//!
//! At queue depth 1 the mean service time is the inverse of the operations per second, and the
//! mean over hits and misses is the service time of the pair. Writing the feed takes its share of
//! the cache's time, which stretches reads by 1 / (1 - share).

use assay_stats::decide::{Refusal, a_share, not_negative, positive};

/// Largest share of the cache's time for the feed that leaves reads alone.
pub(super) const LOW_FEED: f64 = 0.25;

/// RAM before both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ram {
    /// Share of all reads that it serves while there is no cache behind it.
    pub without_cache: f64,
    /// The same while its memory also holds the headers of the cache.
    pub with_cache: f64,
    /// Seconds per read.
    pub seconds: f64,
}

impl Ram {
    /// No RAM cache: all reads go to the pair.
    pub const NONE: Self = Self { without_cache: 0.0, with_cache: 0.0, seconds: 0.0 };
}

/// Seconds per read of the parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Service {
    slow: f64,
    cache: f64,
    ram: Ram,
}

impl Service {
    /// From operations per second at queue depth 1 and the block size of the reads: of the slow
    /// volume and of the cache, the share of the cache's time that the feed takes (below 1), and
    /// the RAM before them.
    ///
    /// # Errors
    /// Rates and times that are not positive and finite, shares outside 0 to 1; a feed that takes
    /// all of the cache's time.
    pub fn new(slow_iops: f64, cache_iops: f64, feed_share: f64, ram: Ram) -> Result<Self, Refusal> {
        let slow = 1.0 / positive("the operations per second of the slow volume", slow_iops)?;
        let cache = 1.0 / positive("the operations per second of the cache", cache_iops)?;
        positive("what the feed leaves of the cache's time", 1.0 - not_negative("the feed's share", feed_share)?)?;
        a_share("the share of RAM hits", ram.without_cache)?;
        a_share("the share of RAM hits", ram.with_cache)?;
        not_negative("the time of a RAM hit", ram.seconds)?;
        Ok(Self { slow, cache: cache / (1.0 - feed_share), ram })
    }

    /// Mean seconds per read without the cache.
    #[must_use]
    pub fn without_cache(&self) -> f64 {
        self.ram.without_cache * self.ram.seconds + (1.0 - self.ram.without_cache) * self.slow
    }

    /// Mean seconds per read with it, where it holds the share `hits` of what RAM misses.
    ///
    /// # Errors
    /// A share outside 0 to 1.
    pub fn with_cache(&self, hits: f64) -> Result<f64, Refusal> {
        let hits = a_share("the share of hits", hits)?;
        let behind = (1.0 - hits) * self.slow + hits * self.cache;
        Ok(self.ram.with_cache * self.ram.seconds + (1.0 - self.ram.with_cache) * behind)
    }

    /// How many times as fast reads get. Below 1 the cache does harm.
    ///
    /// # Errors
    /// A share outside 0 to 1.
    pub fn speed_up(&self, hits: f64) -> Result<f64, Refusal> {
        Ok(self.without_cache() / self.with_cache(hits)?)
    }

    /// The share of hits that makes reads `factor` times as fast; `None` where no share does.
    ///
    /// # Errors
    /// A factor that is not positive and finite.
    pub fn hits_for(&self, factor: f64) -> Result<Option<f64>, Refusal> {
        let target = self.without_cache() / positive("the speed-up", factor)?;
        let (none, all) = (self.with_cache(0.0)?, self.with_cache(1.0)?);
        let hits = (none - target) / (none - all);
        Ok((0.0..=1.0).contains(&hits).then_some(hits))
    }
}

/// Share of the cache's time that writing the feed takes; 1 and more saturate it. The feed is the
/// least of its limit (`l2arc_write_max`) and what misses bring, all in bytes per second.
///
/// # Errors
/// Rates that are not positive and finite.
pub(super) fn feed(limit: f64, misses: Option<f64>, cache_sequential_write: f64) -> Result<f64, Refusal> {
    let limit = positive("the limit of the feed", limit)?;
    let feed = misses.map_or(Ok(limit), |m| not_negative("the rate of misses", m).map(|m| m.min(limit)))?;
    Ok(feed / positive("the sequential write of the cache", cache_sequential_write)?)
}

/// Seconds until a cache of `bytes` is full at `feed` bytes per second, or at its own write rate where that is lower.
///
/// # Errors
/// Quantities that are not positive and finite.
pub(super) fn fill_seconds(bytes: f64, feed: f64, cache_sequential_write: f64) -> Result<f64, Refusal> {
    let rate = positive("the feed", feed)?.min(positive("the sequential write of the cache", cache_sequential_write)?);
    Ok(positive("the size of the cache", bytes)? / rate)
}
