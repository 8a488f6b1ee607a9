//! File systems that the host itself uses: filling one stops more than the check.

use std::path::{Path, PathBuf};

use assay_device::{Sysroot, look};

use crate::sys;

/// What needs the space that a check would fill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Carried {
    /// A directory of the host, a swap file, or the directory where assay keeps its records.
    Path(PathBuf),
    /// Every program of the host: the space is memory.
    Memory,
}

/// What needs the space of the file system under `target`. `store` is where assay keeps its records. `None` if the host
/// needs nothing there.
pub(crate) fn carries(target: &Path, store: Option<&Path>) -> Option<Carried> {
    let path = carried_path(target, store).map(Carried::Path);
    let is_memory = || look(&Sysroot::real(), target).is_ok_and(|target| target.is_memory);
    path.or_else(|| is_memory().then_some(Carried::Memory))
}

fn carried_path(target: &Path, store: Option<&Path>) -> Option<PathBuf> {
    let here = sys::file_system(target)?;
    let all = sys::carriers().into_iter().chain(store.and_then(existing));
    all.into_iter().find(|path| sys::file_system(path).as_ref() == Some(&here))
}

/// The directory itself, or the nearest existing one above it.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.is_dir()).map(Path::to_owned)
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use super::*;

    #[test]
    fn the_file_systems_of_the_host_and_of_the_store_are_known() {
        assert_eq!(carries(Path::new("/"), None), Some(Carried::Path(PathBuf::from("/"))));
        let other = Path::new("/proc");
        assert_eq!(carries(other, None), None);
        let store = Path::new("/proc/no/such/store");
        assert_eq!(carries(other, Some(store)), Some(Carried::Path(PathBuf::from("/proc"))));
    }
}
