//! Directories that assay made: their files and owner, directories in them, and copies of sparse files.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::attributes::{Access, Caching, Cause, EntryKind, OwnedError, Stat, temporary};
use super::directory::Directory;
use super::system::{self, Handle, Mode};

/// Whether a file was removed while it was open: libfuse and NFS give it such a name until it is closed (`hard_remove`
/// of fuse(8), "silly rename" of nfs(5)). It belongs neither to assay nor to anyone else.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".fuse_hidden") || name.starts_with(b".nfs")
}

/// A file of assay's own that was found in an [`OwnDir`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnEntry {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The space that it takes in bytes.
    pub taken_bytes: u64,
}

/// A directory of assay's own, opened once, with the directory that it lies in.
#[derive(Debug)]
pub struct OwnDir {
    parent: Directory,
    directory: Directory,
    name: OsString,
    /// The owner of everything in it.
    owner: u32,
}

impl Directory {
    /// Creates a directory of assay's own in it, which must not exist.
    ///
    /// # Errors
    /// The system's: for example that it exists.
    pub fn make(&self, name: &str) -> Result<OwnDir, OwnedError> {
        OwnDir::make(self, name)
    }

    /// Opens a directory of assay's own in it; `None` if nothing has that name.
    ///
    /// # Errors
    /// Where something else has that name, or the system's.
    pub fn own(&self, name: &str) -> Result<Option<OwnDir>, OwnedError> {
        OwnDir::open(self, name)
    }
}

impl OwnDir {
    fn make(parent: &Directory, name: &str) -> Result<Self, OwnedError> {
        let fail = |error: io::Error| OwnedError::io(&parent.path, error);
        system::make_directory(&parent.handle, OsStr::new(name)).map_err(fail)?;
        Self::opened(parent, name, true)
    }

    fn open(parent: &Directory, name: &str) -> Result<Option<Self>, OwnedError> {
        match Self::opened(parent, name, false) {
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn opened(parent: &Directory, name: &str, made: bool) -> Result<Self, OwnedError> {
        let path = parent.path.join(name);
        let io = |error: io::Error| OwnedError::io(&path, error);
        let foreign = |cause| OwnedError::foreign(&path, cause);
        let os_name = OsStr::new(name);
        system::stat_in(&parent.handle, os_name).map_err(io)?.must_be(EntryKind::Directory).map_err(foreign)?;
        let handle = system::directory_in(&parent.handle, os_name).map_err(io)?;
        let stat = system::stat_directory(&handle).map_err(io)?;
        if !stat.is_beside(&parent.stat) {
            return Err(foreign(Cause::Mount));
        }
        let owner = owner(&handle, &stat, &parent.stat, made).map_err(foreign)?;
        let parent = parent.again()?;
        Ok(Self { parent, directory: Directory { handle, path, stat }, name: name.into(), owner })
    }

    /// Its path, for messages only.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory.path
    }

    /// The directory, for queries only: space, device.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whether its name still belongs to it: it was neither removed nor replaced.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        system::stat_in(&self.parent.handle, &self.name).is_ok_and(|now| now.is_same(&self.directory.stat))
    }

    /// Creates a file that must not exist, which only its owner can read and write.
    ///
    /// # Errors
    /// The system's: for example that it exists.
    pub fn create_file(&self, name: &str, caching: Caching) -> Result<File, OwnedError> {
        self.directory.make_file(OsStr::new(name), caching, Mode::Private)
    }

    /// Opens a file of assay's own.
    ///
    /// # Errors
    /// Where it does not exist or is not assay's, or the system's.
    pub fn open_file(&self, name: &str, access: Access, caching: Caching) -> Result<File, OwnedError> {
        let (file, stat) = self.directory.regular(OsStr::new(name), access, caching)?;
        self.owned(&stat).map_err(OwnedError::at(self.path(), OsStr::new(name)))?;
        Ok(file)
    }

    /// Opens a file of assay's own again. It must be the file that is open as `first`.
    ///
    /// # Errors
    /// As [`OwnDir::open_file`], and where its name now belongs to another file.
    pub fn reopen(&self, name: &str, first: &File, access: Access, caching: Caching) -> Result<File, OwnedError> {
        let file = self.open_file(name, access, caching)?;
        let path = self.directory.shown(name);
        let io = |error| OwnedError::io(&path, error);
        if system::stat_file(&file).map_err(io)?.is_same(&system::stat_file(first).map_err(io)?) {
            return Ok(file);
        }
        Err(OwnedError::foreign(&path, Cause::Replaced))
    }

    /// The whole content of a file of at most `limit` bytes; `None` if nothing has that name.
    ///
    /// # Errors
    /// Where it is longer or not assay's, or the system's.
    pub fn read_small(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, OwnedError> {
        let file = match self.open_file(name, Access::Read, Caching::Cached) {
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(None),
            opened => opened?,
        };
        let mut content = Vec::new();
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut content);
        read.map_err(|error| OwnedError::io(&self.directory.shown(name), error))?;
        if content.len() as u64 > limit {
            return Err(OwnedError::foreign(&self.directory.shown(name), Cause::Long(limit)));
        }
        Ok(Some(content))
    }

    /// Replaces the content of a file durably: readers see the old or the new content, also after a crash. May block as
    /// long as the medium does.
    ///
    /// # Errors
    /// Where something with that name is not assay's, or the system's.
    pub fn replace_small(&self, name: &str, content: &[u8]) -> Result<(), OwnedError> {
        self.check(name)?;
        let swapped = self.directory.swap(OsStr::new(name), Mode::Private, content, None);
        swapped.map_err(|error| OwnedError::io(&self.directory.shown(name), error))
    }

    /// Removes a file of assay's own; returns whether there was one.
    ///
    /// # Errors
    /// Where it is not assay's, or the system's.
    pub fn remove(&self, name: &str) -> Result<bool, OwnedError> {
        if !self.check(name)? {
            return Ok(false);
        }
        match system::remove_file(&self.directory.handle, OsStr::new(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(OwnedError::io(&self.directory.shown(name), error)),
        }
    }

    /// Passes the files in it to `visit`, at most `limit` of them, in no particular order. `known` accepts the names
    /// that assay uses.
    ///
    /// # Errors
    /// Where there are more, one has an unknown name or is not assay's, or the system's.
    pub fn entries(
        &self,
        limit: u64,
        known: &dyn Fn(&str) -> bool,
        visit: &mut dyn FnMut(OwnEntry),
    ) -> Result<(), OwnedError> {
        let mut wrong = Ok(());
        self.directory.names(limit, &mut |name| {
            if wrong.is_ok() && !is_hidden(name) {
                wrong = self.entry(name, known).map(|entry| entry.into_iter().for_each(&mut *visit));
            }
        })?;
        wrong
    }

    pub(super) fn entry(&self, name: &OsStr, known: &dyn Fn(&str) -> bool) -> Result<Option<OwnEntry>, OwnedError> {
        let foreign = OwnedError::at(self.path(), name);
        let Some(text) = name.to_str().filter(|name| known(name)) else { return Err(foreign(Cause::Name)) };
        match self.stat_in(name) {
            Ok(stat) => {
                self.owned(&stat).map_err(foreign)?;
                Ok(Some(OwnEntry { name: text.to_owned(), bytes: stat.bytes, taken_bytes: stat.taken_bytes }))
            }
            // Removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(OwnedError::io(&self.directory.shown(name), error)),
        }
    }

    /// Returns when everything in it and below survives a power cut.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_all(&self) -> io::Result<()> {
        system::sync_all(&self.directory.handle)
    }

    /// Removes the directory, which must be empty.
    ///
    /// # Errors
    /// Where it is not empty, where its name now belongs to something else or to nothing, or the system's.
    pub fn remove_self(&self) -> Result<(), OwnedError> {
        let io = |error: io::Error| OwnedError::io(self.path(), error);
        if !system::stat_in(&self.parent.handle, &self.name).map_err(io)?.is_same(&self.directory.stat) {
            return Err(OwnedError::foreign(self.path(), Cause::Replaced));
        }
        let (parent, own) = (&self.parent.handle, &self.directory);
        system::remove_directory(parent, &self.name, &own.handle, &own.stat).map_err(io)
    }

    /// Whether something has that name; it must then be assay's.
    pub(super) fn check(&self, name: &str) -> Result<bool, OwnedError> {
        match self.stat_in(OsStr::new(name)) {
            Ok(stat) => self.owned(&stat).map(|()| true).map_err(OwnedError::at(self.path(), OsStr::new(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(OwnedError::io(&self.directory.shown(name), error)),
        }
    }

    /// Attributes of the file with that name; links are not followed.
    pub(super) fn stat_in(&self, name: &OsStr) -> io::Result<Stat> {
        system::stat_in(&self.directory.handle, name)
    }

    fn owned(&self, stat: &Stat) -> Result<(), Cause> {
        stat.must_be(EntryKind::File)?;
        if stat.links > 1 {
            return Err(Cause::Links(stat.links));
        }
        if stat.uid != self.owner {
            return Err(Cause::Owner { is: stat.uid, wanted: self.owner });
        }
        if !stat.is_beside(&self.directory.stat) {
            return Err(Cause::Mount);
        }
        Ok(())
    }
}

#[cfg(not(windows))]
impl std::os::fd::AsFd for OwnDir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

// Owner of the files that assay creates in a place.
//
// On most file systems it is the user who runs assay. FAT and similar file systems store no owners: everything belongs
// to the user given by the mount. Servers may assign files of root to another user (root_squash, exports(5)).
//
// Windows has access control lists, which are not tested here. There files have no particular owner, and only the
// checks for links, devices and files with two names apply.

/// The owner of everything in a directory of assay's own. `made` says that it was just created.
pub(super) fn owner(directory: &Handle, own: &Stat, parent: &Stat, made: bool) -> Result<u32, Cause> {
    let me = system::user();
    let free = system::keeps_no_owners(directory);
    if !free && own.mode & 0o022 != 0 {
        return Err(Cause::Mode(own.mode & 0o777));
    }
    let mine = own.uid == me || free && own.uid == parent.uid;
    if mine || made && learned(directory).is_ok_and(|given| given == own.uid) {
        return Ok(own.uid);
    }
    Err(Cause::Owner { is: own.uid, wanted: me })
}

/// The owner of a file that is created there.
fn learned(directory: &Handle) -> io::Result<u32> {
    let name = temporary()?;
    let name = OsStr::new(&name);
    let file = system::make_file(directory, name, Caching::Cached, Mode::Private)?;
    let uid = system::stat_file(&file).map(|stat| stat.uid);
    system::remove_file(directory, name)?;
    uid
}

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
    use super::*;
    use crate::owned::{Caching, Directory};
    use std::os::unix::fs::{FileExt, symlink};

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
