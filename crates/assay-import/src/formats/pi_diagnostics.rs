//! The SD card speed test of Raspberry Pi Diagnostics (sdtest.sh and sd_bench.fio of
//! <https://github.com/raspberrypi-ui/agnostics>).
//!
//! It prints name, read rate, reads, write rate and writes by the second of each job of fio, whose options are fixed:
//! libaio, direct, depth 32, 256 MiB, `end_fsync`; random jobs run for 10 s. Rates are in KiB. It repeats until a run
//! passes, at most three times; each run is a record of its own.

use std::sync::LazyLock;

use assay_core::workload::{Op, Pattern, Sync};

use crate::date::of_ctime;
use crate::format::{Format, Section};
use crate::number::printed;
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Load, Report};
use crate::text::Text;

/// Raspberry Pi Diagnostics.
pub(crate) struct PiDiagnostics;

const NAME: &str = "Raspberry Pi Diagnostics";
const TITLE: &str = "Raspberry Pi Diagnostics - version ";
const SPAN_BYTES: u64 = 256 << 20;
const MOST_LINES: usize = 120;

/// Name, operation, pattern, block and length in seconds of each job.
const JOBS: [(&str, Op, Pattern, u64, Option<u64>); 5] = [
    ("prepare-file", Op::Write, Pattern::Sequential, 512 << 10, None),
    ("seq-write", Op::Write, Pattern::Sequential, 4 << 20, None),
    ("seq-read", Op::Read, Pattern::Sequential, 4 << 20, None),
    ("rand-4k-write", Op::Write, Pattern::Random, 4 << 10, Some(10)),
    ("rand-4k-read", Op::Read, Pattern::Random, 4 << 10, Some(10)),
];

static JOB: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(prepare-file|seq-write|seq-read|rand-4k-write|rand-4k-read);([0-9.]+);([0-9.]+);([0-9.]+);([0-9.]+)\s*$")
});
static RUN: LazyLock<Regex> = LazyLock::new(|| regex(r"^Run [1-9]\s*$"));

impl Format for PiDiagnostics {
    fn name(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> &'static [&'static str] {
        &["raspberry pi diagnostics", "sd card speed test", "sequential write speed", "(target"]
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let (line, next) = (text.line(at).trim(), text.line(at + 1).trim());
        JOB.is_match(line) || RUN.is_match(line) && JOB.is_match(next)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::whole(NAME);
        let title = (at.saturating_sub(MOST_LINES)..at).rev().find(|line| text.line(*line).starts_with(TITLE));
        if let Some(title) = title {
            report.version = text.line(title).strip_prefix(TITLE).map(|version| version.trim().to_owned());
            report.created = of_ctime(text.line(title + 1));
        }
        let mut end = at + 1;
        for line in at..text.len().min(at + MOST_LINES) {
            let said = text.line(line).trim();
            if line > at && (RUN.is_match(said) || said.starts_with(TITLE)) {
                break;
            }
            if let Some(job) = JOB.captures(said) {
                if report.figures.iter().any(|known| known.load.name == job[1]) {
                    break;
                }
                report.figures.extend(figure(&job));
            } else if line > at && !["speed", "Test ", "Note that"].iter().any(|known| said.contains(known)) {
                continue;
            }
            end = line + 1;
        }
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "a run of the speed test without a figure");
        }
        Section::of(report, end)
    }
}

fn figure(job: &regex_lite::Captures<'_>) -> Option<Figure> {
    let (name, op, pattern, block, seconds) = JOBS.into_iter().find(|(name, ..)| *name == &job[1])?;
    let at = if op == Op::Read { 2 } else { 4 };
    let number = |at: usize| printed(&job[at]).filter(|number| number.value > 0.0);
    let load = Load {
        pattern: Some(pattern),
        block_bytes: Some(block),
        queue_depth: Some(32),
        jobs: Some(1),
        span_bytes: Some(SPAN_BYTES),
        direct: Some(true),
        sync: Some(Sync::End),
        duration_ns: seconds.map(|seconds| seconds * 1_000_000_000),
        ..Load::new(name, op)
    };
    let mut figure = Figure::new(load);
    figure.rate(number(at).map(|kib| kib.times(1024.0)));
    figure.operations(number(at + 1));
    (figure.bytes_per_second.is_some() || figure.iops.is_some()).then_some(figure)
}
