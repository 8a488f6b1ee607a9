//! Why a program has no figure.

use std::io;

use assay_core::finding::Shortfall;
use assay_device::owned::OwnedError;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum ProgramTrouble {
    /// The end was asked for.
    #[error("interrupted")]
    Stopped,
    /// It cannot be run here, or not in the time there is.
    #[error("{0}")]
    LeftOut(Shortfall),
    /// The medium or its file system failed.
    #[error("{what}: {error}")]
    Io {
        /// What was done.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// The file system failed on a file of assay's own.
    #[error(transparent)]
    Owned(#[from] OwnedError),
    /// It computed something wrong: the machine errs.
    #[error("{0}")]
    Wrong(String),
}

impl ProgramTrouble {
    pub(crate) fn io(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Io { what, error }
    }

    /// Too slow for a figure.
    pub(crate) fn slow() -> Self {
        Self::LeftOut(Shortfall::NothingDone)
    }
}
