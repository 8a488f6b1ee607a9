//! `rados bench` of Ceph: writes and reads of objects in a pool.
//!
//! Lines and units as its source prints them (`src/common/obj_bencher.cc` of <https://github.com/ceph/ceph>): `Bandwidth (MB/sec)`
//! is of 2^20 bytes, latencies are seconds, `Average IOPS` is cut off to whole ones, so operations are computed from their number
//! and the time. 16 operations are under way unless `-t` says otherwise. Each write makes an object of its own; `seq` reads them
//! in the order of their making. With `--show-time` the time stands before its lines, of the summary before the first alone.
//! Its JSON (`--format json`) has the same names in small letters, as logs of Python print it too.

use std::sync::LazyLock;

use assay_core::finding::{Finding, Missing};
use assay_core::units::MIB;
use assay_core::workload::{Op, Pattern};

use crate::command::{commands_above, option_size, option_value};
use crate::number::{Printed, printed};
use crate::pattern::{Regex, regex};
use crate::reach::is_shortened;
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// rados bench.
pub(crate) struct RadosBench;

const NAME: &str = "rados bench";
/// Most lines of a summary.
const LONGEST: usize = 30;
/// Most lines of progress between the command and the summary: one a second.
const MOST_ABOVE: usize = 4_000;
/// Lines above a summary among which a command stands that people show without its progress.
const NEAR: usize = 12;
/// What is under way where no option says otherwise.
const USUAL: u32 = 16;

static FIRST: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:\d{4}-\S+ )?Total time run: +([0-9.]+)(?: ?s(?:ec)?)?$"));
static ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:\d{4}-\S+ )?([A-Z][A-Za-z ]+?) ?(?:\([A-Za-z/]+\))?: +([0-9.e+-]+)(?: ?s(?:ec)?)?$"));
static MADE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:\d{4}-\S+ )?Maintaining (\d{1,6}) concurrent (writes|reads) (?:of (\d+) bytes|from)"));

/// A number of its JSON, which versions put in quotation marks: one that is cut off has nothing behind it.
static VALUE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"["']([a-z_]+)["'] ?: ?(?:["']([0-9][0-9.e+-]*)["']|([0-9][0-9.e+-]*) ?[,}])"#));

impl Format for RadosBench {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "rados bench",
            "total writes made",
            "total reads made",
            "total time run",
            "bandwidth (mb/sec)",
            "total_time_run",
        ]
    }

    fn needs(&self) -> &'static str {
        "its summary from `Total time run` on"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let counts = |line: &str| line.contains("total_writes_made") || line.contains("total_reads_made");
        if let Some(from) = json(text.long_line(at)) {
            return counts(&text.long_line(at)[from..]) || counts(text.line(at + 1));
        }
        is_first(text.line(at))
            && (at + 1..at + 3).any(|next| {
                let line = text.line(next).trim();
                line.starts_with("Total writes made:") || line.starts_with("Total reads made:")
            })
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut summary = Summary::default();
        let mut end = at + 1;
        let document = json(text.long_line(at));
        for number in at..text.len().min(at + LONGEST) {
            if let Some(from) = document {
                let line = &text.long_line(number)[if number == at { from } else { 0 }..];
                if number > at && !VALUE.is_match(line) {
                    break;
                }
                values(line).for_each(|(name, value)| summary.take(name, value));
                end = number + 1;
                continue;
            }
            // People explain lines behind a `#`.
            let line = text.line(number).split(" #").next().unwrap_or_default().trim();
            if number > at && is_first(line) {
                break;
            }
            if let Some(row) = ROW.captures(line) {
                end = number + 1;
                summary.take(&row[1], &row[2]);
            } else if !line.is_empty() {
                break;
            }
        }
        let asked = Asked::above(text, at, summary.op == Some(Op::Write));
        match summary.figure(&asked) {
            Some(figure) => {
                let mut report = Report::new(NAME);
                if let Some(pool) = asked.pool {
                    report.labels.insert("pool".to_owned(), pool);
                }
                if summary.latency[0].is_none() {
                    report.find(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
                }
                report.figures.push(figure);
                Section::from_report(report, end)
            }
            None => Section::nothing(end, text.number(at), "a summary of rados bench without a rate"),
        }
    }
}

fn is_first(line: &str) -> bool {
    line.contains("Total time run:") && FIRST.is_match(line.split(" #").next().unwrap_or_default().trim())
}

/// Where the summary begins in a line of JSON.
fn json(line: &str) -> Option<usize> {
    line.find("\"total_time_run\"").or_else(|| line.find("'total_time_run'"))
}

/// The names and numbers of a line of JSON.
fn values(line: &str) -> impl Iterator<Item = (&str, &str)> {
    VALUE
        .captures_iter(line)
        .filter_map(|value| Some((value.get(1)?, value.get(2).or(value.get(3))?)))
        .map(|(name, value)| (name.as_str(), value.as_str()))
}

#[derive(Debug, Default)]
struct Summary {
    op: Option<Op>,
    seconds: Option<Printed>,
    operations: Option<Printed>,
    block: Option<u64>,
    /// Whether a row follows that of the size, which may be cut off otherwise.
    sized: bool,
    rate: Option<Printed>,
    /// Mean and longest, in nanoseconds.
    latency: [Option<f64>; 2],
}

impl Summary {
    fn take(&mut self, name: &str, value: &str) {
        let number = || printed(value).filter(|number| number.value > 0.0);
        let nanoseconds = || number().map(|seconds| seconds.value * 1e9);
        self.sized |= self.block.is_some();
        match name.to_lowercase().replace('_', " ").as_str() {
            "total time run" => self.seconds = number(),
            "total writes made" => (self.op, self.operations) = (Some(Op::Write), number()),
            "total reads made" => (self.op, self.operations) = (Some(Op::Read), number()),
            // An operation is of this size, an object may hold several.
            "write size" | "read size" => self.block = value.parse().ok().filter(|bytes| *bytes > 0),
            "bandwidth" => self.rate = number().map(|rate| rate.times(MIB as f64)),
            "average latency" => self.latency[0] = nanoseconds(),
            "max latency" => self.latency[1] = nanoseconds(),
            _ => {}
        }
    }

    fn figure(&self, asked: &Asked) -> Option<Figure> {
        let op = self.op?;
        let pattern = asked.pattern.filter(|_| op == Op::Read);
        let name = match (op, pattern) {
            (Op::Write, _) => "write",
            (_, Some(Pattern::Random)) => "rand",
            (_, Some(_)) => "seq",
            _ => "read",
        };
        let load = Load {
            pattern,
            block_bytes: self.block.filter(|_| self.sized).or(asked.block),
            queue_depth: asked.concurrent,
            jobs: Some(1),
            ..Load::new(&format!("rados {name}"), op)
        };
        let mut figure = Figure::new(load);
        figure.rate(self.rate);
        figure.told.operations = self.operations;
        figure.told.seconds = self.seconds;
        figure.iops = self.operations.zip(self.seconds).map(|(count, time)| count.value / time.value);
        (figure.latency_ns.mean, figure.latency_ns.max) = (self.latency[0], self.latency[1]);
        figure.bytes_per_second.or(figure.iops)?;
        Some(figure)
    }
}

/// What the command above says, and the line that the tool begins with.
#[derive(Debug, Default)]
struct Asked {
    concurrent: Option<u32>,
    pattern: Option<Pattern>,
    block: Option<u64>,
    pool: Option<String>,
}

impl Asked {
    fn above(text: &Text, at: usize, writes: bool) -> Self {
        let mut asked = Self::default();
        let mut from = at.saturating_sub(NEAR);
        if let Some(document) = json(text.long_line(at)) {
            let lines = (at.saturating_sub(MOST_ABOVE)..at).rev().map(|number| text.long_line(number));
            let lines = lines.take_while(|line| json(line).is_none());
            asked.concurrent = std::iter::once(&text.long_line(at)[..document]).chain(lines).find_map(|line| {
                let found = values(line).find(|(name, _)| *name == "concurrent_ios");
                found.and_then(|(_, value)| value.parse().ok())
            });
        }
        // Up to the command of this run its progress stands, and no other summary.
        for number in (at.saturating_sub(MOST_ABOVE)..at).rev() {
            let line = text.line(number).trim();
            if is_first(line) || json(text.long_line(number)).is_some() {
                from = from.max(number + 1);
                break;
            }
            if let Some(made) = MADE.captures(line).filter(|_| writes) {
                asked.concurrent = made[1].parse().ok();
                asked.block = made.get(3).and_then(|size| size.as_str().parse().ok());
                from = number.saturating_sub(NEAR);
                break;
            }
            if line.contains("rados") && line.contains("bench") && !line.contains("Object prefix:") {
                from = from.min(number);
                break;
            }
        }
        let most = at - from;
        let command = commands_above(text, at, most, "rados").find(|words| words.iter().any(|word| word == "bench"));
        let Some(words) = command.filter(|words| !is_shortened(words)) else { return asked };
        let has = |name: &str| words.iter().any(|word| word == name);
        if has("write") != writes {
            return asked;
        }
        asked.pattern = match (has("seq"), has("rand")) {
            (true, false) => Some(Pattern::Sequential),
            (false, true) => Some(Pattern::Random),
            _ => None,
        };
        let value = |short: &str| {
            let at = words.iter().position(|word| word == short)?;
            words.get(at + 1).map(String::as_str)
        };
        let threads = value("-t").or_else(|| option_value(&words, "--concurrent-ios"));
        asked.concurrent = asked.concurrent.or(match threads {
            Some(threads) => threads.parse().ok(),
            None => Some(USUAL),
        });
        asked.block = asked.block.or_else(|| value("-b").and_then(|size| option_size(size, 1)));
        asked.pool = value("-p").or_else(|| option_value(&words, "--pool")).map(str::to_owned);
        asked
    }
}
