//! Archives of source trees: packing and unpacking.
//!
//! Copies of a source tree are read from the medium, where they are not cached, and packed as one tar archive by gzip, as
//! `tar -czf` does, at the level that gzip has where none is named. The archive is written to the medium and not synced.
//! The compressor is not that of gzip: it is a library that finds about the same, and at its own speed.

use std::io::{self, BufReader, BufWriter, Read};

use assay_device::owned::{Access, Caching, OwnDir};
use assay_engine::forget;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::tree::{ARCHIVE, Directories, Members, Packing, SourceTree, file, is_known};
use crate::trouble::ProgramTrouble;
use crate::work::{Done, ProgramFigure, Work};

/// What gzip does where it is not told (gzip manual, `-6`).
const LEVEL: u32 = 6;

/// Files in a directory and below, each with the directory it is in, in the order in which the file system tells them.
fn each(
    place: &OwnDir,
    does: &mut dyn FnMut(&OwnDir, &str) -> Result<bool, ProgramTrouble>,
) -> Result<bool, ProgramTrouble> {
    let mut names = Vec::new();
    place.directory().names(u64::MAX, &mut |name| names.extend(name.to_str().map(str::to_owned)))?;
    for name in names {
        if name == ARCHIVE {
            continue;
        }
        let goes_on = if name.starts_with('d') {
            match place.directory().own(&name)? {
                Some(inside) => each(&inside, does)?,
                None => true,
            }
        } else {
            does(place, &name)?
        };
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(crate) fn run_compress(copies: u32, tree_bytes: u64, work: &Work) -> Result<Done, ProgramTrouble> {
    let place = work.place()?;
    let (packed, cut) = put(&work.tree, place, tree_bytes, tree_bytes, work)?;
    let mut written_bytes = packed;
    let (mut first, mut one) = ((0, 0), None);
    for _ in 0..copies {
        let archive = place.open_file(ARCHIVE, Access::Read, Caching::Cached)?;
        let unpacked = unpack(std::io::BufReader::new(archive), cut, tree_bytes, (place, first), work)?;
        if unpacked.files == 0 {
            return Err(ProgramTrouble::slow());
        }
        first = (first.0 + unpacked.files, first.1 + unpacked.directories);
        written_bytes += unpacked.bytes;
        one = Some(unpacked);
    }
    place.remove(ARCHIVE)?;
    place.sync_all().map_err(|error| ProgramTrouble::Io { what: "syncing the tree", error })?;
    each(place, &mut |directory, name| {
        work.step()?;
        let _ = forget(&directory.open_file(name, Access::Read, Caching::Cached)?);
        Ok(true)
    })?;

    let failed = ProgramTrouble::io("compressing a tree");
    let (start, mut bytes) = (work.mark(), 0);
    let to = BufWriter::with_capacity(64 << 10, place.create_file(ARCHIVE, Caching::Cached)?);
    let mut archive = tar::Builder::new(GzEncoder::new(to, Compression::new(LEVEL)));
    each(place, &mut |directory, name| {
        if work.step()? {
            return Ok(false);
        }
        let file = directory.open_file(name, Access::Read, Caching::Cached)?;
        let size = file.metadata().map_err(&failed)?.len();
        let mut header = tar::Header::new_ustar();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, file).map_err(&failed)?;
        bytes += size;
        Ok(true)
    })?;
    archive
        .into_inner()
        .and_then(GzEncoder::finish)
        .and_then(|mut to| std::io::Write::flush(&mut to))
        .map_err(&failed)?;
    let timed = work.since(&start);
    let compressed = place.directory().file_bytes(ARCHIVE.as_ref()).unwrap_or(0);
    place.remove_tree(&is_known)?;
    if bytes == 0 {
        return Err(ProgramTrouble::slow());
    }
    let tree = one.map(|one| work.tree.describe(one.files, one.bytes, one.all));
    let figure = ProgramFigure::rate(bytes as f64 / 1e6, timed, "MB/s");
    Ok(Done { figures: vec![figure], threads: 1, written_bytes: written_bytes + compressed, tree })
}

// Unpacking an archive of a source tree, as `tar -xJf` does: the archive lies on the medium and is not cached, files are
// written through the page cache, and nothing is synced. The second figure has a sync of all in its time.

/// What was unpacked.
#[derive(Default)]
pub(crate) struct Unpacked {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) directories: u32,
    /// Whether it was the whole archive.
    pub(crate) all: bool,
}

/// Unpacks files of an archive into `place` until `bytes` bytes are there, or until time is up. Files and directories are
/// named by numbers from `first` on. Where the archive itself is `cut` off, its end is no error.
pub(crate) fn unpack(
    archive: impl Read + io::Seek,
    cut: bool,
    bytes: u64,
    (place, first): (&OwnDir, (u64, u32)),
    work: &Work,
) -> Result<Unpacked, ProgramTrouble> {
    let reading = ProgramTrouble::io("reading the archive");
    let mut members = Members::new(Packing::detect(archive).map_err(&reading)?);
    let (mut directories, mut done) = (Directories::new(place, first.1), Unpacked::default());
    loop {
        if done.bytes >= bytes || work.step()? {
            break;
        }
        let member = match members.next() {
            Ok(Some(member)) => member,
            Ok(None) => {
                done.all = !cut;
                break;
            }
            Err(_) if cut => break,
            Err(error) => return Err(reading(error)),
        };
        if done.bytes + member.bytes > bytes && done.files > 0 {
            break;
        }
        let directory = directories.at(member.directory, &members.parents)?;
        let mut made = directory.create_file(&file(first.0 + done.files), Caching::Cached)?;
        match members.copy(&mut made) {
            Ok(copied) => done.bytes += copied,
            Err(_) if cut => break,
            Err(error) => return Err(ProgramTrouble::Io { what: "unpacking a file", error }),
        }
        done.files += 1;
    }
    done.directories = u32::try_from(members.parents.len()).unwrap_or(u32::MAX);
    Ok(done)
}

/// Copies at most `most` bytes of the archive to the medium. Returns its size, and whether it was cut off.
pub(crate) fn put(
    tree: &SourceTree,
    place: &OwnDir,
    bytes: u64,
    most: u64,
    work: &Work,
) -> Result<(u64, bool), ProgramTrouble> {
    let mut to = place.create_file(ARCHIVE, Caching::Cached)?;
    let (mut copied, mut cut) = (0, false);
    tree.archive(bytes, &mut |from| {
        let writing = ProgramTrouble::io("copying the archive");
        let mut from = from.take(most.saturating_add(1));
        loop {
            let chunk = (1 << 20).min(most - copied);
            let now = io::copy(&mut from.by_ref().take(chunk), &mut to).map_err(&writing)?;
            copied += now;
            if work.step()? {
                return Err(ProgramTrouble::slow());
            }
            if now == 0 || copied == most {
                break;
            }
        }
        cut = from.read(&mut [0]).map_err(&writing)? > 0;
        Ok(())
    })?;
    to.sync_all().map_err(ProgramTrouble::io("copying the archive"))?;
    // Where that does nothing the medium's share tells.
    let _ = forget(&to);
    Ok((copied, cut))
}

pub(crate) fn run_unpack(tree_bytes: u64, work: &Work) -> Result<Done, ProgramTrouble> {
    let place = work.place()?;
    let (packed, cut) = put(&work.tree, place, tree_bytes, tree_bytes, work)?;
    let archive = place.open_file(ARCHIVE, Access::Read, Caching::Cached)?;
    let start = work.mark();
    let unpacked = unpack(BufReader::with_capacity(64 << 10, archive), cut, tree_bytes, (place, (0, 0)), work)?;
    let buffered = work.since(&start);
    place.sync_all().map_err(|error| ProgramTrouble::Io { what: "syncing the tree", error })?;
    let durable = work.since(&start);
    place.remove_tree(&is_known)?;
    if unpacked.files == 0 {
        return Err(ProgramTrouble::slow());
    }
    let megabytes = unpacked.bytes as f64 / 1e6;
    let rate = ProgramFigure::rate(megabytes, buffered, "MB/s");
    let synced = ProgramFigure { of: "with a sync", ..ProgramFigure::rate(megabytes, durable, "MB/s") };
    let tree = Some(work.tree.describe(unpacked.files, unpacked.bytes, unpacked.all));
    Ok(Done { figures: vec![rate, synced], threads: 1, written_bytes: packed + unpacked.bytes, tree })
}
