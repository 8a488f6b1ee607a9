//! Files of assay in a directory of the data directory. That may belong to another user while root is at work: what is there
//! goes by the handle of a directory that was opened once, and no link is followed.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use assay_device::owned::{Caching, Directory, OwnedError};

use crate::failure::Failure;
use crate::{output, state};

/// Longest file that is read, in bytes: the file of a run of thousands of nodes is some megabytes.
const LONGEST: u64 = 64 << 20;
/// More files are made in no such directory.
const MOST: u64 = 1_000_000;

/// A directory in the data directory, opened once.
#[derive(Debug)]
pub(crate) struct DataDirectory(Directory);

impl DataDirectory {
    /// The one of this name; made, for this user alone, where it is missing.
    pub(crate) fn made(name: &str) -> Result<Self, Failure> {
        let data = state::directory()?;
        assay_store::make_directory(&data)?;
        Directory::open(&data).and_then(|data| data.inside_or_made(name)).map(Self).map_err(failed)
    }

    /// The one of this name; none where there is none.
    pub(crate) fn existing(name: &str) -> Result<Option<Self>, Failure> {
        match Directory::open(&state::directory()?) {
            Err(error) if is_missing(&error) => Ok(None),
            data => Ok(data.and_then(|data| data.inside(name)).map_err(failed)?.map(Self)),
        }
    }

    /// Where a file in it is, for messages, and for programs that are told of it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The text of a file; none where there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, Failure> {
        let file = match self.0.read_file(name, Caching::Cached) {
            Err(error) if is_missing(&error) => return Ok(None),
            file => file.map_err(failed)?,
        };
        let mut text = String::new();
        match file.take(LONGEST + 1).read_to_string(&mut text) {
            Ok(bytes) if bytes as u64 > LONGEST => Err(self.cannot("be read", name, &"it is longer than 64 MiB")),
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(self.cannot("be read", name, &error)),
        }
    }

    /// Gives a file new content, whole or not at all. What has its name is replaced, be it a link.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.0.replace(Path::new(name).as_os_str(), content.as_ref()).map_err(|error| match error {
            OwnedError::Io { source, .. } => self.cannot("be written", name, &source),
            foreign => failed(foreign),
        })
    }

    /// Opens a file for a lock, which is made where it is missing.
    pub(crate) fn for_a_lock(&self, name: &str) -> Result<File, Failure> {
        self.0.file_or_made(name).map_err(failed)
    }

    /// Removes a file; whether there was one.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, Failure> {
        self.0.unlink(name).map_err(failed)
    }

    /// Names of all that is in it, sorted.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        self.0.names(MOST, &mut |name| names.extend(name.to_str().map(str::to_owned))).map_err(failed)?;
        names.sort();
        Ok(names)
    }

    fn cannot(&self, what: &str, name: &str, why: &dyn std::fmt::Display) -> Failure {
        Failure::environment(format!("{} cannot {what}: {why}", output::shown(&self.path(name))))
    }
}

fn is_missing(error: &OwnedError) -> bool {
    error.kind() == Some(ErrorKind::NotFound)
}

fn failed(error: OwnedError) -> Failure {
    Failure::environment(error.to_string())
}
