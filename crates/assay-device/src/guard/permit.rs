//! The permit without which no raw device is opened for writing.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::signature::signature;
use super::usage::mounted_on;
use crate::block::Node;
use crate::error::{DeviceError, shown};
use crate::look::{Seen, What};
use crate::sysroot::Sysroot;

/// Says that a device was checked and may be overwritten. Only [`check_raw`] makes one.
#[derive(Debug)]
pub struct RawPermit {
    path: PathBuf,
    name: String,
    dev: (u32, u32),
    overwrites: Option<&'static str>,
}

impl RawPermit {
    /// The path that was checked.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device's kernel name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What will be overwritten, where the device was named to allow it.
    #[must_use]
    pub fn overwrites(&self) -> Option<&'static str> {
        self.overwrites
    }

    /// Opens the device for reading and writing, with `flags` such as `O_DIRECT` beside. `O_EXCL`
    /// makes the kernel refuse a device that anybody uses, in whatever mount namespace, and keeps
    /// others from mounting it as long as the file is open (open(2)).
    ///
    /// # Errors
    /// Where the kernel refuses, or another device has taken the name.
    pub fn open(&self, flags: i32) -> Result<File, DeviceError> {
        let exclusive = OFlags::EXCL.bits() as i32;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(exclusive | flags)
            .open(&self.path)
            .map_err(|error| DeviceError::from_io(&self.path, error))?;
        let rdev = file.metadata().map_err(|error| DeviceError::from_io(&self.path, error))?.rdev();
        if (rustix::fs::major(rdev), rustix::fs::minor(rdev)) != self.dev {
            return Err(DeviceError::Changed { device: shown(&self.path) });
        }
        Ok(file)
    }
}

/// Whether the block device at `path` may be overwritten. A device in use is always refused; one
/// that holds data is refused unless `forced_by_name` is the very path that was given.
///
/// # Errors
/// Says why not.
pub fn check_raw(sysroot: &Sysroot, path: &Path, forced_by_name: Option<&str>) -> Result<RawPermit, DeviceError> {
    let seen = Seen::at(path)?;
    if seen.what != What::BlockDevice {
        return Err(DeviceError::NotABlockDevice { path: shown(path) });
    }
    let node = Node::by_number(sysroot, seen.dev);
    let node = node.ok_or_else(|| DeviceError::Unreadable { path: shown(path), source: not_in_sysfs() })?;
    refuse_in_use(sysroot, path, &node)?;
    let mut file = File::open(path).map_err(|error| DeviceError::from_io(path, error))?;
    let held = signature(&mut file);
    refuse_data(path, held, forced_by_name)?;
    Ok(RawPermit { path: path.to_path_buf(), name: node.name, dev: seen.dev, overwrites: held })
}

fn not_in_sysfs() -> std::io::Error {
    std::io::Error::other("the device is not in /sys/dev/block")
}

fn refuse_in_use(sysroot: &Sysroot, path: &Path, node: &Node) -> Result<(), DeviceError> {
    let uses = mounted_on(sysroot, &node.name);
    if let Some(first) = uses.first() {
        let more = match uses.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let of = if first.device == node.name { String::new() } else { format!("{} ", first.device) };
        return Err(DeviceError::Mounted { device: shown(path), place: format!("{of}{}{more}", first.place) });
    }
    if node.read_only() {
        return Err(DeviceError::ReadOnly { device: shown(path) });
    }
    Ok(())
}

fn refuse_data(path: &Path, held: Option<&str>, forced_by_name: Option<&str>) -> Result<(), DeviceError> {
    match held {
        Some(what) if forced_by_name.is_none_or(|name| Path::new(name).as_os_str() != path.as_os_str()) => {
            Err(DeviceError::HoldsData { device: shown(path), what: what.to_owned() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_overwritten_only_by_the_exact_name() {
        let path = Path::new("/dev/sdb");
        assert!(refuse_data(path, None, None).is_ok());
        assert!(refuse_data(path, Some("XFS file system"), Some("/dev/sdb")).is_ok());
        for wrong in [None, Some("/dev/sdc"), Some("sdb"), Some(""), Some("/dev/sdb1")] {
            let error = refuse_data(path, Some("XFS file system"), wrong).unwrap_err();
            assert!(matches!(error, DeviceError::HoldsData { .. }), "{wrong:?}");
        }
    }
}
