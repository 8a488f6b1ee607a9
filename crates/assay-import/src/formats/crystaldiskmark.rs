//! CrystalDiskMark 3 to 9: the text that it saves or copies.
//!
//! Shapes by version, and what its rows do: <https://crystalmark.info/en/software/crystaldiskmark/>, and its sources
//! (hiyohiyo/CrystalDiskMark, MIT), as of 3.0, 6.0, 7.0, 8.0 and 9.0. Up to version 6 the direction stands in each row,
//! from 7 on in the heading of a section. Its MB are 10^6 bytes, its sizes of tests are in MiB whatever they are called.
//! Each figure is the best of its runs; IOPS are computed from the rate, and the latency is the least of all runs.

use std::sync::LazyLock;

use assay_core::finding::{Detail, Finding, Missing, RowFlaw};
use assay_core::workload::{Op, Pattern, Sync};
use regex_lite::Captures;

use crate::number::{Base, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section, Sections, Statistic};
use crate::text::Text;

/// CrystalDiskMark.
pub(crate) struct CrystalDiskMark;

const NAME: &str = "CrystalDiskMark";
/// Most rows of a report without a title, up to the first with a queue.
const MOST_HEADLESS: usize = 6;
/// Most lines of something else between two of a report, as pages put them in.
const MOST_FOREIGN: usize = 3;
/// Most names of rows and headings of a report that are kept.
const MOST_ONCE: usize = 40;
/// Most figures beside one another in a row.
const MOST_COLUMNS: usize = 8;
/// What the rows are called.
const ROWS: [&str; 4] = ["Sequential", "Random", "SEQ", "RND"];
/// What the lines below the rows begin with.
const HEADS: [&str; 7] = ["Profile", "Test", "Mode", "Time", "Date", "OS", "Comment"];
/// What each line of a report holds one of.
const WORDS: [&str; 10] = [NAME, "MB/s", "[Read]", "[Write]", "[Mix]", "Test", "Date", "OS", "Comment", "Time"];

/// The first line of a report, wherever it stands in a line: pages run lines together.
static TITLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"CrystalDiskMark (\d+)\.(\d+[0-9.a-zA-Z]*)( Shizuku Edition)?( x64| x86| ARM64| UWP)* ?(\([^)]{0,80}\) ?)*\(C\) 20\d\d",
    )
});
/// The same without the year, on a line of its own, as people shorten it; rows follow.
static SHORT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*CrystalDiskMark (\d+)\.(\d+[0-9.a-zA-Z]*)(?: Shizuku Edition)?(?: x64| x86| ARM64| UWP)*\s*$")
});
/// The title of a report that this program wrote in this form, which says what its figures are.
static OURS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"assay \d+\.\S+, in the form of CrystalDiskMark (\d+); (means|the best) of"));
/// A row, or the heading of a section of rows.
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\[(Read|Write|Mix)\]|(Sequential|Random|SEQ|RND) *(Read|Write)? *(?:(\d+) *(KiB|MiB|KB|MB))? *(?:\(([^)]{0,80})\))? *: *([0-9.,]+) MB/s(?: *\[ *([0-9.,]+) IOPS *\])?(?: *< *([0-9.,]+) us *>)?",
    )
});
/// A figure of a row.
static VALUE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"[0-9][0-9.,]* MB/s(?: *\[ *[0-9.,]+ IOPS *\])?(?: *< *[0-9.,]+ us *>)?"));
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"Test *: *([0-9.]+) *(MB|MiB|GB|GiB)(?: *\(x(\d+)\))?(?: *\[([A-Z]): *([0-9.]+)% *\(([0-9.]+)/([0-9.]+) *(MB|GB|TB|MiB|GiB|TiB)\)\])?(?: *\(x(\d+)\))?",
    )
});
/// A row with its queue as this program prints it: `SEQ    1MiB (Q=  8, T= 1):`, `Random Read 4KB (QD=1) :`. Look-alikes have
/// a blank within the size, or threads that they call QD.
static QUEUED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:(?:SEQ|RND|Sequential|Random) *\d+[KM]iB \(Q= *\d+, ?T= *\d+\)|(?:Sequential|Random) (?:Read|Write) *(?:\d+KiB )?\(Q= *\d+, ?T= *\d+\)|Random (?:Read|Write) \d+KB \(QD=\d+\)) *: *[0-9.,]+ MB/s",
    )
});
/// A row with its direction.
static DIRECTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:Sequential|Random) (?:Read|Write)\b[^:]{0,40}: *[0-9.,]+ MB/s"));
static DATE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"Date *: *(\d{4})/(\d{1,2})/(\d{1,2}) +(\d{1,2}):(\d{2}):(\d{2})"));
static OS: LazyLock<Regex> = LazyLock::new(|| regex(r"OS *: *([^\n|]*?(?:\[[^\]]*\])(?: *\(x?\w+\))?)"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^ *Comment *: *(\S.*)$"));
static QUEUE: LazyLock<Regex> = LazyLock::new(|| regex(r"(Q|QD|T) *= *(\d+)"));
static MEASURE: LazyLock<Regex> = LazyLock::new(|| regex(r"Measure (\d+) sec"));

impl Format for CrystalDiskMark {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["crystaldiskmark", "sequential read", "random read", "seq1m", "rnd4k", "(q=", "mb/s"]
    }

    fn needs(&self) -> &'static str {
        "its title above rows, or rows that have a direction and one of them a queue"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        is_titled(text, at) || is_headless(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let end = end(text, at);
        let titled = is_titled(text, at);
        // Lines between that are of something else are not searched for rows.
        let kept = (at..end).map(|line| text.line(line)).filter(|line| WORDS.iter().any(|word| line.contains(word)));
        let kept = kept.filter(|line| {
            titled || !line.contains("MB/s") || DIRECTED.is_match(line.trim()) || QUEUED.is_match(line.trim())
        });
        let joined: String = kept.flat_map(|line| [line, "\n"]).collect();
        if let Some(columns) = columns(&joined) {
            let reports = columns.iter().map(|column| {
                let mut report = report(&column.text, column.name.as_deref());
                if column.short {
                    report.find(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::FewerFigures } });
                }
                report
            });
            return Section { end, reports: reports.collect(), ..Section::default() };
        }
        let mut starts: Vec<usize> = TITLE.find_iter(&joined).map(|found| found.start()).collect();
        if starts.is_empty() {
            starts.push(0);
        }
        let ends = starts.iter().skip(1).copied().chain([joined.len()]);
        let mut section = Section { end, ..Section::default() };
        let (mut line, mut passed) = (at, 0);
        for (from, to) in starts.iter().copied().zip(ends) {
            line += joined[passed..from].matches('\n').count();
            passed = from;
            let report = report(&joined[from..to], None);
            if report.is_empty() {
                let number = text.number(line);
                section
                    .problems
                    .extend(Section::nothing(end, number, "a report of CrystalDiskMark without a row").problems);
            } else {
                section.reports.push(report);
            }
        }
        section
    }
}

/// Whether a line has a title.
fn is_titled(text: &Text, at: usize) -> bool {
    // Most lines are of something else, which is seen at once.
    let line = text.line(at);
    let followed = || (at + 1..at + 4).any(|next| ROW.is_match(text.line(next)));
    line.contains(NAME) && (TITLE.is_match(line) || OURS.is_match(line) || SHORT.is_match(line) && followed())
}

/// Whether rows of it begin without a title, as people copy them and scripts print them: with the heading of a section or
/// the direction in a row, and with queues, which texts with a rate alone do not have.
fn is_headless(text: &Text, at: usize) -> bool {
    let line = text.line(at).trim();
    let queued = |line: &str| line.contains("MB/s") && QUEUED.is_match(line.trim());
    match heading(line) {
        Some("[Read]" | "[Write]") => queued(text.line(at + 1)),
        _ if line.contains("MB/s") && DIRECTED.is_match(line) => {
            (at..at + MOST_HEADLESS).any(|row| queued(text.line(row)))
        }
        _ => false,
    }
}

/// The heading of a section, behind which names of columns may stand.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let known = ["[Read]", "[Write]", "[Mix]"].into_iter().find(|heading| line.starts_with(heading))?;
    (!line.contains("MB/s")).then_some(known)
}

/// The key of a line that a report holds once: a heading, or the name of a row with its direction.
fn once(line: &str) -> Option<&str> {
    let row = || line.starts_with("Sequential ") || line.starts_with("Random ");
    heading(line).or_else(|| (row() && DIRECTED.is_match(line)).then(|| line.split(':').next()).flatten())
}

/// The line behind the last that is of the report which begins at line `at`: what stands behind it, of a log for instance,
/// is another's.
fn end(text: &Text, at: usize) -> usize {
    let (mut end, mut foreign) = (at + 1, 0);
    let titled = is_titled(text, at);
    // One has headings or directions in its rows: the other shape is another report.
    let headed_rows = text.line(at).trim().starts_with('[');
    let mut seen: Vec<&str> = once(text.line(at).trim()).into_iter().collect();
    for number in at + 1..text.len() {
        let line = text.line(number).trim();
        // Of a second medium the headings begin again, or the rows.
        let this = once(line);
        let again = this.is_some_and(|this| seen.contains(&this)) && is_headless(text, number);
        seen.extend(this.filter(|_| seen.len() < MOST_ONCE));
        let other = if headed_rows { DIRECTED.is_match(line) } else { line == "[Read]" };
        if is_titled(text, number) || again || !titled && other || foreign > MOST_FOREIGN {
            break;
        }
        // Without patterns: of thousands of reports each line passes here.
        let headed =
            HEADS.iter().any(|head| line.strip_prefix(head).is_some_and(|rest| rest.trim_start().starts_with(':')));
        let row = line.contains("MB/s") && ROWS.iter().any(|name| line.contains(name));
        // Without a title nothing but such a row is one of it.
        let row = row && (titled || DIRECTED.is_match(line) || QUEUED.is_match(line));
        let known = headed || row || line.starts_with(['*', '[']);
        if known {
            (end, foreign) = (number + 1, 0);
        } else if !line.is_empty() && !line.starts_with('-') && !line.contains("Crystal Dew World") {
            foreign += 1;
        }
    }
    end
}

/// One of several media whose figures people have put beside one another.
#[derive(Clone, Default)]
struct Column {
    text: String,
    name: Option<String>,
    /// Whether a row has a figure for some of them alone.
    short: bool,
}

/// The figures of a row that stand beside one another, each with where it begins and ends.
fn beside(line: &str) -> Vec<(usize, usize)> {
    let Some(name) = line.find(':').filter(|_| line.matches("MB/s").count() > 1) else { return Vec::new() };
    let found = VALUE.find_iter(&line[name..]).map(|found| (name + found.start(), name + found.end()));
    let all: Vec<(usize, usize)> = found.collect();
    // Pages run whole rows together, too.
    let between = |pair: &[(usize, usize)]| line[pair[0].1..pair[1].0].trim_matches([' ', '\t', '|']);
    if all.windows(2).all(|pair| between(pair).is_empty()) { all } else { Vec::new() }
}

/// The columns of a report; `None` where rows have one figure each.
fn columns(text: &str) -> Option<Vec<Column>> {
    let most = text.lines().map(|line| beside(line).len()).max().filter(|most| (2..=MOST_COLUMNS).contains(most))?;
    let mut columns = vec![Column::default(); most];
    for line in text.lines() {
        let all = beside(line);
        let named = line.find(':').map_or("", |end| &line[..=end]);
        let short = line.contains("MB/s") && all.len() < most;
        let names: Vec<&str> = match heading(line) {
            Some(heading) => line.trim()[heading.len()..].split("  ").collect(),
            None => Vec::new(),
        };
        let names = names.into_iter().map(|name| name.trim().trim_matches(['*', '|', '`']));
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        for (at, column) in columns.iter_mut().enumerate() {
            column.short |= short;
            let own = all.get(at).map(|(from, to)| format!("{named} {}", &line[*from..*to]));
            column.text += &match (heading(line), own) {
                (Some(heading), _) => heading.to_owned(),
                (None, Some(own)) => own,
                (None, None) if short => String::new(),
                (None, None) => line.to_owned(),
            };
            column.text.push('\n');
            if names.len() == most && column.name.is_none() {
                column.name = Some(names[at].to_owned());
            }
        }
    }
    Some(columns)
}

/// A report by its text, from its title on, and the name of its column where it was one of several.
fn report(text: &str, column: Option<&str>) -> Report {
    let mut report = Report::whole(NAME);
    report.labels.extend(column.map(|name| ("column".to_owned(), name.to_owned())));
    let first = text.lines().next().unwrap_or_default();
    let major = TITLE.captures(text).or_else(|| SHORT.captures(first)).map(|title| {
        report.version = Some(format!("{}.{}", &title[1], &title[2]));
        title[1].parse().unwrap_or(0)
    });
    let ours = OURS.captures(first);
    if let Some(title) = &ours {
        report.version = Some(title[1].to_owned());
    }
    let major: u32 = major.or_else(|| ours.as_ref()?[1].parse().ok()).unwrap_or(0);
    let test = TEST.captures(text);
    let runs = test.as_ref().and_then(|test| test.get(3).or(test.get(9))?.as_str().parse().ok());
    let span_bytes = test.as_ref().and_then(|test| Some((decimal(&test[1])? * unit(&test[2], Base::Binary)?) as u64));
    if let Some(test) = &test {
        drive(&mut report, test);
    }
    report.created = DATE.captures(text).map(|date| {
        let part = |at: usize| date[at].parse::<u32>().unwrap_or(0);
        format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", part(1), part(2), part(3), part(4), part(5), part(6))
    });
    report.host.os = OS.captures(text).map(|os| os[1].trim().to_owned());
    if major == 0 {
        report.find(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Version]) });
    }
    if let Some(comment) = COMMENT.captures(text) {
        report.labels.insert("comment".to_owned(), comment[1].trim().to_owned());
    }
    let duration_ns = MEASURE.captures(text).and_then(|time| time[1].parse::<u64>().ok()).map(|s| s * 1_000_000_000);
    let share = mixed_share(text);
    let mut sections = Sections::default();
    for row in ROW.captures_iter(text) {
        if report.is_full() {
            break;
        }
        if let Some(heading) = row.get(1) {
            sections.begin(direction(heading.as_str()));
            continue;
        }
        let said = row.get(3).map(|word| direction(word.as_str())).or(sections.op());
        let Some(figure) = said.and_then(|op| figure(&row, op, major, share)) else { continue };
        let load = Load { span_bytes, duration_ns, ..figure.load };
        if row.get(3).is_none() && !sections.holds(&load) {
            continue;
        }
        if row.get(3).is_some() && report.figures.iter().any(|figure| figure.load == load) {
            report.find(Finding::SourceIncomplete { missing: Missing::Heading { section: None } });
            continue;
        }
        // How often it ran stands behind the rows: cut off before it, the number of runs is not known.
        let statistic = if ours.as_ref().is_some_and(|title| &title[2] == "means") {
            Statistic::MeanOf(runs.unwrap_or(1))
        } else {
            Statistic::BestOf(runs)
        };
        report.figures.push(Figure { load, statistic, ..figure });
    }
    report.findings.extend(sections.missing());
    if runs.is_none() && !report.figures.is_empty() {
        report
            .findings
            .push(Finding::SourceIncomplete { missing: Missing::lines(&["Test"], &[Detail::Span, Detail::Runs]) });
    }
    report
}

fn direction(word: &str) -> Op {
    match word {
        "Read" => Op::Read,
        "Write" => Op::Write,
        _ => Op::Mixed,
    }
}

/// Drive letter and capacity of the volume.
fn drive(report: &mut Report, test: &Captures<'_>) {
    let (Some(letter), Some(total), Some(unit)) = (test.get(4), test.get(7), test.get(8)) else { return };
    report.medium.path = format!("{}:", letter.as_str());
    report.medium.capacity_bytes =
        decimal(total.as_str()).zip(self::unit(unit.as_str(), Base::Binary)).map(|(total, unit)| (total * unit) as u64);
}

fn figure(row: &Captures<'_>, op: Op, major: u32, share: Option<u8>) -> Option<Figure> {
    let sequential = row[2].to_ascii_lowercase().starts_with("seq");
    let rate = printed(&row[7])?.times(1e6);
    // A row that was not run is printed as zero.
    if rate.value == 0.0 {
        return None;
    }
    let queue = row.get(6).map_or("", |queue| queue.as_str());
    let number_of = |key: &str| {
        let mut all = QUEUE.captures_iter(queue);
        all.find(|part| &part[1] == key).and_then(|part| part[2].parse::<u32>().ok())
    };
    let depth = number_of("Q").or_else(|| number_of("QD"));
    let threads = number_of("T");
    // What is named there and is no number is not known.
    let named = |key: char| queue.contains(key);
    let unread = named('Q') && depth.is_none();
    let block_bytes = match (row.get(4), row.get(5)) {
        (Some(number), Some(unit)) => {
            Some(number.as_str().parse::<u64>().ok()?.checked_mul(self::unit(unit.as_str(), Base::Binary)? as u64)?)
        }
        // Version 3 reads 1 MiB at a time; versions 4 to 6 128 KiB where they queue, 1 MiB where they do not.
        // So the version decides.
        _ if major == 0 => None,
        _ if sequential && (major < 4 || depth.is_none() && !unread) => Some(1 << 20),
        _ if sequential => Some(128 << 10),
        _ => None,
    };
    let label = row[0].split(':').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let name = match (row.get(3), op) {
        (Some(_), _) => label,
        // The direction stands in the heading.
        (None, Op::Read) => format!("Read {label}"),
        (None, Op::Write) => format!("Write {label}"),
        (None, Op::Mixed) => format!("Mix {label}"),
    };
    let load = Load {
        read_percent: share.filter(|_| op == Op::Mixed),
        pattern: Some(if sequential { Pattern::Sequential } else { Pattern::Random }),
        block_bytes,
        queue_depth: depth.or((!unread).then_some(1)),
        jobs: threads.or((!named('T')).then_some(1)),
        direct: Some(true),
        // Version 3 flushes within the time it takes; later ones never flush.
        sync: Some(Sync::End),
        ..Load::new(&name, op)
    };
    let mut figure = Figure::new(load);
    figure.rate(Some(rate));
    figure.operations(row.get(8).and_then(|iops| printed(iops.as_str())));
    figure.latency_ns.mean = row.get(9).and_then(|us| decimal(us.as_str())).map(|us| us * 1e3);
    if (1..4).contains(&major) && op == Op::Write {
        figure.durable_bytes_per_second = figure.bytes_per_second;
    }
    Some(figure)
}

fn mixed_share(text: &str) -> Option<u8> {
    static SHARE: LazyLock<Regex> = LazyLock::new(|| regex(r"\[Mix\] *Read *(\d+)%"));
    SHARE.captures(text).and_then(|share| share[1].parse().ok())
}
