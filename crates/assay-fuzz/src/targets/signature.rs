//! Marks of formats on images.

use std::io::{self, Read, Seek, SeekFrom};

use assay_device::guard::signature;

use crate::draw::Draw;

/// An image of any size with pieces at places; the rest is zeros, and takes no room.
struct Image<'a> {
    size: u64,
    at: u64,
    pieces: Vec<(u64, &'a [u8])>,
    read: u64,
}

impl Read for Image<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.size.saturating_sub(self.at);
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = &mut buffer[..length];
        part.fill(0);
        for (start, piece) in &self.pieces {
            for (byte, at) in piece.iter().zip(0..) {
                let inside = start
                    .checked_add(at)
                    .and_then(|place| place.checked_sub(self.at))
                    .and_then(|inside| usize::try_from(inside).ok());
                if let Some(slot) = inside.and_then(|inside| part.get_mut(inside)) {
                    *slot = *byte;
                }
            }
        }
        self.at += length as u64;
        self.read += length as u64;
        Ok(length)
    }
}

impl Seek for Image<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(back) => self.size.checked_add_signed(back),
            SeekFrom::Current(forward) => self.at.checked_add_signed(forward),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// More is not read of any device.
const MOST_READ: u64 = 64 << 20;

/// Any image is judged by reading a bounded part of it; one of zeros holds nothing.
pub(crate) fn run(data: &[u8]) {
    let mut draw = Draw::new(data);
    let size = match draw.byte() % 8 {
        0 => 1 << 20,
        1 => draw.number() % (4 << 20),
        2 => draw.number() >> 1,
        3 => 0,
        4 => i64::MAX as u64,
        5 => 511,
        6 => (1 << 30) + 512 * 7,
        _ => u64::MAX,
    };
    let mut pieces = Vec::new();
    while !draw.is_empty() && pieces.len() < 16 {
        let place = match draw.byte() % 4 {
            0 => u64::from(draw.byte()) * 512 + u64::from(draw.byte()),
            1 => draw.number() % (1 << 20),
            2 => size.saturating_sub(u64::from(draw.byte()) * 512),
            _ => size.saturating_sub(draw.number() % (1 << 20)),
        };
        let length = usize::from(draw.byte() % 32);
        pieces.push((place, draw.bytes(length)));
    }
    let blank = pieces.iter().all(|(_, piece)| piece.iter().all(|byte| *byte == 0));
    let mut image = Image { size, at: 0, pieces, read: 0 };
    let found = signature(&mut image);
    assert!(!blank || found.is_none(), "{found:?} in zeros");
    assert!(image.read <= MOST_READ, "{} bytes were read", image.read);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    // Size, then for each piece: how the place is given, the place, length, bytes.
    let at = |size: u8, offset: u64, magic: &[u8]| {
        let mut seed = vec![size, 1];
        seed.extend(offset.to_le_bytes());
        seed.push(magic.len() as u8);
        seed.extend(magic);
        seed
    };
    vec![
        Vec::new(),
        at(0, 0, b"LUKS\xba\xbe"),
        at(0, 0x438, b"\x53\xef"),
        at(0, 0x1_0040, b"_BHRfS_M"),
        at(0, 510, b"\x55\xaa"),
        at(0, 131_072 + 4096, &0x00ba_b10c_u64.to_le_bytes()),
        vec![6, 2, 1, 8, b'E', b'F', b'I', b' ', b'P', b'A', b'R', b'T'],
        at(7, 4086, b"SWAPSPACE2"),
        at(5, 510, b"\x55"),
        vec![4, 2, 16, 4, 0xfc, 0x4e, 0x2b, 0xa9],
        vec![3],
    ]
}
