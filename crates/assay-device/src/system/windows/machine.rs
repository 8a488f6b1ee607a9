//! The machine that measures, the load of its processors, its name, and random data.

use std::io;
use std::mem::size_of;

use assay_core::record::Host;
use assay_core::text::label;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::Security::Cryptography::{BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNamePhysicalDnsHostname, GetComputerNameExW, GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};
use windows_sys::Win32::System::Threading::{
    ALL_PROCESSOR_GROUPS, GetActiveProcessorCount, GetCurrentProcess, GetProcessTimes, GetSystemTimes,
};

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
        hostname: label(&super::host_name(), 128),
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
