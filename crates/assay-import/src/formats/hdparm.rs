//! hdparm `-t` and `-T`, with `--direct` or without.
//!
//! That of busybox prints kB/s. Its MB are 2^20 bytes, and its kB 2^10 (`time_device` and `time_cache` in its source, hdparm.c, to be had from
//! <https://sourceforge.net/projects/hdparm/>). Disk reads are read one after another from the start of the device, or
//! from an offset, by one process. Cached reads are no figures of the disk: hdparm(8) calls them an indication of
//! processor, cache and memory; with `--direct` they show the cache and the interface of the drive.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_core::finding::{Finding, Missing};
use assay_core::workload::{Op, Pattern};
use regex_lite::Captures;

use crate::command::{commands, continued, is_device, is_options, named_path};
use crate::number::{Base, Printed, Told, printed, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, MOST_FIGURES, Report, Section};
use crate::text::Text;

/// hdparm.
pub(crate) struct Hdparm;

const NAME: &str = "hdparm";
/// Most lines between the name of a device and the first figure.
const MOST_BETWEEN: usize = 6;

/// The beginning of a figure, and the figure where it was not cut off.
static TIMING: LazyLock<Regex> = LazyLock::new(|| {
    let figure = r"\s*([0-9.]+) *([kMG]?B) in +([0-9.]+) seconds *= *([0-9.]+)\s*([kMG]?B)/s(?:ec)?";
    let pattern = format!(
        r"Timing (O_DIRECT )?(buffered |buffer-)?(cached?|disk) reads *(\(offset [^)]{{0,40}}\))? *:(?:{figure})?"
    );
    regex(&pattern)
});
/// What a failed call prints, on a line of its own or between a name and its figure.
static ERROR: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:HDIO|BLK)[A-Z_]*[^:\n]*failed: [^\n]*\n?"));

impl Format for Hdparm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["hdparm", "buffered disk reads", "cached reads", "mb/sec"]
    }

    fn needs(&self) -> &'static str {
        "a line of reads with megabytes, seconds and rate"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        has_timing(text.line(at))
            || device(text, at).is_some()
                && (at + 1..at + MOST_BETWEEN)
                    .take_while(|next| device(text, *next).is_none())
                    .any(|next| has_timing(text.line(next)))
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        report.medium.device = device(text, at);
        report.medium.path = report.medium.device.clone().unwrap_or_default();
        if let Some(device) = report.medium.device.clone() {
            identity(&mut report, text, at, &device);
        }
        let first = (at..at + MOST_BETWEEN).find(|line| has_timing(text.line(*line))).unwrap_or(at);
        let end = end(text, first);
        let joined = text.joined(first, end);
        let plain = ERROR.replace_all(&joined, "");
        for timing in TIMING.captures_iter(&plain).take(MOST_FIGURES) {
            take(&mut report, &timing);
        }
        if report.is_empty() {
            return Section::nothing(end, text.number(first), "hdparm gave no figure");
        }
        Section::from_report(report, end)
    }
}

/// Most lines between figures and what `hdparm -I` prints of the same device, and of the latter that tell which it is.
const MOST_TO_IDENTITY: usize = 60;
const IDENTITY: usize = 8;

/// Takes model and serial number, where the text shows those of this device (`hdparm -I`), too.
fn identity(report: &mut Report, text: &Text, at: usize, device: &str) {
    let around = at.saturating_sub(MOST_TO_IDENTITY)..text.len().min(at + MOST_TO_IDENTITY);
    let is_head = |line: &usize| text.line(*line).trim().strip_suffix(':') == Some(device);
    let heads = around.filter(is_head);
    let is_ata = |line: &usize| (line + 1..line + 3).any(|next| text.line(next).trim().starts_with("ATA device, with"));
    let Some(head) = heads.into_iter().find(is_ata) else { return };
    for line in head..text.len().min(head + IDENTITY) {
        let Some((name, value)) = text.line(line).split_once(':') else { continue };
        let value = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        match name.trim() {
            "Model Number" => report.medium.model = value,
            "Serial Number" => report.medium.unit = value,
            _ => {}
        }
    }
}

fn has_timing(line: &str) -> bool {
    line.contains("Timing ") && TIMING.is_match(line)
}

/// The device of a line that names it, as the tool does, or of a command that begins in it.
fn device(text: &Text, at: usize) -> Option<String> {
    let line = text.line(at);
    let named = line.trim().strip_suffix(':').filter(|name| is_device(name) && !name.contains(char::is_whitespace));
    let whole = || line.contains(NAME).then(|| continued(text, at, at + MOST_BETWEEN, is_options));
    let is_named = |word: &String| is_device(word) && named_path(word).is_some();
    let called = || commands(&whole()?, NAME).into_iter().flatten().find(is_named);
    named.map(str::to_owned).or_else(called)
}

/// The line behind the last figure of a run that begins at line `first`: the next of a figure that it has already
/// belongs to another run.
fn end(text: &Text, first: usize) -> usize {
    let kinds = |line: &str| -> BTreeSet<String> {
        TIMING.captures_iter(line).map(|timing| timing[0].split(':').next().unwrap_or_default().to_owned()).collect()
    };
    let mut seen = kinds(text.line(first));
    let mut end = first + 1;
    for at in first + 1..text.len() {
        let line = text.line(at).trim();
        if has_timing(line) {
            let new = kinds(line);
            if seen.len() >= MOST_FIGURES || new.iter().any(|kind| seen.contains(kind)) {
                break;
            }
            seen.extend(new);
            end = at + 1;
        // A mail is wrapped before the unit.
        } else if line.contains(" MB in ") || line.contains("failed:") || matches!(line, "MB/sec" | "kB/sec" | "GB/sec")
        {
            end = at + 1;
        } else if !line.is_empty() {
            break;
        }
    }
    end
}

fn take(report: &mut Report, timing: &Captures<'_>) {
    let direct = timing.get(1).is_some();
    let disk = &timing[3] == "disk";
    let kind = timing[0].split(':').next().unwrap_or_default().trim_start_matches("Timing ").trim().to_owned();
    let number = |at: usize| timing.get(at).and_then(|part| printed(part.as_str()));
    let bytes_of = |at: usize| timing.get(at).and_then(|part| unit(part.as_str(), Base::Binary));
    let (Some(amount), Some(seconds), Some(rate)) = (number(5), number(7), number(8)) else {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::Figures { test: kind } });
        return;
    };
    let (Some(amount_unit), Some(rate_unit)) = (bytes_of(6), bytes_of(9)) else { return };
    let bytes_per_second = rate.value * rate_unit;
    // It counts whole buffers.
    let bytes = Printed::exact(amount.value * amount_unit);
    let told =
        Told { rate: Some(rate.times(rate_unit)), bytes: Some(bytes), seconds: Some(seconds), ..Told::default() };
    report.findings.extend(told.contradiction(None));
    if !disk {
        report.score(&format!("hdparm {kind}"), bytes_per_second / 1_048_576.0, "MiB/s", true);
        return;
    }
    let load = Load {
        pattern: Some(Pattern::Sequential),
        queue_depth: Some(1),
        jobs: Some(1),
        direct: Some(direct),
        duration_ns: Some((seconds.value * 1e9) as u64),
        ..Load::new(&kind, Op::Read)
    };
    let mut figure = Figure::new(load);
    figure.bytes_per_second = Some(bytes_per_second);
    report.figures.push(figure);
}
