//! Finds the records in the bytes of a journal, past damage and unreadable parts.

use super::disk::DiskFile;
use super::format::{Binding, HEAD, Head, MOST_BATCH, PART, PLACE, SUM};

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
pub(super) enum Found<'w> {
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
pub(super) fn look<'w>(window: &'w mut Window<'_>, binding: &Binding, at: u64) -> Found<'w> {
    let marker = binding.marker();
    let longest = HEAD + SUM + (PART as usize).max(SUM + MOST_BATCH * PLACE);
    if window.from(at, longest).is_empty() {
        return Found::End;
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
        return Found::Record { head, next: at + (end + SUM) as u64, payload: &bytes[HEAD..end], sum };
    }
    Found::Damage { next: next_marker(window, &marker, at + 1), seemed }
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
