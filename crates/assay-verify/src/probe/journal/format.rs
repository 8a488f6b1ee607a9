//! The bytes of a journal: `docs/decisions/006-journal.md`.

use serde::{Deserialize, Serialize};

use crate::probe::stamp::Salt;

/// First bytes of a journal; the digit is the version of the format.
pub(super) const MAGIC: &[u8; 16] = b"assay-undo-log-2";
/// Bytes of a checksum: the first half of a BLAKE3 hash.
pub(super) const SUM: usize = 16;
/// Most bytes of one record's place: the probe saves at most this at once.
pub(super) const PART: u64 = 1 << 20;
/// Most bytes of the header's text.
pub(super) const MOST_HEADER: usize = 1 << 16;
/// Most places between two commit marks; [`super::Journal`] syncs by itself when this many wait.
pub(super) const MOST_BATCH: usize = 1 << 15;
/// Bytes of a place in a commit mark: offset and length.
pub(super) const PLACE: usize = 16;

/// A saved part, byte for byte.
pub(super) const DATA: u8 = 1;
/// A saved part of one repeated byte.
pub(super) const FILL: u8 = 2;
/// Everything was restored and read back. The payload is the attachment of the device at that time.
pub(super) const RESTORED: u8 = 3;
/// Most bytes of an attachment's name.
pub(super) const MOST_ATTACHMENT: usize = 256;
/// Everything before this was handed to the disk at once. The payload is the running hash, and the places since the
/// previous commit mark.
pub(super) const COMMIT: u8 = 4;

/// Which device a journal belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Announced size in bytes.
    pub bytes: u64,
    /// Path or name by which it was opened, for people.
    pub name: String,
    /// Serial number, if the device reports one. It is for people, since readers report their own.
    pub serial: Option<String>,
    /// Identifies the time for which the device is attached now. A different name means that it was attached anew, and
    /// may have been without power meanwhile. `None` if the system does not tell.
    #[serde(skip)]
    pub attachment: Option<String>,
}

/// The header of a journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) device: Identity,
    pub(crate) salt: Salt,
    /// Seconds since 1970 at which it was made.
    pub(crate) created: u64,
    /// Smallest unit that carries a stamp, in bytes.
    pub(crate) sector_bytes: u64,
    /// Most bytes of one record.
    pub(crate) part_bytes: u64,
}

/// Binds the records of one journal together, so that no record of another journal is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Binding {
    hash: [u8; 32],
}

impl Binding {
    /// The binding of a whole header, up to its checksum.
    pub(super) fn of(header: &[u8]) -> Self {
        Self { hash: *blake3::hash(header).as_bytes() }
    }

    /// The header's checksum.
    pub(super) fn sum(&self) -> &[u8] {
        &self.hash[..SUM]
    }

    /// First bytes of each record. After damage, the next record is found by them.
    pub(super) fn marker(&self) -> [u8; 8] {
        let mut marker = [0; 8];
        marker.copy_from_slice(&self.hash[SUM..SUM + 8]);
        marker
    }

    /// Checksum of a record.
    pub(super) fn record_sum(&self, head: &[u8], payload: &[u8]) -> [u8; SUM] {
        cut(blake3::Hasher::new_keyed(&self.hash).update(head).update(payload).finalize())
    }

    /// The running hash after one more record of saved data.
    pub(super) fn chain(&self, before: [u8; SUM], sum: [u8; SUM]) -> [u8; SUM] {
        cut(blake3::Hasher::new_keyed(&self.hash).update(&before).update(&sum).finalize())
    }

    /// The running hash before any record.
    pub(super) fn chain_start() -> [u8; SUM] {
        [0; SUM]
    }
}

fn cut(hash: blake3::Hash) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&hash.as_bytes()[..SUM]);
    sum
}

/// Bytes of a record's head.
pub(super) const HEAD: usize = 33;

/// The header of a record, before its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: u8,
    /// Records of saved data before this one.
    pub(super) number: u64,
    /// First byte of the place on the device; 0 for marks.
    pub(super) offset: u64,
    /// Bytes of the place; of the payload for a commit mark.
    pub(super) length: u64,
}

impl Head {
    pub(super) fn to_bytes(self, marker: [u8; 8]) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&marker);
        head[8] = self.kind;
        head[9..17].copy_from_slice(&self.number.to_le_bytes());
        head[17..25].copy_from_slice(&self.offset.to_le_bytes());
        head[25..33].copy_from_slice(&self.length.to_le_bytes());
        head
    }

    /// Parses a head; `None` if the bytes are none.
    pub(super) fn from_bytes(bytes: &[u8], marker: [u8; 8]) -> Option<Self> {
        let head: &[u8; HEAD] = bytes.first_chunk()?;
        let word = |at: usize| head[at..].first_chunk().map(|bytes: &[u8; 8]| u64::from_le_bytes(*bytes));
        let (kind, number, offset, length) = (head[8], word(9)?, word(17)?, word(25)?);
        let commit = SUM as u64..=(SUM + MOST_BATCH * PLACE) as u64;
        let sound = match kind {
            DATA | FILL => length > 0 && length <= PART && offset.checked_add(length).is_some(),
            COMMIT => commit.contains(&length) && (length - SUM as u64).is_multiple_of(PLACE as u64),
            RESTORED => length <= MOST_ATTACHMENT as u64,
            _ => false,
        };
        (head[..8] == marker && sound).then_some(Self { kind, number, offset, length })
    }

    /// Bytes of the payload.
    pub(super) fn stored(&self) -> usize {
        match self.kind {
            DATA | COMMIT | RESTORED => self.length as usize,
            FILL => 1,
            _ => 0,
        }
    }
}
