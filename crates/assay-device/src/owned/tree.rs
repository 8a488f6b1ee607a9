//! Directories of assay's own with directories in them, and copies of sparse files.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::attributes::{Cause, EntryKind, OwnedError};
use super::own::{OwnDir, is_hidden};
use super::system;

/// No program nests directories deeper than this.
const DEEPEST: u32 = 32;
/// No directory of a program has more names.
const MOST_NAMES: u64 = 1_000_000;

/// Content of a directory of assay's own, including all directories below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tree {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Whether assay uses such a name, at this depth below the first directory.
type Known<'a> = dyn Fn(u32, &str) -> bool + 'a;

impl OwnDir {
    /// Counts its content, including everything below.
    ///
    /// # Errors
    /// Where a name is unknown or a file is not assay's, or the system's.
    pub fn tree(&self, known: &Known<'_>) -> Result<Tree, OwnedError> {
        let mut found = Tree::default();
        self.walk(known, 0, false, &mut found)?;
        Ok(found)
    }

    /// Removes its content, including everything below, if all names are known and all files are assay's; otherwise
    /// nothing.
    ///
    /// # Errors
    /// As [`OwnDir::tree`].
    pub fn remove_tree(&self, known: &Known<'_>) -> Result<Tree, OwnedError> {
        self.tree(known)?;
        let mut found = Tree::default();
        self.walk(known, 0, true, &mut found)?;
        Ok(found)
    }

    fn walk(&self, known: &Known<'_>, depth: u32, remove: bool, found: &mut Tree) -> Result<(), OwnedError> {
        let mut names: Vec<OsString> = Vec::new();
        self.directory().names(MOST_NAMES, &mut |name| {
            if !is_hidden(name) {
                names.push(name.to_owned());
            }
        })?;
        for name in names {
            let foreign = |cause| OwnedError::foreign(&self.path().join(&name), cause);
            let text = name.to_str().filter(|name| depth < DEEPEST && known(depth, name));
            let Some(text) = text else { return Err(foreign(Cause::Name)) };
            let is_directory = match self.stat_in(&name) {
                Ok(stat) => stat.kind == EntryKind::Directory,
                // Removed meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(OwnedError::io(&self.path().join(&name), error)),
            };
            if is_directory {
                let Some(inside) = self.directory().own(text)? else { continue };
                inside.walk(known, depth + 1, remove, found)?;
                if remove {
                    inside.remove_self()?;
                }
                continue;
            }
            if let Some(entry) = self.entry(&name, &|_| true)? {
                found.files += 1;
                found.bytes = found.bytes.saturating_add(entry.bytes);
            }
            if remove {
                self.remove(text)?;
            }
        }
        Ok(())
    }
}

// Copies of sparse files: a few bytes in an archive can make a file of any size.

/// Bytes that are copied at once.
const PIECE: u64 = 4 << 20;

/// Copies the data of a file to a new one with the same holes. Before each piece, `may` is asked whether that many more
/// bytes may be written. Returns the number of bytes written.
///
/// # Errors
/// Those of `may`, and the system's.
pub fn copy_data<E: From<io::Error>>(
    from: &File,
    to: &File,
    may: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<u64, E> {
    let (mut source, mut target) = (from, to);
    let bytes = from.metadata()?.len();
    let (mut at, mut written) = (0, 0);
    while let Some((begin, end)) = system::next_data(from, at, bytes)? {
        source.seek(SeekFrom::Start(begin))?;
        target.seek(SeekFrom::Start(begin))?;
        at = begin;
        while at < end {
            let piece = PIECE.min(end - at);
            may(piece)?;
            let copied = io::copy(&mut Read::take(source, piece), &mut target)?;
            written += copied;
            if copied < piece {
                // It was truncated meanwhile.
                to.set_len(at + copied)?;
                target.flush()?;
                return Ok(written);
            }
            at += piece;
        }
    }
    to.set_len(bytes)?;
    Ok(written)
}

// Some of these tests create links, which Windows permits only few users to do.
#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, symlink};

    use super::*;
    use crate::owned::{Caching, Directory};

    #[test]
    fn holes_stay_holes_and_what_may_not_be_written_is_not() {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        from.set_len(50 << 30).unwrap();
        from.write_all_at(b"begin", 0).unwrap();
        from.write_all_at(b"end", (40 << 30) + 7).unwrap();
        let mut asked = 0;
        let written = copy_data::<io::Error>(&from, &to, &mut |bytes| {
            asked += bytes;
            Ok(())
        })
        .unwrap();
        assert!(written == asked && written < 1 << 20, "{written} of {asked}");
        assert_eq!(to.metadata().unwrap().len(), 50 << 30);
        let mut text = [0; 3];
        to.read_exact_at(&mut text, (40 << 30) + 7).unwrap();
        assert_eq!(&text, b"end");
        let full: io::Result<u64> =
            copy_data(&from, &tempfile::tempfile().unwrap(), &mut |_| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn all_of_a_file_without_holes_is_copied() {
        let (mut from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let text: Vec<u8> = (0..9_000_001_u32).map(|n| (n / 7) as u8).collect();
        from.write_all(&text).unwrap();
        assert_eq!(copy_data::<io::Error>(&from, &to, &mut |_| Ok(())).unwrap(), text.len() as u64);
        let mut back = vec![0; text.len()];
        to.read_exact_at(&mut back, 0).unwrap();
        assert!(back == text);
        assert_eq!(copy_data::<io::Error>(&tempfile::tempfile().unwrap(), &to, &mut |_| Ok(())).unwrap(), 0);
    }

    fn known(depth: u32, name: &str) -> bool {
        match depth {
            0 => name == "d",
            _ => ["d", "f"].contains(&name),
        }
    }

    fn made(at: &std::path::Path) -> OwnDir {
        let top = Directory::open(at).unwrap().make("own").unwrap();
        let inner = top.directory().make("d").unwrap().directory().make("d").unwrap();
        std::io::Write::write_all(&mut inner.create_file("f", Caching::Cached).unwrap(), b"12345").unwrap();
        top
    }

    #[test]
    fn a_tree_is_counted_and_removed() {
        let at = tempfile::tempdir().unwrap();
        let top = made(at.path());
        assert_eq!(top.tree(&known).unwrap(), Tree { files: 1, bytes: 5 });
        assert_eq!(top.remove_tree(&known).unwrap().files, 1);
        top.remove_self().unwrap();
        assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_tree_with_anything_else_in_it_is_left_as_it_is() {
        let at = tempfile::tempdir().unwrap();
        let theirs = at.path().join("theirs");
        std::fs::write(&theirs, b"dear").unwrap();
        let top = made(at.path());
        let inner = at.path().join("own/d/d");
        type Put<'a> = &'a dyn Fn();
        let foreign: [(&str, Put<'_>); 3] = [
            ("thesis.tex", &|| std::fs::write(inner.join("thesis.tex"), b"dear").unwrap()),
            ("d", &|| symlink(at.path(), inner.join("d")).unwrap()),
            ("d", &|| std::fs::hard_link(&theirs, inner.join("d")).unwrap()),
        ];
        for (name, put) in foreign {
            put();
            assert!(top.tree(&known).is_err() && top.remove_tree(&known).is_err());
            assert!(inner.join("f").exists() && theirs.exists(), "nothing was removed");
            std::fs::remove_file(inner.join(name)).unwrap();
        }
        assert!(top.remove_tree(&known).is_ok());
    }
}
