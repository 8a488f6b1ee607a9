//! A workload of a suite, and which of them the tools can run that suites were taken from.

use std::time::Duration;

use serde::Deserialize;

use crate::arrivals::{Process, Rate};
use crate::blocks::Blocks;
use crate::cpus::Cpus;
use crate::distribution::Distribution;
use crate::original::Original;
use crate::priority::Priorities;
use crate::refined::Refined;
use crate::units::{Bytes, KIB, MIB};
use crate::workload::{Op, Pattern, Sync, Think, Workload};

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

// Which workloads the tools can run that suites were taken from.

/// hdparm reads such blocks (`TIMING_BUF_MB` in its source, hdparm.c).
const HDPARM_BLOCK: Bytes = Bytes(2 * MIB);
/// Records of iozone (`MINBUFFER` and `MAXBUFFERSIZE` in its source, iozone.c); direct ones are no smaller than a page.
const IOZONE_RECORDS: std::ops::RangeInclusive<u64> = 4 * KIB..=16 * MIB;

/// f3 passes such blocks to the kernel (by strace(1) of f3 8.0).
const F3_BLOCK: Bytes = Bytes(2 * MIB);
/// Chunks of bonnie++ (its manual, at `-s`: powers of two from 256 bytes to 1 MiB); direct ones are no smaller than a page.
const BONNIE_CHUNKS: std::ops::RangeInclusive<u64> = 4 * KIB..=MIB;

/// Why an original cannot run a workload; `None` where it can.
pub(super) fn refuses(original: Original, w: &SuiteWorkload) -> Option<String> {
    if w.rate.is_some() || w.think.is_some() || w.group.is_some() || w.analysis == Analysis::Soak {
        let name = original.name();
        return Some(format!("original = \"{name}\" is for workloads without rate, think, group and soak"));
    }
    if original == Original::Fio {
        return None;
    }
    let plain = w.queue_depth == 1
        && w.jobs == 1
        && w.blocks.is_empty()
        && w.sync == Sync::End
        && w.op != Op::Mixed
        && w.refined.is_empty()
        && w.priorities.is_empty()
        && w.distribution == Distribution::Uniform;
    if !plain {
        let what = "does one operation at a time, reads or writes, of one size, without sync and distribution";
        return Some(format!("{} {what}", original.name()));
    }
    let sequential = w.pattern == Pattern::Sequential;
    let (can, what) = match original {
        Original::Fio => (true, String::new()),
        Original::Hdparm => (
            w.op == Op::Read && sequential && w.block == HDPARM_BLOCK,
            format!("reads blocks of {HDPARM_BLOCK} one after the other"),
        ),
        Original::Dd => (sequential, "moves one block after the other".to_owned()),
        Original::Iozone => {
            let (least, most) = (Bytes(*IOZONE_RECORDS.start()), Bytes(*IOZONE_RECORDS.end()));
            (
                IOZONE_RECORDS.contains(&w.block.0) && w.block.0.is_multiple_of(KIB),
                format!("has records of whole KiB, {least} to {most}"),
            )
        }
        Original::Ioping => (w.op == Op::Read, "is run for reads only".to_owned()),
        Original::F3 => (
            sequential && w.block == F3_BLOCK && !w.direct,
            format!("moves blocks of {F3_BLOCK} one after the other through the page cache: direct = false"),
        ),
        Original::Bonnie => {
            let (least, most) = (Bytes(*BONNIE_CHUNKS.start()), Bytes(*BONNIE_CHUNKS.end()));
            let fits = BONNIE_CHUNKS.contains(&w.block.0) && w.block.0.is_power_of_two();
            let what = format!("moves blocks of powers of two, {least} to {most}, one after the other");
            (sequential && fits, what)
        }
        Original::Sysbench | Original::Postmark => (false, "is the original of programs, not of workloads".to_owned()),
    };
    (!can).then(|| format!("{} {what}", original.name()))
}

#[cfg(test)]
mod tests {
    use super::super::Suite;

    /// What a suite with this workload comes to.
    fn refused(workload: &str) -> Option<String> {
        let head = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\n\
                    span = \"64MiB\"\n[[workload]]\nname = \"w\"\n";
        Suite::parse(&format!("{head}{workload}"), "f").err().map(|error| error.message)
    }

    #[test]
    fn an_original_of_a_program_runs_what_it_can() {
        let own = "op = \"read\"\npattern = \"random\"\nblock = \"4k\"\n";
        for (does, tool, words) in [
            ("primes = { below = 20000, threads = 8 }", "sysbench", None),
            ("memory = { op = \"write\", block = \"1MiB\", total = \"2GiB\" }", "sysbench", None),
            ("memory = { op = \"write\", block = \"96KiB\", total = \"2GiB\" }", "sysbench", Some("powers of two")),
            ("stream = { block = \"8KiB\", count = 50000 }", "dd", None),
            ("stream = { block = \"8KiB\", count = 50000 }", "sysbench", Some("primes and memory")),
            ("postmark = { transactions = 9, files = 5, smallest = \"512B\", largest = \"9KiB\" }", "postmark", None),
            ("linpack = { size = 100 }", "postmark", Some("original of postmark")),
            ("linpack = { size = 100 }", "hdparm", Some("original of no program")),
        ] {
            let program = format!("{own}[[program]]\nname = \"p\"\noriginal = \"{tool}\"\ndoes.{does}\n");
            let refused = refused(&program);
            assert_eq!(refused.is_some(), words.is_some(), "{does}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(words.unwrap_or_default()), "{does}");
        }
    }

    #[test]
    fn an_original_runs_what_it_can_and_nothing_else() {
        let read = "op = \"read\"\npattern = \"sequential\"\n";
        let random = "op = \"read\"\npattern = \"random\"\n";
        for (workload, words) in [
            (format!("{read}block = \"2MiB\"\noriginal = \"hdparm\""), None),
            (format!("{read}block = \"1MiB\"\noriginal = \"hdparm\""), Some("blocks of 2 MiB")),
            (format!("{random}block = \"2MiB\"\noriginal = \"hdparm\""), Some("one after the other")),
            (format!("{read}block = \"4k\"\noriginal = \"dd\""), None),
            (format!("{random}block = \"4k\"\noriginal = \"dd\""), Some("dd moves one block")),
            (format!("{random}block = \"4k\"\noriginal = \"iozone\""), None),
            (format!("{random}block = \"32MiB\"\noriginal = \"iozone\""), Some("4 KiB to 16 MiB")),
            (
                format!("{random}block = \"4k\"\nqueue_depth = 2\noriginal = \"iozone\""),
                Some("one operation at a time"),
            ),
            (format!("{random}block = \"4k\"\nqueue_depth = 64\njobs = 4\noriginal = \"fio\""), None),
            (format!("{random}block = \"4k\"\nrate = \"5 iops\"\noriginal = \"fio\""), Some("without rate")),
            (format!("{random}block = \"4k\"\noriginal = \"ioping\""), None),
            (format!("{random}block = \"4k\"\noriginal = \"Dd\""), Some("Dd")),
            (format!("{read}block = \"2MiB\"\ndirect = false\noriginal = \"f3\""), None),
            (format!("{read}block = \"2MiB\"\noriginal = \"f3\""), Some("direct = false")),
            (format!("{read}block = \"1MiB\"\ndirect = false\noriginal = \"f3\""), Some("blocks of 2 MiB")),
            (format!("{read}block = \"64k\"\noriginal = \"bonnie++\""), None),
            (format!("{read}block = \"96k\"\noriginal = \"bonnie++\""), Some("powers of two")),
            (format!("{random}block = \"64k\"\noriginal = \"bonnie++\""), Some("one after the other")),
            (format!("{random}block = \"4k\"\noriginal = \"sysbench\""), Some("of programs")),
        ] {
            let refused = refused(&workload);
            assert_eq!(refused.is_some(), words.is_some(), "{workload}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(words.unwrap_or_default()), "{workload}");
        }
    }
}
