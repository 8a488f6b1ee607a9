//! Block devices as sysfs shows them, and how they are stacked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_core::medium::BlockNode;
use assay_core::text::label;

use crate::files::Sysroot;
use crate::{files, system};

/// Sectors of `size`, `stat` and friends are 512 bytes on every device
/// (kernel Documentation/ABI/stable/sysfs-block, `/sys/block/<disk>/size`).
pub(crate) const SECTOR: u64 = 512;

/// No real stack is deeper; a deeper one is a loop in a broken tree.
const DEEPEST: usize = 16;

/// One block device.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Kernel name.
    pub(crate) name: String,
    /// Its directory below `/sys/devices`, with links resolved.
    pub(crate) dir: PathBuf,
}

impl Node {
    pub(crate) fn by_number(sysroot: &Sysroot, (major, minor): (u32, u32)) -> Option<Self> {
        let entry = sysroot.path(&format!("/sys/dev/block/{major}:{minor}"));
        match files::real_path(&entry) {
            Some(dir) => Some(Self { name: files::file_name(&dir)?, dir }),
            None => {
                let class = sysroot.path("/sys/class/block");
                let name = files::entries(&class).into_iter().find(|name| {
                    files::text(&class.join(name).join("dev")).as_deref().and_then(files::device_number)
                        == Some((major, minor))
                })?;
                Self::by_name(sysroot, &name)
            }
        }
    }

    pub(crate) fn by_name(sysroot: &Sysroot, name: &str) -> Option<Self> {
        if name.is_empty() || name == "." || name == ".." {
            return None;
        }
        // `/dev/cciss/c0d0` is `cciss!c0d0` in sysfs.
        let name = name.replace('/', "!");
        for class in ["/sys/class/block", "/sys/block"] {
            if let Some(dir) = files::real_path(&sysroot.path(class).join(&name)) {
                return Some(Self { name, dir });
            }
        }
        None
    }

    /// The device behind a path like `/dev/mapper/root` or `/dev/disk/by-uuid/…`, or a node created elsewhere.
    pub(crate) fn by_source(sysroot: &Sysroot, source: &str) -> Option<Self> {
        let Some(short) = source.strip_prefix("/dev/") else {
            // A node may be created anywhere.
            let stat = source.starts_with('/').then(|| system::stat(&sysroot.path(source)))??;
            return Self::by_number(sysroot, stat.of_block_device?);
        };
        if let Some(node) = Self::by_name(sysroot, short) {
            return Some(node);
        }
        let linked = files::real_path(&sysroot.path(source)).and_then(|path| files::file_name(&path));
        if let Some(node) = linked.and_then(|name| Self::by_name(sysroot, &name)) {
            return Some(node);
        }
        // Nodes of /dev/mapper need not be links: the name is in dm/name.
        let mapped = short.strip_prefix("mapper/")?;
        let block = sysroot.path("/sys/block");
        let name = files::entries(&block)
            .into_iter()
            .find(|name| files::text(&block.join(name).join("dm/name")).as_deref() == Some(mapped))?;
        Self::by_name(sysroot, &name)
    }

    pub(crate) fn number(&self) -> Option<(u32, u32)> {
        files::device_number(&files::text(&self.dir.join("dev"))?)
    }

    pub(crate) fn size_bytes(&self) -> Option<u64> {
        files::number(&self.dir.join("size"))?.checked_mul(SECTOR)
    }

    /// A number that is unique since the system started, among all disks and among all media in this one (kernel
    /// Documentation/ABI/stable/sysfs-block, `diskseq`, Linux 5.15).
    pub(crate) fn sequence(&self) -> Option<u64> {
        files::number(&self.whole().dir.join("diskseq"))
    }

    pub(crate) fn read_only(&self) -> bool {
        files::flag(&self.dir.join("ro"))
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.dir.join("partition").exists()
    }

    /// The disk of a partition, or the device itself.
    pub(crate) fn whole(&self) -> Self {
        if !self.is_partition() {
            return self.clone();
        }
        match self.dir.parent().and_then(|dir| Some((files::file_name(dir)?, dir.to_path_buf()))) {
            Some((name, dir)) => Self { name, dir },
            None => self.clone(),
        }
    }

    pub(crate) fn partitions(&self) -> Vec<Self> {
        let part = |name: String| {
            let dir = self.dir.join(&name);
            dir.join("partition").exists().then_some(Self { name, dir })
        };
        files::entries(&self.dir).into_iter().filter_map(part).collect()
    }

    pub(crate) fn slaves(&self, sysroot: &Sysroot) -> Vec<Self> {
        self.linked(sysroot, "slaves")
    }

    pub(crate) fn holders(&self, sysroot: &Sysroot) -> Vec<Self> {
        self.linked(sysroot, "holders")
    }

    fn linked(&self, sysroot: &Sysroot, dir: &str) -> Vec<Self> {
        files::entries(&self.dir.join(dir)).iter().filter_map(|name| Self::by_name(sysroot, name)).collect()
    }

    /// `/dev/NAME`.
    pub(crate) fn dev_path(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    fn role(&self) -> &'static str {
        let has = |entry: &str| self.dir.join(entry).exists();
        match () {
            () if self.is_partition() => "partition",
            () if has("dm") => "dm",
            () if has("md") => "md",
            () if has("bcache") || self.name.starts_with("bcache") => "bcache",
            () if self.name.starts_with("loop") => "loop",
            () => "disk",
        }
    }

    /// The nearest directory at or above this device's that `wanted` accepts, inside of sysfs.
    pub(crate) fn ancestor(&self, sysroot: &Sysroot, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let devices = sysroot.root().join("sys/devices");
        self.dir.ancestors().take_while(|dir| dir.starts_with(&devices)).find(|dir| wanted(dir)).map(Path::to_path_buf)
    }

    /// The last path component, from this device upwards, that `wanted` accepts.
    pub(crate) fn component(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        self.dir.iter().rev().filter_map(|part| part.to_str()).find(|part| wanted(part)).map(str::to_owned)
    }
}

/// Whether `text` is `prefix` followed by a number: `ata1`, `session12`.
pub(crate) fn is_numbered(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// From a device down to the disks below it.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// Every device on the way, topmost first.
    pub(crate) nodes: Vec<BlockNode>,
    /// The disks at the bottom.
    pub(crate) leaves: Vec<Node>,
    /// The device that joins several disks into one, if there is one.
    pub(crate) array: Option<Node>,
}

impl Stack {
    pub(crate) fn below(sysroot: &Sysroot, top: &Node) -> Self {
        let mut stack = Self::default();
        stack.descend(sysroot, top, 0);
        if stack.leaves.len() < 2 {
            stack.array = None; // two partitions of one disk make no array of disks
        }
        stack
    }

    fn descend(&mut self, sysroot: &Sysroot, node: &Node, depth: usize) {
        if depth > DEEPEST || self.nodes.iter().any(|seen| seen.name == node.name) {
            return;
        }
        self.nodes.push(BlockNode { name: node.name.clone(), role: node.role().to_owned() });
        if node.is_partition() {
            return self.descend(sysroot, &node.whole(), depth + 1);
        }
        let slaves = node.slaves(sysroot);
        if slaves.is_empty() {
            return self.leaves.push(node.clone());
        }
        if slaves.len() > 1 && self.array.is_none() {
            self.array = Some(node.clone());
        }
        for slave in &slaves {
            self.descend(sysroot, slave, depth + 1);
        }
    }
}

// Settings of a block queue that change results
// (kernel Documentation/ABI/stable/sysfs-block, `/sys/block/<disk>/queue`).

/// `discard_max_bytes` is 0 where TRIM is not supported.
const PLAIN: [&str; 6] =
    ["nr_requests", "read_ahead_kb", "rotational", "write_cache", "max_sectors_kb", "discard_max_bytes"];

pub(crate) fn queue_settings(node: &Node) -> BTreeMap<String, String> {
    let dir = node.dir.join("queue");
    let mut map = BTreeMap::new();
    for name in PLAIN {
        if let Some(value) = files::text(&dir.join(name)).and_then(|text| label(&text, 64)) {
            map.insert(name.to_owned(), value);
        }
    }
    if let Some(value) = files::text(&dir.join("scheduler")).and_then(|text| label(active(&text), 64)) {
        map.insert("scheduler".to_owned(), value);
    }
    map
}

/// `none [mq-deadline] kyber`: the active one is in brackets.
fn active(text: &str) -> &str {
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(text, |(name, _)| name)
}

// The reader that a medium is in, by the place of its device in the tree of the kernel.

/// The reader of a device by its kernel name (`sdb`, `mmcblk0p1`); `None` where it has none, as a loop device.
#[must_use]
pub fn reader_of(sysroot: &Sysroot, name: &str) -> Option<String> {
    let device = std::fs::canonicalize(sysroot.path("/sys/class/block").join(name)).ok()?;
    reader_in(&device)
}

/// The part of a device's path that ends with its USB device or card slot, else with the controller before its host.
fn reader_in(device: &Path) -> Option<String> {
    let parts: Vec<&str> = device.iter().filter_map(|part| part.to_str()).collect();
    if parts.contains(&"virtual") {
        return None;
    }
    // `1-1.4:1.0` is a function of the USB device `1-1.4` before it.
    let usb = parts.iter().position(|part| {
        part.split_once(':')
            .is_some_and(|(device, _)| device.contains('-') && device.starts_with(|c: char| c.is_ascii_digit()))
    });
    let slot =
        || parts.iter().rposition(|part| part.starts_with("mmc") && part[3..].parse::<u32>().is_ok()).map(|at| at + 1);
    let host =
        || parts.iter().position(|part| part.starts_with("host") || part.starts_with("nvme") || *part == "block");
    let end = usb.or_else(slot).or_else(host)?;
    let at: Vec<&str> = parts.get(1..end)?.iter().copied().filter(|part| !matches!(*part, "sys" | "devices")).collect();
    (!at.is_empty()).then(|| at.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_active_scheduler_is_the_one_in_brackets() {
        assert_eq!(super::active("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(super::active("none"), "none");
    }

    #[test]
    fn a_reader_is_told_from_its_hub_and_its_slots_are_one() {
        let cases = [
            (
                "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1.4/1-1.4:1.0/host6/target6:0:0/6:0:0:1/block/sdc",
                Some("pci0000:00/0000:00:14.0/usb1/1-1/1-1.4"),
            ),
            (
                "/sys/devices/platform/soc/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0/mmcblk0p2",
                Some("platform/soc/fe340000.mmc/mmc_host/mmc0"),
            ),
            (
                "/sys/devices/pci0000:00/0000:00:17.0/ata2/host1/target1:0:0/1:0:0:0/block/sda",
                Some("pci0000:00/0000:00:17.0/ata2"),
            ),
            ("/sys/devices/virtual/block/loop3", None),
        ];
        for (device, reader) in cases {
            assert_eq!(reader_in(Path::new(device)).as_deref(), reader, "{device}");
        }
    }
}
