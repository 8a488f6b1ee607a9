//! Jobs of a file that run at the same time.

use std::ops::Range;
use std::time::Duration;

use assay_core::suite::{MAX_TOGETHER, SuiteWorkload, leaders, members};
use assay_core::units::span;

/// Puts the jobs into groups of those that run at the same time: fio begins each with the one before it, unless it
/// waits (`stonewall`, `wait_for`). All of a group run for as long as the longest of them.
///
/// # Errors
/// The index of the job that is one too many, and why.
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
        for workload in group.iter_mut() {
            workload.duration = longest;
            workload.group = Some(format!("group-{}", number + 1));
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
