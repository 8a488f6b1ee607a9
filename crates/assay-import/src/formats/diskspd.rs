//! diskspd 2: its text.
//!
//! Shapes: `Common/ResultParser.cpp` of microsoft/diskspd (MIT), as of 2.0.17 to 2.2. Bytes and operations are counted
//! exactly; MiB are 2^20 bytes; latencies are in milliseconds, and there with `-L` alone. A section of reads is there even
//! where nothing was read. Guides show its command and `Total IO` alone, as a table of Markdown.

use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, SourceQuantity, Untold};
use assay_core::record::Score;
use assay_core::workload::{Op, Pattern, Sync};

use crate::command::{commands, continued, is_options};
use crate::date;
use crate::number::{Base, Printed, Told, unit};
use crate::pattern::{Regex, regex};
use crate::reach::is_shortened;
use crate::report::{Figure, Format, Latencies, Load, Report, Section};
use crate::text::{QUOTES, Text};

/// diskspd.
pub(crate) struct Diskspd;

const NAME: &str = "diskspd";
/// Most lines between the command and what follows it.
const MOST_BETWEEN: usize = 12;
/// Most lines from the command that diskspd prints to its results, with what version 2.2 says of the system between.
const MOST_TO_RESULTS: usize = 40;
/// Most lines of a report: hundreds of threads in three sections.
const LONGEST: usize = 20_000;

static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"(\d+) *([KMGTkmgt]?i?B?)\b"));
static FILE: LazyLock<Regex> = LazyLock::new(|| regex(r"\((\d+)([KMGT]i?B)\)\s*$"));
static SHARE: LazyLock<Regex> = LazyLock::new(|| regex(r"ratio: *(\d+)/(\d+)"));

/// What one section counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Total {
    pub(super) bytes: f64,
    pub(super) rate: f64,
    pub(super) iops: f64,
    pub(super) mean_ms: Option<f64>,
    /// What was printed of it, with its rounding.
    pub(super) told: Told,
}

/// What a report tells, in either form.
#[derive(Debug, Clone, Default)]
pub(super) struct Parsed {
    pub(super) pattern: Option<Pattern>,
    pub(super) block: Option<u64>,
    pub(super) depth: Option<u32>,
    pub(super) threads: Option<u32>,
    pub(super) read_percent: Option<u8>,
    pub(super) cached: Option<bool>,
    pub(super) through: bool,
    pub(super) span: Option<u64>,
    pub(super) duration_ns: Option<u64>,
    pub(super) seconds: Option<f64>,
    pub(super) path: Option<String>,
    /// What was done to each target before the last.
    targets: Vec<Target>,
    /// Whether a target was begun; the command names them, too.
    begun: bool,
    pub(super) all: Total,
    pub(super) reads: Total,
    pub(super) writes: Total,
    pub(super) latencies: [Latencies; 3],
    pub(super) complete: bool,
}

/// What is done to a target: pattern, bytes of a block, queue depth and share of reads.
type Target = (Option<Pattern>, Option<u64>, Option<u32>, Option<u8>);

impl Parsed {
    /// Whether the total of a table was read.
    fn has(&self, table: &str) -> bool {
        let told = |total: &Total| total.told != Told::default();
        match table {
            "Total IO" => told(&self.all),
            "Read IO" => told(&self.reads),
            "Write IO" => told(&self.writes),
            _ => false,
        }
    }

    /// A target begins.
    pub(super) fn target(&mut self, path: &str) {
        let before = self.path.take().filter(|_| self.begun);
        self.begun = true;
        self.path = Some(match before {
            None => path.to_owned(),
            Some(before) => {
                self.targets.push(self.done());
                (self.pattern, self.block, self.depth, self.read_percent) = (None, None, None, None);
                format!("{before}, {path}")
            }
        });
    }

    fn done(&self) -> Target {
        (self.pattern, self.block, self.depth, self.read_percent)
    }

    /// Whether a line is the name of one of several targets, which stands above the latencies of it alone.
    fn names(&self, line: &str) -> bool {
        !self.targets.is_empty() && self.path.iter().flat_map(|paths| paths.split(", ")).any(|path| path == line)
    }

    /// Whose latencies stand below a title: of several targets each has a table, and that of all has a title of its own.
    fn latencies_below(&self, title: &str) -> &'static str {
        if self.targets.is_empty() || title == OF_ALL { LATENCIES } else { ONE_TARGET }
    }

    /// Whether the same was done to all targets.
    fn is_one(&self) -> bool {
        self.targets.iter().all(|target| *target == self.done())
    }
}

impl Format for Diskspd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["diskspd", "results for timespan", "input parameters", "total io", "i/o per s", "%-ile"]
    }

    fn needs(&self) -> &'static str {
        "its input parameters above results, or the rows of `Total IO`"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at).trim_start();
        let follows = |most: usize, words: &[&str]| {
            (at + 1..at + most).any(|next| words.iter().any(|word| text.line(next).trim_start().starts_with(word)))
        };
        // Where it is merely mentioned neither parameters nor results follow.
        let commanded = line.starts_with("Command Line: ")
            && line.to_ascii_lowercase().contains("diskspd")
            && follows(
                MOST_TO_RESULTS,
                &["Input parameters:", "Results for timespan", "actual test time:", "Total IO"],
            );
        // Before 2.1 there was no line of the command.
        let parameters = line.trim_end() == "Input parameters:"
            && follows(4, &["timespan:"])
            && !(at.saturating_sub(6)..at).any(|above| text.line(above).trim_start().starts_with("Command Line: "));
        commanded || parameters || is_above_totals(text, at) || is_total(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        let mut parsed = Parsed::default();
        let (mut section, mut table, mut tables, mut columns) = (Section::default(), "", 0, COLUMNS);
        section.end = at + 1;
        // Tables alone: with prose between them, and nothing that says where they end.
        let alone = is_total(text, at);
        let from = if alone { at } else { at + 1 };
        command(&mut parsed, &bare(text, at).unwrap_or_default());
        for number in from..text.len().min(at + LONGEST) {
            let another = match is_total(text, number) {
                true if is_of_rows(text, number) => parsed.has(TABLES[0]),
                true => parsed.has(table_of(text.line(number))),
                false => number > at && self.begins(text, number),
            };
            if another || alone && number > section.end + MOST_BETWEEN {
                break;
            }
            let whole = text.line(number).trim();
            // A row of a table of Markdown begins and ends with a mark.
            let line = bare_row(whole);
            match line {
                _ if !table_of(line).is_empty() => {
                    tables += 1;
                    table = table_of(line);
                    if line.contains('|') {
                        columns = columns_of(line);
                    }
                }
                _ if is_of_rows(text, number) => columns = columns_of_rows(line),
                _ if total_row(line).is_some() => {
                    let (name, cells) = total_row(line).unwrap_or_default();
                    (tables, table) = (tables + 1, name);
                    total(&mut parsed, table, cells, columns);
                }
                OF_ALL => table = LATENCIES,
                _ if line.contains("%-ile") => table = parsed.latencies_below(title_above(text, number)),
                _ if line.starts_with("thread") && line.contains('|') => columns = columns_of(line),
                _ if behind_total(line).is_some() => {
                    total(&mut parsed, table, behind_total(line).unwrap_or_default(), columns);
                }
                // The row of the only thread tells what the missing row of all does.
                _ if parsed.threads == Some(1) && is_only_thread(text, number) => {
                    total(&mut parsed, table, line.split_once('|').map_or("", |(_, cells)| cells), columns);
                }
                _ if table == LATENCIES => percentile(&mut parsed, line),
                // Prose may stand between tables alone.
                _ if !alone => parameter(&mut parsed, &mut report, line),
                _ => {}
            }
            if parsed.span.is_none() {
                parsed.span = FILE
                    .captures(line)
                    .and_then(|size| size[1].parse::<u64>().ok()?.checked_mul(unit(&size[2], Base::Binary)? as u64));
            }
            if if alone { is_of_table(whole) } else { is_its(whole, table) || parsed.names(line) } {
                section.end = number + 1;
            } else if parsed.complete && !line.is_empty() && !latencies_follow(text, number, &parsed) {
                break;
            }
        }
        figures(&mut report, &parsed);
        if report.is_empty() {
            return Section::nothing(section.end, text.number(at), "output of diskspd without a total that moved data");
        }
        if !parsed.complete || parsed.all.bytes <= 0.0 || tables < 3 {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Totals]) });
        }
        section.reports.push(report);
        section
    }
}

/// A line without the marks of a row of Markdown.
fn bare_row(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix('|').map_or(line, |row| row.trim_end_matches('|').trim())
}

/// The table whose heading a line is. In a table of Markdown it may stand where its column of threads does.
fn table_of(line: &str) -> &'static str {
    let row = bare_row(line);
    let (title, columns) = row.split_once('|').unwrap_or((row, ""));
    let same = |table: &str| title.trim() == table || title.trim() == table.replace(' ', "");
    let known = title.contains("IO") && (columns.is_empty() || columns.contains("I/O per s"));
    TABLES.into_iter().find(|table| known && same(table)).unwrap_or_default()
}

const LATENCIES: &str = "latencies";
/// The line above that is not blank.
fn title_above(text: &Text, at: usize) -> &str {
    let above = (at.saturating_sub(MOST_BETWEEN)..at).rev().map(|above| bare_row(text.line(above)));
    above.into_iter().find(|line| !line.is_empty()).unwrap_or_default()
}

/// Those of one of several targets.
const ONE_TARGET: &str = "latencies of a target";
/// What stands above the latencies of all targets.
const OF_ALL: &str = "total:";
const TABLES: [&str; 3] = ["Total IO", "Read IO", "Write IO"];

/// The name and cells of a row of a table that people have made of the totals alone: `|TotalIO| 17179869184 | 262144 | …`.
fn total_row(line: &str) -> Option<(&'static str, &str)> {
    let (title, cells) = bare_row(line).split_once('|').filter(|(title, _)| title.contains("IO"))?;
    let name = TABLES.into_iter().find(|table| table.replace(' ', "") == title.trim().replace(' ', ""))?;
    cells.split('|').next().and_then(|cell| count(cell.trim())).map(|_| (name, cells))
}

/// Whether a line is the heading of such a table.
fn is_of_rows(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    line.contains("I/O per s")
        && line.trim_start_matches(['|', ' ']).starts_with("bytes")
        && (at + 1..at + 3).any(|next| total_row(text.line(next)).is_some())
}

/// Whether a table of totals begins at a line: its columns stand below, by name.
fn is_total(text: &Text, at: usize) -> bool {
    if is_of_rows(text, at) {
        return true;
    }
    let columns = |line: &str| {
        let line = bare_row(line);
        line.starts_with("thread") && line.contains("I/O per s")
    };
    let own = text.line(at).contains("I/O per s");
    !table_of(text.line(at)).is_empty() && (own || (at + 1..at + 4).any(|next| columns(text.line(next))))
}

/// Whether a line is one of a table, of totals or of latencies.
fn is_of_table(line: &str) -> bool {
    !table_of(line).is_empty()
        || line.contains('|')
        || line.starts_with("-----")
        || behind_total(line).is_some()
        || line.starts_with("avg.")
}

/// Whether the table of latencies follows prose in line `at`, and nothing of another run before it.
fn latencies_follow(text: &Text, at: usize, parsed: &Parsed) -> bool {
    let below = (at..text.len().min(at + MOST_BETWEEN)).map(|next| (next, text.line(next).trim()));
    let another = |next: usize, line: &str| {
        is_total(text, next) || bare(text, next).is_some() || line.starts_with("Input parameters:")
    };
    let mut below = below.take_while(|(next, line)| !another(*next, line));
    parsed.latencies.iter().all(|known| *known == Latencies::default()) && below.any(|(_, line)| line.contains("%-ile"))
}

/// Whether a line behind the totals still belongs to the report.
fn is_its(line: &str, table: &str) -> bool {
    table.is_empty()
        || line.contains('|')
        || line.starts_with("---")
        || line.starts_with("total:")
        || ["Total IO", "Read IO", "Write IO", "Total latency", "avg."].iter().any(|start| line.starts_with(start))
}

/// The words behind the name of diskspd in a command that begins in a line, as a user typed them.
fn bare(text: &Text, at: usize) -> Option<Vec<String>> {
    let line = text.line(at);
    // This runs for every line, so it is a cheap test. Users write the name in one of these ways.
    if !["diskspd", "iskSpd", "iskspd", "DISKSPD"].iter().any(|name| line.contains(name)) {
        return None;
    }
    let words = commands(&continued(text, at, at + MOST_BETWEEN, is_options), NAME).pop()?;
    // The line that diskspd prints may name the file first.
    let first = if line.trim_start().starts_with("Command Line: ") { words.len() } else { 1 };
    words.iter().take(first).any(|word| word.starts_with(['-', '/'])).then_some(words)
}

/// Whether a command stands in line `at` and its totals follow, without the command that diskspd prints and the input
/// parameters, at which a report begins otherwise.
fn is_above_totals(text: &Text, at: usize) -> bool {
    let line = text.line(at).trim_start();
    if line.starts_with("Command Line: ") || bare(text, at).is_none() {
        return false;
    }
    let starts = ["Command Line: ", "Input parameters:", "Results for timespan", "actual test time:", "Total IO"];
    let start = |at: &usize, starts: &[&str]| {
        let line = text.line(*at).trim_start();
        !table_of(line).is_empty() || is_of_rows(text, *at) || starts.iter().any(|start| line.starts_with(start))
    };
    let mut next = (at + 1..at + MOST_BETWEEN).filter(|next| bare(text, *next).is_some() || start(next, &starts));
    next.next().is_some_and(|next| start(&next, &starts[2..]))
}

/// The load by the options of a command. The input parameters say the same where they are printed; with `-R` or in a copy
/// they may be missing. Options that are not given have the manual's defaults.
fn command(parsed: &mut Parsed, words: &[String]) {
    let options: Vec<&str> = words.iter().map(String::as_str).filter(|word| word.starts_with(['-', '/'])).collect();
    // Where some were left out, the others are not at their default.
    if options.is_empty() || is_shortened(words) {
        return;
    }
    let of = |letter: char| options.iter().find_map(|word| word[1..].strip_prefix(letter));
    let number = |letter| of(letter).map_or(Some(1), |value| value.parse::<u32>().ok());
    // In blocks where no unit is given.
    parsed.block = of('b').map_or(Some(64 << 10), bytes);
    // -o2 where it is not given.
    parsed.depth = of('o').map_or(Some(2), |value| value.parse().ok());
    // -F are the threads of all targets together.
    parsed.threads = of('F').map_or_else(|| number('t'), |threads| threads.parse().ok()).or(parsed.threads);
    let stride = of('s').map(|stride| stride.is_empty() || stride == "i");
    parsed.pattern = match (of('r'), stride) {
        // -rs mixes random and sequential operations.
        (Some(random), _) => (!random.starts_with('s')).then_some(Pattern::Random),
        (None, Some(false)) => None,
        _ => Some(Pattern::Sequential),
    };
    let writes = of('w').map_or(Some(0), |share| share.parse::<u8>().ok());
    parsed.read_percent = writes.and_then(|writes| 100u8.checked_sub(writes));
    parsed.duration_ns =
        of('d').map_or(Some(10), |value| value.parse::<u64>().ok()).map(|s| s.saturating_mul(1_000_000_000));
    let cache: Vec<&str> = options.iter().filter_map(|word| word[1..].strip_prefix('S')).collect();
    let all = options.iter().any(|word| &word[1..] == "h") || cache.iter().any(|letters| letters.contains('h'));
    let around = all || cache.iter().any(|letters| letters.is_empty() || letters.contains('u'));
    parsed.cached = (!cache.iter().any(|letters| letters.contains(['r', 'm']))).then_some(!around);
    parsed.through = all || cache.iter().any(|letters| letters.contains('w'));
}

fn parameter(parsed: &mut Parsed, report: &mut Report, line: &str) {
    let after = |start: &str| line.strip_prefix(start).map(str::trim);
    if let Some(path) = after("path:") {
        parsed.target(path.trim_matches(QUOTES));
    } else if let Some(seconds) = after("duration:") {
        let seconds = seconds.trim_end_matches('s').parse::<u64>().ok();
        parsed.duration_ns = seconds.and_then(|seconds| seconds.checked_mul(1_000_000_000));
    } else if let Some(size) = after("block size:") {
        parsed.block = bytes(size);
    } else if line.starts_with("using random I/O") {
        parsed.pattern = Some(Pattern::Random);
    } else if line.starts_with("using sequential I/O") || line.starts_with("using interlocked sequential I/O") {
        // A stride that is not the size of a block leaves gaps; it is printed at the end of the line.
        let stride = line.split_once("stride:").and_then(|(_, stride)| bytes(stride));
        parsed.pattern = (stride.is_none() || stride == parsed.block).then_some(Pattern::Sequential);
    } else if let Some((_, depth)) =
        line.strip_prefix("number of outstanding I/O operations").and_then(|l| l.split_once(':'))
    {
        parsed.depth = depth.trim().parse().ok();
    } else if let Some(threads) = after("thread count:") {
        parsed.threads = threads.parse().ok();
    } else if let Some(seconds) = after("actual test time:") {
        parsed.seconds = seconds.trim_end_matches('s').parse().ok();
    } else if line.starts_with("performing read test") {
        parsed.read_percent = Some(100);
    } else if line.starts_with("performing write test") {
        parsed.read_percent = Some(0);
    } else if let Some(share) = SHARE.captures(line) {
        parsed.read_percent = share[1].parse().ok();
    } else if let Some(name) = after("computer name:") {
        report.host.hostname = Some(name.to_owned()).filter(|name| !name.is_empty());
    } else if let Some(time) = after("start time:") {
        report.created = date::of_digits(time);
    } else if line.starts_with("software cache disabled") {
        parsed.cached = Some(false);
    } else if line.starts_with("using software cache") || line.starts_with("software and hardware ") {
        parsed.cached = Some(line.starts_with("using software"));
        parsed.through |= line.contains("hardware write cache disabled") || line.contains("hardware cache disabled");
    } else if line.starts_with("hardware write cache disabled")
        || line.starts_with("using hardware write cache, writethrough on")
    {
        parsed.through = true;
    }
    if line.contains("writethrough on") {
        parsed.through = true;
    }
}

/// `4096`, `4KiB`, `64K`.
fn bytes(text: &str) -> Option<u64> {
    let found = SIZE.captures(text)?;
    // Options have small letters too.
    let mut name = if found[2].len() == 1 { found[2].to_uppercase() } else { found[2].to_owned() };
    if !name.ends_with('B') {
        name.push('B');
    }
    found[1].parse::<u64>().ok()?.checked_mul(unit(&name, Base::Binary)? as u64)
}

/// Columns of bytes, operations, MiB/s, operations per second and the mean latency behind that of the thread.
type Columns = [Option<usize>; 5];
const COLUMNS: Columns = [Some(0), Some(1), Some(2), Some(3), Some(4)];

/// The columns by their heading: `-D` without `-L` prints another column instead of the latency.
fn columns_of(line: &str) -> Columns {
    let heads: Vec<String> = line.split('|').skip(1).map(|head| head.trim().to_ascii_lowercase()).collect();
    let of = |names: &[&str]| heads.iter().position(|head| names.contains(&head.as_str()));
    [of(&["bytes"]), of(&["i/os"]), of(&["mib/s", "mb/s"]), of(&["i/o per s"]), of(&["avglat"])]
}

/// The same where the cell above the names of rows is empty.
fn columns_of_rows(line: &str) -> Columns {
    columns_of(&format!("|{}", line.trim_start_matches(['|', ' '])))
}

/// The figures of a row of totals.
fn behind_total(line: &str) -> Option<&str> {
    let (word, rest) = line.split_at_checked("total:".len())?;
    word.eq_ignore_ascii_case("total:").then(|| rest.trim_start().trim_start_matches('|'))
}

/// Whether a row is that of the first thread, and neither another thread nor the total stands below.
fn is_only_thread(text: &Text, at: usize) -> bool {
    let is_row = |line: &str| {
        line.split_once('|').is_some_and(|(thread, _)| thread.trim().parse::<u32>().is_ok())
            || behind_total(line).is_some()
    };
    let first = bare_row(text.line(at)).split_once('|').is_some_and(|(thread, _)| thread.trim() == "0");
    let mut below = (at + 1..at + 4).map(|next| text.line(next)).take_while(|line| table_of(line).is_empty());
    first && !below.any(|line| is_row(bare_row(line)))
}

/// A whole number, whose thousands people have divided to read it.
fn count(cell: &str) -> Option<f64> {
    let divided = |mark: char| {
        let mut parts = cell.split(mark);
        let first = parts.next().is_some_and(|part| (1..=3).contains(&part.len()));
        (first && cell.contains(mark) && parts.all(|part| part.len() == 3)).then(|| cell.replace(mark, ""))
    };
    let plain = divided('.').or_else(|| divided(',')).unwrap_or_else(|| cell.to_owned());
    plain.parse::<u64>().ok().map(|number| number as f64)
}

fn total(parsed: &mut Parsed, table: &str, cells: &str, columns: Columns) {
    let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
    let cell = |at: usize| cells.get(columns[at]?).copied();
    let number = |at: usize| cell(at)?.parse::<f64>().ok();
    let [bytes, operations] = [0, 1].map(|at| cell(at).and_then(count));
    let (Some(bytes), Some(mib), Some(iops)) = (bytes, number(2), number(3)) else { return };
    let mean_ms = number(4);
    // Printed to two digits: bytes by time is finer, where it agrees.
    let finer = parsed.seconds.filter(|seconds| *seconds > 0.0).map(|seconds| bytes / seconds);
    let printed = mib * 1_048_576.0;
    let rate = finer.filter(|finer| (finer - printed).abs() < 0.006 * 1_048_576.0).unwrap_or(printed);
    let told = Told {
        rate: Some(Printed { value: mib, step: 0.01 }.times(1_048_576.0)),
        iops: Some(Printed { value: iops, step: 0.01 }),
        bytes: Some(Printed::exact(bytes)),
        operations: operations.map(Printed::exact),
        seconds: parsed.seconds.map(|value| Printed { value, step: 0.01 }),
    };
    let total = Total { bytes, rate, iops, mean_ms: mean_ms.filter(|ms| *ms > 0.0), told };
    match table {
        "Total IO" => parsed.all = total,
        "Read IO" => parsed.reads = total,
        "Write IO" => {
            parsed.writes = total;
            parsed.complete = true;
        }
        _ => {}
    }
}

fn percentile(parsed: &mut Parsed, line: &str) {
    let mut parts = line.split('|').map(str::trim);
    let Some(name) = parts.next() else { return };
    for (latencies, value) in parsed.latencies.iter_mut().zip(parts) {
        let value = value.parse::<f64>().ok().filter(|ms| *ms > 0.0).map(|ms| ms * 1e6);
        match name {
            "50th" => latencies.p50 = value,
            "90th" => latencies.p90 = value,
            "99th" => latencies.p99 = value,
            "3-nines" => latencies.p99_9 = value,
            "max" => latencies.max = value,
            _ => {}
        }
    }
}

pub(super) fn figures(report: &mut Report, parsed: &Parsed) {
    let reads = parsed.reads.bytes > 0.0;
    let writes = parsed.writes.bytes > 0.0;
    let sum = Total {
        bytes: parsed.reads.bytes + parsed.writes.bytes,
        rate: parsed.reads.rate + parsed.writes.rate,
        iops: parsed.reads.iops + parsed.writes.iops,
        mean_ms: None,
        told: Told::LOOKED_AT,
    };
    // Where only the totals of both are there, the options say what they are of.
    let alone = !reads && !writes && !parsed.complete && parsed.targets.is_empty() && parsed.all.bytes > 0.0;
    let (op, total, latencies) = match (reads, writes) {
        (true, true) if parsed.all.bytes <= 0.0 => (Op::Mixed, sum, Latencies::default()),
        (true, true) => (Op::Mixed, parsed.all, parsed.latencies[2]),
        (true, false) => (Op::Read, parsed.reads, parsed.latencies[0]),
        (false, true) => (Op::Write, parsed.writes, parsed.latencies[1]),
        (false, false) => match parsed.read_percent.filter(|_| alone) {
            Some(100) => (Op::Read, parsed.all, parsed.latencies[2]),
            Some(0) => (Op::Write, parsed.all, parsed.latencies[2]),
            Some(_) => (Op::Mixed, parsed.all, parsed.latencies[2]),
            None => {
                if alone {
                    // Whether it read or wrote nothing tells.
                    report.find(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Direction { taken: None } });
                    report.score("diskspd total", parsed.all.rate, "B/s", true);
                    report.score("diskspd operations", parsed.all.iops, "IOPS", true);
                }
                return;
            }
        },
    };
    report.medium.path = parsed.path.clone().unwrap_or_default();
    if reads && writes {
        // Halves of a mix are no loads of their own.
        for (name, half) in [("reads of the mix", parsed.reads), ("writes of the mix", parsed.writes)] {
            report.scores.push(Score {
                name: format!("{NAME}: {name}"),
                value: Estimate::bare(half.rate, 1, "as printed by diskspd, one run"),
                unit: "B/s".to_owned(),
                more_is_better: true,
                program: None,
            });
        }
    }
    let told = parsed.reads.bytes + parsed.writes.bytes;
    if !alone && parsed.all.bytes > 0.0 && (parsed.all.bytes - told).abs() > parsed.all.bytes * 1e-3 {
        let (all, sum) = ((Place::Summary, parsed.all.bytes), (Place::Sum, told));
        let contradiction = Contradiction::places(SourceQuantity::Bytes, "", all, sum);
        report.findings.push(Finding::SourceContradicts { contradiction });
    }
    let share = parsed.reads.iops / sum.iops * 100.0;
    // Of several targets that differ no load is that of all.
    let one = parsed.is_one();
    let mut figure = Figure::new(Load {
        read_percent: (op == Op::Mixed).then(|| parsed.read_percent.filter(|_| one).unwrap_or(share.round() as u8)),
        pattern: parsed.pattern.filter(|_| one),
        block_bytes: parsed.block.filter(|_| one),
        queue_depth: parsed.depth.filter(|_| one),
        jobs: parsed.threads,
        span_bytes: parsed.span.filter(|_| parsed.targets.is_empty()),
        direct: parsed.cached.map(|cached| !cached),
        sync: match (op, parsed.through) {
            (Op::Read, _) => Some(Sync::End),
            // Each write is durable before it is done, as with a sync of its data behind it.
            (_, true) => Some(Sync::Fdatasync),
            (_, false) => parsed.cached.map(|_| Sync::End),
        },
        duration_ns: parsed.duration_ns,
        ..Load::new(NAME, op)
    });
    figure.bytes_per_second = Some(total.rate);
    figure.iops = Some(total.iops);
    figure.told = total.told;
    if op == Op::Mixed {
        let halves = [parsed.reads, parsed.writes].map(|half| half.told.contradiction(figure.load.block_bytes));
        figure.findings.extend(halves.into_iter().flatten());
    }
    figure.durable_bytes_per_second = (op != Op::Read && parsed.through).then_some(total.rate);
    figure.latency_ns = Latencies { mean: total.mean_ms.map(|ms| ms * 1e6), ..latencies };
    report.figures.push(figure);
}
