//! What sessions ask of the system beside engines and media, on Windows.

use std::fs::{File, Metadata};
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use assay_device::owned::Directory;
use windows_sys::Win32::Foundation::ERROR_TIMEOUT;
use windows_sys::Win32::Storage::FileSystem::{FILE_ALLOCATION_INFO, FileAllocationInfo, SetFileInformationByHandle};
use windows_sys::Win32::System::Threading::{INFINITE, TerminateProcess, WaitForSingleObject};

/// The shell's name, for messages.
pub(crate) const SHELL: &str = "cmd";

/// Number of the error of what took too long (winerror.h).
pub(crate) const TIMED_OUT: i32 = ERROR_TIMEOUT.cast_signed();

/// No path is one.
pub(crate) fn is_device(_meta: &Metadata) -> bool {
    false
}

/// What is known of the volume tells.
pub(crate) fn is_read_only(_path: &Path) -> bool {
    false
}

/// What lists of rights forbid shows when a directory is made.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(crate) fn may_make_in(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Reserves room for a file where the file system can.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    let room = FILE_ALLOCATION_INFO { AllocationSize: bytes.cast_signed() };
    // SAFETY: the structure is what the class asks for, and lives until the call returns; the handle is open.
    let done = unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileAllocationInfo,
            (&raw const room).cast(),
            size_of::<FILE_ALLOCATION_INFO>() as u32,
        )
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Nothing names a file that is open; tools that would need it are refused on Windows.
pub(crate) fn path_of(_file: &File) -> String {
    String::new()
}

/// A path by which other programs reach a directory, which cannot be replaced while it is open here.
pub(crate) fn path_of_directory(directory: &Directory) -> PathBuf {
    directory.path().to_owned()
}

/// No file system is known to stop so.
pub(crate) fn write_failure(_file: &File) -> Option<String> {
    None
}

/// A command line of the user, run by a shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new(SHELL);
    // As it is: cmd has rules of its own for what is quoted.
    shell.args(["/d", "/c"]).raw_arg(line);
    shell
}

/// A process. What it started ends with this process at the latest, with which it shares a job.
#[derive(Debug)]
pub(crate) struct Group(Option<OwnedHandle>);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        Self(child.as_handle().try_clone_to_owned().ok())
    }

    pub(crate) fn kill(&self) {
        if let Some(process) = &self.0 {
            // SAFETY: the handle is open; a process that ended already is not changed.
            unsafe { TerminateProcess(process.as_raw_handle(), 1) };
        }
    }
}

/// Waits for the end of a process.
pub(crate) fn wait_for_end(child: &Child) {
    // SAFETY: the handle is open while the child is borrowed.
    unsafe { WaitForSingleObject(child.as_raw_handle(), INFINITE) };
}
