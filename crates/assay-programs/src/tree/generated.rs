//! A tree with the sizes of files, and the files of a directory, of a Linux source.
//!
//! The distribution is that of Linux 6.1 (Debian's `linux-source-6.1` 6.1.192-2): 78,579 files in 5,096 directories,
//! 16,527 bytes a file in the mean and 3,874 in the middle, half of the directories with files have 7 or fewer. The few
//! files above the last thousandth, up to 24 MB of register definitions, are left out: one of them would be the tree.

use std::io::{self, Write};

use lzma_rust2::{XzOptions, XzWriter};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::names::{directory, file};

/// Sizes of the files at 0 %, 5 %, … 95 %, then at 99 % and at 99.9 %.
const SIZES: [(f64, f64); 22] = [
    (0.0, 1.0),
    (0.05, 254.0),
    (0.10, 446.0),
    (0.15, 687.0),
    (0.20, 959.0),
    (0.25, 1280.0),
    (0.30, 1621.0),
    (0.35, 2038.0),
    (0.40, 2525.0),
    (0.45, 3129.0),
    (0.50, 3874.0),
    (0.55, 4787.0),
    (0.60, 5910.0),
    (0.65, 7264.0),
    (0.70, 9044.0),
    (0.75, 11_416.0),
    (0.80, 14_833.0),
    (0.85, 19_906.0),
    (0.90, 28_759.0),
    (0.95, 48_093.0),
    (0.99, 124_858.0),
    (0.999, 1_120_270.0),
];
/// Files of the directories with files, in tenths of them.
const FILES: [u32; 10] = [1, 2, 3, 4, 6, 8, 10, 15, 26, 60];
/// Directories lie at most so deep.
const DEEPEST: usize = 6;
/// The tree is the same for everybody.
const SEED: u64 = 0x6c69_6e75_7836_2e31;
/// Words of its files.
const WORDS: [&str; 48] = [
    "struct", "static", "int", "return", "if", "unsigned", "const", "void", "else", "device", "err", "case", "data",
    "dev", "0", "1", "NULL", "long", "ret", "flags", "size", "lock", "u32", "for", "break", "goto", "out", "sizeof",
    "list", "u8", "len", "inline", "char", "bool", "reg", "state", "priv", "enum", "define", "include", "mask",
    "index", "kfree", "page", "queue", "irq", "addr", "info",
];

/// Size of a file at this share of all.
fn size(share: f64) -> u64 {
    let above = SIZES.iter().position(|(at, _)| *at >= share).unwrap_or(SIZES.len() - 1).max(1);
    let ((from, low), (to, high)) = (SIZES[above - 1], SIZES[above]);
    let part = ((share - from) / (to - from)).clamp(0.0, 1.0);
    (low * (high / low).powf(part)) as u64
}

/// A number from 0 to less than one.
fn share(dice: &mut Xoshiro256PlusPlus) -> f64 {
    (dice.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Text like that of a program in C: gzip leaves about as much of it as of a Linux source, 22 %.
fn content(dice: &mut Xoshiro256PlusPlus, bytes: usize, text: &mut Vec<u8>) {
    text.clear();
    let mut column = 0;
    while text.len() < bytes {
        let number = dice.next_u64();
        if column == 0 {
            text.extend_from_slice(&b"\t\t\t\t"[..(number & 3) as usize]);
        }
        // Few words are most of a text.
        let skewed = (number >> 8 & 0xffff) as f64 / 65_536.0;
        text.extend_from_slice(WORDS[(skewed * skewed * WORDS.len() as f64) as usize].as_bytes());
        match number >> 32 & 15 {
            0 => text.extend_from_slice(format!("_{:x}", number >> 44 & 0xfff).as_bytes()),
            1 | 2 => text.extend_from_slice(b"->"),
            3 => text.extend_from_slice(b"("),
            4 => text.extend_from_slice(b", "),
            _ => text.push(b' '),
        }
        column += 1;
        if column > 4 + (number >> 40 & 7) {
            text.extend_from_slice(b";\n");
            column = 0;
        }
    }
    text.truncate(bytes);
}

/// A .tar.xz archive of a tree of about `bytes` bytes.
pub(super) fn packed(bytes: u64) -> io::Result<Vec<u8>> {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(SEED);
    // The fastest preset: how well it is packed is of less account than the time to make it.
    let packer = XzWriter::new(Vec::new(), XzOptions::with_preset(0))?;
    let mut archive = tar::Builder::new(packer);
    let (mut done, mut files, mut text) = (0, 0, Vec::new());
    let (mut path, mut directories) = (vec![directory(0)], 0);
    while done < bytes {
        // A directory inside of the last one, beside it, or beside one above it.
        let keep = (dice.next_u64() % (path.len().min(DEEPEST) as u64 + 1)) as usize;
        path.truncate(keep.max(1));
        directories += 1;
        path.push(directory(directories));
        let at = path.join("/");
        for _ in 0..FILES[(dice.next_u64() % FILES.len() as u64) as usize] {
            let left = usize::try_from(bytes - done).unwrap_or(usize::MAX);
            let size = usize::try_from(size(share(&mut dice))).unwrap_or(usize::MAX).min(left);
            content(&mut dice, size, &mut text);
            let mut header = tar::Header::new_ustar();
            header.set_size(size as u64);
            header.set_mode(0o644);
            header.set_cksum();
            archive.append_data(&mut header, format!("{at}/{}", file(files)), text.as_slice())?;
            files += 1;
            done += size as u64;
            if done >= bytes {
                break;
            }
        }
    }
    let packer = archive.into_inner()?;
    let mut packed = packer.finish()?;
    packed.flush()?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Members, Packing};

    #[test]
    fn sizes_are_those_of_a_linux_source() {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut sizes: Vec<u64> = (0..100_000).map(|_| size(share(&mut dice))).collect();
        sizes.sort_unstable();
        let mean = sizes.iter().sum::<u64>() as f64 / 1e5;
        assert!(
            (3700..4050).contains(&sizes[50_000]) && (45_000..52_000).contains(&sizes[95_000]),
            "{}",
            sizes[50_000]
        );
        assert!((12_000.0..18_000.0).contains(&mean), "{mean}");
    }

    #[test]
    fn a_generated_archive_is_the_same_each_time_and_packs_like_source() {
        let (one, other) = (packed(2 << 20).unwrap(), packed(2 << 20).unwrap());
        assert_eq!(one, other);
        let mut members = Members::new(Packing::detect(io::Cursor::new(one)).unwrap());
        let (mut files, mut bytes, mut all) = (0, 0, Vec::new());
        while members.next().unwrap().is_some() {
            files += 1;
            bytes += members.copy(&mut all).unwrap();
        }
        assert_eq!(bytes, 2 << 20);
        assert!((60..400).contains(&files), "{files}");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        gzip.write_all(&all).unwrap();
        let left = gzip.finish().unwrap().len() as f64 / bytes as f64;
        assert!((0.15..0.35).contains(&left), "{left}");
    }
}
