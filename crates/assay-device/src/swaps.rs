//! Swap on the medium under test (proc(5), `/proc/swaps`).

use std::path::Path;

use crate::block::{Node, Stack};
use crate::files;
use crate::mounts;
use crate::sysroot::Sysroot;

/// One line of `/proc/swaps`.
pub(crate) struct Swap {
    /// Device or file.
    pub(crate) path: String,
    /// Whether it is a device.
    pub(crate) is_device: bool,
}

pub(crate) fn read(sysroot: &Sysroot) -> Vec<Swap> {
    let text = files::text(&sysroot.path("/proc/swaps")).unwrap_or_default();
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        Some(Swap { path: mounts::unescape(fields.next()?), is_device: fields.next()? == "partition" })
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// Whether the kernel swaps to one of `devices` (kernel names of whole devices), through a
/// partition, a stacked device or a file.
#[must_use]
pub fn swaps_on(sysroot: &Sysroot, devices: &[String]) -> bool {
    let mounts = mounts::read(sysroot);
    let node = |swap: &Swap| {
        if swap.is_device {
            return Node::by_source(sysroot, &swap.path);
        }
        let mount = mounts::holding(&mounts, Path::new(&swap.path), None)?;
        Node::by_number(sysroot, mount.dev).or_else(|| Node::by_source(sysroot, &mount.source))
    };
    let touches = |node: Node| Stack::below(sysroot, &node).nodes.iter().any(|seen| devices.contains(&seen.name));
    read(sysroot).iter().filter_map(node).any(touches)
}
