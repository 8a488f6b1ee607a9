//! Source trees: the user's archive, or one that is generated with the sizes of the files of a Linux source.

mod archive;
mod directories;
mod generated;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use assay_core::text::harmless;
use assay_core::units::{Bytes, grouped};

pub(crate) use archive::{Members, Packing};
pub(crate) use directories::Directories;

use crate::trouble::Trouble;

/// A source tree for the programs of a run.
#[derive(Debug)]
pub struct Tree {
    given: Option<Given>,
    /// The archive that was generated last, with the bytes of its tree.
    packed: Mutex<Option<(u64, Vec<u8>)>>,
}

#[derive(Debug)]
struct Given {
    file: File,
    /// Name of the file, for people.
    name: String,
}

impl Tree {
    /// A tree that is generated.
    #[must_use]
    pub fn generated() -> Self {
        Self { given: None, packed: Mutex::new(None) }
    }

    /// The tree in an archive of the user: .tar.xz, .tar.gz or .tar.
    ///
    /// # Errors
    /// The system's, and where it is no such archive.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("is no regular file"));
        }
        if Members::new(Packing::detect(&file)?).next()?.is_none() {
            return Err(std::io::Error::other("holds no files; name a .tar.xz, .tar.gz or .tar archive"));
        }
        let name = path.file_name().map(|name| harmless(&name.to_string_lossy())).unwrap_or_default();
        Ok(Self { given: Some(Given { file, name }), packed: Mutex::new(None) })
    }

    /// Where it comes from, in words.
    #[must_use]
    pub fn origin(&self) -> String {
        self.given.as_ref().map_or_else(|| "a generated tree".to_owned(), |given| format!("the tree in {}", given.name))
    }

    /// Whether it is the user's.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// The archive of a tree with a limited size: as many of its bytes as `take` wants.
    pub(crate) fn archive(
        &self,
        bytes: u64,
        take: &mut dyn FnMut(&mut dyn Read) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        if let Some(given) = &self.given {
            let mut file = given.file.try_clone().map_err(Trouble::io("reading the archive"))?;
            file.seek(SeekFrom::Start(0)).map_err(Trouble::io("reading the archive"))?;
            return take(&mut file);
        }
        let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        if packed.as_ref().is_none_or(|(of, _)| *of != bytes) {
            *packed = Some((bytes, generated::packed(bytes).map_err(Trouble::io("making a source tree"))?));
        }
        match packed.as_ref() {
            Some((_, archive)) => take(&mut archive.as_slice()),
            None => Ok(()),
        }
    }

    /// The tree in words: where it comes from, and how much of it was used.
    pub(crate) fn describe(&self, files: u64, bytes: u64, all: bool) -> String {
        let files = grouped(i64::try_from(files).unwrap_or(i64::MAX));
        let part = if all || self.given.is_none() { "" } else { "the first part of " };
        let of = self.origin();
        let files = if files == "1" { "1 file".to_owned() } else { format!("{files} files") };
        format!("{part}{of}, {files}, {}", Bytes(bytes))
    }
}
