//! HD Tune and HD Tune Pro: the text that the benchmark copies.
//!
//! It writes gB where it means 10^9 bytes, so its MB are taken as 2^20; as no text says so, each record says what was
//! taken. A run reads (or, where the Pro version says so, writes) pieces spread over the whole disk, of a size that the
//! text does not tell. Access times are of random operations. The burst rate is that of the disk's cache: a score.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::{Contradiction, Finding, Missing, Place, SourceQuantity, Untold};
use assay_core::record::Score;
use assay_core::workload::{Op, Pattern};

use crate::number::{Printed, printed};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// HD Tune.
pub(crate) struct HdTune;

const NAME: &str = "HD Tune";
/// Most lines of a report.
const LONGEST: usize = 20;

static TITLE: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*HD Tune( Pro)?: (.+?) Benchmark\s*$"));
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(Transfer Rate (?:Minimum|Maximum|Average)|Access Time|Burst Rate) *: *([0-9][0-9.,]*) *(MB/s(?:ec)?|ms)$")
});

impl Format for HdTune {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["hd tune", "transfer rate average", "access time", "burst rate"]
    }

    fn needs(&self) -> &'static str {
        "its title, or `Transfer Rate` in two values one below the other"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        is_title(text.line(at)) || is_headless(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::whole(NAME);
        let (mut op, mut end, mut said, mut seen) = (Op::Read, at + 1, false, BTreeMap::new());
        if let Some(title) = TITLE.captures(text.line(at)) {
            if title.get(1).is_some() {
                report.tool = "HD Tune Pro".to_owned();
            }
            report.medium.model = Some(title[2].trim().to_owned());
        }
        let headless = !is_title(text.line(at));
        for number in if headless { at } else { at + 1 }..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            let lower = line.to_lowercase();
            if let Some(found) = VALUE.captures(line) {
                // The title and the heading of another report are missing.
                if seen.contains_key(&found[1]) {
                    report.find(Finding::SourceIncomplete { missing: Missing::Heading { section: None } });
                    break;
                }
                let told = printed(&found[2]);
                seen.insert(found[1].to_owned(), told);
                value(&mut report, op, &found[1], told.map(|told| told.value));
            } else if let Some(what) = lower.strip_suffix(" transfer rate") {
                (op, said) = (if what == "write" { Op::Write } else { Op::Read }, true);
                report.findings.extend(contradiction(&std::mem::take(&mut seen)));
            } else if !(line.is_empty() || lower.starts_with("cpu usage") || lower.starts_with("test capacity")) {
                break;
            }
            if !line.is_empty() {
                end = number + 1;
            }
        }
        report.findings.extend(contradiction(&seen));
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "a report of HD Tune without a figure");
        }
        // The Pro version has a heading for each direction.
        if (report.tool != NAME || headless) && !said {
            let untold = Untold::Direction { taken: Some(Op::Read) };
            report.findings.push(Finding::NotTold { tool: report.tool.clone(), untold });
        }
        report
            .findings
            .push(Finding::NotTold { tool: report.tool.clone(), untold: Untold::Megabyte { taken_bytes: 1 << 20 } });
        Section::from_report(report, end)
    }
}

fn is_title(line: &str) -> bool {
    line.contains(NAME) && TITLE.is_match(line)
}

fn is_heading(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "read transfer rate" | "write transfer rate")
}

/// Whether the values begin without the title, or their heading: they name themselves. Below others they are those of a
/// report whose title is lost, which may have written.
fn is_headless(text: &Text, at: usize) -> bool {
    let value = |line: &str| line.contains("Transfer Rate ") && VALUE.is_match(line.trim());
    let below = || (at + 1..at + 3).any(|next| value(text.line(next)));
    let above = || (at.saturating_sub(LONGEST)..at).any(|line| value(text.line(line)) || is_title(text.line(line)));
    (is_heading(text.line(at)) || value(text.line(at))) && below() && !above()
}

/// How the rates of a direction contradict each other: their mean lies between the least and the highest.
fn contradiction(seen: &BTreeMap<String, Option<Printed>>) -> Option<Finding> {
    let rate = |name: &str| seen.get(&format!("Transfer Rate {name}")).copied().flatten();
    [("Average", "Maximum"), ("Minimum", "Average"), ("Minimum", "Maximum")].into_iter().find_map(|(less, more)| {
        let (low, high) = (rate(less)?, rate(more)?);
        let (here, there) = (low.value * 1_048_576.0, high.value * 1_048_576.0);
        let of = format!("{less}, which is above the {more}");
        let contradiction =
            Contradiction::places(SourceQuantity::BytesPerSecond, &of, (Place::First, here), (Place::Again, there));
        (low.value - high.value > low.step.max(high.step)).then_some(Finding::SourceContradicts { contradiction })
    })
}

fn value(report: &mut Report, op: Op, name: &str, value: Option<f64>) {
    let Some(value) = value.filter(|value| *value > 0.0) else { return };
    let words = if op == Op::Write { "write" } else { "read" };
    match name {
        "Transfer Rate Average" => {
            let mut figure = Figure::new(Load {
                pattern: Some(Pattern::Sequential),
                queue_depth: Some(1),
                jobs: Some(1),
                direct: Some(true),
                ..Load::new(&format!("Transfer Rate Average, {words}"), op)
            });
            figure.bytes_per_second = Some(value * 1_048_576.0);
            report.figures.push(figure);
        }
        "Access Time" => {
            let mut figure = Figure::new(Load {
                pattern: Some(Pattern::Random),
                queue_depth: Some(1),
                jobs: Some(1),
                direct: Some(true),
                ..Load::new(&format!("Access Time, {words}"), op)
            });
            figure.latency_ns.mean = Some(value * 1e6);
            report.figures.push(figure);
        }
        // The least and the most of one run, and the cache of the disk.
        _ => report.scores.push(Score {
            name: format!("{name}, {words}"),
            value: Estimate::bare(value * 1_048_576.0, 1, &format!("as printed by {}, one run", report.tool)),
            unit: "B/s".to_owned(),
            more_is_better: true,
            program: None,
        }),
    }
}
