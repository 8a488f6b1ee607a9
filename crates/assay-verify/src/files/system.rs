//! File systems that the host itself lives on: filling one stops more than the check.

use std::path::{Path, PathBuf};

use crate::sys;

/// What the file system under `target` carries that must not run out of room: a directory of the host, a
/// swap file, or `store`, where assay keeps its records. `None` where it is none of the host's.
pub(crate) fn carries(target: &Path, store: Option<&Path>) -> Option<PathBuf> {
    let here = sys::file_system(target)?;
    let all = sys::carriers().into_iter().chain(store.and_then(existing));
    all.into_iter().find(|path| sys::file_system(path).as_ref() == Some(&here))
}

/// The directory itself, or the nearest above it that is there.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.is_dir()).map(Path::to_owned)
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use super::*;

    #[test]
    fn the_file_systems_of_the_host_and_of_the_store_are_known() {
        assert_eq!(carries(Path::new("/"), None), Some(PathBuf::from("/")));
        let other = Path::new("/proc");
        assert_eq!(carries(other, None), None);
        let store = Path::new("/proc/no/such/store");
        assert_eq!(carries(other, Some(store)), Some(PathBuf::from("/proc")));
    }
}
