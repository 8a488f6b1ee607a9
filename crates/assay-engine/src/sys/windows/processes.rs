//! Other processes: programs that run in place of an engine, work for this one and must not outlive it, and what they move.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use windows_sys::Win32::Storage::FileSystem::{FILE_ATTRIBUTE_TEMPORARY, FILE_FLAG_DELETE_ON_CLOSE};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, GetCurrentProcess, GetProcessIoCounters, IO_COUNTERS, OpenProcess,
    PROCESS_QUERY_LIMITED_INFORMATION,
};

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
