//! What is asked of a ranking.

use assay_core::text::quoted;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern};

use super::composite::CompositeKind;
use crate::load::{Load, Quantity};

/// How to rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The load that decides; `None`: random reads of 4 KiB at the deepest depth that most records have.
    pub primary: Option<LoadAsk>,
    /// The figure of it; `None`: what people read first of that load.
    pub quantity: Option<Quantity>,
    /// Rate in bytes per second that slots let through; `None`: as the records or the values say.
    pub ceiling: Option<f64>,
    /// Chance of any false order when all models are equal, between 0 and 1.
    pub alpha: f64,
    /// Differences up to this share do not matter: 0.03 is 3 %.
    pub delta: f64,
    /// Whether models of one unit take part, with the variance of the others.
    pub borrow: bool,
    /// Seed of everything drawn.
    pub seed: u64,
    /// A number made of several loads beside the ranking.
    pub composite: Option<CompositeKind>,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            primary: None,
            quantity: None,
            ceiling: None,
            alpha: 0.05,
            delta: 0.03,
            borrow: false,
            seed: 0,
            composite: None,
        }
    }
}

/// A load by its words, as in its title: `random read 4 KiB`, `write`, `seq read 1MiB QD 8`. What
/// is left out may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadAsk {
    op: Option<Op>,
    pattern: Option<Pattern>,
    block_bytes: Option<u64>,
    queue_depth: Option<u32>,
    jobs: Option<u32>,
    synced: bool,
}

impl LoadAsk {
    /// Reads such words.
    ///
    /// # Errors
    /// One line that names the word that is not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.to_lowercase().replace([',', ';'], " ");
        let mut words = spaced.split_whitespace().peekable();
        let mut ask = Self::default();
        let bad = |word: &str| {
            format!(
                "{} is no part of a load; say it like `random read 4 KiB`, `sequential write 1MiB, QD 8, 4 jobs`",
                quoted(word)
            )
        };
        while let Some(word) = words.next() {
            match word {
                "random" | "rand" => ask.pattern = Some(Pattern::Random),
                "sequential" | "seq" => ask.pattern = Some(Pattern::Sequential),
                "read" | "reads" => ask.op = Some(Op::Read),
                "write" | "writes" => ask.op = Some(Op::Write),
                "mixed" => ask.op = Some(Op::Mixed),
                "synced" => ask.synced = true,
                "qd" => ask.queue_depth = Some(words.next().and_then(number).ok_or_else(|| bad(word))?),
                _ => match word.strip_prefix("qd").and_then(number) {
                    Some(depth) => ask.queue_depth = Some(depth),
                    None => {
                        let next = words.peek().copied().unwrap_or("");
                        if let (Some(jobs), "job" | "jobs") = (number(word), next) {
                            ask.jobs = Some(jobs);
                            words.next();
                        } else if let Ok(bytes) = format!("{word}{next}").parse::<Bytes>()
                            && ["b", "kib", "mib", "gib", "kb", "mb", "gb"].contains(&next)
                        {
                            ask.block_bytes = Some(bytes.0);
                            words.next();
                        } else {
                            ask.block_bytes = Some(word.parse::<Bytes>().map_err(|_| bad(word))?.0);
                        }
                    }
                },
            }
        }
        if ask == Self::default() {
            return Err("a load needs words, like `random read 4 KiB`".to_owned());
        }
        Ok(ask)
    }

    /// Random reads of 4 KiB: what the published comparisons of cards decide on, and what a root
    /// file system does most.
    #[must_use]
    pub fn usual() -> Self {
        Self { op: Some(Op::Read), pattern: Some(Pattern::Random), block_bytes: Some(4096), ..Self::default() }
    }

    /// Whether a load is such a one.
    #[must_use]
    pub fn matches(&self, load: &Load) -> bool {
        self.op.is_none_or(|op| op == load.op())
            && self.pattern.is_none_or(|pattern| pattern == load.pattern())
            && self.block_bytes.is_none_or(|bytes| bytes == load.block_bytes)
            && self.queue_depth.is_none_or(|depth| depth == load.queue_depth)
            && self.jobs.is_none_or(|jobs| jobs == load.jobs)
            && (!self.synced || load.synced)
    }
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|n| *n > 0)
}

/// A quantity by its name on the command line.
///
/// # Errors
/// One line with the names there are.
pub fn parse_metric(text: &str) -> Result<Quantity, String> {
    let all =
        [Quantity::Iops, Quantity::BytesPerSecond, Quantity::DurableBytesPerSecond, Quantity::P50Ns, Quantity::P99Ns];
    all.into_iter()
        .find(|q| q.name() == text)
        .ok_or_else(|| format!("no metric is named so; there are {}", all.map(Quantity::name).join(", ")))
}

/// A rate like `23MB/s` (10^6) or `23000 KiB/s` (2^10) in bytes per second.
///
/// # Errors
/// One line that says what a rate looks like.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let bad = || "say a rate above zero like 23MB/s or 23000KiB/s".to_owned();
    let rate = text.trim();
    let rate = rate.strip_suffix("/s").unwrap_or(rate).trim();
    let split = rate.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(bad)?;
    let (value, unit) = rate.split_at(split);
    let factor = match unit {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return Err(bad()),
    };
    let value: f64 = value.trim().parse().map_err(|_| bad())?;
    let bytes = value * factor;
    if bytes > 0.0 && bytes.is_finite() { Ok(bytes) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_named_by_their_words() {
        let usual = LoadAsk::usual();
        for text in ["random read 4 KiB", "rand read 4KiB", "Read, random 4096"] {
            assert_eq!(LoadAsk::parse(text), Ok(usual.clone()), "{text}");
        }
        let full = LoadAsk::parse("sequential write 1 MiB, QD 8, 4 jobs, synced").unwrap();
        assert_eq!((full.block_bytes, full.queue_depth, full.jobs), (Some(1 << 20), Some(8), Some(4)));
        assert!(full.synced && full.op == Some(Op::Write));
        assert_eq!(LoadAsk::parse("qd32").unwrap().queue_depth, Some(32));
        for bad in ["", "fast", "qd", "qd 0", "read 4 KiB quickly"] {
            assert!(LoadAsk::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_carry_their_unit() {
        assert_eq!(parse_rate("23MB/s"), Ok(23e6));
        assert_eq!(parse_rate(" 23000 KiB/s"), Ok(23000.0 * 1024.0));
        for bad in ["", "23", "MB/s", "-1MB/s", "0MB/s", "nanMB/s", "infMB/s", "23 furlongs"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
        assert!(parse_metric("iops").is_ok() && parse_metric("speed").unwrap_err().contains("p99"));
    }
}
