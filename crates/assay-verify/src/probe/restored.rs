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

/// What a place shows instead of its original content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// The probe's own blocks: the device took the original content and dropped it.
    Blocks,
    /// The probe's own blocks: the device refused to take the original content.
    Refused,
    /// Nothing: it cannot be read.
    Unreadable,
    /// Something that neither was saved there nor is a block of the probe. It was not overwritten.
    Other,
}

/// A place that is not as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Differing {
    /// Its first byte.
    pub offset: u64,
    /// What it shows.
    pub standing: Standing,
}

/// What became of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JournalLeft {
    /// It is needed: not everything is as before, or a reason speaks against it.
    #[default]
    Needed,
    /// Every place reads as before. A cache that loses data without power may still show what the memory does not hold,
    /// so the journal stays until the device was attached anew and seen again.
    UntilSeenAgain,
    /// It was removed.
    Removed,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// Places that the journal holds.
    pub places: usize,
    /// Bytes that the device took.
    pub bytes: u64,
    /// Places that are not as before, by ascending offset. On a fake, places that hold nothing are among them: their
    /// content cannot come back.
    pub differing: Vec<Differing>,
    /// Byte offsets of places that hold newer data and were left as they are, on request.
    pub newer: Vec<u64>,
    /// Places whose saved content is damaged or cannot be read in the journal, by byte offset;
    /// `None` where that is not known either.
    pub missing: Vec<Option<u64>>,
    /// The end of the journal is missing: more places than those in `missing` may not be as before.
    pub cut_off: bool,
    /// What the journal's disk said where it cannot be read.
    pub unreadable: Option<String>,
    /// Nothing of the probe stood on the device: it was as before, or is another one that holds
    /// the same at all these places.
    pub untouched: bool,
    /// The journal says that everything was put back earlier, and the device agrees after it was attached anew.
    pub already: bool,
    /// It was told to stop.
    pub stopped: bool,
    /// Why what reads as before may not be so, where the probe found a reason.
    pub doubt: Option<&'static str>,
    /// What became of the journal.
    pub journal: JournalLeft,
}

impl Restored {
    /// Whether every place that the journal was made for reads as before.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let all = self.differing.is_empty() && self.newer.is_empty() && self.missing.is_empty() && !self.cut_off;
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
        if !self.missing.is_empty() || self.cut_off {
            let known: Vec<u64> = self.missing.iter().flatten().copied().collect();
            let first = known.first().map_or_else(String::new, |at| format!(", the first at byte {at}"));
            let more = if self.cut_off { "; its end is cut off, so more places may be missing" } else { "" };
            parts.push(format!(
                "the journal is damaged: what was saved of {} is missing in it{first}{more}",
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
        for standing in [Standing::Refused, Standing::Blocks, Standing::Unreadable, Standing::Other] {
            let places: Vec<u64> =
                self.differing.iter().filter(|place| place.standing == standing).map(|place| place.offset).collect();
            if let Some(first) = places.first() {
                parts.push(format!(
                    "{} {}, the first at byte {first}",
                    counted(places.len(), "place"),
                    words(standing)
                ));
            }
        }
        f.write_str(&parts.join("; "))
    }
}

/// What is said of places that are not as before.
fn words(standing: Standing) -> &'static str {
    match standing {
        Standing::Refused => "could not be written: the device refused",
        Standing::Blocks => "did not keep what was put back, as where a fake has no memory",
        Standing::Unreadable => "cannot be read",
        Standing::Other => "changed in another way and stayed untouched",
    }
}
