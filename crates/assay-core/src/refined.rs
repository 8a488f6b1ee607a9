//! What a load has beyond pattern, block and queue: where operations begin and go on, sizes of writes, syncs after
//! several writes, what is written. Empty for most loads.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::text::quoted;
use crate::units::{Bytes, exact_bytes};

/// What a load has beyond pattern, block and queue.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Refined {
    /// Random operations begin at multiples of this many bytes; null where at multiples of what all their sizes are
    /// multiples of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// Sequential operations go through runs with gaps between them, or backwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<Stride>,
    /// Number of parts of a job's area that sequential operations go through in turns, as through files; 0 and 1 are one.
    #[serde(skip_serializing_if = "is_default")]
    pub files: u32,
    /// Each sequential job goes through all of the area, and not through a part of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub shared: bool,
    /// Reads and writes of a sequential mix are a stream each, and not one together.
    #[serde(skip_serializing_if = "is_default")]
    pub apart: bool,
    /// The sizes of writes of a mix, where they are others than those of reads.
    #[serde(skip_serializing_if = "Blocks::is_empty")]
    pub writes: Blocks,
    /// Writes between two syncs; 0 and 1 sync after each.
    #[serde(skip_serializing_if = "is_default")]
    pub sync_every: u32,
    /// Percent of the 4 KiB pages written that are copies of another one.
    #[serde(skip_serializing_if = "is_default")]
    pub duplicate_percent: u8,
    /// Percent of each 4 KiB page written that is zeros, and so compresses.
    #[serde(skip_serializing_if = "is_default")]
    pub zero_percent: u8,
    /// The part of the operations of its group that this load has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
}

/// Runs of a stream, and how far apart they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stride {
    /// Bytes of a run, which is gone through forwards.
    pub run_bytes: u64,
    /// From the beginning of a run to that of the next, in bytes; negative where the next lies before it.
    pub step_bytes: i64,
}

/// A part of the operations of a group: those of its members are kept in the ratio of their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flow {
    /// 1 or more.
    pub weight: u32,
    /// How long a job pauses that is ahead of the others, in nanoseconds; 0 where it only waits.
    pub pause_ns: u64,
}

/// Whether a field is left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Refined {
    /// Whether there is nothing of it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Parts of a job's area that its stream goes through in turns; 1 or more.
    #[must_use]
    pub fn parts(&self) -> u64 {
        u64::from(self.files.max(1))
    }

    /// After how many writes a sync follows, where one does; 1 or more.
    #[must_use]
    pub fn writes_a_sync(&self) -> u32 {
        self.sync_every.max(1)
    }
}

impl Stride {
    /// Reads `256MiB/2GiB`: the bytes of a run, and those from its beginning to the next; `4KiB/-4KiB` goes backwards.
    ///
    /// # Errors
    /// One line with what can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("stride {} must be RUN/STEP, like 256MiB/2GiB or 4KiB/-4KiB", quoted(text));
        let bytes = |text: &str| text.trim().parse::<Bytes>().ok().map(|bytes| bytes.0).filter(|b| *b <= 1 << 60);
        let (run, step) = text.split_once('/').ok_or_else(wrong)?;
        let (sign, step) = step.trim().strip_prefix('-').map_or((1, step), |rest| (-1, rest));
        let (run_bytes, step) = bytes(run).zip(bytes(step)).ok_or_else(wrong)?;
        let step_bytes = sign * i64::try_from(step).map_err(|_| wrong())?;
        Self { run_bytes, step_bytes }.checked().map_err(|why| format!("stride {}: {why}", quoted(text)))
    }

    /// The same, where it is a stride.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn checked(self) -> Result<Self, String> {
        let step = self.step_bytes.unsigned_abs();
        match self {
            _ if self.run_bytes == 0 || !self.run_bytes.is_multiple_of(512) || !step.is_multiple_of(512) => {
                Err("both sizes must be multiples of 512 B".to_owned())
            }
            _ if step == 0 => Err("the step must not be 0".to_owned()),
            _ if self.step_bytes > 0 && step < self.run_bytes => Err("the step is shorter than the run".to_owned()),
            _ => Ok(self),
        }
    }
}

/// As [`Stride::parse`] reads it.
impl fmt::Display for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.step_bytes < 0 { "-" } else { "" };
        write!(f, "{}/{sign}{}", exact_bytes(self.run_bytes), exact_bytes(self.step_bytes.unsigned_abs()))
    }
}

/// In words: `at multiples of 4KiB, in turns through 4 files`.
impl fmt::Display for Refined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { align_bytes, stride, files, shared, apart, writes, sync_every, .. } = self;
        let parts = [
            (!writes.is_empty()).then(|| format!("writes of {writes}")),
            align_bytes.map(|bytes| format!("at multiples of {}", exact_bytes(bytes))),
            stride.map(|stride| format!("stride {stride}")),
            (*files > 1).then(|| format!("in turns through {files} files")),
            shared.then(|| "each job through all of it".to_owned()),
            apart.then(|| "a stream of reads and one of writes".to_owned()),
            (*sync_every > 1).then(|| format!("every {sync_every} writes")),
            (self.duplicate_percent > 0).then(|| format!("{} % copies", self.duplicate_percent)),
            (self.zero_percent > 0).then(|| format!("{} % zeros", self.zero_percent)),
            self.flow.map(|flow| format!("weight {}", flow.weight)),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_read_as_they_are_written() {
        for text in ["256MiB/2304MiB", "4KiB/-4KiB", "16KiB/128KiB", "512B/1GiB"] {
            assert_eq!(Stride::parse(text).unwrap().to_string(), text);
        }
        for (text, word) in
            [("4KiB", "RUN/STEP"), ("4KiB/0B", "must not be 0"), ("8KiB/4KiB", "shorter"), ("100B/1KiB", "512")]
        {
            assert!(Stride::parse(text).unwrap_err().contains(word), "{text}");
        }
    }

    #[test]
    fn what_is_not_usual_is_said() {
        assert!(Refined::default().is_empty() && Refined::default().to_string().is_empty());
        let refined = Refined { align_bytes: Some(4096), files: 4, sync_every: 8, ..Refined::default() };
        assert_eq!(refined.to_string(), "at multiples of 4KiB, in turns through 4 files, every 8 writes");
        let json = serde_json::to_string(&refined).unwrap();
        assert_eq!(json, r#"{"align_bytes":4096,"files":4,"sync_every":8}"#);
        assert_eq!(serde_json::from_str::<Refined>(&json).unwrap(), refined);
    }
}
