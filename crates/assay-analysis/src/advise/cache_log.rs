//! Whether a medium may take the synchronous writes of a volume: as log device (SLOG).

use assay_core::workload::{Op, Pattern};
use assay_stats::decide::{About, Refusal, positive};
use serde::Serialize;

use super::error::AdviseError;
use super::evidence::Subject;
use super::figure::{Figure, figure};
use crate::{Excluded, Load, Quantity, loads};

/// Blocks of a log are small; 4 KiB is what all tools measure.
const BLOCK_BYTES: u64 = 4096;
const DRAWS: usize = 10_000;
/// Probability that makes a decision.
const SURE: f64 = 0.95;

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
    pub medium: Figure,
    /// The same of the volume.
    pub volume: Figure,
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
        let ratio = ratio(mine.value, its.value)?;
        let draws = |f: &Figure, seed| f.posterior.draws(About::Mean, DRAWS, seed).ok();
        let probability = draws(&mine, 1)
            .zip(draws(&its, 2))
            .map(|(mine, its)| mine.iter().zip(&its).filter(|(m, i)| m > i).count() as f64 / DRAWS as f64);
        let word = if ratio <= 1.0 {
            // Fail-safe: a log that was not measured to be faster is refused.
            LogWord::Refused
        } else if load.synced && probability.is_some_and(|p| p >= SURE) {
            LogWord::Faster
        } else {
            LogWord::CannotTell
        };
        let synced = load.synced;
        return Ok(Some(LogAdvice { word, ratio, probability, medium: mine, volume: its, synced }));
    }
    Ok(None)
}

/// Random writes of the medium over those of the volume, each in operations per second of 4 KiB at queue depth 1. A cache
/// for reads is fed in sequence and does not care; each synchronous write of the volume waits for its log.
pub(super) fn ratio(medium_iops: f64, volume_iops: f64) -> Result<f64, Refusal> {
    Ok(positive("the random write of the medium", medium_iops)?
        / positive("the random write of the volume", volume_iops)?)
}
