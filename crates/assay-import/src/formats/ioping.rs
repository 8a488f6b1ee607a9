//! ioping: the statistics behind its requests.
//!
//! Its units are powers of 1024 (`KiB`, up to version 0.8 written `kb`), `k` before `iops` is 1000 (ioping.c). It has one
//! request under way, whatever its options. A rate is that of the time within requests, without the pauses between. That
//! it reads at random, through the cache after dropping it, and syncs after each write are defaults that options change
//! and the text does not tell.

use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Finding, Place, SourceQuantity, Untold};
use assay_core::workload::{Op, Pattern};

use crate::command::{commands_above, option_size};
use crate::number::{Base, Printed, decimal, printed, unit};
use crate::pattern::{Regex, regex};
use crate::reach::is_shortened;
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// ioping.
pub(crate) struct Ioping;

const NAME: &str = "ioping";
/// Most lines between a command and its statistics, where no request was printed.
const MOST_ABOVE: usize = 4;
/// Share of a rate that its last digit is worth, from which on it is coarse.
const COARSE: f64 = 0.05;

/// On Windows it knows neither file system nor device, and prints the blank between them: `--- C:\x ( 465.8 GiB)`.
static TITLE: LazyLock<Regex> = LazyLock::new(|| {
    let size = "[0-9.]+ ?[KMGTP]i?[Bb]";
    regex(&format!(r"^--- (.+?) \((?:(\S*) )?(?:(\S+?)(?: {size})?|{size})?\) ioping statistics ---(?: *([0-9].*))?$"))
});
static DONE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^([0-9.]+)( ?[kKMG])? requests completed in ([0-9.]+) (\w+), (?:([0-9.]+) ([KMGTP]?i?B) (read|written), )?([0-9.]+)( ?[kKMG])? iops, ([0-9.]+) ([kKMGTmgt]?i?[Bb])/s",
    )
});
static LATENCY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^min/avg/max/mdev = ([0-9.]+) (\w+) / ([0-9.]+) (\w+) / ([0-9.]+) (\w+) / ([0-9.]+) (\w+)$")
});
/// The same with one unit for all four, up to version 0.8.
static SHORT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^min/avg/max/mdev = ([0-9.]+)/([0-9.]+)/([0-9.]+)/([0-9.]+) (\w+)$"));
/// A request, which has its size in front; versions 0.7 and 0.8 write its unit small: `4.0 kb from`.
static REQUEST: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([0-9.]+) ([KMG]?i?B|[kmg]?b|bytes) (<<<|>>>|from|to) .*request=\d+ "));

/// What nench (<https://github.com/n-st/nench>) writes above a line of `ioping -R`, and above one of `ioping -RL`.
static NENCH: LazyLock<Regex> = LazyLock::new(|| regex(r"^ioping: (seek rate|sequential (?:read )?speed)$"));
/// The requests with the time between them, which `-R` has not. Before 1.0 it printed those within requests alone.
static GENERATED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:generated )?[0-9.]+(?: ?[kKMG])? requests (?:completed )?in [0-9.]+ \w+, (?:[0-9.]+ [KMGTP]?i?B, )?([0-9.]+)( ?[kKMG])? iops, ([0-9.]+) ([KMGT]?i?B)/s$",
    )
});

impl Format for Ioping {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["ioping", "requests completed in", "min/avg/max/mdev", "iops"]
    }

    fn needs(&self) -> &'static str {
        "the line `requests completed in`"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains("ioping statistics ---") && TITLE.is_match(line.trim())
            || line.contains("requests completed in") && DONE.is_match(line.trim())
            || line.contains("ioping: s") && NENCH.is_match(line.trim())
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        if NENCH.is_match(text.line(at).trim()) {
            return nench(text, at);
        }
        let mut report = Report::new(NAME);
        if let Some(title) = TITLE.captures(text.line(at).trim()) {
            report.medium.path = title[1].to_owned();
            // A raw device stands there as one, with no file system.
            if let Some(device) = title.get(3).filter(|device| device.as_str().starts_with("/dev/")) {
                report.medium.filesystem = title.get(2).map(|name| name.as_str().to_owned());
                report.medium.device = Some(device.as_str().to_owned());
            } else if title[1].starts_with("/dev/") {
                report.medium.device = Some(title[1].to_owned());
            } else if let Some(name) = title.get(2).filter(|name| !["", "block", "device"].contains(&name.as_str())) {
                // Without a device below it: of a network, of memory, of a host.
                report.medium.filesystem = Some(name.as_str().to_owned());
            }
        }
        let request = (at.saturating_sub(4)..at).rev().find_map(|line| REQUEST.captures(text.line(line).trim()));
        // One of another target stands there where lines between are lost.
        let title = text.line(at);
        let target = |request: &regex_lite::Captures<'_>| within(&request[0]) == within(title);
        let request = request.filter(target);
        let request_of = request.and_then(|request| {
            let size = decimal(&request[1])? * unit(&request[2], Base::Binary)?;
            let op = if matches!(&request[3], "<<<" | "from") { Op::Read } else { Op::Write };
            Some((op, size))
        });
        let request_of = request_of.or_else(|| called(text, at, &report.medium.path));
        // A copy may begin behind the title.
        let from = if TITLE.is_match(text.line(at).trim()) { at + 1 } else { at };
        let (mut end, mut iops) = (at + 1, None);
        // Pages lose the end of the line of the title.
        let joined = TITLE.captures(text.line(at).trim()).and_then(|title| DONE.captures(title.get(4)?.as_str()));
        if let Some(done) = joined {
            take(&mut report, &done, request_of);
            iops = scaled(&done, 8, 9);
        }
        for number in from..(at + 5).min(text.len()) {
            let line = text.line(number).trim();
            if let Some(done) = DONE.captures(line) {
                take(&mut report, &done, request_of);
                iops = scaled(&done, 8, 9);
            } else if let Some(latency) = Latency::from_line(line) {
                match report.figures.last_mut() {
                    Some(figure) => latency.go_to(figure),
                    None if !report.scores.is_empty() => latency.score(&mut report, NAME, iops),
                    None => {}
                }
            } else if !(line.starts_with("generated ") || line.starts_with("min/avg/max/mdev")) {
                break;
            }
            end = number + 1;
        }
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "statistics of ioping without a request");
        }
        Section::from_report(report, end)
    }
}

/// The lines of ioping that nench kept: of seeks only the times, of sequential reads only the rate.
fn nench(text: &Text, at: usize) -> Section {
    let mut report = Report::new(NAME);
    let mut end = at;
    for _ in 0..2 {
        let Some(title) = NENCH.captures(text.line(end).trim()) else { break };
        let line = text.line(end + 1).trim();
        if &title[1] == "seek rate" {
            let Some(latency) = Latency::from_line(line) else { break };
            latency.score(&mut report, "ioping seek rate:", None);
        } else {
            let Some(found) = GENERATED.captures(line) else { break };
            let mut figure = Figure::new(Load {
                pattern: Some(Pattern::Sequential),
                block_bytes: Some(256 << 10),
                queue_depth: Some(1),
                jobs: Some(1),
                ..Load::new(NAME, Op::Read)
            });
            figure.operations(scaled(&found, 1, 2));
            figure.rate(printed(&found[3]).zip(unit(&found[4], Base::Binary)).map(|(rate, unit)| rate.times(unit)));
            report.figures.push(figure);
        }
        end += 2;
    }
    if report.is_empty() {
        return Section::nothing(at + 1, text.number(at), "nench without a result of ioping");
    }
    Section::from_report(report, end)
}

/// Direction and size of a request by the command above, of this target: it reads 4 KiB unless options say otherwise
/// (ioping(1); `-L` is 256 KiB).
fn called(text: &Text, at: usize, target: &str) -> Option<(Op, f64)> {
    let is_of = |words: &Vec<String>| words.last().is_some_and(|last| last == target);
    let words = commands_above(text, at, MOST_ABOVE, NAME).find(is_of).filter(|words| !is_shortened(words))?;
    let options = words.get(..words.len().saturating_sub(1)).unwrap_or_default();
    let (mut op, mut bytes, mut behind) = (Op::Read, None, false);
    let mut long = false;
    for (at, word) in options.iter().enumerate() {
        if std::mem::take(&mut behind) {
            continue;
        }
        // Options with names, and what is no option, are of versions that print what they do.
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        for (place, letter) in letters.char_indices() {
            match letter {
                'W' => op = Op::Write,
                'L' => long = true,
                'R' | 'A' | 'C' | 'D' | 'q' | 'Y' | 'y' | 'B' | 'k' => {}
                // Those with a value, which stands behind it or in the next word.
                _ => {
                    let rest = letters.get(place + letter.len_utf8()..).unwrap_or_default();
                    behind = rest.is_empty();
                    let value = if behind { options.get(at + 1).map_or("", String::as_str) } else { rest };
                    if letter == 's' {
                        bytes = Some(option_size(value, 1)?);
                    }
                    break;
                }
            }
        }
    }
    Some((op, bytes.unwrap_or(if long { 256 << 10 } else { 4 << 10 }) as f64))
}

/// What stands in brackets, which is the target.
fn within(line: &str) -> Option<&str> {
    line.split_once('(').and_then(|(_, rest)| rest.split(')').next())
}

/// Mean and longest time of a request in nanoseconds.
struct Latency {
    mean: Printed,
    max: Printed,
}

impl Latency {
    fn from_line(line: &str) -> Option<Self> {
        let one = |number: &str, unit: &str| Some(printed(number)?.times(nanoseconds(unit)?));
        if let Some(found) = LATENCY.captures(line) {
            return Some(Self { mean: one(&found[3], &found[4])?, max: one(&found[5], &found[6])? });
        }
        let found = SHORT.captures(line)?;
        Some(Self { mean: one(&found[2], &found[5])?, max: one(&found[3], &found[5])? })
    }

    /// The same where nothing tells what the requests did.
    fn score(self, report: &mut Report, of: &str, iops: Option<Printed>) {
        if let Some(finding) = self.contradiction(iops) {
            report.find(finding);
            return;
        }
        for (name, time) in [("mean", self.mean), ("longest", self.max)] {
            if time.value > 0.0 {
                report.score(&format!("{of} {name} time of a request"), time.value, "ns", false);
            }
        }
    }

    fn go_to(self, figure: &mut Figure) {
        // What is printed as zero is less than its last digit.
        let some = |time: Printed| Some(time.value).filter(|time| *time > 0.0);
        match self.contradiction(figure.told.iops) {
            Some(finding) => figure.findings.push(finding),
            None => (figure.latency_ns.mean, figure.latency_ns.max) = (some(self.mean), some(self.max)),
        }
    }

    /// The requests of a run go one after another and take its time: where they do not, the line is that of another.
    fn contradiction(&self, iops: Option<Printed>) -> Option<Finding> {
        let iops = iops.filter(|iops| iops.value > 0.0)?;
        let ratio = self.mean.value * iops.value / 1e9;
        let differs = ratio.max(1.0 / ratio) > 1.1 + self.mean.step / self.mean.value + iops.step / iops.value;
        let (mean, made) = ((Place::Row, self.mean.value), (Place::Computed, 1e9 / iops.value));
        let contradiction = Contradiction::places(SourceQuantity::LatencyNs, "mean", mean, made);
        differs.then_some(Finding::SourceContradicts { contradiction })
    }
}

/// Takes the figures of a run. Where no request stands above, nothing tells what it did.
fn take(report: &mut Report, done: &regex_lite::Captures<'_>, request_of: Option<(Op, f64)>) {
    if let Some(figure) = figure(done, request_of) {
        report.figures.push(figure);
    } else if let Some(iops) = scaled(done, 8, 9).filter(|iops| iops.value > 0.0) {
        report.find(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Direction { taken: None } });
        report.score("ioping requests", iops.value, "IOPS", true);
        let rate = printed(&done[10]).zip(unit(&done[11], Base::Binary)).map(|(rate, unit)| rate.times(unit));
        if let Some(rate) = rate.filter(|rate| rate.value > 0.0) {
            report.score("ioping rate", rate.value, "B/s", true);
        }
    }
}

fn scaled(done: &regex_lite::Captures<'_>, number: usize, letter: usize) -> Option<Printed> {
    let power = match done.get(letter).map_or("", |letter| letter.as_str().trim()) {
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => 1.0,
    };
    Some(printed(&done[number])?.times(power))
}

fn figure(done: &regex_lite::Captures<'_>, request_of: Option<(Op, f64)>) -> Option<Figure> {
    let requests = scaled(done, 1, 2).map(|requests| requests.value).filter(|requests| *requests > 0.0)?;
    let moved = done
        .get(5)
        .zip(done.get(6))
        .and_then(|(number, name)| Some(decimal(number.as_str())? * unit(name.as_str(), Base::Binary)?));
    let op = match done.get(7).map(|word| word.as_str()) {
        Some("written") => Op::Write,
        Some(_) => Op::Read,
        None => request_of?.0,
    };
    // What is printed has three digits: a power of two in that range is meant.
    let mean = moved.map(|bytes| bytes / requests);
    let rounded = mean.map(|mean| 2f64.powi(mean.log2().round() as i32));
    let snapped = mean.zip(rounded).filter(|(mean, rounded)| (mean - rounded).abs() < rounded * 0.015);
    let block = request_of.map(|(_, size)| size).or(snapped.map(|(_, rounded)| rounded));
    let mut figure = Figure::new(Load {
        block_bytes: block.map(|block| block as u64),
        queue_depth: Some(1),
        jobs: Some(1),
        ..Load::new(NAME, op)
    });
    let iops = scaled(done, 8, 9);
    let rate = printed(&done[10]).zip(unit(&done[11], Base::Binary)).map(|(rate, unit)| rate.times(unit));
    figure.operations(iops);
    figure.rate(rate);
    // Before 0.9 a rate is in MiB/s with one digit behind the point.
    if let Some(finer) = finer(rate, iops, request_of) {
        figure.bytes_per_second = Some(finer);
    }
    Some(figure)
}

/// The rate by operations and the size that the line of a request or the command gives, where that of the line is
/// coarse and agrees.
fn finer(rate: Option<Printed>, iops: Option<Printed>, request_of: Option<(Op, f64)>) -> Option<f64> {
    let (rate, iops, (_, bytes)) = (rate?, iops?, request_of?);
    let by_operations = iops.times(bytes);
    let agrees = (by_operations.value - rate.value).abs() <= rate.step + by_operations.step;
    (rate.step > rate.value * COARSE && by_operations.step < rate.step && agrees).then_some(by_operations.value)
}

fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 6e10,
        _ => return None,
    })
}
