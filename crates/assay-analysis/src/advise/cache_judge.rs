//! Whether a flash medium is worth having as read cache.

use assay_stats::LEVEL;
use assay_stats::decide::{About, Posterior, Refusal, a_share, draws_together, not_negative, positive};

use super::cache_service::{LOW_FEED, Ram, Service};
use super::cache_types::{CacheWarning, CacheWord, Why};

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
    /// Share of the medium's time that the feed takes, see [`super::cache_service::feed`].
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
pub(super) fn judge(cache: &Cache, seed: u64) -> Result<CacheVerdict, Refusal> {
    a_share("the share of hits", cache.hits)?;
    not_negative("the headers' share", cache.header_share)?;
    let warnings = warnings(cache)?;
    if not_negative("the feed's share", cache.feed_share)? >= 1.0 {
        return Ok(CacheVerdict { word: CacheWord::Harmful, speed_up: None, interval: None, warnings });
    }
    let speed_up = |slow: f64, fast: f64| Service::new(slow, fast, cache.feed_share, cache.ram)?.speed_up(cache.hits);
    let point = speed_up(cache.slow_iops.value(), cache.cache_iops.value())?;
    let Ok(drawn) = draws_together([&cache.slow_iops, &cache.cache_iops], About::Mean, DRAWS, seed) else {
        let word = CacheWord::CannotTell(Why::OneValue);
        return Ok(CacheVerdict { word, speed_up: Some(point), interval: None, warnings });
    };
    let mut draws = Vec::with_capacity(DRAWS);
    for [slow, fast] in drawn {
        draws.push(speed_up(slow.exp(), fast.exp())?);
    }
    draws.sort_by(f64::total_cmp);
    let tail = (DRAWS as f64 * (1.0 - LEVEL) / 2.0) as usize;
    let (low, high) = (draws[tail], draws[DRAWS - 1 - tail]);
    let cheap = cache.feed_share <= LOW_FEED && cache.header_share < LARGEST_HEADERS;
    let word = if high < 1.0 {
        CacheWord::Harmful
    } else if low > WORTH && cheap {
        CacheWord::Good
    } else {
        CacheWord::Marginal
    };
    Ok(CacheVerdict { word, speed_up: Some(point), interval: Some((low, high)), warnings })
}

fn warnings(cache: &Cache) -> Result<Vec<CacheWarning>, Refusal> {
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
