//! bonnie++ 1.03 to 2.00: its table and its line of CSV, which follows the table and says the same more precisely.
//!
//! Fields: bon_csv2html(1) of 1.03, 1.97 and 1.98: format 1.98 has two more, seeks and their processes, before the figures.
//! `K` is 1024 bytes, in the table of version 2 `k`, `m` and `g` are powers of it. Where a test
//! was too quick to be timed there is `+++++`. Per-character and rewrite figures are no load of one kind, and seeks read
//! a block and write every tenth again: they are scores, as are the rates of files.

use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::{Contradiction, Finding, Missing, Place, RowFlaw, SourceQuantity};
use assay_core::record::Score;
use assay_core::workload::{Op, Pattern};

use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// bonnie++.
pub(crate) struct Bonnie;

const NAME: &str = "bonnie++";
/// Size of a block where none is printed behind that of the test (bonnie++(8), `-s`).
const DEFAULT_BLOCK: u64 = 8192;
/// Lines of a table of one row with its line of CSV.
const LONGEST: usize = 16;
/// Figures of a row of a run with `-f`, with the load of the processor, and fewest blanks where it leaves those of
/// characters out.
const SHORT: usize = 8;
const LEAST_GAP: usize = 8;
/// What a table may differ by from its line of CSV: version 2 rounds to two digits.
const ROUNDED: f64 = 0.05;
/// What the rates are, in the order of the columns.
const RATES: [&str; 6] =
    ["characters written", "blocks written", "blocks rewritten", "characters read", "blocks read", "seeks"];

/// Versions up to 1.02 print their number alone: `1.02b           ------Sequential Output------`.
static HEAD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:Version +)?([0-9]+\.[0-9.]+[a-z]?) +-+Sequential Output-+ +-+Sequential Input-"));
/// The same without the column of version and machine, as people cut it out.
static NAMELESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^-+Sequential Output-+ +-+Sequential Input-+(?: +-+Random-+)?$"));
static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\d+)([MGT]?)(?::(\d+)([kK]?))?$"));
/// From version 1.9 on: versions of the format and of the program, machine, threads.
static NEW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:1\.9\d|2\.\d+)[a-z]?,(?:1\.9\d|2\.\d+)[a-z]?,[^,]*,\d+,\d*,[0-9MGTk:]+,"));
/// Version 1.03: machine, size, six figures with the load of the processor.
static OLD: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^[^,\s]+,\d+[MG](?::\d+k?)?,(?:(?:\d+|\+{5})?,(?:\d+|\+{3})?,){5}(?:[0-9.]+|\+{5})?,(?:\d+|\+{3})?,")
});

/// Where the fields of a line are.
#[derive(Debug)]
struct Layout {
    /// Whether the line has version, threads, block size and longest operations.
    new: bool,
    name: usize,
    size: usize,
    /// The first figure, and that of files.
    first: usize,
    files: usize,
    /// The first of the longest operations.
    longest: usize,
    /// How many fields there are.
    fields: usize,
}

const FORMAT_1: Layout = Layout { new: false, name: 0, size: 1, first: 2, files: 15, longest: 27, fields: 27 };
/// From 1.90 to 1.97.
const FORMAT_2: Layout = Layout { new: true, name: 2, size: 5, first: 7, files: 24, longest: 36, fields: 48 };
/// From 1.98 on.
const FORMAT_1_98: Layout = Layout { new: true, name: 2, size: 5, first: 9, files: 26, longest: 38, fields: 50 };

const FILES: [&str; 6] =
    ["sequential create", "sequential stat", "sequential delete", "random create", "random stat", "random delete"];

/// What a table or a line tells, by name.
#[derive(Debug, Default)]
struct Parsed {
    version: Option<String>,
    machine: Option<String>,
    threads: Option<u32>,
    size: Option<u64>,
    block: Option<u64>,
    /// Bytes per second of characters written, blocks written, rewritten, characters read, blocks read; seeks/s.
    rates: [Option<f64>; 6],
    /// Longest operation of each, in nanoseconds.
    longest: [Option<f64>; 6],
    files: [Option<f64>; 6],
    /// Whether fields are missing at its end.
    cut: bool,
    /// Whether its row has no figures of characters.
    short: bool,
    /// How a table contradicts its line of CSV, or a line itself.
    wrong: Option<Contradiction>,
    /// Whether a figure of its row is no number.
    unread: bool,
}

/// A row of a table, with the rows of latencies and files below it.
#[derive(Debug)]
struct BonnieRow {
    parsed: Parsed,
    /// Its first line, and the one behind its last.
    from: usize,
    end: usize,
    /// Whether its line of CSV was read.
    exact: bool,
}

impl Format for Bonnie {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["bonnie", "sequential output", "sequential input", "-per chr-", "--seeks--", "%cp"]
    }

    fn needs(&self) -> &'static str {
        "its heading with `Sequential Output`, or its line of CSV"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at).trim();
        line.contains("Sequential Output") && (HEAD.is_match(line) || is_nameless(text, at)) || is_csv(line)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let first = text.line(at).trim();
        let rows = match (csv(first), HEAD.captures(first)) {
            (Some(parsed), _) => vec![BonnieRow { parsed, from: at, end: at + 1, exact: true }],
            (None, Some(head)) => table(text, at, Some(&head[1])),
            (None, None) if is_nameless(text, at) => table(text, at, None),
            (None, None) => Vec::new(),
        };
        let mut section =
            Section { end: rows.iter().map(|row| row.end).fold(at + 1, usize::max), ..Section::default() };
        let several = rows.len() > 1;
        for row in rows {
            let mut report = report(row.parsed);
            if several {
                // Each is a run of its own, whatever its size.
                (report.lines, report.begins) = (Some((row.from, row.end)), true);
            }
            section.reports.extend(Some(report).filter(|report| !report.is_empty()));
        }
        if section.reports.is_empty() {
            return Section::nothing(section.end, text.number(at), "a table of bonnie++ without a figure");
        }
        section
    }
}

/// Whether line `at` is a heading without version and machine, with one that names the columns below it. People who make it
/// again name one of them twice: the row has as many figures as it has.
fn is_nameless(text: &Text, at: usize) -> bool {
    NAMELESS.is_match(text.line(at).trim())
        && (at + 1..at + 4).any(|next| {
            let words: Vec<&str> = text.line(next).split_whitespace().collect();
            words.first() == Some(&"Size") && words.last() == Some(&"%CP") && matches!(words.len(), 13 | 15)
        })
}

/// The rows of the table whose heading is line `at`, each with its line of CSV, where that follows.
fn table(text: &Text, at: usize, version: Option<&str>) -> Vec<BonnieRow> {
    let nameless = is_nameless(text, at);
    let mut rows: Vec<BonnieRow> = Vec::new();
    let (mut files, mut threads) = (false, None);
    let mut number = at;
    while number + 1 < text.len().min(at + LONGEST + rows.len()) {
        number += 1;
        let (line, end) = (text.line(number).trim(), number + 1);
        if HEAD.is_match(line) || NAMELESS.is_match(line) {
            break;
        }
        if let Some(found) = csv(line) {
            if rows.is_empty() {
                rows.push(BonnieRow { parsed: Parsed::default(), from: at, end, exact: false });
            }
            let Some(row) = take(&mut rows, found) else { break };
            row.end = end;
            if rows.len() == 1 {
                break;
            }
            continue;
        }
        files |= line.contains("Sequential Create");
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('*')).collect();
        if words.first() == Some(&"Latency") {
            if let Some(row) = rows.last_mut() {
                row.end = end;
                if !files {
                    latencies(&mut row.parsed, &words);
                }
            }
        } else if let ["Concurrency", count, ..] = words.as_slice() {
            threads = count.parse().ok();
        } else if files {
            // A row of files looks like one of rates, its number of files like a machine.
            if let Some(row) = row_of_files(&mut rows, &words) {
                row.end = row.end.max(end);
            }
        } else if let Some(parsed) = row(&words, nameless).or_else(|| row_below(&rows, text.line(number), &words)) {
            let last = || (number + 1..text.len()).all(|line| text.line(line).trim().is_empty());
            let cut = parsed.short && !has_gap(line, &words) && last();
            let parsed = Parsed { version: version.map(str::to_owned), threads, cut, ..parsed };
            let from = if rows.is_empty() { at } else { number };
            rows.push(BonnieRow { parsed, from, end, exact: false });
        }
    }
    rows
}

/// Gives a row its line of CSV, and says what of the two contradicts: the only row, or of several the one of the same
/// machine. Where machine and figures are others, it is the line of another run.
fn take(rows: &mut [BonnieRow], mut found: Parsed) -> Option<&mut BonnieRow> {
    let only = rows.len() == 1;
    let row = rows.iter_mut().find(|row| !row.exact && (only || row.parsed.machine == found.machine))?;
    let wrong = contradiction(&row.parsed, &found);
    if wrong.is_some() && row.parsed.machine != found.machine {
        return None;
    }
    found.wrong = found.wrong.or(wrong);
    // Lines of version 1.03 do not have it.
    found.version = found.version.or(row.parsed.version.take());
    (row.parsed, row.exact) = (found, true);
    Some(row)
}

/// The first rate of a table that its line of CSV has otherwise.
fn contradiction(table: &Parsed, line: &Parsed) -> Option<Contradiction> {
    RATES.iter().zip(table.rates).zip(line.rates).find_map(|((what, table), line)| {
        let (table, line) = (table?, line?);
        let differs = (table - line).abs() > table.max(line) * ROUNDED;
        let quantity = if *what == "seeks" { SourceQuantity::Seeks } else { SourceQuantity::BytesPerSecond };
        differs.then(|| Contradiction::places(quantity, what, (Place::Table, table), (Place::Csv, line)))
    })
}

fn is_csv(line: &str) -> bool {
    line.matches(',').count() >= 12 && (NEW.is_match(line) || OLD.is_match(line))
}

/// A row of the table: machine, size, and six figures with the load of the processor. With `-f` there are no figures of
/// characters, and their columns are blank.
fn row(words: &[&str], nameless: bool) -> Option<Parsed> {
    let all: [(usize, &[usize]); 2] = [(12, &[0, 1, 2, 3, 4, 5]), (SHORT, &[1, 2, 4, 5])];
    for (count_of, places) in all {
        let Some((head, values)) = words.len().checked_sub(count_of).and_then(|at| words.split_at_checked(at)) else {
            continue;
        };
        let named = match head {
            [only] if nameless => size(only).map(|size| (None, size)),
            _ if nameless => None,
            _ => machine(head).map(|(name, size)| (Some(name).filter(|name| !name.is_empty()), size)),
        };
        let Some((name, (bytes, block))) = named else { continue };
        // With blanks in its name any words may look like a machine and a size.
        let figures = values.iter().filter(|value| is_figure(value)).count();
        if figures == 0 || !nameless && head.len() != 2 && figures < values.len() {
            continue;
        }
        // Figures of the test of characters in a row that was wrapped.
        if !nameless && head.iter().all(|word| word.parse::<u64>().is_ok()) {
            continue;
        }
        // A row that was wrapped has fewer figures, and a size before them.
        if values.len() == 8 && head.iter().skip(1).rev().skip(1).any(|word| size(word).is_some()) {
            continue;
        }
        let short = count_of == SHORT;
        let mut parsed = Parsed { machine: name, size: Some(bytes), block, short, ..Parsed::default() };
        for (place, value) in places.iter().zip(values.iter().step_by(2)) {
            parsed.unread |= !is_figure(value);
            if let Some(slot) = parsed.rates.get_mut(*place) {
                *slot = if *place == 5 { count(value) } else { kibibytes(value) };
            }
        }
        return Some(parsed);
    }
    None
}

/// Whether the columns of characters are blank in a row that has no figures for them: where the text ends with a row
/// without that gap, it may be one that was cut off.
fn has_gap(line: &str, words: &[&str]) -> bool {
    let size = words.len().checked_sub(SHORT + 1).and_then(|at| words.get(at));
    let behind = size.and_then(|size| line.find(size).and_then(|at| line.get(at + size.len()..)));
    behind.is_some_and(|behind| behind.len() - behind.trim_start_matches([' ', '*']).len() >= LEAST_GAP)
}

/// A row without machine and size is of those of the row above.
fn row_below(rows: &[BonnieRow], line: &str, words: &[&str]) -> Option<Parsed> {
    let above = &rows.last()?.parsed;
    // The rest of a row that was wrapped has no blanks before it.
    if !line.starts_with("    ") || words.len() != 12 || !words.iter().all(|word| is_figure(word)) {
        return None;
    }
    let size = format!("{}M", above.size? >> 20);
    let words: Vec<&str> = [size.as_str()].into_iter().chain(words.iter().copied()).collect();
    let parsed = row(&words, true)?;
    Some(Parsed { machine: above.machine.clone(), size: above.size, block: above.block, ..parsed })
}

/// The name of a machine, which may have blanks, and the size behind it. A name that fills its column has none before
/// the size: `Raid0 (8 disk)15744M`; where it ends is certain behind a bracket only.
fn machine(words: &[&str]) -> Option<(String, (u64, Option<u64>))> {
    let (last, name) = words.split_last()?;
    // `Name:Size etc` of version 2: `host:48G:4k`, without a name `48G:4k::65536`.
    if name.is_empty() && last.contains(':') {
        let parts: Vec<&str> = last.split(':').collect();
        let at = parts.iter().position(|part| size(part).is_some() && part.ends_with(['M', 'G', 'T']))?;
        let (bytes, _) = size(parts[at])?;
        let block = parts.get(at + 1).and_then(|block| size(&format!("1M:{block}"))).and_then(|(_, block)| block);
        return Some((parts[..at].join(":"), (bytes, block)));
    }
    if let Some(size) = size(last) {
        return (!name.is_empty()).then(|| (name.join(" "), size));
    }
    let at = last.rfind([')', ']'])? + 1;
    let (glued, behind) = last.split_at_checked(at)?;
    Some((name.iter().copied().chain([glued]).collect::<Vec<_>>().join(" "), size(behind)?))
}

/// Whether a word is a number, or the `+++++` of a test that was too quick.
fn is_figure(word: &str) -> bool {
    let number = word.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']);
    number.parse::<f64>().is_ok() || !word.is_empty() && word.bytes().all(|byte| byte == b'+')
}

/// Reads a row below `Sequential Create`: number of files, and six figures with the load of the processor. It is of the
/// only row of rates, or of the one of the machine that it names.
fn row_of_files<'a>(rows: &'a mut [BonnieRow], words: &[&str]) -> Option<&'a mut BonnieRow> {
    let (name, values) = words.split_at_checked(words.len().checked_sub(13)?)?;
    if !values.first()?.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let row = match (name, rows.len()) {
        ([], 1) => rows.first_mut(),
        ([], _) => None,
        _ => {
            let name = name.join(" ");
            rows.iter_mut().find(|row| row.parsed.machine.as_ref() == Some(&name))
        }
    }?;
    for (slot, value) in row.parsed.files.iter_mut().zip(values.iter().skip(1).step_by(2)) {
        *slot = count(value);
    }
    Some(row)
}

/// The row `Latency`: the longest operation of each test; with `-f` those of characters are not there.
fn latencies(parsed: &mut Parsed, words: &[&str]) {
    let all: Vec<Option<f64>> = words.iter().skip(1).map(|word| nanoseconds(word)).collect();
    if all.len() == parsed.longest.len() {
        parsed.longest.copy_from_slice(&all);
    } else if let ([write, rewrite, read, seeks], None, None) = (all.as_slice(), parsed.rates[0], parsed.rates[3]) {
        parsed.longest = [None, *write, *rewrite, None, *read, *seeks];
    }
}

fn csv(line: &str) -> Option<Parsed> {
    if !is_csv(line) {
        return None;
    }
    let mut fields: Vec<&str> = line.split(',').collect();
    let (layout, wrong) = layout(line, &fields);
    let cut = fields.len() < layout.fields;
    if cut {
        // The last of a line that is cut off may end within a number.
        fields.pop();
    }
    let field = |at: usize| fields.get(at).copied().unwrap_or_default();
    let (size, block) = size(field(layout.size))?;
    let machine = Some(field(layout.name).to_owned()).filter(|name| !name.is_empty());
    let mut parsed = Parsed { machine, size: Some(size), block, cut, wrong, ..Parsed::default() };
    if layout.new {
        parsed.version = Some(field(1).to_owned());
        parsed.threads = field(3).parse().ok();
        parsed.block = block.or_else(|| field(6).parse().ok());
        parsed.longest = [0, 1, 2, 3, 4, 5].map(|at| nanoseconds(field(layout.longest + at)));
    }
    let rate = |at: usize| kibibytes(field(layout.first + 2 * at));
    parsed.rates = [rate(0), rate(1), rate(2), rate(3), rate(4), count(field(layout.first + 10))];
    parsed.files = [0, 1, 2, 3, 4, 5].map(|at| count(field(layout.files + 2 * at)));
    Some(parsed)
}

/// Where the fields of a line are, by the version of its format, and what of them contradicts that: their number, or a
/// time where a rate would be.
fn layout(line: &str, fields: &[&str]) -> (&'static Layout, Option<Contradiction>) {
    if !NEW.is_match(line) {
        return (&FORMAT_1, None);
    }
    let told = fields.first().copied().unwrap_or_default();
    let since_1_98 = !told.starts_with("1.9") || told.starts_with("1.98") || told.starts_with("1.99");
    let (by_version, other) = if since_1_98 { (&FORMAT_1_98, &FORMAT_2) } else { (&FORMAT_2, &FORMAT_1_98) };
    let times = |layout: &Layout| {
        fields.iter().take(layout.longest).skip(layout.first).any(|field| nanoseconds(field).is_some())
    };
    if fields.len() <= by_version.fields && !times(by_version) || fields.len() != other.fields || times(other) {
        return (by_version, None);
    }
    (other, Some(Contradiction::Fields { format: told.to_owned(), fields: fields.len() as u64 }))
}

/// A size in MiB, or with a letter, and that of a block: `64M`, `4G:16k`.
fn size(text: &str) -> Option<(u64, Option<u64>)> {
    let found = SIZE.captures(text)?;
    let shift = match &found[2] {
        "G" => 30,
        "T" => 40,
        _ => 20,
    };
    let block = found.get(3).and_then(|block| block.as_str().parse::<u64>().ok());
    let factor = if found.get(4).is_some_and(|k| !k.as_str().is_empty()) { 1024 } else { 1 };
    let block = block.and_then(|block| block.checked_mul(factor));
    Some((found[1].parse::<u64>().ok()?.checked_mul(1 << shift)?, block))
}

/// `263`, `263k`, `19.3m`: in bytes per second.
fn kibibytes(text: &str) -> Option<f64> {
    let (number, power) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1),
        None => match (text.strip_suffix(['m', 'M']), text.strip_suffix(['g', 'G'])) {
            (Some(number), _) => (number, 2),
            (_, Some(number)) => (number, 3),
            _ => (text, 1),
        },
    };
    number.parse::<f64>().ok().filter(|number| *number > 0.0).map(|number| number * 1024f64.powi(power))
}

fn count(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| *number > 0.0)
}

fn nanoseconds(text: &str) -> Option<f64> {
    let (number, unit) = match (text.strip_suffix("us"), text.strip_suffix("ms")) {
        (Some(number), _) => (number, 1e3),
        (_, Some(number)) => (number, 1e6),
        _ => (text.strip_suffix('s')?, 1e9),
    };
    number.parse::<f64>().ok().map(|number| number * unit)
}

fn report(parsed: Parsed) -> Report {
    let mut report = Report::new(NAME);
    report.version = parsed.version;
    if parsed.cut {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::CutOff } });
    }
    if parsed.unread {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::NoNumber } });
    }
    report.findings.extend(parsed.wrong.map(|contradiction| Finding::SourceContradicts { contradiction }));
    report.host.hostname = parsed.machine;
    let [characters_written, written, rewritten, characters_read, read, seeks] = parsed.rates;
    let [_, longest_write, _, _, longest_read, _] = parsed.longest;
    for (name, op, rate, longest) in [
        ("Sequential Output, Block", Op::Write, written, longest_write),
        ("Sequential Input, Block", Op::Read, read, longest_read),
    ] {
        let Some(rate) = rate else { continue };
        let mut figure = Figure::new(Load {
            pattern: Some(Pattern::Sequential),
            block_bytes: parsed.block.or(Some(DEFAULT_BLOCK)),
            queue_depth: Some(1),
            jobs: parsed.threads,
            span_bytes: parsed.size,
            ..Load::new(name, op)
        });
        figure.bytes_per_second = Some(rate);
        figure.latency_ns.max = longest;
        report.figures.push(figure);
    }
    let mut score = |name: &str, value: Option<f64>, unit: &str| {
        report.scores.extend(value.map(|value| Score {
            name: format!("bonnie++ {name}"),
            value: Estimate::bare(value, 1, "as printed by bonnie++, one run"),
            unit: unit.to_owned(),
            more_is_better: true,
            program: None,
        }));
    };
    score("per character, write", characters_written, "B/s");
    score("rewrite", rewritten, "B/s");
    score("per character, read", characters_read, "B/s");
    score("seeks", seeks, "seeks/s");
    for (name, value) in FILES.iter().zip(parsed.files) {
        score(name, value, "files/s");
    }
    report
}
