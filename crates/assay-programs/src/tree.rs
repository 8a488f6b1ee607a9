//! Source trees: the user's archive, or one that is generated with the sizes of the files of a Linux source.
//!
//! Names of files and directories are made up here. Of an archive only the shape of its tree is used.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use assay_core::text::harmless;
use assay_core::units::{Bytes, grouped};
use assay_device::owned::{OwnDir, OwnedError};
use lzma_rust2::{XzOptions, XzReader, XzWriter};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::trouble::ProgramTrouble;

/// A source tree for the programs of a run.
#[derive(Debug)]
pub struct SourceTree {
    given: Option<Given>,
    /// The archive that was generated last, with the bytes of its tree.
    packed: Mutex<Option<(u64, Vec<u8>)>>,
}

#[derive(Debug)]
struct Given {
    file: File,
    /// Name of the file, for people.
    name: String,
}

impl SourceTree {
    /// A tree that is generated.
    #[must_use]
    pub fn generated() -> Self {
        Self { given: None, packed: Mutex::new(None) }
    }

    /// The tree in an archive of the user: .tar.xz, .tar.gz or .tar.
    ///
    /// # Errors
    /// The system's, and where it is no such archive.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("is no regular file"));
        }
        if Members::new(Packing::detect(&file)?).next()?.is_none() {
            return Err(std::io::Error::other("holds no files; name a .tar.xz, .tar.gz or .tar archive"));
        }
        let name = path.file_name().map(|name| harmless(&name.to_string_lossy())).unwrap_or_default();
        Ok(Self { given: Some(Given { file, name }), packed: Mutex::new(None) })
    }

    /// Where it comes from, in words.
    #[must_use]
    pub fn origin(&self) -> String {
        self.given.as_ref().map_or_else(|| "a generated tree".to_owned(), |given| format!("the tree in {}", given.name))
    }

    /// Whether it is the user's.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// The archive of a tree with a limited size: as many of its bytes as `take` wants.
    pub(crate) fn archive(
        &self,
        bytes: u64,
        take: &mut dyn FnMut(&mut dyn Read) -> Result<(), ProgramTrouble>,
    ) -> Result<(), ProgramTrouble> {
        if let Some(given) = &self.given {
            let mut file = given.file.try_clone().map_err(ProgramTrouble::io("reading the archive"))?;
            file.seek(SeekFrom::Start(0)).map_err(ProgramTrouble::io("reading the archive"))?;
            return take(&mut file);
        }
        let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        if packed.as_ref().is_none_or(|(of, _)| *of != bytes) {
            *packed = Some((bytes, generated(bytes).map_err(ProgramTrouble::io("making a source tree"))?));
        }
        match packed.as_ref() {
            Some((_, archive)) => take(&mut archive.as_slice()),
            None => Ok(()),
        }
    }

    /// The tree in words: where it comes from, and how much of it was used.
    pub(crate) fn describe(&self, files: u64, bytes: u64, all: bool) -> String {
        let files = grouped(i64::try_from(files).unwrap_or(i64::MAX));
        let part = if all || self.given.is_none() { "" } else { "the first part of " };
        let of = self.origin();
        let files = if files == "1" { "1 file".to_owned() } else { format!("{files} files") };
        format!("{part}{of}, {files}, {}", Bytes(bytes))
    }
}

// Directories in directories that assay made. Only those above the last file are open.

/// The directories of a tree.
pub(crate) struct Directories<'p> {
    root: &'p OwnDir,
    /// Open, from the outermost to that of the last file.
    open: Vec<(u32, OwnDir)>,
    made: HashSet<u32>,
    /// Names of this tree begin behind those of the ones before.
    first: u32,
}

impl<'p> Directories<'p> {
    /// A tree in `root`, whose directories are named from `first` on.
    pub(crate) fn new(root: &'p OwnDir, first: u32) -> Self {
        Self { root, open: Vec::new(), made: HashSet::new(), first }
    }

    /// The directory of this number, made with those above it where they are not there; the first one is the root.
    pub(crate) fn at(&mut self, number: u32, parents: &[u32]) -> Result<&OwnDir, OwnedError> {
        let mut way = Vec::new();
        let mut up = number;
        while up != 0 {
            way.push(up);
            up = parents.get(up as usize).copied().unwrap_or(0);
        }
        way.reverse();
        let shared = self.open.iter().zip(&way).take_while(|((open, _), number)| open == *number).count();
        self.open.truncate(shared);
        for number in way.into_iter().skip(shared) {
            let name = directory(self.first + number);
            let above = self.open.last().map_or(self.root, |(_, directory)| directory).directory();
            let opened = if self.made.insert(number) { Some(above.make(&name)?) } else { above.own(&name)? };
            match opened {
                Some(directory) => self.open.push((number, directory)),
                None => return Err(OwnedError::io(&above.path().join(&name), std::io::ErrorKind::NotFound)),
            }
        }
        Ok(self.open.last().map_or(self.root, |(_, directory)| directory))
    }
}

// A tree with the sizes of files, and the files of a directory, of a Linux source.
//
// The distribution is that of Linux 6.1 (Debian's `linux-source-6.1` 6.1.192-2): 78,579 files in 5,096 directories,
// 16,527 bytes a file in the mean and 3,874 in the middle, half of the directories with files have 7 or fewer. The few
// files above the last thousandth, up to 24 MB of register definitions, are left out: one of them would be the tree.

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
const MADE_DEEPEST: usize = 6;
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
pub(super) fn generated(bytes: u64) -> io::Result<Vec<u8>> {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(SEED);
    // The fastest preset: how well it is packed is of less account than the time to make it.
    let packer = XzWriter::new(Vec::new(), XzOptions::with_preset(0))?;
    let mut archive = tar::Builder::new(packer);
    let (mut done, mut files, mut text) = (0, 0, Vec::new());
    let (mut path, mut directories) = (vec![directory(0)], 0);
    while done < bytes {
        // A directory inside of the last one, beside it, or beside one above it.
        let keep = (dice.next_u64() % (path.len().min(MADE_DEEPEST) as u64 + 1)) as usize;
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

// The files in an archive that nothing is known of: only its regular files count, of their names only which are in one
// directory, and all is read in bounds.

/// Most directories and files of an archive; a Linux source has 80,000.
const MOST: u32 = 1_000_000;
/// Directories that lie deeper are one with the last above them.
const DEEPEST: usize = 24;
/// Records that are no file, such as links: more than these after each other are no source.
const MOST_OTHERS: u32 = 100_000;

/// How an archive is packed.
pub(crate) enum Packing<R: Read> {
    Xz(Box<XzReader<R>>),
    Gzip(Box<flate2::read::MultiGzDecoder<R>>),
    Not(R),
}

impl<R: Read + io::Seek> Packing<R> {
    /// By its first bytes.
    pub(crate) fn detect(mut from: R) -> io::Result<Self> {
        let mut first = Vec::new();
        from.by_ref().take(6).read_to_end(&mut first)?;
        from.rewind()?;
        Ok(match first.as_slice() {
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Self::Xz(Box::new(XzReader::new(from, true))),
            [0x1f, 0x8b, ..] => Self::Gzip(Box::new(flate2::read::MultiGzDecoder::new(from))),
            _ => Self::Not(from),
        })
    }
}

impl<R: Read> Read for Packing<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Xz(from) => from.read(to),
            Self::Gzip(from) => from.read(to),
            Self::Not(from) => from.read(to),
        }
    }
}

/// The regular files of an archive, one after the other.
pub(crate) struct Members<R: Read> {
    from: R,
    /// Bytes of the content of the last file that were not read yet, and with what fills its last record.
    content: u64,
    rest: u64,
    /// Numbers of the directories by their paths.
    directories: HashMap<Vec<u8>, u32>,
    /// Above each directory; the first one is above itself.
    pub(crate) parents: Vec<u32>,
    files: u32,
}

/// A file in an archive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    /// Number of its directory.
    pub(crate) directory: u32,
    pub(crate) bytes: u64,
}

/// A record of a tar archive (POSIX.1-2017, pax, ustar interchange format).
const RECORD: usize = 512;

impl<R: Read> Members<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, content: 0, rest: 0, directories: HashMap::new(), parents: vec![0], files: 0 }
    }

    /// The next file; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Member>> {
        for _ in 0..MOST_OTHERS {
            self.skip()?;
            let mut record = [0; RECORD];
            let mut filled = 0;
            while filled < RECORD {
                match self.from.read(&mut record[filled..])? {
                    0 => return Ok(None),
                    read => filled += read,
                }
            }
            if record.iter().all(|byte| *byte == 0) {
                return Ok(None);
            }
            let header = tar::Header::from_byte_slice(&record);
            let sum = header.cksum()?;
            // The sum counts its own place as blanks.
            let of = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) };
            let is: u32 = record.iter().enumerate().map(of).sum();
            if sum != is {
                return Err(io::Error::other("is no tar archive"));
            }
            let bytes = header.entry_size()?;
            let fill = (RECORD as u64 - bytes % RECORD as u64) % RECORD as u64;
            self.rest = bytes.checked_add(fill).ok_or_else(|| io::Error::other("has a file of impossible size"))?;
            if !header.entry_type().is_file() {
                continue;
            }
            self.files += 1;
            if self.files > MOST {
                return Ok(None);
            }
            let directory = self.directory(&header.path_bytes());
            self.content = bytes;
            return Ok(Some(Member { directory, bytes }));
        }
        Err(io::Error::other("holds hardly any files"))
    }

    /// Copies the content of the file that came last; gives its bytes.
    pub(crate) fn copy(&mut self, to: &mut dyn Write) -> io::Result<u64> {
        let mut from = self.from.by_ref().take(std::mem::take(&mut self.content));
        let copied = io::copy(&mut from, to)?;
        self.rest -= copied;
        if from.limit() > 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(copied) }
    }

    /// What is left of a member and of its last record is passed over.
    fn skip(&mut self) -> io::Result<()> {
        self.content = 0;
        let rest = std::mem::take(&mut self.rest);
        let passed = io::copy(&mut self.from.by_ref().take(rest), &mut io::sink())?;
        if passed < rest { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Number of the directory of a file with this path, which gets one if it has none.
    fn directory(&mut self, path: &[u8]) -> u32 {
        let mut parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        parts.pop();
        parts.truncate(DEEPEST);
        let (mut at, mut path) = (0, Vec::new());
        for part in parts {
            path.extend_from_slice(part);
            path.push(b'/');
            at = match self.directories.get(&path) {
                Some(known) => *known,
                None if self.parents.len() as u32 >= MOST => return at,
                None => {
                    let new = self.parents.len() as u32;
                    self.parents.push(at);
                    self.directories.insert(path.clone(), new);
                    new
                }
            };
        }
        at
    }
}

/// What [`crate::writes::stream`] writes.
pub(crate) const STREAM: &str = "stream";
/// The database of [`crate::writes::inserts`], and its journal.
pub(crate) const DATABASE: &str = "database";
pub(crate) const JOURNAL: &str = "database-journal";
/// What is unpacked, and what is compressed.
pub(crate) const ARCHIVE: &str = "archive";

/// Digits of a file and of a directory. With them names are as long as those in a Linux source tree, 13 letters in the
/// mean.
const FILE_DIGITS: usize = 10;
const DIRECTORY_DIGITS: usize = 8;

/// Name of a file.
pub(crate) fn file(number: u64) -> String {
    format!("f{number:0FILE_DIGITS$}.c")
}

/// Name of a directory.
pub(crate) fn directory(number: u32) -> String {
    format!("d{number:0DIRECTORY_DIGITS$}")
}

/// Whether a program gives such a name at this depth below its own directory.
#[must_use]
pub fn is_known(depth: u32, name: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = || name.strip_prefix('f').and_then(|n| n.strip_suffix(".c")).is_some_and(|n| digits(n, FILE_DIGITS));
    let is_directory = || name.strip_prefix('d').is_some_and(|n| digits(n, DIRECTORY_DIGITS));
    let is_own = || depth == 0 && [STREAM, DATABASE, JOURNAL, ARCHIVE].contains(&name);
    is_file() || is_directory() || is_own()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

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
        let (one, other) = (generated(2 << 20).unwrap(), generated(2 << 20).unwrap());
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

    fn archive(paths: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (path, content) in paths {
            let mut header = tar::Header::new_ustar();
            header.set_size(content.len() as u64);
            // Not by `set_path`, which refuses paths that lead elsewhere.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            archive.append(&header, *content).unwrap();
        }
        archive.into_inner().unwrap()
    }

    fn members(bytes: Vec<u8>) -> Members<Packing<Cursor<Vec<u8>>>> {
        Members::new(Packing::detect(Cursor::new(bytes)).unwrap())
    }

    #[test]
    fn of_names_only_the_shape_of_the_tree_is_taken() {
        let long = vec![7; 1000];
        let of = archive(&[("a/b/1", &long), ("a/b/2", b""), ("a/3", b"xyz"), ("/etc/../../../4", b"!"), ("5", b"")]);
        let mut members = members(of);
        let mut found = Vec::new();
        while let Some(member) = members.next().unwrap() {
            let mut content = Vec::new();
            // Of the first one nothing is read.
            if member.bytes < 1000 {
                assert_eq!(members.copy(&mut content).unwrap(), member.bytes);
            }
            found.push((member.directory, content));
        }
        let bytes = |text: &str| text.as_bytes().to_vec();
        let (empty, none) = (bytes(""), bytes(""));
        assert_eq!(found, [(2, none), (2, empty), (1, bytes("xyz")), (6, bytes("!")), (0, bytes(""))]);
        assert_eq!(members.parents, [0, 0, 1, 0, 3, 4, 5]);
    }

    #[test]
    fn what_is_no_archive_or_is_cut_off_is_refused() {
        assert!(members(vec![7; 4096]).next().is_err());
        assert!(members(Vec::new()).next().unwrap().is_none());
        let mut cut = archive(&[("a", &[1; 3000])]);
        cut.truncate(2000);
        let mut cut = members(cut);
        assert!(cut.next().unwrap().is_some());
        assert!(cut.copy(&mut io::sink()).is_err());
        let mut links = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        links.append_link(&mut header, "a", "/etc/passwd").unwrap();
        assert!(members(links.into_inner().unwrap()).next().unwrap().is_none(), "a link is no file");
    }

    #[test]
    fn what_is_made_is_known_again_and_nothing_else() {
        for name in [file(0), file(9_999_999_999), directory(7), STREAM.to_owned(), JOURNAL.to_owned()] {
            assert!(is_known(0, &name), "{name}");
        }
        assert!(is_known(3, &file(5)) && is_known(3, &directory(5)) && !is_known(1, ARCHIVE));
        for name in ["f1.c", "d1", "f0000000001.h", "f000000000x.c", "database-wal", "thesis.tex", "", "f"] {
            assert!(!is_known(0, name), "{name}");
        }
    }
}
