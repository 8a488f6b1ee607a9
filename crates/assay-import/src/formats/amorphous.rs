//! AmorphousDiskMark 1 to 4 (macOS): the text that it copies.
//!
//! Shape and tests: `AppDelegate.m` and `DiskMark.m` of hkatsura/AmorphousDiskMark (MIT). It looks like that of
//! CrystalDiskMark and is another: what it calls QD are threads, each with one operation under way, on a file with
//! `F_NOCACHE`; a figure is the median of the runs; the time of a write has an `fsync` in it, which on macOS does not
//! empty the cache of the drive. A run ends at the size of the file or at the limit, whichever comes first. MB are 10^6
//! bytes. A row that was not run is printed as zero.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_core::finding::{Detail, Finding, Missing};
use assay_core::workload::{Op, Pattern, Sync};
use regex_lite::Captures;

use crate::command::Title;
use crate::date;
use crate::number::{Base, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Problem, Report, Section, Statistic};
use crate::text::Text;

/// AmorphousDiskMark.
pub(crate) struct AmorphousDiskMark;

const NAME: &str = "AmorphousDiskMark";
/// Most lines of a report.
const LONGEST: usize = 40;

static TITLE: Title = Title::new(NAME, || regex(r"^\s*AmorphousDiskMark (\d[0-9.]*) \(C\) 20\d\d"));
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(Sequential|Random) (Read|Write) (\d+) ?([KM]iB) \(QD= *(\d+)\) *: *([0-9.]+) MB/s(?: *\[ *([0-9.]+) IOPS\])?\s*$",
    )
});
static TEST: LazyLock<Regex> = LazyLock::new(|| regex(r"^Test : (\d+) ([KMGT]iB) *\(x(\d+)\)( <0Fill>)?"));
static VOLUME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^Volume : (.*): [0-9.]+% used \([0-9.]+/([0-9.]+) ([KMGT]i?B)\)$"));

impl Format for AmorphousDiskMark {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["amorphousdiskmark", "katsura shareware", "sequential read", "random read", "volume :"]
    }

    fn needs(&self) -> &'static str {
        "its title, or its rows with the lines of test and volume below them"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        TITLE.stands(text, at) || is_headless(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::whole(NAME);
        report.version = TITLE.version(text, at);
        let (mut test, mut problems) = (None, Vec::new());
        let (mut end, mut names) = (at + 1, BTreeSet::new());
        let titled = TITLE.stands(text, at);
        if !titled {
            report.find(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Version]) });
        }
        for number in if titled { at + 1 } else { at }..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if number > at && TITLE.stands(text, number) {
                break;
            }
            if let Some(row) = ROW.captures(line) {
                // The rows of another report, whose title is lost.
                if !names.insert(name(&row)) && is_headless(text, number) {
                    break;
                }
                report.figures.extend(figure(&row));
            } else if let Some(found) = TEST.captures(line) {
                test = size(&found[1], &found[2]).zip(found[3].parse::<u32>().ok());
                if found.get(4).is_some() {
                    report.labels.insert("data".to_owned(), "zeros".to_owned());
                }
            } else if line.contains(" MB/s") && line.contains(':') && !line.starts_with('*') {
                // A row all the same, and those behind it are read.
                let what = "a row of AmorphousDiskMark that is none of its tests".to_owned();
                problems.push(Problem { line: text.number(number), what });
            } else if !facts(&mut report, line) {
                break;
            }
            end = number + 1;
        }
        if report.figures.is_empty() {
            return Section::nothing(end, text.number(at), "a report of AmorphousDiskMark without a row");
        }
        match test {
            Some((span, runs)) => {
                for figure in &mut report.figures {
                    figure.load.span_bytes = Some(span);
                    figure.statistic = if runs > 1 { Statistic::MedianOf(runs) } else { Statistic::One };
                }
            }
            None => {
                report.findings.push(Finding::SourceIncomplete {
                    missing: Missing::lines(&["Test"], &[Detail::Span, Detail::Runs]),
                });
            }
        }
        Section { problems, ..Section::from_report(report, end) }
    }
}

/// Whether rows begin without the title. Look-alikes print such rows: those of it have its lines below them.
fn is_headless(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    if !(line.contains("iB (QD=") && ROW.is_match(line)) {
        return false;
    }
    // Up to the next title. Most lines are neither, which is seen at once.
    let own =
        || (at + 1..at + LONGEST).map(|line| text.line(line).trim()).take_while(|line| !line.contains("DiskMark"));
    let tested = own().any(|line| line.starts_with("Test : ") && TEST.is_match(line));
    tested && own().any(|line| line.starts_with("OS : macOS") || line.starts_with("Volume : ") && VOLUME.is_match(line))
}

/// The name of a row.
fn name(row: &Captures<'_>) -> String {
    row[0].split(':').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn size(number: &str, name: &str) -> Option<u64> {
    number.parse::<u64>().ok()?.checked_mul(unit(name, Base::Binary)? as u64)
}

/// What stands behind the rows; whether a line is of the report at all.
fn facts(report: &mut Report, line: &str) -> bool {
    let value = |name: &str| line.strip_prefix(name).map(|value| value.trim().to_owned());
    if let Some(volume) = VOLUME.captures(line) {
        let capacity = decimal(&volume[2]).zip(unit(&volume[3], Base::Binary));
        report.medium.capacity_bytes = capacity.map(|(number, unit)| (number * unit) as u64);
        volume[1].clone_into(&mut report.medium.path);
    } else if let Some(device) = value("Device :") {
        report.medium.model = Some(device).filter(|device| !matches!(device.as_str(), "" | "(null)"));
    } else if let Some(cpu) = value("CPU :") {
        report.host.cpu = Some(cpu).filter(|cpu| !cpu.is_empty());
    } else if let Some(time) = value("Date :") {
        report.created = date::of_iso(&time);
    } else if let Some(os) = value("OS :") {
        report.host.os = Some(os);
    } else {
        return line.is_empty() || line.starts_with(['*', '-']) || line.contains("Katsura Shareware");
    }
    true
}

fn figure(row: &Captures<'_>) -> Option<Figure> {
    let rate = printed(&row[6]).filter(|rate| rate.value > 0.0)?;
    let op = if &row[2] == "Read" { Op::Read } else { Op::Write };
    let mut figure = Figure::new(Load {
        pattern: Some(if &row[1] == "Random" { Pattern::Random } else { Pattern::Sequential }),
        block_bytes: size(&row[3], &row[4]),
        queue_depth: Some(1),
        jobs: row[5].parse().ok(),
        direct: Some(true),
        sync: Some(Sync::End),
        ..Load::new(&name(row), op)
    });
    figure.rate(Some(rate.times(1e6)));
    figure.operations(row.get(7).and_then(|iops| printed(iops.as_str())).filter(|iops| iops.value > 0.0));
    Some(figure)
}
