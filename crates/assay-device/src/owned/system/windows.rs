//! Windows: an open directory cannot be renamed or removed, and its entries are opened by path.
//!
//! A handle that denies others the right to delete prevents it (`FILE_SHARE_DELETE` of CreateFileW). NTFS and FAT do
//! not rename a directory either while something below it is open; a file server may. A handle does not prevent removal
//! of the medium, whose drive letter another medium may then get. So the path has the name of the volume instead of the
//! letter, if there is one. Before each use the handle is queried whether the directory is still there, and the path
//! whether it leads to it. Nothing is known about the moment between that and the use, so a file opened in it is
//! verified again.
//!
//! Everything that leads elsewhere (links, junctions and other reparse points) is opened itself and recognised as such.
//! Access control lists are neither read nor set: new files have those of their directory.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::ops::ControlFlow;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_DEV_NOT_EXIST, ERROR_DIRECTORY, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION,
    ERROR_SHARING_VIOLATION, ERROR_UNABLE_TO_MOVE_REPLACEMENT, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ATTRIBUTE_DEVICE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_DISPOSITION_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_FLAG_WRITE_THROUGH, FILE_ID_INFO, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO, FILE_TRAVERSE, FILE_TYPE_DISK, FileDispositionInfo,
    FileIdInfo, FileStandardInfo, GetFileInformationByHandle, GetFileInformationByHandleEx, GetFileType,
    GetFinalPathNameByHandleW, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, MoveFileExW, ReOpenFile, ReplaceFileW,
    SetFileInformationByHandle, UnlockFileEx, VOLUME_NAME_DOS, VOLUME_NAME_GUID,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::Mode;
use super::reserved::is_plain;
use crate::owned::attributes::{EntryKind, OpenHow, Stat};
use crate::owned::{Access, Caching, Space};
use crate::system;

/// Others may open a file that is open here, in any way.
const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// Others may use a directory, but not rename or remove it.
const KEPT: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE;
const ITSELF: u32 = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
/// Offset of the byte that a lock covers: beyond all content, as others cannot read a locked byte.
const LOCKED_BYTE: u64 = 1 << 62;

/// An open directory.
#[derive(Debug)]
pub(in crate::owned) struct Handle {
    /// Its path without links.
    path: PathBuf,
    /// Its attributes when it was opened.
    stat: Stat,
    /// The file that prevents removal. All copies share it, as the directory can only be removed after all are closed.
    keeper: Arc<Mutex<Option<File>>>,
}

impl Handle {
    fn new(file: File, stat: Stat) -> io::Result<Self> {
        let path = path_of(&file, &stat)?;
        Ok(Self { path, stat, keeper: Arc::new(Mutex::new(Some(file))) })
    }

    /// Its path, after verifying that it leads to it.
    fn place(&self) -> io::Result<&Path> {
        // Fails if the medium was removed.
        let kept = self.with(stat_file)?;
        let named = look(&self.path, FILE_READ_ATTRIBUTES, SHARED, ITSELF).and_then(|file| stat_file(&file));
        match named {
            Ok(named) if kept.is_same(&self.stat) && named.is_same(&self.stat) => Ok(&self.path),
            // Not the system's error: a file not found would mean that the directory is there.
            _ => Err(gone()),
        }
    }

    fn at(&self, name: &OsStr) -> io::Result<PathBuf> {
        match name.to_str() {
            Some(plain) if is_plain(plain) => Ok(self.place()?.join(plain)),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "no name of a file on Windows")),
        }
    }

    /// A file that was opened in it, if it is on the same volume.
    fn beside(&self, file: File) -> io::Result<File> {
        if stat_file(&file)?.dev == self.stat.dev { Ok(file) } else { Err(gone()) }
    }

    fn with<T>(&self, asks: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        keeper.as_ref().ok_or(io::ErrorKind::NotFound.into()).and_then(asks)
    }
}

/// The error for a directory whose medium was removed, or whose path leads elsewhere.
fn gone() -> io::Error {
    io::Error::from_raw_os_error(ERROR_DEV_NOT_EXIST.cast_signed())
}

/// A path for an open file with the attributes `stat`: `\\?\Volume{…}\…` if that leads to it, as a letter may be given
/// to another medium; otherwise `\\?\C:\…` or `\\?\UNC\…`.
fn path_of(file: &File, stat: &Stat) -> io::Result<PathBuf> {
    let leads = |path: &PathBuf| {
        let there = look(path, FILE_READ_ATTRIBUTES, SHARED, ITSELF).and_then(|file| stat_file(&file));
        there.is_ok_and(|there| there.is_same(stat))
    };
    match final_path(file, VOLUME_NAME_GUID) {
        Ok(path) if leads(&path) => Ok(path),
        _ => final_path(file, VOLUME_NAME_DOS),
    }
}

/// The system's path for an open file.
fn final_path(file: &File, how: u32) -> io::Result<PathBuf> {
    let mut room = vec![0u16; 512];
    loop {
        let length = u32::try_from(room.len()).unwrap_or(u32::MAX);
        // SAFETY: `room` has `length` elements that only this call writes; the handle is open.
        let copied = unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), room.as_mut_ptr(), length, how) };
        match copied as usize {
            0 => return Err(io::Error::last_os_error()),
            copied if copied < room.len() => return Ok(PathBuf::from(OsString::from_wide(&room[..copied]))),
            more => room.resize(more + 1, 0),
        }
    }
}

/// Opens a path only to query it.
fn look(path: &Path, access: u32, share: u32, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(access).share_mode(share).custom_flags(flags).open(path)
}

/// Opens a path so that it cannot be renamed or removed.
fn keep_open(path: &Path, flags: u32) -> io::Result<File> {
    match look(path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES, KEPT, flags) {
        // A directory that may not be listed can still be used.
        Err(error) if is(&error, ERROR_ACCESS_DENIED) => look(path, FILE_TRAVERSE | FILE_READ_ATTRIBUTES, KEPT, flags),
        opened => opened,
    }
}

fn is(error: &io::Error, code: u32) -> bool {
    error.raw_os_error() == Some(code.cast_signed())
}

fn not_a_directory() -> io::Error {
    io::Error::from_raw_os_error(ERROR_DIRECTORY.cast_signed())
}

/// Opens a directory and follows links.
pub(in crate::owned) fn open_directory(path: &Path) -> io::Result<Handle> {
    // By its path without links, as one of them could lead elsewhere before the next use.
    let found = look(path, FILE_READ_ATTRIBUTES, SHARED, FILE_FLAG_BACKUP_SEMANTICS)?;
    opened(&path_of(&found, &stat_file(&found)?)?)
}

fn opened(path: &Path) -> io::Result<Handle> {
    let file = keep_open(path, ITSELF)?;
    let stat = stat_file(&file)?;
    if stat.kind == EntryKind::Directory { Handle::new(file, stat) } else { Err(not_a_directory()) }
}

/// Opens a directory in another; links are not followed.
pub(in crate::owned) fn directory_in(above: &Handle, name: &OsStr) -> io::Result<Handle> {
    opened(&above.at(name)?)
}

/// Whether [`directory_in`] failed because no directory has that name.
pub(in crate::owned) fn is_no_directory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || is(error, ERROR_DIRECTORY)
}

/// A second handle of the same directory.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(in crate::owned) fn again(directory: &Handle) -> io::Result<Handle> {
    Ok(Handle { path: directory.path.clone(), stat: directory.stat, keeper: Arc::clone(&directory.keeper) })
}

/// Passes each name in it to `visit`.
pub(in crate::owned) fn names(directory: &Handle, visit: &mut dyn FnMut(&OsStr) -> ControlFlow<()>) -> io::Result<()> {
    for entry in fs::read_dir(directory.place()?)? {
        if visit(&entry?.file_name()).is_break() {
            break;
        }
    }
    Ok(())
}

fn flags(caching: Caching) -> u32 {
    FILE_FLAG_OPEN_REPARSE_POINT
        | match caching {
            Caching::Cached => 0,
            Caching::Direct => FILE_FLAG_NO_BUFFERING | FILE_FLAG_WRITE_THROUGH,
        }
}

/// Opens a file; links are not followed.
pub(in crate::owned) fn open_file(directory: &Handle, name: &OsStr, how: OpenHow) -> io::Result<File> {
    let write = how.access == Access::ReadWrite;
    let path = directory.at(name)?;
    let mut options = OpenOptions::new();
    options.read(true).write(write).share_mode(SHARED).custom_flags(flags(how.caching));
    directory.beside(options.open(path)?)
}

/// Nothing to do: [`open_file`] changed no mode that would have to be restored.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(in crate::owned) fn wait_again(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Start and end of the next data of a file, at or behind `from`. Holes are read as zeros here.
pub(in crate::owned) fn next_data(_file: &File, from: u64, bytes: u64) -> io::Result<Option<(u64, u64)>> {
    Ok((from < bytes).then_some((from, bytes)))
}

/// Creates a file that must not exist, for reading and writing.
pub(in crate::owned) fn make_file(directory: &Handle, name: &OsStr, caching: Caching, _mode: Mode) -> io::Result<File> {
    let path = directory.at(name)?;
    let mut new = OpenOptions::new();
    new.read(true).write(true).create_new(true).share_mode(SHARED).custom_flags(flags(caching));
    let file = new.open(path)?;
    keep_if(stat_file(&file).map(|stat| stat.dev == directory.stat.dev), file)
}

/// Returns a file that was just created if it is in the right place. If it is elsewhere, as on a medium that was
/// exchanged at this moment, it is removed.
fn keep_if(in_place: io::Result<bool>, file: File) -> io::Result<File> {
    if matches!(in_place, Ok(true)) {
        return Ok(file);
    }
    // SAFETY: the handle is open.
    let again = unsafe { ReOpenFile(file.as_raw_handle(), DELETE, SHARED, 0) };
    if again != INVALID_HANDLE_VALUE {
        // SAFETY: the handle was just created, and nothing else has it.
        let _ = remove_when_closed(&unsafe { File::from_raw_handle(again) });
    }
    Err(in_place.err().unwrap_or_else(gone))
}

/// Marks an open file, with the right to remove it, for removal as soon as it is closed everywhere.
fn remove_when_closed(file: &File) -> io::Result<()> {
    let gone = FILE_DISPOSITION_INFO { DeleteFile: true };
    // SAFETY: the structure is what the class asks for, and lives until the call returns; the handle is open.
    let done = unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileDispositionInfo,
            (&raw const gone).cast(),
            size_of::<FILE_DISPOSITION_INFO>() as u32,
        )
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes a directory.
pub(in crate::owned) fn make_directory(above: &Handle, name: &OsStr) -> io::Result<()> {
    fs::create_dir(above.at(name)?)
}

/// Removes a file's name.
pub(in crate::owned) fn remove_file(directory: &Handle, name: &OsStr) -> io::Result<()> {
    fs::remove_file(directory.at(name)?)
}

/// Removes an empty directory, which is open as `own` and was verified to still have the name. If it is also open
/// elsewhere it stays, which is an error of the kind [`io::ErrorKind::ResourceBusy`].
pub(in crate::owned) fn remove_directory(above: &Handle, name: &OsStr, own: &Handle, stat: &Stat) -> io::Result<()> {
    let path = above.at(name)?;
    let mut keeper = own.keeper.lock().unwrap_or_else(PoisonError::into_inner);
    // It cannot be removed while this process holds it, and the handle that removes it verifies it again.
    drop(keeper.take());
    let removed = (|| {
        let file = look(&path, DELETE | FILE_READ_ATTRIBUTES, SHARED, ITSELF)?;
        if !stat_file(&file)?.is_same(stat) {
            return Err(io::ErrorKind::NotFound.into());
        }
        remove_when_closed(&file)
    })();
    if removed.is_err() {
        *keeper = keep_open(&path, ITSELF).ok().filter(|file| stat_file(file).is_ok_and(|now| now.is_same(stat)));
    }
    removed.map_err(|error| match error {
        error if is(&error, ERROR_SHARING_VIOLATION) => io::Error::new(io::ErrorKind::ResourceBusy, error),
        error => error,
    })
}

/// Renames a file durably and removes the previous one with that name. With `keeps`, only the content of the previous
/// file is replaced, if the file system supports it: it keeps its access control list, its attributes and its streams,
/// and the system has no way to wait until its name is durable.
pub(in crate::owned) fn rename(directory: &Handle, from: &OsStr, to: &OsStr, keeps: bool) -> io::Result<()> {
    let (from, to) = (wide(&directory.at(from)?), wide(&directory.at(to)?));
    if keeps {
        // SAFETY: the texts end with zeros, and optional arguments are null.
        let done = unsafe {
            ReplaceFileW(to.as_ptr(), from.as_ptr(), std::ptr::null(), 0, std::ptr::null(), std::ptr::null())
        };
        if done != 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        // After this error the old file is gone, and the new one still has its first name.
        if !is(&error, ERROR_UNABLE_TO_MOVE_REPLACEMENT) {
            return Err(error);
        }
    }
    // SAFETY: the texts end with zeros.
    match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// Nothing to wait for: [`rename`] returns when the name is written. For a name that was created or removed, no call
/// exists that works without rights to the whole volume.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(in crate::owned) fn sync_names(_directory: &Handle) -> io::Result<()> {
    Ok(())
}

/// Returns when everything in it and below survives a power cut. A whole volume cannot be synced without rights to it.
pub(in crate::owned) fn sync_all(directory: &Handle) -> io::Result<()> {
    sync_below(directory.place()?, 0)
}

fn sync_below(directory: &Path, depth: u32) -> io::Result<()> {
    /// No program nests directories deeper than this.
    const DEEPEST: u32 = 32;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEEPEST {
            sync_below(&entry.path(), depth + 1)?;
        } else if kind.is_file() {
            let mut options = OpenOptions::new();
            options.write(true).share_mode(SHARED).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
            options.open(entry.path())?.sync_all()?;
        }
    }
    Ok(())
}

/// [`rename`] does this.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(in crate::owned) fn keep(_directory: &Handle, _name: &OsStr, _old: &Stat, _file: &File) -> io::Result<()> {
    Ok(())
}

/// Size and room of the file system.
pub(in crate::owned) fn space(directory: &Handle) -> io::Result<Space> {
    let path = directory.place()?;
    let (bytes, free_bytes) = system::room(path)?;
    let volume = system::volume(path);
    Ok(Space { bytes, free_bytes, read_only: volume.is_some_and(|volume| volume.read_only) })
}

/// Attributes of a directory entry; links are not followed.
pub(in crate::owned) fn stat_in(directory: &Handle, name: &OsStr) -> io::Result<Stat> {
    stat_file(&look(&directory.at(name)?, FILE_READ_ATTRIBUTES, SHARED, ITSELF)?)
}

/// Attributes of an open directory.
pub(in crate::owned) fn stat_directory(directory: &Handle) -> io::Result<Stat> {
    directory.with(stat_file)
}

/// Attributes of an open file.
pub(in crate::owned) fn stat_file(file: &File) -> io::Result<Stat> {
    let handle = file.as_raw_handle();
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the structure is this function's own, and the handle is open.
    let (kind, done) = unsafe { (GetFileType(handle), GetFileInformationByHandle(handle, &raw mut info)) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let bytes = pair(info.nFileSizeHigh, info.nFileSizeLow);
    let has = |attribute: u32| info.dwFileAttributes & attribute != 0;
    Ok(Stat {
        kind: match () {
            () if kind != FILE_TYPE_DISK || has(FILE_ATTRIBUTE_DEVICE) => EntryKind::Device,
            () if has(FILE_ATTRIBUTE_REPARSE_POINT) => EntryKind::Link,
            () if has(FILE_ATTRIBUTE_DIRECTORY) => EntryKind::Directory,
            () => EntryKind::File,
        },
        mode: 0,
        uid: 0,
        gid: 0,
        links: info.nNumberOfLinks.into(),
        bytes,
        taken_bytes: taken(file).unwrap_or(bytes),
        number: number(file).unwrap_or_else(|| pair(info.nFileIndexHigh, info.nFileIndexLow).into()),
        dev: (0, info.dwVolumeSerialNumber),
        mount: None,
    })
}

/// The number of a file in 128 bits. Only ReFS needs all of them; `None` if the file system has numbers of 64 bits.
fn number(file: &File) -> Option<u128> {
    let mut info = FILE_ID_INFO::default();
    // SAFETY: the structure is what the class gives, and this function's own; the handle is open.
    let done = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileIdInfo,
            (&raw mut info).cast(),
            size_of::<FILE_ID_INFO>() as u32,
        )
    };
    if done == 0 { None } else { Some(u128::from_le_bytes(info.FileId.Identifier)) }
}

/// The space that a file takes in bytes.
fn taken(file: &File) -> Option<u64> {
    let mut info = FILE_STANDARD_INFO::default();
    // SAFETY: the structure is what the class gives, and this function's own; the handle is open.
    let done = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStandardInfo,
            (&raw mut info).cast(),
            size_of::<FILE_STANDARD_INFO>() as u32,
        )
    };
    if done == 0 { None } else { u64::try_from(info.AllocationSize).ok() }
}

/// Position of the locked byte.
fn locked_byte() -> OVERLAPPED {
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.Offset = LOCKED_BYTE as u32;
    at.Anonymous.Anonymous.OffsetHigh = (LOCKED_BYTE >> 32) as u32;
    at
}

/// Takes a lock on a file without waiting; false if another process holds it. On a file system without locks, every
/// process gets it.
pub(in crate::owned) fn lock(file: &File) -> io::Result<bool> {
    let mut at = locked_byte();
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open for synchronous calls, so nothing keeps the structure after the call.
    match unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &raw mut at) } {
        0 => match io::Error::last_os_error() {
            error if is(&error, ERROR_LOCK_VIOLATION) || is(&error, ERROR_IO_PENDING) => Ok(false),
            error if error.kind() == io::ErrorKind::Unsupported => Ok(true),
            error => Err(error),
        },
        _ => Ok(true),
    }
}

/// Releases it.
pub(in crate::owned) fn unlock(file: &File) {
    let mut at = locked_byte();
    // SAFETY: as in `lock`.
    unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut at) };
}

/// Whether another process holds the lock of a file opened for reading.
pub(in crate::owned) fn is_taken(file: &File) -> bool {
    let mut at = locked_byte();
    // SAFETY: as in `lock`.
    if unsafe { LockFileEx(file.as_raw_handle(), LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &raw mut at) } == 0 {
        return is(&io::Error::last_os_error(), ERROR_LOCK_VIOLATION);
    }
    unlock(file);
    false
}

/// Whether other hosts may use the file system at the same time.
pub(in crate::owned) fn is_shared(directory: &Handle, _dev: (u32, u32)) -> bool {
    system::volume(&directory.path).is_some_and(|volume| volume.remote)
}

/// Windows has no identifier of a host's start. The host name is used instead, and a lock that it held before ends with
/// it.
pub(in crate::owned) fn boot() -> String {
    crate::host_name().replace(' ', "-")
}

/// Owners are not tested.
pub(in crate::owned) fn keeps_no_owners(_directory: &Handle) -> bool {
    true
}

/// The user who runs assay, the same for all users.
pub(in crate::owned) fn user() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_made_elsewhere_is_removed_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("stray");
        let made = |caching| {
            let mut new = OpenOptions::new();
            new.read(true).write(true).create_new(true).share_mode(SHARED).custom_flags(flags(caching));
            new.open(&path).unwrap()
        };
        for caching in [Caching::Cached, Caching::Direct] {
            let file = keep_if(Ok(true), made(caching)).unwrap();
            assert!(path.exists());
            drop(file);
            fs::remove_file(&path).unwrap();
            assert!(is(&keep_if(Ok(false), made(caching)).unwrap_err(), ERROR_DEV_NOT_EXIST));
            assert!(!path.exists());
            let refused = keep_if(Err(io::ErrorKind::PermissionDenied.into()), made(caching)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
            assert!(!path.exists());
        }
    }
}
