//! Entries of the log and their bytes. What an entry of numbers holds is packed; all else is JSON.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_core::endurance::{FailureKind, LifeEnd, WearLoad};
use assay_core::retention::SameWay;
use serde::{Deserialize, Serialize};

use crate::journal::{Entries, json, put, take};
use crate::layout::{Phase, SLICES, Task};
use crate::map::{COLUMNS, Changed};
use crate::medium::{Latencies, Trouble};

/// More bytes than an entry of JSON has.
const MOST_TEXT: usize = 1 << 20;

/// What is known when a test begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// Version of the log, 1.
    pub version: u32,
    /// Number of the test, as 16 hexadecimal digits.
    pub id: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// Model, where it is known.
    pub model: Option<String>,
    /// Unit, where it is known.
    pub unit: Option<String>,
    /// Announced size of the medium in bytes.
    pub capacity_bytes: u64,
    /// Pages of 4096 bytes of the area.
    pub pages: u64,
    /// What wears it.
    pub load: WearLoad,
    /// Labels of the user.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

impl Begin {
    /// The number of the test; `None` if the id is not a number.
    #[must_use]
    pub fn stamp_unit(&self) -> Option<u64> {
        u64::from_str_radix(&self.id, 16).ok()
    }
}

/// The medium was attached, at the beginning and each time it is gone on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// When (RFC 3339).
    pub at: String,
    /// Its path.
    pub path: String,
    /// The way to it.
    #[serde(flatten)]
    pub way: Way,
    /// The time for which it is attached: another one after it was unplugged.
    #[serde(default)]
    pub attachment: Option<String>,
    /// Whether the slice under way may have been written in part by an earlier attachment.
    pub partly: bool,
}

/// The medium rests after its last cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestBegun {
    /// When that was asked for (RFC 3339).
    pub at: String,
    /// Seconds from the end of the first reading, after which it is read again.
    pub seconds: u64,
}

/// What the last cycle wrote is read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestReadBegun {
    /// When, in seconds since 1970.
    pub at: u64,
    /// Its path.
    pub path: String,
    /// The way to it.
    #[serde(flatten)]
    pub way: Way,
}

/// Something that stopped a slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// When (RFC 3339).
    pub at: String,
    /// What the medium did.
    pub trouble: Trouble,
    /// What the kernel said meanwhile.
    #[serde(default)]
    pub kernel: Vec<String>,
}

/// Health and temperature at the end of a cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// When (RFC 3339).
    pub at: String,
    /// The cycle.
    pub cycle: u64,
    /// Temperatures in degrees Celsius by sensor.
    #[serde(default)]
    pub celsius: BTreeMap<String, f64>,
    /// Health counters, as the medium answers.
    #[serde(default)]
    pub health: BTreeMap<String, i64>,
}

/// A slice was written and synced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceWritten {
    /// Which.
    pub task: Task,
    /// Bytes.
    pub bytes: u64,
    /// Time that took.
    pub elapsed_ns: u64,
    /// Latencies of its writes.
    pub latencies: Latencies,
    /// Sectors that refused to be written.
    pub refused: u64,
    /// When it was done, in seconds since 1970.
    pub at: u64,
}

/// Sectors that fail for the first time, by address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Their numbers.
    pub sectors: Range<u64>,
    /// What they hold.
    pub kind: FailureKind,
}

/// A slice was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceRead {
    /// Which.
    pub task: Task,
    /// Bytes.
    pub bytes: u64,
    /// Time that took.
    pub elapsed_ns: u64,
    /// Latencies of its reads.
    pub latencies: Latencies,
    /// Sectors that failed at first and held when they were read again at once; one for each transfer that gave an error.
    pub transient: u64,
    /// Sectors that had failed before and hold.
    pub healed: u64,
    /// First failures, without those in [`Entry::Failures`].
    pub failures: Vec<Run>,
    /// Cells whose counts changed.
    pub changes: Vec<Changed>,
    /// When it was done, in seconds since 1970.
    pub at: u64,
}

/// A slice was read after a rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceRested {
    /// How many slices of this reading were done before; the order is that of the first reading.
    pub index: u64,
    /// When it was done, in seconds since 1970.
    pub at: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time that took.
    pub elapsed_ns: u64,
    /// Latencies of its reads.
    pub latencies: Latencies,
    /// Sectors that failed at first and held when they were read again at once.
    pub transient: u64,
    /// Sectors that do not hold, and had failed under wear.
    pub worn: u64,
    /// Other sectors that do not hold, by kind in the order of [`FailureKind::ALL`].
    pub lost: [u64; FailureKind::ALL.len()],
}

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// The first.
    Begin(Begin),
    /// See [`Attachment`].
    Attached(Attachment),
    /// See [`SliceWritten`].
    Written(SliceWritten),
    /// See [`SliceRead`].
    Read(SliceRead),
    /// First failures of a slice that is still being read, where there are many.
    Failures(Task, Vec<Run>),
    /// See [`Incident`].
    Incident(Incident),
    /// See [`Condition`].
    Condition(Condition),
    /// The end.
    End(LifeEnd),
    /// See [`RestBegun`].
    Rest(RestBegun),
    /// See [`RestReadBegun`].
    RestRead(RestReadBegun),
    /// See [`SliceRested`].
    Rested(SliceRested),
}

/// The way to a medium, by which two readings are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Way {
    /// Name of the host.
    pub host: Option<String>,
    /// The reader that it is in.
    pub reader: Option<String>,
    /// Kind and mode of the bus.
    pub bus: Option<String>,
}

impl Way {
    /// Whether this way is that one.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> SameWay {
        let same = |one: &Option<String>, other: &Option<String>| Some(one.as_ref()? == other.as_ref()?);
        SameWay {
            host: same(&self.host, &other.host),
            reader: same(&self.reader, &other.reader),
            bus: same(&self.bus, &other.bus),
        }
    }
}

impl Entries for Entry {
    const MAGIC: &'static [u8; 16] = b"assay endurance\n";
    /// 10,000 runs of failures take 0.2 MB.
    const MOST: u32 = 2 << 20;
    const KINDS: u8 = 11;

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Begin(begin) => json(1, begin),
            Self::Attached(attachment) => json(2, attachment),
            Self::Written(written) => {
                let mut bytes = vec![3];
                put_task(&mut bytes, written.task);
                put_times(&mut bytes, written.bytes, written.elapsed_ns, written.latencies);
                put(&mut bytes, written.refused);
                put(&mut bytes, written.at);
                bytes
            }
            Self::Read(read) => {
                let mut bytes = vec![4];
                put_task(&mut bytes, read.task);
                put_times(&mut bytes, read.bytes, read.elapsed_ns, read.latencies);
                put(&mut bytes, read.transient);
                put(&mut bytes, read.healed);
                put_runs(&mut bytes, &read.failures);
                put_changes(&mut bytes, &read.changes);
                put(&mut bytes, read.at);
                bytes
            }
            Self::Failures(task, runs) => {
                let mut bytes = vec![5];
                put_task(&mut bytes, *task);
                put_runs(&mut bytes, runs);
                bytes
            }
            Self::Incident(incident) => json(6, incident),
            Self::Condition(condition) => json(7, condition),
            Self::End(end) => json(8, end),
            Self::Rest(rest) => json(9, rest),
            Self::RestRead(begun) => json(10, begun),
            Self::Rested(rested) => {
                let mut bytes = vec![11];
                put(&mut bytes, rested.index);
                put(&mut bytes, rested.at);
                put_times(&mut bytes, rested.bytes, rested.elapsed_ns, rested.latencies);
                put(&mut bytes, rested.transient);
                put(&mut bytes, rested.worn);
                rested.lost.iter().for_each(|count| put(&mut bytes, *count));
                bytes
            }
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let rest = &mut rest;
        // Text takes more memory than bytes once it is read; no entry is nearly as long.
        if !matches!(kind, 3..=5 | 11) && rest.len() > MOST_TEXT {
            return None;
        }
        let entry = match kind {
            1 => return serde_json::from_slice(rest).ok().map(Self::Begin),
            2 => return serde_json::from_slice(rest).ok().map(Self::Attached),
            6 => return serde_json::from_slice(rest).ok().map(Self::Incident),
            7 => return serde_json::from_slice(rest).ok().map(Self::Condition),
            8 => return serde_json::from_slice(rest).ok().map(Self::End),
            9 => return serde_json::from_slice(rest).ok().map(Self::Rest),
            10 => return serde_json::from_slice(rest).ok().map(Self::RestRead),
            3 => {
                let task = take_task(rest)?;
                let (bytes, elapsed_ns, latencies) = take_times(rest)?;
                Self::Written(SliceWritten {
                    task,
                    bytes,
                    elapsed_ns,
                    latencies,
                    refused: take(rest)?,
                    at: take(rest)?,
                })
            }
            4 => {
                let task = take_task(rest)?;
                let (bytes, elapsed_ns, latencies) = take_times(rest)?;
                let (transient, healed) = (take(rest)?, take(rest)?);
                let (failures, changes) = (take_runs(rest)?, take_changes(rest)?);
                let at = take(rest)?;
                Self::Read(SliceRead { task, bytes, elapsed_ns, latencies, transient, healed, failures, changes, at })
            }
            5 => Self::Failures(take_task(rest)?, take_runs(rest)?),
            11 => {
                let (index, at) = (take(rest)?, take(rest)?);
                let (bytes, elapsed_ns, latencies) = take_times(rest)?;
                let (transient, worn) = (take(rest)?, take(rest)?);
                let mut lost = [0; FailureKind::ALL.len()];
                for count in &mut lost {
                    *count = take(rest)?;
                }
                Self::Rested(SliceRested { index, at, bytes, elapsed_ns, latencies, transient, worn, lost })
            }
            _ => return None,
        };
        rest.is_empty().then_some(entry)
    }
}

fn put_task(bytes: &mut Vec<u8>, task: Task) {
    put(bytes, task.cycle);
    put(bytes, task.index + if task.phase == Phase::Read { SLICES } else { 0 });
}

fn take_task(bytes: &mut &[u8]) -> Option<Task> {
    let (cycle, place) = (take(bytes)?, take(bytes)?);
    let phase = if place < SLICES { Phase::Write } else { Phase::Read };
    (place < 2 * SLICES).then_some(Task { cycle, phase, index: place % SLICES })
}

fn put_times(bytes: &mut Vec<u8>, moved: u64, elapsed_ns: u64, latencies: Latencies) {
    for value in [moved, elapsed_ns, latencies.p50_ns, latencies.p99_ns, latencies.max_ns] {
        put(bytes, value);
    }
}

fn take_times(bytes: &mut &[u8]) -> Option<(u64, u64, Latencies)> {
    let (moved, elapsed_ns) = (take(bytes)?, take(bytes)?);
    let latencies = Latencies { p50_ns: take(bytes)?, p99_ns: take(bytes)?, max_ns: take(bytes)? };
    Some((moved, elapsed_ns, latencies))
}

fn put_runs(bytes: &mut Vec<u8>, runs: &[Run]) {
    put(bytes, runs.len() as u64);
    let mut end = 0;
    for run in runs {
        put(bytes, run.sectors.start - end);
        put(bytes, (run.sectors.end - run.sectors.start - 1) << 3 | crate::map::column(run.kind) as u64);
        end = run.sectors.end;
    }
}

fn take_runs(bytes: &mut &[u8]) -> Option<Vec<Run>> {
    let mut runs = Vec::new();
    let mut end = 0u64;
    for _ in 0..take(bytes)? {
        let start = end.checked_add(take(bytes)?)?;
        let packed = take(bytes)?;
        end = start.checked_add((packed >> 3) + 1)?;
        runs.push(Run { sectors: start..end, kind: FailureKind::ALL[(packed & 7) as usize] });
    }
    Some(runs)
}

fn put_changes(bytes: &mut Vec<u8>, changes: &[Changed]) {
    put(bytes, changes.len() as u64);
    let mut next = 0;
    for change in changes {
        put(bytes, change.cell - next);
        next = change.cell + 1;
        let mask = (0..COLUMNS).filter(|column| change.counts[*column] > 0).fold(0, |mask, column| mask | 1 << column);
        put(bytes, mask);
        change.counts.iter().filter(|count| **count > 0).for_each(|count| put(bytes, u64::from(*count)));
    }
}

fn take_changes(bytes: &mut &[u8]) -> Option<Vec<Changed>> {
    let mut changes = Vec::new();
    let mut next = 0u64;
    for _ in 0..take(bytes)? {
        let cell = next.checked_add(take(bytes)?)?;
        next = cell.checked_add(1)?;
        let mask = take(bytes)?;
        let mut counts = [0; COLUMNS];
        for (column, count) in counts.iter_mut().enumerate() {
            if mask >> column & 1 == 1 {
                *count = u32::try_from(take(bytes)?).ok()?;
            }
        }
        changes.push(Changed { cell, counts });
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read() -> SliceRead {
        let mut counts = [0; COLUMNS];
        (counts[2], counts[8]) = (70_000, 1);
        SliceRead {
            task: Task { cycle: 300, phase: Phase::Read, index: 15 },
            bytes: 1 << 33,
            elapsed_ns: u64::MAX,
            latencies: Latencies { p50_ns: 1, p99_ns: 128, max_ns: 1 << 40 },
            transient: 2,
            healed: 9,
            failures: vec![
                Run { sectors: 0..1, kind: FailureKind::Zeros },
                Run { sectors: 1..500, kind: FailureKind::Garbage },
                Run { sectors: 1 << 40..(1 << 40) + 8, kind: FailureKind::Unreadable },
            ],
            changes: vec![Changed { cell: 0, counts }, Changed { cell: 4095, counts: [0; COLUMNS] }],
            at: 1_800_000_000,
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_and_never_in_part() {
        let task = Task { cycle: 1, phase: Phase::Write, index: 0 };
        let written =
            SliceWritten { task, bytes: 5, elapsed_ns: 6, latencies: Latencies::default(), refused: 7, at: 8 };
        let rested = SliceRested {
            index: 15,
            at: 1 << 40,
            bytes: 9,
            elapsed_ns: 10,
            latencies: Latencies::default(),
            transient: 1,
            worn: 2,
            lost: std::array::from_fn(|kind| kind as u64),
        };
        let way = Way { host: Some("h".to_owned()), reader: None, bus: None };
        let entries = [
            Entry::Written(written),
            Entry::Failures(task, read().failures),
            Entry::Read(read()),
            Entry::End(LifeEnd::Running),
            Entry::Rest(RestBegun { at: String::new(), seconds: 30 }),
            Entry::RestRead(RestReadBegun { at: 7, path: "p".to_owned(), way }),
            Entry::Rested(rested),
        ];
        for entry in entries {
            let bytes = entry.to_bytes();
            assert_eq!(Entry::from_bytes(&bytes), Some(entry));
            for cut in 0..bytes.len() {
                assert_eq!(Entry::from_bytes(&bytes[..cut]), None);
            }
        }
        assert_eq!(Entry::from_bytes(&[4, 1, 99]), None);
    }
}
