//! Directories for targets that need files.

use std::path::Path;

/// A directory that is removed when it is dropped; in memory where there is one.
pub(crate) fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap_or_else(|error| panic!("no directory for temporary files: {error}"))
}
