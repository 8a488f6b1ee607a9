//! Questions and answers about a cache.

use serde::Serialize;

use super::cache_log::LogAdvice;
use super::cache_service::LOW_FEED;
use super::figure::Figure;
use crate::Excluded;

/// What the medium is to be used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheUse {
    /// Read cache.
    L2arc,
    /// Log of synchronous writes.
    Slog,
}

/// Where the share of hits comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HitSource {
    /// It is not known.
    Unknown,
    /// The share of RAM's misses that the cache serves.
    Share(f64),
    /// From the size of the data that is read repeatedly, with all blocks equally frequent or by Zipf's law.
    WorkingSet {
        /// Its size.
        bytes: f64,
        /// Exponent; `None`: all blocks alike.
        zipf: Option<f64>,
    },
}

/// A question about a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheQuestion {
    /// The use of the cache.
    pub use_as: CacheUse,
    /// The source of the hit rate.
    pub hits: HitSource,
    /// RAM cache (ARC) in bytes.
    pub ram_bytes: Option<f64>,
    /// Size of the cache; the capacity of the medium by default.
    pub size_bytes: Option<f64>,
    /// Limit of the feed (`l2arc_write_max`) in bytes per second.
    pub feed_bytes_per_second: f64,
    /// Block size of the reads.
    pub block_bytes: Option<u64>,
}

/// In a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "answer", content = "because")]
pub enum CacheWord {
    /// Reads get faster by more than a fifth.
    Good,
    /// Reads get slower, or the feed takes all of the medium's time.
    Harmful,
    /// Neither is certain, or something is in the way: see the warnings.
    Marginal,
    /// The data do not tell.
    CannotTell(Why),
}

/// The missing information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// One value has no interval.
    OneValue,
    /// How often the cache is hit.
    HitsUnknown,
}

/// What to know before it is built.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CacheWarning {
    /// The feed takes all the time of the medium.
    FeedSaturates {
        /// Its share.
        share: f64,
        /// Limit to set, in bytes per second.
        set_at_most: f64,
    },
    /// The feed takes more than a quarter of it.
    FeedSlowsReads {
        /// Its share.
        share: f64,
        /// Limit to set, in bytes per second.
        set_at_most: f64,
    },
    /// Headers take more than a tenth of the RAM cache.
    Headers {
        /// Their share.
        share: f64,
    },
    /// The medium reads slower in sequence: harmful where prefetched blocks are cached (leave
    /// `l2arc_noprefetch` at 1).
    SlowerInSequence {
        /// Medium over volume.
        ratio: f64,
    },
    /// Large blocks gain little.
    LargeBlocksGainLittle {
        /// Medium over volume.
        ratio: f64,
    },
}

/// RAM for the headers of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// Size of the cache.
    pub cache_bytes: f64,
    /// RAM that its headers take.
    pub bytes: f64,
    /// Share of the RAM cache; `None` where that was not given.
    pub share_of_ram: Option<f64>,
}

/// The share of hits that was judged with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HitsUsed {
    /// Of the cache, of what RAM misses.
    pub cache: f64,
    /// Of RAM without the cache behind it; `None` where RAM was left out.
    pub ram_without: Option<f64>,
    /// Of RAM that also holds the headers.
    pub ram_with: Option<f64>,
}

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedUp {
    /// Share of hits.
    pub hits: f64,
    /// When the cache is full and nothing is fed.
    pub filled: f64,
    /// While it is fed; `None` where the feed saturates.
    pub fed: Option<f64>,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheAdvice {
    /// As what.
    pub use_as: CacheUse,
    /// The medium.
    pub medium: String,
    /// The volume behind it.
    pub volume: String,
    /// In a word, as read cache.
    pub word: CacheWord,
    /// Block size of the reads in bytes.
    pub block_bytes: u64,
    /// Random reads per second of the volume at queue depth 1.
    pub slow: Figure,
    /// The same of the medium.
    pub fast: Figure,
    /// Sequential write of the medium, bytes per second.
    pub sequential_write: Figure,
    /// Limit of the feed, bytes per second.
    pub feed_bytes_per_second: f64,
    /// Share of the medium's time that it takes.
    pub feed_share: f64,
    /// Seconds until the cache is full; `None` without its size.
    pub fill_seconds: Option<f64>,
    /// RAM for headers; `None` without the size of the cache.
    pub header: Option<Header>,
    /// Hits that were judged with.
    pub hits: Option<HitsUsed>,
    /// How many times as fast reads get; `None` where the feed saturates or hits are unknown.
    pub speed_up: Option<f64>,
    /// 95 % interval of it.
    pub interval: Option<(f64, f64)>,
    /// Probability that it is more than 1.2.
    pub probability: Option<f64>,
    /// What to know.
    pub warnings: Vec<CacheWarning>,
    /// Speed-up by hits, RAM left out.
    pub table: Vec<SpeedUp>,
    /// Shares of hits that make reads 1.2, 2 and 5 times as fast, nothing fed; `None`: none does.
    pub hits_for: Vec<(f64, Option<f64>)>,
    /// As log of synchronous writes; `None` where such writes were not measured.
    pub log: Option<LogAdvice>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

impl CacheAdvice {
    /// Largest feed, bytes per second, that takes at most a quarter of the medium's time.
    #[must_use]
    pub fn quiet_feed(&self) -> f64 {
        LOW_FEED * self.sequential_write.value
    }
}
