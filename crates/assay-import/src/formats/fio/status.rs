//! Lines of fio that people post alone: the line of a direction, as `grep IOPS` leaves it, and the sum of a group behind its
//! results.
//!
//! Version 3: `READ: bw=24.7MiB/s (25.9MB/s), 24.7MiB/s-24.7MiB/s (25.9MB/s-25.9MB/s), io=247MiB (259MB),
//! run=10001-10001msec`; version 2: `READ: io=1810.4MB, aggrb=30901KB/s, minb=…, mint=60001msec, maxt=60001msec`. It is what all
//! jobs of the group moved, by the longest of their times (`show_run_stats` of fio's stat.c).

use std::sync::LazyLock;

use assay_core::workload::Op;

use super::job::{Job, Side};
use super::text::{as_told, unit};
use crate::number::{Told, printed};
use crate::pattern::{Regex, regex};
use crate::text::Text;

/// Lines above a sum among which its results may stand.
const MOST_ABOVE: usize = 100;

static NEW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(READ|WRITE|MIXED): bw=[0-9.]+[KMGTPi]*B/s \(([0-9.]+)([kMGTP]?B)/s\),.*? io=([0-9.]+)([KMGTP]?i?B) .*?run=\d+-(\d+)msec",
    )
});
static OLD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(READ|WRITE|MIXED): io=([0-9.]+)([KMGTP]?B), aggrb=([0-9.]+)([KMGTP]?B)/s, minb=.*? mint=\d+msec, maxt=(\d+)msec",
    )
});
static GROUP: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*Run status group (\d+) \(all jobs\):"));

/// Whether the sum of a group begins at a line, or is in it.
pub(super) fn begins(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    let alone = direction(line).is_some();
    let sum = is_sum(line) && side(line).is_some() || is_group(line) && side(text.line(at + 1)).is_some();
    // Results whose sum it is may stand above, with prose between.
    let own =
        |line: &str| side(line).or_else(|| direction(line)).is_some() || GROUP.is_match(line) || line.trim().is_empty();
    let above = (at.saturating_sub(MOST_ABOVE)..at).rev().map(|line| text.line(line));
    let mut results = above.skip_while(|line| own(line)).take_while(|line| !is_group(line));
    (alone || sum) && !results.any(|line| super::text::is_result(line) || sum && direction(line).is_some())
}

/// The number of the group whose sum follows.
pub(super) fn group(line: &str) -> Option<u32> {
    GROUP.captures(line)?[1].parse().ok()
}

/// These are asked of many lines: each looks for words before it looks for a shape.
fn is_group(line: &str) -> bool {
    line.contains("Run status group") && GROUP.is_match(line)
}

fn is_sum(line: &str) -> bool {
    line.contains(" bw=") || line.contains("aggrb=")
}

/// What all jobs of a group moved in one direction.
pub(super) fn side(line: &str) -> Option<Side> {
    let found = NEW.captures(line);
    let (found, [rate, bytes], plain) = match found {
        Some(found) => (found, [2, 4], 1000.0),
        None => (OLD.captures(line)?, [4, 2], 1024.0),
    };
    let op = match &found[1] {
        "READ" => Op::Read,
        "WRITE" => Op::Write,
        _ => Op::Mixed,
    };
    let amount = |at: usize| Some(printed(&found[at])?.times(unit(&found[at + 1], plain)?));
    let told = Told {
        rate: amount(rate),
        bytes: amount(bytes),
        seconds: printed(&found[6]).map(|time| time.times(1e-3)),
        ..Told::default()
    };
    Some(as_told(Side { told, ..Side::new(op) }))
}

/// What a line of a direction tells, without the result that it is of.
pub(super) fn direction(line: &str) -> Option<Side> {
    let line = Some(line.trim()).filter(|line| line.contains("IOPS=") || line.contains("runt="))?;
    super::text::side(line).flatten().filter(|side| side.moved() && line.starts_with(['r', 'w']))
}

/// Adds a direction of the sum of a group to those that are known.
pub(super) fn add(sums: &mut Vec<Job>, group: u32, side: Side) {
    match sums.iter_mut().find(|sum| sum.group == group) {
        Some(sum) if sum.sides.iter().all(|known| known.op != side.op) => sum.sides.push(side),
        // A later state of the same group.
        Some(sum) => sum.sides.iter_mut().filter(|known| known.op == side.op).for_each(|known| *known = side.clone()),
        None => sums.push(Job {
            group,
            sides: vec![side],
            missing: Some("the results of the jobs behind a sum"),
            ..Job::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_both_generations() {
        let of = |line: &str| side(line).map(|side| (side.op, side.bytes_per_second.unwrap(), side.runtime_ms));
        let new = "   READ: bw=24.7MiB/s (25.9MB/s), 24.7MiB/s-24.7MiB/s (25.9MB/s-25.9MB/s), io=247MiB (259MB), run=10001-10002msec";
        assert_eq!(of(new), Some((Op::Read, 25_900_000.0, 10_002.0)));
        let old =
            "  WRITE: io=1810.4MB, aggrb=30901KB/s, minb=31642KB/s, maxb=31642KB/s, mint=60000msec, maxt=60001msec";
        assert_eq!(of(old), Some((Op::Write, 30_901.0 * 1024.0, 60_001.0)));
        assert_eq!(of("READ: bw=24.7MiB/s"), None);
        assert_eq!(group("Run status group 3 (all jobs):"), Some(3));
    }
}
