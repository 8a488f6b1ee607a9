//! Lines of fio that people post alone: the line of a direction, as `grep IOPS` leaves it, and the sum of a group behind its
//! results.
//!
//! Version 3: `READ: bw=24.7MiB/s (25.9MB/s), 24.7MiB/s-24.7MiB/s (25.9MB/s-25.9MB/s), io=247MiB (259MB),
//! run=10001-10001msec`; version 2: `READ: io=1810.4MB, aggrb=30901KB/s, minb=…, mint=60001msec, maxt=60001msec`. It is what all
//! jobs of the group moved, by the longest of their times (`show_run_stats` of fio's stat.c).

use std::borrow::Cow;
use std::sync::LazyLock;

use assay_core::finding::JobPart;
use assay_core::workload::Op;

use super::job::{Job, Side};
use super::text::{as_told, is_result, latencies, short_side, text_side, text_unit, unwrapped};
use crate::number::{Told, printed};
use crate::pattern::{Regex, regex};
use crate::text::Text;

/// Lines above a sum among which its results may stand.
const MOST_ABOVE: usize = 100;

static NEW_SUM: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(?:\* )?(READ|WRITE|MIXED): bw=[0-9.]+[KMGTPi]*B/s \(([0-9.]+)([kMGTP]?B)/s\),.*? io=([0-9.]+)([KMGTP]?i?B) .*?run=\d+-(\d+)msec",
    )
});
static OLD_SUM: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(?:\* )?(READ|WRITE|MIXED): io=([0-9.]+)([KMGTP]?B), aggrb=([0-9.]+)([KMGTP]?B)/s, minb=.*? mint=\d+msec, maxt=(\d+)msec",
    )
});
static GROUP: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*Run status group (\d+) \(all jobs\):"));

/// Whether the sum of a group begins at a line, or is in it.
pub(super) fn begins_status(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    let alone = status_direction(line).is_some();
    let is_whole = |at: usize| status_side(&whole_sum(text, at)).is_some();
    let sum = is_sum(line) && is_whole(at) || is_group(line) && is_whole(at + 1);
    // Results whose sum it is may stand above, with prose between.
    let own = |line: &str| {
        status_side(line).or_else(|| status_direction(line)).is_some() || GROUP.is_match(line) || line.trim().is_empty()
    };
    let above = (at.saturating_sub(MOST_ABOVE)..at).rev().map(|line| text.line(line));
    let mut results = above.skip_while(|line| own(line)).take_while(|line| !is_group(line));
    (alone || sum) && !results.any(|line| is_result(line) || sum && status_direction(line).is_some())
}

/// The number of the group whose sum follows.
pub(super) fn group_sum(line: &str) -> Option<u32> {
    GROUP.captures(line)?[1].parse().ok()
}

/// These are asked of many lines: each looks for words before it looks for a shape.
fn is_group(line: &str) -> bool {
    line.contains("Run status group") && GROUP.is_match(line)
}

fn is_sum(line: &str) -> bool {
    line.contains(" bw=") || line.contains("aggrb=")
}

/// Most lines into which a terminal or a mail has wrapped a sum.
const MOST_WRAPPED: usize = 3;

/// The sum at a line, with the lines into which it was wrapped, at a blank or within a word.
pub(super) fn whole_sum(text: &Text, at: usize) -> Cow<'_, str> {
    let line = text.line(at);
    if !is_sum(line) || status_side(line).is_some() {
        return Cow::Borrowed(line);
    }
    let mut pieces = vec![line.trim_end().to_owned()];
    for next in at + 1..at + MOST_WRAPPED {
        let more = text.line(next).trim();
        if more.is_empty() || is_sum(more) {
            break;
        }
        pieces = pieces.iter().flat_map(|piece| ["", " "].map(|blank| format!("{piece}{blank}{more}"))).collect();
        if let Some(whole) = pieces.iter().find(|piece| status_side(piece).is_some()) {
            return Cow::Owned(whole.clone());
        }
    }
    Cow::Borrowed(line)
}

/// What all jobs of a group moved in one direction.
pub(super) fn status_side(line: &str) -> Option<Side> {
    let found = NEW_SUM.captures(line);
    let (found, [rate, bytes], plain) = match found {
        Some(found) => (found, [2, 4], 1000.0),
        None => (OLD_SUM.captures(line)?, [4, 2], 1024.0),
    };
    let op = match &found[1] {
        "READ" => Op::Read,
        "WRITE" => Op::Write,
        _ => Op::Mixed,
    };
    let amount = |at: usize| Some(printed(&found[at])?.times(text_unit(&found[at + 1], plain)?));
    let told = Told {
        rate: amount(rate),
        bytes: amount(bytes),
        seconds: printed(&found[6]).map(|time| time.times(1e-3)),
        ..Told::default()
    };
    Some(as_told(Side { told, ..Side::new(op) }))
}

/// What a line of a direction tells, without the result that it is of.
pub(super) fn status_direction(line: &str) -> Option<Side> {
    let line = Some(line.trim()).filter(|line| ["IOPS=", "runt=", "iops="].iter().any(|word| line.contains(word)))?;
    direction_of_line(line).or_else(|| direction_of_line(in_file(line)?.1)).or_else(|| direction_of_cell(line))
}

/// The file and the line found in it, as `grep` prints them of several files: `rand4k-read.log:  read: IOPS=…`.
fn in_file(line: &str) -> Option<(&str, &str)> {
    let (file, found) = line.split_once(':')?;
    // With `-n` the number of the line stands between.
    let numbered = found.split_once(':').filter(|(number, _)| number.parse::<u32>().is_ok());
    let is_name = file.contains(['.', '/']) && !file.contains([' ', '|', '=', '<', '>']);
    is_name.then(|| (file, numbered.map_or(found, |(_, found)| found).trim()))
}

/// The name of the file that a line of a direction was found in, without its folder and ending: people name it after the
/// job.
pub(super) fn file_of(line: &str) -> Option<&str> {
    let (file, found) = in_file(line.trim())?;
    direction_of_line(found)?;
    let name = file.rsplit('/').next()?;
    Some(name.rsplit_once('.').map_or(name, |(stem, _)| stem)).filter(|stem| !stem.is_empty())
}

fn direction_of_line(line: &str) -> Option<Side> {
    let whole = text_side(line).flatten().filter(|side| side.moved() && line.starts_with(['r', 'w']));
    whole.or_else(|| short_side(line).filter(Side::moved))
}

/// What the one cell of a row of a table that holds such a line tells. Bars stand between cells, or blanks where they were
/// taken off.
fn direction_of_cell(line: &str) -> Option<Side> {
    // Of a row with two of them one would be lost.
    if line.to_ascii_lowercase().matches("iops=").count() != 1 {
        return None;
    }
    let begins = |(at, _): (usize, &str)| {
        let front = line[..at].trim_end_matches(' ');
        let apart = front.is_empty() || front.ends_with('|') || at - front.len() >= 2;
        (apart && !front.contains([':', '=', '<', '>'])).then_some(at)
    };
    let at = line.match_indices("read").chain(line.match_indices("write")).find_map(begins)?;
    direction_of_line(line[at..].split('|').next()?.trim())
}

/// The same with its latencies, which may follow it, and the first line behind them.
pub(super) fn status_lines(text: &Text, at: usize) -> Option<(Side, usize)> {
    let alone = status_direction(text.line(at))?;
    let (whole, end) = unwrapped(text, at);
    // A mark behind it, such as a comma of code, looks like a wrapped line; what follows may be another one.
    let another = (at + 1..end).any(|line| status_direction(text.line(line)).is_some());
    let whole = status_direction(&whole).filter(|_| !another);
    let (mut side, mut end) = whole.map_or((alone, at + 1), |side| (side, end));
    let mut percentiles = None;
    // A row of a table begins as a line of percentiles does.
    let latency = |line: &str| OF_LATENCY.iter().any(|word| line.trim().starts_with(word));
    while end < text.len() && latency(text.line(end)) && status_direction(text.line(end)).is_none() {
        let (whole, next) = unwrapped(text, end);
        latencies(&mut side, whole.trim(), &mut percentiles);
        end = next;
    }
    Some((side, end))
}

/// Most lines between two halves of a result.
const MOST_BETWEEN: usize = 64;

/// The other direction of a job, where a page shows its result in two pieces with prose between, and the first line behind
/// it. Both took the same time, and the first lacks its end; `begins` says where another result begins.
pub(super) fn other_half(
    text: &Text,
    at: usize,
    job: &Job,
    begins: impl Fn(&Text, usize) -> bool,
) -> Option<(Side, usize)> {
    let [known] = job.sides.as_slice() else { return None };
    job.missing?;
    let mut lines = (at..text.len().min(at + MOST_BETWEEN)).take_while(|line| !begins(text, *line));
    let (side, end) = status_lines(text, lines.find(|line| status_direction(text.line(*line)).is_some())?)?;
    let other = matches!((known.op, side.op), (Op::Read, Op::Write) | (Op::Write, Op::Read));
    (other && side.runtime_ms > 0.0 && (side.runtime_ms - known.runtime_ms).abs() < 2.0).then_some((side, end))
}

/// How the lines of latencies begin.
const OF_LATENCY: [&str; 4] = ["slat", "clat", "lat ", "|"];

/// Adds a direction of the sum of a group to those that are known.
pub(super) fn add_status(sums: &mut Vec<Job>, group: u32, side: Side) {
    match sums.iter_mut().find(|sum| sum.group == group) {
        Some(sum) if sum.sides.iter().all(|known| known.op != side.op) => sum.sides.push(side),
        // A later state of the same group.
        Some(sum) => sum.sides.iter_mut().filter(|known| known.op == side.op).for_each(|known| *known = side.clone()),
        None => sums.push(Job { group, sides: vec![side], missing: Some(JobPart::AllButSum), ..Job::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_both_generations() {
        let of = |line: &str| status_side(line).map(|side| (side.op, side.bytes_per_second.unwrap(), side.runtime_ms));
        let new = "   READ: bw=24.7MiB/s (25.9MB/s), 24.7MiB/s-24.7MiB/s (25.9MB/s-25.9MB/s), io=247MiB (259MB), run=10001-10002msec";
        assert_eq!(of(new), Some((Op::Read, 25_900_000.0, 10_002.0)));
        let old =
            "  WRITE: io=1810.4MB, aggrb=30901KB/s, minb=31642KB/s, maxb=31642KB/s, mint=60000msec, maxt=60001msec";
        assert_eq!(of(old), Some((Op::Write, 30_901.0 * 1024.0, 60_001.0)));
        assert_eq!(of("READ: bw=24.7MiB/s"), None);
        assert_eq!(group_sum("Run status group 3 (all jobs):"), Some(3));
    }
}
