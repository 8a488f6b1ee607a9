//! The trees of the kernel: the directory below which they are read, and their small files.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::system;

/// The directory that contains `/sys`, `/proc` and `/dev`.
#[derive(Debug, Clone)]
pub struct Sysroot {
    root: PathBuf,
}

impl Default for Sysroot {
    fn default() -> Self {
        Self::real()
    }
}

impl Sysroot {
    /// This machine.
    #[must_use]
    pub fn real() -> Self {
        Self { root: PathBuf::from(system::ROOT) }
    }

    /// A tree with a kernel's layout, below `root`.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        // Canonical, because real paths from resolved links are compared with it.
        Self { root: std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf()) }
    }

    /// Whether this is the machine itself.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.root == Path::new(system::ROOT)
    }

    /// `path` below the root.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

// Reads small kernel files; unreadable ones count as absent, never as an error.

/// Attributes of sysfs are at most one page; `/proc` tables of large machines are longer.
const LIMIT: u64 = 1 << 20;

/// The bytes of a file, up to 1 MiB.
pub(crate) fn bytes(path: &Path) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path).ok()?.take(LIMIT).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The text of a file without surrounding white space and NULs; `None` if there is none.
pub(crate) fn text(path: &Path) -> Option<String> {
    let content = bytes(path)?;
    let text = String::from_utf8_lossy(&content);
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// A decimal number in a file.
pub(crate) fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// Whether a file holds 1.
pub(crate) fn flag(path: &Path) -> bool {
    text(path).as_deref() == Some("1")
}

/// The names in a directory, sorted so that results do not depend on directory order.
pub(crate) fn entries(path: &Path) -> Vec<String> {
    let Ok(dir) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> =
        dir.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_by_key(|name| natural(name));
    names
}

/// Sorts `sda10` after `sda9`: text and number are separated.
fn natural(name: &str) -> (String, u64, String) {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (head, tail) = name.split_at(name.len() - digits);
    (head.to_owned(), tail.parse().unwrap_or(0), name.to_owned())
}

/// The last component of a link's target: a driver's or subsystem's name.
pub(crate) fn link_name(path: &Path) -> Option<String> {
    file_name(&fs::read_link(path).ok()?)
}

/// The last component of a path as text.
pub(crate) fn file_name(path: &Path) -> Option<String> {
    path.file_name().and_then(|name| name.to_str()).map(str::to_owned)
}

/// `path` with all links resolved.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Device numbers of a file: of the device that it is a node of, and of the device that it lies on.
pub(crate) struct Stat {
    /// Major and minor of a block device's node.
    pub(crate) of_block_device: Option<(u32, u32)>,
    /// Major and minor of the file system's device.
    pub(crate) device: (u32, u32),
    /// The inode.
    pub(crate) inode: u64,
}

impl Stat {
    /// The identity of the file.
    pub(crate) fn id(&self) -> FileId {
        FileId { device: self.device, inode: self.inode }
    }
}

/// The identity of a file on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    /// Major and minor of the file system's device.
    pub(crate) device: (u32, u32),
    /// The inode.
    pub(crate) inode: u64,
}

/// Parses the `M:m` of a `dev` file.
pub(crate) fn device_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_people_count() {
        let mut names = vec!["sda10".to_owned(), "sda9".to_owned(), "sda".to_owned()];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["sda", "sda9", "sda10"]);
    }

    #[test]
    fn a_missing_or_empty_file_is_absent() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(text(&dir.path().join("none")), None);
        std::fs::write(dir.path().join("empty"), "\n").unwrap();
        assert_eq!(text(&dir.path().join("empty")), None);
    }
}
