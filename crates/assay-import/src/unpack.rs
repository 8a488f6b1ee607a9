//! Compressed files and archives, unpacked in memory within bounds: what is small on a disk may be endless.

use std::io;
use std::io::Read;
use std::ops::ControlFlow;

use ruzstd::decoding::StreamingDecoder;

use crate::registry::ImportError;

/// Most bytes of a file, packed or not. The longest outputs of tools, fio's JSON with bins of latencies, have a few MB.
const LARGEST: u64 = 16 << 20;
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
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => check_xz(&file.bytes)
                .map_err(io::Error::other)
                .and_then(|()| bounded(lzma_rust2::XzReader::new(file.bytes.as_slice(), true))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                match StreamingDecoder::new_with_max_window_size(file.bytes.as_slice(), LARGEST_DICTIONARY) {
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

/// The name that a member has in an archive, out of the name of the file that its records tell; `None` where this is the
/// named file itself.
#[must_use]
pub fn member<'a>(named: &str, file: &'a str) -> Option<&'a str> {
    let mut unpacked = named.to_owned();
    for _ in 0..=DEEPEST {
        if let Some(member) = file.strip_prefix(&unpacked).and_then(|rest| rest.strip_prefix('/')) {
            return Some(member);
        }
        unpacked = inner(&unpacked);
    }
    None
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

// What an xz file asks for, looked at before anything of it is unpacked.
//
// The decoder makes the dictionary that the header of a block asks for, up to 4 GiB for a file of some bytes, and takes no
// limit. So all headers are looked at first. Blocks need not tell their length, but the chunks of LZMA2 tell theirs: they
// are passed over without being decoded (<https://tukaani.org/xz/xz-file-format.txt>, and for the chunks
// `lzma2_decoder.c` of xz, which is in the public domain).

/// Largest dictionary that is made, in bytes: that of `xz -9`, and the most that is unpacked.
const LARGEST_DICTIONARY: u64 = 64 << 20;

const MAGIC: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// The filter that holds the dictionary, always the last of a block.
const LZMA2: u64 = 0x21;
/// Bytes of the footer of a stream.
const FOOTER: usize = 12;

/// Refuses a file with a block whose dictionary is too large, or one whose blocks cannot be followed: the decoder could not
/// read it either.
///
/// # Errors
/// Why, in words for people.
fn check_xz(bytes: &[u8]) -> Result<(), String> {
    let mut rest = XzRest { bytes, at: 0 };
    loop {
        xz_stream(&mut rest)?;
        // Streams are padded with zeros.
        while rest.bytes.get(rest.at) == Some(&0) {
            rest.at += 1;
        }
        if rest.at == bytes.len() {
            return Ok(());
        }
    }
}

fn xz_stream(rest: &mut XzRest<'_>) -> Result<(), String> {
    if rest.take(MAGIC.len())? != MAGIC {
        return Err(xz_damaged());
    }
    let check = match rest.take(6)?.get(1) {
        Some(0) => 0,
        Some(1) => 4,
        Some(4) => 8,
        Some(10) => 32,
        _ => return Err(xz_damaged()),
    };
    let mut blocks = 0_u64;
    loop {
        let header = usize::from(rest.byte()?);
        if header == 0 {
            return xz_index(rest, blocks);
        }
        // The size counts from its own byte on.
        xz_dictionary(rest.take((header + 1) * 4 - 1)?)?;
        let data = rest.at;
        xz_chunks(rest)?;
        rest.pad(data)?;
        rest.take(check)?;
        blocks += 1;
    }
}

/// The filters of a block, by its header without the byte of its size.
fn xz_dictionary(header: &[u8]) -> Result<(), String> {
    let mut rest = XzRest { bytes: header, at: 0 };
    let flags = rest.byte()?;
    for told in [0x40, 0x80] {
        if flags & told != 0 {
            rest.number()?;
        }
    }
    let mut last = None;
    for _ in 0..=(flags & 3) {
        if last.is_some_and(|(id, _)| id == LZMA2) {
            return Err(xz_damaged());
        }
        let (id, length) = (rest.number()?, rest.number()?);
        last = Some((id, rest.take(usize::try_from(length).map_err(|_| xz_damaged())?)?));
    }
    let Some((LZMA2, &[size])) = last else { return Err(xz_damaged()) };
    // 2^12, 3 × 2^11, 2^13, 3 × 2^12 …, and 4 GiB less one byte.
    let bytes = match size {
        40 => u64::from(u32::MAX),
        0..40 => u64::from(2 | size & 1) << (size / 2 + 11),
        _ => return Err(xz_damaged()),
    };
    if bytes > LARGEST_DICTIONARY {
        let (asked, most) = (assay_core::units::Bytes(bytes), assay_core::units::Bytes(LARGEST_DICTIONARY));
        return Err(format!("it asks for a dictionary of {asked}, and at most {most} is given"));
    }
    Ok(())
}

/// Passes over the chunks of a block.
fn xz_chunks(rest: &mut XzRest<'_>) -> Result<(), String> {
    loop {
        let control = rest.byte()?;
        let length = match control {
            0 => return Ok(()),
            1 | 2 => rest.short()? + 1,
            0x80.. => {
                rest.short()?;
                let packed = rest.short()? + 1;
                // With properties of its own in front.
                packed + usize::from(control >= 0xc0)
            }
            _ => return Err(xz_damaged()),
        };
        rest.take(length)?;
    }
}

/// Skips the index and the footer of a stream. The first byte of the index was read; it has an entry for each of `blocks`.
fn xz_index(rest: &mut XzRest<'_>, blocks: u64) -> Result<(), String> {
    let begun = rest.at - 1;
    if rest.number()? != blocks {
        return Err(xz_damaged());
    }
    for _ in 0..blocks {
        rest.number()?;
        rest.number()?;
    }
    rest.pad(begun)?;
    rest.take(4 + FOOTER)?;
    Ok(())
}

fn xz_damaged() -> String {
    "it is damaged or cut off".to_owned()
}

/// What was not looked at yet.
struct XzRest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> XzRest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).ok_or_else(xz_damaged)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(xz_damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    fn short(&mut self) -> Result<usize, String> {
        let two = self.take(2)?;
        Ok(usize::from(two[0]) << 8 | usize::from(two[1]))
    }

    /// A number of up to 63 bits, seven in each byte.
    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(xz_damaged())
    }

    /// Passes over what fills up to four bytes, counted from `begun`.
    fn pad(&mut self, begun: usize) -> Result<(), String> {
        self.take((self.at - begun).next_multiple_of(4) - (self.at - begun)).map(drop)
    }
}

// A file to be imported.

/// A file, or a member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path as it was given; of a member of an archive, the path in it behind that of the archive.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl File {
    /// A file by its name and content.
    #[must_use]
    pub fn new(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), bytes: bytes.into() }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// A stream with one block of these bytes as they are, which asks for a dictionary by its code.
    fn stream_of(content: &[u8], size: u8) -> Vec<u8> {
        let mut bytes = [MAGIC, &[0, 0, 0xff, 0x12, 0xd9, 0x41]].concat();
        let header = [2, 0, 0x21, 1, size, 0, 0, 0];
        bytes.extend(header);
        bytes.extend(crc32(&header).to_le_bytes());
        let data = bytes.len();
        for (at, chunk) in content.chunks(1 << 16).enumerate() {
            bytes.push(if at == 0 { 1 } else { 2 });
            bytes.extend(u16::try_from(chunk.len() - 1).unwrap().to_be_bytes());
            bytes.extend(chunk);
        }
        bytes.push(0);
        let unpadded = 12 + bytes.len() - data;
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let mut index = vec![0, 1];
        for mut number in [unpadded, content.len()] {
            while number > 0x7f {
                index.push((number & 0x7f) as u8 | 0x80);
                number >>= 7;
            }
            index.push(number as u8);
        }
        index.resize(index.len().next_multiple_of(4), 0);
        bytes.extend(&index);
        bytes.extend(crc32(&index).to_le_bytes());
        let backward = u32::try_from(index.len() / 4).unwrap().to_le_bytes();
        let footer = [&backward[..], &[0, 0]].concat();
        bytes.extend(crc32(&footer).to_le_bytes());
        bytes.extend(footer);
        bytes.extend(b"YZ");
        bytes
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        lzma_rust2::XzReader::new(bytes, true).read_to_end(&mut all).unwrap();
        all
    }

    #[test]
    fn dictionaries_up_to_that_of_the_highest_level_are_made() {
        for (code, fine) in [(0, true), (18, true), (28, true), (29, false), (37, false), (40, false), (41, false)] {
            let bytes = stream_of(b"text", code);
            assert_eq!(check_xz(&bytes).is_ok(), fine, "{code}: {:?}", check_xz(&bytes));
            if fine {
                assert_eq!(unpacked(&bytes), b"text", "what is made here is xz");
            }
        }
        let said = check_xz(&stream_of(b"text", 40)).unwrap_err();
        assert_eq!(said, "it asks for a dictionary of 4.00 GiB, and at most 64 MiB is given");
    }

    #[test]
    fn every_block_of_every_stream_is_looked_at() {
        let long: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let fine = [stream_of(&long, 18), vec![0; 8], stream_of(b"b", 20)].concat();
        assert_eq!((check_xz(&fine), unpacked(&fine).len()), (Ok(()), long.len() + 1));
        let second = [stream_of(&long, 18), vec![0; 4], stream_of(b"b", 40)].concat();
        assert!(check_xz(&second).unwrap_err().contains("4.00 GiB"));
        // Cut anywhere it is refused, and never panics.
        for end in (0..fine.len() - 1).step_by(7) {
            let _ = check_xz(&fine[..end]);
        }
        assert!(check_xz(&fine[..300]).unwrap_err().contains("cut off"));
    }

    #[test]
    fn what_the_program_packs_passes() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        let Ok(mut child) = std::process::Command::new("xz")
            .args(["-6", "--block-size=100000", "-c"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
        else {
            println!("SKIP: what_the_program_packs_passes: there is no xz");
            return;
        };
        let mut input = child.stdin.take().unwrap();
        let copy = text.clone();
        let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &copy));
        let packed = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap().unwrap();
        assert_eq!(check_xz(&packed), Ok(()));
        assert_eq!(unpacked(&packed), text);
    }

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
        use super::tests::stream_of;
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
