//! AS SSD Benchmark: the text that it copies, in MB/s or in IOPS.
//!
//! Its MB are 2^20 bytes, by its own two views of one run: 60.63 MB/s of 4 KiB are 15,521 IOPS. What its rows do:
//! <https://ssd-tester.com/text_score.php> and the program's notes. Sequential operations are of 16 MiB; all go around
//! the cache of the system. The size of the test is chosen in the program and not printed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, SourceQuantity};
use assay_core::record::Score;
use assay_core::workload::{Op, Pattern, Sync};

use crate::command::Title;
use crate::date;
use crate::number::{Base, decimal, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// AS SSD Benchmark.
pub(crate) struct AsSsd;

const NAME: &str = "AS SSD";
/// Most lines of a report.
const LONGEST: usize = 60;

static TITLE: Title = Title::new("AS SSD Benchmark", || regex(r"^\s*AS SSD Benchmark (\d+\.[0-9.]+)\s*$"));
static VALUE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(Read|Write|Total): *([0-9][0-9.,]*) *(MB/s|iops|ms|s)?$"));

impl Format for AsSsd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["as ssd benchmark", "4k-64thr", "access times", "score:", "controller:"]
    }

    fn needs(&self) -> &'static str {
        "its title, `AS SSD Benchmark`, alone in a line"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        TITLE.stands(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::whole(NAME);
        report.version = TITLE.version(text, at);
        let (mut section, mut seen, mut closed) = (String::new(), BTreeSet::new(), true);
        let mut end = at + 1;
        for number in at + 1..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if self.begins(text, number) {
                break;
            }
            if !line.is_empty() {
                closed = line.starts_with("---");
            }
            if let Some(found) = VALUE.captures(line) {
                // A value that comes again is of a section whose heading is lost.
                if !seen.insert(found[1].to_owned()) {
                    section = "lost".to_owned();
                    report.find(Finding::SourceIncomplete { missing: Missing::Heading { section: None } });
                }
                let unit = found.get(3).map_or("", |unit| unit.as_str());
                value(&mut report, &section, &found[1], decimal(&found[2]), unit);
            } else if let Some((name, value)) = line.split_once(": ").filter(|_| section.is_empty()) {
                head(&mut report, name, value.trim());
            } else if is_section(line) {
                section = line.trim_end_matches(':').to_owned();
                seen.clear();
            } else if !line.is_empty() && !line.starts_with("---") && !line.ends_with(':') {
                break;
            }
            end = number + 1;
        }
        if report.figures.is_empty() {
            return Section::nothing(end, text.number(at), "a report of AS SSD without a figure");
        }
        report.findings.extend(contradiction(&report));
        // The last number of a text without its last line may be cut off.
        if report.scores.is_empty() || !closed && end >= text.len() {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Score]) });
        }
        Section::from_report(report, end)
    }
}

/// Its scores are a tenth of the sequential rate and the rates of 4 KiB, alone and with 64 threads, in its MB/s.
fn contradiction(report: &Report) -> Option<Finding> {
    ["Read", "Write"].into_iter().find_map(|side| {
        let score = report.scores.iter().find(|score| score.name == format!("AS SSD {}", side.to_lowercase()))?;
        let rate = |sections: &[&str]| {
            let named = |figure: &&Figure| sections.iter().any(|name| figure.load.name == format!("{name} {side}"));
            let figure = report.figures.iter().find(named)?;
            let by_operations = || Some(figure.iops? * figure.load.block_bytes? as f64);
            Some(figure.bytes_per_second.or_else(by_operations)? / 1_048_576.0)
        };
        let parts = rate(&["Sequential", "16MB"]).zip(rate(&["4K"])).zip(rate(&["4K-64Threads"]));
        let Some(((sequential, single), threads)) = parts else {
            return Some(Finding::SourceIncomplete { missing: Missing::PartsOfScore { score: side.to_owned() } });
        };
        let made = sequential / 10.0 + single + threads;
        let differs = (made - score.value.point).abs() > 1.0 + score.value.point * 0.01;
        let told = (Place::Summary, score.value.point);
        let contradiction = || Contradiction::places(SourceQuantity::Score, side, told, (Place::Computed, made));
        differs.then(|| Finding::SourceContradicts { contradiction: contradiction() })
    })
}

fn is_section(line: &str) -> bool {
    matches!(
        line.trim_end_matches(':'),
        "Sequential" | "16MB" | "4K" | "4K-64Threads" | "Access Times" | "512B" | "Score"
    )
}

fn head(report: &mut Report, name: &str, value: &str) {
    match name {
        "Name" => report.medium.model = Some(value.to_owned()),
        "Firmware" => {
            report.medium.health.insert("firmware".to_owned(), value.to_owned());
        }
        "Controller" => {
            report.labels.insert("driver".to_owned(), value.to_owned());
        }
        // Of a German system this word alone is German.
        "Size" | "Größe" => {
            let size =
                value.split_once(' ').and_then(|(number, name)| Some(decimal(number)? * unit(name, Base::Binary)?));
            report.medium.capacity_bytes = size.map(|size| size as u64);
        }
        // The order of day and month is that of the system, which is not told, but where the year comes first.
        "Date" if value.get(..4).is_some_and(|year| year.bytes().all(|b| b.is_ascii_digit())) => {
            report.created = date::of_digits(value);
        }
        _ => {}
    }
}

fn value(report: &mut Report, section: &str, name: &str, value: Option<f64>, unit: &str) {
    let Some(value) = value.filter(|value| *value > 0.0) else { return };
    let (pattern, block, jobs) = match section {
        "Score" => {
            report.scores.push(Score {
                name: format!("AS SSD {}", name.to_lowercase()),
                value: Estimate::bare(value, 1, "as printed by AS SSD, one run"),
                unit: String::new(),
                more_is_better: true,
                program: None,
            });
            return;
        }
        "Sequential" | "16MB" => (Pattern::Sequential, Some(16 << 20), 1),
        "4K" => (Pattern::Random, Some(4096), 1),
        "4K-64Threads" => (Pattern::Random, Some(4096), 64),
        "512B" => (Pattern::Random, Some(512), 1),
        "Access Times" => (Pattern::Random, None, 1),
        _ => return,
    };
    let op = match name {
        "Read" => Op::Read,
        "Write" => Op::Write,
        _ => return,
    };
    let mut figure = Figure::new(Load {
        pattern: Some(pattern),
        block_bytes: block,
        queue_depth: Some(1),
        jobs: Some(jobs),
        direct: Some(true),
        sync: Some(Sync::End),
        ..Load::new(&format!("{section} {name}"), op)
    });
    match unit {
        "MB/s" => figure.bytes_per_second = Some(value * 1_048_576.0),
        "iops" => figure.iops = Some(value),
        "ms" => figure.latency_ns.mean = Some(value * 1e6),
        "s" => figure.latency_ns.mean = Some(value * 1e9),
        _ => return,
    }
    report.figures.push(figure);
}
