//! ezFIO: the CSV of its tests (`ezfio_tests_….csv`).
//!
//! Columns and loads: `ezfio.py` and `ezfio.ps1` of earlephilhower/ezfio (GPL). It runs fio with libaio (on Windows
//! windowsaio), direct, for a time, on the whole drive or a share of it. Its MB are 2^20 bytes, computed from the
//! operations, which are rounded. Latencies are means. A row of zeros was not run: its block was smaller than the
//! drive's.

use assay_core::finding::{Finding, Missing};
use assay_core::workload::{Op, Pattern, Sync};

use crate::number::{Printed, decimal, printed};
use crate::report::{Figure, Format, Load, Problem, Report, Section};
use crate::text::Text;

/// ezFIO.
pub(crate) struct EzFio;

const NAME: &str = "ezFIO";
const TITLE: &str = "Type,Write %,Block Size,Threads,Queue Depth/Thread,IOPS,Bandwidth (MB/s)";
/// Most lines about drive and machine above the title.
const MOST_HEAD: usize = 14;
/// Most tests: there are some eighty.
const LONGEST: usize = 1_000;
/// Prefixes of the drive's name where tests were shortened, so that their results are not taken for those of whole tests.
const MARKS: [&str; 2] = ["FASTPRECOND-", "QUICKIE-INVALID-RESULTS-"];

impl Format for EzFio {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["ezfio", "queue depth/thread", "availcapacity", "testedcapacity", "bandwidth (mb/s)"]
    }

    fn needs(&self) -> &'static str {
        "the line of CSV that names its columns"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.starts_with(TITLE)
            || line.starts_with("Drive,") && (at + 1..at + MOST_HEAD).any(|next| text.line(next).starts_with(TITLE))
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::whole(NAME);
        let mut problems = Vec::new();
        let mut span = None;
        let (mut rows, mut title, mut end) = (false, String::new(), at);
        for number in at..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if number > at && rows && self.begins(text, number) {
                break;
            }
            end = number + 1;
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if line.starts_with(TITLE) {
                rows = true;
            } else if !rows {
                head(&mut report, &mut span, line);
            } else if let Some(row) = EzFioRow::from_cells(&cells) {
                report.figures.extend(row.figure(&title, span));
            } else if line == "ERROR" {
                report
                    .findings
                    .push(Finding::SourceIncomplete { missing: Missing::AfterFailure { failed: "a test".to_owned() } });
            } else if matches!(cells.first(), Some(&("Seq" | "Rand"))) {
                problems.push(Problem { line: text.number(number), what: "a row of ezFIO that ends early".to_owned() });
            } else if cells.len() == 1 && !line.is_empty() && titles(text, number) {
                line.clone_into(&mut title);
            } else if !line.is_empty() {
                end = number;
                break;
            }
        }
        if report.figures.is_empty() {
            let mut nothing = Section::nothing(end, text.number(at), "CSV of ezFIO without a test that was run");
            nothing.problems.extend(problems);
            return nothing;
        }
        Section { end, reports: vec![report], problems }
    }
}

/// Whether a line is the title of the tests behind it, and not of something else.
fn titles(text: &Text, number: usize) -> bool {
    let next =
        (number + 1..text.len().min(number + 3)).map(|next| text.line(next).trim()).find(|line| !line.is_empty());
    next.is_some_and(|line| {
        line.starts_with(TITLE) || line.starts_with("Seq,") || line.starts_with("Rand,") || line == "ERROR"
    })
}

fn head(report: &mut Report, span: &mut Option<u64>, line: &str) {
    let Some((name, mut value)) = line.split_once(',') else { return };
    for mark in MARKS {
        if let Some(rest) = value.strip_prefix(mark) {
            value = rest;
            report.labels.insert("ezfio".to_owned(), "shortened".to_owned());
        }
    }
    let value_given = Some(value.trim().to_owned()).filter(|value| !matches!(value.as_str(), "" | "None" | "UNKNOWN"));
    // GiB, whole ones.
    let size = || value.split(',').next()?.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 30);
    match name {
        "Drive" => {
            report.medium.path = value_given.unwrap_or_default();
            report.medium.device = Some(report.medium.path.clone()).filter(|path| crate::command::is_device(path));
        }
        "Model" => report.medium.model = value_given,
        "Serial" => report.medium.unit = value_given,
        "AvailCapacity" => report.medium.capacity_bytes = size(),
        "TestedCapacity" => *span = size(),
        "CPU" => report.host.cpu = value_given,
        "OS" => report.host.os = value_given,
        "FIOVersion" => report.labels.extend(value_given.map(|version| ("fio".to_owned(), version))),
        _ => {}
    }
}

/// A test.
struct EzFioRow {
    pattern: Pattern,
    writes: u8,
    block: u64,
    threads: u32,
    depth: u32,
    iops: Printed,
    rate: Printed,
    latencies_ns: [Option<f64>; 2],
}

impl EzFioRow {
    fn from_cells(cells: &[&str]) -> Option<Self> {
        let cell = |at: usize| cells.get(at).copied();
        let latency = |at: usize| Some(decimal(cell(at)?).filter(|us| *us > 0.0).map(|us| us * 1e3));
        Some(Self {
            pattern: match cell(0)? {
                "Seq" => Pattern::Sequential,
                "Rand" => Pattern::Random,
                _ => return None,
            },
            writes: cell(1)?.parse().ok().filter(|share| *share <= 100)?,
            block: cell(2)?.parse().ok()?,
            threads: cell(3)?.parse().ok()?,
            depth: cell(4)?.parse().ok()?,
            iops: printed(cell(5)?)?,
            rate: printed(cell(6)?)?.times(1_048_576.0),
            latencies_ns: [latency(7)?, latency(8)?],
        })
    }

    fn figure(&self, title: &str, span: Option<u64>) -> Option<Figure> {
        if self.iops.value <= 0.0 {
            return None;
        }
        let op = match self.writes {
            0 => Op::Read,
            100 => Op::Write,
            _ => Op::Mixed,
        };
        let mut figure = Figure::new(Load {
            read_percent: (op == Op::Mixed).then(|| 100 - self.writes),
            pattern: Some(self.pattern),
            block_bytes: Some(self.block),
            queue_depth: Some(self.depth),
            jobs: Some(self.threads),
            span_bytes: span.filter(|size| *size > 0),
            direct: Some(true),
            sync: Some(Sync::End),
            ..Load::new(if title.is_empty() { NAME } else { title }, op)
        });
        figure.operations(Some(self.iops));
        figure.rate(Some(self.rate));
        figure.latency_ns.mean = match op {
            Op::Read => self.latencies_ns[0],
            Op::Write => self.latencies_ns[1],
            // There are two; its screen shows the larger one.
            Op::Mixed => None,
        };
        Some(figure)
    }
}
