//! Linux.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) use crate::unix::*;

/// Whether `assay fleet` measures nodes from here.
pub(crate) const MEASURES_NODES: bool = true;

/// The device of a path, the disk that it is a part of, and the parts of that.
pub(crate) fn devices_under(target: &Path) -> Vec<PathBuf> {
    let Ok(meta) = std::fs::metadata(target) else { return Vec::new() };
    let number = if meta.rdev() != 0 { meta.rdev() } else { meta.dev() };
    let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let Ok(node) = std::fs::canonicalize(Path::new("/sys/dev/block").join(number)) else { return Vec::new() };
    let whole = match node.parent() {
        Some(parent) if node.join("partition").exists() => parent.to_owned(),
        _ => node.clone(),
    };
    let parts = std::fs::read_dir(&whole).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut nodes = vec![node, whole.clone()];
    nodes.extend(parts.filter(|path| path.join("partition").exists()));
    let mut devices: Vec<PathBuf> =
        nodes.iter().filter_map(|node| Some(Path::new("/dev").join(node.file_name()?))).collect();
    let mut seen = std::collections::BTreeSet::new();
    devices.retain(|device| seen.insert(device.clone()));
    devices
}
