//! How far a restoration is, and what it came to.

use std::fmt;

use assay_core::units::counted;

/// How far a restoration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoreProgress {
    /// What it does.
    pub step: RestoreStep,
    /// Places done.
    pub done: usize,
    /// Places in all.
    pub places: usize,
    /// Bytes written so far.
    pub written_bytes: u64,
    /// Bytes read back so far.
    pub read_bytes: u64,
}

/// What a restoration does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreStep {
    /// Looks at what stands there; nothing is written yet.
    Looking,
    /// Writes.
    Writing,
    /// Reads back what was written.
    ReadingBack,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// Places that the journal holds.
    pub places: usize,
    /// Bytes put back.
    pub bytes: u64,
    /// Byte offsets of places that could not be written, or read differently than before afterwards.
    /// On a fake, places that hold nothing may be among them: these cannot come back.
    pub differing: Vec<u64>,
    /// Byte offsets of places that hold newer data and were left as they are, on request.
    pub newer: Vec<u64>,
    /// Places whose saved content is damaged or cannot be read in the journal, by byte offset;
    /// `None` where that is not known either.
    pub missing: Vec<Option<u64>>,
    /// What the journal's disk said where it cannot be read.
    pub unreadable: Option<String>,
    /// Nothing of the probe stood on the device: it was as before, or is another one that holds
    /// the same at all these places.
    pub untouched: bool,
    /// The journal says that everything was put back earlier.
    pub already: bool,
    /// It was told to stop.
    pub stopped: bool,
    /// Why what reads as before may not be so, where the probe found a reason.
    pub doubt: Option<&'static str>,
    /// The journal is still there.
    pub journal_kept: bool,
}

impl Restored {
    /// Whether every place that the journal was made for is as before.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let all = self.differing.is_empty() && self.newer.is_empty() && self.missing.is_empty();
        self.already || (all && self.unreadable.is_none() && !self.stopped && self.doubt.is_none())
    }
}

impl fmt::Display for Restored {
    /// What could not be put back, in words; nothing where everything was.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.doubt.map(str::to_owned));
        if self.stopped {
            parts.push("it was interrupted".to_owned());
        }
        if !self.missing.is_empty() {
            let known: Vec<u64> = self.missing.iter().flatten().copied().collect();
            let first = known.first().map_or_else(String::new, |at| format!(", the first at byte {at}"));
            parts.push(format!(
                "the journal is damaged: what was saved of {} is missing in it{first}",
                counted(self.missing.len(), "place")
            ));
        }
        if let Some(error) = &self.unreadable {
            parts.push(format!("the journal cannot be read in full ({error})"));
        }
        if let Some(first) = self.newer.first() {
            let (hold, were) = if self.newer.len() == 1 { ("holds", "was") } else { ("hold", "were") };
            let places = counted(self.newer.len(), "place");
            parts.push(format!("{places} {hold} newer data and {were} left, the first at byte {first}"));
        }
        if let Some(first) = self.differing.first() {
            parts.push(format!(
                "{} {} differently than before, the first at byte {first}: what a fake drops and a damaged place cannot \
                 come back",
                counted(self.differing.len(), "place"),
                if self.differing.len() == 1 { "reads" } else { "read" }
            ));
        }
        f.write_str(&parts.join("; "))
    }
}
