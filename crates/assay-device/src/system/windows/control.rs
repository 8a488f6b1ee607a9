//! Queries of disk and volume drivers. They need no rights if a device is opened only for them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_DISK_GET_LENGTH_INFO, IOCTL_DISK_PERFORMANCE,
    IOCTL_STORAGE_GET_DEVICE_NUMBER, IOCTL_STORAGE_QUERY_PROPERTY,
};

use crate::counters::Counters;
use crate::system::descriptors;

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
