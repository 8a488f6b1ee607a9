//! Reads single blocks of a device that may not be readable everywhere.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// Bytes read at once: the largest logical block of disks.
pub(in crate::guard) const BLOCK: u64 = 4096;
/// A failing medium may take a minute for each unreadable place. After this many failures no more are tried.
const MOST_FAILED: u32 = 4;

/// Blocks of a device; each is read only once.
pub(in crate::guard) struct Blocks<'a, R> {
    device: &'a mut R,
    bytes: u64,
    known: BTreeMap<u64, Option<Vec<u8>>>,
    failed: u32,
    first_failed: Option<u64>,
}

impl<'a, R: Read + Seek> Blocks<'a, R> {
    pub(in crate::guard) fn of(device: &'a mut R) -> Self {
        let (bytes, first_failed) = match device.seek(SeekFrom::End(0)) {
            Ok(bytes) => (bytes, None),
            Err(_) => (0, Some(0)),
        };
        Self { device, bytes, known: BTreeMap::new(), failed: 0, first_failed }
    }

    pub(in crate::guard) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Byte offset of the first block that could not be read.
    pub(in crate::guard) fn first_failed(&self) -> Option<u64> {
        self.first_failed
    }

    /// A block by its number, shorter at the end of the device; `None` if it cannot be read.
    pub(in crate::guard) fn block(&mut self, number: u64) -> Option<&[u8]> {
        if !self.known.contains_key(&number) {
            let tried = self.failed < MOST_FAILED;
            let content = if tried { self.read(number) } else { None };
            if tried && content.is_none() {
                self.failed += 1;
                let offset = number.saturating_mul(BLOCK);
                self.first_failed = Some(self.first_failed.map_or(offset, |first| first.min(offset)));
            }
            self.known.insert(number, content);
        }
        self.known.get(&number)?.as_deref()
    }

    fn read(&mut self, number: u64) -> Option<Vec<u8>> {
        let offset = number.checked_mul(BLOCK)?;
        let length = usize::try_from(self.bytes.saturating_sub(offset).min(BLOCK)).ok()?;
        let mut content = vec![0; length];
        self.device.seek(SeekFrom::Start(offset)).ok()?;
        loop {
            match self.device.read_exact(&mut content) {
                Ok(()) => return Some(content),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// Up to `length` bytes, fewer at the end of the device; `None` if a part cannot be read.
    pub(in crate::guard) fn at(&mut self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let end = offset.saturating_add(length as u64).min(self.bytes);
        let mut content = Vec::with_capacity(length);
        let mut at = offset;
        while at < end {
            let skip = usize::try_from(at % BLOCK).ok()?;
            let want = usize::try_from(end - at).ok()?;
            let block = self.block(at / BLOCK)?.get(skip..)?;
            let part = block.get(..want.min(block.len()))?;
            if part.is_empty() {
                break;
            }
            content.extend_from_slice(part);
            at += part.len() as u64;
        }
        Some(content)
    }

    /// Whether these bytes are at `offset`.
    pub(in crate::guard) fn has(&mut self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()).is_some_and(|found| found == magic)
    }
}
