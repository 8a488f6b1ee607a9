//! elbencho 1 to 3: the table that it prints, and keeps with `--resfile`.
//!
//! Rows: `Statistics::printPhaseResultsToStream` of breuner/elbencho (GPL), as of 1.0 to 3.1. The table has no load but
//! the name of the phase: that stands in the command above, where it is in the log or in the file of results; what it
//! does not name is as the manual says (1 MiB, one thread, depth 1, in order, through the cache). Figures are those of
//! the column LAST DONE, up to the end of the last thread. Rates are whole MiB, cut off; `MB/s` with `--base10`.

use std::sync::LazyLock;

use assay_core::finding::{Detail, Finding, Missing, Untold};
use assay_core::workload::{Op, Pattern};
use regex_lite::Captures;

use super::elbencho::{coarse, cut_off, rate};
use crate::command::{commands, continued, option_size};
use crate::date;
use crate::number::{Base, Printed, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::reach::{Beside, held, is_shortened};
use crate::report::{Figure, Format, Load, Problem, Report, Section};
use crate::text::Text;

/// elbencho's table.
pub(crate) struct ElbenchoText;

const NAME: &str = "elbencho";
/// Most lines between a command and its table.
const MOST_ABOVE: usize = 12;
/// Most figures of a call.
const MOST_FIGURES: usize = 1_000;
/// Most phases in one table.
const MOST_PHASES: usize = 10_000;
/// What lines between a command and its table begin with.
const HEADS: [&str; 7] = ["NOTE", "WARNING", "ERROR", "ISO DATE", "LABEL", "COMMAND LINE", "```"];
/// Most words of a command.
const MOST_WORDS: usize = 500;
/// Bytes per second from which on the usual block is not believed where the text has operations alone.
const ABSURD: f64 = 100e9;
/// Least files per second that become a score beside the rate of their bytes.
const LEAST_ENTRIES: f64 = 20.0;
/// Longest label in characters: each report has it.
const LONGEST_LABEL: usize = 256;

static TITLE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|\s)OPERATION\s+RESULT TYPE\s+FIRST DONE\s+LAST DONE\s*$"));
static ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*([A-Z][A-Za-z0-9/%+ -]*?)\s*: +(?:(\S+) +(\S+)|\[ ?(.*?) ?\])\s*$"));
static LATENCY: LazyLock<Regex> = LazyLock::new(|| regex(r"(avg|max)=([0-9.]+)(us|ms|s)?\b"));

impl Format for ElbenchoText {
    fn name(&self) -> &'static str {
        "elbencho text"
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["first done", "last done", "result type", "throughput mib/s", "elapsed time"]
    }

    fn needs(&self) -> &'static str {
        "the heading with `FIRST DONE` and `LAST DONE`, or the rows of a phase from its first on"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains("FIRST DONE") && TITLE.is_match(line) || is_headless(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let head = Head::above(text, at);
        let headless = is_headless(text, at);
        let mut reports: Vec<Report> = Vec::new();
        let mut phase: Option<Phase> = None;
        let (mut end, mut begun) = (at + 1, at + 1);
        let (mut phases, mut problems) = (0, Vec::new());
        let mut finish = |phase: Option<Phase>, from: usize, to: usize| {
            let Some(phase) = phase else { return };
            let again = |report: &Report| {
                let known = |figure: &Figure| report.figures.iter().any(|other| other.load == figure.load);
                report.figures.len() + report.scores.len() >= MOST_FIGURES
                    || phase.figure(&head).as_ref().is_some_and(known)
            };
            // A phase that comes again is one of another iteration: no repeats are made of them.
            if reports.last().is_none_or(again) {
                reports.push(Report { lines: Some((from, to)), ..head.report() });
            }
            if let Some(report) = reports.last_mut() {
                report.lines = report.lines.map(|(from, _)| (from, to));
                phase.add(report, &head);
            }
        };
        for number in at + usize::from(!headless)..text.len() {
            let line = text.line(number);
            let Some(row) = row(line) else {
                if self.begins(text, number) || !between(line) {
                    break;
                }
                continue;
            };
            let cell = |at: usize| row.get(at).map_or("", |cell| cell.as_str());
            let (name, kind) = named(cell(1));
            if !name.is_empty() {
                phases += 1;
                if phases > MOST_PHASES {
                    let what = format!("more than {MOST_PHASES} phases of elbencho in one table: divide it");
                    problems.push(Problem { line: text.number(number), what });
                    break;
                }
                finish(phase.take(), begun, end);
                begun = number;
                phase = Some(Phase::new(name));
            }
            end = number + 1;
            if let Some(phase) = &mut phase {
                phase.take(kind, cell(3), cell(4));
            }
        }
        finish(phase.take(), begun, end);
        reports.retain(|report| !report.is_empty());
        if reports.is_empty() {
            return Section::nothing(end, text.number(at), "a table of elbencho without a phase that moved data");
        }
        // The command belongs to the text that is kept.
        if let Some(first) = reports.first_mut() {
            first.lines = first.lines.map(|(_, to)| (head.from, to));
            if headless {
                first.find(Finding::SourceIncomplete { missing: Missing::Heading { section: None } });
            }
        }
        Section { end, reports, problems }
    }
}

/// Whether a phase begins at a line, with its figures below: logs may show the last lines alone.
fn is_headless(text: &Text, at: usize) -> bool {
    let kind = |at: usize| {
        let row = text.line(at).contains(" : ").then(|| row(text.line(at)))??;
        row.get(1).map(|name| named(name.as_str()))
    };
    let is_figure = |at: usize| {
        kind(at).is_some_and(|(name, kind)| {
            name.is_empty()
                && (kind == "IOPS"
                    || kind.starts_with("Throughput M")
                    || ["Files/s", "Dirs/s", "Objects/s"].contains(&kind))
        })
    };
    let begins = text.line(at).contains("Elapsed ")
        && kind(at).is_some_and(|(name, kind)| !name.is_empty() && matches!(kind, "Elapsed time" | "Elapsed ms"));
    begins && is_figure(at + 1)
}

/// A row, and none of the lines above a table.
fn row(line: &str) -> Option<Captures<'_>> {
    ROW.captures(line).filter(|_| !HEADS.iter().any(|head| line.trim_start().starts_with(head)))
}

/// The phase that a row begins, in capital letters, and what the row holds. Blanks in front may be more or fewer than
/// elbencho prints, as in blocks of code.
fn named(row: &str) -> (&str, &str) {
    let (first, rest) = row.split_once(' ').unwrap_or((row, ""));
    let capital =
        |name: &str| name.len() > 2 && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-');
    let phase = first.split(['+', '%']).next().is_some_and(capital) && !["IOPS", "CPU"].contains(&first);
    if phase && !rest.is_empty() { (first, rest.trim_start()) } else { ("", row) }
}

/// Lines that may stand between rows: lines of `=` and `-`, notes, and figures of the live statistics.
fn between(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.chars().all(|c| matches!(c, '=' | '-' | ' '))
        || ["NOTE:", "WARNING:", "ISO DATE end"].iter().any(|word| line.starts_with(word))
        || line.matches(',').count() > 10
}

/// What stands above a table.
#[derive(Debug, Clone, Default)]
struct Head {
    /// Its first line.
    from: usize,
    created: Option<String>,
    label: Option<String>,
    /// Words of the command.
    command: Option<Vec<String>>,
    /// Whether options of it were left out: those that it lacks are not at their default, but unknown.
    shortened: bool,
    /// That other text stands between it and the table.
    doubt: Option<Finding>,
}

impl Head {
    fn above(text: &Text, at: usize) -> Self {
        let mut head = Self { from: at, ..Self::default() };
        for number in (at.saturating_sub(MOST_ABOVE)..at).rev() {
            let line = text.line(number).trim();
            // What is above another table is not of this one.
            if row(text.line(number)).is_some() || TITLE.is_match(line) {
                break;
            }
            if head.command.is_none() && line.contains(NAME) {
                head.command = command_words(text, number, at);
                head.shortened = head.command.as_ref().is_some_and(|words| is_shortened(words));
                head.from = if head.command.is_some() { number } else { head.from };
            } else if let Some(date) = line.strip_prefix("ISO DATE:").or(line.strip_prefix("ISO DATE start:")) {
                head.created = date::of_iso(date.trim());
                head.from = number;
                break;
            } else if let Some(label) = line.strip_prefix("LABEL:") {
                head.label = Some(label.trim().chars().take(LONGEST_LABEL).collect());
                head.from = number;
            }
        }
        if head.command.is_none() {
            head.held(text, at);
        }
        head
    }

    /// Takes the command above other text.
    fn held(&mut self, text: &Text, at: usize) {
        let is_call = |words: &[String]| words.iter().any(|word| word.starts_with('-'));
        let own =
            |line: &str| row(line).is_some() || TITLE.is_match(line) || line.starts_with("ISO DATE") || between(line);
        let Some(held) = held(text, at, NAME, Beside::Load, is_call, own) else { return };
        self.command = command_words(text, held.line, at);
        self.shortened = is_shortened(&held.words);
        self.doubt = held.doubt(text, NAME).filter(|_| self.command.is_some());
        self.from = if self.command.is_some() { held.line } else { self.from };
    }

    fn report(&self) -> Report {
        let mut report = Report::new(NAME);
        report.created.clone_from(&self.created);
        report.labels.extend(self.label.iter().map(|label| (NAME.to_owned(), label.clone())));
        if self.shortened {
            report.find(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Options]) });
        }
        report.findings.extend(self.doubt.clone());
        report
    }

    /// The value of an option, where the command is known.
    fn value(&self, short: &str, long: &str) -> Option<&str> {
        let words = self.command.as_ref()?;
        words.iter().enumerate().find_map(|(at, word)| {
            let joined = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
            let next = || words.get(at + 1).filter(|_| word == long || word == short).map(String::as_str);
            joined.or_else(next)
        })
    }

    /// The size of a block, which elbencho reduces to that of a file.
    fn block(&self) -> Option<u64> {
        let bytes = |value: &str| option_size(value, 1).filter(|size| *size > 0);
        let block = match self.value("-b", "--block") {
            Some(block) => bytes(block)?,
            None => self.command.as_ref().filter(|_| !self.shortened).map(|_| 1 << 20)?,
        };
        match self.value("-s", "--size") {
            Some(file) => Some(block.min(bytes(file)?)),
            None => Some(block),
        }
    }

    fn has(&self, long: &str) -> Option<bool> {
        let words = self.command.as_ref()?;
        let named = words.iter().any(|word| word == long);
        (named || !self.shortened).then_some(named)
    }
}

/// The words of a command that begins in a line, which may go on in the next ones.
fn command_words(text: &Text, at: usize, before: usize) -> Option<Vec<String>> {
    // A mail or a terminal has wrapped it.
    let wrapped = |line: &str| !line.is_empty() && !HEADS.iter().any(|head| line.starts_with(head));
    let whole = continued(text, at, before, wrapped);
    let mut words = commands(&whole, NAME).into_iter().next()?;
    words.truncate(MOST_WORDS);
    // A sentence that begins with its name is no command.
    let shows = |word: &String| word.starts_with("--help") || word == "--version" || word == "-h";
    let is_call = words.iter().any(|word| word.starts_with('-')) && !words.iter().any(shows);
    is_call.then_some(words)
}

/// What one phase tells, of reads and writes together where it mixes them.
#[derive(Debug, Clone, Default)]
struct Phase {
    name: String,
    /// Whole units of a rate, and bytes of one.
    rate: Option<(f64, f64)>,
    iops: Option<f64>,
    entries: Option<f64>,
    mean_ns: Option<f64>,
    max_ns: Option<f64>,
    bytes: Option<Printed>,
    seconds: Option<Printed>,
}

impl Phase {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    fn take(&mut self, name: &str, last: &str, list: &str) {
        let number = || decimal(last).filter(|number| *number > 0.0);
        match name {
            "Throughput MiB/s" | "Throughput MB/s" | "MiB/s total" | "MB/s total" => {
                let scale = name.split([' ', '/']).find_map(|word| unit(word, Base::Decimal));
                self.rate = number().zip(scale);
            }
            "Total MiB" | "Total MB" => {
                let scale = name.rsplit(' ').next().and_then(|word| unit(word, Base::Decimal));
                let total = decimal(last).map(|value| Printed { value, step: 1.0 });
                self.bytes = total.zip(scale).map(|(total, scale)| total.times(scale));
            }
            "Elapsed time" => {
                let time =
                    last.strip_suffix("ms").map(|time| (time, 1e-3)).or(last.strip_suffix('s').map(|t| (t, 1.0)));
                self.seconds = time.and_then(|(time, scale)| Some(printed(time)?.times(scale)));
            }
            "IOPS" | "IOPS total" => self.iops = number(),
            // Of the other kind they are of a phase whose first row is lost.
            "Files/s" | "Dirs/s" | "Objects/s" if self.name.contains("DIRS") == (name == "Dirs/s") => {
                self.entries = self.entries.or_else(number)
            }
            // Version 1.8 prints the unit in front.
            "IO latency" | "IO latency us" => {
                for found in LATENCY.captures_iter(list) {
                    let scale = match found.get(3).map(|unit| unit.as_str()) {
                        None if name.ends_with(" us") => 1e3,
                        None => continue,
                        Some("us") => 1e3,
                        Some("ms") => 1e6,
                        Some(_) => 1e9,
                    };
                    let value = decimal(&found[2]).map(|value| value * scale).filter(|value| *value > 0.0);
                    *(if &found[1] == "avg" { &mut self.mean_ns } else { &mut self.max_ns }) = value;
                }
            }
            _ => {}
        }
    }

    fn op(&self) -> Option<Op> {
        // `WRITE+s` looks at each file too.
        match self.name.split('+').next()? {
            "READ" => Some(Op::Read),
            "WRITE" => Some(Op::Write),
            name if name.starts_with("RWMIX") || name.starts_with("MIX-T") => Some(Op::Mixed),
            _ => None,
        }
    }

    fn figure(&self, head: &Head) -> Option<Figure> {
        let op = self.op()?;
        let has_command = head.command.is_some() && !head.shortened;
        let number = |short: &str, long: &str, usual: u32| match head.value(short, long) {
            Some(value) => value.parse::<u32>().ok().filter(|number| *number > 0),
            None => has_command.then_some(usual),
        };
        // Threads are those of each host.
        let alone = head.value("--hosts", "--hosts").is_none() && head.value("--hostsfile", "--hostsfile").is_none();
        let random = head.has("--rand").map(|random| if random { Pattern::Random } else { Pattern::Sequential });
        let unusual = ["--strided", "--backward"].iter().any(|option| head.has(option) == Some(true));
        let load = Load {
            read_percent: self.name.strip_prefix("RWMIX").and_then(|share| share.trim_end_matches('%').parse().ok()),
            pattern: random.filter(|_| !unusual),
            block_bytes: head.block(),
            queue_depth: number("--iodepth", "--iodepth", 1),
            jobs: number("-t", "--threads", 1).filter(|_| alone),
            direct: head.has("--direct"),
            ..Load::new(&self.name, op)
        };
        let mut figure = Figure::new(load);
        figure.iops = self.iops;
        if let Some(by_block) = self.absurd(head, figure.load.block_bytes) {
            let usual_bytes = figure.load.block_bytes.take().unwrap_or_default();
            let untold = Untold::BlockSize { usual_bytes, bytes_per_second: by_block.min(f64::MAX) };
            figure.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold });
        }
        let (whole, unit) = self.rate.map_or((None, 1.0), |(whole, unit)| (Some(whole), unit));
        figure.bytes_per_second = rate(whole, unit, self.iops, figure.load.block_bytes);
        figure.told = cut_off(whole, unit, self.iops, op);
        coarse(&mut figure, whole);
        (figure.told.bytes, figure.told.seconds) = (self.bytes, self.seconds);
        (figure.latency_ns.mean, figure.latency_ns.max) = (self.mean_ns, self.max_ns);
        (self.rate.is_some() || self.iops.is_some()).then_some(figure)
    }

    /// The rate that the block which elbencho takes without being told would make of the operations, where that is beyond
    /// belief: options were left out of the command.
    fn absurd(&self, head: &Head, block: Option<u64>) -> Option<f64> {
        let usual = self.rate.is_none() && head.value("-b", "--block").is_none();
        let by_block = self.iops? * block.filter(|_| usual)? as f64;
        (by_block > ABSURD).then_some(by_block)
    }

    fn add(&self, report: &mut Report, head: &Head) {
        let figure = self.figure(head);
        // Of large files they are few by the second, and cut off to whole ones.
        let least = if figure.is_some() { LEAST_ENTRIES } else { 0.0 };
        report.figures.extend(figure);
        if let Some(rate) = self.entries.filter(|rate| *rate >= least) {
            report.score(&format!("elbencho {}", self.name), rate, "entries/s", true);
        }
        // Files of no bytes have entries alone.
        let size = head.value("-s", "--size");
        let empty = self.entries.is_some() && head.command.is_some() && size.is_none_or(|size| size.starts_with('0'));
        if self.op().is_some() && self.rate.is_none() && self.iops.is_none() && !empty {
            report.find(Finding::SourceIncomplete { missing: Missing::Figures { test: self.name.clone() } });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(command: &str) -> Head {
        let text = Text::from_bytes(
            format!("{command}\n\nOPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n").as_bytes(),
        );
        let at = (0..text.len()).find(|line| ElbenchoText.begins(&text, *line)).unwrap_or(0);
        Head::above(&text, at)
    }

    #[test]
    fn commands_of_logs_and_of_files_of_results() {
        let log =
            head("dgx:~$ /opt/elbencho /mnt/v{1..128} --read --direct --block=512k --threads 128 --iodepth 8 | tee x");
        let figure = Phase { iops: Some(1.0), ..Phase::new("READ") }.figure(&log);
        let load = figure.map(|figure| figure.load);
        assert_eq!(
            load.map(|load| (load.block_bytes, load.jobs, load.queue_depth, load.direct, load.pattern)),
            Some((Some(512 << 10), Some(128), Some(8), Some(true), Some(Pattern::Sequential)))
        );
        let kept = head(
            "ISO DATE: 2026-08-12T16:27:22+0100\nLABEL: a b\nCOMMAND LINE: \"elbencho\" \"-w\" \"-t\" \"4\" \\\n\"--rand\" \"-b\" \"4k\" ",
        );
        assert_eq!((kept.label.as_deref(), kept.created.as_deref()), (Some("a b"), Some("2026-08-12T15:27:22Z")));
        assert_eq!((kept.value("-b", "--block"), kept.has("--rand"), kept.from), (Some("4k"), Some(true), 0));
        let cut = head("COMMAND LINE: \"elbencho\" \"--write\" \"-t\" \"4\" ...");
        let figure = Phase { iops: Some(1.0), ..Phase::new("WRITE") }.figure(&cut);
        let known =
            figure.map(|figure| figure.load).map(|load| (load.jobs, load.block_bytes, load.queue_depth, load.direct));
        assert_eq!(known, Some((Some(4), None, None, None)), "options were left out");
        assert!(head("elbencho is a tool").command.is_none());
    }
}
