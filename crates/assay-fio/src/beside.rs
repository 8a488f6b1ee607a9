//! Jobs of a file that run at the same time.

use std::ops::Range;
use std::time::Duration;

use assay_core::suite::{MAX_TOGETHER, SuiteWorkload, leaders, members};
use assay_core::units::{Bytes, span};

/// Parts of the area are multiples of this many bytes.
const PART: u64 = 1 << 20;
/// No area is larger.
const LARGEST: u64 = 1 << 60;

/// Puts the jobs into groups of those that run at the same time: fio begins each with the one before it, unless it
/// waits (`stonewall`, `wait_for`). All of a group run for as long as the longest of them.
///
/// # Errors
/// The index of the job that is one too many, or for which there is no room, and why.
pub(crate) fn group(
    workloads: &mut [SuiteWorkload],
    waits: &[bool],
    notes: &mut Vec<String>,
) -> Result<(), (usize, String)> {
    let starts: Vec<usize> = (0..workloads.len()).filter(|index| *index == 0 || waits[*index]).collect();
    for (number, begin) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(workloads.len());
        let group = &mut workloads[*begin..end];
        if group.len() < 2 {
            continue;
        }
        if group.len() > MAX_TOGETHER {
            return Err((begin + MAX_TOGETHER, format!("no more than {MAX_TOGETHER} jobs run at the same time")));
        }
        let longest: Option<Duration> = group.iter().filter_map(|w| w.duration).max();
        if let Some(longest) = longest.filter(|longest| group.iter().any(|w| w.duration != Some(*longest))) {
            notes.push(format!("jobs at the same time all run for {}, as the longest of them", span(longest)));
        }
        notes.push("jobs at the same time have a part of the test area each".to_owned());
        for workload in group.iter_mut() {
            workload.duration = longest;
            workload.group = Some(format!("group-{}", number + 1));
        }
        let last = end - 1;
        if needs(workloads, last).is_some_and(|bytes| bytes > LARGEST) {
            return Err((last, "the jobs at the same time use more than can be addressed".to_owned()));
        }
    }
    Ok(())
}

/// Names the groups by their order.
pub(crate) fn name(workloads: &mut [SuiteWorkload]) {
    let groups: Vec<Range<usize>> = leaders(workloads).into_iter().map(|leader| members(workloads, leader)).collect();
    for (number, group) in groups.into_iter().filter(|group| group.len() > 1).enumerate() {
        for member in group {
            workloads[member].group = Some(format!("group-{}", number + 1));
        }
    }
}

/// The area that all workloads need: those at the same time have a part each.
pub(crate) fn area(workloads: &[SuiteWorkload]) -> Option<Bytes> {
    (0..workloads.len()).filter_map(|index| needs(workloads, index)).max().map(Bytes)
}

fn needs(workloads: &[SuiteWorkload], index: usize) -> Option<u64> {
    let group = members(workloads, index);
    let largest = workloads[group.clone()].iter().filter_map(|w| w.span).map(|span| span.0).max()?;
    let each = if group.len() > 1 { largest.div_ceil(PART).saturating_mul(PART) } else { largest };
    Some(each.saturating_mul(group.len() as u64))
}
