//! What a check writes to each place, and how it classifies what it reads.

use std::collections::BTreeMap;

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use serde::{Deserialize, Serialize};

use super::format;
use super::salted::Key;
use crate::probe::Salt;

/// Places are written again in pieces of this size: above 32 KiB, so that a cache for long writes takes
/// them, and small enough for about a thousand of them in 64 MiB.
pub(crate) const PIECE: u64 = 64 << 10;
const SECTOR: usize = SECTOR_BYTES as usize;

/// Format of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Only of this check: salted, so that no earlier check, no cache and no compression can answer for the medium.
    #[default]
    Salted,
    /// The format of f3 and H2testw, which they read too.
    F3,
}

/// What a check writes to each place, as it generates and compares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    format: Format,
    salt: Salt,
    /// Starts of pieces that were written again, with their generation.
    #[serde(default)]
    rewritten: BTreeMap<u64, u16>,
}

/// Classification of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// What was written for this place.
    Good,
    /// The same, except for a few bits.
    Changed,
    /// What was written for this other byte offset.
    Overwritten(u64),
    /// An earlier write of this check: a later write was dropped.
    Stale,
    /// Something else.
    Corrupted,
}

impl Seen {
    pub(crate) fn class(self) -> SectorClass {
        match self {
            Self::Good => SectorClass::Good,
            Self::Changed => SectorClass::Changed,
            Self::Overwritten(_) => SectorClass::Overwritten,
            Self::Stale | Self::Corrupted => SectorClass::Corrupted,
        }
    }
}

impl Content {
    /// Content of a check with this salt.
    #[must_use]
    pub fn new(format: Format, salt: Salt) -> Self {
        Self { format, salt, rewritten: BTreeMap::new() }
    }

    /// Content of files of f3 or H2testw.
    pub(crate) fn f3() -> Self {
        Self::new(Format::F3, Salt::known(0))
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn salt(&self) -> Salt {
        self.salt
    }

    /// Whether the content can come neither from an earlier check nor from a program of the medium.
    pub(crate) fn is_unique(&self) -> bool {
        self.format == Format::Salted
    }

    /// How often pieces were written again, at most.
    pub(crate) fn generations(&self) -> u16 {
        self.rewritten.values().copied().max().unwrap_or(0).min(u16::MAX - 1)
    }

    /// Sets the salted content of a further generation for the piece that begins at `start`.
    pub(crate) fn rewrite(&mut self, start: u64, generation: u16) {
        self.rewritten.insert(start, generation);
    }

    /// Resets everything to the first content.
    pub(crate) fn undo_rewriting(&mut self) {
        self.rewritten.clear();
    }

    /// The generation of the piece that contains a byte; `None` if it was not written again.
    fn generation(&self, offset: u64) -> Option<u16> {
        self.rewritten.get(&(offset / PIECE * PIECE)).copied()
    }

    /// Calls `work` for each part of the bytes from `offset` that has one generation.
    fn parts(&self, offset: u64, bytes: u64, mut work: impl FnMut(usize, usize, Option<u16>)) {
        let end = offset + bytes;
        if self.rewritten.range(offset / PIECE * PIECE..end).next().is_none() {
            return work(0, bytes as usize, None);
        }
        let mut at = offset;
        while at < end {
            let next = ((at / PIECE + 1) * PIECE).min(end);
            work((at - offset) as usize, (next - offset) as usize, self.generation(at));
            at = next;
        }
    }

    /// Fills whole sectors with the content for byte `offset`.
    pub fn fill(&self, buffer: &mut [u8], offset: u64) {
        let key = Key::new(self.salt);
        self.parts(offset, buffer.len() as u64, |from, to, generation| {
            let (part, at) = (&mut buffer[from..to], offset + from as u64);
            match (self.format, generation) {
                (Format::F3, None) => format::fill(part, at),
                (_, generation) => key.fill(part, at, generation.unwrap_or(0)),
            }
        });
    }

    /// Whether whole sectors hold the content for byte `offset`.
    #[must_use]
    pub fn intact(&self, data: &[u8], offset: u64) -> bool {
        let (key, mut intact) = (Key::new(self.salt), true);
        self.parts(offset, data.len() as u64, |from, to, generation| {
            let (part, at) = (&data[from..to], offset + from as u64);
            intact &= match (self.format, generation) {
                (Format::F3, None) => format::intact(part, at),
                (_, generation) => key.intact(part, at, generation.unwrap_or(0)),
            };
        });
        intact
    }

    /// The byte offset that a salted sector of this check was written for.
    pub(crate) fn belongs(&self, sector: &[u8]) -> Option<u64> {
        let sector = sector.first_chunk::<SECTOR>()?;
        Key::new(self.salt).origin(sector).map(|origin| origin.offset)
    }

    /// Classifies a sector for byte `offset`. Less than a whole sector is corrupted.
    pub(crate) fn classify(&self, sector: &[u8], offset: u64) -> Seen {
        let Some(sector) = sector.first_chunk::<SECTOR>() else { return Seen::Corrupted };
        let (key, generation) = (Key::new(self.salt), self.generation(offset));
        let salted = match (self.format, generation) {
            (Format::F3, None) => None,
            (_, generation) => Some(generation.unwrap_or(0)),
        };
        if let Some(generation) = salted {
            if key.intact(sector, offset, generation) {
                return Seen::Good;
            }
            if key.nearly(sector, offset, generation) {
                return Seen::Changed;
            }
        }
        match key.origin(sector) {
            Some(origin) if origin.offset == offset => return Seen::Stale,
            Some(origin) => return Seen::Overwritten(origin.offset),
            None if self.format == Format::Salted => return Seen::Corrupted,
            None => {}
        }
        match (format::classify(sector, offset), salted) {
            ((SectorClass::Overwritten, Some(holds)), _) => Seen::Overwritten(holds),
            ((SectorClass::Good | SectorClass::Changed, _), Some(_)) => Seen::Stale,
            ((SectorClass::Good, _), None) => Seen::Good,
            ((SectorClass::Changed, _), None) => Seen::Changed,
            _ => Seen::Corrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn sector(content: &Content, offset: u64) -> Vec<u8> {
        let mut data = vec![0; SECTOR];
        content.fill(&mut data, offset);
        data
    }

    #[test]
    fn every_class_is_told_from_the_others_in_both_formats() {
        for format in [Format::Salted, Format::F3] {
            let content = Content::new(format, Salt::known(3));
            let at = 7 * MIB;
            assert_eq!(content.classify(&sector(&content, at), at), Seen::Good);
            assert_eq!(content.classify(&sector(&content, 512), at), Seen::Overwritten(512));
            assert_eq!(content.classify(&[0; SECTOR], at), Seen::Corrupted);
            let mut flipped = sector(&content, at);
            flipped[300] ^= 8;
            assert_eq!(content.classify(&flipped, at), Seen::Changed);
        }
    }

    /// Content of an earlier check is not accepted as content of this one.
    #[test]
    fn content_of_another_check_is_lost_data() {
        let (one, other) = (Content::new(Format::Salted, Salt::known(1)), Content::new(Format::Salted, Salt::known(2)));
        assert_eq!(other.classify(&sector(&one, MIB), MIB), Seen::Corrupted);
        assert_eq!(other.classify(&sector(&Content::f3(), MIB), MIB), Seen::Corrupted);
    }

    #[test]
    fn a_piece_that_was_written_again_holds_the_new_content_alone() {
        for format in [Format::Salted, Format::F3] {
            let before = Content::new(format, Salt::known(3));
            let mut after = before.clone();
            after.rewrite(2 * PIECE, 1);
            let (mut old, mut new) = (vec![0; MIB as usize], vec![0; MIB as usize]);
            before.fill(&mut old, 0);
            after.fill(&mut new, 0);
            let piece = 2 * PIECE as usize..3 * PIECE as usize;
            assert!(old[..piece.start] == new[..piece.start] && old[piece.end..] == new[piece.end..]);
            assert!(after.intact(&new, 0) && !after.intact(&old, 0) && !before.intact(&new, 0));
            let at = 2 * PIECE + 512;
            assert_eq!(after.classify(&old[at as usize..], at), Seen::Stale, "{format:?}");
            assert!(after.intact(&new[at as usize..][..512], at), "within a piece");
            after.undo_rewriting();
            assert_eq!(after.classify(&new[at as usize..], at), Seen::Stale, "{format:?}: it was to be put back");
            assert!(after.intact(&old, 0));
        }
    }
}
