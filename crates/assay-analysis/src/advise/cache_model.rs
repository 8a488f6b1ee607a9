//! Whether a flash medium is worth having as read cache: service times, the share of hits, and the verdict.

use assay_stats::LEVEL;
use assay_stats::decide::{About, InputRefusal, Posterior, a_share, draws_together, not_negative, positive};
use serde::Serialize;

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
    CannotTell(CacheUnknown),
}

/// The missing information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheUnknown {
    /// One value has no interval, and is not far enough from the limit.
    OneValue,
    /// A figure is a bound: its bus held it, or it is the best of several runs.
    Bound,
    /// How often the cache is hit.
    HitsUnknown,
    /// The values of a figure differ too much: its interval reaches beyond a tenth and ten times of it.
    Scattered,
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

/// The least speed-up that is worth the trouble.
const WORTH: f64 = 1.2;
/// Largest share of the RAM cache that headers may take.
const LARGEST_HEADERS: f64 = 0.10;
/// Draws: the 2.5 % point of a speed-up is then known to about a twentieth of its deviation.
const DRAWS: usize = 10_000;

/// A planned cache. Reads have one block size and queue depth 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cache {
    /// Random reads per second of the slow volume.
    pub slow_iops: Posterior,
    /// Random reads per second of the medium.
    pub cache_iops: Posterior,
    /// RAM before both.
    pub ram: Ram,
    /// Share of the misses of RAM that the medium is expected to serve.
    pub hits: f64,
    /// Share of the medium's time that the feed takes, see [`feed`].
    pub feed_share: f64,
    /// Sequential write of the medium in bytes per second.
    pub sequential_write: f64,
    /// Share of the RAM cache that headers take.
    pub header_share: f64,
    /// Sequential read of the medium over that of the slow volume, where known.
    pub sequential_ratio: Option<f64>,
    /// Reads of large blocks of the medium over those of the slow volume, where known.
    pub large_ratio: Option<f64>,
}

impl Cache {
    /// Whether feed and headers leave reads alone.
    pub(super) fn is_cheap(&self) -> bool {
        self.feed_share <= LOW_FEED && self.header_share < LARGEST_HEADERS
    }
}

/// The verdict and the numbers behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CacheVerdict {
    /// In a word.
    pub word: CacheWord,
    /// How many times as fast reads get, by the estimates; `None` where the feed saturates.
    pub speed_up: Option<f64>,
    /// 95 % interval of it, where both rates have one.
    pub interval: Option<(f64, f64)>,
    /// What to know.
    pub warnings: Vec<CacheWarning>,
}

/// Judges a planned cache.
///
/// # Errors
/// Quantities that are not positive and finite, shares outside 0 to 1.
pub(super) fn judge(cache: &Cache, seed: u64) -> Result<CacheVerdict, InputRefusal> {
    a_share("the share of hits", cache.hits)?;
    not_negative("the headers' share", cache.header_share)?;
    let warnings = warnings(cache)?;
    if not_negative("the feed's share", cache.feed_share)? >= 1.0 {
        return Ok(CacheVerdict { word: CacheWord::Harmful, speed_up: None, interval: None, warnings });
    }
    let speed_up = |slow: f64, fast: f64| Service::new(slow, fast, cache.feed_share, cache.ram)?.speed_up(cache.hits);
    let point = speed_up(cache.slow_iops.value(), cache.cache_iops.value())?;
    let Ok(drawn) = draws_together([&cache.slow_iops, &cache.cache_iops], About::Mean, DRAWS, seed) else {
        let word = CacheWord::CannotTell(CacheUnknown::OneValue);
        return Ok(CacheVerdict { word, speed_up: Some(point), interval: None, warnings });
    };
    let mut draws = Vec::with_capacity(DRAWS);
    for [slow, fast] in drawn {
        draws.push(speed_up(drawn_rate(slow), drawn_rate(fast))?);
    }
    draws.sort_by(f64::total_cmp);
    let tail = (DRAWS as f64 * (1.0 - LEVEL) / 2.0) as usize;
    let (low, high) = (draws[tail], draws[DRAWS - 1 - tail]);
    let word = if high < 1.0 {
        CacheWord::Harmful
    } else if low > WORTH && cache.is_cheap() {
        CacheWord::Good
    } else {
        CacheWord::Marginal
    };
    Ok(CacheVerdict { word, speed_up: Some(point), interval: Some((low, high)), warnings })
}

/// Logarithms of rates are drawn up to this: what two values far from each other leave open reaches zero and infinity.
const MOST_LOG: f64 = 300.0;

/// A rate by the draw of its logarithm.
pub(super) fn drawn_rate(log: f64) -> f64 {
    log.clamp(-MOST_LOG, MOST_LOG).exp()
}

fn warnings(cache: &Cache) -> Result<Vec<CacheWarning>, InputRefusal> {
    let share = cache.feed_share;
    let set_at_most = LOW_FEED * positive("the sequential write of the cache", cache.sequential_write)?;
    let mut found = Vec::new();
    if share >= 1.0 {
        found.push(CacheWarning::FeedSaturates { share, set_at_most });
    } else if share > LOW_FEED {
        found.push(CacheWarning::FeedSlowsReads { share, set_at_most });
    }
    if cache.header_share >= LARGEST_HEADERS {
        found.push(CacheWarning::Headers { share: cache.header_share });
    }
    let ratio = |what, value: Option<f64>| value.map(|v| positive(what, v)).transpose();
    if let Some(ratio) = ratio("the ratio of sequential reads", cache.sequential_ratio)?.filter(|r| *r < 1.0) {
        found.push(CacheWarning::SlowerInSequence { ratio });
    }
    if let Some(ratio) = ratio("the ratio of large reads", cache.large_ratio)?.filter(|r| *r < WORTH) {
        found.push(CacheWarning::LargeBlocksGainLittle { ratio });
    }
    Ok(found)
}

// A flash medium as read cache before a slow volume (ZFS L2ARC and its like): service times.
//
// At queue depth 1 the mean service time is the inverse of the operations per second, and the
// mean over hits and misses is the service time of the pair. Writing the feed takes its share of
// the cache's time, which stretches reads by 1 / (1 - share).

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
    pub fn new(slow_iops: f64, cache_iops: f64, feed_share: f64, ram: Ram) -> Result<Self, InputRefusal> {
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
    pub fn with_cache(&self, hits: f64) -> Result<f64, InputRefusal> {
        let hits = a_share("the share of hits", hits)?;
        let behind = (1.0 - hits) * self.slow + hits * self.cache;
        Ok(self.ram.with_cache * self.ram.seconds + (1.0 - self.ram.with_cache) * behind)
    }

    /// How many times as fast reads get. Below 1 the cache does harm.
    ///
    /// # Errors
    /// A share outside 0 to 1.
    pub fn speed_up(&self, hits: f64) -> Result<f64, InputRefusal> {
        Ok(self.without_cache() / self.with_cache(hits)?)
    }

    /// The share of hits that makes reads `factor` times as fast; `None` where no share does.
    ///
    /// # Errors
    /// A factor that is not positive and finite.
    pub fn hits_for(&self, factor: f64) -> Result<Option<f64>, InputRefusal> {
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
pub(super) fn feed(limit: f64, misses: Option<f64>, cache_sequential_write: f64) -> Result<f64, InputRefusal> {
    let limit = positive("the limit of the feed", limit)?;
    let feed = misses.map_or(Ok(limit), |m| not_negative("the rate of misses", m).map(|m| m.min(limit)))?;
    Ok(feed / positive("the sequential write of the cache", cache_sequential_write)?)
}

/// Seconds until a cache of `bytes` is full at `feed` bytes per second, or at its own write rate where that is lower.
///
/// # Errors
/// Quantities that are not positive and finite.
pub(super) fn fill_seconds(bytes: f64, feed: f64, cache_sequential_write: f64) -> Result<f64, InputRefusal> {
    let rate = positive("the feed", feed)?.min(positive("the sequential write of the cache", cache_sequential_write)?);
    Ok(positive("the size of the cache", bytes)? / rate)
}

// How often a cache behind RAM is hit, and the RAM that its headers take.

/// Bytes of RAM per block in the cache: header of 96 and checksum of 32 (illumos issue 5408).
pub(super) const HEADER_BYTES: f64 = 128.0;
/// OpenZFS lets headers take this share of the RAM cache at most (`l2arc_meta_percent`, zfs(4)).
const LARGEST_HEADER_SHARE: f64 = 0.33;
/// Terms of a harmonic number that are summed one by one.
const EXACT_TERMS: u32 = 1000;

/// How reads fall on the working set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reuse {
    /// Each block as often as the other.
    Uniform,
    /// The block of rank r in proportion to r^-s; about 0.6 to 1.2 is common.
    Zipf(f64),
}

/// Reach of RAM and cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hits {
    /// Share of reads that RAM serves without the cache.
    pub ram_without: f64,
    /// Share of reads that it serves when it also holds the headers.
    pub ram_with: f64,
    /// Share of the misses of RAM that the cache serves.
    pub cache: f64,
    /// RAM for headers, in bytes.
    pub header_bytes: f64,
    /// Bytes of the cache that can be used: less than all of it where headers reach their limit.
    pub usable_bytes: f64,
}

/// RAM for the headers of a cache of `cache_bytes` filled with blocks of `block_bytes`.
///
/// # Errors
/// Quantities that are not positive and finite.
pub(super) fn header_bytes(cache_bytes: f64, block_bytes: f64, per_block: f64) -> Result<f64, InputRefusal> {
    let blocks = positive("the size of the cache", cache_bytes)? / positive("the block size", block_bytes)?;
    Ok(blocks * positive("the size of a header", per_block)?)
}

/// Bytes of the cache whose headers RAM of `ram_bytes` may hold.
///
/// # Errors
/// Quantities that are not positive and finite.
pub(super) fn reach(ram_bytes: f64, block_bytes: f64, per_block: f64) -> Result<f64, InputRefusal> {
    let headers = positive("the RAM cache", ram_bytes)? * LARGEST_HEADER_SHARE;
    Ok(headers / positive("the size of a header", per_block)? * positive("the block size", block_bytes)?)
}

/// What RAM and cache serve of reads over `working_bytes`: both hold the blocks that are read most
/// often (the independent reference model; Che, Tung and Wang 2002 show how near real caches come).
///
/// # Errors
/// Quantities that are not positive and finite, a negative exponent.
pub(super) fn hits(
    reuse: Reuse,
    working_bytes: f64,
    ram_bytes: f64,
    cache_bytes: f64,
    block_bytes: f64,
    per_block: f64,
) -> Result<Hits, InputRefusal> {
    let working = positive("the working set", working_bytes)? / positive("the block size", block_bytes)?;
    let usable_bytes = cache_bytes.min(reach(ram_bytes, block_bytes, per_block)?);
    let header_bytes = header_bytes(positive("the size of the cache", cache_bytes)?, block_bytes, per_block)?
        .min(ram_bytes * LARGEST_HEADER_SHARE);
    let of_blocks = |bytes: f64| -> Result<f64, InputRefusal> {
        let blocks = (bytes / block_bytes).min(working);
        match reuse {
            Reuse::Uniform => Ok(blocks / working),
            Reuse::Zipf(s) => {
                let s = not_negative("the exponent", s)?;
                Ok((harmonic(blocks, s) / harmonic(working, s)).clamp(0.0, 1.0))
            }
        }
    };
    let ram_left = ram_bytes - header_bytes;
    let (ram_without, ram_with) = (of_blocks(ram_bytes)?, of_blocks(ram_left)?);
    let both = of_blocks(ram_left + usable_bytes)?;
    let cache = if ram_with < 1.0 { ((both - ram_with) / (1.0 - ram_with)).clamp(0.0, 1.0) } else { 0.0 };
    Ok(Hits { ram_without, ram_with, cache, header_bytes, usable_bytes })
}

/// Generalised harmonic number, continued between whole numbers: a direct sum, then the
/// Euler-Maclaurin formula with the first correction, whose error is below s / 12e6 after 1000
/// terms.
fn harmonic(n: f64, s: f64) -> f64 {
    let start = f64::from(EXACT_TERMS);
    let term = |k: f64| k.powf(-s);
    let whole = n.min(start).floor();
    let direct: f64 = (1..=whole as u32).map(|k| term(f64::from(k))).sum();
    if n <= start {
        return direct + (n - whole) * term(whole + 1.0);
    }
    let integral =
        if (s - 1.0).abs() < 1e-9 { (n / start).ln() } else { (n.powf(1.0 - s) - start.powf(1.0 - s)) / (1.0 - s) };
    let slopes = s * (start.powf(-s - 1.0) - n.powf(-s - 1.0)) / 12.0;
    direct + integral + (term(n) - term(start)) / 2.0 + slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers_equal_the_sums() {
        for s in [0.0, 0.6, 1.0, 1.3] {
            let direct: f64 = (1..=5000).map(|k| f64::from(k).powf(-s)).sum();
            assert!((harmonic(5000.0, s) / direct - 1.0).abs() < 1e-9, "{s}");
        }
        assert!((harmonic(3.0, 1.0) - 11.0 / 6.0).abs() < 1e-12);
        assert!((harmonic(2.5, 1.0) - (1.5 + 0.5 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn headers_by_hand() {
        let mb = |bytes: f64| (bytes / 1e6).round();
        assert_eq!(mb(header_bytes(15e9, 4096.0, HEADER_BYTES).unwrap()), 469.0);
        assert_eq!(mb(header_bytes(15e9, 4096.0, 240.0).unwrap()), 879.0);
        assert!((header_bytes(15e9, 131_072.0, HEADER_BYTES).unwrap() / 1e6 - 14.6).abs() < 0.06);
    }

    #[test]
    fn a_uniform_working_set_is_held_in_proportion() {
        // 20 GB read evenly, 4 GB of RAM, 8 GB of cache in blocks of 128 KiB: headers take 7.8 MB.
        let h = hits(Reuse::Uniform, 20e9, 4e9, 8e9, 131_072.0, HEADER_BYTES).unwrap();
        assert!((h.ram_without - 0.2).abs() < 1e-12);
        assert!((h.header_bytes - 7.8125e6).abs() < 1.0, "{h:?}");
        let left = 4e9 - 7.8125e6;
        assert!((h.cache - 8e9 / (20e9 - left)).abs() < 1e-9, "{h:?}");
        let all = hits(Reuse::Uniform, 5e9, 4e9, 8e9, 131_072.0, HEADER_BYTES).unwrap();
        assert_eq!(all.cache, 1.0);
    }

    #[test]
    fn headers_end_the_reach_of_a_small_ram() {
        // A third of 100 MB holds headers of 33e6 / 128 blocks of 4 KiB: 1.056 GB of 15.
        let h = hits(Reuse::Zipf(0.9), 50e9, 100e6, 15e9, 4096.0, HEADER_BYTES).unwrap();
        assert!((h.usable_bytes / 1.056e9 - 1.0).abs() < 1e-9, "{h:?}");
        assert!((h.header_bytes - 33e6).abs() < 1.0);
        assert!(h.ram_with < h.ram_without && h.cache > 0.0);
    }

    #[test]
    fn a_steeper_zipf_leaves_less_to_the_cache_and_zero_is_uniform() {
        let of = |reuse| hits(reuse, 40e9, 2e9, 15e9, 8192.0, HEADER_BYTES).unwrap();
        let flat = of(Reuse::Uniform);
        let zero = of(Reuse::Zipf(0.0));
        assert!((flat.cache - zero.cache).abs() < 1e-6 && (flat.ram_with - zero.ram_with).abs() < 1e-6);
        assert!(of(Reuse::Zipf(1.2)).ram_with > of(Reuse::Zipf(0.6)).ram_with);
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [0.0, -1.0, f64::NAN] {
            assert!(hits(Reuse::Uniform, bad, 1e9, 1e9, 4096.0, 128.0).is_err());
            assert!(hits(Reuse::Uniform, 1e9, bad, 1e9, 4096.0, 128.0).is_err());
            assert!(hits(Reuse::Uniform, 1e9, 1e9, bad, 4096.0, 128.0).is_err());
            assert!(hits(Reuse::Uniform, 1e9, 1e9, 1e9, bad, 128.0).is_err());
        }
        assert!(hits(Reuse::Zipf(-0.5), 1e9, 1e8, 1e9, 4096.0, 128.0).is_err());
    }
}
