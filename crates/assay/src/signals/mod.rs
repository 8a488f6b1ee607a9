//! How a command ends when a signal or a user asks for it, and the process in which its work is done.

#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use unix::{in_child, last_words, stop_on_signals};
#[cfg(windows)]
pub(crate) use windows::{in_child, last_words, stop_on_signals};
