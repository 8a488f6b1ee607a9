//! Windows. Who may do what is written in lists of the directory, which new files take over: that of `%LOCALAPPDATA%` lets
//! other users nothing but administrators. Elsewhere, as in `ASSAY_DATA`, they are what the directory's are; nothing checks
//! them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_DIRECTORY, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED, ERROR_HANDLE_DISK_FULL,
    ERROR_INVALID_PARAMETER, ERROR_LOCK_VIOLATION, ERROR_WRITE_PROTECT, FILETIME, WAIT_TIMEOUT,
};
use windows_sys::Win32::Security::Cryptography::{BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_READ_ATTRIBUTES, GetDiskFreeSpaceExW, GetDriveTypeW, GetFileInformationByHandle,
    GetVolumePathNameW, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, MOVEFILE_REPLACE_EXISTING,
    MOVEFILE_WRITE_THROUGH, MoveFileExW,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::SystemInformation::{ComputerNamePhysicalDnsHostname, GetComputerNameExW};
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, WaitForSingleObject,
};
use windows_sys::Win32::System::WindowsProgramming::DRIVE_REMOTE;

use super::{Inode, Need, ProcessState, Refusal};

/// The variables that name a place for the store, each with what is below it, in the order in which they count.
pub(crate) const HOMES: [(&str, &str); 1] = [("LOCALAPPDATA", "assay")];

/// Fills `bytes` by chance that nobody can foresee.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| ErrorKind::InvalidInput)?;
    // SAFETY: the system writes `length` bytes to a buffer of that size; with this flag it takes no handle.
    let status =
        unsafe { BCryptGenRandom(std::ptr::null_mut(), bytes.as_mut_ptr(), length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) };
    if status >= 0 { Ok(()) } else { Err(io::Error::other("the system gives no random numbers")) }
}

/// What begins a path that is no text; no path and no text in UTF-8 has this byte.
const UNITS: u8 = 0xff;

/// A path as bytes that [`path_of`] reads: UTF-8, or a byte of ones and the units of UTF-16, the low byte of each first,
/// where a half of a pair stands alone.
#[must_use]
pub fn bytes_of(path: &Path) -> Vec<u8> {
    match path.to_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => [UNITS].into_iter().chain(path.as_os_str().encode_wide().flat_map(u16::to_le_bytes)).collect(),
    }
}

/// The path whose bytes these are.
#[must_use]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    match bytes.split_first() {
        Some((&UNITS, units)) => {
            let units: Vec<u16> = units.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
            PathBuf::from(OsString::from_wide(&units))
        }
        _ => PathBuf::from(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// A path as bytes in a URI, where it begins with a slash (<https://www.sqlite.org/uri.html>).
pub(crate) fn path_in_uri(path: &Path) -> Vec<u8> {
    let path = path.to_string_lossy().replace('\\', "/");
    if path.starts_with('/') { path } else { format!("/{path}") }.into_bytes()
}

/// There is no call for the names of files and directories that were made, without rights to the whole volume: NTFS writes
/// them by its journal, soon. A file that is renamed is waited for ([`rename`]).
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(crate) fn sync_directory(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives a file another name, and returns when that survives a power cut.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (wide(from), wide(to));
    // SAFETY: the texts end with zeros.
    match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Which file stands at a path.
pub(crate) fn inode(file: &Path) -> io::Result<Inode> {
    let open = OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).open(file)?;
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the structure is this function's own, and the handle is open.
    if unsafe { GetFileInformationByHandle(open.as_raw_handle(), &raw mut info) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let number = u64::from(info.nFileIndexHigh) << 32 | u64::from(info.nFileIndexLow);
    Ok(Inode { device: info.dwVolumeSerialNumber.into(), number, names: info.nNumberOfLinks.into() })
}

/// Whether `path` may be used so, as far as its attributes tell; what lists forbid shows when it is used.
pub(crate) fn may(path: &Path, need: Need) -> io::Result<()> {
    let meta = fs::metadata(path)?;
    if need == Need::ReadWrite && meta.permissions().readonly() {
        return Err(io::Error::from_raw_os_error(ERROR_WRITE_PROTECT.cast_signed()));
    }
    Ok(())
}

/// Opens what is locked while a store is set up: its file, which is made where it is missing, as no directory can be
/// locked.
pub(crate) fn open_set_up(_dir: &Path, file: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file)
}

/// Takes the lock of what was opened for that without waiting; an error of the kind [`ErrorKind::WouldBlock`] where
/// another has it. It ends with the file. The byte lies beyond all that SQLite reads and locks itself.
pub(crate) fn lock(open: &File) -> io::Result<()> {
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.OffsetHigh = 1 << 30;
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open for calls that return when they are done, so that nobody keeps the structure.
    if unsafe { LockFileEx(open.as_raw_handle(), how, 0, 1, 0, &raw mut at) } != 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if is(&error, ERROR_LOCK_VIOLATION) => Err(ErrorKind::WouldBlock.into()),
        error => Err(error),
    }
}

fn is(error: &io::Error, code: u32) -> bool {
    error.raw_os_error() == Some(code.cast_signed())
}

fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// Kind of a directory's file system by the numbers of Linux: SMB where it is on another host, else 0.
pub(crate) fn kind_of(dir: &Path) -> io::Result<u64> {
    const SMB2: u64 = 0xfe53_4d42;
    let dir = wide(&std::path::absolute(dir)?);
    let mut point = vec![0u16; dir.len() + 8];
    // SAFETY: the first is a text that ends with a zero, the second has as many elements as are named.
    if unsafe { GetVolumePathNameW(dir.as_ptr(), point.as_mut_ptr(), point.len() as u32) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `point` ends with a zero.
    let remote = unsafe { GetDriveTypeW(point.as_ptr()) } == DRIVE_REMOTE;
    Ok(if remote { SMB2 } else { 0 })
}

/// Whether the file system of a directory has no room left for this user.
pub(crate) fn is_full(dir: &Path) -> bool {
    let (dir, mut free) = (wide(&dir.join("")), u64::MAX);
    // SAFETY: the text ends with a zero, and what is written goes to a number.
    let done = unsafe { GetDiskFreeSpaceExW(dir.as_ptr(), &raw mut free, std::ptr::null_mut(), std::ptr::null_mut()) };
    done != 0 && free == 0
}

/// Why the system refuses something.
pub(crate) fn refusal(error: &io::Error) -> Option<Refusal> {
    match error.raw_os_error()?.cast_unsigned() {
        ERROR_ACCESS_DENIED => Some(Refusal::Permission),
        ERROR_WRITE_PROTECT => Some(Refusal::ReadOnly),
        ERROR_DISK_FULL | ERROR_HANDLE_DISK_FULL | ERROR_DISK_QUOTA_EXCEEDED => Some(Refusal::Full),
        ERROR_DIRECTORY => Some(Refusal::NotADirectory),
        _ => None,
    }
}

/// Windows has no number of a boot: no two processes of one host start at the same moment with the same number.
pub(crate) fn boot_id() -> String {
    String::new()
}

/// Name of the host.
pub(crate) fn host_name() -> String {
    let mut room = [0u16; 256];
    let mut length = room.len() as u32;
    // SAFETY: `room` has `length` elements, and the system writes no more of them.
    let done = unsafe { GetComputerNameExW(ComputerNamePhysicalDnsHostname, room.as_mut_ptr(), &raw mut length) };
    String::from_utf16_lossy(room.get(..length as usize).filter(|_| done != 0).unwrap_or_default())
}

/// All processes of a host have numbers of one kind.
pub(crate) fn process_numbers() -> String {
    String::new()
}

/// What is known of a process: when it started, in units of 100 ns since 1601.
pub(crate) fn process(pid: u32) -> ProcessState {
    // SAFETY: the call takes numbers; the handle that it gives is closed below.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE, 0, pid) };
    if handle.is_null() {
        let gone = is(&io::Error::last_os_error(), ERROR_INVALID_PARAMETER);
        return if gone { ProcessState::Gone } else { ProcessState::Hidden };
    }
    // SAFETY: the handle was just made and belongs to nobody else.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    let [mut began, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    let process = handle.as_raw_handle();
    // SAFETY: the handle is open, the structures are this function's own.
    let (waited, done) = unsafe {
        (
            WaitForSingleObject(process, 0),
            GetProcessTimes(process, &raw mut began, &raw mut ended, &raw mut kernel, &raw mut user),
        )
    };
    match (waited == WAIT_TIMEOUT, done != 0) {
        (false, _) => ProcessState::Gone,
        (true, true) => ProcessState::There(u64::from(began.dwHighDateTime) << 32 | u64::from(began.dwLowDateTime)),
        (true, false) => ProcessState::Hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_no_text_comes_back_as_it_was() {
        let alone = PathBuf::from(OsString::from_wide(&[0x43, 0x3a, 0x5c, 0xd800, 0x61]));
        assert!(alone.to_str().is_none());
        for path in [alone, PathBuf::from(r"C:\m\u{fc}ll"), PathBuf::new()] {
            assert_eq!(path_of(bytes_of(&path)), path);
        }
    }
}
