//! Uses of a device.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assay_core::medium::MediumKind;
use assay_core::text::harmless;

use crate::block::Node;
use crate::error::shown;
use crate::files::{self, FileId, Sysroot};
use crate::look::{Seen, TargetInfo, What, look_by_dev};
use crate::mounts::{self, Mount};
use crate::storage::{Backing, Devices, UnknownBacking, Whole};
use crate::system;

/// One use of a device or of something on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPoint {
    /// Kernel name of the used device.
    pub device: String,
    /// `mounted on /boot`, `swap`, `held by dm-0`, `backs loop3`, `btrfs member`.
    pub place: String,
    /// Whether it is another name of the same storage: a second loop device over one file, or a second path to one
    /// disk.
    pub alias: bool,
}

/// Every use of `device` (kernel name): of the device itself, of its partitions, of the disk that it is a partition of,
/// of other devices for the same storage, and of everything stacked on these. Empty if it is free as far as this
/// process can see; [`super::check_raw`] also asks the kernel.
#[must_use]
pub fn mounted_on(sysroot: &Sysroot, device: &str) -> Vec<MountPoint> {
    Node::by_name(sysroot, device).map_or_else(Vec::new, |node| Reach::from_node(sysroot, &node).uses(sysroot))
}

/// Every use of other parts of the disks below `device` (kernel name): other partitions, other logical volumes. Writes
/// to a fake may land there.
#[must_use]
pub fn mounted_beside(sysroot: &Sysroot, device: &str) -> Vec<MountPoint> {
    Node::by_name(sysroot, device).map_or_else(Vec::new, |node| Reach::of_disks(sysroot, &node).uses(sysroot))
}

/// Devices that share the data of the given device, or lie on the same disks.
#[derive(Default)]
pub(in crate::guard) struct Reach {
    nodes: Vec<Reached>,
    uses: Vec<MountPoint>,
    /// The device and what it is built on, which does not use it.
    own: BTreeSet<String>,
    /// Devices with other numbers that must be free as well.
    others: Vec<Node>,
    /// Files behind loop devices, with these devices.
    files: Vec<(Node, FileId)>,
    /// Loop devices with an unknown backing file or device, and the reason of each.
    unknown: Vec<(Node, UnknownBacking)>,
}

/// A loop device that may have the data of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::guard) struct UnknownLoop {
    /// Its kernel name.
    pub(in crate::guard) name: String,
    /// Why it is unknown what is behind it.
    pub(in crate::guard) why: String,
    /// Whether it is the device itself, or below it.
    pub(in crate::guard) is_own: bool,
    /// Whether this user may not ask what is behind it.
    pub(in crate::guard) is_refused: bool,
}

struct Reached {
    node: Node,
    alias: bool,
}

impl Reach {
    /// Everything with the data of the device.
    pub(in crate::guard) fn from_node(sysroot: &Sysroot, node: &Node) -> Self {
        let devices = Devices::read(sysroot);
        let beneath = devices.beneath(sysroot, node);
        let mut reach = Self::new(&devices, &beneath);
        let mut walk = Walk { sysroot, devices: &devices, reach: &mut reach };
        walk.data(node, false);
        walk.twins(node);
        for lower in &beneath {
            if let Some(Backing::Device(number)) = devices.whole(lower).and_then(|whole| whole.backing.as_ref())
                && let Some(behind) = Node::by_number(sysroot, *number)
            {
                walk.data(&behind, true);
                walk.reach.others.push(behind.clone());
                walk.twins(&behind);
            }
            // Other parts on a member of an array are separate, but another path to the member is not.
            lower.slaves(sysroot).iter().for_each(|member| walk.twins(member));
        }
        reach
    }

    /// Everything on the disks below the device.
    pub(in crate::guard) fn of_disks(sysroot: &Sysroot, node: &Node) -> Self {
        let devices = Devices::read(sysroot);
        let beneath = devices.beneath(sysroot, node);
        let mut reach = Self::new(&devices, &beneath);
        let mut walk = Walk { sysroot, devices: &devices, reach: &mut reach };
        for disk in beneath.iter().filter(|node| devices.below(sysroot, node).is_empty()) {
            walk.spread(disk, true, false);
            walk.twins(disk);
        }
        let parts = reach.nodes.iter().map(|reached| &reached.node).filter(|node| node.is_partition());
        let parts: Vec<Node> = parts.filter(|node| !reach.own.contains(&node.name)).cloned().collect();
        reach.others.extend(parts);
        reach.nodes.retain(|reached| !reach.own.contains(&reached.node.name));
        reach
    }

    fn new(devices: &Devices, beneath: &[Node]) -> Self {
        let unknown = devices.iter().filter_map(|whole| Some((whole.node.clone(), whole.unknown.clone()?))).collect();
        Self { own: beneath.iter().map(|node| node.name.clone()).collect(), unknown, ..Self::default() }
    }

    /// A loop device that may have the data: what is behind it is unknown, and nothing shows that it is something else.
    pub(in crate::guard) fn unknown(&self) -> Option<UnknownLoop> {
        let unknown = |(node, unknown): &(Node, UnknownBacking)| {
            let is_own = self.own.contains(&node.name);
            let may_have = is_own || !unknown.is_cut_off || self.may_back(node);
            may_have.then(|| UnknownLoop {
                name: node.name.clone(),
                why: unknown.why.clone(),
                is_refused: unknown.is_refused,
                is_own,
            })
        };
        self.unknown.iter().find_map(unknown)
    }

    /// Whether one of these devices may be behind a loop device whose file system is cut off. A file on such a file
    /// system is on no disk of this machine, and cannot be reached. What it showed may have been a device node, though:
    /// then the loop device is as large as the device, less its offset (drivers/block/loop.c, `get_size`).
    fn may_back(&self, looped: &Node) -> bool {
        let number = |name: &str| files::number(&looped.dir.join("loop").join(name));
        let (Some(bytes), Some(offset), Some(0)) = (looped.size_bytes(), number("offset"), number("sizelimit")) else {
            return true;
        };
        self.find(|node| node.size_bytes().is_none_or(|own| own == bytes.saturating_add(offset))).is_some()
    }

    /// Device numbers of all these devices.
    pub(in crate::guard) fn numbers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.nodes.iter().filter_map(|reached| reached.node.number())
    }

    /// Files that have the data.
    pub(in crate::guard) fn files(&self) -> Vec<FileId> {
        self.files.iter().map(|(_, file)| *file).collect()
    }

    /// Devices with other numbers that must be free as well.
    pub(in crate::guard) fn others(&self) -> &[Node] {
        &self.others
    }

    /// Every use of these devices.
    pub(in crate::guard) fn uses(&self, sysroot: &Sysroot) -> Vec<MountPoint> {
        let mut uses = self.uses.clone();
        for mount in mounts::read_everywhere(sysroot) {
            let by_number = self.find(|node| mount.dev.0 != 0 && node.number() == Some(mount.dev));
            let by_source = || {
                let source = Node::by_source(sysroot, &mount.source).filter(|_| mount.dev.0 == 0)?;
                self.find(|node| node.name == source.name)
            };
            if let Some(reached) = by_number.or_else(by_source) {
                uses.push(reached.used(format!("mounted on {}", shown(&mount.point))));
            }
        }
        let (devices, swap_files): (Vec<_>, Vec<_>) =
            mounts::read_swaps(sysroot).into_iter().partition(|swap| swap.is_device);
        for swap in swap_files {
            let stat = system::stat(&sysroot.path(&swap.path));
            let has = |(_, file): &&(Node, FileId)| stat.as_ref().is_some_and(|stat| *file == stat.id());
            if let Some((node, _)) = self.files.iter().find(has) {
                let place = format!("its file is swapped to, {}", shown(Path::new(&swap.path)));
                uses.push(MountPoint { device: harmless(&node.name), place, alias: false });
            }
        }
        for swap in devices {
            if let Some(source) = Node::by_source(sysroot, &swap.path)
                && let Some(reached) = self.find(|node| node.name == source.name)
            {
                uses.push(reached.used("swap".to_owned()));
            }
        }
        // Members of a mounted btrfs of several devices are in no mount table.
        let btrfs = sysroot.path("/sys/fs/btrfs");
        for uuid in files::entries(&btrfs) {
            let members: BTreeSet<String> = files::entries(&btrfs.join(uuid).join("devices")).into_iter().collect();
            for reached in self.nodes.iter().filter(|reached| members.contains(&reached.node.name)) {
                uses.push(reached.used("member of a btrfs in use".to_owned()));
            }
        }
        let mut unique: Vec<MountPoint> = Vec::new();
        for one in uses {
            if !unique.contains(&one) {
                unique.push(one);
            }
        }
        unique
    }

    fn find(&self, wanted: impl Fn(&Node) -> bool) -> Option<&Reached> {
        self.nodes.iter().find(|reached| wanted(&reached.node))
    }
}

impl Reached {
    fn used(&self, place: String) -> MountPoint {
        MountPoint { device: harmless(&self.node.name), place, alias: self.alias }
    }
}

/// Visits related devices, from one to the next.
struct Walk<'a> {
    sysroot: &'a Sysroot,
    devices: &'a Devices,
    reach: &'a mut Reach,
}

impl Walk<'_> {
    /// The device and everything on it. For a partition also the disk itself and partitions that overlap, but not the
    /// other partitions: they are separate.
    fn data(&mut self, node: &Node, alias: bool) {
        self.spread(node, true, alias);
        if node.is_partition() {
            let whole = node.whole();
            self.spread(&whole, false, alias);
            let extent = extent(node);
            for part in whole.partitions().iter().filter(|part| extent.is_some() && overlap(extent, self::extent(part)))
            {
                self.spread(part, true, alias);
            }
        }
        let files = self.devices.whole(node).map(Whole::files).unwrap_or_default();
        self.reach.files.extend(files.into_iter().map(|file| (node.clone(), file)));
    }

    /// Other names of a device's storage; for a partition the same part of the other disk.
    fn twins(&mut self, node: &Node) {
        let twins = self.devices.twins(node).filter(|twin| !self.reach.own.contains(&twin.name));
        for twin in twins.cloned().collect::<Vec<_>>() {
            let parts: Vec<Node> = match node.is_partition() {
                true => twin.partitions().into_iter().filter(|part| same_part(node, part)).collect(),
                false => Vec::new(),
            };
            self.spread(&twin, !node.is_partition(), true);
            parts.iter().for_each(|part| self.spread(part, true, true));
            self.reach.others.extend(if parts.is_empty() { vec![twin] } else { parts });
        }
    }

    fn spread(&mut self, node: &Node, with_partitions: bool, alias: bool) {
        if self.reach.nodes.iter().any(|known| known.node.name == node.name) {
            return;
        }
        let reached = Reached { node: node.clone(), alias };
        let mut above = Vec::new();
        for holder in node.holders(self.sysroot) {
            above.push((reached.used(format!("held by {}", harmless(&holder.name))), holder));
        }
        for holder in self.loops_over(node) {
            above.push((reached.used(format!("backs {}", harmless(&holder.name))), holder));
        }
        self.reach.nodes.push(reached);
        for (used, holder) in above {
            if !self.reach.own.contains(&holder.name) {
                self.reach.uses.push(used);
            }
            self.spread(&holder, true, alias);
        }
        if with_partitions {
            for part in node.partitions() {
                self.spread(&part, true, alias);
            }
        }
    }

    /// Loop devices over the device, under any of its names, or over a file of a file system on it. They are not
    /// holders in sysfs.
    fn loops_over(&self, node: &Node) -> Vec<Node> {
        let Some(own) = node.number() else { return Vec::new() };
        let over = |backing: &Backing| match backing {
            Backing::Device(number) => *number == own,
            Backing::File { device, .. } => *device == own,
        };
        self.devices
            .iter()
            .filter(|whole| whole.backing.as_ref().is_some_and(over))
            .map(|whole| whole.node.clone())
            .collect()
    }
}

/// First sector of a partition and the first one behind it; `None` if sysfs does not tell.
fn extent(part: &Node) -> Option<(u64, u64)> {
    let start = files::number(&part.dir.join("start"))?;
    Some((start, start.saturating_add(files::number(&part.dir.join("size"))?)))
}

fn overlap(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.0 < other.1 && other.0 < one.1)
}

/// Whether a partition on another path holds data of `node`: by its sectors if known, otherwise by its number.
fn same_part(node: &Node, part: &Node) -> bool {
    let (one, other) = (extent(node), extent(part));
    let number = |node: &Node| files::number(&node.dir.join("partition"));
    if one.is_some() && other.is_some() { overlap(one, other) } else { number(node) == number(part) }
}

// The media of this machine that can be measured or checked: mounted ones, and whole disks that nothing uses.

/// A medium, and how to name it on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyedMedium {
    /// Its mount point, or the device where nothing of it is mounted.
    pub path: PathBuf,
    /// What it is.
    pub target: TargetInfo,
}

/// File systems that cannot be written, whatever the mount says.
const IMAGES: [&str; 5] = ["squashfs", "erofs", "iso9660", "udf", "cramfs"];

/// The media of this machine. Mounted ones come first: the largest mounted part of each disk, and file systems of the
/// network. Whole disks follow that have a size, can be written and are not used as far as this process can see.
/// Memory is left out. Empty on Windows, where only a path leads to a medium.
#[must_use]
pub fn survey(sysroot: &Sysroot) -> Vec<SurveyedMedium> {
    let mut found: Vec<(u64, SurveyedMedium)> = Vec::new();
    for mount in mounts::read_mounts(sysroot) {
        let Some((bytes, medium)) = mounted(sysroot, &mount) else { continue };
        match found.iter_mut().find(|(_, known)| is_same(&known.target, &medium.target)) {
            // Of equally large mounts the first is no bind mount of a directory within.
            Some(known) if known.0 < bytes => *known = (bytes, medium),
            Some(_) => {}
            None => found.push((bytes, medium)),
        }
    }
    let mut all: Vec<SurveyedMedium> = found.into_iter().map(|(_, medium)| medium).collect();
    let disks = files::entries(&sysroot.path("/sys/block"));
    let bare: Vec<SurveyedMedium> = disks.iter().filter_map(|name| unused(sysroot, name)).collect();
    all.extend(bare);
    all
}

/// A mounted medium with the size of the device that is mounted, where it can be measured.
fn mounted(sysroot: &Sysroot, mount: &Mount) -> Option<(u64, SurveyedMedium)> {
    if IMAGES.contains(&mount.fstype.as_str()) || mount.read_only() {
        return None;
    }
    // Containers mount single files.
    if sysroot.is_real() && !mount.point.is_dir() {
        return None;
    }
    let target = look_by_dev(sysroot, &mount.point, Seen { what: What::Directory, dev: mount.dev });
    let is_there = !target.devices.is_empty() || target.medium.is_remote();
    if !is_there || target.is_memory {
        return None;
    }
    let bytes = Node::by_number(sysroot, mount.dev).and_then(|node| node.size_bytes()).unwrap_or(0);
    Some((bytes, SurveyedMedium { path: mount.point.clone(), target }))
}

/// Whether both lie on the same disks, or are the same volume of the network.
fn is_same(a: &TargetInfo, b: &TargetInfo) -> bool {
    if a.devices.is_empty() { a.medium.model == b.medium.model && b.devices.is_empty() } else { a.devices == b.devices }
}

/// A whole disk that nothing uses.
fn unused(sysroot: &Sysroot, name: &str) -> Option<SurveyedMedium> {
    let node = Node::by_name(sysroot, name)?;
    let holds_nothing = node.size_bytes().unwrap_or(0) == 0 || node.read_only();
    if holds_nothing || !mounted_on(sysroot, name).is_empty() {
        return None;
    }
    let path = PathBuf::from(node.dev_path());
    let target = look_by_dev(sysroot, &path, Seen { what: What::BlockDevice, dev: node.number()? });
    let hidden = target.is_memory || matches!(target.medium.kind, MediumKind::Zram | MediumKind::Ramdisk);
    (!hidden).then_some(SurveyedMedium { path, target })
}
