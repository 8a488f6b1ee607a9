//! pveperf of Proxmox VE: reads through the cache as a figure; seeks, syncs and the processor as scores.
//!
//! Lines: `pveperf` of its manual (<https://pve.proxmox.com/pve-docs/pveperf.1.html>), which says what each is: sequential reads
//! of the disk, the mean of seeks, and how often a second fsync returned. What its MB are no text says; 2^20 bytes are taken, as
//! by hdparm. On ZFS it reads nothing. Its lines about DNS describe no medium.

use std::sync::LazyLock;

use assay_core::finding::{Finding, Untold};
use assay_core::units::MIB;
use assay_core::workload::{Op, Pattern};

use crate::command::{commands_above, is_device};
use crate::number::printed;
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// pveperf.
pub(crate) struct Pveperf;

const NAME: &str = "pveperf";
/// Most lines between its lines, and to its command.
const MOST_BETWEEN: usize = 3;

static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(CPU BOGOMIPS|REGEX/SECOND|HD SIZE|BUFFERED READS|AVERAGE SEEK TIME|FSYNCS/SECOND|DNS EXT|DNS INT): *([0-9.]+)(?: (\S+))?(?: \((\S+)\))?$",
    )
});

impl Format for Pveperf {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["pveperf", "fsyncs/second", "buffered reads:", "regex/second", "cpu bogomips"]
    }

    fn needs(&self) -> &'static str {
        "`BUFFERED READS:` or `FSYNCS/SECOND:` with a number"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        is_row(text.line(at)) && (at..at + 8).any(|next| is_telling(text.line(next)))
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        let mut end = at + 1;
        let mut seen: Vec<String> = Vec::new();
        for number in at..text.len() {
            let line = text.line(number).trim();
            if number > end + MOST_BETWEEN {
                break;
            }
            let Some(row) = ROW.captures(line) else { continue };
            // The same again is another run.
            if seen.contains(&row[1].to_owned()) {
                break;
            }
            seen.push(row[1].to_owned());
            end = number + 1;
            take(&mut report, &row);
        }
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "pveperf printed no figure of a disk");
        }
        if report.medium.path.is_empty() {
            let place = commands_above(text, at, MOST_BETWEEN, NAME).next().and_then(|words| words.into_iter().next());
            report.medium.path = place.filter(|place| place.starts_with('/')).unwrap_or_default();
        }
        Section::from_report(report, end)
    }
}

fn is_row(line: &str) -> bool {
    line.contains(": ") && ROW.is_match(line.trim())
}

fn is_telling(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("BUFFERED READS:") || line.starts_with("FSYNCS/SECOND:")) && ROW.is_match(line)
}

fn take(report: &mut Report, row: &regex_lite::Captures<'_>) {
    let Some(value) = printed(&row[2]).filter(|value| value.value > 0.0) else { return };
    let unit = row.get(3).map_or("", |unit| unit.as_str());
    match &row[1] {
        "HD SIZE" => {
            if let Some(place) = row.get(4).map(|place| place.as_str()) {
                report.medium.device = is_device(place).then(|| place.to_owned());
                place.clone_into(&mut report.medium.path);
            }
        }
        "BUFFERED READS" if unit == "MB/sec" => {
            let mut figure = Figure::new(Load {
                pattern: Some(Pattern::Sequential),
                queue_depth: Some(1),
                jobs: Some(1),
                direct: Some(false),
                ..Load::new("buffered reads", Op::Read)
            });
            figure.rate(Some(value.times(MIB as f64)));
            report.figures.push(figure);
            report.find(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Megabyte { taken_bytes: MIB } });
        }
        "AVERAGE SEEK TIME" if unit == "ms" => report.score("pveperf seek time", value.value, "ms", false),
        "FSYNCS/SECOND" => report.score("pveperf fsyncs", value.value, "fsyncs/s", true),
        "REGEX/SECOND" => report.score("pveperf regex", value.value, "regex/s", true),
        _ => {}
    }
}
