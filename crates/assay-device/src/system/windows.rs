//! Windows. Disks are not asked for their health there.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use assay_core::health::NoAnswer;
use assay_core::medium::{BlockNode, Bus, Medium, MediumKind};
use assay_core::record::Host;
use assay_core::text::{harmless, label};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::Security::Cryptography::{BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, GetDiskFreeSpaceExW, GetDriveTypeW, GetVolumeInformationW,
    GetVolumeNameForVolumeMountPointW, GetVolumePathNameW, IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_DISK_GET_LENGTH_INFO, IOCTL_DISK_PERFORMANCE,
    IOCTL_STORAGE_GET_DEVICE_NUMBER, IOCTL_STORAGE_QUERY_PROPERTY,
};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNamePhysicalDnsHostname, GetComputerNameExW, GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};
use windows_sys::Win32::System::SystemServices::FILE_READ_ONLY_VOLUME;
use windows_sys::Win32::System::Threading::{
    ALL_PROCESSOR_GROUPS, GetActiveProcessorCount, GetCurrentProcess, GetProcessTimes, GetSystemTimes,
};
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_RAMDISK, DRIVE_REMOTE, DRIVE_REMOVABLE};

use crate::counters::Counters;
use crate::error::{DeviceError, shown};
use crate::files::Stat;
use crate::health::{self, Ask, Question, Refusal};
use crate::look::{Seen, TargetInfo, What, bare};
use crate::storage::Backing;
use crate::system::descriptors;
use crate::system::spelling::{as_asked, as_root, driver, is_device};

pub(crate) use super::spelling::as_written;

// Queries of disk and volume drivers, and of volumes. They need no rights if a device is opened only for them.

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

// What is under a path.

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
    let disks = volume.device.as_deref().map(disks_of).unwrap_or_default();
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
    let disks: Vec<Disk> = names.iter().map(|name| disk(name)).collect();
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

// The machine that measures, the load of its processors, its name, and random data.

/// Registry key of the first processor.
const PROCESSOR: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";
const BIOS: &str = r"HARDWARE\DESCRIPTION\System\BIOS";
const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";

/// Description of the machine; `slot` is left to the user's label.
pub(crate) fn host() -> Option<Host> {
    let version = version();
    // SAFETY: the call takes a number and returns one.
    let cores = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    Some(Host {
        hostname: label(&host_name(), 128),
        board: board(),
        cpu: registry(PROCESSOR, "ProcessorNameString"),
        cores: (cores > 0).then_some(cores),
        memory_bytes: memory().map(|memory| memory.ullTotalPhys),
        // Records give a Linux kernel only by its number; the version of Windows is stated together with its name.
        kernel: None,
        os: os(version),
        governor: None,
        arch: Some(std::env::consts::ARCH.to_owned()),
        slot: None,
    })
}

/// Memory in bytes that new programs can use.
pub(crate) fn available_memory() -> Option<u64> {
    memory().map(|memory| memory.ullAvailPhys)
}

fn memory() -> Option<MEMORYSTATUSEX> {
    let mut info = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure states its length, and is local to this function.
    let done = unsafe { GlobalMemoryStatusEx(&raw mut info) };
    (done != 0).then_some(info)
}

/// Major, minor and build of the system, independent of a manifest.
fn version() -> Option<(u32, u32, u32)> {
    let mut info = OSVERSIONINFOW { dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32, ..Default::default() };
    // SAFETY: the structure states its length, and is local to this function.
    let status = unsafe { RtlGetVersion(&raw mut info) };
    (status >= 0).then_some((info.dwMajorVersion, info.dwMinorVersion, info.dwBuildNumber))
}

/// On Windows 11 the registry still says 10; the build number shows the difference.
fn os(version: Option<(u32, u32, u32)>) -> Option<String> {
    const FIRST_11: u32 = 22_000;
    let (major, minor, build) = version?;
    let name = registry(VERSION, "ProductName").unwrap_or_else(|| "Windows".to_owned());
    let name = if build >= FIRST_11 { name.replace("Windows 10", "Windows 11") } else { name };
    let edition = registry(VERSION, "DisplayVersion").map_or_else(String::new, |edition| format!(" {edition}"));
    label(&format!("{name}{edition} ({major}.{minor}.{build})"), 128)
}

fn board() -> Option<String> {
    let filler = |text: &String| {
        !["To Be Filled By O.E.M.", "System Product Name", "Default string", ""].contains(&text.as_str())
    };
    let product = registry(BIOS, "SystemProductName").filter(filler)?;
    match registry(BIOS, "SystemManufacturer").filter(filler) {
        Some(maker) if !product.starts_with(&maker) => label(&format!("{maker} {product}"), 128),
        _ => Some(product),
    }
}

/// A text value in the machine's part of the registry.
fn registry(key: &str, value: &str) -> Option<String> {
    let wide = |text: &str| text.encode_utf16().chain([0]).collect::<Vec<u16>>();
    let (key, value, mut room) = (wide(key), wide(value), [0u16; 256]);
    let mut bytes = size_of_val(&room) as u32;
    // SAFETY: both texts end with a zero; the system writes at most `bytes` bytes to `room`, and stores their number.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            room.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    if status != 0 {
        return None;
    }
    let units = room.get(..(bytes as usize / 2)).unwrap_or_default();
    label(String::from_utf16_lossy(units).trim_end_matches('\0').trim(), 128)
}

/// Times of all processors, of all programs outside of the kernel, and of this process outside of the kernel, in units
/// of 100 ns. Times of other processes, and those of the kernel by process, are not queried.
pub(crate) fn load() -> Option<[u64; 3]> {
    let ticks = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    let [mut idle, mut kernel, mut user] = [FILETIME::default(); 3];
    // SAFETY: three structures that are local to this function.
    if unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) } == 0 {
        return None;
    }
    let [mut began, mut ended, mut own_kernel, mut own_user] = [FILETIME::default(); 4];
    // SAFETY: four structures that are local to this function; the handle means this process and needs no closing.
    let own = unsafe {
        GetProcessTimes(GetCurrentProcess(), &raw mut began, &raw mut ended, &raw mut own_kernel, &raw mut own_user)
    };
    if own == 0 {
        return None;
    }
    // The time of the kernel includes idle time.
    let total = ticks(kernel).saturating_add(ticks(user));
    Some([total, ticks(user), ticks(own_user)])
}

// Random data, and the name of the host.

/// Fills `bytes` with unpredictable random data.
///
/// # Errors
/// The system's.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the system writes `length` bytes to a buffer of that size; with this flag it takes no handle.
    let status =
        unsafe { BCryptGenRandom(std::ptr::null_mut(), bytes.as_mut_ptr(), length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) };
    if status >= 0 { Ok(()) } else { Err(io::Error::other("the system gives no random numbers")) }
}

/// Name of this host according to the system; empty if it has none.
#[must_use]
pub fn host_name() -> String {
    let mut room = [0u16; 256];
    let mut length = room.len() as u32;
    // SAFETY: `room` has `length` elements, and the system writes no more of them.
    let done = unsafe { GetComputerNameExW(ComputerNamePhysicalDnsHostname, room.as_mut_ptr(), &raw mut length) };
    let units = room.get(..length as usize).filter(|_| done != 0).unwrap_or_default();
    String::from_utf16_lossy(units)
}

/// The system.
#[derive(Debug)]
pub(crate) struct SystemAsks {
    /// Whether the trees are of this machine.
    pub(crate) is_here: bool,
}

impl Ask for SystemAsks {
    fn ask(&self, _disk: &health::Disk, _question: Question) -> Result<Vec<u8>, Refusal> {
        Err(if self.is_here { NoAnswer::NotAsked } else { NoAnswer::NotHere }.into())
    }
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
