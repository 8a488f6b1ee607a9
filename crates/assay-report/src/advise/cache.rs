//! Good as cache?

use std::time::Duration;

use assay_analysis::advise::{
    CacheAdvice, CacheUnknown, CacheUse, CacheWarning, CacheWord, EvidenceFigure, LogAdvice, LogWord,
};
use assay_core::text::clean;
use assay_core::units::{Bytes, capacity, latency, multiples, probability, rate, span, times};

use super::parts::{
    FIGURE, ONE_VALUE, Parts, exact_cells, figure_cells, figure_text, left_out_items, marks_text, percent,
};
use crate::document::{Answered, Data, left, right};
use crate::headline::unit;

/// A stick before a disk.
#[must_use]
pub fn cache(advice: &CacheAdvice) -> Answered {
    let sentence = match advice.use_as {
        CacheUse::L2arc => as_cache(advice),
        CacheUse::Slog => as_log(advice),
    };
    let mut parts = Parts::default();
    terms(&mut parts, advice);
    if advice.use_as == CacheUse::L2arc {
        speed_ups(&mut parts, advice);
        numbers(&mut parts, advice);
    }
    log(&mut parts, advice);
    left_out_items(&mut parts, &advice.excluded);
    let about = format!("{} as cache of {}", clean(&advice.medium), clean(&advice.volume));
    parts.answered("cache", about, sentence, data(advice), advice)
}

fn as_cache(a: &CacheAdvice) -> String {
    let (stick, disk) = (clean(&a.medium), clean(&a.volume));
    let reads = format!("random reads of {} from {disk}", Bytes(a.block_bytes));
    let times = a.speed_up.map(|s| format!("{} as fast", times(s))).unwrap_or_default();
    let range = a.interval.map(|(l, h)| format!(" ({}, 95 %)", multiples(l, h))).unwrap_or_default();
    let at = a.hits.map(|h| format!(" at {} hits", percent(h.cache))).unwrap_or_default();
    let p = a.probability.map(|p| format!("; probability of more than 1.2 times: {}", probability(p)));
    let p = p.unwrap_or_default();
    match a.word {
        CacheWord::Good => format!("Good as read cache: {stick} makes {reads} {times}{range}{at}{p}."),
        CacheWord::Harmful if a.speed_up.is_none() => format!(
            "Harmful as read cache at this feed: {} is more than the {} that {stick} writes; set l2arc_write_max to \
             at most {}.",
            rate(a.feed_bytes_per_second),
            figure_text(&a.sequential_write),
            rate(a.quiet_feed())
        ),
        CacheWord::Harmful => format!("Harmful as read cache: {stick} makes {reads} {times}{range}{at}{p}."),
        CacheWord::Marginal => {
            format!("Doubtful as read cache: {stick} makes {reads} {times}{range}{at}{p}; see the warnings.")
        }
        CacheWord::CannotTell(CacheUnknown::OneValue) => {
            format!(
                "Cannot tell: {ONE_VALUE}, as the difference is too small to be decided by one; by the estimates {stick} \
                 makes {reads} {times}{at}."
            )
        }
        CacheWord::CannotTell(CacheUnknown::Bound) => format!(
            "Cannot tell: a figure is only a bound, as its bus held it or as it is the best of several runs; measure it; \
             by the estimates {stick} makes {reads} {times}{at}."
        ),
        CacheWord::CannotTell(CacheUnknown::Scattered) => {
            let names: Vec<String> = a.scattered().into_iter().map(clean).collect();
            format!(
                "Cannot tell: the values of {} differ too much; measure again, on other days; by the estimates {stick} makes \
                 {reads} {times}{at}.",
                names.join(" and ")
            )
        }
        CacheWord::CannotTell(CacheUnknown::HitsUnknown) => {
            let least = a.hits_for.first().and_then(|(_, hits)| *hits);
            let least = least.map_or_else(
                || "no share of hits makes reads 1.2 times as fast".to_owned(),
                |hits| format!("{} hits make reads 1.2 times as fast", percent(hits)),
            );
            format!(
                "Cannot tell: the hit rate of {stick} is not known; by the estimates {least}; give --hit, or \
                 --working-set and --ram."
            )
        }
    }
}

fn as_log(a: &CacheAdvice) -> String {
    let (stick, disk) = (clean(&a.medium), clean(&a.volume));
    let Some(log) = &a.log else {
        return format!(
            "Cannot tell: random writes of 4 KiB, one at a time, were not measured on both {stick} and {disk}."
        );
    };
    let p = log.probability.map(|p| format!("; probability that it is faster: {}", probability(p)));
    let p = p.unwrap_or_else(|| "; no interval".to_owned());
    let times = times(log.ratio);
    match log.word {
        LogWord::Refused => format!(
            "Refused as log (SLOG): {stick} makes random writes of 4 KiB {times} as fast as {disk}, and each \
             synced write would wait for it{p}."
        ),
        LogWord::Faster => {
            format!("Good as log (SLOG): {stick} makes synced random writes of 4 KiB {times} as fast as {disk}{p}.")
        }
        LogWord::CannotTell if !log.synced => format!(
            "Cannot tell: {stick} makes random writes of 4 KiB {times} as fast as {disk}, but a log syncs \
             each write, and these were not synced; measure both with suite quick{p}."
        ),
        LogWord::CannotTell => format!(
            "Cannot tell: {stick} makes synced random writes of 4 KiB {times} as fast as {disk}, which is not \
             certain; measure with 3 repeats or more{p}."
        ),
    }
}

fn terms(parts: &mut Parts, a: &CacheAdvice) {
    let row = |name: &str, f: &EvidenceFigure, time: bool| {
        let [value, range, n] = figure_cells(f);
        let each = if time { latency(1e9 / f.value) } else { "–".to_owned() };
        vec![format!("{name}, {}", clean(&f.title)), value, unit(f.quantity, f.value).0.to_owned(), range, n, each]
    };
    let mut rows = vec![row("disk", &a.slow, true), row("stick", &a.fast, true)];
    rows.push(row("stick", &a.sequential_write, false));
    if let Some(log) = &a.log {
        rows.push(row("disk", &log.volume, true));
        rows.push(row("stick", &log.medium, true));
    }
    let columns = vec![left("measured"), right("value"), left("unit"), right("95 %"), right("of"), right("each")];
    parts.table(columns, rows);
}

/// The figures that the advice rests on.
fn data(a: &CacheAdvice) -> Data {
    let mut columns = vec!["medium", "model", "load"];
    columns.extend(FIGURE);
    let log = a.log.iter().flat_map(|log| [("disk", &log.volume), ("stick", &log.medium)]);
    let all = [("disk", &a.slow), ("stick", &a.fast), ("stick", &a.sequential_write)].into_iter().chain(log);
    let row = |(name, figure): (&str, &EvidenceFigure)| {
        let model = if name == "disk" { &a.volume } else { &a.medium };
        [name.to_owned(), model.clone(), figure.title.clone()].into_iter().chain(exact_cells(figure)).collect()
    };
    Data { columns, rows: all.map(row).collect() }
}

fn speed_ups(parts: &mut Parts, a: &CacheAdvice) {
    let rows: Vec<Vec<String>> = a
        .table
        .iter()
        .map(|line| {
            let fed = line.fed.map_or_else(|| "saturated".to_owned(), |s| format!("{s:.3}"));
            vec![percent(line.hits), format!("{:.3}", line.filled), fed]
        })
        .collect();
    let fed = format!("while fed at {}", rate(a.feed_bytes_per_second));
    parts.table(vec![left("hits"), right("times as fast, full"), right(fed)], rows);
}

fn numbers(parts: &mut Parts, a: &CacheAdvice) {
    for (factor, hits) in &a.hits_for {
        let text = hits.map_or_else(|| "no share of hits".to_owned(), |h| format!("at {:.1} % hits", h * 100.0));
        parts.item(&format!("{factor} times"), &text);
    }
    if let Some(hits) = a.hits {
        let ram = hits.ram_without.zip(hits.ram_with).map(|(without, with)| {
            format!(
                "; RAM hits {} of all reads without the cache, {} with its headers",
                percent(without),
                percent(with)
            )
        });
        let ram = ram.unwrap_or_else(|| "; as given".to_owned());
        parts.item("hits", &format!("{} of reads that miss RAM{ram}", percent(hits.cache)));
    }
    let fill = a.fill_seconds.map(|s| format!("; filled in {}", span(Duration::from_secs_f64(s.min(1e12)))));
    parts.item(
        "feed",
        &format!(
            "{} takes {} of the stick's time, so that reads take {} as long{}",
            rate(a.feed_bytes_per_second),
            percent(a.feed_share),
            slower(a.feed_share),
            fill.unwrap_or_default()
        ),
    );
    match a.header {
        Some(header) => {
            let ram = header.share_of_ram.map_or_else(
                || "; --ram also shows their share of the RAM".to_owned(),
                |share| format!(", {} of the RAM cache", percent(share)),
            );
            let text = format!(
                "{} of RAM for {} in blocks of {} (128 bytes each){ram}",
                capacity(header.bytes as u64),
                capacity(header.cache_bytes as u64),
                Bytes(a.block_bytes)
            );
            parts.item("headers", &text);
        }
        None => parts.item("headers", "unknown: the records do not give the size of the stick; set --size"),
    }
    if a.probability.is_some() && a.interval.is_none() {
        parts.item(
            "note",
            "there is one value, which may be off by as much as units of a model differ (15 % is assumed)",
        );
    }
    for warning in &a.warnings {
        parts.item("warning", &warning_text(*warning));
    }
    let said = marks_text(&a.fast.marks);
    if !said.is_empty() {
        parts.item("note", &format!("stick: {said}"));
    }
}

fn warning_text(warning: CacheWarning) -> String {
    match warning {
        CacheWarning::FeedSaturates { share, set_at_most } => format!(
            "the feed takes {} of the stick's time: set l2arc_write_max to at most {}",
            percent(share),
            rate(set_at_most)
        ),
        CacheWarning::FeedSlowsReads { share, set_at_most } => format!(
            "the feed takes {} of the stick's time and slows reads: set l2arc_write_max to at most {}",
            percent(share),
            rate(set_at_most)
        ),
        CacheWarning::Headers { share } => {
            format!("headers take {} of the RAM cache: larger records or a smaller cache", percent(share))
        }
        CacheWarning::SlowerInSequence { ratio } => format!(
            "in sequence the stick reads at {} of the disk's rate: harmful where prefetched blocks are cached; leave \
             l2arc_noprefetch at 1",
            percent(ratio)
        ),
        CacheWarning::LargeBlocksGainLittle { ratio } => {
            format!("large random reads are {} as fast from the stick: little or nothing is gained", times(ratio))
        }
    }
}

fn log(parts: &mut Parts, a: &CacheAdvice) {
    let text = match &a.log {
        None => "not judged: random writes of 4 KiB, one at a time, were not measured on both".to_owned(),
        Some(LogAdvice { word, ratio, synced, .. }) => {
            let how = if *synced { "synced" } else { "not synced" };
            let word = match word {
                LogWord::Refused => "refused",
                LogWord::Faster => "faster",
                LogWord::CannotTell => "cannot tell",
            };
            format!("{word}: random writes of 4 KiB ({how}) are {} as fast", times(*ratio))
        }
    };
    parts.item("as log (SLOG)", &text);
}
/// How much slower reads are while the stick is filled for this share of its time.
fn slower(share: f64) -> String {
    if share < 1.0 { times(1.0 / (1.0 - share)) } else { "without end".to_owned() }
}
