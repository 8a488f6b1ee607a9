//! IOR 3 and 4: its text. Copies of it may be its table of results, its lines `Max Write` and `Max Read` or its table of
//! all tests alone, whose headings name what they hold.
//!
//! Options and rows: <https://ior.readthedocs.io/en/latest/userDoc/options.html>. MiB are 2^20 bytes. A row is one
//! iteration; the column IOPS leaves out opening and closing, so that operations are computed from the rate, as in IOR's own
//! summary. The column of latencies divides by the transfers of one segment, however many segments there are
//! (`ReduceIterResults` in `ior.c`): of 16 segments it is 16 times what a transfer took.

use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, RowFlaw, SourceQuantity};
use assay_core::workload::{Op, Pattern, Sync};

use crate::command::{Title, commands, continued, is_options, option_size};
use crate::date;
use crate::number::{Base, unit};
use crate::pattern::{Regex, regex};
use crate::reach::is_shortened;
use crate::report::{Figure, Format, Load, Report, Section, Statistic};
use crate::text::Text;

/// IOR.
pub(crate) struct Ior;

const NAME: &str = "IOR";
/// Most lines of a report, with hundreds of iterations.
const LONGEST: usize = 5_000;
/// Most lines from a heading to the first row below it.
const MOST_BETWEEN: usize = 6;
/// Most lines from the heading of the options to that of the results.
const MOST_OPTIONS: usize = 40;
/// Most lines from the command to a heading without a title.
const MOST_ABOVE: usize = 8;

static TITLE: Title =
    Title::new("MPI Coordinated Test", || regex(r"^\s*IOR-(\S+): MPI Coordinated Test of Parallel I/O"));
/// `Max Write: 45.18 MiB/sec (47.37 MB/sec)`, the best of the iterations.
static MAX: LazyLock<Regex> = LazyLock::new(|| regex(r"^Max (Write|Read): +([0-9.]+) MiB/sec \(([0-9.]+) MB/sec\)$"));
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
    segments: Option<u32>,
    /// Columns of the table of results, by their heading.
    columns: Columns,
    /// Columns of the table of all tests.
    summary: Vec<String>,
    rates: [Vec<f64>; 2],
    latencies: [Vec<f64>; 2],
    /// The best of the iterations, where it stands alone.
    best: [Option<f64>; 2],
    /// How the two units of such a line differ.
    units_differ: Option<Finding>,
    /// Mean of the iterations and their number, out of the table of all tests.
    means: [Option<(f64, u32)>; 2],
    complete: bool,
    /// Whether a row lacks a column.
    cut: bool,
}

/// Columns of a row: latency and size of a transfer in KiB.
#[derive(Debug, Default)]
struct Columns {
    latency: Option<usize>,
    transfer: Option<usize>,
    /// How many there are, where their heading stands above.
    all: Option<usize>,
}

impl Format for Ior {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["mpi coordinated test of parallel i/o", "xfersize", "aggregate filesize", "bw(mib/s)", "summary of all tests"]
    }

    fn needs(&self) -> &'static str {
        "its title, or a heading with `bw(MiB/s)` above rows"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        TITLE.stands(text, at) || is_headless(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        report.version = TITLE.version(text, at);
        let mut parsed = Parsed::default();
        let headless = !TITLE.stands(text, at);
        if headless {
            parsed.called(text, at);
        }
        let (mut end, from) = (at + 1, if headless { at } else { at + 1 });
        for number in from..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            let another = headless && number > at && parsed.has_such(line);
            if number > at && (TITLE.stands(text, number) || another) || headless && number > end + MOST_BETWEEN {
                break;
            }
            let (known, over) = parsed.line(&mut report, line);
            if over {
                break;
            }
            // Without its title any line behind may be of something else.
            if !line.is_empty() && (known || !headless) {
                end = number + 1;
            }
            if line.starts_with("Finished") {
                break;
            }
        }
        // Nothing tells that a table alone is of the run before it.
        report.begins = headless && parsed.command.is_none();
        figures(&mut report, &parsed);
        if report.figures.is_empty() {
            return Section::nothing(end, text.number(at), "output of IOR without a result");
        }
        if !parsed.complete {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Summary]) });
        }
        if parsed.cut {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::CutOff } });
        }
        report.findings.extend([1, 0].into_iter().find_map(|which| parsed.contradiction(which)));
        report.findings.extend(parsed.units_differ);
        Section::from_report(report, end)
    }
}

/// A rate of one direction that two places tell otherwise.
fn contradiction(of: &str, here: (Place, f64), there: (Place, f64)) -> Finding {
    Finding::SourceContradicts { contradiction: Contradiction::places(SourceQuantity::BytesPerSecond, of, here, there) }
}

/// Whether a table, or a line that says what it is, begins without the title above it.
fn is_headless(text: &Text, at: usize) -> bool {
    let line = text.line(at).trim();
    let below = || (at + 1..=at + MOST_BETWEEN).map(|next| text.line(next).trim());
    MAX.is_match(line)
        || is_heading(line) && below().any(|next| is_row(next, Some(line.split_whitespace().count())))
        || is_summary(line) && below().any(|next| SUMMARY_ROWS.iter().any(|row| next.starts_with(row)))
        || line == "Summary of all tests:" && is_summary(text.line(at + 1).trim())
        || line == "Options:" && (at + 1..at + MOST_OPTIONS).any(|next| is_heading(text.line(next).trim()))
}

/// Whether a line is a row of the table of results. People cut off its last columns, as the number of the iteration: then it
/// has a figure for each of `columns`.
fn is_row(line: &str, columns: Option<usize>) -> bool {
    let is_figure = |word: &str| matches!(word, "NA" | "-") || word.parse::<f64>().is_ok();
    let short = || {
        let mut words = line.split_whitespace();
        let count = words.clone().count();
        matches!(words.next(), Some("write" | "read")) && columns == Some(count) && count > 1 && words.all(is_figure)
    };
    ROW.is_match(line) || short()
}

const SUMMARY_ROWS: [&str; 2] = ["write ", "read "];

/// Whether a line names the columns of the table of results.
fn is_heading(line: &str) -> bool {
    line.starts_with("access ") && line.contains("bw(MiB/s)")
}

/// Whether a line names the columns of the table of all tests.
fn is_summary(line: &str) -> bool {
    line.starts_with("Operation ") && line.contains("Max(MiB)") && line.contains("Mean(MiB)")
}

impl Parsed {
    /// Takes what the command above says, where the lines that repeat it are missing.
    fn called(&mut self, text: &Text, at: usize) {
        for line in (at.saturating_sub(MOST_ABOVE)..at).rev() {
            let line = continued(text, line, at, is_options);
            let names = line.split_whitespace().any(|word| word.rsplit('/').next() == Some("ior"));
            let Some(words) = commands(&line, "ior").into_iter().next().filter(|_| names) else { continue };
            if is_shortened(&words) {
                return;
            }
            let value = |name: &str| {
                let at = words.iter().position(|word| *word == name)?;
                words.get(at + 1).map(String::as_str)
            };
            let size = |name: &str| value(name).and_then(|size| option_size(size, 1));
            self.command = Some(words.join(" "));
            // A file of options may say otherwise.
            if value("-f").is_some() {
                return;
            }
            self.transfer = size("-t");
            self.api = Some(value("-a").unwrap_or("POSIX").to_owned());
            self.random = Some(words.iter().any(|word| word == "-z"));
            let before: Vec<&str> = line.split_whitespace().collect();
            let tasks = before.windows(2).find(|pair| matches!(pair[0], "-np" | "-n")).map(|pair| pair[1]);
            self.tasks = tasks.and_then(|tasks| tasks.parse().ok());
            let segments = value("-s").map_or(Some(1), |count| count.parse::<u64>().ok());
            self.aggregate = (|| size("-b")?.checked_mul(segments?)?.checked_mul(u64::from(self.tasks?)))();
            return;
        }
    }

    /// Whether there is a result.
    fn any(&self) -> bool {
        self.rates.iter().any(|rates| !rates.is_empty())
            || self.best.iter().any(Option::is_some)
            || self.means.iter().any(Option::is_some)
    }

    /// Whether a line of this kind was there: one more is of another run.
    fn has_such(&self, line: &str) -> bool {
        let best = || MAX.captures(line).is_some_and(|best| self.best[usize::from(&best[1] == "Write")].is_some());
        is_heading(line) && self.any() || is_summary(line) && self.complete && !self.summary.is_empty() || best()
    }

    /// What the table of results has otherwise than the lines and the table behind it.
    fn contradiction(&self, which: usize) -> Option<Finding> {
        let rates = &self.rates[which];
        let differ = |a: f64, b: f64| (a - b).abs() > a.max(b) * 0.01;
        let most = rates.iter().copied().reduce(f64::max);
        let best = most.zip(self.best[which]).filter(|(a, b)| differ(*a, *b));
        let means = mean(rates).zip(self.means[which].map(|(mean, _)| mean)).filter(|(a, b)| differ(*a, *b));
        let (place, (rows, summary)) = best.map(|pair| (Place::Best, pair)).or(means.map(|pair| (Place::Mean, pair)))?;
        let of = if which == 1 { "write" } else { "read" };
        Some(contradiction(of, (place, rows), (Place::Summary, summary)))
    }

    /// Takes a line; whether it said something, and whether it is behind the end of the output.
    fn line(&mut self, report: &mut Report, line: &str) -> (bool, bool) {
        if !self.complete && is_row(line, self.columns.all) {
            self.row(usize::from(line.starts_with("write")), line);
        } else if let Some(best) = MAX.captures(line) {
            let which = usize::from(&best[1] == "Write");
            self.best[which] = best[2].parse::<f64>().ok().filter(|rate| *rate > 0.0).map(|rate| rate * 1_048_576.0);
            let decimal = best[3].parse::<f64>().ok().map(|rate| rate * 1e6);
            let both = self.best[which].zip(decimal);
            let differ = |(a, b): &(f64, f64)| (a - b).abs() > a.max(*b) * 0.01 + 1e4;
            if let Some((binary, decimal)) = both.filter(differ) {
                let of = if which == 1 { "write" } else { "read" };
                self.units_differ = Some(contradiction(of, (Place::Binary, binary), (Place::Decimal, decimal)));
            }
        } else if is_heading(line) {
            // `wr/rd(s)` and the like are one word each.
            let words: Vec<&str> = line.split_whitespace().collect();
            let of = |name: &str| words.iter().position(|word| *word == name);
            self.columns = Columns { latency: of("Latency(s)"), transfer: of("xfer(KiB)"), all: Some(words.len()) };
        } else if line.starts_with("Summary of all tests") {
            self.complete = true;
        } else if is_summary(line) {
            self.complete = true;
            let words = line.replace("Test# #Tasks", "Test# Tasks");
            self.summary = words.split_whitespace().map(str::to_owned).collect();
        } else if self.complete {
            let row = SUMMARY_ROWS.iter().position(|row| line.starts_with(row));
            if let Some(at) = row {
                self.test(1 - at, line);
            }
            let known = row.is_some() || line.starts_with("Finished") || line.starts_with("Operation");
            return (known, !known && !line.is_empty());
        } else if let Some((name, value)) = line.split_once(':').or_else(|| line.split_once(" = ")) {
            return (option(self, report, name.trim(), value.trim()), false);
        } else {
            return (line.starts_with("------") || line.starts_with("remove "), false);
        }
        (true, false)
    }

    /// A row of the table of results.
    fn row(&mut self, which: usize, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Where a column is missing the others are not where they belong.
        if self.columns.all.is_some_and(|all| all != words.len()) {
            self.cut = true;
            return;
        }
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok()).filter(|value| *value > 0.0);
        if let (Some(rates), Some(rate)) = (self.rates.get_mut(which), number(1)) {
            rates.push(rate * 1_048_576.0);
        }
        if let (Some(latencies), Some(seconds)) = (self.latencies.get_mut(which), self.columns.latency.and_then(number))
        {
            latencies.push(seconds * 1e9);
        }
        if self.transfer.is_none() {
            self.transfer = self.columns.transfer.and_then(number).map(|kib| (kib * 1024.0).round() as u64);
        }
    }

    /// A row of the table of all tests, whose sizes are exact.
    fn test(&mut self, which: usize, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() != self.summary.len() {
            self.cut |= !self.summary.is_empty();
            return;
        }
        let of = |name: &str| {
            let at = self.summary.iter().position(|column| column == name)?;
            words.get(at).copied()
        };
        let whole = |name: &str| of(name).and_then(|word| word.parse::<u64>().ok());
        let runs = whole("reps").and_then(|runs| u32::try_from(runs).ok());
        let mean = of("Mean(MiB)").and_then(|word| word.parse::<f64>().ok()).filter(|mean| *mean > 0.0);
        self.means[which] = mean.map(|mean| (mean * 1_048_576.0, runs.unwrap_or(1)));
        self.tasks = whole("Tasks").and_then(|tasks| u32::try_from(tasks).ok()).or(self.tasks);
        self.segments = whole("segcnt").and_then(|segments| u32::try_from(segments).ok()).or(self.segments);
        self.transfer = whole("xsize").or(self.transfer);
        self.aggregate = whole("aggsize").or(self.aggregate);
        self.api = self.api.take().or_else(|| of("API").map(str::to_owned));
    }

    /// The mean latency of a transfer in nanoseconds, from the printed one and the rate in bytes a second. Where the number of
    /// segments is unknown, a latency that needs more than 1.5 times as many tasks (Little's law) is left out: two segments
    /// double the printed one.
    fn of_transfer(&self, printed: f64, rate: f64) -> Option<f64> {
        if let Some(segments) = self.segments.filter(|segments| *segments > 0) {
            return Some(printed / f64::from(segments));
        }
        let (tasks, transfer) = (f64::from(self.tasks?), self.transfer? as f64);
        (printed * rate / transfer <= 1.5e9 * tasks).then_some(printed)
    }
}

/// Takes an option: `api : POSIX` of version 4, `api = POSIX` of version 3; whether it is known.
fn option(parsed: &mut Parsed, report: &mut Report, name: &str, value: &str) -> bool {
    let size = || {
        let found = SIZE.captures(value)?;
        Some((found[1].parse::<f64>().ok()? * unit(&found[2], Base::Binary)?) as u64)
    };
    match name {
        "Command line" | "Command line used" => parsed.command = Some(value.to_owned()),
        "Began" => report.created = date::of_ctime(value),
        "Machine" => report.host.hostname = value.strip_prefix("Linux ").map(str::to_owned),
        "Path" => report.medium.path = value.to_owned(),
        "test filename" if report.medium.path.is_empty() => report.medium.path = value.to_owned(),
        "api" => parsed.api = Some(value.to_owned()),
        "ordering in a file" => parsed.random = Some(value.starts_with("random")),
        "tasks" => parsed.tasks = value.parse().ok(),
        // `16 (8 per node)`.
        "clients" => parsed.tasks = value.split(' ').next().and_then(|tasks| tasks.parse().ok()),
        "segments" => parsed.segments = value.parse().ok(),
        "xfersize" => parsed.transfer = size(),
        "aggregate filesize" => parsed.aggregate = size(),
        "Commencing write performance test" | "Commencing read performance test" => {
            report.created = report.created.take().or_else(|| date::of_ctime(value));
        }
        _ => return false,
    }
    true
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
        let (rates, latencies) = (&parsed.rates[which], &parsed.latencies[which]);
        let iterations = |rates: &[f64]| match u32::try_from(rates.len()) {
            Ok(1) | Err(_) => Statistic::One,
            Ok(runs) => Statistic::MeanOf(runs),
        };
        let of_tests = |(mean, runs)| (mean, if runs > 1 { Statistic::MeanOf(runs) } else { Statistic::One });
        let rate = mean(rates).map(|rate| (rate, iterations(rates))).or(parsed.means[which].map(of_tests));
        let Some((rate, statistic)) = rate.or(parsed.best[which].map(|best| (best, Statistic::BestOf(None)))) else {
            continue;
        };
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
        figure.latency_ns.mean = mean(latencies).and_then(|printed| parsed.of_transfer(printed, rate));
        if op == Op::Write && (at_end || each == Some(true)) {
            figure.durable_bytes_per_second = Some(rate);
        }
        figure.statistic = statistic;
        report.figures.push(figure);
    }
}

fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}
