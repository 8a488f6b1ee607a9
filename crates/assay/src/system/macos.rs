//! macOS. It compiles, and was never run.

use std::path::{Path, PathBuf};

pub(crate) use crate::unix::*;

/// Nobody tried launchers, and what they start, here.
pub(crate) const MEASURES_NODES: bool = false;

/// Which disk a path lies on is not known.
pub(crate) fn devices_under(_target: &Path) -> Vec<PathBuf> {
    Vec::new()
}
