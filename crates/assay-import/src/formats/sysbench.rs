//! sysbench 0.4, 0.5, 1.0 and 1.1: processor and memory as scores, files as figures.
//!
//! Texts as its sources print them (branches 0.4, 0.5, 1.0 and master of <https://github.com/akopytov/sysbench>): its
//! `Mb`, `MB` and `Gb` of versions before 1.0 are powers of 1024 like the `MiB` of later ones. Tests of databases count
//! queries, which are no operations of a medium.

use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, SourceQuantity, Untold};
use assay_core::record::Score;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync};

use super::sysbench_files::{FileOptions, mode};
use crate::command::commands_above;
use crate::number::{Base, Printed, Told, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::reach::is_shortened;
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// sysbench.
pub(crate) struct Sysbench;

const NAME: &str = "sysbench";
/// The line that begins a run, of most tests.
const PLAIN: &str = "Running the test with following options:";
/// Most characters in front of the options of a run in the line that begins it.
const LONGEST_NAME: usize = 32;
/// Most lines between a command and its results.
const MOST_ABOVE: usize = 12;
/// Most lines from the first option of a run to its results.
const MOST_OPTIONS: usize = 40;
/// Most lines of a run.
const MOST_LINES: usize = 200;
/// Seconds before the first operation and behind the last that may be in the time of a run.
const AROUND: f64 = 0.03;

/// Share by which reads and writes together may differ from what is printed of both.
const UNLIKE: f64 = 0.01;

static TITLE: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*sysbench v?(\d+\.\d+[^ :]*)(?::| \(using |\s*$)"));
static PREPARED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(\d+) bytes written in ([0-9.]+) seconds \(([0-9.]+) M(?:i?B|b)/sec\)"));
static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"^([0-9.]+) ?([KMGT]?i?[Bb](?:ytes)?)$"));
/// `Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (1.2345Mb/sec)`.
static TRANSFERRED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"Total transferred ([0-9.]+) ?([KMGT]?b)\s+\(([0-9.]+) ?([KMGT]?b)/sec\)"));
/// `Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total`, before 1.0.
static PERFORMED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^Operations performed: +(\d{1,15}) [Rr]eads?, (\d{1,15}) [Ww]rites?,"));
/// The bytes of both in the line of `TRANSFERRED`.
static EACH: LazyLock<Regex> = LazyLock::new(|| regex(r"Read ([0-9.]+) ?([KMGT]?b)\s+Written ([0-9.]+) ?([KMGT]?b)\s"));
/// `4338.53 MiB transferred (4323.78 MiB/sec)`.
static MEMORY: LazyLock<Regex> = LazyLock::new(|| regex(r"([0-9.]+) Mi?B transferred \(([0-9.]+) Mi?B/sec\)"));
/// `Total operations: 93129278 (9311302.73 per second)`, above the line of `MEMORY`; before 1.0 with other words.
static OPERATIONS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?:Total operations|Operations performed): +[0-9]+ \( *[0-9.]+ (?:per second|ops/sec)\)$")
});
/// `128 files, 16MiB each`.
static FILES: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d{1,9} files, [0-9.]+ ?[KMGT]?i?[Bb] each$"));
/// `read:  IOPS=7605.97 118.84 MiB/s (124.61 MB/s)`, as 1.1 prints.
static IOPS: LazyLock<Regex> = LazyLock::new(|| regex(r"^(read|write|fsync): +IOPS=([0-9.]+)(?: +([0-9.]+) MiB/s)?"));

impl Format for Sysbench {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["sysbench", "events per second", "threads fairness", "total number of events"]
    }

    fn needs(&self) -> &'static str {
        "`Running the test with following options`, or a result with its heading"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        begins(line)
            || line.contains(NAME) && TITLE.is_match(line)
            || PREPARED.is_match(line)
            || is_headless(text, at)
            || is_above(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut run = SysbenchRun::default();
        run.called(text, at);
        let (mut end, mut prepared, mut begun) = (at + 1, false, 0);
        for line in at..text.len().min(at + MOST_LINES) {
            let (said, number) = (text.line(line), line);
            // The run before was cut off.
            let begins = begins(said);
            // Of some tests the name follows in a line of the same shape.
            let another = begins && (said.contains(PLAIN) || run.seconds.is_some());
            if number > at && (begun > 0 && another || begun > 1 && begins || TITLE.is_match(said)) {
                break;
            }
            // The lines above the results of the next run are missing.
            if run.has_results_of(said.trim()) {
                break;
            }
            begun += usize::from(begins);
            prepared |= said.contains("Creating files for the test");
            if run.line(said.trim()) {
                end = number + 1;
            }
            if run.over {
                break;
            }
        }
        let database = run.database;
        let report = run.report();
        // Of making the files version 0.4 tells nothing.
        if report.is_empty() && prepared && !database {
            return Section { end, ..Section::default() };
        }
        if report.is_empty() {
            let what = if database {
                "sysbench counts queries of a database here, which are no operations of a medium"
            } else {
                "sysbench printed no figure"
            };
            return Section::nothing(end, text.number(at), what);
        }
        Section::from_report(report, end)
    }
}

/// Whether a line comes before the options of a run: `Running the test with following options:`, and of some tests their
/// name in it. A page may have run it together with the lines behind it.
fn begins(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Running ")
        && ["test with following options:", "test with the following options:"]
            .iter()
            .any(|words| line.split_once(words).is_some_and(|(name, _)| name.len() < LONGEST_NAME))
}

/// Whether the results of files begin. People copy them without the lines above.
fn is_headless(text: &Text, at: usize) -> bool {
    let next = text.line(at + 1).trim();
    match text.line(at).trim() {
        "CPU speed:" => next.starts_with("events per second:"),
        line if PERFORMED.is_match(line) => TRANSFERRED.is_match(next),
        "File operations:" => next.starts_with("reads/s:"),
        "Throughput:" => next.starts_with("read:") && IOPS.is_match(next) || next.starts_with("read, MiB/s:"),
        line if OPERATIONS.is_match(line) => (at + 1..at + 4).any(|next| MEMORY.is_match(text.line(next))),
        _ => false,
    }
}

/// Lines above the time of a run.
const SUMMARIES: [&str; 2] = ["General statistics:", "Test execution summary:"];

/// Whether the options of a run begin without the line above them: a line that only they have, with the results below.
fn is_above(text: &Text, at: usize) -> bool {
    let line = text.line(at).trim();
    let first = line.starts_with("Number of threads: ")
        || line.starts_with("Extra file open flags: ")
        || line.ends_with("each") && FILES.is_match(line)
        || line.ends_with(" total file size")
        || line.starts_with("Prime numbers limit: ")
        || line.starts_with("Maximum prime number checked in CPU test: ");
    let is_result = |line: &str| line == "File operations:" || line.starts_with("Operations performed: ");
    let is_end = |line: &str| is_result(line) || line.starts_with("events per second:") || SUMMARIES.contains(&line);
    // Other programs have threads, too.
    first
        && (at + 1..at + MOST_OPTIONS)
            .map(|next| text.line(next).trim())
            .take_while(|next| !begins(next) && !TITLE.is_match(next))
            .any(is_end)
}

/// What a run says.
#[derive(Debug, Default)]
struct SysbenchRun {
    version: Option<String>,
    threads: Option<u32>,
    over: bool,
    database: bool,
    /// Whether it is the test of the processor, and its largest number.
    cpu: bool,
    primes: Option<u64>,
    events_per_second: Option<f64>,
    seconds: Option<f64>,
    events: Option<f64>,
    /// Block size and operation of the test of memory.
    memory: (Option<String>, Option<String>),
    /// MiB moved in memory, and by the second.
    moved: Option<(Printed, Printed)>,
    mode: Option<(Op, Option<Pattern>)>,
    block_bytes: Option<u64>,
    span_bytes: Option<u64>,
    direct: Option<bool>,
    sync: Option<Sync>,
    depth: Option<u32>,
    read_percent: Option<u8>,
    asked: Option<FileOptions>,
    /// Bytes moved in files, and by the second.
    transferred: Option<(Printed, Printed)>,
    requests: Option<Printed>,
    /// Reads, writes and syncs by the second.
    operations: [Option<Printed>; 3],
    /// Reads and writes in all, before 1.0.
    performed: Option<[f64; 2]>,
    /// Their bytes.
    each: Option<[f64; 2]>,
    /// Bytes read and written by the second.
    rates: [Option<Printed>; 2],
    /// Mean and maximum in nanoseconds.
    latency: (Option<f64>, Option<f64>),
    prepared: Option<(u64, f64, f64)>,
}

impl SysbenchRun {
    /// Takes the test from the command above the results.
    fn called(&mut self, text: &Text, at: usize) {
        // Files are made before, and removed behind.
        let all: Vec<Vec<String>> = commands_above(text, at, MOST_ABOVE, NAME).take(MOST_ABOVE).collect();
        let runs = |words: &&Vec<String>| words.last().is_some_and(|word| word == "run");
        let called = all.iter().find(runs).or(all.first()).cloned();
        let words = called.filter(|words| !is_shortened(words)).unwrap_or_default();
        self.asked = FileOptions::from_words(&words);
        for word in words {
            self.primes = word.strip_prefix("--cpu-max-prime=").and_then(|most| most.parse().ok()).or(self.primes);
            let threads = word.strip_prefix("--threads=").or_else(|| word.strip_prefix("--num-threads="));
            self.threads = threads.and_then(|threads| threads.parse().ok()).or(self.threads);
            self.mode = word.strip_prefix("--file-test-mode=").and_then(mode).or(self.mode);
        }
    }

    /// Whether a line begins results that it already has: they are those of another run.
    fn has_results_of(&self, line: &str) -> bool {
        match line {
            "CPU speed:" => self.events_per_second.is_some(),
            "File operations:" => self.operations.iter().any(Option::is_some),
            "Throughput:" => self.rates.iter().any(Option::is_some),
            line => self.moved.is_some() && OPERATIONS.is_match(line),
        }
    }

    /// What the test did: by its name, or by the operations or bytes that it counts.
    fn did(&self) -> Option<(Op, Option<Pattern>)> {
        let some = |at: usize| {
            [self.operations[at], self.rates[at]].iter().flatten().any(|rate| rate.value > 0.0)
                || self.performed.is_some_and(|performed| performed[at] > 0.0)
        };
        self.mode.or_else(|| match (some(0), some(1)) {
            (true, true) => Some((Op::Mixed, None)),
            (true, false) => Some((Op::Read, None)),
            (false, true) => Some((Op::Write, None)),
            (false, false) => None,
        })
    }

    /// Takes what a line says; whether it said something.
    fn line(&mut self, line: &str) -> bool {
        if let Some(title) = TITLE.captures(line) {
            self.version = Some(title[1].to_owned());
            return true;
        }
        if let Some(found) = PREPARED.captures(line) {
            let rate = decimal(&found[3]).map(|rate| rate * 1_048_576.0);
            self.prepared =
                found[1].parse().ok().zip(decimal(&found[2])).zip(rate).map(|((bytes, s), rate)| (bytes, s, rate));
            self.over = true;
            return true;
        }
        if let Some(found) = TRANSFERRED.captures(line) {
            self.transferred = amount(&found[1], &found[2]).zip(amount(&found[3], &found[4]));
            let each = EACH.captures(line);
            self.each = each.and_then(|each| Some([quantity(&each[1], &each[2])?, quantity(&each[3], &each[4])?]));
            return true;
        }
        if let Some(found) = MEMORY.captures(line) {
            self.moved = printed(&found[1]).zip(printed(&found[2]));
            return true;
        }
        if let Some(found) = IOPS.captures(line) {
            let at = ["read", "write", "fsync"].iter().position(|name| *name == &found[1]).unwrap_or(0);
            self.operations[at] = printed(&found[2]);
            if let (Some(rate), Some(mib)) = (self.rates.get_mut(at), found.get(3)) {
                *rate = printed(mib.as_str()).map(|mib| mib.times(1_048_576.0));
            }
            return true;
        }
        if let Some(found) = PERFORMED.captures(line) {
            self.performed = decimal(&found[1]).zip(decimal(&found[2])).map(<[f64; 2]>::from);
            return true;
        }
        if let Some(number) = line.strip_suffix("Requests/sec executed") {
            self.requests = printed(number);
            return true;
        }
        if let Some(size) = line.strip_suffix(" total file size") {
            self.span_bytes = bytes(size);
            return true;
        }
        if let Some(size) = line.strip_prefix("Block size ") {
            self.block_bytes = bytes(size);
            return true;
        }
        self.sentence(line) || line.split_once(':').is_some_and(|(key, value)| self.value(key.trim(), value.trim()))
    }

    fn sentence(&mut self, line: &str) -> bool {
        if line == "CPU speed:" {
            self.cpu = true;
            return true;
        }
        let mode = match line {
            "Doing sequential read test" => (Op::Read, Some(Pattern::Sequential)),
            "Doing sequential write (creation) test" | "Doing sequential rewrite test" => {
                (Op::Write, Some(Pattern::Sequential))
            }
            "Doing random read test" => (Op::Read, Some(Pattern::Random)),
            "Doing random write test" => (Op::Write, Some(Pattern::Random)),
            "Doing random r/w test" => (Op::Mixed, Some(Pattern::Random)),
            _ => {
                match line {
                    "Using synchronous I/O mode" => self.depth = Some(1),
                    "Calling fsync() after each write operation." => self.sync = Some(Sync::Fsync),
                    "Calling fsync() at the end of test, Enabled." if self.sync.is_none() => {
                        self.sync = Some(Sync::End)
                    }
                    _ if line.starts_with("Doing OLTP") || line.starts_with("queries performed") => {
                        self.database = true
                    }
                    _ => return false,
                }
                return true;
            }
        };
        self.mode = Some(mode);
        true
    }

    fn value(&mut self, key: &str, value: &str) -> bool {
        let number = || decimal(value.trim_end_matches('s'));
        // Of shorter ones two decimals of milliseconds tell nothing.
        let milliseconds = || decimal(value.trim_end_matches("ms")).map(|ms| (ms * 1e6).round()).filter(|ns| *ns > 0.0);
        match key {
            "Number of threads" => self.threads = value.parse().ok(),
            "Maximum prime number checked in CPU test" | "Prime numbers limit" | "Primer numbers limit" => {
                (self.cpu, self.primes) = (true, value.parse().ok());
            }
            "events per second" => self.events_per_second = number(),
            "total time" | "time elapsed" => self.seconds = number(),
            "total number of events" => self.events = number(),
            "block size" | "Memory block size" => self.memory.0 = Some(with_bytes(value)),
            "operation" | "Memory operations type" => self.memory.1 = Some(value.to_owned()),
            "Extra file open flags" => self.flags(value),
            "Read/Write ratio for combined random IO test" => {
                self.read_percent = decimal(value).map(|ratio| (100.0 * ratio / (1.0 + ratio)).round() as u8);
            }
            "reads/s" => self.operations[0] = printed(value),
            "writes/s" => self.operations[1] = printed(value),
            "fsyncs/s" => self.operations[2] = printed(value),
            "read, MiB/s" => self.rates[0] = printed(value).map(|mib| mib.times(1_048_576.0)),
            "written, MiB/s" => self.rates[1] = printed(value).map(|mib| mib.times(1_048_576.0)),
            "avg" => self.latency.0 = milliseconds(),
            "max" => self.latency.1 = milliseconds(),
            "execution time (avg/stddev)" => self.over = true,
            "min" | "sum" | "events (avg/stddev)" => {}
            _ => return false,
        }
        true
    }

    /// Before 1.0 flags are printed as their number: none is 0, `O_DIRECT` 16384 on x86 and 65536 on ARM.
    fn flags(&mut self, flags: &str) {
        self.direct = match flags {
            "(none)" | "0" => Some(false),
            "16384" | "65536" => Some(true),
            words if words.contains("direct") => Some(true),
            words if words.chars().all(|c| c.is_ascii_alphabetic() || c == ' ') => Some(false),
            _ => None,
        };
        if flags.split_whitespace().any(|word| word == "sync") {
            self.sync = Some(Sync::Fsync);
        } else if flags.split_whitespace().any(|word| word == "dsync") {
            self.sync = Some(Sync::Fdatasync);
        }
    }

    /// Takes the load of the command where the lines that repeat it are missing.
    fn complete(&mut self) {
        let lines = self.block_bytes.is_some() || self.span_bytes.is_some() || self.direct.is_some();
        let Some(asked) = self.asked else { return };
        if lines {
            // Version 0.5 prints flags as a number of its own.
            let same = (asked.block_bytes, asked.span_bytes) == (self.block_bytes, self.span_bytes);
            self.direct = self.direct.or(asked.direct.filter(|_| same));
            return;
        }
        (self.block_bytes, self.span_bytes, self.direct) = (asked.block_bytes, asked.span_bytes, asked.direct);
        (self.threads, self.depth) = (self.threads.or(asked.threads), self.depth.or(asked.depth));
        self.sync = self.sync.or(asked.sync);
    }

    fn report(mut self) -> Report {
        self.complete();
        let mut report = Report::new(NAME);
        report.version.clone_from(&self.version);
        if self.database {
            return report;
        }
        if self.cpu {
            self.processor(&mut report);
        } else if self.moved.is_some() {
            self.memory(&mut report);
        } else if let Some((bytes, seconds, rate)) = self.prepared {
            self.files_made(&mut report, bytes, seconds, rate);
        } else if self.did().is_some() {
            self.files(&mut report);
        }
        if self.prepared.is_none() && self.seconds.is_none() && !report.is_empty() {
            report
                .findings
                .push(Finding::SourceIncomplete { missing: Missing::lines(&["total time"], &[Detail::Time]) });
        }
        report
    }

    fn threads(&self) -> String {
        match self.threads {
            Some(1) => ", 1 thread".to_owned(),
            Some(threads) => format!(", {threads} threads"),
            None => String::new(),
        }
    }

    fn processor(&self, report: &mut Report) {
        let primes = self.primes.map(|most| format!(", primes to {most}")).unwrap_or_default();
        let name = format!("sysbench cpu{primes}{}", self.threads());
        if self.primes.is_none() {
            report.find(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Primes });
        }
        if let Some(rate) = self.events_per_second {
            report.score(&name, rate, "events/s", true);
            return;
        }
        // Versions before 1.0 run a number of events and print how long that took.
        let rate = self.events.zip(self.seconds.filter(|s| *s > 0.0)).map(|(events, seconds)| events / seconds);
        if let Some(rate) = rate {
            let method = "as printed by sysbench, one run, from events and total time";
            let value = Estimate::bare(rate, 1, method);
            report.scores.push(Score { name, value, unit: "events/s".to_owned(), more_is_better: true, program: None });
        }
    }

    fn memory(&self, report: &mut Report) {
        let Some((moved, rate)) = self.moved else { return };
        let words = [self.memory.1.as_deref(), self.memory.0.as_deref()].into_iter().flatten();
        let name = format!("sysbench memory {}{}", words.collect::<Vec<_>>().join(" "), self.threads());
        report.score(name.trim_end(), rate.value, "MiB/s", true);
        let told = self.told(Some(rate.times(1_048_576.0)), Some(moved.times(1_048_576.0)), None);
        report.findings.extend(told.contradiction(None));
    }

    /// `prepare` writes the files, and prints how fast.
    fn files_made(&self, report: &mut Report, bytes: u64, seconds: f64, rate: f64) {
        let load = Load {
            pattern: Some(Pattern::Sequential),
            queue_depth: Some(1),
            jobs: Some(1),
            span_bytes: Some(bytes),
            direct: self.direct,
            duration_ns: Some((seconds * 1e9) as u64),
            ..Load::new("prepare", Op::Write)
        };
        let mut figure = Figure::new(load);
        figure.bytes_per_second = Some(rate);
        report.figures.push(figure);
    }

    /// The share of reads in percent as it was done, where the line with what was asked for is missing.
    fn share_done(&self) -> Option<u8> {
        let [reads, writes] = match (self.operations, self.rates) {
            ([Some(reads), Some(writes), _], _) | (_, [Some(reads), Some(writes)]) => [reads.value, writes.value],
            _ => self.performed?,
        };
        let share = (reads / (reads + writes) * 100.0).round();
        share.is_finite().then_some(share as u8)
    }

    /// The size of a block by the bytes and operations of each direction, where its line is missing: versions before 1.0 print
    /// both.
    fn block_done(&self) -> Option<u64> {
        let all = self.each?.into_iter().zip(self.performed?).filter(|(_, operations)| *operations > 0.0);
        let mut sizes = all.map(|(bytes, operations)| {
            let power =
                Some((bytes / operations).log2().round().exp2()).filter(|power| (512.0..1e9).contains(power))?;
            ((bytes / operations / power - 1.0).abs() < UNLIKE).then_some(power as u64)
        });
        let first = sizes.next()??;
        sizes.all(|other| other == Some(first)).then_some(first)
    }

    fn files(&self, report: &mut Report) {
        let Some((op, pattern)) = self.did() else { return };
        // Each direction that the test has, or nothing: the line of one may be missing.
        let moved = |parts: &[Option<Printed>]| match (op, parts) {
            (Op::Read, [read, ..]) => *read,
            (Op::Write, [_, write, ..]) => *write,
            (Op::Mixed, [Some(read), Some(write), ..]) => {
                Some(Printed { value: read.value + write.value, step: read.step + write.step })
            }
            _ => None,
        };
        let some = |printed: &Printed| printed.value > 0.0;
        let rate = self.transferred.map(|(_, rate)| rate).or_else(|| moved(&self.rates)).filter(some);
        let iops = self.requests.or_else(|| moved(&self.operations)).filter(some);
        if rate.is_none() && iops.is_none() {
            return;
        }
        let name = match (op, pattern) {
            (Op::Read, Some(Pattern::Sequential)) => "fileio seqrd",
            (Op::Read, Some(Pattern::Random)) => "fileio rndrd",
            (Op::Write, Some(Pattern::Sequential)) => "fileio seqwr",
            (Op::Write, Some(Pattern::Random)) => "fileio rndwr",
            (Op::Mixed, Some(_)) => "fileio rndrw",
            (Op::Read, None) => "fileio reads",
            (Op::Write, None) => "fileio writes",
            (Op::Mixed, None) => "fileio reads and writes",
        };
        let load = Load {
            read_percent: self.read_percent.or_else(|| self.share_done()).filter(|_| op == Op::Mixed),
            pattern,
            block_bytes: self.block_bytes.or_else(|| self.block_done()),
            queue_depth: self.depth,
            jobs: self.threads,
            span_bytes: self.span_bytes,
            direct: self.direct,
            sync: if op == Op::Read { Some(Sync::End) } else { self.sync },
            duration_ns: self.seconds.map(|seconds| (seconds * 1e9) as u64),
            ..Load::new(name, op)
        };
        let mut figure = Figure::new(load);
        figure.rate(rate);
        figure.operations(iops);
        figure.told = self.told(rate, self.transferred.map(|(moved, _)| moved), iops);
        if op == Op::Write && self.sync.is_some_and(Sync::each) {
            figure.durable_bytes_per_second = figure.bytes_per_second;
        }
        // From 1.0 on syncs are among the events whose latency is printed.
        if self.transferred.is_some() || self.operations[2].is_some_and(|syncs| syncs.value == 0.0) {
            (figure.latency_ns.mean, figure.latency_ns.max) = self.latency;
        }
        figure.findings.extend(self.other_direction(op));
        if op == Op::Mixed {
            self.halves(report, name);
        }
        report.figures.push(figure);
    }

    /// Reads and writes of a mix, which are no loads of their own.
    fn halves(&self, report: &mut Report, name: &str) {
        let block = self.block_bytes.map(|block| format!(" {}", Bytes(block))).unwrap_or_default();
        let told = [(&self.rates[..], "B/s"), (&self.operations[..2], "IOPS")];
        for (values, unit) in told.into_iter().filter(|(values, _)| values.iter().all(Option::is_some)) {
            for (of, value) in ["reads", "writes"].into_iter().zip(values.iter().flatten()) {
                let name = format!("{NAME} {name}{block}{}: {of} of the mix, {unit}", self.threads());
                report.score(&name, value.value, unit, true);
            }
        }
        // Versions before 1.0 print what was done in all, and how long it took.
        let Some(seconds) = self.seconds.filter(|seconds| *seconds > 0.0) else { return };
        let bytes = self.transferred.map(|(moved, _)| moved.value);
        let operations = self.requests.map(|requests| requests.value * seconds);
        let told = [
            (self.each, bytes, SourceQuantity::Bytes, "B/s", "bytes"),
            (self.performed, operations, SourceQuantity::Operations, "IOPS", "operations"),
        ];
        for (values, whole, quantity, unit, from) in told {
            if let Some((parts, whole)) = values.map(|[reads, writes]| reads + writes).zip(whole)
                && (parts - whole).abs() > whole * UNLIKE
            {
                let contradiction = Contradiction::places(quantity, "", (Place::Summary, whole), (Place::Sum, parts));
                report.findings.push(Finding::SourceContradicts { contradiction });
            }
            for (of, value) in ["reads", "writes"].into_iter().zip(values.into_iter().flatten()) {
                let name = format!("{NAME} {name}{block}{}: {of} of the mix, {unit}", self.threads());
                let method = format!("as printed by sysbench, one run, from {from} and total time");
                let value = Estimate::bare(value / seconds, 1, &method);
                let unit = unit.to_owned();
                report.scores.push(Score { name, value, unit, more_is_better: true, program: None });
            }
        }
    }

    /// That a test of one direction counts the other, as where the lines between two runs are lost.
    fn other_direction(&self, op: Op) -> Option<Finding> {
        let some = |at: usize| [self.operations[at], self.rates[at]].iter().flatten().any(|rate| rate.value > 0.0);
        let counts = op == Op::Read && some(1) || op == Op::Write && some(0);
        counts.then_some(Finding::SourceContradicts { contradiction: Contradiction::OtherDirection { test: op } })
    }

    /// What was printed of a run. In its time are what comes before the first operation and behind the last, a few
    /// hundredths of a second.
    fn told(&self, rate: Option<Printed>, bytes: Option<Printed>, iops: Option<Printed>) -> Told {
        let seconds = self.seconds.map(|value| Printed { value, step: AROUND });
        Told { rate, bytes, iops, seconds, ..Told::default() }
    }
}

fn amount(number: &str, name: &str) -> Option<Printed> {
    Some(printed(number)?.times(unit(name, Base::Binary)?))
}

fn quantity(number: &str, name: &str) -> Option<f64> {
    amount(number, name).map(|amount| amount.value)
}

fn bytes(size: &str) -> Option<u64> {
    let size = SIZE.captures(size.trim())?;
    quantity(&size[1], &size[2]).map(|bytes| bytes as u64)
}

/// A size as versions from 1.0 on print it: `1M` is `1024KiB`.
fn with_bytes(size: &str) -> String {
    let kib = |number: &str, scale: u64| number.parse::<u64>().ok()?.checked_mul(scale).map(|kib| format!("{kib}KiB"));
    let converted = match (size.strip_suffix('K'), size.strip_suffix('M')) {
        (Some(number), _) => kib(number, 1),
        (_, Some(number)) => kib(number, 1024),
        _ => None,
    };
    converted.unwrap_or_else(|| size.to_owned())
}
