//! System calls on an open directory and on its entries: the same functions for each system, each in a file of its own,
//! and one file for what all Unix systems share.

#[cfg(any(windows, test))]
mod reserved;
#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(super) use unix::*;
#[cfg(windows)]
pub(super) use windows::*;

/// Access to a file that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Only the user who runs assay.
    Private,
    /// The system's default.
    Usual,
}
