//! What commands ask of the system, on Windows.

use std::fs::{File, Metadata};
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assay_device::owned::Directory;
use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, ENABLE_VIRTUAL_TERMINAL_PROCESSING, FlushConsoleInputBuffer, GetConsoleMode,
    GetConsoleScreenBufferInfo, SetConsoleMode,
};

/// There is no root.
pub(crate) fn is_root() -> bool {
    false
}

/// Columns and rows of the window behind a stream; `None` where there is none.
pub(crate) fn terminal(stream: &impl AsHandle) -> Option<(u16, u16)> {
    let mut info = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: the handle is open while the stream is borrowed, and the structure is this function's own.
    let done = unsafe { GetConsoleScreenBufferInfo(stream.as_handle().as_raw_handle(), &raw mut info) };
    let window = info.srWindow;
    let length = |first: i16, last: i16| u16::try_from(i32::from(last) - i32::from(first) + 1).ok();
    if done == 0 { None } else { Some((length(window.Left, window.Right)?, length(window.Top, window.Bottom)?)) }
}

/// Whether an open file is the one that is at `path` now. What is open here keeps its name until it is closed.
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Whether consoles obey control sequences, which they are asked to once; Windows 10 and later can.
pub(crate) fn terminal_obeys() -> bool {
    static OBEYS: OnceLock<bool> = OnceLock::new();
    *OBEYS.get_or_init(|| obeys(&std::io::stdout()) & obeys(&std::io::stderr()))
}

/// A stream that is no console has nothing to obey.
fn obeys(stream: &impl AsHandle) -> bool {
    let handle = stream.as_handle().as_raw_handle();
    let mut mode = 0;
    // SAFETY: the handle is open while the stream is borrowed; a number is written.
    if unsafe { GetConsoleMode(handle, &raw mut mode) } == 0 {
        return true;
    }
    // SAFETY: as above.
    unsafe { SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0 }
}

/// Forgets what was typed and not read.
pub(crate) fn forget_typed() {
    // SAFETY: the handle of standard input is open as long as the process.
    unsafe { FlushConsoleInputBuffer(std::io::stdin().as_handle().as_raw_handle()) };
}

/// No path is one.
pub(crate) fn is_device(_meta: &Metadata) -> bool {
    false
}

/// Paths of devices have no metadata, and are tried as those of files.
pub(crate) fn takes_text(_meta: &Metadata) -> bool {
    true
}

/// Opens a file to be read.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reading waits always.
pub(crate) fn read_as_usual(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Pipes have no names among files.
pub(crate) fn is_pipe(_file: &File) -> io::Result<bool> {
    Ok(false)
}

/// Nothing is asked of a pipe here.
pub(crate) fn has_writer(_pipe: &File, _first: &mut Vec<u8>) -> io::Result<bool> {
    Ok(true)
}

/// Whether a new file may take the place of one in this directory: lists of rights are not read, it is tried.
pub(crate) fn may_swap(directory: &Path, exists: Option<&Metadata>) -> bool {
    exists.is_none() || Directory::open(directory).is_ok_and(|directory| directory.can_make().is_ok())
}

/// Why a link is not followed.
pub(crate) const PLANTED: &str = "it is a link or junction, which are not followed on Windows";

/// A link is never followed where a file is written: a junction needs no rights, a symbolic link none in developer mode,
/// and who made it is not asked for.
pub(crate) fn is_planted(_link: &Metadata, _above: &Metadata) -> bool {
    true
}

/// Lists of rights are not read.
pub(crate) fn foreign_owner(_directory: &Path) -> Option<u32> {
    None
}

/// Launchers, and what they start, are programs of Unix.
pub(crate) const MEASURES_NODES: bool = false;

/// No device is probed on Windows, so that none can need a journal.
pub(crate) fn devices_under(_target: &Path) -> Vec<PathBuf> {
    Vec::new()
}
