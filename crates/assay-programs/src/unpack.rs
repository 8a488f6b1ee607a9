//! Unpacking an archive of a source tree, as `tar -xJf` does: the archive lies on the medium and is not cached, files are
//! written through the page cache, and nothing is synced. The second figure has a sync of all in its time.

use std::io::{self, BufReader, Read};

use assay_device::owned::{Access, Caching, OwnDir};
use assay_engine::forget;

use crate::names::{ARCHIVE, file, is_known};
use crate::tree::{Directories, Members, Packing, Tree};
use crate::trouble::Trouble;
use crate::work::{Done, Figure, Work};

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
) -> Result<Unpacked, Trouble> {
    let reading = Trouble::io("reading the archive");
    let mut members = Members::new(Packing::of(archive).map_err(&reading)?);
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
            Err(error) => return Err(Trouble::Io { what: "unpacking a file", error }),
        }
        done.files += 1;
    }
    done.directories = u32::try_from(members.parents.len()).unwrap_or(u32::MAX);
    Ok(done)
}

/// Copies at most `most` bytes of the archive to the medium. Returns its size, and whether it was cut off.
pub(crate) fn put(tree: &Tree, place: &OwnDir, bytes: u64, most: u64, work: &Work) -> Result<(u64, bool), Trouble> {
    let mut to = place.create_file(ARCHIVE, Caching::Cached)?;
    let (mut copied, mut cut) = (0, false);
    tree.archive(bytes, &mut |from| {
        let writing = Trouble::io("copying the archive");
        let mut from = from.take(most.saturating_add(1));
        loop {
            let chunk = (1 << 20).min(most - copied);
            let now = io::copy(&mut from.by_ref().take(chunk), &mut to).map_err(&writing)?;
            copied += now;
            if work.step()? {
                return Err(Trouble::slow());
            }
            if now == 0 || copied == most {
                break;
            }
        }
        cut = from.read(&mut [0]).map_err(&writing)? > 0;
        Ok(())
    })?;
    to.sync_all().map_err(Trouble::io("copying the archive"))?;
    // Where that does nothing the medium's share tells.
    let _ = forget(&to);
    Ok((copied, cut))
}

pub(crate) fn run(tree_bytes: u64, work: &Work) -> Result<Done, Trouble> {
    let place = work.place()?;
    let (packed, cut) = put(&work.tree, place, tree_bytes, tree_bytes, work)?;
    let archive = place.open_file(ARCHIVE, Access::Read, Caching::Cached)?;
    let start = work.mark();
    let unpacked = unpack(BufReader::with_capacity(64 << 10, archive), cut, tree_bytes, (place, (0, 0)), work)?;
    let buffered = work.since(&start);
    place.sync_all().map_err(|error| Trouble::Io { what: "syncing the tree", error })?;
    let durable = work.since(&start);
    place.remove_tree(&is_known)?;
    if unpacked.files == 0 {
        return Err(Trouble::slow());
    }
    let megabytes = unpacked.bytes as f64 / 1e6;
    let rate = Figure::rate(megabytes, buffered, "MB/s");
    let synced = Figure { of: "with a sync", ..Figure::rate(megabytes, durable, "MB/s") };
    let tree = Some(work.tree.words(unpacked.files, unpacked.bytes, unpacked.all));
    Ok(Done { figures: vec![rate, synced], threads: 1, written_bytes: packed + unpacked.bytes, tree })
}
