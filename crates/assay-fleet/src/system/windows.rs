//! What a run on many nodes asks of the system here, on Windows. None is led from there: this lets the rest be compiled.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::process::Child;

use assay_engine::Signal;

use crate::transport::{Connection, Listener};

/// Temporary files there are each user's own.
pub(crate) fn is_private(directory: &Metadata) -> bool {
    directory.is_dir()
}

/// Programs for Windows run on no node.
pub(crate) fn machine() -> String {
    String::new()
}

/// A process is ended with this one, by the job that both belong to.
pub(crate) fn end(_child: &Child, _whole_group: bool, _signal: Signal) {}

/// There are no such sockets in the standard library.
pub(crate) fn listen_privately<D>(_make: impl Fn(&Path) -> io::Result<D>) -> io::Result<Box<dyn Listener>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// As [`listen_privately`].
pub(crate) fn connect_privately(_path: &Path) -> io::Result<Box<dyn Connection>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There is no such limit.
#[expect(clippy::unnecessary_wraps, reason = "other systems have one")]
pub(crate) fn allow_open_files(_wanted: u64) -> Result<(), u64> {
    Ok(())
}
