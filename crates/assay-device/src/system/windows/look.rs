//! What is under a path.

use std::fs::{self, File};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;

use assay_core::medium::{BlockNode, Bus, Medium, MediumKind};
use assay_core::text::{harmless, label};

use super::control::{self, Disk, Volume, volume};
use crate::error::{DeviceError, shown};
use crate::files::Stat;
use crate::look::{Seen, TargetInfo, What, bare};
use crate::storage::Backing;
use crate::system::descriptors;
use crate::system::spelling::is_device;

/// No directory can have such a name, so no kernel tree is ever found below it.
pub(crate) const ROOT: &str = "<none>";

/// Reads at an offset; returns the number of bytes.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// Windows has no such numbers.
pub(crate) fn stat(_path: &Path) -> Option<Stat> {
    None
}

/// Windows has no loop devices.
///
/// # Errors
/// Always.
pub(crate) fn loop_backing(_path: &Path, _number: (u32, u32)) -> io::Result<Option<Backing>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No file system here is a btrfs.
pub(crate) fn btrfs_id(_path: &Path) -> Option<[u8; 16]> {
    None
}

/// Kind of a path without links.
pub(crate) fn seen(path: &Path) -> Result<Seen, DeviceError> {
    let meta = fs::metadata(path).map_err(|error| DeviceError::from_io(path, error))?;
    Ok(Seen { what: What::from_metadata(path, &meta)?, dev: (0, 0) })
}

/// Refuses a path that names a device, `\\.\PhysicalDrive0`.
pub(crate) fn refuse(path: &Path) -> Result<(), DeviceError> {
    if is_device(&path.to_string_lossy()) { Err(DeviceError::NoRawDevices { path: shown(path) }) } else { Ok(()) }
}

/// The log is not read on this system.
pub(crate) fn kernel_log() -> Option<File> {
    None
}

/// What is under a path without links.
pub(crate) fn target(path: &Path, seen: Seen) -> Option<TargetInfo> {
    let mut target = bare(path, seen.what);
    let Some(volume) = volume(path) else { return Some(target) };
    target.medium.filesystem = volume.filesystem.as_deref().and_then(|name| label(name, 64));
    target.medium.mount_point = Some(harmless(&volume.point));
    target.medium.mount_options = volume.read_only.then(|| "ro".to_owned()).into_iter().collect();
    target.read_only = volume.read_only;
    if volume.remote {
        of_network(&mut target.medium, &volume);
        return Some(target);
    }
    if volume.memory {
        target.medium.kind = MediumKind::Ramdisk;
        target.is_memory = true;
    }
    target.removable = volume.removable;
    let disks = volume.device.as_deref().map(control::disks_of).unwrap_or_default();
    fill(&mut target, &volume, disks);
    Some(target)
}

/// The share is the closest to a model.
fn of_network(medium: &mut Medium, volume: &Volume) {
    medium.model = label(volume.point.trim_end_matches('\\'), 223);
    medium.bus = Some(Bus {
        kind: "network".to_owned(),
        mode: "SMB".to_owned(),
        ceiling_bytes_per_second: None,
        reachable_bytes_per_second: None,
        driver: None,
        source: "GetDriveTypeW; the way to the server is not known".to_owned(),
    });
}

/// A single disk is described by itself; of several only the number is stated.
fn fill(target: &mut TargetInfo, volume: &Volume, names: Vec<String>) {
    let letter = volume.point.trim_end_matches('\\').to_owned();
    target.medium.stack = vec![BlockNode { name: harmless(&letter), role: "partition".to_owned() }];
    target.medium.stack.extend(names.iter().map(|name| BlockNode { name: name.clone(), role: "disk".to_owned() }));
    if names.is_empty() {
        target.medium.stack.clear();
        return;
    }
    target.medium.device = volume.device.as_deref().map(harmless);
    let disks: Vec<Disk> = names.iter().map(|name| control::disk(name)).collect();
    target.medium.capacity_bytes = disks.iter().map(|disk| disk.bytes).sum();
    target.logical_block_bytes = disks.iter().filter_map(|disk| disk.logical_bytes).max();
    target.removable |= disks.iter().any(|disk| disk.said.as_ref().is_some_and(|said| said.removable));
    if let [Disk { said: Some(said), spins, .. }] = disks.as_slice() {
        let about = descriptors::medium(said.clone(), *spins);
        let medium = &mut target.medium;
        (medium.vendor, medium.model, medium.unit) = (about.vendor, about.model, about.unit);
        (medium.bus, medium.health) = (about.bus, about.health);
        if !target.is_memory {
            medium.kind = about.kind;
        }
    }
    target.removable |= matches!(target.medium.kind, MediumKind::UsbStick | MediumKind::UsbDisk | MediumKind::Sd);
    target.devices.clone_from(&names);
    target.leaves = names;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(point: &str) -> Volume {
        let (filesystem, device) = (None, None);
        Volume {
            point: point.to_owned(),
            filesystem,
            read_only: false,
            remote: true,
            memory: false,
            removable: false,
            device,
        }
    }

    #[test]
    fn a_share_stands_for_the_model() {
        let mut medium = Medium::unknown(r"\\server\share\x");
        of_network(&mut medium, &volume(r"\\server\share\"));
        assert_eq!(medium.model.as_deref(), Some(r"\\server\share"));
        assert_eq!(medium.bus.map(|bus| bus.kind).as_deref(), Some("network"));
    }

    #[test]
    fn devices_are_refused_by_each_of_their_names() {
        for path in [r"\\.\PhysicalDrive0", r"\\?\PhysicalDrive0", r"\\?\GLOBALROOT\Device\Harddisk0\Partition0"] {
            assert!(matches!(refuse(Path::new(path)), Err(DeviceError::NoRawDevices { .. })), "{path}");
        }
        refuse(Path::new(r"\\?\C:\data")).unwrap();
    }
}
