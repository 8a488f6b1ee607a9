//! A directory that assay did not make, but was given.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::attributes::{Access, Caching, Cause, EntryKind, OpenHow, OwnedError, Space, Stat, temporary};
use super::system::{self, Handle, Mode};

/// A directory, opened once.
#[derive(Debug)]
pub struct Directory {
    pub(super) handle: Handle,
    pub(super) path: PathBuf,
    pub(super) stat: Stat,
}

impl Directory {
    /// Opens `path` and follows links in it: the user named it.
    ///
    /// # Errors
    /// The system's, also where it is no directory.
    pub fn open(path: &Path) -> Result<Self, OwnedError> {
        let io = |error: io::Error| OwnedError::io(path, error);
        let handle = system::open_directory(path).map_err(io)?;
        let stat = system::stat_directory(&handle).map_err(io)?;
        Ok(Self { handle, path: path.to_owned(), stat })
    }

    /// A second handle of the same directory.
    ///
    /// # Errors
    /// Where no more files can be open.
    pub fn again(&self) -> Result<Self, OwnedError> {
        let handle = system::again(&self.handle).map_err(|error| OwnedError::io(&self.path, error))?;
        Ok(Self { handle, path: self.path.clone(), stat: self.stat })
    }

    /// The path that it was opened by, for messages only.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Major and minor number of the device of its file system; the major number is 0 where there is none.
    #[must_use]
    pub fn device(&self) -> (u32, u32) {
        self.stat.dev
    }

    /// Whether its path still leads to it, and not to another directory or medium.
    ///
    /// # Errors
    /// The system's: for example the medium of the open directory is gone, or nothing has the path.
    pub fn is_in_place(&self) -> Result<bool, OwnedError> {
        let io = |error: io::Error| OwnedError::io(&self.path, error);
        // The open directory is queried anew: a removed medium does not answer, even if it is inserted again.
        let kept = system::stat_directory(&self.handle).map_err(io)?;
        let named = system::open_directory(&self.path).map_err(io)?;
        Ok(system::stat_directory(&named).map_err(io)?.is_same(&kept))
    }

    /// The file system's size and free space.
    ///
    /// # Errors
    /// The system's.
    pub fn space(&self) -> Result<Space, OwnedError> {
        system::space(&self.handle).map_err(|error| OwnedError::io(&self.path, error))
    }

    /// Opens a directory in it for reading, from any owner; `None` if no directory has that name. Links are not
    /// followed.
    ///
    /// # Errors
    /// The system's.
    pub fn inside(&self, name: impl AsRef<OsStr>) -> Result<Option<Self>, OwnedError> {
        let name = name.as_ref();
        let path = self.path.join(name);
        match system::directory_in(&self.handle, name) {
            Ok(handle) => {
                let stat = system::stat_directory(&handle).map_err(|error| OwnedError::io(&path, error))?;
                Ok(Some(Self { handle, path, stat }))
            }
            Err(error) if system::is_no_directory(&error) => Ok(None),
            Err(error) => Err(OwnedError::io(&path, error)),
        }
    }

    /// The same; creates a missing directory, for this user only.
    ///
    /// # Errors
    /// Where something else has that name, such as a link; or the system's.
    pub fn inside_or_made(&self, name: &str) -> Result<Self, OwnedError> {
        match system::make_directory(&self.handle, OsStr::new(name)) {
            Ok(()) => system::sync_names(&self.handle).map_err(|error| OwnedError::io(&self.path, error))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(OwnedError::io(&self.path.join(name), error)),
        }
        let wrong = OwnedError::at(&self.path, OsStr::new(name));
        match self.inside(name)? {
            Some(directory) => Ok(directory),
            None => {
                let stat = system::stat_in(&self.handle, OsStr::new(name));
                let stat = stat.map_err(|error| OwnedError::io(&self.path.join(name), error))?;
                Err(stat.must_be(EntryKind::Directory).map_or_else(wrong, |()| {
                    OwnedError::io(&self.path.join(name), io::Error::from(io::ErrorKind::NotADirectory))
                }))
            }
        }
    }

    /// Opens a regular file in it for reading and writing, from any owner. Creates a missing file, empty and for this
    /// user only. Links are not followed.
    ///
    /// # Errors
    /// Where something else has that name, or the system's.
    pub fn file_or_made(&self, name: &str) -> Result<File, OwnedError> {
        match self.make_file(OsStr::new(name), Caching::Cached, Mode::Private) {
            Err(error) if error.kind() == Some(io::ErrorKind::AlreadyExists) => {
                self.regular(OsStr::new(name), Access::ReadWrite, Caching::Cached).map(|(file, _)| file)
            }
            made => made,
        }
    }

    /// Removes the name of a file or a link from it; a link's target stays. Returns whether there was one.
    ///
    /// # Errors
    /// The system's, also for a directory.
    pub fn unlink(&self, name: &str) -> Result<bool, OwnedError> {
        match system::remove_file(&self.handle, OsStr::new(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(OwnedError::io(&self.path.join(name), error)),
        }
    }

    /// Passes the names in it to `visit`, at most `limit` of them, in no particular order.
    ///
    /// # Errors
    /// Where there are more, or the system's.
    pub fn names(&self, limit: u64, visit: &mut dyn FnMut(&OsStr)) -> Result<(), OwnedError> {
        let (mut seen, mut over) = (0, false);
        let listed = system::names(&self.handle, &mut |name| {
            seen += 1;
            over = seen > limit;
            if over {
                return ControlFlow::Break(());
            }
            visit(name);
            ControlFlow::Continue(())
        });
        listed.map_err(|error| OwnedError::io(&self.path, error))?;
        if over { Err(OwnedError::foreign(&self.path, Cause::Many(limit))) } else { Ok(()) }
    }

    /// Size in bytes of a regular file in it, from any owner; `None` if no such file has that name.
    #[must_use]
    pub fn file_bytes(&self, name: &OsStr) -> Option<u64> {
        system::stat_in(&self.handle, name).ok().filter(|stat| stat.kind == EntryKind::File).map(|stat| stat.bytes)
    }

    /// Opens a regular file in it for reading, from any owner. Links are not followed, and nothing else is opened.
    ///
    /// # Errors
    /// Where it is no regular file, or the system's.
    pub fn read_file(&self, name: impl AsRef<OsStr>, caching: Caching) -> Result<File, OwnedError> {
        self.regular(name.as_ref(), Access::Read, caching).map(|(file, _)| file)
    }

    /// Opens a regular file. Its kind is tested before, since opening a device may be enough to trigger an action, and
    /// again when it is open.
    pub(super) fn regular(&self, name: &OsStr, access: Access, caching: Caching) -> Result<(File, Stat), OwnedError> {
        let io = |error: io::Error| OwnedError::io(&self.path.join(name), error);
        let foreign = OwnedError::at(&self.path, name);
        system::stat_in(&self.handle, name).map_err(io)?.must_be(EntryKind::File).map_err(&foreign)?;
        let file = system::open_file(&self.handle, name, OpenHow { access, caching }).map_err(io)?;
        let stat = system::stat_file(&file).map_err(io)?;
        stat.must_be(EntryKind::File).map_err(&foreign)?;
        system::wait_again(&file).map_err(io)?;
        Ok((file, stat))
    }

    /// Creates a file that must not exist.
    pub(super) fn make_file(&self, name: &OsStr, caching: Caching, mode: Mode) -> Result<File, OwnedError> {
        system::make_file(&self.handle, name, caching, mode)
            .map_err(|error| OwnedError::io(&self.path.join(name), error))
    }

    /// Replaces the content of a file durably: readers see the old or the new content, also after a crash. Anything
    /// with that name is replaced, except for a directory. A file keeps its owner, mode, access list and other
    /// attributes; on Windows its access list, attributes and streams, and there a power cut may lose its name. Another
    /// name of the same file (a hard link) keeps the old content.
    ///
    /// # Errors
    /// The system's, also if an access list cannot be kept; the file is then unchanged.
    pub fn replace(&self, name: &OsStr, content: &[u8]) -> Result<(), OwnedError> {
        let path = self.path.join(name);
        let io = |error: io::Error| OwnedError::io(&path, error);
        let old = system::stat_in(&self.handle, name).ok().filter(|stat| stat.kind == EntryKind::File);
        // Other users must not be able to read it before it has its final mode.
        let mode = if old.is_some() { Mode::Private } else { Mode::Usual };
        self.swap(name, mode, content, old.as_ref()).map_err(io)
    }

    /// Tests whether a file can be created in it; leaves nothing behind.
    ///
    /// # Errors
    /// The system's.
    pub fn can_make(&self) -> Result<(), OwnedError> {
        let io = |error: io::Error| OwnedError::io(&self.path, error);
        let name = temporary().map_err(io)?;
        drop(self.make_file(OsStr::new(&name), Caching::Cached, Mode::Private)?);
        system::remove_file(&self.handle, OsStr::new(&name)).map_err(io)
    }

    /// Writes `content` under an unpredictable temporary name, which then replaces `name`. The new file keeps the owner
    /// and the access rights of `old`, the file with that name.
    pub(super) fn swap(&self, name: &OsStr, mode: Mode, content: &[u8], old: Option<&Stat>) -> io::Result<()> {
        let new = temporary()?;
        let mut file = self.make_file(OsStr::new(&new), Caching::Cached, mode)?;
        let kept = old.map_or(Ok(()), |old| system::keep(&self.handle, name, old, &file));
        let written = kept.and_then(|()| file.write_all(content)).and_then(|()| file.sync_data());
        drop(file);
        let renamed = written.and_then(|()| system::rename(&self.handle, OsStr::new(&new), name, old.is_some()));
        renamed.inspect_err(|_| {
            let _ = system::remove_file(&self.handle, OsStr::new(&new));
        })?;
        system::sync_names(&self.handle)
    }

    /// Path of something in it, for messages only.
    pub(super) fn shown(&self, name: impl Into<OsString>) -> PathBuf {
        self.path.join(name.into())
    }
}

#[cfg(not(windows))]
impl std::os::fd::AsFd for Directory {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

// Only on Unix can any user create links.
#[cfg(all(test, not(windows)))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Threat 4.6: in a directory of another user, any name may be a link of that user.
    #[test]
    fn nothing_behind_a_link_is_opened_made_or_removed() {
        let place = tempfile::tempdir().unwrap();
        let (here, there) = (place.path().join("here"), place.path().join("there"));
        [&here, &there].into_iter().for_each(|path| std::fs::create_dir(path).unwrap());
        std::fs::write(there.join("file"), "kept").unwrap();
        symlink(&there, here.join("sub")).unwrap();
        symlink(there.join("file"), here.join("link")).unwrap();
        symlink(there.join("new"), here.join("dangling")).unwrap();
        let directory = Directory::open(&here).unwrap();
        assert!(directory.inside("sub").unwrap().is_none());
        let refused = directory.inside_or_made("sub").unwrap_err().to_string();
        assert!(refused.contains("a symbolic link"), "{refused}");
        assert!(directory.file_or_made("link").is_err() && directory.file_or_made("dangling").is_err());
        assert!(directory.read_file("link", Caching::Cached).is_err());
        directory.replace(OsStr::new("link"), b"new").unwrap();
        assert_eq!(std::fs::read(here.join("link")).unwrap(), b"new");
        assert!(directory.unlink("dangling").unwrap() && !directory.unlink("dangling").unwrap());
        assert!(directory.unlink("sub").unwrap(), "the link");
        assert_eq!(std::fs::read(there.join("file")).unwrap(), b"kept");
        assert_eq!(std::fs::read_dir(&there).unwrap().count(), 1);
        directory.inside_or_made("sub").unwrap().file_or_made("lock").unwrap();
        assert!(here.join("sub/lock").is_file());
        directory.inside_or_made("sub").unwrap();
    }
}
