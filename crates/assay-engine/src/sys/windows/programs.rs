//! Other programs: started, interrupted and waited for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

use windows_sys::Win32::Storage::FileSystem::{FILE_ATTRIBUTE_TEMPORARY, FILE_FLAG_DELETE_ON_CLOSE};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

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
