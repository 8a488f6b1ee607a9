//! The directory below which the kernel's trees are read.

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
