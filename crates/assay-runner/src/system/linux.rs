//! What sessions ask of the system beside engines and media, on Linux.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use assay_device::owned::Directory;
use rustix::fs::{Access, FallocateFlags, StatVfsMountFlags, access, fallocate, fstat, fstatvfs, statvfs};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Reserves room for a file, which gets that size, where the file system can.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    Ok(fallocate(file, FallocateFlags::empty(), 0, bytes)?)
}

fn open(fd: BorrowedFd<'_>) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), fd.as_raw_fd())
}

/// A path by which other programs reach a file that is open here.
pub(crate) fn path_of(file: &File) -> String {
    open(file.as_fd())
}

/// A path by which other programs reach a directory that is open here.
pub(crate) fn path_of_directory(directory: &Directory) -> PathBuf {
    open(directory.as_fd()).into()
}

/// How the file system of an open file stopped writing, if it did.
pub(crate) fn write_failure(file: &File) -> Option<String> {
    let turned = turned_read_only(file);
    if turned.is_some() {
        return turned;
    }
    // ext4 since Linux 6.15 stops writing without the flag, and says so in its options.
    let device = fstat(file).ok()?.st_dev;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    given_up(&mounts, rustix::fs::major(device), rustix::fs::minor(device))
}

/// Looks for a file system that gave up in mountinfo, proc_pid_mountinfo(5): the device is the
/// third field, the options of the file system are the last one.
fn given_up(mounts: &str, major: u32, minor: u32) -> Option<String> {
    let device = format!("{major}:{minor}");
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device.as_str()))?;
    let options = line.rsplit(' ').next()?;
    let word = options.split(',').find(|option| ["ro", "emergency_ro", "shutdown"].contains(option))?;
    Some(match word {
        "shutdown" => "the file system shut itself down".to_owned(),
        _ => "the file system turned read-only".to_owned(),
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_gave_up_says_so_in_its_options() {
        let line = |options: &str| {
            format!("22 1 0:21 / /proc rw - proc proc rw\n36 35 7:3 / /mnt/a rw,noatime - ext4 /dev/loop3 {options}\n")
        };
        let of = |options: &str| given_up(&line(options), 7, 3);
        assert_eq!(of("rw,errors=remount-ro"), None);
        assert_eq!(of("rw,emergency_ro,errors=remount-ro").unwrap(), "the file system turned read-only");
        assert_eq!(of("ro").unwrap(), "the file system turned read-only");
        assert_eq!(of("rw,shutdown").unwrap(), "the file system shut itself down");
        assert_eq!(given_up(&line("ro"), 8, 3), None, "another device");
    }
}
