//! Compressed files and archives, unpacked in memory within bounds: what is small on a disk may be endless.

use std::io::{self, Read};

use crate::error::ImportError;
use crate::file::File;

/// Most bytes of a file, packed or not. The longest outputs of tools, fio's JSON with bins of latencies, have a few MB.
pub(crate) const LARGEST: u64 = 16 << 20;
/// Most bytes of all members of an archive.
const LARGEST_ARCHIVE: u64 = 64 << 20;
/// Most members of an archive.
const MOST_MEMBERS: usize = 10_000;
/// A compressed archive of compressed files.
const DEEPEST: u32 = 3;

/// The files in a file: itself, what was compressed, or the members of an archive in their order.
///
/// # Errors
/// What is damaged, or too large.
pub(crate) fn unpack(file: File) -> Result<Vec<File>, ImportError> {
    unpack_within(file, DEEPEST)
}

fn unpack_within(file: File, depth: u32) -> Result<Vec<File>, ImportError> {
    let packed = match file.bytes.as_slice() {
        [0x1f, 0x8b, ..] => bounded(flate2::bufread::MultiGzDecoder::new(file.bytes.as_slice())),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => bounded(lzma_rust2::XzReader::new(file.bytes.as_slice(), true)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => match ruzstd::decoding::StreamingDecoder::new(file.bytes.as_slice()) {
            Ok(reader) => bounded(reader),
            Err(error) => Err(io::Error::other(error.to_string())),
        },
        bytes if is_tar(bytes) => return members(&file),
        _ if file.bytes.len() as u64 > LARGEST => return Err(too_large(&file.name, LARGEST)),
        _ => return Ok(vec![file]),
    };
    let bytes = packed.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(&file.name, LARGEST_ARCHIVE),
        _ => ImportError::Packed { file: file.name.clone(), reason: error.to_string() },
    })?;
    if depth == 0 {
        return Err(ImportError::Packed { file: file.name, reason: "compressed too often".to_owned() });
    }
    let inner = [".gz", ".xz", ".zst"].iter().find_map(|end| file.name.strip_suffix(end));
    let name = match file.name.strip_suffix(".tgz") {
        Some(stem) => format!("{stem}.tar"),
        None => inner.unwrap_or(&file.name).to_owned(),
    };
    unpack_within(File { name, bytes }, depth - 1)
}

fn too_large(file: &str, most: u64) -> ImportError {
    ImportError::TooLarge { file: file.to_owned(), most }
}

/// All that a reader gives, up to the bound of an archive.
fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(LARGEST_ARCHIVE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_ARCHIVE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Archives of POSIX and GNU have this mark at byte 257 of their first header.
fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

fn members(file: &File) -> Result<Vec<File>, ImportError> {
    let broken = |error: io::Error| ImportError::Packed { file: file.name.clone(), reason: error.to_string() };
    let mut files = Vec::new();
    let mut archive = tar::Archive::new(file.bytes.as_slice());
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = format!("{}/{}", file.name, String::from_utf8_lossy(&entry.path_bytes()));
        if entry.size() > LARGEST {
            return Err(too_large(&name, LARGEST));
        }
        if files.len() == MOST_MEMBERS {
            return Err(ImportError::Packed {
                file: file.name.clone(),
                reason: format!("more than {MOST_MEMBERS} files"),
            });
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(broken)?;
        files.push(File { name, bytes });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn a_compressed_archive_of_compressed_files() {
        let inner = tar(&[("a/1.txt", b"one"), ("b/2.txt", b"two")]);
        let files = unpack(File::new("x/all.tgz", gz(&inner))).unwrap();
        let got: Vec<(&str, &[u8])> = files.iter().map(|f| (f.name.as_str(), f.bytes.as_slice())).collect();
        assert_eq!(got, [("x/all.tar/a/1.txt", b"one".as_slice()), ("x/all.tar/b/2.txt", b"two")]);
        assert_eq!(unpack(File::new("y.txt.gz", gz(b"text"))).unwrap(), [File::new("y.txt", b"text".as_slice())]);
    }

    #[test]
    fn what_is_endless_or_damaged_is_refused() {
        let bomb = gz(&vec![0u8; usize::try_from(LARGEST_ARCHIVE).unwrap() + 1]);
        assert!(bomb.len() < 100_000);
        assert!(matches!(unpack(File::new("b.gz", bomb)), Err(ImportError::TooLarge { .. })));
        let mut cut = gz(b"a text that is cut off");
        cut.truncate(20);
        assert!(matches!(unpack(File::new("c.gz", cut)), Err(ImportError::Packed { .. })));
        let deep = (0..9).fold(b"x".to_vec(), |inner, _| gz(&inner));
        assert!(matches!(unpack(File::new("d.gz", deep)), Err(ImportError::Packed { .. })));
        let large = vec![b'a'; usize::try_from(LARGEST).unwrap() + 1];
        assert!(matches!(unpack(File::new("l.txt", large)), Err(ImportError::TooLarge { .. })));
    }
}
