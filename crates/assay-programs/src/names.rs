//! The names of files and directories that programs make.

/// What [`crate::stream`] writes.
pub(crate) const STREAM: &str = "stream";

/// Whether a program gives such a name, so many directories below its own.
#[must_use]
pub fn is_known(depth: u32, name: &str) -> bool {
    depth == 0 && name == STREAM
}
