//! Is a medium good as read cache (L2ARC) before a slow volume, or as log of its synchronous writes (SLOG)?

use assay_core::observation::Observation;
use assay_core::workload::{Op, Pattern};
use assay_stats::decide::{About, InputRefusal, Posterior, positive};
use serde::Serialize;

use super::cache_model::{
    Cache, CacheUnknown, CacheWarning, CacheWord, HEADER_BYTES, LOW_FEED, Ram, Reuse, Service, drawn_rate, feed,
    fill_seconds, header_bytes, hits, judge,
};
use super::evidence::{AdviseError, EvidenceFigure, Subject, figure, one_subject, rate};
use crate::{Excluded, Load, Mark, Quantity, loads};

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
    pub slow: EvidenceFigure,
    /// The same of the medium.
    pub fast: EvidenceFigure,
    /// Sequential write of the medium, bytes per second.
    pub sequential_write: EvidenceFigure,
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

    /// Of medium and volume those whose values differ too much.
    #[must_use]
    pub fn scattered(&self) -> Vec<&str> {
        let both = [(&self.medium, &self.fast), (&self.volume, &self.slow)];
        both.into_iter().filter(|(_, figure)| is_scattered(figure)).map(|(name, _)| name.as_str()).collect()
    }
}

const SEED: u64 = 2;
const DRAWS: usize = 10_000;
/// The least speed-up that is worth the trouble, as in the verdict.
const WORTH: f64 = 1.2;
/// Seconds to hand over a block that is in RAM: a system call and a copy. Any value far below the
/// service times of media gives the same answer.
const RAM_SECONDS: f64 = 1e-6;
/// Block size that is taken where both were measured with it.
const USUAL_BLOCK: u64 = 4096;
/// From this block size on, random reads are large.
const LARGE_BLOCK: u64 = 128 << 10;
/// Shares of hits in the table.
const TABLE: [f64; 8] = [0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 1.00];

/// Judges a medium as cache before a volume.
///
/// # Errors
/// Loads that are missing, several models, sizes and shares out of range.
pub fn cache(
    medium: &[Observation],
    volume: &[Observation],
    question: &CacheQuestion,
) -> Result<CacheAdvice, AdviseError> {
    let mut excluded = Vec::new();
    let stick = one_subject(medium, "the cache", &mut excluded)?;
    let disk = one_subject(volume, "the disk of --before", &mut excluded)?;
    let (load, fast, slow) = random_reads(&stick, &disk, question.block_bytes, &mut excluded)?;
    let sequential_write = sequential(&stick, Op::Write, &mut excluded)?.ok_or_else(|| AdviseError::NoSuchLoad {
        whose: stick.model.clone(),
        load: "sequential write".to_owned(),
        mend: "a cache is fed in sequence; measure it with suite quick".to_owned(),
    })?;
    let size = question.size_bytes.or_else(|| capacity(&stick));
    let block = load.block_bytes as f64;
    let limit = question.feed_bytes_per_second;
    let feed_share = feed(limit, None, sequential_write.value)?;
    let mut header = None;
    if let Some(cache_bytes) = size {
        let bytes = header_bytes(cache_bytes, block, HEADER_BYTES)?;
        header = Some(Header { cache_bytes, bytes, share_of_ram: question.ram_bytes.map(|ram| bytes / ram) });
    }
    let (hits, ram) = hits_used(question, size, block)?;
    let mut judged = Cache {
        slow_iops: known(&slow)?,
        cache_iops: known(&fast)?,
        ram,
        hits: hits.map_or(0.5, |h| h.cache),
        feed_share,
        sequential_write: sequential_write.value,
        header_share: header.and_then(|h| h.share_of_ram).unwrap_or(0.0),
        sequential_ratio: None,
        large_ratio: None,
    };
    judged.sequential_ratio = ratio(&stick, &disk, Pattern::Sequential, &mut excluded)?;
    judged.large_ratio = ratio(&stick, &disk, Pattern::Random, &mut excluded)?;
    let verdict = judge(&judged, SEED)?;
    let word = match verdict.word {
        CacheWord::Harmful if verdict.speed_up.is_none() => CacheWord::Harmful,
        _ if hits.is_none() => CacheWord::CannotTell(CacheUnknown::HitsUnknown),
        word => one_way(word, &judged, &slow, &fast),
    };
    // One value gives a chance only where it decides, and no interval, since the spread of its repeats is assumed.
    let single = is_single(&slow) || is_single(&fast);
    let decides = matches!(word, CacheWord::Good | CacheWord::Harmful);
    let told = hits.filter(|_| word != CacheWord::CannotTell(CacheUnknown::Scattered));
    let filled = Service::new(slow.value, fast.value, 0.0, Ram::NONE)?;
    let fed = Service::new(slow.value, fast.value, feed_share, Ram::NONE).ok();
    let line = |h: f64| -> Result<SpeedUp, AdviseError> {
        let fed = fed.as_ref().map(|s| s.speed_up(h)).transpose()?;
        Ok(SpeedUp { hits: h, filled: filled.speed_up(h)?, fed })
    };
    Ok(CacheAdvice {
        use_as: question.use_as,
        medium: stick.model.clone(),
        volume: disk.model.clone(),
        word,
        block_bytes: load.block_bytes,
        feed_bytes_per_second: limit,
        feed_share,
        fill_seconds: size.map(|bytes| fill_seconds(bytes, limit, sequential_write.value)).transpose()?,
        header,
        hits,
        speed_up: verdict.speed_up.filter(|_| hits.is_some()),
        interval: verdict.interval.filter(|_| told.is_some() && !single),
        probability: told.filter(|_| decides || !single).and_then(|_| probability(&judged)),
        warnings: verdict.warnings,
        table: TABLE.iter().map(|h| line(*h)).collect::<Result<_, _>>()?,
        hits_for: [WORTH, 2.0, 5.0]
            .iter()
            .map(|f| Ok((*f, filled.hits_for(*f)?)))
            .collect::<Result<_, AdviseError>>()?,
        log: log_advice(&stick, &disk, &mut excluded)?,
        slow,
        fast,
        sequential_write,
        excluded,
    })
}

/// What is known of a medium. A single value may be as far off as units of a model differ.
fn known(figure: &EvidenceFigure) -> Result<Posterior, AdviseError> {
    Ok(figure.single()?.unwrap_or(figure.posterior))
}

fn is_single(figure: &EvidenceFigure) -> bool {
    figure.posterior.error().is_none()
}

/// How far the ends of an interval may be from the estimate: a speed-up by a figure beyond it says nothing.
const SCATTERED: f64 = 10.0;

fn is_scattered(figure: &EvidenceFigure) -> bool {
    figure.interval.is_some_and(|(low, _)| figure.value / low > SCATTERED)
}

/// Limits a verdict where figures are one-sided bounds: what its bus held is a lower bound, the best of several runs an
/// upper one. One value decides only what lies far from it. A feed or headers in the way are reported in each case.
fn one_way(word: CacheWord, judged: &Cache, slow: &EvidenceFigure, fast: &EvidenceFigure) -> CacheWord {
    let (most, least) = (Mark::BestOf, Mark::BusLimited);
    let of = |figure: &EvidenceFigure, mark: Mark| figure.marks.contains(&mark);
    let bound = match word {
        CacheWord::Good => of(fast, most) || of(slow, least),
        CacheWord::Harmful => of(fast, least) || of(slow, most),
        CacheWord::Marginal | CacheWord::CannotTell(_) => false,
    };
    match word {
        _ if bound => CacheWord::CannotTell(CacheUnknown::Bound),
        CacheWord::Marginal if judged.is_cheap() && (is_single(slow) || is_single(fast)) => {
            CacheWord::CannotTell(CacheUnknown::OneValue)
        }
        CacheWord::Marginal if judged.is_cheap() && (is_scattered(slow) || is_scattered(fast)) => {
            CacheWord::CannotTell(CacheUnknown::Scattered)
        }
        word => word,
    }
}

fn random_reads(
    stick: &Subject<'_>,
    disk: &Subject<'_>,
    block: Option<u64>,
    excluded: &mut Vec<Excluded>,
) -> Result<(Load, EvidenceFigure, EvidenceFigure), AdviseError> {
    // Service times are those of one read at a time: deeper queues overlap them.
    let single = |l: &Load| {
        l.op() == Op::Read && l.pattern() == Some(Pattern::Random) && l.queue_depth == 1 && l.jobs == 1 && l.is_plain()
    };
    let mut common: Vec<Load> = loads(stick.records.iter().copied());
    let others = loads(disk.records.iter().copied());
    common.retain(|l| single(l) && others.contains(l) && block.is_none_or(|b| b == l.block_bytes));
    common.sort_by_key(|l| (l.block_bytes != USUAL_BLOCK, l.block_bytes));
    for load in common {
        let fast = figure(stick, &load, Quantity::Iops, excluded)?;
        let slow = figure(disk, &load, Quantity::Iops, excluded)?;
        if let Some((fast, slow)) = fast.zip(slow) {
            return Ok((load, fast, slow));
        }
    }
    let wanted = block.map_or_else(String::new, |b| format!(" of {}", assay_core::units::Bytes(b)));
    let has = |s: &Subject<'_>| {
        let reads: Vec<Load> = loads(s.records.iter().copied()).into_iter().filter(|l| l.op() == Op::Read).collect();
        format!("{} has {}", s.model, reads.iter().map(Load::title).collect::<Vec<_>>().join("; "))
    };
    Err(AdviseError::NoSuchLoad {
        whose: format!("one of {} and {}", stick.model, disk.model),
        load: format!("random read{wanted}, one at a time, that both were measured with"),
        mend: format!("{}; {}; measure both with suite quick", has(stick), has(disk)),
    })
}

/// The rate of the largest sequential blocks.
fn sequential(
    subject: &Subject<'_>,
    op: Op,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<EvidenceFigure>, AdviseError> {
    let mut all = loads(subject.records.iter().copied());
    all.retain(|l| l.op() == op && l.pattern() == Some(Pattern::Sequential) && l.is_plain());
    all.sort_by_key(|l| std::cmp::Reverse((l.block_bytes, l.queue_depth)));
    for load in all {
        if let Some(found) = rate(subject, &load, excluded)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Reads of the largest blocks that both have, medium over volume.
fn ratio(
    stick: &Subject<'_>,
    disk: &Subject<'_>,
    pattern: Pattern,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<f64>, AdviseError> {
    let least = if pattern == Pattern::Random { LARGE_BLOCK } else { 0 };
    let others = loads(disk.records.iter().copied());
    let mut all = loads(stick.records.iter().copied());
    all.retain(|l| {
        l.op() == Op::Read
            && l.pattern() == Some(pattern)
            && l.is_plain()
            && l.block_bytes >= least
            && others.contains(l)
    });
    let Some(load) = all.into_iter().max_by_key(|l| l.block_bytes) else { return Ok(None) };
    let mine = figure(stick, &load, Quantity::BytesPerSecond, excluded)?;
    let its = figure(disk, &load, Quantity::BytesPerSecond, excluded)?;
    Ok(mine.zip(its).map(|(m, i)| m.value / i.value))
}

fn capacity(stick: &Subject<'_>) -> Option<f64> {
    stick.records.iter().find_map(|r| r.medium.capacity_bytes).map(|b| b as f64)
}

fn hits_used(question: &CacheQuestion, size: Option<f64>, block: f64) -> Result<(Option<HitsUsed>, Ram), AdviseError> {
    match question.hits {
        HitSource::Unknown => Ok((None, Ram::NONE)),
        HitSource::Share(cache) => Ok((Some(HitsUsed { cache, ram_without: None, ram_with: None }), Ram::NONE)),
        HitSource::WorkingSet { bytes, zipf } => {
            let ram =
                question.ram_bytes.ok_or(AdviseError::Missing("--working-set needs --ram, the size of the ARC"))?;
            let size = size.ok_or(AdviseError::Missing(
                "the records do not say how large the medium is; give --size, like --size 15GB",
            ))?;
            let reuse = zipf.map_or(Reuse::Uniform, Reuse::Zipf);
            let found = hits(reuse, bytes, ram, size, block, HEADER_BYTES)?;
            let used =
                HitsUsed { cache: found.cache, ram_without: Some(found.ram_without), ram_with: Some(found.ram_with) };
            let ram = Ram { without_cache: found.ram_without, with_cache: found.ram_with, seconds: RAM_SECONDS };
            Ok((Some(used), ram))
        }
    }
}

/// Share of draws in which reads get more than 1.2 times as fast.
fn probability(cache: &Cache) -> Option<f64> {
    let slow = cache.slow_iops.draws(About::Mean, DRAWS, SEED).ok()?;
    let fast = cache.cache_iops.draws(About::Mean, DRAWS, SEED + 1).ok()?;
    let faster = slow.iter().zip(&fast).filter(|(slow, fast)| {
        Service::new(drawn_rate(**slow), drawn_rate(**fast), cache.feed_share, cache.ram)
            .and_then(|s| s.speed_up(cache.hits))
            .is_ok_and(|s| s > WORTH)
    });
    (cache.feed_share < 1.0).then(|| faster.count() as f64 / DRAWS as f64)
}

// Whether a medium may take the synchronous writes of a volume: as log device (SLOG).

/// Blocks of a log are small; 4 KiB is what all tools measure.
const BLOCK_BYTES: u64 = 4096;
const LOG_DRAWS: usize = 10_000;
/// Probability that makes a decision.
const LOG_SURE: f64 = 0.95;

/// In a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogWord {
    /// Faster than the volume, probability at least 0.95.
    Faster,
    /// Slower than the volume: every synchronous write would wait for it.
    Refused,
    /// The data do not tell.
    CannotTell,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogAdvice {
    /// In a word.
    pub word: LogWord,
    /// Writes of the medium over those of the volume, by the estimates.
    pub ratio: f64,
    /// Probability that the medium is faster; `None` without intervals.
    pub probability: Option<f64>,
    /// Random writes of the medium, operations per second.
    pub medium: EvidenceFigure,
    /// The same of the volume.
    pub volume: EvidenceFigure,
    /// Whether each write was followed by a sync, as in a log.
    pub synced: bool,
}

/// `None` where one of the two was not measured so.
pub(super) fn log_advice(
    medium: &Subject<'_>,
    volume: &Subject<'_>,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<LogAdvice>, AdviseError> {
    let mut writes: Vec<Load> = loads(medium.records.iter().copied());
    writes.retain(|l| {
        l.op() == Op::Write
            && l.pattern() == Some(Pattern::Random)
            && l.is_plain()
            && (l.block_bytes, l.queue_depth, l.jobs) == (BLOCK_BYTES, 1, 1)
    });
    // Those with a sync after each write first: they are what a log does.
    writes.sort_by_key(|l| !l.synced);
    for load in writes {
        let Some(mine) = figure(medium, &load, Quantity::Iops, excluded)? else { continue };
        let Some(its) = figure(volume, &load, Quantity::Iops, excluded)? else { continue };
        let ratio = log_rate_ratio(mine.value, its.value)?;
        let draws = |of: Posterior, seed| of.draws(About::Mean, LOG_DRAWS, seed).ok();
        let probability = draws(known(&mine)?, 1)
            .zip(draws(known(&its)?, 2))
            .map(|(mine, its)| mine.iter().zip(&its).filter(|(m, i)| m > i).count() as f64 / LOG_DRAWS as f64);
        let bound = mine.marks.contains(&Mark::BestOf) || its.marks.contains(&Mark::BusLimited);
        let word = if ratio <= 1.0 {
            // Fail-safe: a log that was not measured to be faster is refused.
            LogWord::Refused
        } else if load.synced && !bound && probability.is_some_and(|p| p >= LOG_SURE) {
            LogWord::Faster
        } else {
            LogWord::CannotTell
        };
        let synced = load.synced;
        let single = is_single(&mine) || is_single(&its);
        let probability = probability.filter(|_| !single || word == LogWord::Faster);
        return Ok(Some(LogAdvice { word, ratio, probability, medium: mine, volume: its, synced }));
    }
    Ok(None)
}

/// Random writes of the medium over those of the volume, each in operations per second of 4 KiB at queue depth 1. A cache
/// for reads is fed in sequence and does not care; each synchronous write of the volume waits for its log.
pub(super) fn log_rate_ratio(medium_iops: f64, volume_iops: f64) -> Result<f64, InputRefusal> {
    Ok(positive("the random write of the medium", medium_iops)?
        / positive("the random write of the volume", volume_iops)?)
}
