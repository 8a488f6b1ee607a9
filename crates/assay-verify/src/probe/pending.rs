//! Which journal a device needs: names and readers change, stamps do not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contract::{Device, Fault};
use super::journal::{ByteRange, Identity, JournalError, Log, SystemDisk};
use super::stamp::{BLOCK, SECTOR_LEN};

/// Most places that are read, spread over all places of the journal. A probe stamps thousands, and an interrupted
/// restoration leaves those that were saved first.
const MOST_LOOKS: usize = 512;
/// The same on a device whose size differs from the probed one. Most devices do, since each run reads the disk and all
/// of its partitions.
const MOST_LOOKS_AT_OTHERS: usize = 64;

/// A journal whose stamps are on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The journal.
    pub journal: PathBuf,
    /// What the device was when it was probed.
    pub device: Identity,
    /// Seconds since 1970 at which the journal was made.
    pub created: u64,
    /// Places that it holds.
    pub places: usize,
}

/// What a journal is for, without a device.
///
/// # Errors
/// Where it cannot be read or is no journal.
pub fn described(path: &Path) -> Result<Pending, JournalError> {
    let log = Log::read(Arc::new(SystemDisk), path)?;
    Ok(about(path, &log))
}

fn about(path: &Path, log: &Log) -> Pending {
    let header = &log.header;
    Pending {
        journal: path.to_owned(),
        device: header.device.clone(),
        created: header.created,
        places: log.entries.len(),
    }
}

/// Where the stamps of a journal are on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stands {
    /// Only at other places, as on the disk whose partition was probed, or on a fake that wraps around.
    Elsewhere,
    /// At least one is at the place that it was written for: the device is the one that was probed.
    AtItsPlace,
}

/// A journal whose stamps are looked for on devices.
#[derive(Debug)]
pub struct Traces {
    log: Log,
    pending: Pending,
}

impl Traces {
    /// Reads the journal at `path`.
    ///
    /// # Errors
    /// Where it cannot be read or is no journal.
    pub fn of(path: &Path) -> Result<Self, JournalError> {
        let log = Log::read(Arc::new(SystemDisk), path)?;
        let pending = about(path, &log);
        Ok(Self { log, pending })
    }

    /// What the journal is for.
    #[must_use]
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Where its stamps are on `device`; `None` if none was found. The size may differ from that at the probe, since a
    /// logical volume, a virtual disk or a partition may have grown. Nothing is written. Unreadable sectors count as
    /// without stamps.
    pub fn on<D: Device>(&self, device: &mut D) -> Option<Stands> {
        let entries = &self.log.entries;
        let same_size = device.bytes() == self.log.header.device.bytes;
        let looks = if same_size { MOST_LOOKS } else { MOST_LOOKS_AT_OTHERS };
        let step = entries.len().div_ceil(looks).max(1);
        let mut best = None;
        for entry in entries.iter().step_by(step).chain(entries.last()) {
            let last = entry.place.length.saturating_sub(1) / BLOCK * BLOCK;
            for from in [0, last] {
                let part =
                    ByteRange { offset: entry.place.offset + from, length: BLOCK.min(entry.place.length - from) };
                if part.offset.saturating_add(part.length) > device.bytes() {
                    continue;
                }
                best = best.max(stamp_at(&self.log, device, part).unwrap_or_default());
                if best == Some(Stands::AtItsPlace) {
                    return best;
                }
            }
        }
        best
    }
}

fn stamp_at<D: Device>(log: &Log, device: &mut D, part: ByteRange) -> Result<Option<Stands>, Fault> {
    let mut now = vec![0; part.length as usize];
    device.read_at(part.offset, &mut now)?;
    let sectors = (part.offset..).step_by(SECTOR_LEN).zip(now.chunks_exact(SECTOR_LEN));
    let stands = sectors.filter_map(|(at, sector)| {
        let (origin, _) = log.salt().origin(sector)?;
        Some(if origin == at { Stands::AtItsPlace } else { Stands::Elsewhere })
    });
    Ok(stands.max())
}
