//! The console log of PiBenchmarks (Storage.sh of <https://github.com/TheRemote/PiBenchmarks>) and of scripts made of it.
//!
//! It runs hdparm, dd, fio and iozone one after another; what they print is read as theirs. Of it remain the lines about
//! board and medium, the rates of fio, which it prints in a line of its own, and its score. The table at the end says
//! all once more, and is read only of what stands nowhere above. Loads as the script asks for them: dd 4 KiB with
//! `conv=fsync`; fio libaio, direct, 4 KiB, depth 64, 80 MiB; iozone `-e -I`, 4 KiB, 80 MiB. MB of hdparm are 2^20
//! bytes, of dd 10^6; KB of fio and iozone are 2^10.

use std::sync::LazyLock;

use assay_core::finding::{Detail, Finding, Missing};
use assay_core::medium::MediumKind;
use assay_core::workload::{Op, Pattern, Sync};

use crate::number::{Base, Printed, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// PiBenchmarks.
pub(crate) struct PiBenchmarks;

const NAME: &str = "PiBenchmarks";
/// Most lines of the part about board and medium.
const MOST_HEADER: usize = 400;
/// Most lines of a whole log.
const MOST_LOG: usize = 1_500;
/// Size of the files of fio and iozone.
const SPAN_BYTES: u64 = 80 << 20;

static BOARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"Board information: (?:Manufacturer: (.*?) - Model: (.*?) - )?Architecture: (.*?) - OS: (.*?)\s*$")
});
static DEVICE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:System rootfs drive|Chosen partition) \(([^)]*)\) has been detected as (/dev/\S+)"));
static CARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(MicroSD information|MMC Type): .*?Manufacturer: (.*?) - Model: (.*?) - (?:.*Class: (.*?)\s*$)?")
});
static DRIVE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"ID-\d+: (/dev/\S+) (?:type: (\S+) )?(?:vendor: (.*?) )?model: (.*?) (?:size: ([0-9.]+) ([KMGT]iB))?")
});
static FIO: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"FIO results - 4k RandWrite: (\d+) IOPS \((\d+) KB/s\) - 4k RandRead: (\d+) IOPS \((\d+) KB/s\)")
});
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(HDParm|DD|FIO|IOZone)\s+((?:Cached )?Disk (?:Read|Write)|4k (?:[Rr]andom )?(?:[Rr]ead|[Ww]rite))\s+([0-9][0-9.,]*) (IOPS|[kMG]?B/s(?:ec)?|KB/s|MB/sec)(?: \(([0-9][0-9.,]*) KB/s\))?",
    )
});
static SCORE: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?:\*\*)?Score:?(?:\*\*)?\s+(?:-\s+)?(\d[\d,]*)\s*$"));

impl Format for PiBenchmarks {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["board information", "4k randwrite", "running hdparm tests", "hdparmcached", "score:"]
    }

    fn needs(&self) -> &'static str {
        "the lines of the script in English"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains("Board information: ") && BOARD.is_match(line)
            || line.contains(" has been detected as /dev/") && DEVICE.is_match(line)
            || line.contains("FIO results - ") && FIO.is_match(line)
            || is_table(line)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let line = text.line(at);
        if let Some(fio) = FIO.captures(line) {
            let mut report = Report::new("fio");
            for (op, from) in [(Op::Write, 1), (Op::Read, 3)] {
                let number = |at: usize| printed(&fio[at]).filter(|number| number.value > 0.0);
                add_fio(&mut report, op, number(from), number(from + 1));
            }
            return Section::from_report(report, at + 1);
        }
        if is_table(line) {
            return table(text, at);
        }
        header(text, at)
    }
}

/// Whether a result of dd, at line `at`, is that of the script. All its versions, from 2019 to 2024, call
/// `dd if=/dev/zero of=test bs=4k conv=fsync`, with a `count` of 80k or, from 2023 on, 130k, between these two lines.
pub(super) fn ran_dd(text: &Text, at: usize, bytes: u64) -> bool {
    let filled = |line: &usize| !text.line(*line).trim().is_empty();
    let above: Vec<&str> =
        (at.saturating_sub(8)..at).rev().filter(filled).take(3).map(|line| text.line(line)).collect();
    let below = (at + 1..at + 4).find(filled).map_or("", |line| text.line(line));
    let count = [80 << 10, 130 << 10].iter().any(|count| bytes == count * 4096);
    count && above.len() == 3 && above[2].contains("Running dd tests ...") && below.contains("DD Write Speed: ")
}

fn is_table(line: &str) -> bool {
    line.contains("Category") && line.contains("Test") && line.contains("Result")
}

/// Board and medium. Serial numbers and addresses of the network in these lines are left where they are.
fn header(text: &Text, at: usize) -> Section {
    let mut report = Report::new(NAME);
    report.begins = BOARD.is_match(text.line(at));
    let mut end = at + 1;
    for line in at..text.len().min(at + MOST_HEADER) {
        let said = text.line(line);
        if line > at && (BOARD.is_match(said) || said.contains("Running HDParm tests") || said.contains("Timing ")) {
            break;
        }
        if !take(&mut report, said) {
            continue;
        }
        end = line + 1;
    }
    Section { end, reports: vec![report], problems: Vec::new() }
}

fn take(report: &mut Report, line: &str) -> bool {
    let text_of = |text: Option<regex_lite::Match<'_>>| {
        text.map(|text| text.as_str().trim().to_owned()).filter(|text| !text.is_empty())
    };
    if let Some(board) = BOARD.captures(line) {
        report.host.board = text_of(board.get(2));
        report.host.arch = text_of(board.get(3));
        report.host.os = text_of(board.get(4));
    } else if let Some(device) = DEVICE.captures(line) {
        device[2].clone_into(&mut report.medium.path);
        report.medium.device = Some(device[2].to_owned());
        report.medium.mount_point = text_of(device.get(1)).filter(|path| path.starts_with('/'));
    } else if let Some(card) = CARD.captures(line) {
        report.medium.kind = if &card[1] == "MMC Type" { MediumKind::Emmc } else { MediumKind::Sd };
        report.medium.vendor = text_of(card.get(2));
        report.medium.model = text_of(card.get(3));
        report.medium.claimed_classes = classes(card.get(4).map_or("", |classes| classes.as_str()));
    } else if let Some(drive) = DRIVE.captures(line) {
        // Of several drives the one that holds the partition.
        if !report.medium.path.starts_with(&drive[1]) {
            return false;
        }
        if report.medium.vendor.is_none() && report.medium.model.is_none() {
            report.medium.vendor = text_of(drive.get(3));
            report.medium.model = text_of(drive.get(4));
        }
        let size = decimal(drive.get(5).map_or("", |size| size.as_str()));
        let scale = drive.get(6).and_then(|scale| unit(scale.as_str(), Base::Binary));
        report.medium.capacity_bytes = size.zip(scale).map(|(size, scale)| (size * scale) as u64);
    } else {
        return false;
    }
    true
}

/// `A1 Class 10 U1` as a card says it: `A1`, `C10`, `U1`.
fn classes(text: &str) -> Vec<String> {
    let mut words = text.split_whitespace();
    let mut all = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "Class" => all.extend(words.next().map(|number| format!("C{number}"))),
            word => all.push(word.to_owned()),
        }
    }
    all
}

/// The table at the end: what was read above is not read again.
fn table(text: &Text, at: usize) -> Section {
    let above = |mark: &[&str]| {
        let lines = (at.saturating_sub(MOST_LOG)..at).rev().take_while(|line| !is_table(text.line(*line)));
        lines.into_iter().any(|line| mark.iter().any(|mark| text.line(line).contains(mark)))
    };
    let seen = [
        ("HDParm", above(&["disk reads:", "disk reads :"])),
        ("DD", above(&["copied,", "bytes transferred"])),
        ("FIO", above(&["FIO results - "])),
        ("IOZone", above(&["reclen"])),
    ];
    let mut report = Report::new(NAME);
    let (mut scored, mut end) = (false, at + 1);
    for line in at + 1..text.len().min(at + 30) {
        // Bars of a table of Markdown that lost its second line.
        let said = &text.line(line).replace('|', " ");
        if let Some(score) = SCORE.captures(said) {
            if let Some(score) = decimal(&undivided(&score[1])) {
                report.score("PiBenchmarks score", score, "", true);
            }
            (scored, end) = (true, line + 1);
            break;
        }
        let Some(row) = ROW.captures(said) else { continue };
        end = line + 1;
        let repeated = seen.iter().any(|(tool, seen)| *tool == &row[1] && *seen);
        if !repeated {
            let number = |at: usize| printed(&undivided(row.get(at)?.as_str())).filter(|number| number.value > 0.0);
            add_row(&mut report, &row[1], &row[2], (number(3), &row[4]), number(5));
        }
    }
    if report.is_empty() {
        // A table that only repeats, cut off before the score.
        return if scored || seen.iter().any(|(_, seen)| *seen) {
            Section { end, ..Section::default() }
        } else {
            Section::nothing(end, text.number(at), "a table of PiBenchmarks without a figure")
        };
    }
    if !scored {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Score]) });
    }
    Section::from_report(report, end)
}

/// A number without the commas between its thousands, which the page has and the script has not: `42,760`.
fn undivided(number: &str) -> String {
    let mut groups = number.split('.').next().unwrap_or_default().split(',').skip(1).peekable();
    let divided = groups.peek().is_some() && groups.all(|group| group.len() == 3);
    if divided { number.replace(',', "") } else { number.to_owned() }
}

fn add_row(report: &mut Report, tool: &str, name: &str, value: (Option<Printed>, &str), kib: Option<Printed>) {
    let (Some(value), name_of_unit) = value else { return };
    let op = if name.to_lowercase().ends_with("read") { Op::Read } else { Op::Write };
    let pattern = if name.to_lowercase().contains("random") { Pattern::Random } else { Pattern::Sequential };
    let base = if tool == "DD" { Base::Decimal } else { Base::Binary };
    match (tool, name) {
        // Some write the two figures in rows of their own.
        ("FIO", _) if name_of_unit == "IOPS" => return add_fio(report, op, Some(value), kib),
        ("FIO", _) => {
            let Some(scale) = unit(name_of_unit, base) else { return };
            return add_fio(report, op, None, Some(value.times(scale / 1024.0)));
        }
        ("HDParm", "Cached Disk Read") => {
            let Some(scale) = unit(name_of_unit, base) else { return };
            return report.score("hdparm cached reads", value.value * scale / 1_048_576.0, "MiB/s", true);
        }
        _ => {}
    }
    let Some(scale) = unit(name_of_unit, base) else { return };
    let mut load = Load {
        pattern: Some(pattern),
        queue_depth: Some(1),
        jobs: Some(1),
        ..Load::new(&format!("{tool} {name}"), op)
    };
    if tool != "HDParm" {
        load.block_bytes = Some(4096);
        load.direct = Some(tool == "IOZone");
        load.sync = Some(Sync::End);
        load.span_bytes = (tool == "IOZone").then_some(SPAN_BYTES);
    }
    let mut figure = Figure::new(load);
    figure.rate(Some(value.times(scale)));
    if op == Op::Write {
        figure.durable_bytes_per_second = figure.bytes_per_second;
    }
    report.figures.push(figure);
}

fn add_fio(report: &mut Report, op: Op, iops: Option<Printed>, kib: Option<Printed>) {
    let load = Load {
        pattern: Some(Pattern::Random),
        block_bytes: Some(4096),
        queue_depth: Some(64),
        jobs: Some(1),
        span_bytes: Some(SPAN_BYTES),
        direct: Some(true),
        sync: Some(Sync::End),
        ..Load::new(if op == Op::Read { "4k random read" } else { "4k random write" }, op)
    };
    if let Some(known) = report.figures.iter_mut().find(|known| known.load == load) {
        if known.iops.is_none() {
            known.operations(iops);
        }
        if known.bytes_per_second.is_none() {
            known.rate(kib.map(|kib| kib.times(1024.0)));
        }
        return;
    }
    let mut figure = Figure::new(load);
    figure.operations(iops);
    figure.rate(kib.map(|kib| kib.times(1024.0)));
    if iops.is_some() || kib.is_some() {
        report.figures.push(figure);
    }
}
