//! Determines whether two names lead to the same storage.
//!
//! A device number, a name and `st_dev` are each only one path to storage. A file may be behind several loop devices, a
//! disk behind several paths, and each subvolume of a btrfs has an `st_dev` of its own. [`Storage`] is the same for all
//! paths; every test for identity compares it.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use assay_core::text::harmless;

use super::files::{self, FileId};
use super::look::What;
use crate::block::Node;
use crate::error::DeviceError;
use crate::files::Sysroot;
use crate::look::{Seen, btrfs_devices};
use crate::mounts::{self, Mount};
use crate::system;

/// File systems on file systems: no real stack is deeper.
const DEEPEST: usize = 8;

/// File systems of other hosts.
const NETWORK: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "afs", "fuse.sshfs", "fuse.glusterfs"];

/// Identity of storage, independent of its names and of the paths to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Storage {
    /// A disk by its maker's identifier, as the kernel shows it: the same on each path to it.
    Unit(String),
    /// A whole device without such an identifier, by major and minor.
    Device((u32, u32)),
    /// A file, as shown by a loop device: major and minor of its file system, and the inode.
    File {
        /// Major and minor of the file system.
        device: (u32, u32),
        /// The inode.
        inode: u64,
    },
    /// A btrfs by its fsid: all of its subvolumes and devices.
    Btrfs([u8; 16]),
    /// A pool by its name: all of its datasets (ZFS).
    Pool(String),
    /// Any other file system by `st_dev`, as major and minor.
    FileSystem((u32, u32)),
}

impl Storage {
    /// The storage that the file system of `path` takes its space from; `None` if the path cannot be inspected. For an
    /// overlay that is the file system of its upper directory.
    #[must_use]
    pub fn of_file_system(sysroot: &Sysroot, path: &Path) -> Option<Self> {
        let mounts = mounts::read_mounts(sysroot);
        let mut path = files::real_path(path)?;
        for _ in 0..DEEPEST {
            let device = system::stat(&path)?.device;
            if let Some(id) = system::btrfs_id(&path) {
                return Some(Self::Btrfs(id));
            }
            let Some(mount) = mounts::holding(&mounts, &path, Some(device)) else {
                return Some(Self::FileSystem(device));
            };
            match (mount.fstype.as_str(), upper(sysroot, mount)) {
                (_, Some(upper)) => path = upper,
                ("zfs", None) => {
                    return Some(Self::Pool(mount.source.split('/').next().unwrap_or_default().to_owned()));
                }
                _ => return Some(Self::FileSystem(device)),
            }
        }
        None
    }
}

/// The directory that takes the writes of an overlay (kernel Documentation/filesystems/overlayfs.rst), if this process
/// can see it.
fn upper(sysroot: &Sysroot, mount: &Mount) -> Option<PathBuf> {
    layer_at(sysroot, (mount.fstype == "overlay").then(|| mount.option("upperdir"))??)
}

/// A directory of an overlay. A relative path cannot be resolved: its base at mount time is unknown.
fn layer_at(sysroot: &Sysroot, path: &str) -> Option<PathBuf> {
    path.starts_with('/').then(|| files::real_path(&sysroot.path(path)))?
}

/// The maker's identifier of a disk, as shown in sysfs; `None` if the disk reports none.
fn unit(dir: &Path) -> Option<String> {
    let shown = ["wwid", "device/wwid"].iter().find_map(|name| files::text(&dir.join(name)).filter(|id| is_name(id)));
    let name = shown.or_else(|| page_83(dir)).or_else(|| namespace(dir))?;
    // Drives of one model have been sold with the same identifier; their serial numbers differ. Paths to one namespace
    // share the serial number of their subsystem (NVM Express base specification, Identify Controller, SN).
    let serial = dir.join("nsid").exists().then(|| files::text(&dir.join("device/serial"))).flatten();
    Some(serial.map_or(name.clone(), |serial| format!("{name} {serial}")))
}

/// Whether an identifier is meaningful: `eui.0000000000000000` is not.
fn is_name(id: &str) -> bool {
    let value = id.split_once('.').map_or(id, |(_, value)| value);
    value.chars().any(|c| !matches!(c, '0' | '-' | ' '))
}

/// NGUID or EUI-64 of an NVMe namespace, for kernels without `wwid`.
fn namespace(dir: &Path) -> Option<String> {
    let id = ["nguid", "eui"].iter().find_map(|name| files::text(&dir.join(name)).filter(|id| is_name(id)))?;
    Some(format!("{id} {}", files::text(&dir.join("nsid"))?))
}

/// The designator of the logical unit in page 83h of its vital product data, for kernels without `wwid` (SPC, Device
/// Identification VPD page): a header of four bytes, then designators, each with a header of four bytes.
fn page_83(dir: &Path) -> Option<String> {
    /// NAA, EUI-64, SCSI name string, T10 vendor ID: the most reliable first.
    const BEST: [u8; 4] = [3, 2, 8, 1];
    let page = files::bytes(&dir.join("device/vpd_pg83"))?;
    let mut rest = page.get(4..)?;
    let mut best: Option<(usize, String)> = None;
    while let [_, kind, _, length, tail @ ..] = rest {
        let Some(designator) = tail.get(..usize::from(*length)) else { break };
        rest = &tail[usize::from(*length)..];
        let of_unit = kind & 0x30 == 0;
        let Some(rank) = BEST.iter().position(|best| *best == kind & 0x0f).filter(|_| of_unit) else { continue };
        let is_set = designator.iter().any(|byte| !matches!(byte, 0 | b'0' | b' '));
        if is_set && best.as_ref().is_none_or(|(known, _)| rank < *known) {
            let mut text = format!("{}.", kind & 0x0f);
            for byte in designator {
                let _ = write!(text, "{byte:02x}");
            }
            best = Some((rank, text));
        }
    }
    best.map(|(_, text)| text)
}

/// The backing of a loop device.
#[derive(Debug, Clone)]
pub(crate) enum Backing {
    /// A file.
    File {
        /// Major and minor of its file system.
        device: (u32, u32),
        /// Its inode.
        inode: u64,
    },
    /// A block device, by its number.
    Device((u32, u32)),
}

/// A whole device.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    pub(crate) node: Node,
    /// `None` for a device that is not an attached loop device.
    pub(crate) backing: Option<Backing>,
    /// Why the backing of an attached loop device is unknown.
    pub(crate) unknown: Option<UnknownBacking>,
    storage: Option<Storage>,
}

/// Why the backing of an attached loop device is unknown.
#[derive(Debug, Clone)]
pub(crate) struct UnknownBacking {
    /// The answer, as text.
    pub(crate) why: String,
    /// Whether this user may not ask.
    pub(crate) is_refused: bool,
    /// Whether the program or host that serves the file system of the backing file is gone: its file system answered
    /// `ENOTCONN`, which none on a disk of this machine does (FUSE: fs/fuse/dev.c, a connection that is not
    /// connected any more).
    pub(crate) is_cut_off: bool,
}

/// All whole devices of a machine, each identified once.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    all: Vec<Whole>,
}

impl Devices {
    pub(crate) fn read(sysroot: &Sysroot) -> Self {
        let names = files::entries(&sysroot.path("/sys/block"));
        let nodes = names.iter().filter_map(|name| Node::by_name(sysroot, name));
        let mounts = mounts::read_mounts(sysroot);
        Self { all: nodes.map(|node| Whole::look(sysroot, node, &mounts)).collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Whole> {
        self.all.iter()
    }

    pub(crate) fn whole(&self, node: &Node) -> Option<&Whole> {
        let name = node.whole().name;
        self.all.iter().find(|whole| whole.node.name == name)
    }

    /// Other devices with the same storage as the disk of `node`.
    pub(crate) fn twins(&self, node: &Node) -> impl Iterator<Item = &Node> {
        let own = self.whole(node);
        let storage = own.and_then(|own| own.storage.as_ref());
        let name = own.map(|own| own.node.name.as_str());
        let is_twin = move |other: &&Whole| {
            Some(other.node.name.as_str()) != name && storage.is_some() && other.storage.as_ref() == storage
        };
        self.all.iter().filter(is_twin).map(|whole| &whole.node)
    }

    /// The device and everything below it: the disk of a partition, the members of an array, the block device behind a
    /// loop device. The file behind a loop device ends the search.
    pub(crate) fn beneath(&self, sysroot: &Sysroot, node: &Node) -> Vec<Node> {
        let mut found: Vec<Node> = Vec::new();
        let mut waiting = vec![node.clone()];
        while let Some(node) = waiting.pop() {
            if found.iter().any(|known| known.name == node.name) {
                continue;
            }
            waiting.extend(self.below(sysroot, &node));
            found.push(node);
        }
        found
    }

    /// The devices directly below `node`.
    pub(crate) fn below(&self, sysroot: &Sysroot, node: &Node) -> Vec<Node> {
        if node.is_partition() {
            return vec![node.whole()];
        }
        let behind = match self.whole(node).and_then(|whole| whole.backing.as_ref()) {
            Some(Backing::Device(number)) => Node::by_number(sysroot, *number),
            _ => None,
        };
        behind.into_iter().chain(node.slaves(sysroot)).collect()
    }
}

impl Whole {
    fn look(sysroot: &Sysroot, node: Node, mounts: &[Mount]) -> Self {
        let (backing, unknown) = match backing(sysroot, &node, mounts) {
            Ok(backing) => (backing, None),
            Err(why) => (None, Some(why)),
        };
        let storage = match backing {
            Some(Backing::File { device, inode }) => {
                Some(in_layer(sysroot, &node, mounts).unwrap_or(Storage::File { device, inode }))
            }
            Some(Backing::Device(_)) => None, // its own is that of the device
            None => unit(&node.dir).map(Storage::Unit),
        };
        Self { node, backing, unknown, storage }
    }

    /// The file behind a loop device, in each file system that shows it.
    pub(crate) fn files(&self) -> Vec<FileId> {
        let mut files = Vec::new();
        if let Some(Backing::File { device, inode }) = self.backing {
            files.push(FileId { device, inode });
        }
        if let Some(Storage::File { device, inode }) = self.storage {
            files.push(FileId { device, inode });
        }
        files
    }

    /// The identity of its storage.
    fn storage(&self) -> Option<Storage> {
        self.storage.clone().or_else(|| self.node.number().map(Storage::Device))
    }
}

/// Whether the file system with this `st_dev` depends on a program or another host, which may never answer.
fn is_served(mounts: &[Mount], device: (u32, u32)) -> bool {
    let served = |mount: &Mount| mount.fstype.starts_with("fuse") || NETWORK.contains(&mount.fstype.as_str());
    mounts.iter().any(|mount| mount.dev == device && served(mount))
}

/// The file of a layer, if the file behind a loop device is seen through an overlay, where the same file has another
/// `st_dev`.
fn in_layer(sysroot: &Sysroot, node: &Node, mounts: &[Mount]) -> Option<Storage> {
    let path = PathBuf::from(files::text(&node.dir.join("loop/backing_file"))?);
    let mount = mounts::holding(mounts, &path, None).filter(|mount| mount.fstype == "overlay")?;
    let inside = path.strip_prefix(&mount.point).ok()?;
    let lower = mount
        .options
        .iter()
        .filter_map(|option| option.split_once('='))
        .filter(|(name, _)| name.starts_with("lowerdir"));
    let lower = lower.flat_map(|(_, layers)| layers.split(':')).filter_map(|layer| layer_at(sysroot, layer));
    let layers = upper(sysroot, mount).into_iter().chain(lower);
    let stat =
        layers.filter_map(|layer| system::stat(&layer.join(inside))).find(|stat| stat.of_block_device.is_none())?;
    Some(Storage::File { device: stat.device, inode: stat.inode })
}

/// The backing of an attached loop device, `None` for other devices, or why it is unknown.
fn backing(sysroot: &Sysroot, node: &Node, mounts: &[Mount]) -> Result<Option<Backing>, UnknownBacking> {
    let Some(name) = files::text(&node.dir.join("loop/backing_file")) else { return Ok(None) };
    let by_name = behind_name(sysroot, &name);
    // A query of a loop device makes the kernel query the file system in turn.
    if matches!(by_name, Some(Backing::File { device, .. }) if is_served(mounts, device)) {
        return Ok(by_name);
    }
    let asked = match (sysroot.is_real(), node.number()) {
        (true, Some(number)) => system::loop_backing(&sysroot.path(&node.dev_path()), number),
        _ => Err(std::io::Error::other("it is in another machine's tree")),
    };
    match (asked, by_name) {
        // It may have been detached meanwhile.
        (Ok(backing), _) => Ok(backing),
        // A name that leads to another file system than the one that is gone is another file's.
        (Err(error), Some(backing)) if error.kind() != ErrorKind::NotConnected => Ok(Some(backing)),
        (Err(error), _) => {
            let is = |kind| error.kind() == kind;
            Err(UnknownBacking {
                why: error.to_string(),
                is_refused: is(ErrorKind::PermissionDenied),
                is_cut_off: is(ErrorKind::NotConnected),
            })
        }
    }
}

/// Backing for a name in `loop/backing_file`. The name of a removed file ends with ` (deleted)`.
fn behind_name(sysroot: &Sysroot, name: &str) -> Option<Backing> {
    if let Some(stat) = system::stat(&sysroot.path(name)) {
        return Some(match stat.of_block_device {
            Some(number) => Backing::Device(number),
            None => Backing::File { device: stat.device, inode: stat.inode },
        });
    }
    Node::by_source(sysroot, name)?.number().map(Backing::Device)
}

/// The storage below a device or directory: disks, and files behind loop devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageBelow {
    /// Each with a name for people, `sda` or `loop3`.
    pub storage: Vec<(Storage, String)>,
    /// What could not be resolved to a disk, in words.
    pub unknown: Option<String>,
}

impl StorageBelow {
    /// Storage below the block device at `path`. A file behind a loop device is a medium of its own, so the disk that
    /// holds the file is not included.
    ///
    /// # Errors
    /// Where the path cannot be inspected.
    pub fn of_device(sysroot: &Sysroot, path: &Path) -> Result<Self, DeviceError> {
        let seen = Seen::at(path)?;
        let mut below = Self::default();
        match Node::by_number(sysroot, seen.dev).filter(|_| seen.what == What::BlockDevice) {
            Some(node) => below.descend(sysroot, &Devices::read(sysroot), &node),
            None => below.unknown = Some("the device is not in /sys/dev/block".to_owned()),
        }
        Ok(below)
    }

    /// The medium of a device or a directory alone, and the storage that carries it where it is a file behind a loop device.
    ///
    /// # Errors
    /// Where the path cannot be inspected.
    pub fn medium_and_carriers(sysroot: &Sysroot, path: &Path) -> Result<(Self, Self), DeviceError> {
        let seen = Seen::at(path)?;
        let (devices, mounts) = (Devices::read(sysroot), mounts::read_mounts(sysroot));
        let mut own = Self::default();
        let files = if seen.what == What::BlockDevice {
            let node = Node::by_number(sysroot, seen.dev);
            node.iter().for_each(|node| own.descend(sysroot, &devices, node));
            own.files(&devices, 0)
        } else {
            let real = std::fs::canonicalize(path).map_err(|error| DeviceError::from_io(path, error))?;
            own.file_system(sysroot, &devices, &mounts, &real, seen.dev)
        };
        let mut carriers = Self::default();
        for (file, dev) in files {
            carriers.storage.extend(Self::of_directory_by_dev(sysroot, &file, dev).storage);
        }
        Ok((own, carriers))
    }

    /// Storage below the file system of the directory `path`, including disks that hold files behind loop devices.
    ///
    /// # Errors
    /// Where the path cannot be inspected.
    pub fn of_directory(sysroot: &Sysroot, path: &Path) -> Result<Self, DeviceError> {
        let real = std::fs::canonicalize(path).map_err(|error| DeviceError::from_io(path, error))?;
        Ok(Self::of_directory_by_dev(sysroot, &real, Seen::at(&real)?.dev))
    }

    /// The same for a path without links whose `stat` result is the device `dev`.
    #[must_use]
    pub fn of_directory_by_dev(sysroot: &Sysroot, path: &Path, dev: (u32, u32)) -> Self {
        let (devices, mounts) = (Devices::read(sysroot), mounts::read_mounts(sysroot));
        let mut below = Self::default();
        let mut waiting = vec![(path.to_owned(), dev)];
        for _ in 0..DEEPEST {
            let Some((path, dev)) = waiting.pop() else { break };
            waiting.extend(below.file_system(sysroot, &devices, &mounts, &path, dev));
        }
        below
    }

    /// Storage that both have in common.
    #[must_use]
    pub fn shared(&self, other: &Self) -> Option<&str> {
        let both = |(storage, _): &&(Storage, String)| other.storage.iter().any(|(theirs, _)| theirs == storage);
        self.storage.iter().find(both).map(|(_, name)| name.as_str())
    }

    /// Descends from the file system of `path`. Returns the files that it lies in, if loop devices show them.
    fn file_system(
        &mut self,
        sysroot: &Sysroot,
        devices: &Devices,
        mounts: &[Mount],
        path: &Path,
        dev: (u32, u32),
    ) -> Vec<(PathBuf, (u32, u32))> {
        let mount = mounts::holding(mounts, path, Some(dev));
        if let Some(upper) = mount.and_then(|mount| upper(sysroot, mount)) {
            let dev = system::stat(&upper).map_or((0, 0), |stat| stat.device);
            return vec![(upper, dev)];
        }
        let fstype = mount.map_or("", |mount| mount.fstype.as_str());
        let nodes = nodes_under(sysroot, mount, path, dev);
        if nodes.is_empty() && !is_elsewhere(fstype) {
            self.unknown.get_or_insert(format!("{} names no disk", harmless(fstype)));
        }
        let before = self.storage.len();
        nodes.iter().for_each(|node| self.descend(sysroot, devices, node));
        self.files(devices, before)
    }

    /// The files behind loop devices among the storage from a place on.
    fn files(&self, devices: &Devices, from: usize) -> Vec<(PathBuf, (u32, u32))> {
        let names: Vec<String> = self.storage[from..].iter().map(|(_, name)| name.clone()).collect();
        let mut files = Vec::new();
        for whole in devices.iter().filter(|whole| names.contains(&whole.node.name)) {
            let Some(Backing::File { device, .. }) = whole.backing else { continue };
            let name = files::text(&whole.node.dir.join("loop/backing_file")).unwrap_or_default();
            files.push((PathBuf::from(name), device));
        }
        files
    }

    fn descend(&mut self, sysroot: &Sysroot, devices: &Devices, top: &Node) {
        for node in devices.beneath(sysroot, top) {
            if !devices.below(sysroot, &node).is_empty() {
                continue;
            }
            match devices.whole(&node).and_then(|whole| whole.unknown.as_ref()) {
                Some(unknown) => self.unknown = Some(harmless(&format!("{}: {}", node.name, unknown.why))),
                None => {
                    let storage = devices.whole(&node).and_then(Whole::storage);
                    self.storage.extend(storage.map(|storage| (storage, node.name)));
                }
            }
        }
    }
}

/// The block devices below the file system of `path`.
fn nodes_under(sysroot: &Sysroot, mount: Option<&Mount>, path: &Path, dev: (u32, u32)) -> Vec<Node> {
    if dev.0 != 0 {
        return Node::by_number(sysroot, dev).into_iter().collect();
    }
    if let Some(id) = sysroot.is_real().then(|| system::btrfs_id(path)).flatten() {
        let devices = sysroot.path("/sys/fs/btrfs").join(uuid(&id)).join("devices");
        let nodes = files::entries(&devices).into_iter().filter_map(|name| Node::by_name(sysroot, &name));
        return nodes.collect();
    }
    let Some(mount) = mount else { return Vec::new() };
    // bcachefs lists all of its devices.
    let nodes = mount.source.split(':').filter_map(|source| Node::by_source(sysroot, source));
    match mount.fstype.as_str() {
        "btrfs" => nodes.take(1).flat_map(|node| btrfs_devices(sysroot, node)).collect(),
        _ => nodes.collect(),
    }
}

/// File systems in the memory of this machine or on another machine, not on its disks.
fn is_elsewhere(fstype: &str) -> bool {
    let memory = ["tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs"];
    memory.contains(&fstype) || NETWORK.contains(&fstype)
}

/// In the notation of sysfs: `8-4-4-4-12` digits.
fn uuid(id: &[u8; 16]) -> String {
    let mut text = String::new();
    for (at, byte) in id.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}
