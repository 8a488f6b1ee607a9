//! The text for people.
//!
//! Version 2 prints `read : io=191MB, bw=97.8MB/s, iops=24447, runt=  2001msec`, in units of 1024 without an `i`; version
//! 3 prints `read_text: IOPS=24.4k, BW=95.5MiB/s (100MB/s)(191MiB/2001msec)`. All of that is rounded to four digits or fewer,
//! while the line `issued` has each operation.

use std::sync::LazyLock;

use assay_core::finding::JobPart;
use assay_core::workload::Op;

use super::job::{Job, Side};
use super::load::Definition;
use super::machine::close_terse;
use crate::number::{Printed, Told, printed};
use crate::pattern::{Regex, regex};
use crate::text::Text;

static RESULT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:<\S+>\s*)?(.*?): \(groupid=(\d+), jobs=(\d+)\): err=\s*(\d+)"));
/// What fio says of an error, in brackets behind its number (`show_thread_status_normal` of its stat.c).
static SAID: LazyLock<Regex> = LazyLock::new(|| regex(r"\(.*?\berror=([^()]*)\)"));
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*(?:<\S+>\s*)?(.*?): \(g=(\d+)\): rw=([^,\s]+), bs=(.*?),\s*ioengine=([^,\s]+)(?:, iodepth=(\d+))?")
});
static BLOCK: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)([0-9.]+)([kmgt]?)(?:i?b)?-([0-9.]+)([kmgt]?)(?:i?b)?"));
static OLD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(read|write|trim|mixed)\s*: *io=\s*([0-9.,]+)\s*([KMGTPi]*[Bb]), *bw=\s*([0-9.,]+)\s*([KMGTPi]*[Bb])/s *,(?: *iops=\s*([0-9.,]+)([kKMG]?) *,)? *runt= *(\d+) *msec",
    )
});
static NEW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(read|write|trim|mixed)\s*: *IOPS=([0-9.]+)([kMGT]?), BW=([0-9.]+)([KkMGTPi]*(?:[Bb](?:it)?/s)?) \(([0-9.]+)([KkMGTPi]*(?:[Bb](?:it)?)?)(?:/s)?\)\(([0-9.]+)([KkMGTPi]*[Bb])/(\d+)msec\)",
    )
});
/// The same without what it moved and how long it ran, as people shorten it.
static SHORT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?i:(read|write))\s*: *IOPS=([0-9.]+)([kMGT]?), *BW=([0-9.]+)([KkMGTPi]*B)/s(?: *\(([0-9.]+)([KkMGTP]?B)/s\))?[.,;]?$",
    )
});
static SHORT_OLD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(read|write)\s*: *(?:io=\s*[0-9.,]+\s*[KMGTPi]*[Bb], *)?bw=\s*([0-9.,]+)\s*([KMGTPi]*[Bb])/s *, *iops=\s*([0-9.,]+)([kKMG]?)[.,;]?$",
    )
});
static LATENCY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(slat|clat|lat)\s*\((nsec|usec|msec|sec)\)\s*: *min=\s*([0-9.]+)\s*([kKMG]?), *max=\s*([0-9.]+)\s*([kKMG]?), *avg=\s*([0-9.]+)\s*([kKMG]?),",
    )
});
static PERCENTILES: LazyLock<Regex> = LazyLock::new(|| regex(r"^(slat|clat|lat) percentiles \((nsec|usec|msec|sec)\)"));
static PERCENTILE: LazyLock<Regex> = LazyLock::new(|| regex(r"([0-9.]+)th=\[\s*([0-9.]+)\s*\]"));
static ISSUED: LazyLock<Regex> = LazyLock::new(|| regex(r"^issued\s*(?:rwts|rwt)?\s*: *total=(\S+)"));

/// Longest date that stands at the end of the first line of a result.
const MOST_DATE: usize = 40;
/// Most directions of a job.
const MOST_SIDES: usize = 4;

/// Words with which the lines of a result begin, behind its first.
pub(super) const WITHIN: [&str; 20] = [
    "read",
    "write",
    "trim",
    "mixed",
    "slat",
    "clat",
    "lat",
    "|",
    "bw",
    "iops",
    "cpu",
    "IO depths",
    "submit",
    "complete",
    "issued",
    "latency",
    "fsync",
    "sync",
    "errors",
    "steadystate",
];

/// Whether a result begins: `job: (groupid=0, jobs=1): err= 0: pid=…`.
pub(super) fn is_result(line: &str) -> bool {
    line.contains("(groupid=") && RESULT.is_match(line)
}

/// Lines that a mail may have made of one.
const MOST_PIECES: usize = 4;

/// Whether a line tells of a job before it starts: `job: (g=0): rw=randread, bs=…`. A mail may have wrapped it.
pub(super) fn is_definition(text: &Text, at: usize) -> bool {
    text.line(at).contains("(g=") && wrapped(text, at, &DEFINITION).is_some()
}

/// The job that line `at` tells of before it starts, and the first line behind it.
pub(super) fn definition_at(text: &Text, at: usize) -> Option<(Definition, usize)> {
    let (line, end) = wrapped(text, at, &DEFINITION)?;
    // The depth comes last.
    let more = text.line(end).trim();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let next = match more.strip_prefix("iodepth=") {
        Some(depth) if line.ends_with(',') && digits(depth) => format!("{line} {more}"),
        // The line ends within its number, or its name.
        None if digits(more) && DEPTH.is_match(&line) => format!("{line}{more}"),
        None if !line.contains("iodepth=") && CUT_DEPTH.is_match(more) => format!("{line}{more}"),
        _ => return Some((definition(&line)?, end)),
    };
    Some((definition(&next)?, end + 1))
}

/// Ends of the line of a definition.
static DEPTH: LazyLock<Regex> = LazyLock::new(|| regex(r", iodepth=\d*$"));
static CUT_DEPTH: LazyLock<Regex> = LazyLock::new(|| regex(r"^[, a-z_0-9]{0,30}=\d+$"));

/// The line that begins at `at`, as fio printed it, where it was wrapped into the next ones, and the first line behind it.
fn wrapped(text: &Text, at: usize, shape: &Regex) -> Option<(String, usize)> {
    let mut line = text.line(at).to_owned();
    for next in at + 1..=at + MOST_PIECES {
        if shape.is_match(&line) {
            return Some((line, next));
        }
        let more = text.line(next).trim();
        if more.is_empty() || more.contains(": (g") {
            break;
        }
        // A blank stands behind these alone: a terminal wraps within words, too.
        let blank = if line.ends_with([' ', ',', ':', ')']) { " " } else { "" };
        line = format!("{}{blank}{more}", line.trim_end());
    }
    None
}

fn definition(line: &str) -> Option<Definition> {
    let found = DEFINITION.captures(line)?;
    let mut all = BLOCK.captures_iter(&found[4]).map(|range| {
        let low = scaled(&range[1], &range[2].to_uppercase())?;
        let high = scaled(&range[3], &range[4].to_uppercase())?;
        ((low - high).abs() < 0.5).then_some(low as u64)
    });
    let read = all.next().flatten();
    Some(Definition {
        name: found[1].trim().to_owned(),
        group: found[2].parse().ok()?,
        rw: found[3].to_owned(),
        engine: found[5].to_owned(),
        depth: found.get(6).and_then(|depth| depth.as_str().parse().ok()),
        blocks: [read, all.next().unwrap_or(read)],
    })
}

/// A size with a letter for a power of 1024.
fn scaled(number: &str, letter: &str) -> Option<f64> {
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == letter)?;
    Some(number.parse::<f64>().ok()? * 1024f64.powi(i32::try_from(power).ok()?))
}

/// Bytes of a unit: `MiB`, `kB`, and in bits `Mib`, `kb`. `plain` is what a letter without an `i` multiplies by.
pub(super) fn text_unit(text: &str, plain: f64) -> Option<f64> {
    // In bits `Mib`, and since 3.0 `Mibit`.
    let text = text.strip_suffix("it").unwrap_or(text);
    let bits = text.ends_with('b');
    // The sum of several clients is printed without it.
    let name = text.strip_suffix(['b', 'B']).unwrap_or(text);
    let (letter, step) = match name.strip_suffix('i') {
        Some(letter) => (letter, 1024.0),
        None => (name, plain),
    };
    let power = ["", "K", "M", "G", "T", "P"].iter().position(|known| *known == letter.to_uppercase())?;
    Some(step.powi(i32::try_from(power).ok()?) / if bits { 8.0 } else { 1.0 })
}

fn decimal_letter(letter: &str) -> f64 {
    match letter {
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => 1.0,
    }
}

fn nanoseconds(unit: &str) -> f64 {
    match unit {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        _ => 1e9,
    }
}

/// A result from its first line on: the job, what follows `pid` in the first line, and the first line behind it.
pub(super) fn read_text(
    text: &Text,
    at: usize,
    block: impl Fn(&Job, Op) -> Option<u64>,
) -> Option<(Job, String, usize)> {
    let first = text.line(at);
    let found = RESULT.captures(first)?;
    let mut job = Job {
        name: found[1].trim().to_owned(),
        group: found[2].parse().ok()?,
        jobs: found[3].parse().ok(),
        error: found[4].parse().ok()?,
        ..Job::default()
    };
    let (mut current, mut percentiles) = (None, None);
    let (mut issued, mut end) = (false, at + 1);
    let mut number = at + 1;
    // A mail may have wrapped the line of the result before its date.
    if !is_within(text.line(number)) && text.line(number).len() < MOST_DATE && is_within(text.line(number + 1)) {
        number += 1;
    }
    while number < text.len() {
        if !is_within(text.line(number)) {
            if is_rest(text, number) {
                number += 1;
                continue;
            }
            break;
        }
        let (whole, next) = unwrapped(text, number);
        let line = without_host(&whole);
        number = next;
        end = number;
        if let Some(side) = text_side(line).or_else(|| short_side(line).map(Some)) {
            percentiles = None;
            current = side.filter(|_| job.sides.len() < MOST_SIDES).map(|side| {
                job.sides.push(side);
                job.sides.len() - 1
            });
            continue;
        }
        if line.starts_with("fsync") || line.starts_with("sync") {
            current = None;
        }
        if let Some(totals) = ISSUED.captures(line) {
            issued = true;
            operations(&mut job, &totals[1], &block);
            continue;
        }
        let Some(side) = current.and_then(|at: usize| job.sides.get_mut(at)) else { continue };
        latencies(side, line, &mut percentiles);
    }
    if !issued {
        job.missing = Some(JobPart::End);
    }
    job.sides.retain(Side::moved);
    let rest = first.split_once("err=").map_or("", |(_, rest)| rest).to_owned();
    job.said = SAID.captures(&rest).map(|said| said[1].trim().to_owned());
    let pid = rest.split_once("pid=").and_then(|(_, pid)| pid.split(':').next());
    job.pid = pid.and_then(|pid| pid.trim().parse().ok());
    Some((job, rest, end))
}

/// Takes a line of latencies of a direction. `percentiles` is the unit of those whose heading was the line before.
pub(super) fn latencies(side: &mut Side, line: &str, percentiles: &mut Option<f64>) {
    if let Some(latency) = LATENCY.captures(line) {
        let value = |at: usize| {
            let value = latency[at].parse::<f64>().ok()? * decimal_letter(&latency[at + 1]);
            Some(value * nanoseconds(&latency[2])).filter(|value| *value > 0.0)
        };
        // From submission to completion; without it, as from gtod_reduce, that of the kernel is not the same.
        if &latency[1] == "lat" {
            (side.latency.mean, side.latency.max) = (value(7), value(5));
        }
    } else if let Some(heading) = PERCENTILES.captures(line) {
        *percentiles = (&heading[1] != "slat").then(|| nanoseconds(&heading[2]));
    } else if let Some(unit) = percentiles.filter(|_| line.starts_with('|')) {
        percentile(side, line, unit);
    } else {
        *percentiles = None;
    }
}

/// A line of a result without the host that it is of.
fn without_host(line: &str) -> &str {
    line.split_once("> ").filter(|(host, _)| host.starts_with('<')).map_or(line, |(_, rest)| rest).trim()
}

fn is_within(line: &str) -> bool {
    // A job may be called `write_seq`.
    if is_result(line) {
        return false;
    }
    let line = without_host(line);
    WITHIN.iter().any(|word| line.starts_with(word))
}

/// A line of a result as fio printed it, and the first line behind it: a mail may have wrapped it within a list, in a bracket or in
/// the figures of a direction.
pub(super) fn unwrapped(text: &Text, at: usize) -> (String, usize) {
    let mut line = text.line(at).trim_end().to_owned();
    for next in at + 1..at + MOST_PIECES {
        let more = text.line(next).trim();
        // Between two brackets there was no blank.
        let blank = if line.ends_with(')') && more.starts_with('(') { "" } else { " " };
        let mut joined = format!("{line}{blank}{more}");
        // A terminal wraps within words, too.
        if line.chars().count() >= NARROWEST && text_side(without_host(&joined)).is_none() {
            joined = format!("{line}{more}");
        }
        let of_side = || text_side(without_host(&line)).is_none() && text_side(without_host(&joined)).is_some();
        let open = line.ends_with([',', '[', '(', '=']) || of_side();
        if !open || more.is_empty() || is_within(more) || more.contains("(g") {
            return (line, next);
        }
        line = joined;
    }
    (line, at + MOST_PIECES)
}

/// Narrowest terminal.
const NARROWEST: usize = 79;

/// Whether a line is the rest of the one before, which a terminal or a page has cut at its width: a result goes on behind it.
fn is_rest(text: &Text, at: usize) -> bool {
    let (before, line) = (text.line(at - 1).chars().count(), text.line(at));
    before >= NARROWEST && !line.is_empty() && line.len() < before && is_within(text.line(at + 1)) && !is_result(line)
}

/// The line of a direction; `Some(None)` where it is one that is not taken.
pub(super) fn text_side(line: &str) -> Option<Option<Side>> {
    let op = |word: &str| match word {
        "read" => Some(Op::Read),
        "write" => Some(Op::Write),
        "mixed" => Some(Op::Mixed),
        _ => None,
    };
    let number = |text: &str| printed(&text.replace(',', ""));
    let milliseconds = |text: &str| number(text).map(|time| time.times(1e-3));
    if let Some(found) = NEW.captures(line) {
        let Some(op) = op(&found[1]) else { return Some(None) };
        let mut side = Side::new(op);
        let amount = |at: usize| {
            let unit = text_unit(found[at + 1].trim_end_matches("/s"), 1000.0);
            number(&found[at]).zip(unit).map(|(number, unit)| number.times(unit))
        };
        let (binary, decimal, bytes, seconds) = (amount(4), amount(6), amount(8), milliseconds(&found[10]));
        side.told = Told {
            iops: number(&found[2]).map(|iops| iops.times(decimal_letter(&found[3]))),
            rate: decimal_or_binary(decimal, binary, bytes, seconds),
            bytes,
            seconds,
            operations: None,
        };
        return Some(Some(as_told(side)));
    }
    let found = OLD.captures(line)?;
    let Some(op) = op(&found[1]) else { return Some(None) };
    let mut side = Side::new(op);
    let letter = found.get(7).map_or(1.0, |letter| decimal_letter(letter.as_str()));
    side.told = Told {
        iops: found.get(6).and_then(|iops| number(iops.as_str())).map(|iops| iops.times(letter)),
        rate: number(&found[4]).zip(text_unit(&found[5], 1024.0)).map(|(number, unit)| number.times(unit)),
        bytes: number(&found[2]).zip(text_unit(&found[3], 1024.0)).map(|(number, unit)| number.times(unit)),
        seconds: milliseconds(&found[8]),
        operations: None,
    };
    Some(Some(as_told(side)))
}

/// The decimal rate: version 3.1 prints wrong ones in MiB/s. Some versions print 68.97 as `68.0`, in either unit: where bytes
/// and time agree with the binary rate alone, that one counts.
fn decimal_or_binary(
    decimal: Option<Printed>,
    binary: Option<Printed>,
    bytes: Option<Printed>,
    seconds: Option<Printed>,
) -> Option<Printed> {
    let agrees = |rate: Option<Printed>| Told { rate, bytes, seconds, ..Told::default() }.contradiction(None).is_none();
    let told = decimal.and(binary).and(bytes).and(seconds).is_some();
    if told && !agrees(decimal) && agrees(binary) { binary } else { decimal }
}

/// The line of a direction that people have shortened.
pub(super) fn short_side(line: &str) -> Option<Side> {
    let number = |text: &str| printed(&text.replace(',', ""));
    let op = |word: &str| if word.eq_ignore_ascii_case("read") { Op::Read } else { Op::Write };
    if let Some(found) = SHORT_OLD.captures(line) {
        let told = Told {
            iops: number(&found[4]).map(|iops| iops.times(decimal_letter(&found[5]))),
            rate: number(&found[2]).zip(text_unit(&found[3], 1024.0)).map(|(number, unit)| number.times(unit)),
            ..Told::default()
        };
        return Some(as_told(Side { told, ..Side::new(op(&found[1])) }));
    }
    let found = SHORT.captures(line)?;
    let decimal = found.get(6).zip(found.get(7)).map(|(number, unit)| (number.as_str(), unit.as_str()));
    let (rate, unit) = decimal.unwrap_or((&found[4], &found[5]));
    let told = Told {
        iops: number(&found[2]).map(|iops| iops.times(decimal_letter(&found[3]))),
        rate: number(rate).zip(text_unit(unit, 1000.0)).map(|(number, unit)| number.times(unit)),
        ..Told::default()
    };
    Some(as_told(Side { told, ..Side::new(op(&found[1])) }))
}

/// A direction with the figures that were printed of it.
pub(super) fn as_told(mut side: Side) -> Side {
    let value = |printed: Option<Printed>| printed.map(|printed| printed.value);
    (side.iops, side.bytes_per_second) = (value(side.told.iops), value(side.told.rate));
    side.bytes = value(side.told.bytes).unwrap_or(0.0);
    side.runtime_ms = value(side.told.seconds).map_or(0.0, |seconds| (seconds * 1e3).round());
    side
}

/// Percentiles of one line. Those of the whole latency come last, where they are printed, and stay.
fn percentile(side: &mut Side, line: &str, unit: f64) {
    for found in PERCENTILE.captures_iter(line) {
        let value = found[2].parse::<f64>().ok().map(|value| value * unit).filter(|value| *value > 0.0);
        match &found[1] {
            "50.00" => side.latency.p50 = value,
            "90.00" => side.latency.p90 = value,
            "99.00" => side.latency.p99 = value,
            "99.90" => side.latency.p99_9 = value,
            _ => {}
        }
    }
}

/// The exact count of operations: `total=r=48919/w=21032/d=0` of version 2, `total=48919,21032,0,0` of version 3. With it
/// and the size of a block the figures are as exact as fio's own, unless that is not what was printed.
fn operations(job: &mut Job, totals: &str, block: &impl Fn(&Job, Op) -> Option<u64>) {
    let counts: Vec<Option<u64>> = totals
        .split([',', '/'])
        .map(|part| part.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok())
        .collect();
    let of = |op: Op| counts.get(usize::from(op == Op::Write)).copied().flatten();
    let told = |op: Op| job.sides.iter().any(|side| side.op == op || side.op == Op::Mixed);
    let lacks = |op: Op| of(op).is_some_and(|count| count > 0) && !told(op);
    job.half = lacks(Op::Read) || lacks(Op::Write);
    let blocks: Vec<Option<u64>> = job.sides.iter().map(|side| block(job, side.op)).collect();
    for (side, block) in job.sides.iter_mut().zip(blocks) {
        let Some(count) = of(side.op).filter(|count| *count > 0 && side.op != Op::Mixed) else { continue };
        side.told.operations = Some(Printed::exact(count as f64));
        let seconds = side.runtime_ms / 1e3;
        // Three digits are printed at least.
        let near = |printed: f64, precise: f64| close_terse(printed, precise, printed * 6e-3);
        let per_second = count as f64 / seconds;
        let agrees = side
            .iops
            .is_none_or(|iops| (near(iops, per_second) - per_second).abs() < 1e-6 || (iops - per_second).abs() <= 1.0);
        if !agrees {
            continue;
        }
        side.operations = Some(count);
        side.iops = Some(per_second).filter(|rate| rate.is_finite());
        if let Some(block) = block {
            let bytes = count as f64 * block as f64;
            side.bytes = near(side.bytes, bytes);
            side.bytes_per_second = side.bytes_per_second.map(|rate| near(rate, bytes / seconds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (f64, f64, f64) {
        let side = text_side(line).unwrap().unwrap();
        (side.iops.unwrap(), side.bytes_per_second.unwrap(), side.bytes)
    }

    #[test]
    fn units_of_both_generations() {
        assert_eq!(
            of("read : io=241236KB, bw=24035KB/s, iops=6008, runt= 10037msec"),
            (6008.0, 24035.0 * 1024.0, 241_236.0 * 1024.0)
        );
        assert_eq!(
            of("write: IOPS=2817, BW=11.0MiB/s (12.6MB/s)(120MiB/10001msec); 0 zone resets"),
            (2817.0, 12_600_000.0, 120.0 * 1_048_576.0),
            "the decimal figure counts"
        );
        // Versions 2.2.10 to 2.16 (`num2str` in lib/num2str.c).
        assert_eq!(of("read : io=122880MB, bw=4180.5MB/s, iops=1070.2K, runt= 29394msec").0, 1_070_200.0);
        assert_eq!(short_side("read : bw=4180.5MB/s, iops=1070.2K").and_then(|side| side.iops), Some(1_070_200.0));
        assert_eq!(of("read: IOPS=1.2M, BW=764Mib/s (800Mb/s)(191MiB/2001msec)").1, 100_000_000.0, "bits");
        assert_eq!(of("read: IOPS=4969, BW=621Mi (651M)(96.0GiB/158260msec)").1, 651e6, "of all clients");
        assert_eq!(of("read: IOPS=61.0k, BW=1906Mibit/s (1999Mbit/s)(7149MiB/30001msec)").1, 1999e6 / 8.0);
        assert_eq!(text_side("trim: IOPS=1, BW=1B/s (1B/s)(1B/1msec)"), Some(None));
        assert_eq!(text_side("read: something"), None);
    }

    #[test]
    fn definitions_of_all_generations() {
        let of = |line: &str| definition(line).map(|d| (d.rw, d.engine, d.depth, d.blocks));
        let four = [Some(4096), Some(4096)];
        let want = Some(("randread".to_owned(), "libaio".to_owned(), Some(64), four));
        for line in [
            "my job: (g=0): rw=randread, bs=4K-4K/4K-4K, ioengine=libaio, iodepth=64",
            "a: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=64",
            "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64",
        ] {
            assert_eq!(of(line), want, "{line}");
        }
        let line = "a: (g=0): rw=rw, bs=(R) 512B-64.0KiB, (W) 1024KiB-1024KiB, (T) 1B-1B, ioengine=sync, iodepth=1";
        assert_eq!(of(line).unwrap().3, [None, Some(1 << 20)], "no one size");
        assert_eq!(of("a: (g=0): rw=read"), None);
    }
}
