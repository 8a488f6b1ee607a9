//! What is read and written: the test file or a raw device, opened once.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use assay_core::workload::Sync;
use rustix::fs::{Advice, AtFlags, StatxFlags};
use rustix::io::Errno;

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
    pub(crate) syncs: crate::sync_tests::Syncs,
}

impl Target {
    /// Makes the test file, which must not exist.
    ///
    /// # Errors
    /// The system's error with the path.
    pub fn create(path: &Path, direct: bool) -> Result<Self, TargetError> {
        Self::open(path, direct, OpenOptions::new().read(true).write(true).create_new(true).mode(0o600))
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
            syncs: crate::sync_tests::Syncs::default(),
        }
    }

    fn open(path: &Path, direct: bool, options: &mut OpenOptions) -> Result<Self, TargetError> {
        let flags = libc::O_NOFOLLOW | if direct { libc::O_DIRECT } else { 0 };
        let file = options
            .custom_flags(flags)
            .open(path)
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
        self.sync_as(Sync::Fdatasync).map_err(Into::into)
    }

    /// Waits as a workload wants it after each write.
    #[inline]
    pub(crate) fn sync_as(&self, how: Sync) -> Result<(), Errno> {
        #[cfg(test)]
        self.syncs.count(how);
        match how {
            Sync::End => Ok(()),
            Sync::Fdatasync => rustix::fs::fdatasync(&self.file),
            Sync::Fsync => rustix::fs::fsync(&self.file),
        }
    }

    /// Asks the kernel to drop what it has cached of the target; dirty data stays, so sync first.
    ///
    /// # Errors
    /// The system's error.
    pub fn drop_cache(&self) -> io::Result<()> {
        rustix::fs::fadvise(self.file.as_fd(), 0, None, Advice::DontNeed).map_err(Into::into)
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
/// Linux 6.1 and later answer through `statx` with `STATX_DIOALIGN`; before that an open with
/// `O_DIRECT` is tried and `logical_block_bytes` of the device serves as the alignment.
pub fn direct_support_of(
    file: impl AsFd,
    logical_block_bytes: Option<u32>,
    open_direct: impl FnOnce() -> io::Result<File>,
) -> (DirectSupport, Option<File>) {
    let no = |reason| (DirectSupport::No { reason }, None);
    let (alignment, source) = match rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(answer) if StatxFlags::from_bits_retain(answer.stx_mask).contains(StatxFlags::DIOALIGN) => {
            if answer.stx_dio_offset_align == 0 {
                return no("the file system does not do direct I/O".to_owned());
            }
            (answer.stx_dio_offset_align.max(answer.stx_dio_mem_align), "statx STATX_DIOALIGN")
        }
        _ => match logical_block_bytes {
            Some(bytes) => (bytes, "logical block size of the device"),
            None => (4096, "assumed, as the kernel reports none"),
        },
    };
    match open_direct() {
        Ok(opened) => (DirectSupport::Yes { alignment, source: source.to_owned() }, Some(opened)),
        Err(error) => no(format!("O_DIRECT was refused: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the kernel tells of direct I/O (since Linux 6.1), that answer alone counts.
    #[test]
    fn what_the_kernel_tells_of_direct_io_is_believed() {
        let file = tempfile::tempfile().unwrap();
        let told = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).unwrap();
        if !StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::DIOALIGN) {
            eprintln!("SKIP: what_the_kernel_tells_of_direct_io_is_believed: the kernel tells nothing here");
            return;
        }
        match direct_support_of(&file, Some(1), || file.try_clone()).0 {
            DirectSupport::Yes { alignment, source } => {
                assert_eq!(
                    (alignment, source.as_str()),
                    (told.stx_dio_offset_align.max(told.stx_dio_mem_align), "statx STATX_DIOALIGN")
                );
                assert!(told.stx_dio_offset_align > 0);
            }
            DirectSupport::No { .. } => assert_eq!(told.stx_dio_offset_align, 0),
        }
    }
}
