//! One kind of load.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
use crate::blocks::Blocks;
use crate::cpus::Cpus;
use crate::distribution::Distribution;
use crate::load_title::LoadTitle;
pub use crate::load_title::{Op, Pattern};
use crate::priority::Priorities;
use crate::refined::Refined;
use crate::units::Bytes;

/// When written data must be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// Once, after the last write of a repeat; the durable rate has it in the clock.
    #[default]
    End,
    /// `fdatasync` after every write, inside the latency.
    Fdatasync,
    /// `fsync` after every write, inside the latency.
    Fsync,
}

impl Sync {
    /// Whether every write is followed by a sync of its own.
    #[must_use]
    pub fn each(self) -> bool {
        self != Self::End
    }
}

/// Whether a field is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Whether a field is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// When a repeat stops: at whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop {
    /// Warm-up before the clock starts, in nanoseconds; its operations are not counted.
    pub ramp_ns: u64,
    /// Length of the measured part in nanoseconds.
    pub duration_ns: u64,
    /// Most bytes moved, warm-up included; null is no limit.
    pub max_bytes: Option<u64>,
}

/// fio's name of what operations do and where they go: its option `rw`.
#[must_use]
pub fn fio_rw(op: Op, pattern: Pattern) -> &'static str {
    match (op, pattern) {
        (Op::Read, Pattern::Sequential) => "read",
        (Op::Read, Pattern::Random) => "randread",
        (Op::Write, Pattern::Sequential) => "write",
        (Op::Write, Pattern::Random) => "randwrite",
        (Op::Mixed, Pattern::Sequential) => "rw",
        (Op::Mixed, Pattern::Random) => "randrw",
    }
}

impl Stop {
    /// That of a load whose length is not settled.
    pub const OPEN: Self = Self { ramp_ns: 0, duration_ns: 0, max_bytes: None };
}

/// What of a load a source does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Where operations go.
    Pattern,
    /// Size of one operation.
    BlockBytes,
    /// Operations in flight of each job.
    QueueDepth,
    /// Threads.
    Jobs,
    /// Part of the file or device that was used.
    SpanBytes,
    /// Whether the page cache was bypassed.
    Direct,
    /// When writes had to be durable.
    Sync,
    /// When a run ended.
    Stop,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl Unknown {
    /// What it is, in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::BlockBytes => "block size",
            Self::QueueDepth => "queue depth",
            Self::Jobs => "jobs",
            Self::SpanBytes => "size of the test area",
            Self::Direct => "direct or cached I/O",
            Self::Sync => "sync",
            Self::Stop => "length of a run",
            Self::Other => "something of a newer version",
        }
    }
}

/// One kind of load, complete: enough to run it again, unless a source does not tell some of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workload {
    /// Name within its suite, like `rand-read-4k-q32`.
    pub name: String,
    /// What the operations do.
    pub op: Op,
    /// Share of reads in percent where `op` is mixed; null elsewhere.
    pub read_percent: Option<u8>,
    /// Where they go.
    pub pattern: Pattern,
    /// Size of one operation in bytes; of several sizes the mean, rounded.
    pub block_bytes: u64,
    /// The sizes of operations where there are several.
    #[serde(default, skip_serializing_if = "Blocks::is_empty")]
    pub blocks: Blocks,
    /// Operations kept in flight by each job.
    pub queue_depth: u32,
    /// Threads that do this at once.
    pub jobs: u32,
    /// Part of the test file or device that is used, in bytes.
    pub span_bytes: u64,
    /// Where that part begins, in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_bytes: u64,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// When writes must be durable.
    pub sync: Sync,
    /// When operations begin, in an open loop: its latency counts from the planned time, and `queue_depth` is the
    /// most that is in flight. Null where each begins when another one is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// How random operations are spread over the blocks.
    #[serde(default, skip_serializing_if = "Distribution::is_uniform")]
    pub distribution: Distribution,
    /// Pauses between operations of a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// What it has beyond pattern, block and queue.
    #[serde(default, skip_serializing_if = "Refined::is_empty")]
    pub refined: Refined,
    /// Priorities of its operations before those of others.
    #[serde(default, skip_serializing_if = "Priorities::is_empty")]
    pub priorities: Priorities,
    /// Processors that the threads run on, one each in turn, where the kernel does not choose.
    #[serde(default, skip_serializing_if = "Cpus::is_empty")]
    pub cpus: Cpus,
    /// Whether completions are polled for, and no interrupt tells of them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub poll: bool,
    /// What runs on the medium at the same time, where that is a part of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// When a repeat stops.
    pub stop: Stop,
    /// What the source of an imported record does not tell. Those fields hold no value of the load: numbers are zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Unknown>,
}

impl Workload {
    /// One operation at a time by one job, direct and synced at the end; without a span and a stop rule.
    #[must_use]
    pub fn new(name: &str, op: Op, pattern: Pattern, block_bytes: u64) -> Self {
        Self {
            name: name.to_owned(),
            op,
            read_percent: None,
            pattern,
            block_bytes,
            blocks: Blocks::default(),
            queue_depth: 1,
            jobs: 1,
            span_bytes: 0,
            offset_bytes: 0,
            direct: true,
            sync: Sync::End,
            arrivals: None,
            distribution: Distribution::Uniform,
            think: None,
            refined: Refined::default(),
            priorities: Priorities::default(),
            cpus: Cpus::default(),
            poll: false,
            together: None,
            stop: Stop::OPEN,
            unknown: Vec::new(),
        }
    }

    /// Whether it tells by itself what a medium can do: a closed loop on blocks of one size, all equally
    /// frequent, with nothing beside it.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.conditions_and_sizes().is_empty()
    }

    /// How the host does it, where that was asked for: `one processor a thread of 0-3`, `completions polled`. It is the same
    /// load: figures are compared, and may differ.
    #[must_use]
    pub fn manner(&self) -> Vec<String> {
        let cpus = (!self.cpus.is_empty()).then(|| format!("one processor a thread of {}", self.cpus));
        cpus.into_iter().chain(self.poll.then(|| "completions polled".to_owned())).collect()
    }

    /// The largest block in bytes.
    #[must_use]
    pub fn largest_block(&self) -> u64 {
        let writes = self.refined.writes.largest().unwrap_or(0);
        self.blocks.largest().unwrap_or(self.block_bytes).max(writes)
    }

    /// Whether operations have several sizes.
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        !self.blocks.is_empty() || !self.refined.writes.is_empty()
    }

    /// The sizes of its reads or writes in bytes.
    #[must_use]
    pub fn sizes_of(&self, op: Op) -> Vec<u64> {
        let writes = Some(&self.refined.writes).filter(|writes| op == Op::Write && !writes.is_empty());
        match writes.unwrap_or(&self.blocks).shares() {
            [] => vec![self.block_bytes],
            shares => shares.iter().map(|share| share.block_bytes).collect(),
        }
    }

    /// Whether the source does not tell this of the load.
    #[must_use]
    pub fn lacks(&self, what: Unknown) -> bool {
        self.unknown.contains(&what)
    }

    /// Whether any operation writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.op != Op::Read
    }

    /// Operations in flight over all jobs.
    #[must_use]
    pub fn depth(&self) -> u64 {
        u64::from(self.queue_depth) * u64::from(self.jobs)
    }

    /// Whether operations are known to go this way.
    #[must_use]
    pub fn pattern_is(&self, pattern: Pattern) -> bool {
        !self.lacks(Unknown::Pattern) && self.pattern == pattern
    }

    /// The workload as people say it: `random read 4 KiB, QD32`.
    #[must_use]
    pub fn title(&self) -> String {
        self.called(|title| title.whole())
    }

    /// The title where the pattern is said elsewhere: `read 4 KiB, QD32`.
    #[must_use]
    pub(crate) fn title_without_pattern(&self) -> String {
        self.called(|title| title.without_pattern())
    }

    /// The title where pattern and operation are said elsewhere: `4 KiB, QD32`. Empty where none of it is known.
    #[must_use]
    pub fn shape(&self) -> String {
        self.called(|title| title.shape())
    }

    fn called(&self, words: impl Fn(&LoadTitle) -> String) -> String {
        let conditions = self.conditions();
        let block = match self.blocks.is_empty() {
            false => Some(self.blocks.to_string()),
            true => (!self.lacks(Unknown::BlockBytes)).then(|| Bytes(self.block_bytes).to_string()),
        };
        words(&LoadTitle {
            pattern: (!self.lacks(Unknown::Pattern)).then_some(self.pattern),
            op: self.op,
            read_percent: self.read_percent,
            block,
            queue_depth: (!self.lacks(Unknown::QueueDepth)).then_some(self.queue_depth),
            jobs: self.jobs,
            synced: self.sync.each(),
            conditions: vec![&conditions],
        })
    }

    /// What makes the load another one than that of its blocks and queue: `500 IOPS offered, zipf:1.1`. Empty for most.
    #[must_use]
    pub fn conditions(&self) -> String {
        let spread = (!self.distribution.is_uniform()).then(|| self.distribution.to_string());
        let arrivals = self.arrivals.map(|a| a.to_string());
        let think = self.think.map(|think| think.to_string());
        let refined = (!self.refined.is_empty()).then(|| self.refined.to_string());
        let priorities = (!self.priorities.is_empty()).then(|| self.priorities.to_string());
        let together = self.together.as_ref().map(Together::to_string);
        let parts: Vec<String> =
            [arrivals, spread, refined, priorities, think, together].into_iter().flatten().collect();
        parts.join(", ")
    }

    /// Its conditions, with the sizes of operations where there are several: what a table needs beside the fields of
    /// the block and the queue. Empty for most.
    #[must_use]
    pub fn conditions_and_sizes(&self) -> String {
        let parts = [self.blocks.to_string(), self.conditions()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

// Which way data goes.

/// Which way data goes: from a medium or memory, or to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// As suites and other tools call it.
impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

// Think time: pauses of a job between its operations.

/// Pauses of a job between its operations, as fio's `thinktime`: after some operations it waits for those in flight,
/// and then pauses. Each thread counts its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Think {
    /// Length of a pause in nanoseconds.
    pub pause_ns: u64,
    /// Operations between two pauses, 1 or more.
    pub after_operations: u32,
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pause = match self.pause_ns {
            ns if ns.is_multiple_of(1_000_000) => format!("{} ms", ns / 1_000_000),
            ns if ns.is_multiple_of(1000) => format!("{} µs", ns / 1000),
            ns => format!("{ns} ns"),
        };
        match self.after_operations {
            1 => write!(f, "{pause} think time"),
            n => write!(f, "{pause} think time every {n}"),
        }
    }
}

// What runs beside a load.

/// Workloads that run at the same time on one medium, each in a part of the test area of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
    /// Name of the group within the suite.
    pub group: String,
    /// Titles of the other workloads in it, in the order of the suite.
    pub beside: Vec<String>,
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "beside {}", self.beside.join(" and "))
    }
}
