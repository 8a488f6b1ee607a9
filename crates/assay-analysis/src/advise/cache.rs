//! Is a medium good as read cache (L2ARC) before a slow volume?

use assay_core::record::Record;
use assay_core::workload::{Op, Pattern};
use assay_stats::decide::About;

use super::cache_hits::{HEADER_BYTES, Reuse, header_bytes, hits};
use super::cache_judge::{Cache, judge};
use super::cache_log::log_advice;
use super::cache_service::{Ram, Service, feed, fill_seconds};
use super::cache_types::{CacheAdvice, CacheQuestion, CacheWord, Header, HitSource, HitsUsed, SpeedUp, Why};
use super::error::AdviseError;
use super::evidence::{Subject, one_subject};
use super::figure::{Figure, figure, rate};
use crate::{Excluded, Load, Quantity, loads};

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
pub fn cache(medium: &[Record], volume: &[Record], question: &CacheQuestion) -> Result<CacheAdvice, AdviseError> {
    let mut excluded = Vec::new();
    let stick = one_subject(medium, "the cache", &mut excluded)?;
    let disk = one_subject(volume, "the volume that it caches", &mut excluded)?;
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
        slow_iops: slow.posterior,
        cache_iops: fast.posterior,
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
        _ if hits.is_none() => CacheWord::CannotTell(Why::HitsUnknown),
        word => word,
    };
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
        interval: verdict.interval.filter(|_| hits.is_some()),
        probability: hits.and_then(|_| probability(&judged)),
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

fn random_reads(
    stick: &Subject<'_>,
    disk: &Subject<'_>,
    block: Option<u64>,
    excluded: &mut Vec<Excluded>,
) -> Result<(Load, Figure, Figure), AdviseError> {
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
fn sequential(subject: &Subject<'_>, op: Op, excluded: &mut Vec<Excluded>) -> Result<Option<Figure>, AdviseError> {
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
        Service::new(slow.exp(), fast.exp(), cache.feed_share, cache.ram)
            .and_then(|s| s.speed_up(cache.hits))
            .is_ok_and(|s| s > WORTH)
    });
    (cache.feed_share < 1.0).then(|| faster.count() as f64 / DRAWS as f64)
}
