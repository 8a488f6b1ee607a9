//! Files: opened, opened once more in another way, read and written at a place, made durable.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt, OpenOptionsExt};
pub use std::os::windows::io::AsHandle as AsOpen;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::OnceLock;

use assay_core::workload::Sync;
use windows_sys::Wdk::Foundation::{NtQueryObject, ObjectBasicInformation};
use windows_sys::Win32::Foundation::{ERROR_IO_DEVICE, INVALID_HANDLE_VALUE, RtlNtStatusToDosError};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OPEN_REPARSE_POINT, FILE_FLAG_WRITE_THROUGH,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STORAGE_INFO, FileStorageInfo,
    GetFileInformationByHandleEx, ReOpenFile,
};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};
use windows_sys::Win32::System::WindowsProgramming::PUBLIC_OBJECT_BASIC_INFORMATION;

/// Error number of an operation that failed without one.
pub(crate) const IO_ERROR: i32 = ERROR_IO_DEVICE as i32;
/// What opens a file past the cache, in messages.
pub(crate) const DIRECT: &str = "FILE_FLAG_NO_BUFFERING";
/// What else there is to say where that is refused; see [`forget`].
pub(crate) const CACHED: &str = ", and Windows drops nothing that it has cached of an open file";

/// A new file is for whom its directory says.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// What a handle past the cache is opened with: neither the system nor, where it obeys, the device keeps writes back.
fn flags(direct: bool) -> u32 {
    if direct { FILE_FLAG_NO_BUFFERING | FILE_FLAG_WRITE_THROUGH } else { 0 }
}

/// Opens what `options` say, past the cache where that is `direct`; no link is followed.
///
/// # Errors
/// The system's; or where it is a link or another reparse point, whose content is not on this medium for sure.
pub(crate) fn open(path: &Path, direct: bool, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(flags(direct) | FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    match file.metadata()?.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT {
        0 => Ok(file),
        _ => Err(io::Error::other("it is a link or another reparse point; name the file itself")),
    }
}

/// A handle of its own to an open file, with the same rights: one for each thread, since Windows makes the operations by
/// one handle wait for each other.
///
/// # Errors
/// The system's; a file that was opened without sharing cannot be opened again.
pub(crate) fn reopen(file: &File, direct: bool, more_flags: u32) -> io::Result<File> {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: the handle is open for as long as `file` is borrowed, and the one that comes back is owned here alone.
    let handle = unsafe { ReOpenFile(file.as_raw_handle(), rights(file)?, share, flags(direct) | more_flags) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a handle that was just opened, and is owned here alone.
    Ok(unsafe { File::from_raw_handle(handle) })
}

/// What an open file may be used for.
fn rights(file: &File) -> io::Result<u32> {
    let mut info = PUBLIC_OBJECT_BASIC_INFORMATION::default();
    let bytes = size_of_val(&info) as u32;
    let to = (&raw mut info).cast();
    // SAFETY: the handle is open, and the structure of this class is written for the time of the call.
    let status =
        unsafe { NtQueryObject(file.as_raw_handle(), ObjectBasicInformation, to, bytes, std::ptr::null_mut()) };
    match status {
        0.. => Ok(info.GrantedAccess),
        _ => Err(of_status(status)),
    }
}

/// The error that a status of the kernel stands for.
pub(crate) fn of_status(status: i32) -> io::Error {
    // SAFETY: a number for a number.
    io::Error::from_raw_os_error(unsafe { RtlNtStatusToDosError(status) } as i32)
}

/// Waits until what was written is durable: Windows knows one way.
pub(crate) fn sync(file: &File, how: Sync) -> io::Result<()> {
    match how {
        Sync::End => Ok(()),
        Sync::Fdatasync | Sync::Fsync => file.sync_all(),
    }
}

/// Says that nothing is dropped: file systems drop what is cached of a file when its last cached handle closes, if they do,
/// and no handle of another kind has that done before.
///
/// # Errors
/// Always, of the kind [`io::ErrorKind::Unsupported`].
pub fn forget(_file: &File) -> io::Result<()> {
    let why = "Windows drops nothing that it has cached of a file that is open";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

/// What the system tells of direct I/O on a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DirectRequirement {
    /// It takes multiples of this many bytes, according to this source.
    Alignment(u32, &'static str),
    /// It is not possible, and this is why.
    #[expect(dead_code, reason = "Windows tells that by refusing to open the file")]
    Never(&'static str),
    Nothing,
}

/// Windows 8 and later tell the sectors of the volume.
pub(crate) fn direct_requirement(file: impl AsHandle) -> DirectRequirement {
    let mut info = FILE_STORAGE_INFO::default();
    let bytes = size_of_val(&info) as u32;
    let handle = file.as_handle();
    // SAFETY: the handle is open while it is borrowed, and the structure of this class is written for the time of the call.
    let done =
        unsafe { GetFileInformationByHandleEx(handle.as_raw_handle(), FileStorageInfo, (&raw mut info).cast(), bytes) };
    match info.LogicalBytesPerSector {
        sector if done != 0 && sector.is_power_of_two() => DirectRequirement::Alignment(sector, "FileStorageInfo"),
        _ => DirectRequirement::Nothing,
    }
}

/// Reads and writes at a place, by the names that Unix has for it.
pub trait FileExt {
    /// Reads at the byte `offset`; fewer bytes than asked at the end of the file, none behind it.
    ///
    /// # Errors
    /// The system's.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at the byte `offset`, and tells how much.
    ///
    /// # Errors
    /// The system's.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize>;

    /// Reads all of `buffer` from the byte `offset`.
    ///
    /// # Errors
    /// The system's; `UnexpectedEof` where the file ends before.
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => {
                    buffer = &mut buffer[bytes..];
                    offset += bytes as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of `data` at the byte `offset`.
    ///
    /// # Errors
    /// The system's; `WriteZero` where it takes nothing.
    fn write_all_at(&self, mut data: &[u8], mut offset: u64) -> io::Result<()> {
        while !data.is_empty() {
            match self.write_at(data, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    data = &data[bytes..];
                    offset += bytes as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.seek_read(buffer, offset)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.seek_write(data, offset)
    }
}

/// By what one thread reads and writes an open file at any place: a handle of its own.
#[derive(Debug)]
pub(crate) struct Channel<'a> {
    file: File,
    /// What it was opened from.
    _of: std::marker::PhantomData<&'a File>,
}

impl<'a> Channel<'a> {
    pub(crate) fn to_file(file: &'a File, direct: bool) -> io::Result<Self> {
        Ok(Self { file: reopen(file, direct, 0)?, _of: std::marker::PhantomData })
    }

    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.seek_read(buffer, offset)
    }

    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.file.seek_write(data, offset)
    }
}

// Memory outside of the heap.

/// Maps `length` zeroed bytes, aligned to 64 KiB and touched; `length` is at least 1.
///
/// # Errors
/// The system's where memory is short.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: fresh memory at an address of the system's choice.
    let start = unsafe { VirtualAlloc(std::ptr::null(), length, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    let start = NonNull::new(start.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
    for at in (0..length).step_by(page_bytes()) {
        // SAFETY: within the memory that was just made, which nothing else knows. No page fault falls into the timed part.
        unsafe { start.as_ptr().add(at).write_volatile(0) };
    }
    Ok(start)
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// `start` is of one call of [`map`], nothing uses the memory any more, and this is the only call.
pub(crate) unsafe fn unmap(start: NonNull<u8>, _length: usize) {
    // SAFETY: as the caller promises; all of it is released. An error would mean a wrong address.
    let _ = unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
}

/// Size of a page in bytes.
pub(crate) fn page_bytes() -> usize {
    static PAGE: OnceLock<usize> = OnceLock::new();
    *PAGE.get_or_init(|| {
        let mut info = SYSTEM_INFO::default();
        // SAFETY: it writes the structure, and does not fail.
        unsafe { GetSystemInfo(&mut info) };
        usize::try_from(info.dwPageSize).unwrap_or(0).max(4096)
    })
}
