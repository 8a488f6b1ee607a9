//! Processes that work for this one and must not outlive it.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Command;
use std::sync::OnceLock;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

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
