//! What fio tells of a job, whatever the form of its output.

use std::collections::BTreeMap;

use assay_core::finding::{Finding, JobPart};
use assay_core::histogram::Histogram;
use assay_core::workload::Op;

use crate::number::Told;
use crate::report::Latencies;

/// A job, or a group of them that fio reports as one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) group: u32,
    /// Number of threads it stands for, where the output has it.
    pub(super) jobs: Option<u32>,
    /// Error number; 0 is none.
    pub(super) error: u32,
    /// Its options as they were given, those for all jobs included. Empty where they are not told.
    pub(super) options: BTreeMap<String, String>,
    /// Directions in which it moved bytes.
    pub(super) sides: Vec<Side>,
    /// Where it ran, of several hosts.
    pub(super) host: Option<String>,
    /// Its process, where the output has it.
    pub(super) pid: Option<u32>,
    /// When it was printed, in milliseconds since 1970, where the output has it.
    pub(super) printed_ms: Option<f64>,
    /// Whether it reports several jobs with different options.
    pub(super) grouped: bool,
    /// The disks in the same line, which are equal for all jobs that were printed at once.
    pub(super) disks: String,
    /// What of it is missing, where the text is cut off.
    pub(super) missing: Option<JobPart>,
    /// What fio says of its error.
    pub(super) said: Option<String>,
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

/// Whether `next` is a later state of the same run of a job as `earlier`: of the same process, where the output names it; else
/// it has done more in more time, at about the same rate. Another run of the job starts at nothing
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

/// Shortest time between two states of a run in milliseconds: `--status-interval` is of seconds.
const LEAST_INTERVAL_MS: f64 = 400.0;

/// Jobs of one form of output, with the last that was printed of each.
#[derive(Debug, Clone, Default)]
pub(super) struct States {
    pub(super) jobs: Vec<Job>,
    /// Which job of those known comes next where all are printed again.
    again: Option<usize>,
}

impl States {
    /// Whether a job is the first one again, in a later state, though nothing between them says so: it has the same
    /// process, where the output names it, or has done more in more time. Clones of a job
    /// (`numjobs`) are printed alike, but have run as long as it has, or have done as much.
    pub(super) fn is_later_state(&self, job: &Job) -> bool {
        let Some(first) = self.jobs.first() else { return false };
        let longest = |job: &Job| job.sides.iter().map(|side| side.runtime_ms).fold(0.0, f64::max);
        goes_on(first, job) && !first.sides.is_empty() && longest(job) - longest(first) >= LEAST_INTERVAL_MS
    }

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
        // The last state may follow sooner than the others, and its disks may have done nothing since.
        let wraps = at >= self.jobs.len() && self.jobs.first().is_some_and(|first| goes_on(first, &job));
        let at = if wraps { 0 } else { at };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn job(kib: f64, runtime_ms: f64, max_us: f64) -> Job {
        let latency = Latencies { max: Some(max_us * 1e3), ..Latencies::default() };
        let side = Side { bytes: kib * 1024.0, runtime_ms, latency, ..Side::new(Op::Write) };
        Job { name: "a".to_owned(), sides: vec![side], ..Job::default() }
    }

    #[test]
    fn a_later_state_has_done_more_in_more_time() {
        let first = States { jobs: vec![job(178_340.0, 1000.0, 71.0)], again: None };
        assert!(first.is_later_state(&job(361_992.0, 2000.0, 71.0)));
        let mut states = first.clone();
        states.again();
        assert!(states.add(job(361_992.0, 2000.0, 71.0)) && states.add(job(383_892.0, 2121.0, 71.0)));
        assert_eq!(states.jobs, [job(383_892.0, 2121.0, 71.0)], "the last follows sooner");
        for (kib, runtime_ms, max_us, why) in [
            (178_340.0, 1600.0, 90.0, "a clone that did as much in more time"),
            (180_100.0, 1003.0, 90.0, "a clone that ran as long"),
            (361_992.0, 2000.0, 60.0, "its longest operation is not that of before"),
            (90_000.0, 2000.0, 71.0, "it has done less"),
        ] {
            assert!(!first.is_later_state(&job(kib, runtime_ms, max_us)), "{why}");
        }
        assert!(!first.is_later_state(&Job { name: "b".to_owned(), ..job(361_992.0, 2000.0, 71.0) }));
        let process = |pid, runtime_ms| Job { pid: Some(pid), ..job(178_340.0, runtime_ms, 71.0) };
        let known = States { jobs: vec![process(7, 1000.0)], again: None };
        assert!(known.is_later_state(&process(7, 1900.0)) && !known.is_later_state(&process(8, 1900.0)));
    }
}
