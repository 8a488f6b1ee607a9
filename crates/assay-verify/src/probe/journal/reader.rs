//! Reads a journal: which content is proven to be correct, and what is missing.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_core::verification::SECTOR_BYTES;
use foldhash::fast::FixedState;

use super::disk::{Disk, DiskFile, JournalError, cannot_read, shown};
use super::writer::{
    Binding, COMMIT, DATA, FILL, HEAD, Head, Header, MAGIC, MOST_BATCH, MOST_HEADER, PART, PLACE, RESTORED, SUM,
    restored_mark,
};
use crate::probe::stamp::{SECTOR_LEN, Salt};

/// More missing places than this are counted and not listed.
const MOST_MISSING: u64 = 1 << 16;

/// A part of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByteRange {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// The saved content of a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SavedPlace {
    pub(crate) place: ByteRange,
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
    disk: Arc<dyn Disk>,
    file: Box<dyn DiskFile>,
    pub(crate) header: Header,
    binding: Binding,
    /// In the order of saving.
    pub(crate) entries: Vec<SavedPlace>,
    by_offset: BTreeMap<u64, usize>,
    /// Saved and synced, but no longer there; `None` if the place is unknown too.
    pub(crate) missing: Vec<Option<ByteRange>>,
    /// Damaged, and perhaps never synced, in which case nothing was overwritten for these.
    pub(crate) doubtful: Vec<ByteRange>,
    /// First byte that cannot be read, with the error.
    pub(crate) unreadable: Option<(u64, std::io::Error)>,
    /// Set if everything was marked as restored: the attachment name of the device at that time.
    pub(crate) restored: Option<String>,
    /// Cache for addresses whose saved content is a stamp of another address. It holds what was saved first for their
    /// memory cell: entry and first byte inside of its place, or `None` if that is missing.
    resolved: RefCell<HashMap<u64, Option<Saved>, FixedState>>,
}

/// A sector that was saved: its entry, and its first byte inside of the entry's place.
type Saved = (usize, u64);

/// What was read from the file.
#[derive(Debug, Default)]
struct Findings {
    records: BTreeMap<u64, (SavedPlace, [u8; SUM])>,
    /// For each commit mark: records before it, running hash, places, and byte of the file.
    commits: Vec<(u64, [u8; SUM], Vec<ByteRange>)>,
    /// Probable heads of damaged records.
    seemed: Vec<Head>,
    /// A whole record follows the last commit mark.
    goes_on: bool,
    restored: Option<String>,
}

impl Log {
    pub(crate) fn read(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, JournalError> {
        let file = disk.open(path).map_err(|error| cannot_read(path, error))?;
        let (header, binding, start) = header(&*file, path)?;
        let mut window = Window::new(&*file);
        let found = records(&mut window, &binding, start);
        let unreadable = window.unreadable.take();
        let mut log = Self {
            path: path.to_owned(),
            disk,
            file,
            header,
            binding,
            entries: Vec::with_capacity(found.records.len()),
            by_offset: BTreeMap::new(),
            missing: Vec::new(),
            doubtful: Vec::new(),
            unreadable,
            restored: found.restored.clone(),
            resolved: RefCell::default(),
        };
        log.judge(&found);
        for (entry, _) in found.records.into_values() {
            if !log.is_on_device(&entry.place) {
                log.missing.push(None);
                continue;
            }
            log.by_offset.entry(entry.place.offset).or_insert(log.entries.len());
            log.entries.push(entry);
        }
        Ok(log)
    }

    /// Determines what is missing. All records before the last commit mark but one were certainly synced. So were all
    /// before the last one, if a whole record follows it. Otherwise a power cut in the middle of its sync may have torn
    /// what the last mark covers. In that case nothing was overwritten for it, which the device can show.
    fn judge(&mut self, found: &Findings) {
        let mut placed: BTreeMap<u64, ByteRange> = found
            .seemed
            .iter()
            .filter(|head| matches!(head.kind, DATA | FILL))
            .map(|head| (head.number, ByteRange { offset: head.offset, length: head.length }))
            .collect();
        for (count, _, places) in &found.commits {
            placed.extend((count.saturating_sub(places.len() as u64)..).zip(places.iter().copied()));
        }
        placed.retain(|_, place| self.is_on_device(place));
        let (last, covers) = found.commits.last().map_or((0, 0), |(count, _, places)| (*count, places.len() as u64));
        let certain = if found.goes_on { last } else { last.saturating_sub(covers) };
        let mut gap = 0;
        let mut lost = 0;
        for number in found.records.keys().copied().chain([last]) {
            for missing in gap..number.min(last) {
                lost += 1;
                match (placed.get(&missing), missing < certain) {
                    (Some(place), false) => self.doubtful.push(*place),
                    _ if lost > MOST_MISSING => break,
                    (place, _) => self.missing.push(place.copied()),
                }
            }
            gap = gap.max(number.saturating_add(1));
        }
        let known = |number: &u64| found.records.contains_key(number);
        self.doubtful.extend(placed.range(last..).filter(|(number, _)| !known(number)).map(|(_, place)| *place));
        if self.missing.is_empty() && self.doubtful.is_empty() && !self.hangs_together(found) {
            self.missing.push(None);
        }
    }

    /// Whether the device of this journal has such a place, in whole sectors.
    fn is_on_device(&self, place: &ByteRange) -> bool {
        let end = place.offset.checked_add(place.length);
        let whole = place.offset.is_multiple_of(SECTOR_BYTES) && place.length.is_multiple_of(SECTOR_BYTES);
        whole && end.is_some_and(|end| end <= self.header.device.bytes)
    }

    /// Whether the running hash of the last commit mark matches the records before it.
    fn hangs_together(&self, found: &Findings) -> bool {
        let Some((last, chain, _)) = found.commits.last() else { return true };
        let sums = found.records.range(..last).map(|(_, (_, sum))| *sum);
        sums.fold(Binding::chain_start(), |chain, sum| self.binding.chain(chain, sum)) == *chain
    }

    /// Whether everything that was saved and synced is there.
    pub(crate) fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.unreadable.is_none()
    }

    /// Original content of an entry's place, and the index of each sector whose original content is missing.
    pub(crate) fn original(&self, index: usize) -> Result<(Vec<u8>, Vec<usize>), JournalError> {
        let entry = self.entries[index];
        let mut data = self.part(entry, 0, entry.place.length)?;
        let mut unknown = Vec::new();
        for (sector, bytes) in data.chunks_exact_mut(SECTOR_LEN).enumerate() {
            let Some((origin, _)) = self.salt().origin(bytes) else { continue };
            match self.resolve(index, origin)? {
                Some((earlier, inside)) => {
                    bytes.copy_from_slice(&self.part(self.entries[earlier], inside, SECTOR_BYTES)?);
                }
                None => unknown.push(sector),
            }
        }
        Ok((data, unknown))
    }

    /// If two addresses share a memory cell, the second save of it holds the stamp of the first. The content saved for
    /// the address in the stamp is the original, unless it is a stamp again. Each step leads to an earlier save, so the
    /// search ends. Each result is remembered, so that all sectors together take linear time.
    fn resolve(&self, index: usize, origin: u64) -> Result<Option<Saved>, JournalError> {
        let mut passed = Vec::new();
        let mut at = (index, origin);
        let end = loop {
            let (before, origin) = at;
            if let Some(known) = self.resolved.borrow().get(&origin) {
                break known.filter(|(earlier, _)| *earlier < before);
            }
            passed.push(origin);
            let Some((earlier, inside)) = self.saved_for(origin) else { break None };
            if earlier >= before {
                // A probe never saves a stamp before it writes that stamp: the journal was tampered with.
                return Ok(None);
            }
            let content = self.part(self.entries[earlier], inside, SECTOR_BYTES)?;
            match self.salt().origin(&content) {
                None => break Some((earlier, inside)),
                Some((next, _)) => at = (earlier, next),
            }
        };
        self.resolved.borrow_mut().extend(passed.into_iter().map(|origin| (origin, end)));
        Ok(end)
    }

    /// The saved content of the sector at byte `offset` of the device.
    fn saved_for(&self, offset: u64) -> Option<Saved> {
        let (_, index) = self.by_offset.range(..=offset).next_back()?;
        let place = self.entries[*index].place;
        let inside = offset - place.offset;
        (inside + SECTOR_BYTES <= place.length).then_some((*index, inside))
    }

    pub(crate) fn salt(&self) -> Salt {
        self.header.salt
    }

    fn part(&self, entry: SavedPlace, from: u64, length: u64) -> Result<Vec<u8>, JournalError> {
        let mut data = vec![0; length as usize];
        match entry.content {
            Content::Fill(byte) => data.fill(byte),
            Content::At(position) => {
                let read =
                    self.file.read_at(position + from, &mut data).map_err(|error| cannot_read(&self.path, error))?;
                if read < data.len() {
                    return Err(cannot_read(&self.path, std::io::ErrorKind::UnexpectedEof.into()));
                }
            }
        }
        Ok(data)
    }

    /// Marks that everything was restored and read back while the device was attached by this name. If the disk has no
    /// room for the mark, the next session comes to the same result without it.
    pub(crate) fn mark_restored(&mut self, attachment: Option<&str>) {
        let mark = restored_mark(&self.binding, self.entries.len() as u64, attachment);
        // Only a journal that is not needed any more is given a length, whatever a disk makes of that.
        let _ = self.file.append(&mark).and_then(|()| self.file.sync()).and_then(|()| self.file.give_back());
    }

    /// Removes the journal, which is no longer needed. Returns whether that succeeded.
    pub(crate) fn remove(self) -> bool {
        self.disk.remove(&self.path).is_ok()
    }
}

fn header(file: &dyn DiskFile, path: &Path) -> Result<(Header, Binding, u64), JournalError> {
    let none = || JournalError::NotAJournal { path: shown(path) };
    let mut start = vec![0; 20 + MOST_HEADER + SUM];
    let length = file.read_at(0, &mut start).map_err(|error| cannot_read(path, error))?;
    start.truncate(length);
    let (magic, version) = MAGIC.split_at(MAGIC.len() - 1);
    let format = match start.get(..MAGIC.len()) {
        Some(begin) if begin.starts_with(magic) => begin[magic.len()],
        _ => return Err(none()),
    };
    if format != version[0] {
        return Err(match format {
            b'0'..=b'9' => JournalError::OtherFormat { path: shown(path), format: char::from(format) },
            _ => none(),
        });
    }
    let length = start.get(16..20).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let end = 20 + (length as usize).min(MOST_HEADER);
    let (text, sum) = (start.get(..end).ok_or_else(none)?, start.get(end..end + SUM).ok_or_else(none)?);
    let binding = Binding::of_header(text);
    if binding.sum() != sum {
        return Err(none());
    }
    let header: Header = serde_json::from_slice(&text[20..]).map_err(|_| none())?;
    Ok((header, binding, (end + SUM) as u64))
}

fn records(window: &mut Window<'_>, binding: &Binding, start: u64) -> Findings {
    let mut found = Findings::default();
    let mut at = start;
    loop {
        match look(window, binding, at) {
            ScannedRecord::End => return found,
            ScannedRecord::Damage { next, seemed } => {
                found.seemed.extend(seemed);
                at = next;
            }
            ScannedRecord::Record { head, next, payload, sum } => {
                found.take(head, at, payload, sum);
                at = next;
            }
        }
    }
}

impl Findings {
    fn take(&mut self, head: Head, at: u64, payload: &[u8], sum: [u8; SUM]) {
        let place = ByteRange { offset: head.offset, length: head.length };
        let content = match head.kind {
            DATA => Content::At(at + HEAD as u64),
            FILL => Content::Fill(payload[0]),
            RESTORED => return self.restored = Some(String::from_utf8_lossy(payload).into_owned()),
            COMMIT => {
                self.goes_on = false;
                let (chain, places) = payload.split_at(SUM);
                let mut running = [0; SUM];
                running.copy_from_slice(chain);
                return self.commits.push((
                    head.number,
                    running,
                    places.chunks_exact(PLACE).filter_map(place_of).collect(),
                ));
            }
            _ => return,
        };
        self.goes_on = true;
        self.records.entry(head.number).or_insert((SavedPlace { place, content }, sum));
    }
}

fn place_of(bytes: &[u8]) -> Option<ByteRange> {
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes: &[u8; 8]| u64::from_le_bytes(*bytes));
    Some(ByteRange { offset: word(0)?, length: word(8)? })
}

// Finds the records in the bytes of a journal, past damage and unreadable parts.

/// Bytes read at once; more than the longest record.
const WINDOW: usize = 4 << 20;
const _: () = assert!(WINDOW as u64 > 2 * PART && WINDOW > 4 * (MOST_BATCH * PLACE + HEAD + 2 * SUM));
/// Around an error it is read in pieces of this size.
const PIECE: usize = 4096;

/// A part of the file in memory. Unreadable bytes are zeros, and their place is remembered.
#[derive(Debug)]
pub(super) struct Window<'f> {
    file: &'f dyn DiskFile,
    start: u64,
    bytes: Vec<u8>,
    /// The file ends with these bytes.
    ended: bool,
    /// First unreadable byte, with the first error of the system.
    pub(super) unreadable: Option<(u64, std::io::Error)>,
}

impl<'f> Window<'f> {
    pub(super) fn new(file: &'f dyn DiskFile) -> Self {
        Self { file, start: 0, bytes: Vec::new(), ended: false, unreadable: None }
    }

    /// The bytes from `at` on: at least `wanted` of them, fewer at the end of the file.
    pub(super) fn from(&mut self, at: u64, wanted: usize) -> &[u8] {
        let held = self.start..=self.start + self.bytes.len() as u64;
        let inside = held.contains(&at).then(|| (at - self.start) as usize);
        let enough = inside.is_some_and(|inside| self.bytes.len() - inside >= wanted || self.ended);
        if !enough {
            self.load(at);
        }
        self.bytes.get((at - self.start) as usize..).unwrap_or(&[])
    }

    fn load(&mut self, at: u64) {
        self.start = at;
        self.bytes.resize(WINDOW, 0);
        let length = match self.file.read_at(at, &mut self.bytes) {
            Ok(length) => length,
            Err(_) => self.load_in_pieces(at),
        };
        self.ended = length < WINDOW;
        self.bytes.truncate(length);
    }

    /// Reads in pieces and returns the number of bytes. If nothing more can be read, the file is taken to end there.
    fn load_in_pieces(&mut self, at: u64) -> usize {
        let mut readable = 0;
        for (from, piece) in (0..).step_by(PIECE).zip(self.bytes.chunks_mut(PIECE)) {
            match self.file.read_at(at + from as u64, piece) {
                Ok(length) => {
                    readable = from + length;
                    if length < piece.len() {
                        break;
                    }
                }
                Err(error) => {
                    piece.fill(0);
                    self.unreadable.get_or_insert((at + from as u64, error));
                }
            }
        }
        readable
    }
}

/// What is at a byte of the file.
#[derive(Debug)]
pub(super) enum ScannedRecord<'w> {
    /// A whole record, the byte after it, its payload and its checksum.
    Record {
        head: Head,
        next: u64,
        payload: &'w [u8],
        sum: [u8; SUM],
    },
    /// No record. Byte where the next one may be, and the probable head of the damaged one.
    Damage {
        next: u64,
        seemed: Option<Head>,
    },
    End,
}

/// What is at byte `at` of the file.
pub(super) fn look<'w>(window: &'w mut Window<'_>, binding: &Binding, at: u64) -> ScannedRecord<'w> {
    let marker = binding.marker();
    let longest = HEAD + SUM + (PART as usize).max(SUM + MOST_BATCH * PLACE);
    if window.from(at, longest).is_empty() {
        return ScannedRecord::End;
    }
    let seemed = Head::from_bytes(window.from(at, longest), marker);
    let whole = seemed.and_then(|head| {
        let bytes = window.from(at, longest);
        let end = HEAD + head.stored();
        let (text, sum) = (bytes.get(..end)?, bytes.get(end..end + SUM)?);
        (binding.record_sum(&text[..HEAD], &text[HEAD..]) == sum).then_some((head, end))
    });
    if let Some((head, end)) = whole {
        let bytes = window.from(at, longest);
        let mut sum = [0; SUM];
        sum.copy_from_slice(&bytes[end..end + SUM]);
        return ScannedRecord::Record { head, next: at + (end + SUM) as u64, payload: &bytes[HEAD..end], sum };
    }
    ScannedRecord::Damage { next: next_marker(window, &marker, at + 1), seemed }
}

/// The next byte from `at` on with the marker; the end of the file if there is none.
fn next_marker(window: &mut Window<'_>, marker: &[u8; 8], mut at: u64) -> u64 {
    loop {
        let bytes = window.from(at, WINDOW / 2);
        if let Some(inside) = bytes.windows(marker.len()).position(|part| part == marker) {
            return at + inside as u64;
        }
        let passed = bytes.len().saturating_sub(marker.len() - 1) as u64;
        if bytes.len() < WINDOW / 2 {
            return at + bytes.len() as u64;
        }
        at += passed;
    }
}
