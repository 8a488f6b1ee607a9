//! The media of this machine that can be measured or checked: mounted ones, and whole disks that nothing uses.

use std::path::PathBuf;

use assay_core::medium::MediumKind;

use crate::block::Node;
use crate::files::{self, Sysroot};
use crate::guard::mounted_on;
use crate::look::{Seen, TargetInfo, What, look_by_dev};
use crate::mounts::{self, Mount};

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
