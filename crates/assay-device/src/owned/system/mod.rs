//! What the system does with a directory that is open, and with what has a name in it: the same functions for each
//! system, in a file of its own, and in one for what any Unix has.

#[cfg(not(windows))]
mod linux;
#[cfg(any(windows, test))]
mod reserved;
#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(super) use linux::*;
#[cfg(not(windows))]
pub(super) use unix::*;
#[cfg(windows)]
pub(super) use windows::*;

/// Who may use a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The user who runs assay, alone.
    Private,
    /// Whom the system lets where nothing is asked for.
    Usual,
}
