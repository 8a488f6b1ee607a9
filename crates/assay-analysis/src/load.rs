//! What kind of load a figure is of: figures are compared under the same load, and no other.

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
    /// The sizes of operations where there are several, like `4KiB/60:64KiB/40`; empty where all are alike.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub blocks: String,
    /// Pauses between operations and what runs at the same time; empty where there is neither.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub beside: String,
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
            blocks: workload.blocks.to_string(),
            beside: beside(workload),
            variant: String::new(),
        }
    }

    /// Whether it tells by itself what a medium can do: a closed loop on blocks of which each is as frequent as any
    /// other, the first of its kind in its record.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.conditions().all(str::is_empty) && self.blocks.is_empty() && self.variant.is_empty()
    }

    /// What makes it another load than that of its blocks and queue, each in words or empty.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &str> {
        [&self.offered, &self.spread, &self.beside].into_iter().map(String::as_str)
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
            _ if !self.blocks.is_empty() => format!(" {}", self.blocks),
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
        for condition in self.conditions().filter(|words| !words.is_empty()) {
            title += &format!(", {condition}");
        }
        if !self.variant.is_empty() {
            title += &format!(" ({})", self.variant);
        }
        title
    }
}

fn beside(workload: &Workload) -> String {
    let think = workload.think.map(|think| think.to_string());
    let together = workload.together.as_ref().map(ToString::to_string);
    [think, together].into_iter().flatten().collect::<Vec<_>>().join(", ")
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
