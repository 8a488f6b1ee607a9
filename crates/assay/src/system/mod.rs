//! What commands ask of the system: the same for each, in a file of its own.

#[cfg(not(windows))]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use linux::*;
#[cfg(windows)]
pub(crate) use windows::*;
