//! Why a journal cannot be made, read or used.

use std::io;
use std::path::Path;

use assay_core::text::harmless;
use assay_core::units::Bytes;

/// Why a journal cannot be made, written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be made there.
    #[error("{path}: the journal cannot be made ({source}); choose another place with --journal")]
    Create {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// Its disk is too small for the most that a probe saves.
    #[error(
        "{path}: the journal needs up to {needed} and its file system has {free} free; make room, or choose another \
         place with --journal"
    )]
    NoSpace {
        /// The journal.
        path: String,
        /// Most bytes of the journal.
        needed: Bytes,
        /// Free bytes of the file system.
        free: Bytes,
    },
    /// Its disk refused while the probe was under way.
    #[error("{path}: the journal cannot be written ({source}); choose another place for the next one with --journal")]
    Write {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// Its disk fails to read it.
    #[error("{path}: the journal cannot be read ({source}); copy it to another disk, and keep the original")]
    Read {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// No file has this name.
    #[error("{path}: there is no such journal; `assay info DEVICE` names the one that belongs to a device")]
    Missing {
        /// The journal.
        path: String,
    },
    /// It would be lost with the device.
    #[error("{path}: lies on the device under test; put the journal on another disk")]
    SameDevice {
        /// The journal.
        path: String,
    },
    /// The file is not a journal, or its header is damaged.
    #[error("{path}: is not a journal of a probe, or its beginning is damaged; give the file that the probe named")]
    NotAJournal {
        /// The file.
        path: String,
    },
    /// A journal of another version.
    #[error(
        "{path}: is a journal of format {format}, and this version reads format 2; restore it with the version of assay that made it"
    )]
    OtherFormat {
        /// The file.
        path: String,
        /// The format's number, as the file says.
        format: char,
    },
}

impl JournalError {
    /// Whether its disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::NoSpace { .. } => true,
            Self::Create { source, .. } | Self::Write { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }
}

/// A journal's path, safe to show to people.
pub(super) fn shown(path: &Path) -> String {
    harmless(&path.display().to_string())
}

pub(super) fn cannot_create(path: &Path, source: io::Error) -> JournalError {
    JournalError::Create { path: shown(path), source }
}

pub(super) fn cannot_write(path: &Path, source: io::Error) -> JournalError {
    JournalError::Write { path: shown(path), source }
}

pub(crate) fn cannot_read(path: &Path, source: io::Error) -> JournalError {
    match source.kind() {
        io::ErrorKind::NotFound => JournalError::Missing { path: shown(path) },
        io::ErrorKind::InvalidInput => JournalError::NotAJournal { path: shown(path) },
        _ => JournalError::Read { path: shown(path), source },
    }
}
