//! ioping 1.2 and later: its JSON (`-J`).
//!
//! An object for each request and, with `stat`, one for the statistics (`json_request` and `json_statistics` of ioping.c
//! of koct9i/ioping, GPL). Times are nanoseconds. With `-p` there are statistics of parts before those of the whole, which
//! come last. What requests do beside their direction and size is not told, as in its text.

use assay_core::finding::{Finding, Missing, Untold};
use assay_core::workload::Op;
use serde::Deserialize;

use crate::command::commands_above;
use crate::date;
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// ioping's JSON.
pub(crate) struct IopingJson;

const NAME: &str = "ioping";
/// Most lines of a report: ten thousands of requests.
const LONGEST: usize = 400_000;
/// Most lines between a command and its output.
const MOST_ABOVE: usize = 3;

/// A request or the statistics.
#[derive(Debug, Deserialize)]
struct Item {
    timestamp: f64,
    target: Target,
    io: Option<Io>,
    stat: Option<Stat>,
}

#[derive(Debug, Deserialize)]
struct Target {
    path: String,
    fstype: String,
    device: String,
    device_size: i64,
}

#[derive(Debug, Deserialize)]
struct Io {
    operation: String,
}

#[derive(Debug, Deserialize)]
struct Stat {
    count: u64,
    size: u64,
    iops: f64,
    bps: f64,
    avg: f64,
    max: f64,
}

impl Format for IopingJson {
    fn name(&self) -> &'static str {
        "ioping JSON"
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["\"fstype\"", "\"device_size\"", "\"mdev\"", "\"ignored\"", "\"bps\""]
    }

    fn needs(&self) -> &'static str {
        "the list of its periods"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.long_line(at).trim();
        // jq and editors put the first object into a line of its own.
        let apart = || line == "[" && text.long_line(at + 1).trim().starts_with('{');
        if !line.starts_with("[{") && !apart() {
            return false;
        }
        let has = |lines: std::ops::Range<usize>, name: &str| {
            lines.into_iter().any(|line| text.long_line(line).contains(name))
        };
        has(at..at + 4, "\"timestamp\"") && has(at..at + 9, "\"fstype\"")
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut end = at;
        while end < text.len().min(at + LONGEST) {
            end += 1;
            let line = text.long_line(end - 1).trim();
            if line.ends_with("}]") || line == "]" || self.begins(text, end) {
                break;
            }
        }
        let body = text.joined(at, end);
        let (items, cut_off) = match serde_json::from_str::<Vec<Item>>(body.trim()) {
            Ok(items) => (items, false),
            // The objects before the one in which it ends.
            Err(_) => {
                match body.rfind("},{").and_then(|cut| serde_json::from_str(&format!("{}}}]", &body[..cut])).ok()) {
                    Some(items) => (items, true),
                    None => return Section::nothing(end, text.number(at), "JSON of ioping that cannot be read"),
                }
            }
        };
        let command = commands_above(text, at, MOST_ABOVE, NAME).next();
        match report(&items, command.as_deref(), cut_off) {
            Some(report) => Section::from_report(report, end),
            None => Section::nothing(end, text.number(at), "JSON of ioping without its statistics, which come last"),
        }
    }
}

fn report(items: &[Item], command: Option<&[String]>, cut_off: bool) -> Option<Report> {
    let last = items.iter().rev().find(|item| item.stat.is_some())?;
    let stat = last.stat.as_ref().filter(|stat| stat.count > 0)?;
    let mut report = Report::new(NAME);
    let seconds = items.first().map(|first| first.timestamp).filter(|time| *time > 0.0);
    report.created = seconds.and_then(|seconds| date::of_unix(seconds as u64));
    let Target { path, fstype, device, device_size } = &last.target;
    path.clone_into(&mut report.medium.path);
    if device.starts_with("/dev/") {
        report.medium.filesystem = Some(fstype.clone()).filter(|name| !name.is_empty());
        report.medium.device = Some(device.clone());
    } else if path.starts_with("/dev/") {
        report.medium.device = Some(path.clone());
    }
    report.medium.capacity_bytes = u64::try_from(*device_size).ok().filter(|size| *size > 0);
    if cut_off {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
    }
    let printed = items.iter().find_map(|item| match item.io.as_ref()?.operation.as_str() {
        "read" => Some(Op::Read),
        "write" => Some(Op::Write),
        _ => None,
    });
    // With `-q` no request is printed. Only options that begin with a W, or letters run together, make it write.
    let writes = |word: &String| word.starts_with('-') && (word.contains('W') || word.contains("-write"));
    let called = || command.map(|words| if words.iter().any(writes) { Op::Write } else { Op::Read });
    let Some(op) = printed.or_else(called) else {
        report.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Direction { taken: None } });
        report.score("ioping requests", stat.iops, "IOPS", true);
        return Some(report);
    };
    let mut figure = Figure::new(Load {
        block_bytes: stat.size.checked_div(stat.count).filter(|size| *size > 0),
        queue_depth: Some(1),
        jobs: Some(1),
        ..Load::new(NAME, op)
    });
    (figure.iops, figure.bytes_per_second) = (Some(stat.iops), Some(stat.bps));
    (figure.latency_ns.mean, figure.latency_ns.max) = (Some(stat.avg), Some(stat.max));
    report.figures.push(figure);
    Some(report)
}
