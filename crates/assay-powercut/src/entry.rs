//! What the ledger holds: numbered intents, acknowledgements and results, each readable without those after it.

use assay_endure::journal::{Entries, json, put, take};
use serde::{Deserialize, Serialize};

use crate::report::CutReport;
use crate::round::{Begin, Ended, Mode, Round};

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// The first entry.
    Begin(Begin),
    /// A round begins.
    Round(Round),
    /// Writes that are about to be issued, numbered from `first` in this order.
    Writes {
        /// Number of the first.
        first: u64,
        /// How they are acknowledged.
        mode: Mode,
        /// The block of each.
        blocks: Vec<u64>,
    },
    /// One number is about to be written to all of these runs of blocks: (first block, blocks).
    Fill {
        /// The number.
        number: u64,
        /// Runs in ascending order.
        runs: Vec<(u64, u64)>,
    },
    /// The medium acknowledged these writes.
    Acknowledged {
        /// Number of the first.
        first: u64,
        /// How many.
        count: u64,
        /// Since the round began.
        at_ns: u64,
    },
    /// The load of the round ended.
    Ended(Ended),
    /// What the medium held afterwards, and the runs of blocks that held something else than they should.
    Checked(Box<Checked>),
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// The result.
    pub report: CutReport,
    /// Runs of blocks whose content is not known any more.
    pub failed: Vec<(u64, u64)>,
}

impl Entries for Entry {
    const MAGIC: &'static [u8; 16] = b"assay power cut\n";
    /// An area has at most 1,048,576 blocks, each in one run.
    const MOST: u32 = 64 << 20;
    const KINDS: u8 = 7;

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Begin(begin) => json(1, begin),
            Self::Round(round) => json(2, round),
            Self::Writes { first, mode, blocks } => {
                let mut bytes = vec![3];
                put(&mut bytes, *first);
                put(&mut bytes, Mode::ALL.iter().position(|known| known == mode).unwrap_or_default() as u64);
                put(&mut bytes, blocks.len() as u64);
                blocks.iter().for_each(|block| put(&mut bytes, *block));
                bytes
            }
            Self::Fill { number, runs } => {
                let mut bytes = vec![4];
                put(&mut bytes, *number);
                put(&mut bytes, runs.len() as u64);
                for (start, length) in runs {
                    put(&mut bytes, *start);
                    put(&mut bytes, *length);
                }
                bytes
            }
            Self::Acknowledged { first, count, at_ns } => {
                let mut bytes = vec![5];
                [*first, *count, *at_ns].into_iter().for_each(|value| put(&mut bytes, value));
                bytes
            }
            Self::Ended(end) => json(6, end),
            Self::Checked(checked) => json(7, checked),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let rest = &mut rest;
        let entry = match kind {
            1 => return serde_json::from_slice(rest).ok().map(Self::Begin),
            2 => return serde_json::from_slice(rest).ok().map(Self::Round),
            6 => return serde_json::from_slice(rest).ok().map(Self::Ended),
            7 => return serde_json::from_slice(rest).ok().map(Self::Checked),
            3 => {
                let first = take(rest)?;
                let mode = *Mode::ALL.get(usize::try_from(take(rest)?).ok()?)?;
                let count = take(rest)?;
                Self::Writes { first, mode, blocks: (0..count).map(|_| take(rest)).collect::<Option<_>>()? }
            }
            4 => {
                let (number, count) = (take(rest)?, take(rest)?);
                let runs = (0..count).map(|_| Some((take(rest)?, take(rest)?))).collect::<Option<_>>()?;
                Self::Fill { number, runs }
            }
            5 => Self::Acknowledged { first: take(rest)?, count: take(rest)?, at_ns: take(rest)? },
            _ => return None,
        };
        rest.is_empty().then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::LoadEnd;

    #[test]
    fn an_entry_is_read_as_it_was_written_and_never_in_part() {
        let entries = [
            Entry::Writes { first: 300, mode: Mode::Dsync, blocks: vec![0, 127, 128, u64::MAX] },
            Entry::Writes { first: 1, mode: Mode::Fsync, blocks: Vec::new() },
            Entry::Fill { number: 9, runs: vec![(0, 16), (1 << 40, 5)] },
            Entry::Acknowledged { first: 7, count: 3, at_ns: u64::MAX },
            Entry::Ended(Ended { end: LoadEnd::Gone, by_command: true }),
        ];
        for entry in entries {
            let bytes = entry.to_bytes();
            assert_eq!(Entry::from_bytes(&bytes).as_ref(), Some(&entry));
            for cut in 0..bytes.len() {
                assert_eq!(Entry::from_bytes(&bytes[..cut]), None);
            }
        }
        assert_eq!(Entry::from_bytes(&[3, 1, 3, 0]), None, "a mode that is not known");
        assert_eq!(Entry::from_bytes(&[8]), None);
    }
}
