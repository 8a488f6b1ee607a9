//! What sessions ask of the system beside engines and media, on Linux.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

use assay_device::owned::Directory;
use rustix::fs::{FallocateFlags, fallocate, fstat};

pub(crate) use crate::unix::*;

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
