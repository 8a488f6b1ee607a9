//! Errors about files on a medium that should be assay's own.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use assay_core::text::harmless;
use assay_core::units::Bytes;

/// Why something on a medium is not created, opened or removed: one line, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum OwnedError {
    /// Something that assay did not make has a name that assay uses.
    #[error("{path}: {cause}, so assay did not make it and leaves it alone; move it away")]
    Foreign {
        /// Path, safe to show.
        path: String,
        /// How that is known.
        cause: Cause,
    },
    /// It does not exist, or exists and should not, or the system refuses.
    #[error("{path}: {source}")]
    Io {
        /// Path, safe to show.
        path: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// How something is known not to be assay's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A link, pipe, socket, device or directory where a file was expected, or a file instead of a directory.
    #[error("{is} and not {wanted}")]
    Kind {
        /// What it is.
        is: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// A file that has other names too.
    #[error("a file with {0} names")]
    Links(u64),
    /// It belongs to another user.
    #[error("of user {is} and not of user {wanted}")]
    Owner {
        /// Its owner.
        is: u32,
        /// The expected owner.
        wanted: u32,
    },
    /// A directory that others may write in.
    #[error("a directory that others may write in (mode {0:03o})")]
    Mode(u32),
    /// Something is mounted on it.
    #[error("on another mount than the directory it lies in")]
    Mount,
    /// Its name now belongs to something else than what was opened.
    #[error("not what had this name before")]
    Replaced,
    /// More bytes than assay writes there.
    #[error("longer than {}", Bytes(*.0))]
    Long(u64),
    /// More names than assay makes there.
    #[error("a directory of more than {0} names")]
    Many(u64),
    /// A name that assay never uses.
    #[error("a name that assay does not use")]
    Name,
    /// Content that assay does not write.
    #[error("with content that assay does not write ({0})")]
    Content(String),
}

impl OwnedError {
    /// Something foreign under `path`.
    #[must_use]
    pub fn foreign(path: &Path, cause: Cause) -> Self {
        Self::Foreign { path: harmless(&path.to_string_lossy()), cause }
    }

    /// The system's error about `path`.
    #[must_use]
    pub fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: harmless(&path.to_string_lossy()), source: source.into() }
    }

    pub(super) fn at(directory: &Path, name: &OsStr) -> impl Fn(Cause) -> Self {
        let path = directory.join(name);
        move |cause| Self::foreign(&path, cause)
    }

    /// The kind of the system's error; `None` if the system did not refuse.
    #[must_use]
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Foreign { .. } => None,
            Self::Io { source, .. } => Some(source.kind()),
        }
    }
}

impl From<OwnedError> for io::Error {
    /// The system's error with its number, so that a failing medium is distinguished from a hostile one.
    fn from(error: OwnedError) -> Self {
        match error {
            OwnedError::Io { source, .. } => source,
            foreign @ OwnedError::Foreign { .. } => Self::new(io::ErrorKind::InvalidData, foreign),
        }
    }
}
