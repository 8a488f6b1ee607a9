//! Names and numbers of the files, in assay's own directory and in other directories.

use assay_device::owned::{Directory, is_temporary};

use super::format::FILE_BYTES;
use super::state::STATE;

/// Name of the directory in the target that holds the files; `f3read` accepts it.
pub const DIRECTORY: &str = ".assay-verify";
pub(crate) const LOCK: &str = "lock";
/// Highest number of a file: beyond it, the byte offset of the file overflows.
const MOST_FILES: u64 = u64::MAX / FILE_BYTES / 2;
/// Most names of foreign files that are listed.
const MOST_NAMES: usize = 10_000;

/// Name of a file of the full check.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number}.h2w")
}

/// Name of a file of the quick check.
pub(crate) fn spread_name(number: usize) -> String {
    format!("{number}.quick")
}

/// The number in the name of a file of the full check.
pub(crate) fn file_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".h2w")?;
    digits.parse().ok().filter(|number: &u64| (1..=MOST_FILES).contains(number) && number.to_string() == digits)
}

pub(crate) fn is_spread(name: &str) -> bool {
    name.strip_suffix(".quick").is_some_and(|digits| digits.parse().is_ok_and(|n: usize| n.to_string() == digits))
}

/// Whether assay uses this name in its own directory.
pub(crate) fn is_ours(name: &str) -> bool {
    [LOCK, STATE].contains(&name) || is_temporary(name) || file_number(name).is_some() || is_spread(name)
}

/// Numbers and sizes of the files `N.h2w` of a directory, from any tool, in order. Sizes are limited to that of the
/// format.
pub(crate) fn numbered(directory: &Directory) -> Vec<(u64, u64)> {
    let mut files: Vec<(u64, u64)> = Vec::new();
    // Files that cannot be listed count as absent.
    let _ = directory.names(u64::MAX, &mut |name| {
        if let Some(number) = name.to_str().and_then(file_number)
            && let Some(bytes) = directory.file_bytes(name)
        {
            files.push((number, bytes.min(FILE_BYTES)));
        }
    });
    files.sort_unstable();
    files
}

/// Names of `*.h2w` that lie in a directory, in order.
pub(crate) fn h2w_names(directory: &Directory) -> Vec<String> {
    let mut names = Vec::new();
    let _ = directory.names(u64::MAX, &mut |name| {
        if names.len() < MOST_NAMES {
            names.extend(Some(name.to_string_lossy().into_owned()).filter(|name| name.ends_with(".h2w")));
        }
    });
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a link, and a sparse file of a tebibyte.
    #[cfg(not(windows))]
    #[test]
    fn only_names_of_the_format_are_read() {
        let target = tempfile::tempdir().unwrap();
        let names = ["2.h2w", "10.h2w", "01.h2w", "0.h2w", "x.h2w", "1.h2w.bak", "18446744073709551615.h2w"];
        for name in names {
            std::fs::write(target.path().join(name), b"x").unwrap();
        }
        std::os::unix::fs::symlink("/dev/zero", target.path().join("3.h2w")).unwrap();
        // Sparse, and longer than any file of the format.
        std::fs::File::create(target.path().join("4.h2w")).unwrap().set_len(1 << 40).unwrap();
        let directory = Directory::open(target.path()).unwrap();
        assert_eq!(numbered(&directory), [(2, 1), (4, FILE_BYTES), (10, 1)]);
        assert_eq!(h2w_names(&directory).len(), 8);
    }

    #[test]
    fn names_that_assay_gives_are_known() {
        for name in ["lock", "state.json", "new-0123456789abcdef", "1.h2w", "0.quick", "1024.quick"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["Lock", "state.json\n", "00.quick", "0.h2w", "-1.h2w", "1.h2w ", "holiday.jpg", "new-", ""] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
