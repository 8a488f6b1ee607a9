//! The files in an archive that nothing is known of: only its regular files count, of their names only which are in one
//! directory, and all is read in bounds.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use lzma_rust2::XzReader;

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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

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
}
