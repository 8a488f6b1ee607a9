//! From a path to the medium under it, and what came of that.

use std::fs;
use std::fs::Metadata;
use std::path::Path;

use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::text::{harmless, label};

use super::{block, files};
use crate::block::{Node, Stack};
use crate::error::{DeviceError, shown};
use crate::files::Sysroot;
use crate::medium::{bus_towards, describe};
use crate::mounts::{self, Mount};
use crate::system;

/// Result of `stat` for a path; tests on a tree make it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// What it is.
    pub what: What,
    /// `st_dev` of a directory or file, `st_rdev` of a block device, as major and minor.
    pub dev: (u32, u32),
}

impl Seen {
    /// Queries the running system.
    pub(crate) fn at(path: &Path) -> Result<Self, DeviceError> {
        system::seen(path)
    }
}

/// What is under `path`: for a directory or file through its mount, for a block device the device itself.
///
/// # Errors
/// Where the path does not exist, may not be inspected, or is neither of these.
pub fn look(sysroot: &Sysroot, path: &Path) -> Result<TargetInfo, DeviceError> {
    system::refuse(path)?;
    let real = fs::canonicalize(path).map_err(|error| DeviceError::from_io(path, error))?;
    let seen = Seen::at(&real)?;
    let mut target = look_by_dev(sysroot, &real, seen);
    target.medium.path = shown(path);
    Ok(target)
}

/// Like [`look`], for a path without links and with the `stat` result `seen`.
#[must_use]
pub fn look_by_dev(sysroot: &Sysroot, path: &Path, seen: Seen) -> TargetInfo {
    if sysroot.is_real()
        && let Some(target) = system::target(path, seen)
    {
        return target;
    }
    if seen.what == What::BlockDevice {
        let mut target = bare(path, seen.what);
        target.raw = true;
        match Node::by_number(sysroot, seen.dev) {
            Some(node) => fill(sysroot, &mut target, std::slice::from_ref(&node)),
            None => target.medium.device = Some(shown(path)),
        }
        return target;
    }
    let mounts = mounts::read_mounts(sysroot);
    let mount = mounts::holding(&mounts, path, Some(seen.dev));
    let mut target = bare(path, seen.what);
    let Some(mount) = mount else {
        if let Some(node) = Node::by_number(sysroot, seen.dev) {
            fill(sysroot, &mut target, std::slice::from_ref(&node));
        }
        return target;
    };
    target.medium.filesystem = label(&mount.fstype, 64);
    target.medium.mount_options = mount.options.iter().map(|option| harmless(option)).collect();
    target.medium.mount_point = Some(shown(&mount.point));
    target.read_only = mount.read_only();
    let nodes = nodes_of(sysroot, mount);
    if nodes.is_empty() {
        without_device(sysroot, &mut target, mount);
    } else {
        fill(sysroot, &mut target, &nodes);
    }
    target
}

pub(crate) fn bare(path: &Path, what: What) -> TargetInfo {
    TargetInfo {
        medium: Medium::unknown(&shown(path)),
        devices: Vec::new(),
        leaves: Vec::new(),
        logical_block_bytes: None,
        removable: false,
        read_only: false,
        is_memory: false,
        raw: false,
        what,
    }
}

/// The block devices below a mount. Major 0 is no device: btrfs and others use numbers of their own, and their source
/// names the device.
fn nodes_of(sysroot: &Sysroot, mount: &Mount) -> Vec<Node> {
    if mount.dev.0 != 0 {
        return Node::by_number(sysroot, mount.dev).into_iter().collect();
    }
    if kind_without_device(&mount.fstype).is_some() {
        return Vec::new();
    }
    let Some(node) = Node::by_source(sysroot, &mount.source) else { return Vec::new() };
    if mount.fstype == "btrfs" { btrfs_devices(sysroot, node) } else { vec![node] }
}

/// All devices of the btrfs that `node` belongs to (kernel Documentation/ABI: /sys/fs/btrfs/UUID/devices).
pub(crate) fn btrfs_devices(sysroot: &Sysroot, node: Node) -> Vec<Node> {
    let class = sysroot.path("/sys/fs/btrfs");
    for uuid in files::entries(&class) {
        let names = files::entries(&class.join(uuid).join("devices"));
        if names.contains(&node.name) {
            let mut all: Vec<Node> = names.iter().filter_map(|name| Node::by_name(sysroot, name)).collect();
            all.sort_by_key(|other| other.name != node.name); // the mounted one first
            return all;
        }
    }
    vec![node]
}

fn kind_without_device(fstype: &str) -> Option<MediumKind> {
    match fstype {
        "nfs" | "nfs4" => Some(MediumKind::Nfs),
        "fuse" => Some(MediumKind::Fuse),
        other if other.starts_with("fuse.") => Some(MediumKind::Fuse),
        "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" => Some(MediumKind::Tmpfs),
        "overlay" | "overlayfs" | "aufs" => Some(MediumKind::Overlay),
        _ => None,
    }
}

/// NFS, FUSE, tmpfs, overlay and everything else without a block device.
fn without_device(sysroot: &Sysroot, target: &mut TargetInfo, mount: &Mount) {
    let kind = kind_without_device(&mount.fstype).unwrap_or(MediumKind::Unknown);
    target.medium.kind = kind;
    target.is_memory = kind.is_memory();
    let network = matches!(mount.fstype.as_str(), "cifs" | "smb3" | "ceph" | "afs");
    match kind {
        MediumKind::Tmpfs | MediumKind::Overlay => {}
        // The source is the export, the program or the pool, which is the closest to a model.
        _ => target.medium.model = label(&mount.source, 223),
    }
    if kind == MediumKind::Nfs || network {
        let server = mount.option("addr").and_then(|text| text.parse().ok());
        target.medium.bus = bus_towards(sysroot, server, &mount.fstype);
    }
}

/// Fills in what the block devices report. The first is the one that was mounted or named.
fn fill(sysroot: &Sysroot, target: &mut TargetInfo, nodes: &[Node]) {
    let Some(top) = nodes.first() else { return };
    let mut stack = Stack::default();
    for node in nodes {
        let below = Stack::below(sysroot, node);
        for seen in below.nodes {
            if !stack.nodes.contains(&seen) {
                stack.nodes.push(seen);
            }
        }
        for leaf in below.leaves {
            if !stack.leaves.iter().any(|known| known.name == leaf.name) {
                stack.leaves.push(leaf);
            }
        }
        stack.array = stack.array.or(below.array);
    }
    if nodes.len() > 1 {
        stack.array = None; // several arrays in one file system: the disks themselves count
    }
    let medium = &mut target.medium;
    medium.device = Some(harmless(&top.dev_path()));
    medium.stack = stack.nodes;
    for node in &mut medium.stack {
        node.name = harmless(&node.name);
    }
    let facts: Vec<Medium> = stack.leaves.iter().map(|leaf| describe(sysroot, leaf)).collect();
    let one = is_multipath(stack.array.as_ref());
    let facts = if one { facts.into_iter().take(1).collect() } else { facts };
    target.leaves = stack.leaves.iter().map(|leaf| leaf.name.clone()).collect();
    target.devices = match &stack.array {
        Some(array) => vec![array.name.clone()],
        None => target.leaves.clone(),
    };
    medium.capacity_bytes = match (&stack.array, stack.leaves.as_slice()) {
        (Some(array), _) => array.size_bytes(),
        (None, leaves) => leaves.iter().map(Node::size_bytes).sum(),
    };
    medium.attached = attached(sysroot, &stack.leaves);
    medium.capacity_bytes = medium.capacity_bytes.filter(|bytes| *bytes > 0);
    apply(medium, facts);
    if let Some(first) = stack.array.as_ref().or(stack.leaves.first()) {
        let own = std::mem::take(&mut medium.queue);
        medium.queue = block::queue_settings(first);
        medium.queue.extend(own);
    }
    let block = top.whole().dir.join("queue/logical_block_size");
    target.logical_block_bytes = files::number(&block).and_then(|bytes| u32::try_from(bytes).ok());
    target.removable = stack.leaves.iter().any(|leaf| files::flag(&leaf.dir.join("removable")))
        || matches!(medium.kind, MediumKind::UsbStick | MediumKind::UsbDisk | MediumKind::Sd);
    target.read_only |= top.read_only() || stack.leaves.iter().any(Node::read_only);
    target.is_memory = medium.kind.is_memory();
}

/// See [`Medium::attached`].
fn attached(sysroot: &Sysroot, disks: &[Node]) -> Option<String> {
    let boot = files::text(&sysroot.path("/proc/sys/kernel/random/boot_id"))?;
    let numbers: Option<Vec<String>> = disks.iter().map(|disk| Some(disk.sequence()?.to_string())).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    label(&format!("{boot}:{}", numbers.join("+")), 223)
}

/// dm-multipath joins several ways to one disk (`dm/uuid` begins with `mpath-`).
fn is_multipath(array: Option<&Node>) -> bool {
    array.and_then(|node| files::text(&node.dir.join("dm/uuid"))).is_some_and(|uuid| uuid.starts_with("mpath-"))
}

/// A single disk is described by itself, wherever the path lies on it. Of several disks the names are joined. Nothing
/// else is known of all of them, and the ceiling of the whole does not follow from those of the parts.
fn apply(medium: &mut Medium, mut disks: Vec<Medium>) {
    if disks.is_empty() {
        return;
    }
    let first = disks.remove(0);
    let said = if disks.is_empty() { first } else { together(first, &disks) };
    let place = std::mem::take(medium);
    *medium = Medium {
        attached: place.attached,
        capacity_bytes: place.capacity_bytes,
        filesystem: place.filesystem,
        mount_options: place.mount_options,
        mount_point: place.mount_point,
        path: place.path,
        device: place.device,
        stack: place.stack,
        ..said
    };
}

fn together(first: Medium, rest: &[Medium]) -> Medium {
    let count = rest.len() + 1;
    let model = if rest.iter().all(|other| other.model == first.model) {
        first.model.map(|model| format!("{count} x {model}"))
    } else {
        joined(std::iter::once(&first.model).chain(rest.iter().map(|other| &other.model)))
    };
    let same = rest.iter().all(|other| other.kind == first.kind);
    Medium {
        kind: if same { first.kind } else { MediumKind::Unknown },
        vendor: first.vendor.filter(|vendor| rest.iter().all(|other| other.vendor.as_ref() == Some(vendor))),
        model,
        unit: joined(std::iter::once(&first.unit).chain(rest.iter().map(|other| &other.unit))),
        bus: first.bus.map(|bus| Bus {
            source: format!("{count} disks, the first by {}; the ceiling of all together is not known", bus.source),
            ceiling_bytes_per_second: None,
            reachable_bytes_per_second: None,
            ..bus
        }),
        queue: first.queue,
        ..Medium::default()
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a Option<String>>) -> Option<String> {
    let parts: Option<Vec<&str>> = parts.map(Option::as_deref).collect();
    parts.map(|parts| parts.join(" + "))
}

// The result of examining a path.

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A block device.
    BlockDevice,
}

impl What {
    /// A directory or a file with this path, for all systems.
    pub(crate) fn from_metadata(path: &Path, meta: &Metadata) -> Result<Self, DeviceError> {
        match () {
            () if meta.is_dir() => Ok(Self::Directory),
            () if meta.is_file() => Ok(Self::File),
            () => Err(DeviceError::NotMeasurable { path: shown(path) }),
        }
    }
}

/// What is under a path, and facts about it that a runner needs.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetInfo {
    /// The medium as the record keeps it.
    pub medium: Medium,
    /// Kernel names of the whole devices whose counters prove a measurement: the disk, or the array if several disks
    /// are joined (a mirror's disks would count each write twice). Empty if no block device is visible.
    pub devices: Vec<String>,
    /// Kernel names of the disks at the bottom.
    pub leaves: Vec<String>,
    /// Smallest unit that the device addresses.
    pub logical_block_bytes: Option<u32>,
    /// Whether the medium is removable.
    pub removable: bool,
    /// Whether the mount or the device refuses writes.
    pub read_only: bool,
    /// Whether the medium is the host's own memory.
    pub is_memory: bool,
    /// Whether the path is the device itself.
    pub raw: bool,
    /// What the path is.
    pub what: What,
}
