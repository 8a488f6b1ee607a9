//! The host that runs the check.

use std::io;
use std::path::{Path, PathBuf};

use assay_device::{Storage, Sysroot};
use rustix::fs::Access;

/// Directories on file systems that everything else needs.
const SYSTEM: [&str; 10] = ["/", "/usr", "/var", "/home", "/boot", "/run", "/tmp", "/opt", "/srv", "/root"];

/// Whether this user may create files in a directory.
///
/// # Errors
/// Where the user may not.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).map_err(Into::into)
}

/// The storage that the file system of a path takes its space from: it is the same for all subvolumes of a btrfs.
pub(crate) fn file_system(path: &Path) -> Option<Storage> {
    Storage::of_file_system(&Sysroot::real(), path)
}

/// Paths on file systems that must not run out of space: directories that everything else needs, and swap files.
pub(crate) fn carriers() -> Vec<PathBuf> {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    SYSTEM.into_iter().map(PathBuf::from).chain(swap_files(&swaps)).collect()
}

/// Files of `/proc/swaps` (proc(5)): the name, then the kind.
fn swap_files(text: &str) -> Vec<PathBuf> {
    let lines = text.lines().skip(1).map(|line| line.split_whitespace());
    lines
        .filter_map(|mut words| Some((words.next()?, words.next()?)))
        .filter(|(_, kind)| *kind == "file")
        // Blanks and some other characters are written as three octal digits. Only blanks are decoded here.
        .map(|(path, _)| PathBuf::from(path.replace("\\040", " ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_the_kernel_swaps_to_are_found() {
        let text = "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n/mnt/a\\040b/swap file 8 0 -3\n";
        assert_eq!(swap_files(text), [PathBuf::from("/mnt/a b/swap")]);
    }
}
