//! File systems that the host itself lives on: filling one stops more than the check.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Directories whose file systems everything else needs.
const SYSTEM: [&str; 5] = ["/", "/usr", "/var", "/home", "/boot"];

/// What the file system under `target` carries that must not run out of room: a directory of the host, a
/// swap file, or `store`, where assay keeps its records. `None` where it is none of the host's.
pub(crate) fn carries(target: &Path, store: Option<&Path>) -> Option<PathBuf> {
    let device = |path: &Path| path.metadata().ok().map(|meta| meta.dev());
    let here = device(target)?;
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    let all = SYSTEM.into_iter().map(PathBuf::from).chain(store.and_then(existing)).chain(swap_files(&swaps));
    all.into_iter().find(|path| device(path) == Some(here))
}

/// The directory itself, or the nearest above it that is there.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.is_dir()).map(Path::to_owned)
}

/// Files of `/proc/swaps` (proc(5)): the name, then the kind.
fn swap_files(text: &str) -> Vec<PathBuf> {
    let lines = text.lines().skip(1).map(|line| line.split_whitespace());
    lines
        .filter_map(|mut words| Some((words.next()?, words.next()?)))
        .filter(|(_, kind)| *kind == "file")
        // Blanks and other such characters are written as three octal digits; blanks are enough here.
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

    #[test]
    fn the_file_systems_of_the_host_and_of_the_store_are_known() {
        assert_eq!(carries(Path::new("/"), None), Some(PathBuf::from("/")));
        let other = Path::new("/proc");
        assert_eq!(carries(other, None), None);
        let store = Path::new("/proc/no/such/store");
        assert_eq!(carries(other, Some(store)), Some(PathBuf::from("/proc")));
    }
}
