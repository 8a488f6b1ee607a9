//! Who uses a device.

use std::collections::BTreeSet;

use assay_core::text::harmless;

use crate::block::Node;
use crate::error::shown;
use crate::files;
use crate::mounts;
use crate::swaps;
use crate::sysroot::Sysroot;
use crate::system;

/// One use of a device or of something on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPoint {
    /// Kernel name of the device that is used.
    pub device: String,
    /// `mounted on /boot`, `swap`, `held by dm-0`, `backs loop3`, `btrfs member`.
    pub place: String,
}

/// Every use of `device` (kernel name): of itself, its partitions, the disk it is a partition of,
/// and of everything stacked on these. Empty where it is free, as far as this process can see;
/// [`super::check_raw`] asks the kernel too.
#[must_use]
pub fn mounted_on(sysroot: &Sysroot, device: &str) -> Vec<MountPoint> {
    let Some(node) = Node::by_name(sysroot, device) else { return Vec::new() };
    let mut reach = Reach::of(sysroot, &node);
    let mut uses = std::mem::take(&mut reach.uses);
    let numbers: Vec<_> = reach.nodes.iter().filter_map(|node| Some((node.number()?, node))).collect();
    for mount in mounts::read_everywhere(sysroot) {
        let by_number =
            numbers.iter().find(|(number, _)| mount.dev.0 != 0 && *number == mount.dev).map(|(_, node)| *node);
        let by_source = || {
            let source = Node::by_source(sysroot, &mount.source).filter(|_| mount.dev.0 == 0)?;
            reach.nodes.iter().find(|node| node.name == source.name)
        };
        if let Some(node) = by_number.or_else(by_source) {
            uses.push(use_of(node, format!("mounted on {}", shown(&mount.point))));
        }
    }
    for swap in swaps::read(sysroot).iter().filter(|swap| swap.is_device) {
        if let Some(source) = Node::by_source(sysroot, &swap.path)
            && let Some(node) = reach.nodes.iter().find(|node| node.name == source.name)
        {
            uses.push(use_of(node, "swap".to_owned()));
        }
    }
    // Members of a mounted btrfs of several devices stand in no mount table.
    let btrfs = sysroot.path("/sys/fs/btrfs");
    for uuid in files::entries(&btrfs) {
        let members: BTreeSet<String> = files::entries(&btrfs.join(uuid).join("devices")).into_iter().collect();
        for node in reach.nodes.iter().filter(|node| members.contains(&node.name)) {
            uses.push(use_of(node, "member of a btrfs in use".to_owned()));
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

fn use_of(node: &Node, place: String) -> MountPoint {
    MountPoint { device: harmless(&node.name), place }
}

/// Devices whose data are those of the device asked about.
#[derive(Default)]
struct Reach {
    nodes: Vec<Node>,
    uses: Vec<MountPoint>,
}

impl Reach {
    fn of(sysroot: &Sysroot, node: &Node) -> Self {
        let mut reach = Self::default();
        reach.spread(sysroot, node, true);
        if node.is_partition() {
            // The disk itself, but not the other partitions: they are apart.
            reach.spread(sysroot, &node.whole(), false);
        }
        reach
    }

    fn spread(&mut self, sysroot: &Sysroot, node: &Node, with_partitions: bool) {
        if self.nodes.iter().any(|known| known.name == node.name) {
            return;
        }
        self.nodes.push(node.clone());
        for holder in node.holders(sysroot) {
            self.uses.push(use_of(node, format!("held by {}", harmless(&holder.name))));
            self.spread(sysroot, &holder, true);
        }
        for holder in loops_over(sysroot, node) {
            self.uses.push(use_of(node, format!("backs {}", harmless(&holder.name))));
            self.spread(sysroot, &holder, true);
        }
        if with_partitions {
            for part in node.partitions() {
                self.spread(sysroot, &part, true);
            }
        }
    }
}

/// Numbers of the device and of all devices that share its data.
pub(in crate::guard) fn numbers_of(sysroot: &Sysroot, node: &Node) -> Vec<(u32, u32)> {
    Reach::of(sysroot, node).nodes.iter().filter_map(Node::number).collect()
}

/// Loop devices whose backing file is the device, by whatever name, or a file of a file system on
/// it; they are no holders in sysfs.
fn loops_over(sysroot: &Sysroot, node: &Node) -> Vec<Node> {
    let block = sysroot.path("/sys/block");
    let over = |name: &String| {
        let file = files::text(&block.join(name).join("loop/backing_file"));
        file.is_some_and(|file| file == node.dev_path() || lies_on(sysroot, &file, node))
    };
    let loops = files::entries(&block).into_iter().filter(|name| name.starts_with("loop")).filter(over);
    loops.filter_map(|name| Node::by_name(sysroot, &name)).collect()
}

/// Whether the file is a node of the device, or lies in a file system on it.
fn lies_on(sysroot: &Sysroot, file: &str, node: &Node) -> bool {
    let number = node.number();
    system::stat(&sysroot.path(file))
        .is_some_and(|stat| number == Some(stat.device) || (number.is_some() && number == stat.of_block_device))
}
