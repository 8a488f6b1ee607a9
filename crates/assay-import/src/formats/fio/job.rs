//! What fio tells of a job, whatever the form of its output.

use std::collections::BTreeMap;

use assay_core::finding::Finding;
use assay_core::histogram::Histogram;
use assay_core::workload::Op;

use crate::plausible::Told;
use crate::report::Latencies;

/// A job, or a group of them that fio reports as one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) group: u32,
    /// How many threads it stands for, where that is told.
    pub(super) jobs: Option<u32>,
    /// Error number; 0 is none.
    pub(super) error: u32,
    /// Its options as they were given, those for all jobs included. Empty where they are not told.
    pub(super) options: BTreeMap<String, String>,
    /// Directions in which it moved bytes.
    pub(super) sides: Vec<Side>,
    /// Where it ran, of several hosts.
    pub(super) host: Option<String>,
    /// Its process, where that is told.
    pub(super) pid: Option<u32>,
    /// When it was printed, in milliseconds since 1970, where that is told.
    pub(super) printed_ms: Option<f64>,
    /// What is told of disks in the same line: alike for all that was printed at once.
    pub(super) disks: String,
    /// What of it is missing, where the text is cut off.
    pub(super) missing: Option<&'static str>,
    /// Whether it read and wrote, and one of both is not told.
    pub(super) half: bool,
    /// What it prints that contradicts itself.
    pub(super) contradictions: Vec<Finding>,
}

/// One direction of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Side {
    pub(super) op: Op,
    pub(super) bytes: f64,
    pub(super) runtime_ms: f64,
    /// Operations completed, where they are told.
    pub(super) operations: Option<u64>,
    pub(super) bytes_per_second: Option<f64>,
    pub(super) iops: Option<f64>,
    pub(super) latency: Latencies,
    pub(super) histogram: Option<Histogram>,
    /// What is printed of it, with its rounding.
    pub(super) told: Told,
}

impl Side {
    pub(super) fn new(op: Op) -> Self {
        Self {
            op,
            bytes: 0.0,
            runtime_ms: 0.0,
            operations: None,
            bytes_per_second: None,
            iops: None,
            latency: Latencies::default(),
            histogram: None,
            told: Told::default(),
        }
    }

    /// Whether it moved anything.
    pub(super) fn moved(&self) -> bool {
        self.bytes > 0.0 || self.bytes_per_second.is_some_and(|rate| rate > 0.0)
    }

    fn rate(&self) -> f64 {
        let by_time = Some(self.bytes / self.runtime_ms).filter(|rate| rate.is_finite());
        by_time.or(self.bytes_per_second.map(|rate| rate / 1e3)).unwrap_or(0.0)
    }
}

/// Whether `next` is a later state of the same run of a job as `earlier`: of the same process, where that is told; else
/// it has done more in more time, and what came on top came about as fast. Another run of the job starts at nothing
/// again.
fn goes_on(earlier: &Job, next: &Job) -> bool {
    let alike = earlier.name == next.name
        && earlier.group == next.group
        && earlier.host == next.host
        && earlier.options == next.options;
    if let (true, Some(old), Some(new)) = (alike, earlier.pid, next.pid) {
        return old == new;
    }
    alike
        && earlier.sides.iter().all(|old| {
            let Some(new) = next.sides.iter().find(|side| side.op == old.op) else { return false };
            // It ran already when the earlier state was printed.
            let ran = |(old_ms, new_ms): (f64, f64)| new_ms - new.runtime_ms < old_ms;
            let (bytes, time) = (new.bytes - old.bytes, new.runtime_ms - old.runtime_ms);
            let same_max = match (old.latency.max, new.latency.max) {
                (Some(old), Some(new)) => (new - old).abs() < 0.5,
                _ => bytes.abs() < 1.0,
            };
            let usual = old.rate() * time;
            let grew = bytes > usual / 20.0 && bytes < usual * 20.0 && old.latency.max <= new.latency.max;
            earlier.printed_ms.zip(next.printed_ms).is_none_or(ran)
                && time >= 0.0
                && if time < 100.0 { bytes >= 0.0 && same_max } else { grew }
        })
}

/// Jobs of one form of output, with the last that was printed of each.
#[derive(Debug, Clone, Default)]
pub(super) struct States {
    pub(super) jobs: Vec<Job>,
    /// Which job of those known comes next where all are printed again.
    again: Option<usize>,
}

impl States {
    /// All jobs are printed again from here on, or those of another call.
    pub(super) fn again(&mut self) {
        self.again = (!self.jobs.is_empty()).then_some(0);
    }

    /// Adds a job; `false` where it is the first of another call.
    pub(super) fn add(&mut self, job: Job) -> bool {
        let Some(at) = self.again else {
            self.jobs.push(job);
            return true;
        };
        match self.jobs.get_mut(at) {
            Some(earlier) if goes_on(earlier, &job) => *earlier = job,
            _ if at == 0 => return false,
            _ => self.jobs.push(job),
        }
        self.again = Some(at + 1);
        true
    }
}

/// The clones of a job (`numjobs`) as one: they ran at the same time with the same options. As in fio's own line of a
/// group, their sum counts, over the longest of their times.
pub(super) fn together(clones: Vec<Job>) -> Option<Job> {
    let jobs = u32::try_from(clones.len()).ok();
    let mut all = clones.into_iter();
    let mut whole = all.next()?;
    if jobs == Some(1) {
        return Some(whole);
    }
    whole.sides.iter_mut().for_each(count);
    for job in all {
        whole.error = if whole.error == 0 { job.error } else { whole.error };
        whole.missing = whole.missing.or(job.missing);
        whole.half |= job.half;
        whole.contradictions.extend(job.contradictions);
        for mut side in job.sides {
            count(&mut side);
            match whole.sides.iter_mut().find(|ours| ours.op == side.op) {
                Some(ours) => add(ours, &side),
                None => whole.sides.push(side),
            }
        }
    }
    whole.jobs = jobs;
    for side in &mut whole.sides {
        // What each of them printed is no figure of all.
        let seconds = side.runtime_ms / 1e3;
        side.bytes_per_second = Some(side.bytes / seconds).filter(|rate| rate.is_finite());
        side.iops = side.operations.map(|operations| operations as f64 / seconds).filter(|rate| rate.is_finite());
    }
    Some(whole)
}

/// Operations of a side that does not tell them, by rate and time.
fn count(side: &mut Side) {
    let by_rate = side.iops.map(|iops| (iops * side.runtime_ms / 1e3).round() as u64);
    side.operations = side.operations.or(by_rate);
}

fn add(ours: &mut Side, theirs: &Side) {
    let weight = |side: &Side| side.operations.unwrap_or(0) as f64;
    let mean = match (ours.latency.mean, theirs.latency.mean) {
        (Some(a), Some(b)) => Some((a * weight(ours) + b * weight(theirs)) / (weight(ours) + weight(theirs))),
        _ => None,
    };
    let max = ours.latency.max.zip(theirs.latency.max).map(|(a, b)| a.max(b));
    // Percentiles cannot be put together, but by their bins.
    ours.latency = Latencies { mean: mean.filter(|mean| mean.is_finite()), max, ..Latencies::default() };
    ours.bytes += theirs.bytes;
    ours.runtime_ms = ours.runtime_ms.max(theirs.runtime_ms);
    ours.operations = ours.operations.zip(theirs.operations).map(|(a, b)| a.saturating_add(b));
    ours.histogram = ours.histogram.take().zip(theirs.histogram.as_ref()).map(|(mut whole, more)| {
        whole.merge(more);
        whole
    });
}
