//! What kind of load a figure is of: figures are compared under the same load, and no other.

use assay_core::text::quoted;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync, Unknown, Workload};
use serde::{Serialize, Serializer};

/// A load, whatever the suite calls it. Sorted as people read it: reads before writes, sequential
/// before random, small blocks before large ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Load {
    /// 0 read, 1 mixed, 2 write: what sorts.
    #[serde(rename = "op", serialize_with = "op_name")]
    op_order: u8,
    /// 0 sequential, 1 random, 2 where the source of an imported figure does not tell.
    #[serde(rename = "pattern", serialize_with = "pattern_name")]
    pattern_order: u8,
    /// Size of one operation in bytes; 0 where it is not known.
    pub block_bytes: u64,
    /// Operations in flight for each job; 0 where that is not known.
    pub queue_depth: u32,
    /// Threads; 0 where that is not known.
    pub jobs: u32,
    /// Share of reads in percent for mixed work.
    pub read_percent: Option<u8>,
    /// Whether every write is followed by a sync of its own.
    pub synced: bool,
    /// What is offered in an open loop, like `500 IOPS offered`; empty for a closed one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub offered: String,
    /// How random operations are spread over the blocks, like `zipf:1.1`; empty where each is as frequent as any other.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub spread: String,
    /// What tells several figures of one record under the same load apart; empty for the first.
    pub variant: String,
}

impl Load {
    /// The load of a workload.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        Self {
            op_order: match workload.op {
                Op::Read => 0,
                Op::Mixed => 1,
                Op::Write => 2,
            },
            pattern_order: match workload.pattern {
                _ if workload.lacks(Unknown::Pattern) => 2,
                Pattern::Sequential => 0,
                Pattern::Random => 1,
            },
            block_bytes: workload.block_bytes,
            queue_depth: workload.queue_depth,
            jobs: workload.jobs,
            read_percent: workload.read_percent,
            synced: workload.sync != Sync::End,
            offered: workload.arrivals.map(|arrivals| arrivals.to_string()).unwrap_or_default(),
            spread: spread(workload),
            variant: String::new(),
        }
    }

    /// Whether it tells by itself what a medium can do: a closed loop on blocks of which each is as frequent as any
    /// other, the first of its kind in its record.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.offered.is_empty() && self.spread.is_empty() && self.variant.is_empty()
    }

    /// What the operations do.
    #[must_use]
    pub fn op(&self) -> Op {
        OPS[usize::from(self.op_order).min(2)]
    }

    /// Where they go; `None` where that is not known.
    #[must_use]
    pub fn pattern(&self) -> Option<Pattern> {
        PATTERNS.get(usize::from(self.pattern_order)).copied()
    }

    /// In words: `random read 4 KiB, QD 32`.
    #[must_use]
    pub fn title(&self) -> String {
        let block = match self.block_bytes {
            0 => ", unknown block size".to_owned(),
            bytes => format!(" {}", Bytes(bytes)),
        };
        self.words(&block)
    }

    /// The same without the block: what a row of block sizes is of.
    #[must_use]
    pub fn title_of_sizes(&self) -> String {
        self.words("")
    }

    fn words(&self, block: &str) -> String {
        let pattern = ["sequential ", "random ", ""][usize::from(self.pattern_order).min(2)];
        let op = match self.op() {
            Op::Read => "read".to_owned(),
            Op::Write => "write".to_owned(),
            Op::Mixed => format!("mixed {} % read", self.read_percent.unwrap_or(0)),
        };
        let mut title = format!("{pattern}{op}{block}");
        match self.queue_depth {
            0 => title += ", unknown queue depth",
            1 => {}
            depth => title += &format!(", QD {depth}"),
        }
        if self.jobs > 1 {
            title += &format!(", {} jobs", self.jobs);
        }
        if self.synced {
            title += ", synced";
        }
        for condition in [&self.offered, &self.spread].into_iter().filter(|words| !words.is_empty()) {
            title += &format!(", {condition}");
        }
        if !self.variant.is_empty() {
            title += &format!(" ({})", self.variant);
        }
        title
    }
}

fn spread(workload: &Workload) -> String {
    if workload.distribution.is_uniform() { String::new() } else { workload.distribution.to_string() }
}

const OPS: [Op; 3] = [Op::Read, Op::Mixed, Op::Write];
const PATTERNS: [Pattern; 2] = [Pattern::Sequential, Pattern::Random];

fn op_name<S: Serializer>(order: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    OPS[usize::from(*order).min(2)].serialize(serializer)
}

fn pattern_name<S: Serializer>(order: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    PATTERNS.get(usize::from(*order)).serialize(serializer)
}

/// Which figure of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations per second.
    Iops,
    /// Bytes per second; of writes, acknowledged.
    BytesPerSecond,
    /// Bytes per second with the final sync in the clock.
    DurableBytesPerSecond,
    /// Median latency in nanoseconds.
    P50Ns,
    /// 90th percentile of the latency in nanoseconds.
    P90Ns,
    /// 95th percentile of the latency in nanoseconds.
    P95Ns,
    /// 99th percentile of the latency in nanoseconds.
    P99Ns,
    /// 99.9th percentile of the latency in nanoseconds.
    #[serde(rename = "p99_9_ns")]
    P999Ns,
    /// 99.99th percentile of the latency in nanoseconds.
    #[serde(rename = "p99_99_ns")]
    P9999Ns,
}

impl Quantity {
    /// All of them, in the order in which they are named to people.
    pub const ALL: [Self; 9] = [
        Self::Iops,
        Self::BytesPerSecond,
        Self::DurableBytesPerSecond,
        Self::P50Ns,
        Self::P90Ns,
        Self::P95Ns,
        Self::P99Ns,
        Self::P999Ns,
        Self::P9999Ns,
    ];

    /// Reads the name of a quantity on the command line.
    ///
    /// # Errors
    /// One line with the names there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|quantity| quantity.name() == name);
        found.ok_or_else(|| format!("no figure is named {}; there are {}", quoted(name), Self::names()))
    }

    /// The names of all of them, for a message.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The share of operations that are not slower, of a latency; `None` for what is no latency.
    #[must_use]
    pub fn percentile(self) -> Option<f64> {
        match self {
            Self::Iops | Self::BytesPerSecond | Self::DurableBytesPerSecond => None,
            Self::P50Ns => Some(0.5),
            Self::P90Ns => Some(0.9),
            Self::P95Ns => Some(0.95),
            Self::P99Ns => Some(0.99),
            Self::P999Ns => Some(0.999),
            Self::P9999Ns => Some(0.9999),
        }
    }

    /// Operations that a repeat needs, so that at least one is slower than the percentile: of fewer, it is the slowest
    /// operation by another name.
    #[must_use]
    pub fn least_operations(self) -> u64 {
        match self {
            Self::P999Ns => 1_000,
            Self::P9999Ns => 10_000,
            _ => 1,
        }
    }

    /// What people read first of a load: the operations of random work, the rate of all other; the latency where the
    /// rate is given.
    #[must_use]
    pub fn usual(load: &Load) -> Self {
        match load.pattern() {
            _ if !load.offered.is_empty() => Self::P99Ns,
            Some(Pattern::Random) => Self::Iops,
            Some(Pattern::Sequential) | None => Self::BytesPerSecond,
        }
    }

    /// Whether more of it is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self.percentile().is_none()
    }

    /// Name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::BytesPerSecond => "rate",
            Self::DurableBytesPerSecond => "durable",
            Self::P50Ns => "p50",
            Self::P90Ns => "p90",
            Self::P95Ns => "p95",
            Self::P99Ns => "p99",
            Self::P999Ns => "p99.9",
            Self::P9999Ns => "p99.99",
        }
    }

    /// What it is, for a heading: `IOPS`, `durable rate`, `p99 latency`.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::BytesPerSecond => "rate",
            Self::DurableBytesPerSecond => "durable rate",
            Self::P50Ns => "median latency",
            Self::P90Ns => "p90 latency",
            Self::P95Ns => "p95 latency",
            Self::P99Ns => "p99 latency",
            Self::P999Ns => "p99.9 latency",
            Self::P9999Ns => "p99.99 latency",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_read_what_a_load_does() {
        let records = crate::published("sandisk-extreme-a2").unwrap();
        let loads = crate::loads(&records);
        let json = serde_json::to_value(&loads[0]).unwrap();
        assert_eq!((&json["op"], &json["pattern"]), (&"read".into(), &"random".into()));
        assert_eq!(loads.last().unwrap().op(), Op::Write, "reads come first");
    }

    /// A load of which something is unknown is not the load that has a value there.
    #[test]
    fn what_is_unknown_is_told_and_compared_with_nothing_known() {
        let known = Workload::new("w", Op::Read, Pattern::Random, 4096);
        let unknown = Workload {
            block_bytes: 0,
            queue_depth: 0,
            unknown: vec![Unknown::Pattern, Unknown::BlockBytes, Unknown::QueueDepth],
            ..known.clone()
        };
        let (known, unknown) = (Load::of(&known), Load::of(&unknown));
        assert_ne!(known, unknown);
        assert_eq!(unknown.title(), "read, unknown block size, unknown queue depth");
        assert_eq!(serde_json::to_value(&unknown).unwrap()["pattern"], serde_json::Value::Null);
    }
}
