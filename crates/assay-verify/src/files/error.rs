//! Why a check of a mounted medium did not begin.

use std::io;
use std::path::{Path, PathBuf};

use assay_core::units::Bytes;
use assay_device::owned::OwnedError;

/// Why there is no check: one line each, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The target is no directory.
    #[error("{}: not a directory; give the directory where the medium is mounted", .0.display())]
    NotDirectory(PathBuf),
    /// The file system is mounted read-only.
    #[error("{}: mounted read-only; mount it writable, or check files that are there with --only read", .0.display())]
    ReadOnly(PathBuf),
    /// Nothing may be written there.
    #[error("{}: no permission to write; run as its owner or as root", .0.display())]
    Permission(PathBuf),
    /// Too little free space.
    #[error("{}: no room to check: {} free; make room, at least 3 MiB", .path.display(), Bytes(*.free_bytes))]
    Full {
        /// The target.
        path: PathBuf,
        /// What is free.
        free_bytes: u64,
    },
    /// The host needs the file system that is to be filled.
    #[error(
        "{}: the file system of {}; a check would fill it with {}: name another directory, limit it with --bytes, or add --fill-system",
        .path.display(), .carried.display(), Bytes(*.write_bytes)
    )]
    System {
        /// The target.
        path: PathBuf,
        /// What the host has there.
        carried: PathBuf,
        /// What would be written.
        write_bytes: u64,
    },
    /// The medium to be filled is the host's memory.
    #[error(
        "{}: is in the memory of this host; a check would fill it with {}: name a directory of a medium, limit it with --bytes, or add --fill-system",
        .path.display(), Bytes(*.write_bytes)
    )]
    Memory {
        /// The target.
        path: PathBuf,
        /// What would be written.
        write_bytes: u64,
    },
    /// Another check is running there.
    #[error("{}: another assay is checking it; wait for it", .0.display())]
    Busy(PathBuf),
    /// A check of another host uses it, on a file system that both hosts share.
    #[error("{}: made by assay on {host}, which may still be checking; look there first, then remove it", .path.display())]
    Elsewhere {
        /// The directory.
        path: PathBuf,
        /// Name of that host, safe to show.
        host: String,
    },
    /// Files that an earlier check was told to keep.
    #[error("{}: kept by an earlier check; read them with --only read, or remove them with --remove", .0.display())]
    Kept(PathBuf),
    /// Something not made by assay has the name of its directory.
    #[error("{}: not made by assay; move it away", .0.display())]
    Foreign(PathBuf),
    /// Nothing was interrupted there.
    #[error("{}: no interrupted check to resume; start one without --resume", .0.display())]
    NothingToResume(PathBuf),
    /// No files of the format.
    #[error("{}: no files 1.h2w, 2.h2w, ... to read", .0.display())]
    NothingToRead(PathBuf),
    /// Something not made by assay has the name of something that assay makes, or the system refuses it.
    #[error(transparent)]
    Owned(OwnedError),
    /// The system's error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What.
        #[source]
        source: io::Error,
    },
}

impl VerifyError {
    /// The error for `source` at `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path.to_owned()),
            io::ErrorKind::PermissionDenied => Self::Permission(path.to_owned()),
            _ => Self::Io { path: path.to_owned(), source },
        }
    }
}

impl From<OwnedError> for VerifyError {
    fn from(error: OwnedError) -> Self {
        match error {
            OwnedError::Io { path, source } => Self::io(Path::new(&path), source),
            foreign @ OwnedError::Foreign { .. } => Self::Owned(foreign),
        }
    }
}
