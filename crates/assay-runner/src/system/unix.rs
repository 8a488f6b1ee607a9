//! What any Unix has.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Child, Command};

use rustix::fs::{Access, StatVfsMountFlags, access, fstatvfs, statvfs};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A shell that runs its argument and, where assay is killed meanwhile, kills its own group: the command and
/// all that it started. The kernel's signal at the death of a parent reaches the shell alone.
const GUARD: &str = r#"trap 'kill -KILL 0' TERM; eval "$1" & wait "$!""#;
/// The shell's name, for messages.
pub(crate) const SHELL: &str = "sh";

/// Number of the error of what took too long (errno(3)).
pub(crate) const TIMED_OUT: i32 = rustix::io::Errno::TIMEDOUT.raw_os_error();

/// Whether a path is a raw device.
pub(crate) fn is_device(meta: &Metadata) -> bool {
    meta.file_type().is_block_device()
}

/// Whether the file system under a path refuses writes.
pub(crate) fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|fs| fs.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether files can be made in a directory.
pub(crate) fn may_make_in(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Whether the file system of an open file refuses writes by now.
pub(crate) fn turned_read_only(file: &File) -> Option<String> {
    let read_only = fstatvfs(file).is_ok_and(|fs| fs.f_flag.contains(StatVfsMountFlags::RDONLY));
    read_only.then(|| "the file system turned read-only".to_owned())
}

/// A command line of the user, run by a shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new(SHELL);
    shell.args(["-c", GUARD, SHELL, line]);
    shell
}

/// The process group that a process leads.
#[derive(Debug)]
pub(crate) struct Group(Pid);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Kills all in it; the leader was not waited for yet, so that the number is its own.
    pub(crate) fn kill(&self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

/// Waits for the end of a process, whose number stays its own until it is waited for as a child.
pub(crate) fn wait_for_end(child: &Child) {
    let _ = waitid(WaitId::Pid(Pid::from_child(child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
}
