//! What is read and written: the test file or a raw device, opened once.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use assay_core::workload::Sync;

use crate::sys;
use crate::sys::{AsOpen, DirectRequirement};

/// Whether and how the page cache can be bypassed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectSupport {
    /// Offsets, lengths and memory must be multiples of this many bytes.
    Yes {
        /// The alignment in bytes.
        alignment: u32,
        /// Where it was learnt.
        source: String,
    },
    /// It cannot, and this is why.
    No {
        /// Why.
        reason: String,
    },
}

/// Why a target could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct TargetError {
    /// Path that was opened.
    pub path: String,
    /// The system's error.
    #[source]
    pub source: io::Error,
}

/// An open file or device that the engines work on.
#[derive(Debug)]
pub struct Target {
    file: File,
    direct: bool,
    #[cfg(test)]
    pub(crate) syncs: super::repeat_tests::Syncs,
}

impl Target {
    /// Makes the test file, which must not exist.
    ///
    /// # Errors
    /// The system's error with the path.
    pub fn create(path: &Path, direct: bool) -> Result<Self, TargetError> {
        Self::open(path, direct, sys::private(OpenOptions::new().read(true).write(true).create_new(true)))
    }

    /// Opens a file or device that exists; `write` also for writing.
    ///
    /// # Errors
    /// The system's error with the path.
    pub fn existing(path: &Path, direct: bool, write: bool) -> Result<Self, TargetError> {
        Self::open(path, direct, OpenOptions::new().read(true).write(write))
    }

    /// A file or device that is open already; `direct` is how it was opened.
    #[must_use]
    pub fn from_file(file: File, direct: bool) -> Self {
        Self {
            file,
            direct,
            #[cfg(test)]
            syncs: super::repeat_tests::Syncs::default(),
        }
    }

    fn open(path: &Path, direct: bool, options: &mut OpenOptions) -> Result<Self, TargetError> {
        let file = sys::open(path, direct, options)
            .map_err(|source| TargetError { path: path.display().to_string(), source })?;
        Ok(Self::from_file(file, direct))
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether the page cache is bypassed.
    #[must_use]
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// Waits until all data is durable.
    ///
    /// # Errors
    /// The system's error.
    pub fn sync(&self) -> io::Result<()> {
        self.sync_as(Sync::Fdatasync)
    }

    /// Waits as a workload wants it after each write.
    #[inline]
    pub(crate) fn sync_as(&self, how: Sync) -> io::Result<()> {
        #[cfg(test)]
        self.syncs.count(how);
        sys::sync(&self.file, how)
    }

    /// Asks the kernel to drop what it has cached of the target; dirty data stays, so sync first.
    ///
    /// # Errors
    /// The system's error; always on Windows, which cannot be asked to.
    pub fn drop_cache(&self) -> io::Result<()> {
        sys::forget(&self.file)
    }
}

/// Finds out whether `path`, an existing file or device, can be used with direct I/O; see [`direct_support_of`].
#[must_use]
pub fn direct_support(path: &Path, logical_block_bytes: Option<u32>) -> DirectSupport {
    let open = |direct| Target::existing(path, direct, false).map(|target| target.file);
    match open(false) {
        Ok(file) => direct_support_of(&file, logical_block_bytes, || open(true).map_err(|e| e.source)).0,
        Err(error) => DirectSupport::No { reason: format!("it cannot be opened: {}", error.source) },
    }
}

/// Finds out whether an open file or device can be used with direct I/O, and gives it opened for that, by
/// `open_direct`.
///
/// Where the system tells nothing, an open past the cache is tried and `logical_block_bytes` of the device serves as the
/// alignment.
pub fn direct_support_of(
    file: impl AsOpen,
    logical_block_bytes: Option<u32>,
    open_direct: impl FnOnce() -> io::Result<File>,
) -> (DirectSupport, Option<File>) {
    let no = |reason| (DirectSupport::No { reason }, None);
    let (alignment, source) = match (sys::direct_requirement(file), logical_block_bytes) {
        (DirectRequirement::Never(reason), _) => return no(reason.to_owned()),
        (DirectRequirement::Alignment(bytes, source), _) => (bytes, source),
        (DirectRequirement::Nothing, Some(bytes)) => (bytes, "logical block size of the device"),
        (DirectRequirement::Nothing, None) => (4096, "assumed, as the kernel reports none"),
    };
    match open_direct() {
        Ok(opened) => (DirectSupport::Yes { alignment, source: source.to_owned() }, Some(opened)),
        Err(error) => no(format!("{} was refused: {error}{}", sys::DIRECT, sys::CACHED)),
    }
}
