//! The SD card speed test of Raspberry Pi Diagnostics (sdtest.sh and sd_bench.fio of
//! <https://github.com/raspberrypi-ui/agnostics>).
//!
//! It prints name, read rate, reads, write rate and writes by the second of each job of fio, whose options are fixed:
//! libaio, direct, `end_fsync`; random jobs run for 10 s. Up to version 0.14 the depth is 4, the file 64 MiB and
//! `seq-write` has blocks of 512 KiB; from 0.15 on (July 2024) the depth is 32, the file 256 MiB, blocks have 4 MiB and there is
//! `seq-read`. Copies of a run rarely have the version: rate and operations of `seq-write` tell its block. Rates are in KiB.
//! It repeats until a run passes, at most three times; each run is a record of its own.

use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Finding, Place, SourceQuantity};
use assay_core::workload::{Op, Pattern, Sync};

use crate::date::of_ctime;
use crate::number::{Printed, printed};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// Raspberry Pi Diagnostics.
pub(crate) struct PiDiagnostics;

const NAME: &str = "Raspberry Pi Diagnostics";
const TITLE: &str = "Raspberry Pi Diagnostics - version ";
const MOST_LINES: usize = 120;

/// Name, operation, pattern and length in seconds of each job.
const JOBS: [(&str, Op, Pattern, Option<u64>); 5] = [
    ("prepare-file", Op::Write, Pattern::Sequential, None),
    ("seq-write", Op::Write, Pattern::Sequential, None),
    ("seq-read", Op::Read, Pattern::Sequential, None),
    ("rand-4k-write", Op::Write, Pattern::Random, Some(10)),
    ("rand-4k-read", Op::Read, Pattern::Random, Some(10)),
];

/// What the versions of the script have apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Script {
    /// Size of an operation of the sequential jobs in bytes.
    block_bytes: u64,
    depth: u32,
    span_bytes: u64,
}

/// Up to version 0.14.
const FIRST: Script = Script { block_bytes: 512 << 10, depth: 4, span_bytes: 64 << 20 };
/// From version 0.15 on.
const SECOND: Script = Script { block_bytes: 4 << 20, depth: 32, span_bytes: 256 << 20 };
const SECOND_VERSION: (u32, u32) = (0, 15);

static JOB: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(prepare-file|seq-write|seq-read|rand-4k-write|rand-4k-read);([0-9.]+);([0-9.]+);([0-9.]+);([0-9.]+)\s*$")
});
/// What the script says of a run behind its rows: pattern, operation, value and its unit.
static SENTENCE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(Sequential|Random) (write|read) speed ([0-9]+) (KB/sec|IOPS)\b"));
static RUN: LazyLock<Regex> = LazyLock::new(|| regex(r"^Run [1-9]\s*$"));

impl Format for PiDiagnostics {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["raspberry pi diagnostics", "sd card speed test", "sequential write speed", "(target"]
    }

    fn needs(&self) -> &'static str {
        "the line of a job with its rate"
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
        let mut rows: Vec<JobRow> = Vec::new();
        for line in at..text.len().min(at + MOST_LINES) {
            let said = text.line(line).trim();
            if line > at && (RUN.is_match(said) || said.starts_with(TITLE)) {
                break;
            }
            if let Some(job) = JOB.captures(said) {
                if rows.iter().any(|known| known.name == &job[1]) {
                    break;
                }
                rows.extend(JobRow::from_job(&job));
            } else if line > at && !["speed", "Test ", "Note that"].iter().any(|known| said.contains(known)) {
                continue;
            }
            end = line + 1;
        }
        let sentences = (at..end).filter_map(|line| SENTENCE.captures(text.line(line).trim()));
        let contradiction = sentences.filter_map(|sentence| contradiction(&rows, &sentence)).next();
        report.findings.extend(contradiction);
        let script = script(&rows, report.version.as_deref());
        report.figures.extend(rows.into_iter().filter_map(|row| row.figure(script)));
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "a run of the speed test without a figure");
        }
        Section::from_report(report, end)
    }
}

/// A line of a run.
#[derive(Debug, Clone)]
struct JobRow {
    name: &'static str,
    op: Op,
    pattern: Pattern,
    seconds: Option<u64>,
    /// KiB by the second, and operations, both cut off to whole ones.
    rate: Option<Printed>,
    iops: Option<Printed>,
}

/// Which version of the script ran: by rate and operations of a sequential job, else by the jobs that it has, else by the
/// version of the program.
fn script(rows: &[JobRow], version: Option<&str>) -> Option<Script> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let sequential = ["seq-write", "seq-read"];
    let fits = |script: &Script| {
        let all = sequential.iter().filter_map(|name| row(name)).filter_map(|row| row.agrees(script.block_bytes));
        all.collect::<Vec<bool>>()
    };
    let by_figures = [FIRST, SECOND].map(|script| (script, fits(&script)));
    let all_fit = |(_, fits): &&(Script, Vec<bool>)| !fits.is_empty() && fits.iter().all(|fits| *fits);
    let mut fitting = by_figures.iter().filter(all_fit);
    if let (Some((script, _)), None) = (fitting.next(), fitting.next()) {
        return Some(*script);
    }
    let by_jobs = match (row("seq-write"), row("seq-read"), row("rand-4k-write")) {
        (_, Some(_), _) => Some(SECOND),
        (Some(_), None, Some(_)) => Some(FIRST),
        _ => None,
    };
    by_jobs.or_else(|| {
        let (major, minor) = version?.split_once('.')?;
        let version = (major.parse().ok()?, minor.parse().ok()?);
        Some(if version < SECOND_VERSION { FIRST } else { SECOND })
    })
}

/// A sentence that has another figure than the row of its job. The script cuts both off to whole numbers.
fn contradiction(rows: &[JobRow], sentence: &regex_lite::Captures<'_>) -> Option<Finding> {
    let name = match (&sentence[1], &sentence[2]) {
        ("Sequential", "write") => "seq-write",
        ("Sequential", _) => "seq-read",
        (_, "write") => "rand-4k-write",
        _ => "rand-4k-read",
    };
    let row = rows.iter().find(|row| row.name == name)?;
    let in_row = if &sentence[4] == "IOPS" { row.iops } else { row.rate }.map_or(0.0, |printed| printed.value);
    let said: f64 = sentence[3].parse().ok()?;
    let (quantity, unit) =
        if &sentence[4] == "IOPS" { (SourceQuantity::Iops, 1.0) } else { (SourceQuantity::BytesPerSecond, 1024.0) };
    let places = ((Place::Row, in_row * unit), (Place::Sentence, said * unit));
    let contradiction = || Contradiction::places(quantity, name, places.0, places.1);
    ((said - in_row).abs() > 1.0 + said * 0.01).then(|| Finding::SourceContradicts { contradiction: contradiction() })
}

impl JobRow {
    fn from_job(job: &regex_lite::Captures<'_>) -> Option<Self> {
        let (name, op, pattern, seconds) = JOBS.into_iter().find(|(name, ..)| *name == &job[1])?;
        let at = if op == Op::Read { 2 } else { 4 };
        let number = |at: usize| printed(&job[at]).filter(|number| number.value > 0.0);
        Some(Self { name, op, pattern, seconds, rate: number(at), iops: number(at + 1) })
    }

    /// Whether its rate equals its operations times this block size; unknown without a rate. Without a number of operations it made
    /// less than one in a second.
    fn agrees(&self, block_bytes: u64) -> Option<bool> {
        let computed = self.rate?.value * 1024.0 / block_bytes as f64;
        let told = self.iops.map_or(0.0, |iops| iops.value);
        Some(computed > told * 0.99 && computed < (told + 1.0) * 1.01)
    }

    fn figure(self, script: Option<Script>) -> Option<Figure> {
        let block_bytes = match self.name {
            "prepare-file" => Some(512 << 10),
            "seq-write" | "seq-read" => script.map(|script| script.block_bytes),
            _ => Some(4 << 10),
        };
        let load = Load {
            pattern: Some(self.pattern),
            block_bytes,
            queue_depth: script.map(|script| script.depth),
            jobs: Some(1),
            span_bytes: script.map(|script| script.span_bytes),
            direct: Some(true),
            sync: Some(Sync::End),
            duration_ns: self.seconds.map(|seconds| seconds * 1_000_000_000),
            ..Load::new(self.name, self.op)
        };
        let mut figure = Figure::new(load);
        figure.rate(self.rate.map(|kib| kib.times(1024.0)));
        figure.operations(self.iops);
        (figure.bytes_per_second.is_some() || figure.iops.is_some()).then_some(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str], version: Option<&str>) -> Option<Script> {
        let rows: Vec<JobRow> = lines.iter().filter_map(|line| JobRow::from_job(&JOB.captures(line)?)).collect();
        script(&rows, version)
    }

    #[test]
    fn figures_tell_the_script_before_its_jobs_and_its_version() {
        let random = "rand-4k-write;0;0;3884;971";
        assert_eq!(of(&["seq-write;0;0;20370;39", random], None), Some(FIRST));
        assert_eq!(of(&["seq-write;0;0;18665;4", random], None), Some(SECOND), "its line of reads was cut out");
        assert_eq!(of(&["seq-write;0;0;2100;0"], None), Some(SECOND), "less than one operation by the second");
        assert_eq!(of(&["seq-write;0;0;40370;39", random], None), Some(FIRST), "a contradiction is told by its block");
        assert_eq!(of(&["seq-write;0;0;40370;39", "seq-read;23093;5;0;0"], None), Some(SECOND));
        assert_eq!((of(&[random], None), of(&["seq-write;0;0;100;0"], None)), (None, None));
        assert_eq!((of(&[random], Some("0.9")), of(&[random], Some("0.15"))), (Some(FIRST), Some(SECOND)));
    }
}
