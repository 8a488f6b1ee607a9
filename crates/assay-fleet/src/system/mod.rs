//! What a run on many nodes asks of the system here: the same for each, in a file of its own.

#[cfg(not(windows))]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use linux::{end, private_directories, private_file};
#[cfg(windows)]
pub(crate) use windows::{end, private_directories, private_file};
