//! IOR 3 and 4: its text.
//!
//! Options and rows: <https://ior.readthedocs.io/en/latest/userDoc/options.html>. MiB are 2^20 bytes. A row is one
//! iteration; the column IOPS leaves out opening and closing, so that operations are computed from the rate, as in IOR's own
//! summary.

use std::sync::LazyLock;

use assay_core::finding::Finding;
use assay_core::workload::{Op, Pattern, Sync};

use crate::date;
use crate::format::{Format, Section};
use crate::number::{Base, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Load, Report, Statistic};
use crate::text::Text;
use crate::title::Title;

/// IOR.
pub(crate) struct Ior;

const NAME: &str = "IOR";
/// Most lines of a report, with hundreds of iterations.
const LONGEST: usize = 5_000;

static TITLE: Title =
    Title::new("MPI Coordinated Test", || regex(r"^\s*IOR-(\S+): MPI Coordinated Test of Parallel I/O"));
static ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(write|read)\s+([0-9.]+)\s+(?:[0-9.]+|NA|-)?\s*(?:[0-9.]+|NA|-)?\s*.*?\s(\d+)\s*$"));
static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"^([0-9.]+) *([KMGT]?i?B|bytes)$"));

#[derive(Debug, Default)]
struct Parsed {
    command: Option<String>,
    api: Option<String>,
    random: Option<bool>,
    tasks: Option<u32>,
    transfer: Option<u64>,
    aggregate: Option<u64>,
    latency: bool,
    rates: [Vec<f64>; 2],
    latencies: [Vec<f64>; 2],
    complete: bool,
}

impl Format for Ior {
    fn name(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> &'static [&'static str] {
        &["mpi coordinated test of parallel i/o", "xfersize", "aggregate filesize", "bw(mib/s)", "summary of all tests"]
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        TITLE.stands(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        report.version = TITLE.version(text, at);
        let mut parsed = Parsed::default();
        let mut end = at + 1;
        for number in at + 1..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if self.begins(text, number) {
                break;
            }
            if let Some(row) = ROW.captures(line).filter(|_| !parsed.complete) {
                let which = usize::from(&row[1] == "write");
                let words: Vec<&str> = line.split_whitespace().collect();
                let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
                if let (Some(rates), Some(rate)) = (parsed.rates.get_mut(which), number(1).filter(|rate| *rate > 0.0)) {
                    rates.push(rate * 1_048_576.0);
                }
                let latency = number(3).filter(|_| parsed.latency);
                if let (Some(latencies), Some(seconds)) = (parsed.latencies.get_mut(which), latency) {
                    latencies.push(seconds * 1e9);
                }
            } else if line.starts_with("access ") && line.contains("bw(MiB/s)") {
                parsed.latency = line.contains("Latency(s)");
            } else if line.starts_with("Summary of all tests") {
                parsed.complete = true;
            } else if parsed.complete
                && !(line.is_empty() || ["Operation", "write", "read", "Finished"].iter().any(|s| line.starts_with(s)))
            {
                break;
            } else if let Some((name, value)) = line.split_once(':') {
                option(&mut parsed, &mut report, name.trim(), value.trim());
            }
            if !line.is_empty() {
                end = number + 1;
            }
            if line.starts_with("Finished") {
                break;
            }
        }
        figures(&mut report, &parsed);
        if report.figures.is_empty() {
            return Section::nothing(end, text.number(at), "output of IOR without a result");
        }
        if !parsed.complete {
            report.findings.push(Finding::SourceIncomplete { what: "the summary".to_owned() });
        }
        Section::of(report, end)
    }
}

fn option(parsed: &mut Parsed, report: &mut Report, name: &str, value: &str) {
    let size = || {
        let found = SIZE.captures(value)?;
        Some((found[1].parse::<f64>().ok()? * unit(&found[2], Base::Binary)?) as u64)
    };
    match name {
        "Command line" => parsed.command = Some(value.to_owned()),
        "Began" => report.created = date::of_ctime(value),
        "Machine" => report.host.hostname = value.strip_prefix("Linux ").map(str::to_owned),
        "Path" => report.medium.path = value.to_owned(),
        "api" => parsed.api = Some(value.to_owned()),
        "ordering in a file" => parsed.random = Some(value.starts_with("random")),
        "tasks" => parsed.tasks = value.parse().ok(),
        "xfersize" => parsed.transfer = size(),
        "aggregate filesize" => parsed.aggregate = size(),
        _ => {}
    }
}

fn figures(report: &mut Report, parsed: &Parsed) {
    let option = |names: &[&str]| {
        let command = parsed.command.as_deref()?;
        Some(command.split_whitespace().any(|word| names.contains(&word)))
    };
    // Without a file of options (-f) all options stand there.
    let sure = parsed.command.as_ref().is_some_and(|command| !command.split_whitespace().any(|word| word == "-f"));
    let direct = option(&["-B", "--posix.odirect", "--useO_DIRECT"]).filter(|direct| *direct || sure);
    let each = option(&["-Y"]).filter(|each| *each || sure);
    let at_end = option(&["-e"]) == Some(true);
    for (which, op, name) in [(1, Op::Write, "write"), (0, Op::Read, "read")] {
        let (Some(rates), Some(latencies)) = (parsed.rates.get(which), parsed.latencies.get(which)) else { continue };
        let Some(rate) = mean(rates) else { continue };
        let mut load = Load {
            pattern: parsed.random.map(|random| if random { Pattern::Random } else { Pattern::Sequential }),
            block_bytes: parsed.transfer,
            // Each task waits for each transfer.
            queue_depth: parsed.api.as_ref().filter(|api| api.starts_with("POSIX")).map(|_| 1),
            jobs: parsed.tasks,
            span_bytes: parsed.aggregate,
            direct,
            ..Load::new(name, op)
        };
        if op == Op::Write {
            load.sync = each.map(|each| if each { Sync::Fsync } else { Sync::End });
        }
        let mut figure = Figure::new(load);
        figure.bytes_per_second = Some(rate);
        figure.latency_ns.mean = mean(latencies);
        if op == Op::Write && (at_end || each == Some(true)) {
            figure.durable_bytes_per_second = Some(rate);
        }
        figure.statistic = match u32::try_from(rates.len()) {
            Ok(1) | Err(_) => Statistic::One,
            Ok(runs) => Statistic::MeanOf(runs),
        };
        report.figures.push(figure);
    }
}

fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}
