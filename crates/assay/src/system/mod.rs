//! What commands ask of the system: the same functions for each system, in a file of its own.

#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
