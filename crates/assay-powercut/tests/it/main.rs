//! Power cuts of model media, and of a device of the kernel that forgets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod campaigns;
mod honest;
#[cfg(not(windows))]
mod kernel;
mod model;
mod remote;
mod rounds;
