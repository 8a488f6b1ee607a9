//! Windows. Access is governed by access control lists of the directory, which new files inherit. The list of
//! `%LOCALAPPDATA%` gives other users no access, except for administrators. Elsewhere, as in `ASSAY_DATA`, the
//! directory's lists apply; they are not tested.

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

/// Variables that give a directory for the store, each with the path below it, in order of precedence.
pub(crate) const HOMES: [(&str, &str); 1] = [("LOCALAPPDATA", "assay")];

/// Fills `bytes` with unpredictable random data.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| ErrorKind::InvalidInput)?;
    // SAFETY: the system writes `length` bytes to a buffer of that size; with this flag it takes no handle.
    let status =
        unsafe { BCryptGenRandom(std::ptr::null_mut(), bytes.as_mut_ptr(), length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) };
    if status >= 0 { Ok(()) } else { Err(io::Error::other("the system gives no random numbers")) }
}

/// First byte of a path that is not text; no path and no text in UTF-8 contains this byte.
const UNITS: u8 = 0xff;

/// Converts a path to bytes for [`path_of`]: UTF-8, or if it contains an unpaired surrogate, a byte 0xff and the units
/// of UTF-16, each with its low byte first.
#[must_use]
pub fn bytes_of(path: &Path) -> Vec<u8> {
    match path.to_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => [UNITS].into_iter().chain(path.as_os_str().encode_wide().flat_map(u16::to_le_bytes)).collect(),
    }
}

/// Converts bytes back to a path.
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

/// Converts a path to bytes in a URI, where it begins with a slash (<https://www.sqlite.org/uri.html>).
pub(crate) fn path_in_uri(path: &Path) -> Vec<u8> {
    let path = path.to_string_lossy().replace('\\', "/");
    if path.starts_with('/') { path } else { format!("/{path}") }.into_bytes()
}

/// Does nothing: without rights to the whole volume, there is no call that syncs names of new files and directories.
/// NTFS writes them soon, by its journal. Renames are waited for ([`rename`]).
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(crate) fn sync_directory(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Renames a file, and returns when the name survives a power cut.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (wide(from), wide(to));
    // SAFETY: the texts end with zeros.
    match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The identity of the file at a path.
pub(crate) fn inode(file: &Path) -> io::Result<Inode> {
    let open = OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).open(file)?;
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the structure is local to this function, and the handle is open.
    if unsafe { GetFileInformationByHandle(open.as_raw_handle(), &raw mut info) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let number = u64::from(info.nFileIndexHigh) << 32 | u64::from(info.nFileIndexLow);
    Ok(Inode { device: info.dwVolumeSerialNumber.into(), number, names: info.nNumberOfLinks.into() })
}

/// Fails unless `path` may be used for `need`, according to its attributes. A refusal by access lists only shows on
/// use.
pub(crate) fn may(path: &Path, need: Need) -> io::Result<()> {
    let meta = fs::metadata(path)?;
    if need == Need::ReadWrite && meta.permissions().readonly() {
        return Err(io::Error::from_raw_os_error(ERROR_WRITE_PROTECT.cast_signed()));
    }
    Ok(())
}

/// Opens the file that is locked while a store is set up: the store's file, created if missing, as directories cannot
/// be locked.
pub(crate) fn open_set_up(_dir: &Path, file: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file)
}

/// Takes the lock on a file from [`open_set_up`] without waiting; an error of the kind [`ErrorKind::WouldBlock`] if
/// another process holds it. It ends with the file. The locked byte is beyond all bytes that SQLite reads and locks
/// itself.
pub(crate) fn lock(open: &File) -> io::Result<()> {
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.OffsetHigh = 1 << 30;
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open for synchronous calls, so nothing keeps the structure after the call.
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

/// Kind of a directory's file system as a Linux number: SMB if it is on another host, otherwise 0.
pub(crate) fn kind_of(dir: &Path) -> io::Result<u64> {
    const SMB2: u64 = 0xfe53_4d42;
    let dir = wide(&std::path::absolute(dir)?);
    let mut point = vec![0u16; dir.len() + 8];
    // SAFETY: the first is a text that ends with a zero; the second has as many elements as stated.
    if unsafe { GetVolumePathNameW(dir.as_ptr(), point.as_mut_ptr(), point.len() as u32) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `point` ends with a zero.
    let remote = unsafe { GetDriveTypeW(point.as_ptr()) } == DRIVE_REMOTE;
    Ok(if remote { SMB2 } else { 0 })
}

/// Whether the file system of a directory has no space left for this user.
pub(crate) fn is_full(dir: &Path) -> bool {
    let (dir, mut free) = (wide(&dir.join("")), u64::MAX);
    // SAFETY: the text ends with a zero, and the output goes to a number.
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

/// Windows has no boot id. No two processes of a host have the same start time and the same number.
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

/// All processes of a host share one name space of numbers.
pub(crate) fn process_numbers() -> String {
    String::new()
}

/// State of a process: its start time in units of 100 ns since 1601.
pub(crate) fn process(pid: u32) -> ProcessState {
    // SAFETY: the call takes numbers; the returned handle is closed below.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE, 0, pid) };
    if handle.is_null() {
        let gone = is(&io::Error::last_os_error(), ERROR_INVALID_PARAMETER);
        return if gone { ProcessState::Gone } else { ProcessState::Hidden };
    }
    // SAFETY: the handle was just created, and nothing else owns it.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    let [mut began, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    let process = handle.as_raw_handle();
    // SAFETY: the handle is open, and the structures are local to this function.
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
