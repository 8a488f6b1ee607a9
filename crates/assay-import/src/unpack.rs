//! Compressed files and archives, unpacked in memory within bounds: what is small on a disk may be endless.

use std::io::{self, Read};
use std::ops::ControlFlow;

use ruzstd::decoding::StreamingDecoder;

use crate::error::ImportError;
use crate::file::File;
use crate::xz;

/// Most bytes of a file, packed or not. The longest outputs of tools, fio's JSON with bins of latencies, have a few MB.
pub(crate) const LARGEST: u64 = 16 << 20;
/// Most bytes of all members of an archive.
const LARGEST_ARCHIVE: u64 = 64 << 20;
/// Most members of an archive.
const MOST_MEMBERS: usize = 10_000;
/// A compressed archive of compressed files.
const DEEPEST: u32 = 3;

/// Longest name of a member in bytes: no system has longer ones.
const LONGEST_NAME: usize = 4_096;

/// Hands on the files in a file: itself, what was compressed, or the members of an archive in their order, until `take`
/// wants no more. An archive is looked through before its first member is handed on.
///
/// # Errors
/// What is damaged, or too large; nothing was handed on then.
pub(crate) fn unpack(mut file: File, take: &mut dyn FnMut(File) -> ControlFlow<()>) -> Result<(), ImportError> {
    for _ in 0..DEEPEST {
        let packed = match file.bytes.as_slice() {
            [0x1f, 0x8b, ..] => bounded(flate2::bufread::MultiGzDecoder::new(file.bytes.as_slice())),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => xz::check(&file.bytes)
                .map_err(io::Error::other)
                .and_then(|()| bounded(lzma_rust2::XzReader::new(file.bytes.as_slice(), true))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                match StreamingDecoder::new_with_max_window_size(file.bytes.as_slice(), xz::LARGEST_DICTIONARY) {
                    Ok(reader) => bounded(reader),
                    Err(error) => Err(io::Error::other(error.to_string())),
                }
            }
            _ => return plain(file, take),
        };
        let bytes = packed.map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => too_large(&file.name, LARGEST_ARCHIVE),
            _ => ImportError::Packed { file: file.name.clone(), reason: error.to_string() },
        })?;
        // What was packed goes with it, before what was in it is read.
        file = File { name: inner(&file.name), bytes };
    }
    match file.bytes.as_slice() {
        [0x1f, 0x8b, ..] | [0xfd, b'7', b'z', b'X', b'Z', 0, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err(ImportError::Packed { file: file.name, reason: "compressed too often".to_owned() })
        }
        _ => plain(file, take),
    }
}

/// The name of what is in a compressed file.
fn inner(name: &str) -> String {
    match name.strip_suffix(".tgz") {
        Some(stem) => format!("{stem}.tar"),
        None => [".gz", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned(),
    }
}

/// An archive, or a file that is nothing of the kind.
fn plain(file: File, take: &mut dyn FnMut(File) -> ControlFlow<()>) -> Result<(), ImportError> {
    if is_tar(&file.bytes) {
        return members(&file, take);
    }
    if file.bytes.len() as u64 > LARGEST {
        return Err(too_large(&file.name, LARGEST));
    }
    let _ = take(file);
    Ok(())
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

fn members(file: &File, take: &mut dyn FnMut(File) -> ControlFlow<()>) -> Result<(), ImportError> {
    let broken = |reason: String| ImportError::Packed { file: file.name.clone(), reason };
    let (mut count, mut sum) = (0, 0_u64);
    each_member(file, &mut |name, entry| {
        if name.len() > file.name.len() + LONGEST_NAME {
            return Err(broken(format!("a name of more than {LONGEST_NAME} bytes")));
        }
        if entry.size() > LARGEST {
            return Err(too_large(name, LARGEST));
        }
        (count, sum) = (count + 1, sum.saturating_add(entry.size()));
        if count > MOST_MEMBERS {
            return Err(broken(format!("more than {MOST_MEMBERS} files")));
        }
        if sum > LARGEST_ARCHIVE {
            return Err(too_large(&file.name, LARGEST_ARCHIVE));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    each_member(file, &mut |name, entry| {
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| broken(error.to_string()))?;
        Ok(take(File { name: name.to_owned(), bytes }))
    })
}

/// What is done with a member, by its name behind that of the archive.
type Each<'a> = dyn FnMut(&str, &mut tar::Entry<'_, &[u8]>) -> Result<ControlFlow<()>, ImportError> + 'a;

fn each_member(file: &File, each: &mut Each<'_>) -> Result<(), ImportError> {
    let broken = |error: io::Error| ImportError::Packed { file: file.name.clone(), reason: error.to_string() };
    let mut archive = tar::Archive::new(file.bytes.as_slice());
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = format!("{}/{}", file.name, String::from_utf8_lossy(&entry.path_bytes()));
        if each(&name, &mut entry)?.is_break() {
            break;
        }
    }
    Ok(())
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

    fn all(file: File) -> Result<Vec<File>, ImportError> {
        let mut files = Vec::new();
        unpack(file, &mut |file| {
            files.push(file);
            ControlFlow::Continue(())
        })?;
        Ok(files)
    }

    #[test]
    fn a_compressed_archive_of_compressed_files() {
        let inner = tar(&[("a/1.txt", b"one"), ("b/2.txt", b"two")]);
        let files = all(File::new("x/all.tgz", gz(&inner))).unwrap();
        let got: Vec<(&str, &[u8])> = files.iter().map(|f| (f.name.as_str(), f.bytes.as_slice())).collect();
        assert_eq!(got, [("x/all.tar/a/1.txt", b"one".as_slice()), ("x/all.tar/b/2.txt", b"two")]);
        assert_eq!(all(File::new("y.txt.gz", gz(b"text"))).unwrap(), [File::new("y.txt", b"text".as_slice())]);
    }

    #[test]
    fn what_is_endless_or_damaged_is_refused() {
        let bomb = gz(&vec![0u8; usize::try_from(LARGEST_ARCHIVE).unwrap() + 1]);
        assert!(bomb.len() < 100_000);
        assert!(matches!(all(File::new("b.gz", bomb)), Err(ImportError::TooLarge { .. })));
        let mut cut = gz(b"a text that is cut off");
        cut.truncate(20);
        assert!(matches!(all(File::new("c.gz", cut)), Err(ImportError::Packed { .. })));
        let deep = (0..9).fold(b"x".to_vec(), |inner, _| gz(&inner));
        assert!(matches!(all(File::new("d.gz", deep)), Err(ImportError::Packed { .. })));
        let large = vec![b'a'; usize::try_from(LARGEST).unwrap() + 1];
        assert!(matches!(all(File::new("l.txt", large)), Err(ImportError::TooLarge { .. })));
    }
    /// 72 bytes took 4.1 GiB of memory.
    #[test]
    fn a_dictionary_or_window_beyond_what_is_unpacked_is_refused_before_it_is_made() {
        use crate::xz::tests::stream_of;
        let refused = |file: File| match all(file) {
            Err(ImportError::Packed { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(refused(File::new("d.xz", stream_of(b"", 40))).contains("a dictionary of 4.00 GiB"));
        let second = [stream_of(b"text", 18), stream_of(b"text", 38)].concat();
        assert!(refused(File::new("e.xz", gz(&second))).contains("a dictionary of 2 GiB"));
        assert_eq!(
            all(File::new("f.txt.xz", stream_of(b"text", 28))).unwrap(),
            [File::new("f.txt", b"text".as_slice())]
        );
        // A frame with a window of 2^exponent, and an empty last block that is raw.
        let window = |exponent: u8| [0x28, 0xb5, 0x2f, 0xfd, 0, (exponent - 10) << 3, 1, 0, 0].to_vec();
        assert!(refused(File::new("g.zst", window(27))).contains("window"));
        assert_eq!(all(File::new("h.zst", window(26))).unwrap().len(), 1);
    }

    #[test]
    fn an_archive_is_looked_through_before_its_first_member_is_handed_on() {
        let whole = tar(&[("a.txt", b"one"), ("b.txt", &[b'b'; 2000])]);
        for (name, bytes) in [
            ("cut", whole[..1600].to_vec()),
            ("long", {
                let mut builder = tar::Builder::new(Vec::new());
                for name in ["a.txt".to_owned(), "n".repeat(5000)] {
                    let mut header = tar::Header::new_gnu();
                    header.set_size(1);
                    builder.append_data(&mut header, name, b"x".as_slice()).unwrap();
                }
                builder.into_inner().unwrap()
            }),
        ] {
            let mut handed = 0;
            let outcome = unpack(File::new("a.tar", bytes), &mut |_| {
                handed += 1;
                ControlFlow::Continue(())
            });
            assert!(matches!(outcome, Err(ImportError::Packed { .. })) && handed == 0, "{name}: {outcome:?}, {handed}");
        }
        let mut handed = 0;
        unpack(File::new("a.tar", whole), &mut |_| {
            handed += 1;
            ControlFlow::Break(())
        })
        .unwrap();
        assert_eq!(handed, 1, "no more is wanted");
    }
}
