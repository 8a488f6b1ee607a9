//! The open directory cannot be renamed or removed, so that its path remains its own. Links and other reparse points
//! are opened themselves and refused.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_LIST_DIRECTORY, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_DISK, GetFileInformationByHandle, GetFileType,
};

use super::files::Files;
use crate::system;

/// The spool's directory on the disk.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    /// Denies others the right to remove it.
    open: Option<File>,
}

impl Disk {
    /// The directory at this path, which need not exist.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None }
    }

    /// The path of a file in the directory, which is held open from now on.
    fn file(&mut self, name: &str) -> io::Result<PathBuf> {
        if self.open.is_none() {
            let mut options = OpenOptions::new();
            options.access_mode(FILE_LIST_DIRECTORY).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
            options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
            let path = std::path::absolute(&self.path)?;
            let file = options.open(&path)?;
            let meta = file.metadata()?;
            if !meta.is_dir() || is_reparse_point(&meta) {
                return Err(ErrorKind::NotADirectory.into());
            }
            (self.path, self.open) = (path, Some(file));
        }
        // Names in the spool consist of letters, digits and periods; another name could lead elsewhere.
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        if !name.chars().all(plain) || name.starts_with('.') || name.ends_with('.') {
            return Err(refused("it has no name of the spool"));
        }
        Ok(self.path.join(name))
    }
}

fn is_reparse_point(meta: &fs::Metadata) -> bool {
    meta.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_owned())
}

/// Size of a file that assay can have written. Its owner is not tested: the directory's access list determines who
/// writes.
fn judge(file: &File, most: u64) -> io::Result<u64> {
    let (meta, handle) = (file.metadata()?, file.as_raw_handle());
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the structure is local to this function, and the handle is open.
    let (kind, done) = unsafe { (GetFileType(handle), GetFileInformationByHandle(handle, &raw mut info)) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    if kind != FILE_TYPE_DISK || !meta.is_file() || is_reparse_point(&meta) {
        return Err(refused("it is no regular file"));
    }
    if info.nNumberOfLinks != 1 {
        return Err(refused("it has another name too"));
    }
    if meta.len() > most { Err(refused("it is too long")) } else { Ok(meta.len()) }
}

impl Files for Disk {
    type File = File;

    fn make_directory(&mut self) -> io::Result<()> {
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => self.file("x").map(drop),
        }
    }

    fn create(&mut self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.file(name)?)
    }

    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&mut self, file: &mut File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        system::rename(&self.file(from)?, &self.file(to)?)
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        // Renames were already waited for; for new directories and removed files there is no call.
        Ok(())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.file(name)?) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn list(&mut self, most: usize) -> io::Result<Vec<String>> {
        match self.file("x") {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            kept => kept?,
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)?.take(most) {
            // Names that assay uses are ASCII.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn read(&mut self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let path = self.file(name)?;
        let flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let bytes = judge(&file, most)?;
        let mut content = Vec::new();
        // One byte more than its size, to detect whether it grows.
        file.take(bytes + 1).read_to_end(&mut content)?;
        if content.len() as u64 != bytes { Err(refused("it changes while it is read")) } else { Ok(content) }
    }

    fn age(&mut self, name: &str) -> io::Result<Duration> {
        Ok(fs::symlink_metadata(self.file(name)?)?.modified()?.elapsed().unwrap_or_default())
    }
}
