//! The volume that a path lies on.

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetDriveTypeW, GetVolumeInformationW, GetVolumeNameForVolumeMountPointW, GetVolumePathNameW,
};
use windows_sys::Win32::System::SystemServices::FILE_READ_ONLY_VOLUME;
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_RAMDISK, DRIVE_REMOTE, DRIVE_REMOVABLE};

use crate::system::spelling::{as_asked, as_root, as_written, driver};

/// Description of a volume by the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Where it is mounted, `C:\`, or the share, `\\server\share\`.
    pub(crate) point: String,
    /// `NTFS`, `FAT32`, `exFAT`.
    pub(crate) filesystem: Option<String>,
    pub(crate) read_only: bool,
    /// On another host.
    pub(crate) remote: bool,
    /// In memory.
    pub(crate) memory: bool,
    /// Its medium is removable.
    pub(crate) removable: bool,
    /// The path for queries of its driver, if there is one.
    pub(crate) device: Option<String>,
}

fn wide(text: &std::ffi::OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

fn text(room: &[u16]) -> String {
    let end = room.iter().position(|unit| *unit == 0).unwrap_or(room.len());
    OsString::from_wide(room.get(..end).unwrap_or_default()).to_string_lossy().into_owned()
}

/// The volume of an existing `path`.
pub(crate) fn volume(path: &Path) -> Option<Volume> {
    let asked = wide(path.as_os_str());
    let mut point = vec![0u16; asked.len() + 8];
    // SAFETY: the first is a text that ends with a zero; the second has as many elements as stated.
    let done = unsafe { GetVolumePathNameW(asked.as_ptr(), point.as_mut_ptr(), point.len() as u32) };
    if done == 0 {
        return None;
    }
    // The calls below are documented for paths as people write them.
    let asked = as_asked(&text(&point));
    let point = wide(asked.as_ref());
    let (mut flags, mut name) = (0u32, [0u16; 64]);
    // SAFETY: `point` ends with a zero; the output goes to a number and to `name`, whose length is passed.
    let volume_done = unsafe {
        GetVolumeInformationW(
            point.as_ptr(),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut flags,
            name.as_mut_ptr(),
            name.len() as u32,
        )
    };
    // SAFETY: `point` ends with a zero.
    let kind = unsafe { GetDriveTypeW(point.as_ptr()) };
    let mut device = [0u16; 64];
    // SAFETY: `point` ends with a zero, and the length of `device` is passed.
    let named = unsafe { GetVolumeNameForVolumeMountPointW(point.as_ptr(), device.as_mut_ptr(), device.len() as u32) };
    let name_of_volume = (named != 0).then(|| text(&device));
    let point = as_written(&asked);
    Some(Volume {
        filesystem: (volume_done != 0).then(|| text(&name)).filter(|name| !name.is_empty()),
        read_only: volume_done != 0 && flags & FILE_READ_ONLY_VOLUME != 0,
        remote: kind == DRIVE_REMOTE,
        memory: kind == DRIVE_RAMDISK,
        removable: kind == DRIVE_REMOVABLE,
        device: driver(&point, name_of_volume.as_deref()),
        point,
    })
}

/// Bytes of the file system of a directory, and how many of them this user may still write.
pub(crate) fn room(directory: &Path) -> io::Result<(u64, u64)> {
    // A share must end with a backslash.
    let (asked, mut free, mut all) = (wide(&as_root(directory.as_os_str())), 0u64, 0u64);
    // SAFETY: the text ends with a zero, and the output goes to two numbers.
    let done = unsafe { GetDiskFreeSpaceExW(asked.as_ptr(), &raw mut free, &raw mut all, std::ptr::null_mut()) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok((all, free)) }
}
