//! Queries of disk and volume drivers, and of volumes. They need no rights if a device is opened only for them.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, GetDiskFreeSpaceExW, GetDriveTypeW, GetVolumeInformationW,
    GetVolumeNameForVolumeMountPointW, GetVolumePathNameW, IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_DISK_GET_LENGTH_INFO, IOCTL_DISK_PERFORMANCE,
    IOCTL_STORAGE_GET_DEVICE_NUMBER, IOCTL_STORAGE_QUERY_PROPERTY,
};
use windows_sys::Win32::System::SystemServices::FILE_READ_ONLY_VOLUME;
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_RAMDISK, DRIVE_REMOTE, DRIVE_REMOVABLE};

use crate::counters::Counters;
use crate::system::descriptors;
use crate::system::spelling::{as_asked, as_root, as_written, driver};

/// `STORAGE_PROPERTY_ID`: the device, its alignment, and whether it seeks.
const DEVICE: u32 = 0;
const ALIGNMENT: u32 = 6;
const SEEK_PENALTY: u32 = 7;

/// Opens a device only for queries.
fn open(path: &str) -> io::Result<File> {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    OpenOptions::new().access_mode(0).share_mode(share).open(path)
}

/// Opens a disk by its name, `PhysicalDrive0`, only for queries.
pub(crate) fn drive(name: &str) -> io::Result<File> {
    open(&format!(r"\\.\{name}"))
}

/// Queries a driver. Returns its answer of at most `most` bytes.
fn ask(device: &File, code: u32, question: &[u8], most: usize) -> io::Result<Vec<u8>> {
    // In words of eight bytes, so that the answer is aligned for any structure.
    let mut room = vec![0u64; most.div_ceil(8)];
    let mut length = 0u32;
    let asked = if question.is_empty() { std::ptr::null() } else { question.as_ptr().cast() };
    // SAFETY: the driver reads `question` and writes at most the bytes of `room` before the call returns, since the
    // handle was opened for synchronous calls; the handle is open.
    let done = unsafe {
        DeviceIoControl(
            device.as_raw_handle(),
            code,
            asked,
            question.len() as u32,
            room.as_mut_ptr().cast(),
            (room.len() * 8) as u32,
            &raw mut length,
            std::ptr::null_mut(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.truncate(length as usize);
    Ok(bytes)
}

/// `STORAGE_PROPERTY_QUERY`: the property, a standard query, and room for additional parameters.
fn property(device: &File, which: u32) -> io::Result<Vec<u8>> {
    let question: Vec<u8> = [which, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    ask(device, IOCTL_STORAGE_QUERY_PROPERTY, &question, 4096)
}

/// Description of a disk by itself; parts that the driver refuses are absent.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) said: Option<descriptors::DeviceDescriptor>,
    pub(crate) logical_bytes: Option<u32>,
    pub(crate) spins: Option<bool>,
    pub(crate) bytes: Option<u64>,
}

/// Queries the description of a disk.
pub(crate) fn disk(name: &str) -> Disk {
    let Ok(drive) = drive(name) else { return Disk::default() };
    let length = ask(&drive, IOCTL_DISK_GET_LENGTH_INFO, &[], 8).ok();
    let geometry = || ask(&drive, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, &[], 256).ok();
    Disk {
        said: property(&drive, DEVICE).ok().and_then(|bytes| descriptors::device(&bytes)),
        logical_bytes: property(&drive, ALIGNMENT)
            .ok()
            .and_then(|bytes| descriptors::sectors(&bytes))
            .map(|(logical, _)| logical),
        spins: property(&drive, SEEK_PENALTY).ok().and_then(|bytes| descriptors::spins(&bytes)),
        bytes: length
            .and_then(|bytes| descriptors::length(&bytes))
            .or_else(|| descriptors::length_by_geometry(&geometry()?)),
    }
}

/// The disks that a volume lies on, as `PhysicalDrive0`. `volume` is its path without a backslash at the end.
pub(crate) fn disks_of(volume: &str) -> Vec<String> {
    let Ok(volume) = open(volume) else { return Vec::new() };
    let by_extents = ask(&volume, IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS, &[], 8 + 24 * 64);
    let mut numbers = by_extents.map(|bytes| descriptors::disks(&bytes)).unwrap_or_default();
    if numbers.is_empty() {
        let answer = ask(&volume, IOCTL_STORAGE_GET_DEVICE_NUMBER, &[], 16).ok();
        numbers.extend(answer.and_then(|bytes| descriptors::disk(&bytes)));
    }
    numbers.iter().map(|number| format!("PhysicalDrive{number}")).collect()
}

/// Totals of a disk that is open for queries.
pub(crate) fn counters(drive: &File) -> io::Result<Counters> {
    let answer = ask(drive, IOCTL_DISK_PERFORMANCE, &[], 128)?;
    descriptors::totals(&answer).ok_or(io::ErrorKind::InvalidData.into())
}

// The volume that a path lies on.

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

fn volume_text(room: &[u16]) -> String {
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
    let asked = as_asked(&volume_text(&point));
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
    let name_of_volume = (named != 0).then(|| volume_text(&device));
    let point = as_written(&asked);
    Some(Volume {
        filesystem: (volume_done != 0).then(|| volume_text(&name)).filter(|name| !name.is_empty()),
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
