//! KDiskMark 1 to 3: the text that it saves or copies.
//!
//! It runs fio and prints like CrystalDiskMark, with one difference that its text denies: it divides fio's KiB/s by 1000
//! (`src/benchmark.cpp` of JonMagon/KDiskMark, GPL, as of 3.3.0), so that its `MB/s` are 1,024,000 bytes. By its own
//! figures: 508.897 MB/s of 1 MiB blocks go with 497.0 IOPS. With the profile Default a figure is the mean of its runs,
//! with the others the best of them. Each write ends with a sync in its time (`--end_fsync=1`).

use std::sync::LazyLock;

use assay_core::finding::{Detail, Finding, Missing};
use assay_core::workload::{Op, Pattern, Sync};
use regex_lite::Captures;

use crate::command::Title;
use crate::date;
use crate::number::{Base, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section, Sections, Statistic};
use crate::text::Text;

/// KDiskMark.
pub(crate) struct KDiskMark;

const NAME: &str = "KDiskMark";
/// Most lines of a report: three sections of eight rows, and what stands around them.
const LONGEST: usize = 60;
/// Most lines before its first row.
const MOST_HEAD: usize = 8;
/// Bytes of what it calls MB.
const MB: f64 = 1_024_000.0;
/// The same of its first version, whose title has no version: 520.117 MB/s of 1 MiB blocks go with 520.1 IOPS.
const FIRST_MB: f64 = 1_048_576.0;

static TITLE: Title = Title::new(NAME, || regex(r"^\s*KDiskMark(?: \(v?(\d+\.[0-9.]+[^)]*)\)\s*:|: *https?://)"));
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(Sequential|Random|SEQ|RND) *(\d+) *([KMG]i?B) *\(Q= *(\d+), *T= *(\d+)\) *: *([0-9.,]+) MB/s(?: *\[ *([0-9.,]+) IOPS *\])?(?: *< *([0-9.,]+) us *>)?",
    )
});
static MIX: LazyLock<Regex> = LazyLock::new(|| regex(r"^\[Mix\](?:.*?Read *(\d+)%)?"));
static TEST: LazyLock<Regex> =
    LazyLock::new(|| regex(r"Test: *(\d+) *([KMG]iB) *\(x(\d+)\)(?: *\[(?:Measure: *(\d+) sec)?)?"));
/// How full the target is, behind its path: `/home 45% of 100 GiB`, `/ (45% of 100 GiB)`, `/ 45% (45/100GiB)`.
static USED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\s+[\[(]?\d{1,3}(?:[.,]\d+)? ?%(?: (?:of\b|used\b|\().*|[\])])?$"));
static FIO: LazyLock<Regex> = LazyLock::new(|| regex(r"\(fio-([0-9][^)]*)\)"));

impl Format for KDiskMark {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["kdiskmark", "flexible i/o tester", "sequential", "random", "profile:", "mb/s"]
    }

    fn needs(&self) -> &'static str {
        "its title"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        TITLE.stands(text, at) || is_fork(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::whole(NAME);
        report.version = TITLE.version(text, at);
        let mb = if report.version.is_none() && TITLE.stands(text, at) { FIRST_MB } else { MB };
        let (mut sections, mut share, mut runs, mut best) = (Sections::default(), None, None, None);
        let (mut span, mut duration) = (None, None);
        let mut end = at + 1;
        if let Some(fio) = FIO.captures(text.line(at)) {
            report.labels.insert("fio".to_owned(), fio[1].to_owned());
        }
        for number in at + 1..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if TITLE.stands(text, number) || is_fork(text, number) {
                break;
            }
            if let Some(fio) = FIO.captures(line) {
                report.labels.insert("fio".to_owned(), fio[1].to_owned());
            }
            match line {
                "[Read]" => sections.begin(Op::Read),
                "[Write]" => sections.begin(Op::Write),
                _ => {}
            }
            if let Some(mix) = MIX.captures(line) {
                sections.begin(Op::Mixed);
                share = mix.get(1).and_then(|share| share.as_str().parse().ok());
            }
            let before = end;
            end = number + 1;
            if let Some((op, row)) = sections.op().zip(ROW.captures(line)) {
                let figure = figure(op, share, mb, &row).filter(|figure| sections.holds(&figure.load));
                report.figures.extend(figure);
            } else if let Some(profile) = line.strip_prefix("Profile:") {
                best = Some(!profile.trim().starts_with("Default"));
            } else if let Some(test) = TEST.captures(line) {
                let size = test[1].parse::<u64>().ok().zip(unit(&test[2], Base::Binary));
                span = size.and_then(|(number, unit)| number.checked_mul(unit as u64));
                runs = test[3].parse().ok();
                duration =
                    test.get(4).and_then(|s| s.as_str().parse::<u64>().ok()).map(|s| s.saturating_mul(1_000_000_000));
            } else if let Some(date) = line.strip_prefix("Date:") {
                report.created = date::of_digits(date);
            } else if let Some(os) = line.strip_prefix("OS:") {
                report.host.os = Some(os.trim().to_owned());
            } else if let Some(target) = line.strip_prefix("Target:") {
                report.medium.path = USED.replace_all(target.trim(), "").into_owned();
            } else if !(line.is_empty() || line.starts_with(['[', '*', '-']) || line.contains("Flexible I/O")) {
                end = before;
                break;
            }
        }
        // Of what stands behind the rows it depends what they are.
        let statistic = match (best, runs) {
            (Some(false), Some(runs)) => Statistic::MeanOf(runs),
            (_, runs) => Statistic::BestOf(runs),
        };
        for figure in &mut report.figures {
            figure.statistic = statistic;
            figure.load.span_bytes = span;
            figure.load.duration_ns = duration;
        }
        if report.figures.is_empty() {
            return Section::nothing(end, text.number(at), "a report of KDiskMark without a row");
        }
        report.findings.extend(sections.missing());
        if best.is_none() || runs.is_none() {
            report.findings.push(Finding::SourceIncomplete {
                missing: Missing::lines(&["Profile", "Test"], &[Detail::Statistic]),
            });
        }
        Section::from_report(report, end)
    }
}

/// Whether a report of KDiskMark under another name begins: its second line is that of fio all the same.
fn is_fork(text: &Text, at: usize) -> bool {
    text.line(at).contains("Flexible I/O Tester (fio-")
        && (at == 0 || !TITLE.stands(text, at - 1))
        && (at + 1..at + MOST_HEAD).any(|line| ROW.is_match(text.line(line)))
}

fn figure(op: Op, share: Option<u8>, mb: f64, row: &Captures<'_>) -> Option<Figure> {
    let rate = printed(&row[6])?.times(mb);
    // A row that was not run is printed as zero.
    if rate.value == 0.0 {
        return None;
    }
    let sequential = row[1].to_ascii_lowercase().starts_with("seq");
    let block = row[2].parse::<u64>().ok()?.checked_mul(unit(&row[3], Base::Binary)? as u64)?;
    let label = row[0].split(':').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let heading = match op {
        Op::Read => "Read",
        Op::Write => "Write",
        Op::Mixed => "Mix",
    };
    let mut figure = Figure::new(Load {
        read_percent: (op == Op::Mixed).then_some(share).flatten(),
        pattern: Some(if sequential { Pattern::Sequential } else { Pattern::Random }),
        block_bytes: Some(block),
        queue_depth: row[4].parse().ok(),
        jobs: row[5].parse().ok(),
        sync: Some(Sync::End),
        ..Load::new(&format!("{heading} {label}"), op)
    });
    figure.rate(Some(rate));
    figure.operations(row.get(7).and_then(|iops| printed(iops.as_str())));
    figure.latency_ns.mean = row.get(8).and_then(|us| decimal(us.as_str())).filter(|us| *us > 0.0).map(|us| us * 1e3);
    if op != Op::Read {
        figure.durable_bytes_per_second = figure.bytes_per_second;
    }
    Some(figure)
}
