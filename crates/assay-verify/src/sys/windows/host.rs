//! The host that runs the check.

use std::io;
use std::path::{Path, PathBuf};

use assay_device::owned::Directory;

/// Permission shows when the first file is created: Windows rights are not tested beforehand. Only lists the directory.
///
/// # Errors
/// Where it cannot be listed.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    directory.read_dir().map(drop)
}

/// The volume that a path lies on.
pub(crate) fn file_system(path: &Path) -> Option<(u32, u32)> {
    Directory::open(path).ok().map(|directory| directory.device())
}

/// Directories whose volumes everything else needs: those of Windows, of its programs and of the user.
pub(crate) fn carriers() -> Vec<PathBuf> {
    ["SystemRoot", "ProgramFiles", "USERPROFILE"].iter().filter_map(std::env::var_os).map(PathBuf::from).collect()
}
