//! Windows, from Windows 10 on: files, the host, and other processes.

pub use std::os::windows::io::AsHandle as AsOpen;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt, OpenOptionsExt};
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use assay_core::priority::Priority;
use assay_core::workload::Sync;
use windows_sys::Wdk::Foundation::{NtQueryObject, ObjectBasicInformation};
use windows_sys::Win32::Foundation::{ERROR_IO_DEVICE, INVALID_HANDLE_VALUE, RtlNtStatusToDosError};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_TEMPORARY, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_NO_BUFFERING,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_FLAG_WRITE_THROUGH, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
    FILE_STORAGE_INFO, FileStorageInfo, GetFileInformationByHandleEx, ReOpenFile,
};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, GetProcessIoCounters,
    IO_COUNTERS, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, SetThreadAffinityMask,
};
use windows_sys::Win32::System::WindowsProgramming::PUBLIC_OBJECT_BASIC_INFORMATION;

use crate::contract::EngineKind;

/// The engine of this system that keeps several operations in flight by itself.
pub const ASYNCHRONOUS: EngineKind = EngineKind::Iocp;
/// What the engine is made of that keeps several operations in flight by itself, for people.
pub const QUEUE: &str = "an I/O completion port";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "ReadFile/WriteFile";

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

// The host: its processors, its clock, who this process is, and priorities of operations. Affinity masks have the
// processors of one group, 64 at most.

/// Whether a thread can be kept on a processor.
pub const PINS: bool = true;

/// The processors that this process may use, by their numbers. Empty where the system does not tell.
#[must_use]
pub fn processors() -> Vec<u32> {
    let (mut own, mut all) = (0, 0);
    // SAFETY: it writes two numbers; the handle of this process needs no closing.
    let done = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut all) };
    // Threads in several groups have no mask: it is 0.
    (0..usize::BITS).filter(|cpu| done != 0 && own >> cpu & 1 == 1).collect()
}

/// Keeps this thread on one processor from now on.
pub(crate) fn pin(processor: u32) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("a thread could not be kept on processor {processor}: {why}");
    let Some(mask) = 1usize.checked_shl(processor) else {
        return Err(failed(&"Windows has no more than 64 in a group"));
    };
    // SAFETY: numbers alone; the handle of this thread needs no closing.
    match unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } {
        0 => Err(failed(&std::io::Error::last_os_error())),
        _ => Ok(()),
    }
}

// Priorities of operations: the priorities of Windows are others.

/// Whether operations can have a priority.
pub const PRIORITIES: bool = false;

/// Refuses.
pub(crate) fn prioritise(_: Priority) -> Result<(), String> {
    Err("priorities of operations are a part of Linux".to_owned())
}

// Monotonic time.

/// `QueryPerformanceCounter` in nanoseconds. It counts on through a sleep of the machine, and its unit is 100 ns where
/// its frequency is 10 MHz, as it is on most machines.
#[inline]
#[must_use]
pub fn monotonic() -> u64 {
    let mut count = 0;
    // SAFETY: it writes one number, and does not fail since Windows XP.
    unsafe { QueryPerformanceCounter(&mut count) };
    let (count, frequency) = (count as u64, frequency());
    (count / frequency).wrapping_mul(1_000_000_000).wrapping_add(count % frequency * 1_000_000_000 / frequency)
}

/// Counts a second; fixed while the machine runs.
#[inline]
fn frequency() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    *FREQUENCY.get_or_init(|| {
        let mut frequency = 0;
        // SAFETY: as above.
        unsafe { QueryPerformanceFrequency(&mut frequency) };
        (frequency as u64).max(1)
    })
}

// Who this process is.

/// There is no such user.
#[must_use]
pub fn is_root() -> bool {
    false
}

// Other processes: programs that run in place of an engine, work for this one and must not outlive it, and what they move.

/// Whether fio and other tools are run in place of an engine here.
pub const RUNS_TOOLS: bool = false;

/// A file for temporary content that the system removes when its last handle is closed, whatever ends this process.
pub(crate) fn nameless_file(name: &str) -> io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("assay-{name}-{}-{number}", std::process::id()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    options.attributes(FILE_ATTRIBUTE_TEMPORARY).custom_flags(FILE_FLAG_DELETE_ON_CLOSE).open(path)
}

/// Has the process that `command` will start lead a group of its own: Ctrl-C comes to this process alone.
pub fn lead_a_group(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// How the program ended, if it did.
pub(crate) fn ended(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    child.try_wait()
}

/// Asks the program, which leads a group, to end: Ctrl-Break, since a new group hears no Ctrl-C.
pub(crate) fn interrupt(child: &Child) {
    // SAFETY: numbers alone. The process was not waited for, so that its number is its own.
    let _ = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, child.id()) };
}

/// Terminates the program.
pub(crate) fn kill_all(child: &mut Child) {
    let _ = child.kill();
}

// Processes that work for this one and must not outlive it.

/// How a process that must not outlive this one is ended. Windows knows one way: it is terminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(());

impl Signal {
    /// It is terminated.
    pub const KILL: Self = Self(());
    /// It is terminated, too.
    pub const TERM: Self = Self(());
}

/// Has the system end the process that `command` will start, and all that it starts itself, as soon as this process
/// ends, however it ends: they belong to a job object whose only handle is in this process. Where no job can be
/// made, they are ended by this process alone.
pub fn end_with_this_process(_command: &mut Command, _signal: Signal) {
    static JOB: OnceLock<Option<OwnedHandle>> = OnceLock::new();
    JOB.get_or_init(|| join().ok());
}

/// Puts this process, and what it will start, into a job that ends with its handle.
fn join() -> io::Result<OwnedHandle> {
    // SAFETY: no attributes and no name; the handle that comes back is owned here alone, and is not inherited.
    let job = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a handle that was just made, and is owned here alone.
    let job = unsafe { OwnedHandle::from_raw_handle(job) };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let bytes = size_of_val(&limits) as u32;
    // SAFETY: the structure of this class with its size, read for the time of the call; both handles are open.
    let joined = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            bytes,
        ) != 0
            && AssignProcessToJobObject(job.as_raw_handle(), GetCurrentProcess()) != 0
    };
    if joined { Ok(job) } else { Err(io::Error::last_os_error()) }
}

// What another program moves, as the system counts it: `ReadTransferCount` and `WriteTransferCount` of
// `GetProcessIoCounters`. They hold all that it reads and writes, pipes and cached files included.

/// The counts of one process.
#[derive(Debug)]
pub(crate) struct Meter {
    process: Option<OwnedHandle>,
}

impl Meter {
    pub(crate) fn of_process(process: u32) -> Self {
        // SAFETY: numbers alone; the handle that comes back is owned here alone.
        let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
        // SAFETY: a handle that was just opened, and is owned here alone.
        Self { process: (!handle.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(handle) }) }
    }

    /// Bytes read and written so far; `None` where the system does not tell.
    pub(crate) fn read(&self) -> Option<u64> {
        let mut counts = IO_COUNTERS::default();
        // SAFETY: the handle is open for as long as `self` is, and it writes the structure.
        let done = unsafe { GetProcessIoCounters(self.process.as_ref()?.as_raw_handle(), &mut counts) };
        (done != 0).then(|| counts.ReadTransferCount.saturating_add(counts.WriteTransferCount))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_on_a_processor_that_is_there() {
        let all = processors();
        let last = *all.last().unwrap();
        assert_eq!(std::thread::spawn(move || pin(last)).join().unwrap(), Ok(()));
        assert!(std::thread::spawn(|| pin(64)).join().unwrap().unwrap_err().contains("processor 64"));
        let missing = (0..usize::BITS).find(|cpu| !all.contains(cpu));
        if let Some(missing) = missing {
            assert!(std::thread::spawn(move || pin(missing)).join().unwrap().is_err());
        }
    }
}
