//! Whose journal it is that a device needs: names and readers change, stamps do not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contract::{Device, Fault};
use super::journal::{ByteRange, Identity, JournalError, Log, SystemDisk, header_of};
use super::stamp::{BLOCK, SECTOR_LEN};

/// Most places that are looked at; spread over all that a journal knows. A probe stamps thousands, and a
/// restoration that was broken off leaves those that were saved first.
const MOST_LOOKS: usize = 512;

/// A journal whose stamps stand on a device.
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

/// The journal at `path`, if its stamps stand on `device`. Nothing is written.
///
/// # Errors
/// Where the journal cannot be read or is none. What the device does not give back bears no stamp.
pub fn pending<D: Device>(path: &Path, device: &mut D) -> Result<Option<Pending>, JournalError> {
    let disk = Arc::new(SystemDisk);
    if header_of(&*disk, path)?.device.bytes != device.bytes() {
        return Ok(None);
    }
    let log = Log::read(disk, path)?;
    let step = log.entries.len().div_ceil(MOST_LOOKS).max(1);
    for entry in log.entries.iter().step_by(step).chain(log.entries.last()) {
        let last = entry.place.length.saturating_sub(1) / BLOCK * BLOCK;
        for from in [0, last] {
            let part = ByteRange { offset: entry.place.offset + from, length: BLOCK.min(entry.place.length - from) };
            if bears_stamp(&log, device, part) == Ok(true) {
                return Ok(Some(about(path, &log)));
            }
        }
    }
    Ok(None)
}

fn bears_stamp<D: Device>(log: &Log, device: &mut D, part: ByteRange) -> Result<bool, Fault> {
    let mut now = vec![0; part.length as usize];
    device.read_at(part.offset, &mut now)?;
    Ok(now.chunks_exact(SECTOR_LEN).any(|sector| log.salt().origin(sector).is_some()))
}
