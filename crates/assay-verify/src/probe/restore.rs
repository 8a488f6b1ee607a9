//! Puts everything back.
//!
//! Where two addresses are one memory cell, the second save of that cell reads what the probe
//! wrote under the first address. So parts are put back in the reverse order of saving, and a
//! saved sector that bears the probe's own stamp is replaced by what was saved for the address in
//! the stamp: every address is then given the original content of its cell, whatever order a cache
//! of the medium lets the writes through in, and restoring may be broken off and begun again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_core::verification::SECTOR_BYTES;

use super::contract::{Device, Fault};
use super::journal::{
    CHECKSUM, DATA, FILL, Header, Identity, JournalError, MAGIC, RESTORED, checksum, io_error, record_head,
};
use super::stamp::{SECTOR_LEN, Salt};

/// Most bytes of one record: the probe saves at most this at once.
pub(crate) const PART: u64 = 1 << 20;
/// Aliases of aliases of …: a save can meet a stamp only of an earlier one, so the chain ends; a
/// journal that was tampered with must not make it endless.
const DEPTH: u32 = 64;

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// Bytes put back.
    pub bytes: u64,
    /// Byte offsets of parts that could not be written, or read otherwise afterwards. On a fake,
    /// places that hold nothing may be among them.
    pub differing: Vec<u64>,
    /// The journal says that it was already restored; nothing was done.
    pub already: bool,
}

/// Why nothing, or not everything, could be put back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The device.
    #[error("{name}: {fault} while restoring; plug it in again and restore once more from {journal}")]
    Device {
        /// The device.
        name: String,
        /// Its answer.
        fault: Fault,
        /// The journal, which is still good.
        journal: String,
    },
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    offset: u64,
    length: u64,
    content: Content,
}

#[derive(Debug, Clone, Copy)]
enum Content {
    /// At this byte of the journal.
    At(u64),
    Fill(u8),
}

/// A journal that was read.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    header: Header,
    entries: Vec<Entry>,
    by_offset: BTreeMap<u64, usize>,
    restored: bool,
}

impl Log {
    /// Reads up to the first record that is not whole: the crash came while it was written, and
    /// nothing was overwritten for it yet.
    pub(crate) fn read(path: &Path) -> Result<Self, JournalError> {
        let fail = |error| io_error(path, error);
        let none = || JournalError::NotAJournal { path: path.display().to_string() };
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(fail)?;
        let mut reader = BufReader::with_capacity(1 << 20, file.try_clone().map_err(fail)?);
        let mut start = [0; 20];
        reader.read_exact(&mut start).map_err(|_| none())?;
        let length = u32::from_le_bytes([start[16], start[17], start[18], start[19]]);
        if &start[..16] != MAGIC || u64::from(length) > PART {
            return Err(none());
        }
        let mut text = vec![0; length as usize];
        let mut sum = [0; CHECKSUM];
        reader.read_exact(&mut text).and_then(|()| reader.read_exact(&mut sum)).map_err(|_| none())?;
        if checksum(&[&start[..], &text].concat()) != sum {
            return Err(none());
        }
        let header: Header = serde_json::from_slice(&text).map_err(|_| none())?;
        let mut position = (start.len() + text.len() + CHECKSUM) as u64;
        let mut log = Self {
            path: path.to_owned(),
            file,
            header,
            entries: Vec::new(),
            by_offset: BTreeMap::new(),
            restored: false,
        };
        let mut payload = Vec::new();
        while let Some((kind, offset, length)) = next_record(&mut reader, &mut payload) {
            log.restored = kind == RESTORED;
            let content = match kind {
                DATA => Some(Content::At(position + 17)),
                FILL => Some(Content::Fill(payload[0])),
                _ => None,
            };
            if let Some(content) = content {
                log.by_offset.entry(offset).or_insert(log.entries.len());
                log.entries.push(Entry { offset, length, content });
            }
            position += (17 + payload.len() + CHECKSUM) as u64;
        }
        Ok(log)
    }

    /// Original content of an entry's place.
    fn original(&self, index: usize) -> Result<Vec<u8>, JournalError> {
        let entry = self.entries[index];
        let mut data = self.part(entry, 0, entry.length)?;
        for sector in data.chunks_exact_mut(SECTOR_LEN) {
            self.resolve(index, sector)?;
        }
        Ok(data)
    }

    fn resolve(&self, mut index: usize, sector: &mut [u8]) -> Result<(), JournalError> {
        for _ in 0..DEPTH {
            let Some((origin, _)) = self.salt().origin(sector) else { break };
            let Some((_, earlier)) = self.by_offset.range(..=origin).next_back() else { break };
            let entry = self.entries[*earlier];
            let inside = origin - entry.offset;
            if *earlier >= index || inside + SECTOR_BYTES > entry.length {
                break;
            }
            sector.copy_from_slice(&self.part(entry, inside, SECTOR_BYTES)?);
            index = *earlier;
        }
        Ok(())
    }

    fn salt(&self) -> Salt {
        self.header.salt
    }

    fn part(&self, entry: Entry, from: u64, length: u64) -> Result<Vec<u8>, JournalError> {
        let mut data = vec![0; length as usize];
        match entry.content {
            Content::Fill(byte) => data.fill(byte),
            Content::At(position) => {
                self.file.read_exact_at(&mut data, position + from).map_err(|error| io_error(&self.path, error))?;
            }
        }
        Ok(data)
    }

    fn mark_restored(&mut self) -> Result<(), JournalError> {
        let head = record_head(RESTORED, 0, 0);
        let record = [&head[..], &checksum(&head)].concat();
        self.file.write_all(&record).and_then(|()| self.file.sync_data()).map_err(|error| io_error(&self.path, error))
    }
}

/// The next whole record, its payload in `payload`.
fn next_record(reader: &mut impl Read, payload: &mut Vec<u8>) -> Option<(u8, u64, u64)> {
    let mut head = [0; 17];
    reader.read_exact(&mut head).ok()?;
    let offset = u64::from_le_bytes(*head[1..9].first_chunk::<8>()?);
    let length = u64::from_le_bytes(*head[9..17].first_chunk::<8>()?);
    let stored = match head[0] {
        DATA => length,
        FILL => 1,
        RESTORED => 0,
        _ => return None,
    };
    if length > PART {
        return None;
    }
    payload.resize(stored as usize, 0);
    reader.read_exact(payload).ok()?;
    let mut sum = [0; CHECKSUM];
    reader.read_exact(&mut sum).ok()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&head).update(payload);
    (hasher.finalize().as_bytes()[..CHECKSUM] == sum).then_some((head[0], offset, length))
}

/// Which device the journal at `path` was made for.
///
/// # Errors
/// Where it cannot be read or is no journal.
pub fn journal_of(path: &Path) -> Result<Identity, JournalError> {
    Ok(Log::read(path)?.header.device)
}

/// Puts back what the journal at `path` saved, and reads it back. May be called again after it was
/// broken off. The journal is marked, not removed, and only where nothing differs.
///
/// # Errors
/// Where the journal cannot be read or belongs to another device, or the device is gone.
pub fn restore<D: Device>(path: &Path, device: &mut D, identity: &Identity) -> Result<Restored, RestoreError> {
    restore_watched(path, device, identity, &mut |_| {})
}

/// [`restore`], telling after each part the bytes that were written since the last call.
pub(crate) fn restore_watched<D: Device>(
    path: &Path,
    device: &mut D,
    identity: &Identity,
    progress: &mut dyn FnMut(u64),
) -> Result<Restored, RestoreError> {
    let mut log = Log::read(path)?;
    let made_for = &log.header.device;
    if !made_for.may_be(identity) || device.bytes() != made_for.bytes {
        let made_for = format!("{} of {} bytes", assay_core::text::harmless(&made_for.name), made_for.bytes);
        return Err(JournalError::OtherDevice { path: path.display().to_string(), made_for }.into());
    }
    if log.restored {
        return Ok(Restored { already: true, ..Restored::default() });
    }
    let lost = |fault| RestoreError::Device {
        name: assay_core::text::harmless(&identity.name),
        fault,
        journal: path.display().to_string(),
    };
    let mut done = Restored::default();
    for index in (0..log.entries.len()).rev() {
        let entry = log.entries[index];
        let original = log.original(index)?;
        progress(entry.length);
        match device.write_at(entry.offset, &original).or_else(|_| device.write_at(entry.offset, &original)) {
            Ok(()) => done.bytes += entry.length,
            Err(Fault::Medium) if device.present() => done.differing.push(entry.offset),
            Err(fault) => return Err(lost(fault)),
        }
    }
    match device.sync() {
        Ok(()) => {}
        Err(Fault::Medium) if device.present() => {}
        Err(fault) => return Err(lost(fault)),
    }
    for index in 0..log.entries.len() {
        let entry = log.entries[index];
        let mut now = vec![0; entry.length as usize];
        progress(0);
        match device.read_at(entry.offset, &mut now) {
            Ok(()) if now == log.original(index)? => {}
            Ok(()) | Err(Fault::Medium) if device.present() => done.differing.push(entry.offset),
            Ok(()) => return Err(lost(Fault::Gone)),
            Err(fault) => return Err(lost(fault)),
        }
    }
    done.differing.sort_unstable();
    done.differing.dedup();
    if done.differing.is_empty() {
        log.mark_restored()?;
    }
    Ok(done)
}
