//! bonnie++ 1.03 to 2.00: its table and its line of CSV, which follows the table and says the same more precisely.
//!
//! Fields: bon_csv2html(1). `K` is 1024 bytes, in the table of version 2 `k`, `m` and `g` are powers of it. Where a test
//! was too quick to be timed there is `+++++`. Per-character and rewrite figures are no load of one kind, and seeks read
//! a block and write every tenth again: they are scores, as are the rates of files.

use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::record::Score;
use assay_core::workload::{Op, Pattern};

use crate::format::{Format, Section};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Load, Report};
use crate::text::Text;

/// bonnie++.
pub(crate) struct Bonnie;

const NAME: &str = "bonnie++";
/// Size of a block where none is printed behind that of the test (bonnie++(8), `-s`).
const DEFAULT_BLOCK: u64 = 8192;
/// Lines of a table with its line of CSV.
const LONGEST: usize = 16;

static HEAD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^Version +([0-9.]+[a-z]?) +-+Sequential Output-+ +-+Sequential Input-"));
static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\d+)([MGT]?)(?::(\d+)([kK]?))?$"));
/// From version 1.9 on: versions of the format and of the program, machine, threads.
static NEW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:1\.9\d|2\.\d+)[a-z]?,(?:1\.9\d|2\.\d+)[a-z]?,[^,]*,\d+,\d*,[0-9MGTk:]+,"));
/// Version 1.03: machine, size, six figures with the load of the processor.
static OLD: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^[^,\s]+,\d+[MG](?::\d+k?)?,(?:(?:\d+|\+{5})?,(?:\d+|\+{3})?,){5}(?:[0-9.]+|\+{5})?,(?:\d+|\+{3})?,")
});
/// Fields of a line of version 1.03, and at least of later ones.
const OLD_FIELDS: usize = 27;
const NEW_FIELDS: usize = 48;
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
}

impl Format for Bonnie {
    fn name(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> &'static [&'static str] {
        &["bonnie", "sequential output", "sequential input", "-per chr-", "--seeks--", "%cp"]
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at).trim();
        line.contains("Sequential Output") && HEAD.is_match(line) || is_csv(line)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let first = text.line(at).trim();
        let (mut parsed, mut end) = (csv(first), at + 1);
        if let Some(head) = HEAD.captures(first) {
            let mut table = Parsed { version: Some(head[1].to_owned()), ..Parsed::default() };
            let mut files = false;
            for number in at + 1..(at + LONGEST).min(text.len()) {
                let line = text.line(number).trim();
                if HEAD.is_match(line) {
                    break;
                }
                if let Some(found) = csv(line) {
                    parsed = Some(found);
                    end = number + 1;
                    break;
                }
                files |= line.contains("Sequential Create");
                let known = match line.strip_prefix("Latency") {
                    Some(longest) if !files => latencies(&mut table, longest),
                    Some(_) => true,
                    // A row of files looks like one of rates, its number of files like a machine.
                    None if files => row_of_files(&mut table, line),
                    None => row(&mut table, line),
                };
                if known {
                    end = number + 1;
                }
            }
            parsed = parsed.or(Some(table));
        }
        let report = parsed.map(report).filter(|report| !report.is_empty());
        match report {
            Some(report) => Section::of(report, end),
            None => Section::nothing(end, text.number(at), "a table of bonnie++ without a figure"),
        }
    }
}

fn is_csv(line: &str) -> bool {
    line.matches(',').count() >= 12 && (NEW.is_match(line) || OLD.is_match(line))
}

/// A row of the table; `false` where it is none.
fn row(parsed: &mut Parsed, line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((name, rest)) = words.split_first() else { return false };
    let Some((size, block)) = rest.first().and_then(|word| size(word)) else { return false };
    let values: Vec<&str> = rest.iter().skip(1).step_by(2).copied().collect();
    // With -f there are no figures of characters, and their columns are blank.
    let places: &[usize] = match words.len() {
        14 => &[0, 1, 2, 3, 4, 5],
        10 => &[1, 2, 4, 5],
        _ => return false,
    };
    (parsed.machine, parsed.size, parsed.block) = (Some((*name).to_owned()), Some(size), block.or(parsed.block));
    for (place, value) in places.iter().zip(values) {
        let number = if *place == 5 { count(value) } else { kibibytes(value) };
        if let Some(slot) = parsed.rates.get_mut(*place) {
            *slot = number;
        }
    }
    true
}

/// The row below `Sequential Create`: number of files, and six figures with the load of the processor.
fn row_of_files(parsed: &mut Parsed, line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let numbered = words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    if words.len() != 13 || !numbered {
        return false;
    }
    for (slot, value) in parsed.files.iter_mut().zip(words.iter().skip(1).step_by(2)) {
        *slot = count(value);
    }
    true
}

/// The row `Latency`: the longest operation of each test; with `-f` those of characters are not there.
fn latencies(parsed: &mut Parsed, line: &str) -> bool {
    let all: Vec<Option<f64>> = line.split_whitespace().map(nanoseconds).collect();
    if all.len() == parsed.longest.len() {
        parsed.longest.copy_from_slice(&all);
    }
    true
}

fn csv(line: &str) -> Option<Parsed> {
    if !is_csv(line) {
        return None;
    }
    let mut fields: Vec<&str> = line.split(',').collect();
    let cut = fields.len() < if NEW.is_match(line) { NEW_FIELDS } else { OLD_FIELDS };
    if cut {
        // The last of a line that is cut off may end within a number.
        fields.pop();
    }
    let field = |at: usize| fields.get(at).copied().unwrap_or_default();
    let new = NEW.is_match(line);
    // Where the first figure stands, that of files, and how far those of files lie behind it.
    let (name, first, files) = if new { (2, 9, 26) } else { (0, 2, 15) };
    let mut parsed =
        Parsed { machine: Some(field(name).to_owned()).filter(|name| !name.is_empty()), cut, ..Parsed::default() };
    let (size, block) = size(field(if new { 5 } else { 1 }))?;
    (parsed.size, parsed.block) = (Some(size), block);
    if new {
        parsed.version = Some(field(1).to_owned());
        parsed.threads = field(3).parse().ok();
        parsed.block = block.or_else(|| field(6).parse().ok());
        let longest = [38, 39, 40, 41, 42, 43].map(|at| nanoseconds(field(at)));
        parsed.longest = longest;
    }
    let rate = |at: usize| kibibytes(field(first + 2 * at));
    parsed.rates = [rate(0), rate(1), rate(2), rate(3), rate(4), count(field(first + 10))];
    parsed.files = [0, 1, 2, 3, 4, 5].map(|at| count(field(files + 2 * at)));
    Some(parsed)
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
        report.findings.push(Finding::SourceIncomplete { what: "the last fields of a line".to_owned() });
    }
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
