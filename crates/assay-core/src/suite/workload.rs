//! A workload of a suite.

use std::time::Duration;

use serde::Deserialize;

use crate::arrivals::{Process, Rate};
use crate::blocks::Blocks;
use crate::cpus::Cpus;
use crate::distribution::Distribution;
use crate::original::Original;
use crate::priority::Priorities;
use crate::refined::Refined;
use crate::think::Think;
use crate::units::Bytes;
use crate::workload::{Op, Pattern, Sync, Workload};

/// A workload as a suite asks for it; span, length and alignment are settled by the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteWorkload {
    /// Name within the suite.
    pub name: String,
    /// What the operations do.
    pub op: Op,
    /// Share of reads in percent for mixed work.
    pub read_percent: Option<u8>,
    /// Where they go.
    pub pattern: Pattern,
    /// Size of one operation; of several sizes the largest.
    pub block: Bytes,
    /// The sizes where there are several.
    pub blocks: Blocks,
    /// Operations in flight for each job.
    pub queue_depth: u32,
    /// Threads.
    pub jobs: u32,
    /// When writes must be durable.
    pub sync: Sync,
    /// Whether to bypass the page cache.
    pub direct: bool,
    /// How many operations are begun per second, in an open loop.
    pub rate: Option<Rate>,
    /// How their times follow each other.
    pub process: Process,
    /// How random operations are spread over the blocks.
    pub distribution: Distribution,
    /// Pauses between operations.
    pub think: Option<Think>,
    /// What it has beyond pattern, block and queue.
    pub refined: Refined,
    /// Priorities of its operations before those of others.
    pub priorities: Priorities,
    /// Processors that the threads run on, one each in turn; empty where the kernel chooses.
    pub cpus: Cpus,
    /// Whether completions are polled for.
    pub poll: bool,
    /// Workloads of the same group run at the same time.
    pub group: Option<String>,
    /// Length of a repeat; by default the budget is shared out.
    pub duration: Option<Duration>,
    /// Part of the test area used; by default all.
    pub span: Option<Bytes>,
    /// The same in percent of the medium, where it was given so.
    pub span_percent: Option<f64>,
    /// Where its part of the test area begins; by default at the beginning, of a group where that of the one before ends.
    pub offset: Option<Bytes>,
    /// The same in percent of the medium, where it was given so.
    pub offset_percent: Option<f64>,
    /// What is made of its samples beside the mean.
    pub analysis: Analysis,
    /// The tool whose measurement it repeats.
    pub original: Option<Original>,
}

/// What is made of the samples of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analysis {
    /// Their mean.
    #[default]
    Mean,
    /// Burst rate, sustained rate and the fall between them. A soak has no warm-up, and the test
    /// area is not written beforehand: its first write is the medium's first.
    Soak,
}

impl SuiteWorkload {
    /// The mean size of an operation in bytes.
    #[must_use]
    pub fn mean_block(&self) -> u64 {
        let reads = self.blocks.mean().unwrap_or(self.block.0);
        let Some(writes) = self.refined.writes.mean() else { return reads };
        let percent = u64::from(self.read_percent.unwrap_or(50).min(100));
        (reads * percent + writes * (100 - percent)) / 100
    }

    /// The largest size of an operation in bytes.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.block.0.max(self.refined.writes.largest().unwrap_or(0))
    }

    /// Whether operations have several sizes.
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        !self.blocks.is_empty() || !self.refined.writes.is_empty()
    }

    /// Whether its completions could be polled for: direct I/O in a closed loop, without a sync after each write, which
    /// the kernel does not poll for.
    #[must_use]
    pub fn can_poll(&self) -> bool {
        self.direct && !self.sync.each() && self.rate.is_none()
    }

    /// The sizes of operations where there are several; those of reads where writes have others.
    fn sizes(&self) -> Blocks {
        let one = (self.blocks.is_empty() && !self.refined.writes.is_empty()).then(|| Blocks::one(self.block.0));
        one.and_then(Result::ok).unwrap_or_else(|| self.blocks.clone())
    }

    /// The load, without what a run settles: span, length, what is offered and what runs beside it.
    #[must_use]
    pub fn load(&self) -> Workload {
        Workload {
            read_percent: self.read_percent,
            blocks: self.sizes(),
            queue_depth: self.queue_depth,
            jobs: self.jobs,
            direct: self.direct,
            sync: self.sync,
            distribution: self.distribution.clone(),
            think: self.think,
            refined: self.refined.clone(),
            priorities: self.priorities.clone(),
            cpus: self.cpus.clone(),
            poll: self.poll,
            ..Workload::new(&self.name, self.op, self.pattern, self.mean_block())
        }
    }

    /// The load in words, with the rate as the suite has it.
    #[must_use]
    pub fn title(&self) -> String {
        let rate = self.rate.as_ref().map_or_else(String::new, |rate| format!(", {rate} offered"));
        format!("{}{rate}", self.load().title())
    }
}
