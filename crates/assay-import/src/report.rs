//! What one report of a tool tells.

use std::collections::BTreeMap;

use assay_core::arrivals::Arrivals;
use assay_core::blocks::Blocks;
use assay_core::distribution::Distribution;
use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Missing, Untold};
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::priority::Priorities;
use assay_core::record::{Host, Latency, Measurement, Repeat, Score};
use assay_core::refined::Refined;
use assay_core::verification::Verification;
use assay_core::workload::{Op, Pattern, Stop, Sync, Think, Unknown, Workload};

use crate::number::{Printed, Told};
use crate::text::Text;

/// Most figures and scores of a report: no tool prints as many in one go.
pub(crate) const MOST_FIGURES: usize = 2_000;

/// What one report tells: what a tool printed in one go.
#[derive(Debug, Clone)]
pub struct Report {
    /// The tool that measured, as it calls itself.
    pub tool: String,
    /// Its version, where the report tells it.
    pub version: Option<String>,
    /// When it was made, as RFC 3339 in UTC; a report without a time zone is taken for UTC.
    pub created: Option<String>,
    /// Where it was made, as far as it tells.
    pub host: Host,
    /// What was measured, as far as it tells.
    pub medium: Medium,
    /// Labels that the report itself gives.
    pub labels: BTreeMap<String, String>,
    /// Figures of loads.
    pub figures: Vec<Figure>,
    /// Figures that are none of a load: a score, the speed of processor or memory.
    pub scores: Vec<Score>,
    /// Result of a check for genuineness.
    pub verification: Option<Verification>,
    /// Findings about the report as a whole.
    pub findings: Vec<Finding>,
    /// How the run ended.
    pub outcome: Outcome,
    /// Whether it is whole by itself. One that is not is put together with those of other tools around it: the log of
    /// a script that runs several tools is one run.
    pub whole: bool,
    /// Its own lines, from the first to before the last, where its section holds several reports.
    pub lines: Option<(usize, usize)>,
    /// Whether it is the first of a run: nothing before it belongs to that.
    pub begins: bool,
}

impl Report {
    /// A report of a tool that tells nothing yet, one of several in the log of a script.
    #[must_use]
    pub fn new(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            version: None,
            created: None,
            host: Host::default(),
            medium: Medium::unknown(""),
            labels: BTreeMap::new(),
            figures: Vec::new(),
            scores: Vec::new(),
            verification: None,
            findings: Vec::new(),
            outcome: Outcome::Completed,
            whole: false,
            lines: None,
            begins: false,
        }
    }

    /// The same of a tool whose report is whole by itself.
    #[must_use]
    pub fn whole(tool: &str) -> Self {
        Self { whole: true, ..Self::new(tool) }
    }

    /// Adds a figure that is none of a load, of one run.
    pub(crate) fn score(&mut self, name: &str, point: f64, unit: &str, more_is_better: bool) {
        let method = Statistic::One.describe(&self.tool);
        let value = Estimate::bare(point, 1, &method);
        self.scores.push(Score { name: name.to_owned(), value, unit: unit.to_owned(), more_is_better, program: None });
    }

    /// Whether it has as many figures as are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.figures.len() + self.scores.len() >= MOST_FIGURES
    }

    /// Adds a finding, unless it was the last.
    pub(crate) fn find(&mut self, finding: Finding) {
        if self.findings.last() != Some(&finding) {
            self.findings.push(finding);
        }
    }

    /// Whether it tells anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty()
            && self.scores.is_empty()
            && self.verification.is_none()
            && self.medium.health.is_empty()
    }
}

/// A load, as far as a report tells it or the documentation of the tool fixes it. `None` is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// What it is called in its report.
    pub name: String,
    /// What the operations do.
    pub op: Op,
    /// Share of reads in percent where `op` is mixed.
    pub read_percent: Option<u8>,
    /// Where they go.
    pub pattern: Option<Pattern>,
    /// Size of one operation in bytes.
    pub block_bytes: Option<u64>,
    /// The sizes where there are several; `block_bytes` is their mean.
    pub blocks: Blocks,
    /// How random operations are spread.
    pub distribution: Distribution,
    /// Pauses between operations.
    pub think: Option<Think>,
    /// Priorities of operations.
    pub priorities: Priorities,
    /// Operations kept in flight by each job.
    pub queue_depth: Option<u32>,
    /// Threads or processes at once.
    pub jobs: Option<u32>,
    /// Part of the file or device that is used, in bytes.
    pub span_bytes: Option<u64>,
    /// Whether the page cache is bypassed.
    pub direct: Option<bool>,
    /// When writes must be durable; of reads it is known always.
    pub sync: Option<Sync>,
    /// Writes between two syncs; 0 syncs after each.
    pub sync_every: u32,
    /// When operations were to begin, where the tool held a rate.
    pub arrivals: Option<Arrivals>,
    /// Length of a run in nanoseconds.
    pub duration_ns: Option<u64>,
}

impl Load {
    /// A load with only its name and operation known.
    #[must_use]
    pub fn new(name: &str, op: Op) -> Self {
        Self {
            name: name.to_owned(),
            op,
            read_percent: None,
            pattern: None,
            block_bytes: None,
            blocks: Blocks::default(),
            distribution: Distribution::default(),
            think: None,
            priorities: Priorities::default(),
            queue_depth: None,
            jobs: None,
            span_bytes: None,
            direct: None,
            sync: (op == Op::Read).then_some(Sync::End),
            sync_every: 0,
            arrivals: None,
            duration_ns: None,
        }
    }

    /// The workload of a record: what is not known is listed in it, and has no value.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let known = [
            (Unknown::Pattern, self.pattern.is_some()),
            (Unknown::BlockBytes, self.block_bytes.is_some()),
            (Unknown::QueueDepth, self.queue_depth.is_some()),
            (Unknown::Jobs, self.jobs.is_some()),
            (Unknown::SpanBytes, self.span_bytes.is_some()),
            (Unknown::Direct, self.direct.is_some()),
            (Unknown::Sync, self.sync.is_some()),
            (Unknown::Stop, self.duration_ns.is_some()),
        ];
        let pattern = self.pattern.unwrap_or(Pattern::Sequential);
        Workload {
            read_percent: self.read_percent,
            queue_depth: self.queue_depth.unwrap_or(0),
            jobs: self.jobs.unwrap_or(0),
            span_bytes: self.span_bytes.unwrap_or(0),
            direct: self.direct.unwrap_or(false),
            sync: self.sync.unwrap_or_default(),
            refined: Refined { sync_every: self.sync_every, ..Refined::default() },
            arrivals: self.arrivals,
            blocks: self.blocks.clone(),
            distribution: self.distribution.clone(),
            think: self.think,
            priorities: self.priorities.clone(),
            stop: Stop { ramp_ns: 0, duration_ns: self.duration_ns.unwrap_or(0), max_bytes: None },
            unknown: known.into_iter().filter(|(_, is_known)| !is_known).map(|(what, _)| what).collect(),
            ..Workload::new(&self.name, self.op, pattern, self.block_bytes.unwrap_or(0))
        }
    }
}

/// What a printed figure is of the runs it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// One run.
    One,
    /// The mean of this number of runs.
    MeanOf(u32),
    /// The median of this number of runs.
    MedianOf(u32),
    /// The best of several runs, with their number if it is known: an upper figure.
    BestOf(Option<u32>),
}

impl Statistic {
    fn runs(self) -> u32 {
        match self {
            Self::One => 1,
            Self::MeanOf(runs) | Self::MedianOf(runs) => runs,
            Self::BestOf(runs) => runs.unwrap_or(1),
        }
    }

    fn describe(self, tool: &str) -> String {
        match self {
            Self::One => format!("as printed by {tool}, one run"),
            Self::MeanOf(runs) => format!("as printed by {tool}, mean of {runs} runs"),
            Self::MedianOf(runs) => format!("as printed by {tool}, median of {runs} runs"),
            Self::BestOf(Some(runs)) => format!("as printed by {tool}, best of {runs} runs"),
            Self::BestOf(None) => format!("as printed by {tool}, best of several runs"),
        }
    }
}

/// The figures of one load.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The load.
    pub load: Load,
    /// What the figures are of their runs.
    pub statistic: Statistic,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second with the final sync in the clock.
    pub durable_bytes_per_second: Option<f64>,
    /// Latencies in nanoseconds.
    pub latency_ns: Latencies,
    /// The run itself, where the report tells enough of it, such as its latencies.
    pub repeat: Option<Repeat>,
    /// Findings about this load.
    pub findings: Vec<Finding>,
    /// What was printed of the run, with its rounding: it has to agree with itself.
    pub(crate) told: Told,
}

/// Latencies of a load in nanoseconds, as far as they were printed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Latencies {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl Figure {
    /// A figure of one run of a load, with nothing told yet.
    #[must_use]
    pub fn new(load: Load) -> Self {
        Self {
            load,
            statistic: Statistic::One,
            bytes_per_second: None,
            iops: None,
            durable_bytes_per_second: None,
            latency_ns: Latencies::default(),
            repeat: None,
            findings: Vec::new(),
            told: Told::default(),
        }
    }

    /// Takes a rate as it was printed, in bytes per second.
    pub(crate) fn rate(&mut self, rate: Option<Printed>) {
        self.bytes_per_second = rate.map(|rate| rate.value);
        self.told.rate = rate;
    }

    /// Takes operations per second as they were printed.
    pub(crate) fn operations(&mut self, iops: Option<Printed>) {
        self.iops = iops.map(|iops| iops.value);
        self.told.iops = iops;
    }

    /// What of its figures contradicts the others.
    fn contradiction(&self) -> Option<Finding> {
        let exact = |value: Option<f64>| value.map(Printed::exact);
        let told = Told {
            rate: self.told.rate.or(exact(self.bytes_per_second)),
            iops: self.told.iops.or(exact(self.iops)),
            ..self.told
        };
        // Of several sizes the text has those that were asked for, not those that were used.
        told.contradiction(self.load.block_bytes.filter(|_| self.load.blocks == Blocks::default()))
    }

    /// The measurement of a record. Operations are computed from bytes and the block, or the other way round, where one
    /// of the two is not told; a figure that is not finite or below zero was no figure.
    #[must_use]
    pub fn measurement(self, tool: &str) -> Measurement {
        let workload = self.load.workload();
        let contradiction = self.contradiction();
        // The best of one run is that run.
        let statistic = if self.statistic == Statistic::BestOf(Some(1)) { Statistic::One } else { self.statistic };
        let sound = |value: Option<f64>| value.filter(|value| value.is_finite() && *value >= 0.0);
        let rate = sound(self.bytes_per_second);
        // What moves bytes makes operations: none is a figure cut off to whole ones.
        let moves = rate.is_some_and(|rate| rate > 0.0);
        let iops = sound(self.iops).filter(|iops| *iops > 0.0 || !moves);
        let block = self.load.block_bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64);
        let words = statistic.describe(tool);
        let estimate = |point: f64| Estimate::bare(point, statistic.runs(), &words);
        let computed = |point: f64, of: &str| Estimate::bare(point, statistic.runs(), &format!("{words}, from {of}"));
        let latency = |value: Option<f64>| sound(value).map(|value| Box::new(estimate(value)));
        let derived_iops = || Some(computed(rate? / block?, "bytes per second and block size"));
        let derived_rate = || Some(computed(iops? * block?, "operations per second and block size"));
        let mut measurement = Measurement {
            iops: iops.map(estimate).or_else(derived_iops),
            bytes_per_second: rate.map(estimate).or_else(derived_rate),
            durable_bytes_per_second: sound(self.durable_bytes_per_second).map(estimate),
            latency_ns: Latency {
                mean: latency(self.latency_ns.mean),
                p50: latency(self.latency_ns.p50),
                p90: latency(self.latency_ns.p90),
                p99: latency(self.latency_ns.p99),
                p99_9: latency(self.latency_ns.p99_9),
                max: latency(self.latency_ns.max),
            },
            repeats: self.repeat.into_iter().collect(),
            ..Measurement::empty(workload, tool)
        };
        if let Statistic::BestOf(runs) = statistic {
            measurement.warn(Finding::BestOf { runs });
        }
        if self.load.direct == Some(false) {
            measurement.warn(Finding::CachedByTool { tool: tool.to_owned() });
        }
        // How long a run lasted is known of few tools, and compared with nothing.
        let missed = measurement.workload.unknown.iter().filter(|what| **what != Unknown::Stop);
        let settings: Vec<Unknown> = missed.copied().collect();
        let share_of_reads = self.load.op == Op::Mixed && self.load.read_percent.is_none();
        if !settings.is_empty() || share_of_reads {
            let untold = Untold::Load { settings, share_of_reads };
            measurement.warn(Finding::NotTold { tool: tool.to_owned(), untold });
        }
        for finding in self.findings.into_iter().chain(contradiction) {
            measurement.warn(finding);
        }
        measurement
    }
}

// What a format has to be able to do.

/// A format of results. A new one is a file in `formats` with a type that implements it, and a line of the registry.
pub trait Format: std::marker::Sync {
    /// Its name, as in `source.format` of a record and in messages.
    fn name(&self) -> &'static str;

    /// Words that occur in its reports, in small letters: by them the nearest format is named of a text that none reads.
    fn keywords(&self) -> &'static [&'static str];

    /// By what one of its reports is known, in words that follow `but without`: told of a text that is near, and none.
    fn needs(&self) -> &'static str;

    /// Whether a report begins at line `at`. Asked of every line that no format has read yet: it has to be quick, and
    /// must not say yes to a line that merely mentions the tool.
    fn begins(&self, text: &Text, at: usize) -> bool;

    /// Reads the report that begins at line `at`.
    fn read(&self, text: &Text, at: usize) -> Section;
}

/// What was read from a line on.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The first line that is not of it; at least one behind where it began.
    pub end: usize,
    /// The reports in it, in order. None where it holds nothing that can be used; a problem says why.
    pub reports: Vec<Report>,
    /// What of it could not be read.
    pub problems: Vec<Problem>,
}

impl Section {
    /// One report up to line `end`.
    #[must_use]
    pub fn from_report(report: Report, end: usize) -> Self {
        Self { end, reports: vec![report], problems: Vec::new() }
    }

    /// Nothing, and why.
    #[must_use]
    pub fn nothing(end: usize, line: u32, what: impl Into<String>) -> Self {
        Self { end, reports: Vec::new(), problems: vec![Problem { line, what: what.into() }] }
    }
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub what: String,
}

// Sections of a report, one heading for each direction. A copy of the text may lack one of the headings.

/// The sections of a report as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    current: Option<Op>,
    headed: Vec<Op>,
    rows: Vec<Load>,
    /// Whether the heading of the rows that are read is lost.
    lost: bool,
    lost_once: bool,
}

impl Sections {
    /// Begins the section of a direction.
    pub(crate) fn begin(&mut self, op: Op) {
        self.current = Some(op);
        self.headed.push(op);
        self.rows.clear();
        self.lost = false;
    }

    /// The direction of the rows that are read.
    pub(crate) fn op(&self) -> Option<Op> {
        self.current
    }

    /// Whether a row belongs to the section. A row that repeats belongs to another section that lost its heading, and so do all rows
    /// after it.
    pub(crate) fn holds(&mut self, load: &Load) -> bool {
        self.lost |= self.rows.contains(load);
        self.lost_once |= self.lost;
        self.rows.push(load.clone());
        !self.lost
    }

    /// What is missing, where reads and writes should both have a heading.
    pub(crate) fn missing(&self) -> Option<Finding> {
        let has = |op| self.headed.contains(&op);
        let section = match (has(Op::Read), has(Op::Write)) {
            _ if self.headed.is_empty() => return None,
            (true, false) => Some("[Write]".to_owned()),
            (false, true) => Some("[Read]".to_owned()),
            _ if self.lost_once => None,
            _ => return None,
        };
        Some(Finding::SourceIncomplete { missing: Missing::Heading { section } })
    }
}

/// A report and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Name of its format.
    pub(crate) format: &'static str,
    pub(crate) report: Report,
    /// Its first line.
    pub(crate) from: usize,
    /// The line behind its last.
    pub(crate) to: usize,
}
