//! Copies of a source tree are read from the medium, where they are not cached, and packed as one tar archive by gzip, as
//! `tar -czf` does, at the level that gzip has where none is named. The archive is written to the medium and not synced.
//! The compressor is not that of gzip: it is a library that finds about the same, and at its own speed.

use std::io::BufWriter;

use assay_device::owned::{Access, Caching, OwnDir};
use assay_engine::forget;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::names::{ARCHIVE, is_known};
use crate::trouble::Trouble;
use crate::unpack::{put, unpack};
use crate::work::{Done, Figure, Work};

/// What gzip does where it is not told (gzip manual, `-6`).
const LEVEL: u32 = 6;

/// Files in a directory and below, each with the directory it is in, in the order in which the file system tells them.
fn each(place: &OwnDir, does: &mut dyn FnMut(&OwnDir, &str) -> Result<bool, Trouble>) -> Result<bool, Trouble> {
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

pub(crate) fn run(copies: u32, tree_bytes: u64, work: &Work) -> Result<Done, Trouble> {
    let place = work.place()?;
    let (packed, cut) = put(&work.tree, place, tree_bytes, tree_bytes, work)?;
    let mut written_bytes = packed;
    let (mut first, mut one) = ((0, 0), None);
    for _ in 0..copies {
        let archive = place.open_file(ARCHIVE, Access::Read, Caching::Cached)?;
        let unpacked = unpack(std::io::BufReader::new(archive), cut, tree_bytes, (place, first), work)?;
        if unpacked.files == 0 {
            return Err(Trouble::slow());
        }
        first = (first.0 + unpacked.files, first.1 + unpacked.directories);
        written_bytes += unpacked.bytes;
        one = Some(unpacked);
    }
    place.remove(ARCHIVE)?;
    place.sync_all().map_err(|error| Trouble::Io { what: "syncing the tree", error })?;
    each(place, &mut |directory, name| {
        work.step()?;
        let _ = forget(&directory.open_file(name, Access::Read, Caching::Cached)?);
        Ok(true)
    })?;

    let failed = Trouble::io("compressing a tree");
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
        return Err(Trouble::slow());
    }
    let tree = one.map(|one| work.tree.words(one.files, one.bytes, one.all));
    let figure = Figure::rate(bytes as f64 / 1e6, timed, "MB/s");
    Ok(Done { figures: vec![figure], threads: 1, written_bytes: written_bytes + compressed, tree })
}
