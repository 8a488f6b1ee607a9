//! Everything uses one descriptor of the directory, so that a link in its place is never followed.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::files::Files;
use crate::system::sync_open;

/// The spool's directory on the disk.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    open: Option<OwnedFd>,
}

impl Disk {
    /// The directory at this path, which need not exist.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None }
    }

    fn directory(&mut self) -> io::Result<&OwnedFd> {
        if self.open.is_none() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            self.open = Some(open(&self.path, flags, Mode::empty())?);
        }
        self.open.as_ref().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_owned())
}

/// Accepts files of this user or of the directory's owner: root may read the directory.
fn judge(stat: &Stat, directory: &Stat, most: u64) -> io::Result<u64> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(refused("it is no regular file"));
    }
    if stat.st_nlink != 1 {
        return Err(refused("it has another name too"));
    }
    if stat.st_uid != geteuid().as_raw() && stat.st_uid != directory.st_uid {
        return Err(refused("it belongs to another user"));
    }
    match u64::try_from(stat.st_size) {
        Ok(bytes) if bytes <= most => Ok(bytes),
        _ => Err(refused("it is too long")),
    }
}

impl Files for Disk {
    type File = File;

    fn make_directory(&mut self) -> io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let (Some(above), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(ErrorKind::NotFound.into());
        };
        let above = open(above, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        match mkdirat(&above, name, Mode::RWXU) {
            Ok(()) => sync_open(&above)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.directory().map(drop)
    }

    fn create(&mut self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(self.directory()?, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&mut self, file: &mut File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let directory = self.directory()?;
        Ok(renameat(directory, from, directory, to)?)
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        sync_open(self.directory()?)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        match unlinkat(self.directory()?, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn list(&mut self, most: usize) -> io::Result<Vec<String>> {
        let directory = match self.directory() {
            Ok(directory) => directory,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(directory)?.take(most) {
            // Names that assay uses are ASCII.
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn read(&mut self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let directory = self.directory()?;
        let of_directory = fstat(directory)?;
        // Opening does not wait for the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(directory, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP | Errno::NXIO) => return Err(refused("it is no regular file")),
            Err(errno) => return Err(errno.into()),
        };
        let bytes = judge(&fstat(&file)?, &of_directory, most)?;
        let mut content = Vec::new();
        // One byte more than its size, to detect whether it grows.
        file.take(bytes + 1).read_to_end(&mut content)?;
        if content.len() as u64 != bytes { Err(refused("it changes while it is read")) } else { Ok(content) }
    }

    fn age(&mut self, name: &str) -> io::Result<Duration> {
        let stat = statat(self.directory()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
        Ok(written.elapsed().unwrap_or_default())
    }
}
