//! elbencho 1 to 3: its CSV (`--csvfile`), in which each row is a phase.
//!
//! Columns are found by their names, which vary by version; MiB are 2^20 bytes. Figures are those up to the end of the last
//! thread: those up to the end of the first leave out the tail of the work.

use std::collections::HashMap;

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Missing, RowFlaw, Untold};
use assay_core::record::Score;
use assay_core::workload::{Op, Pattern};

use crate::date;
use crate::number::{Printed, Told};
use crate::report::{Figure, Format, Load, Problem, Report, Section};
use crate::text::Text;

/// elbencho.
pub(crate) struct Elbencho;

const NAME: &str = "elbencho";
/// Most phases of a call.
const MOST_PHASES: usize = 1_000;
/// Most calls in one table.
const MOST_CALLS: usize = 10_000;
/// Units of a rate, cut off to whole ones, below which it may be a fifth too low.
const COARSE: f64 = 5.0;
/// Units from which on it is at most a fiftieth too low.
const FINE: f64 = 50.0;

impl Format for Elbencho {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["elbencho", "iso date", "mib/s [last]", "iops [last]", "io lat us"]
    }

    fn needs(&self) -> &'static str {
        "the line of CSV that names its columns"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at).trim_start();
        line.starts_with("ISO date,") && line.contains(",operation,") && line.contains("MiB/s [last]")
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let names: Vec<&str> = text.line(at).split(',').map(str::trim).collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name).or_insert(place);
        }
        let mut section = Section { end: at + 1, ..Section::default() };
        let mut calls: Vec<(Call, Report)> = Vec::new();
        for number in at + 1..text.len() {
            let fields: Vec<String> = fields(text.line(number));
            let get =
                |name: &str| fields.get(*places.get(name)?).map(|field| field.trim()).filter(|field| !field.is_empty());
            if get("operation").is_none() {
                break;
            }
            section.end = number + 1;
            // A row that ends early may end within a number.
            if fields.len() < names.len() {
                if let Some((_, report)) = calls.last_mut() {
                    report.find(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::CutOff } });
                }
                section
                    .problems
                    .push(Problem { line: text.number(number), what: "a row of elbencho that ends early".to_owned() });
                continue;
            }
            let mut row = Report::new(NAME);
            phase(&mut row, &get);
            // Rows of one day and label are phases of one call, until a load comes again.
            let call =
                (get("ISO date").and_then(|date| date.get(..10)).map(str::to_owned), get("label").map(str::to_owned));
            let again = |report: &Report| {
                let load = |load: &Load| report.figures.iter().any(|figure| figure.load == *load);
                row.figures.iter().any(|figure| load(&figure.load))
            };
            if calls.last().is_none_or(|(last, report)| {
                *last != call || report.figures.len() + report.scores.len() >= MOST_PHASES || again(report)
            }) {
                if calls.len() >= MOST_CALLS {
                    let what = format!("more than {MOST_CALLS} calls of elbencho in one table: divide it");
                    section.problems.push(Problem { line: text.number(number), what });
                    break;
                }
                let mut report = Report { lines: Some((number, number + 1)), ..Report::new(NAME) };
                report.created = get("ISO date").and_then(date::of_iso);
                report.version = get("version").map(str::to_owned);
                if let Some(label) = get("label") {
                    report.labels.insert("elbencho".to_owned(), label.to_owned());
                }
                calls.push((call, report));
            }
            if let Some((_, report)) = calls.last_mut() {
                report.lines = report.lines.map(|(from, _)| (from, number + 1));
                report.figures.append(&mut row.figures);
                report.scores.append(&mut row.scores);
            }
        }
        section.reports.extend(calls.into_iter().map(|(_, report)| report).filter(|report| !report.is_empty()));
        if section.reports.is_empty() {
            let nothing =
                Section::nothing(section.end, text.number(at), "CSV of elbencho without a phase that moved data");
            section.problems.extend(nothing.problems);
        }
        section
    }
}

/// Day and label.
type Call = (Option<String>, Option<String>);

/// Fields of a line; one with a comma in it stands in quotes.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    all.push(field);
    all
}

fn phase<'a>(report: &mut Report, get: &impl Fn(&str) -> Option<&'a str>) {
    let number = |name: &str| get(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| *number > 0.0);
    let whole = |name: &str| get(name).and_then(|text| text.parse::<u64>().ok());
    let narrow = |name: &str| whole(name).and_then(|number| u32::try_from(number).ok());
    let Some(operation) = get("operation") else { return };
    let op = match operation {
        "READ" => Op::Read,
        "WRITE" => Op::Write,
        _ if operation.starts_with("RWMIX") => Op::Mixed,
        // Entries made, looked at or removed; anything else, such as dropping caches, is no figure.
        "MKDIRS" | "STAT" | "RMFILES" | "RMDIRS" | "STATDIRS" => {
            report.scores.extend(number("entries/s [last]").map(|rate| Score {
                name: format!("elbencho {operation}"),
                value: Estimate::bare(rate, 1, "as printed by elbencho, one run"),
                unit: "entries/s".to_owned(),
                more_is_better: true,
                program: None,
            }));
            return;
        }
        _ => return,
    };
    let hosts = narrow("hosts").unwrap_or(1).max(1);
    let random = get("random");
    let mut load = Load {
        // `RWMIX30` reads 30 %.
        read_percent: operation.strip_prefix("RWMIX").and_then(|share| share.trim_end_matches('%').parse().ok()),
        pattern: random.map(|random| if random == "1" { Pattern::Random } else { Pattern::Sequential }),
        block_bytes: whole("block size").filter(|size| *size > 0),
        queue_depth: narrow("IO depth").filter(|depth| *depth > 0),
        jobs: narrow("threads").and_then(|threads| threads.checked_mul(hosts)),
        direct: get("direct IO").map(|direct| direct == "1"),
        ..Load::new(operation, op)
    };
    load.span_bytes = area(&whole, get("path type"), load.jobs);
    // Of a mix the columns of a phase are its writes, and the reads have columns of their own.
    let unread = |name: &str| get(name).is_some_and(|text| text.parse::<f64>().is_err());
    let both = |name: &str| match (number(name), number(&format!("rwmix read {name}"))) {
        // A half that cannot be read is not none.
        _ if unread(name) || unread(&format!("rwmix read {name}")) => None,
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
    };
    let mut figure = Figure::new(load);
    figure.iops = both("IOPS [last]");
    let printed = both("MiB/s [last]");
    figure.bytes_per_second = rate(printed, 1_048_576.0, figure.iops, figure.load.block_bytes);
    figure.told = cut_off(printed, 1_048_576.0, figure.iops, op);
    coarse(&mut figure, printed);
    let latency = |which: &str| {
        let named = number(&format!("IO lat us [{which}]")).or_else(|| number(&format!("IO lat us {which}")));
        named.map(|us| us * 1e3)
    };
    // Of a mix that is the latency of its writes.
    if op != Op::Mixed {
        (figure.latency_ns.mean, figure.latency_ns.max) = (latency("avg"), latency("max"));
    }
    if figure.bytes_per_second.is_some() || figure.iops.is_some() {
        report.figures.push(figure);
    }
}

/// A printed rate in bytes. elbencho rounds it down to whole MiB, which loses much of a slow medium's rate. Where the
/// operations agree with it, they give the rate, since they are more exact.
pub(super) fn rate(printed: Option<f64>, unit: f64, iops: Option<f64>, block: Option<u64>) -> Option<f64> {
    let printed = printed?;
    let exact = iops.zip(block).is_some_and(|(iops, block)| {
        let by_operations = iops * block as f64 / unit;
        iops > printed && by_operations >= printed && by_operations < printed + 3.0
    });
    // Of a few whole units the operations tell more.
    let coarse = printed < COARSE && iops.is_some();
    (!exact && !coarse).then_some(printed * unit)
}

/// Says so where a rate is that of a few whole units, cut off, and operations do not tell more.
pub(super) fn coarse(figure: &mut Figure, printed: Option<f64>) {
    let rate = figure.bytes_per_second.zip(printed.filter(|printed| *printed < FINE));
    let exact = figure.iops.zip(figure.load.block_bytes).is_some();
    if rate.is_some() && !exact {
        figure.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Digits });
    }
}

/// What elbencho prints is cut off to whole ones; of a mix that is each half.
pub(super) fn cut_off(rate: Option<f64>, unit: f64, iops: Option<f64>, op: Op) -> Told {
    let step = if op == Op::Mixed { 2.0 } else { 1.0 };
    let whole = |value: Option<f64>| value.map(|value| Printed { value, step });
    Told { rate: whole(rate).map(|rate| rate.times(unit)), iops: whole(iops), ..Told::default() }
}

/// The area, from the size of a file and the number of files of each thread and directory.
fn area(whole: &impl Fn(&str) -> Option<u64>, kind: Option<&str>, jobs: Option<u32>) -> Option<u64> {
    let size = whole("file size")?;
    match kind? {
        "dir" => {
            let each = whole("files")?.checked_mul(whole("dirs")?.max(1))?;
            size.checked_mul(each)?.checked_mul(u64::from(jobs?))
        }
        _ => size.checked_mul(whole("paths")?),
    }
}
