//! What commands ask of Linux and, as far as any Unix has it, of others.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, Mode, OFlags, access, fcntl_getfl, fcntl_setfl, open};
use rustix::process::geteuid;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

/// S_ISVTX and S_IWOTH, inode(7).
const STICKY: u32 = 0o1000;
const FOR_ALL: u32 = 0o002;

/// Whether this process has the rights of root.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Columns and rows of the terminal behind a stream; `None` where there is none.
pub(crate) fn terminal(stream: &impl AsFd) -> Option<(u16, u16)> {
    tcgetwinsize(stream).ok().map(|size| (size.ws_col, size.ws_row))
}

/// Terminals obey control sequences, unless they say that they do not.
pub(crate) fn terminal_obeys() -> bool {
    true
}

/// Forgets what was typed and not read.
pub(crate) fn forget_typed() {
    let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
}

/// Whether a path is a raw device.
pub(crate) fn is_device(meta: &Metadata) -> bool {
    meta.file_type().is_block_device()
}

/// Whether what is no file and no directory is made to be written text to: a pipe, `/dev/null`, the terminal of this process.
/// Nothing is opened for that: of some devices that is enough to make them do something.
pub(crate) fn takes_text(meta: &Metadata) -> bool {
    let kind = meta.file_type();
    let known = ["/dev/null", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    let is_known =
        || known.iter().any(|path| Path::new(path).metadata().is_ok_and(|known| known.rdev() == meta.rdev()));
    kind.is_fifo() || kind.is_char_device() && is_known()
}

/// Opens a file to be read, without waiting for whatever writes to it.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    Ok(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// Reading waits from now on.
pub(crate) fn read_as_usual(file: &File) -> io::Result<()> {
    Ok(fcntl_getfl(file).and_then(|set| fcntl_setfl(file, set - OFlags::NONBLOCK))?)
}

/// Whether it is a pipe.
pub(crate) fn is_pipe(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.file_type().is_fifo())
}

/// Whether a program writes to a pipe that was opened at once, or did; what was read to find that out is put into `first`.
pub(crate) fn has_writer(mut pipe: &File, first: &mut Vec<u8>) -> io::Result<bool> {
    let mut byte = [0];
    match pipe.read(&mut byte) {
        // Where nothing has it open to write, its end is read at once.
        Ok(read) => {
            first.extend(&byte[..read]);
            Ok(read > 0)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a new file may take the place of one in this directory, whose metadata are `exists` where it is there.
pub(crate) fn may_swap(directory: &Path, exists: Option<&Metadata>) -> bool {
    let mut may = access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if let (Some(meta), Ok(above)) = (exists, directory.metadata()) {
        // In a sticky directory like /tmp only the owner takes a file's name away (rename(2)).
        let me = geteuid();
        let owner = me.is_root() || [meta.uid(), above.uid()].contains(&me.as_raw());
        may &= owner || above.mode() & STICKY == 0;
    }
    may
}

/// Why such a link is not followed.
pub(crate) const PLANTED: &str = "it is a link that another user made where all may write";

/// Whether a link is of another user, in a directory that all may write in.
pub(crate) fn is_planted(link: &Metadata, above: &Metadata) -> bool {
    let open = above.mode() & STICKY != 0 && above.mode() & FOR_ALL != 0;
    open && ![geteuid().as_raw(), above.uid()].contains(&link.uid())
}

/// The user to whom a directory belongs, where this is root and that is another one.
pub(crate) fn foreign_owner(directory: &Path) -> Option<u32> {
    let owner = directory.metadata().ok()?.uid();
    (geteuid().is_root() && owner != 0).then_some(owner)
}

/// Whether `assay fleet` measures nodes from here.
pub(crate) const MEASURES_NODES: bool = true;

/// Whether an open file is the one that is at `path` now: another program may have removed or replaced that.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let inode = |meta: &Metadata| (meta.dev(), meta.ino());
    matches!((file.metadata(), std::fs::symlink_metadata(path)), (Ok(own), Ok(there)) if inode(&own) == inode(&there))
}

/// The device of a path, the disk that it is a part of, and the parts of that.
pub(crate) fn devices_under(target: &Path) -> Vec<PathBuf> {
    let Ok(meta) = std::fs::metadata(target) else { return Vec::new() };
    let number = if meta.rdev() != 0 { meta.rdev() } else { meta.dev() };
    let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let Ok(node) = std::fs::canonicalize(Path::new("/sys/dev/block").join(number)) else { return Vec::new() };
    let whole = match node.parent() {
        Some(parent) if node.join("partition").exists() => parent.to_owned(),
        _ => node.clone(),
    };
    let parts = std::fs::read_dir(&whole).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut nodes = vec![node, whole.clone()];
    nodes.extend(parts.filter(|path| path.join("partition").exists()));
    let mut devices: Vec<PathBuf> =
        nodes.iter().filter_map(|node| Some(Path::new("/dev").join(node.file_name()?))).collect();
    let mut seen = std::collections::BTreeSet::new();
    devices.retain(|device| seen.insert(device.clone()));
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node locked a file that another command had removed meanwhile, and had no directory.
    #[test]
    fn a_file_that_was_removed_is_at_no_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = File::create(&path).unwrap();
        assert!(is_at(&file, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path));
        File::create(&path).unwrap();
        assert!(!is_at(&file, &path), "another file of the same name");
    }
}
