//! Whether a device is blank.
//!
//! A mark shows what a device holds, but a missing mark proves nothing: dm-crypt without a header, a tar archive or a
//! database on the bare device have no mark. So a device is blank only if samples show it: every block of its first and
//! last MiB, and one block at random of each of 256 equal parts of the whole. Data that fill one of the parts are found
//! for certain. A smaller piece of data in the middle of an otherwise blank device may be missed.

use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek};

use crate::guard::signature::{BLOCK, Blocks, marked};

/// Blocks at either end of the device that are all read.
const EDGE: u64 = (1 << 20) / BLOCK;
/// Number of parts with one sampled block each.
const PARTS: u64 = 256;

/// Content of a device, as far as samples show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// Each sample is all zeros, or all ones as in erased flash.
    Blank,
    /// A known mark.
    Marked(&'static str),
    /// Data without a known mark.
    Unknown {
        /// Byte offset of the first such sample.
        offset: u64,
    },
    /// All samples read are blank, but some cannot be read.
    Unreadable {
        /// Byte offset of the first unreadable sample.
        offset: u64,
    },
}

/// Samples a device.
pub(super) fn contents<R: Read + Seek>(device: &mut R) -> Contents {
    let mut blocks = Blocks::on_device(device);
    if let Some(name) = marked(&mut blocks) {
        return Contents::Marked(name);
    }
    let random = RandomState::new();
    for number in samples(blocks.bytes().div_ceil(BLOCK), |part| random.hash_one(part)) {
        if blocks.block(number).is_some_and(|block| !is_blank(block)) {
            return Contents::Unknown { offset: number * BLOCK };
        }
    }
    match blocks.first_failed() {
        Some(offset) => Contents::Unreadable { offset },
        None => Contents::Blank,
    }
}

/// All zeros or all ones.
fn is_blank(block: &[u8]) -> bool {
    [0x00, 0xff].iter().any(|blank| block.iter().all(|byte| byte == blank))
}

/// Numbers of the blocks to sample, of `count`, in order.
fn samples(count: u64, random: impl Fn(u64) -> u64) -> Vec<u64> {
    if count <= 2 * EDGE + PARTS {
        return (0..count).collect();
    }
    let edge = |part: u64| (u128::from(count) * u128::from(part) / u128::from(PARTS)) as u64;
    let spread = (0..PARTS).map(|part| edge(part) + random(part) % (edge(part + 1) - edge(part)));
    let mut all: Vec<u64> = (0..EDGE).chain(spread).chain(count - EDGE..count).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor, SeekFrom};

    use super::*;

    /// 64 MiB, so that the middle is sampled and not read in full.
    const LARGE: usize = 64 << 20;

    #[test]
    fn zeros_and_ones_are_blank_at_any_size() {
        for byte in [0x00, 0xff] {
            for size in [0, 1, 511, 4096, 4097, (1 << 20) + 512, LARGE] {
                assert_eq!(contents(&mut Cursor::new(vec![byte; size])), Contents::Blank, "{byte} {size}");
            }
        }
    }

    #[test]
    fn erased_and_zeroed_blocks_may_stand_beside_each_other() {
        let mut bytes = vec![0xff; 8 << 20];
        bytes[..4096].fill(0);
        assert_eq!(contents(&mut Cursor::new(bytes)), Contents::Blank);
    }

    #[test]
    fn one_byte_at_either_end_is_data() {
        for at in [0, 4095, (1 << 20) - 1, LARGE - (1 << 20), LARGE - 1] {
            let mut bytes = vec![0; LARGE];
            bytes[at] = 1;
            let offset = at as u64 / 4096 * 4096;
            assert_eq!(contents(&mut Cursor::new(bytes)), Contents::Unknown { offset }, "{at}");
        }
    }

    #[test]
    fn data_that_fill_a_part_are_found_wherever_they_are() {
        let part = LARGE / 256;
        for start in [5, 17, 100, 130, 200, 250] {
            let mut bytes = vec![0; LARGE];
            bytes[start * part..(start + 1) * part].fill(0xa5);
            let found = contents(&mut Cursor::new(bytes));
            assert!(matches!(found, Contents::Unknown { .. }), "{start}: {found:?}");
        }
    }

    #[test]
    fn samples_are_all_over_and_not_the_same_each_time() {
        let count = 1 << 28; // 1 TiB
        let once = samples(count, |part| RandomState::new().hash_one(part));
        let again = samples(count, |part| RandomState::new().hash_one(part));
        assert!(once.is_sorted() && once.last() == Some(&(count - 1)) && once[0] == 0);
        assert!((2 * EDGE + PARTS - 4..=2 * EDGE + PARTS).contains(&(once.len() as u64)));
        assert_ne!(once, again);
        for part in 0..PARTS {
            let range = count / PARTS * part..count / PARTS * (part + 1);
            assert!(once.iter().any(|block| range.contains(block)), "{part}");
        }
    }

    #[test]
    fn three_mebibytes_are_looked_at_in_full() {
        let all = 2 * EDGE + PARTS;
        assert_eq!(samples(all, |part| part), (0..all).collect::<Vec<_>>());
        assert!((samples(all + 1, |part| part).len() as u64) < all);
    }

    /// An image that is unreadable in some places.
    struct Failing {
        image: Cursor<Vec<u8>>,
        bad: std::ops::Range<u64>,
        tried: u32,
    }

    impl Failing {
        fn new(size: usize, bad: std::ops::Range<u64>) -> Self {
            Self { image: Cursor::new(vec![0; size]), bad, tried: 0 }
        }
    }

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.bad.contains(&self.image.position()) {
                self.tried += 1;
                return Err(io::Error::from_raw_os_error(5));
            }
            self.image.read(buffer)
        }
    }

    impl Seek for Failing {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.image.seek(to)
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_blank_and_is_not_tried_without_end() {
        let size = 8 << 20;
        let last = size as u64 - 4096;
        for bad in [0..4096, last..last + 4096, 4 << 20..size as u64, 0..size as u64] {
            let mut device = Failing::new(size, bad.clone());
            let found = contents(&mut device);
            assert!(
                matches!(found, Contents::Unreadable { offset } if (bad.start..bad.end).contains(&offset)),
                "{bad:?}: {found:?}"
            );
            assert!(device.tried <= 4, "{bad:?}: {} reads failed", device.tried);
        }
    }

    #[test]
    fn a_mark_is_named_though_another_place_cannot_be_read() {
        let mut device = Failing::new(8 << 20, 0..4096);
        device.image.get_mut()[0x1_0040..0x1_0048].copy_from_slice(b"_BHRfS_M");
        assert_eq!(contents(&mut device), Contents::Marked("btrfs file system"));
    }
}
